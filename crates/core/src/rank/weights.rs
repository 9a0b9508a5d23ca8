//! Every constant of the ranking, with what it is worth.
//!
//! Chosen on one half of the packages of the benchmark (`npm run bench -- --only knows`), 727
//! queries, by trying a few values of one after the other; the other half, 955 queries over one tree
//! of 5,454 files, was looked at to see that a constant does not harm it. A figure beside a constant
//! is its gain; those without one were not tried on their own. These packages have neither tests nor
//! documents, so what they are worth was chosen on messages of commits (`--only knows-history`).

/// The constants of a ranking.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// The count of a term in a file at which a further one adds half as much as at first.
    pub k1: f64,
    /// How much a long file makes a term count less, from 0 to 1.
    pub body_b: f64,
    /// The worth of a term in the name of a definition, in occurrences in the text.
    pub name: f64,
    /// The worth of a term in the path.
    pub path: f64,
    /// How much a long path makes a term in it count less.
    pub path_b: f64,
    /// The worth of a word that code has in place of one of the query.
    pub other_word: f64,
    /// The worth of two words of the query in sequence that code has as one identifier.
    pub pair: f64,
    /// The share of a file's score that depends on how many words of the query it has.
    pub coverage: f64,
    /// The number of files whose blocks are scored.
    pub pool: usize,
    /// Like `k1`, for a block.
    pub block_k1: f64,
    /// Like `body_b`, for a block.
    pub block_b: f64,
    /// The worth of a term in the name of the definition of a block.
    pub block_name: f64,
    /// The worth of a term in the name of a definition around the block, such as its class.
    pub block_parent: f64,
    /// The worth of a term in the path, for a block.
    pub block_path: f64,
    /// The share of the scores of the blocks before and after that a block gets.
    pub neighbours: f64,
    /// The factor of a block that begins with a constant, a type or a heading.
    pub constant: f64,
    /// The factor of a block without a definition: the beginning of a file.
    pub undefined: f64,
    /// The share of a block's own score; the rest is the score of its file.
    pub mix: f64,
    /// What the best block of a file gets for all of its blocks, as a part of the best score.
    pub coherence: f64,
    /// What a file gets for the parts of its name that the query has.
    pub name_parts: f64,
    /// What a file gets for the words of the query that its name has.
    pub name_words: f64,
    /// What a file gets for the words of the query that its name lacks and its folder has.
    pub folder_words: f64,
    /// The share of these three that every block of the file gets; the rest is for the best.
    pub name_spread: f64,
    /// What a block gets that defines the symbol that is the whole query.
    pub symbol: f64,
    /// What it gets where the symbol is written just so.
    pub exact: f64,
    /// How much more both are where the name of the file has a word of the query.
    pub agrees: f64,
    /// The worth of a word that says what is done, such as *fix* or *allow*.
    pub task_word: f64,
    /// The factor of blocks of documents and of lists that programs write.
    pub documents: f64,
    /// The factor of blocks of tests.
    pub tests: f64,
    /// The factor of blocks of examples, of what others wrote, and the like.
    pub noise: f64,
}

impl Weights {
    /// The constants that searches use.
    pub const TUNED: Self = Self {
        k1: 1.2,
        // With 0.75: files 0.530 to 0.532 on dev.
        body_b: 0.5,
        name: 1.0,
        path: 1.0,
        path_b: 0.3,
        // With 0: files 0.498 to 0.514, blocks 0.113 to 0.118 on dev.
        other_word: 0.8,
        // With 0: files 0.8254 to 0.8287 on the benchmark of semble, 0.667 to 0.669 on the dev half
        // of `knows-history`. With 0.5: files 0.557 to 0.555 on dev.
        pair: 0.3,
        // With 0: blocks 0.152 to 0.154 on dev.
        coverage: 0.4,
        pool: 100,
        // With 1.2: blocks 0.154 to 0.158 on dev.
        block_k1: 0.6,
        block_b: 0.75,
        // With 3: blocks 0.162 to 0.164 on dev.
        block_name: 1.0,
        // With 0: blocks 0.118 to 0.135 on dev.
        block_parent: 2.0,
        // With 0: blocks 0.135 to 0.137 on dev.
        block_path: 0.6,
        // With 0: blocks 0.146 to 0.152 on dev.
        neighbours: 0.3,
        // With 1: blocks 0.137 to 0.146 on dev.
        constant: 0.8,
        undefined: 1.1,
        // With 0.5: files 0.557 to 0.561 on dev.
        mix: 0.7,
        coherence: 0.2,
        // With 0.1: files 0.556 to 0.562 on dev, 0.814 to 0.806 on the benchmark of semble.
        name_parts: 0.15,
        name_words: 0.3,
        // With 0: files 0.556 to 0.558 on dev, 0.8236 to 0.8254 on the benchmark of semble.
        folder_words: 0.2,
        // With 0: blocks 0.155 to 0.158 on dev, 0.127 to 0.128 on held.
        name_spread: 0.5,
        // In sentences too: files 0.564 to 0.552, blocks 0.155 to 0.132 on dev.
        symbol: 1.0,
        exact: 0.5,
        agrees: 0.5,
        // With 1: files 0.613 to 0.635 on 58 commits of the dev half of `knows-history`. Without the
        // words of questions, such as *works* and *handles*: files 0.557 to 0.559 on dev.
        task_word: 0.3,
        // With 1: files 0.516 to 0.613 on these.
        documents: 0.5,
        // With 0.9: files 0.613 to 0.649 on these.
        tests: 0.6,
        // With 0.8: files 0.561 to 0.565 on dev.
        noise: 0.9,
    };
}
