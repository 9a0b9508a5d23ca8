//! Every constant of the ranking, with what it is worth.
//!
//! Chosen on one half of the packages of the benchmark (`npm run bench -- --only knows`), 727
//! queries; what a row is worth was then measured on the other half, in one tree of 5,454 files with
//! 955 queries. With all of them NDCG@10 is TODO for files and TODO for blocks.

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
    /// The factor of a block that begins with another definition.
    pub heading: f64,
    /// The share of a block's own score; the rest is the score of its file.
    pub mix: f64,
    /// What the best block of a file gets for all of its blocks, as a part of the best score.
    pub coherence: f64,
    /// What it gets where the name of the file ends with a word of the query.
    pub stem: f64,
    /// What a block gets that defines a symbol of the query.
    pub symbol: f64,
    /// The factor of blocks of tests, examples and the like.
    pub noise: f64,
}

impl Weights {
    /// The constants that searches use.
    pub const TUNED: Self = Self {
        k1: 1.2,
        body_b: 0.5,
        name: 1.0,
        path: 1.0,
        path_b: 0.3,
        other_word: 0.8,
        coverage: 0.4,
        pool: 100,
        block_k1: 0.6,
        block_b: 0.75,
        block_name: 1.0,
        block_parent: 2.0,
        block_path: 0.6,
        neighbours: 0.3,
        constant: 0.8,
        heading: 1.1,
        mix: 0.7,
        coherence: 0.2,
        stem: 0.15,
        symbol: 1.0,
        noise: 0.9,
    };
}
