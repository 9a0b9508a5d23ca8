//! Puts the blocks of the best files in order.
//!
//! A block is scored like a file, with the rarity of terms from the files, and gets a share of the
//! score of its neighbours and of its file. What is known about good answers is added then: that one file
//! has several of them, that its name is a word of the query, and that tests and documents are
//! seldom meant.

use super::blocks::FileBlocks;
use super::files::saturated;
use super::naming::naming;
use super::query::{Kind, RankQuery};
use super::seldom::worth;
use crate::definitions;

/// One of the files that a query may have blocks in.
#[derive(Clone, Copy, Debug)]
pub struct RankedFile<'f> {
    /// The index of the searched directory that contains it.
    pub root: u32,
    /// The path relative to that directory.
    pub path: &'f str,
    /// The blocks.
    pub blocks: &'f FileBlocks,
    /// The score from [`RankIndex::rank`](super::RankIndex::rank).
    pub score: f64,
}

/// A block in the order of a ranking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedBlock {
    /// The index of its file in the list that was ranked.
    pub file: usize,
    /// The first line, from 1.
    pub first: u32,
    /// The last line, inclusive.
    pub last: u32,
    /// The line of the definition that it is a part of, which can be above `first`; 0 for none.
    pub heading: u32,
    /// The score; only its order means something.
    pub score: f64,
}

/// A block that is being scored.
struct Scored {
    at: RankedBlock,
    /// A term of the query is in its text, or it stands for a file that has them in its path alone. Any
    /// other match in a path or in names around it lifts its score only.
    has_match: bool,
    /// It defines a name with a term of the query.
    defines: bool,
    /// It defines a name that is spelled like an identifier of the query.
    is_exact: bool,
}

/// Puts the files that fit a query best in order, best first, and cuts their list to as many as have
/// their blocks scored. `key` returns the score of one, and the directory and path that decide between
/// equal scores.
pub fn cut_to_pool<T>(
    query: &RankQuery,
    files: &mut Vec<T>,
    key: impl for<'t> Fn(&'t T) -> (f64, u32, &'t str),
) {
    files.sort_by(|a, b| {
        let (a, b) = (key(a), key(b));
        b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then_with(|| a.2.cmp(b.2))
    });
    files.truncate(query.weights.pool);
}

/// Returns the blocks of `files` that fit a query best, at most `limit`. `rarity` is
/// [`RankStats::rarity`](super::RankStats::rarity). The order depends on the files and not on their order.
pub fn rank_blocks(
    query: &RankQuery,
    rarity: &[f64],
    files: &[RankedFile<'_>],
    limit: usize,
) -> Vec<RankedBlock> {
    let weights = &query.weights;
    let all = || files.iter().flat_map(|file| &file.blocks.blocks);
    let terms: u64 = all().map(|block| u64::from(block.terms)).sum();
    let mean = (terms as f64 / all().count().max(1) as f64).max(1.0);
    let mut scored: Vec<Scored> = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let begin = scored.len();
        score_file(query, rarity, (at, file), mean, &mut scored);
        share_with_neighbours(&mut scored[begin..], weights.neighbours);
    }
    let best = |scores: &mut dyn Iterator<Item = f64>| scores.fold(f64::MIN_POSITIVE, f64::max);
    let best_block = best(&mut scored.iter().map(|one| one.at.score));
    let best_file = best(&mut files.iter().map(|file| file.score));
    for one in &mut scored {
        let of_file = files[one.at.file].score / best_file;
        one.at.score = weights.mix * one.at.score / best_block + (1.0 - weights.mix) * of_file;
    }
    lift_files(query, rarity, files, &mut scored);
    let mut found: Vec<RankedBlock> = scored
        .into_iter()
        .filter(|one| one.has_match && (one.defines || query.kind != Kind::Definition))
        .map(|one| one.at)
        .collect();
    let order = |a: &RankedBlock, b: &RankedBlock| {
        let place = |one: &RankedBlock| (files[one.file].root, files[one.file].path);
        let paths = || place(a).cmp(&place(b));
        b.score.total_cmp(&a.score).then_with(paths).then(a.first.cmp(&b.first))
    };
    found.sort_unstable_by(order);
    found.truncate(limit);
    found
}

/// Adds the blocks of a file with scores of their own. `mean` is the mean number of terms of a
/// block.
fn score_file(
    query: &RankQuery,
    rarity: &[f64],
    (file, RankedFile { blocks: of, .. }): (usize, &RankedFile<'_>),
    mean: f64,
    scored: &mut Vec<Scored>,
) {
    let weights = &query.weights;
    let begin = scored.len();
    scored.extend(of.blocks.iter().map(|block| Scored {
        at: RankedBlock {
            file,
            first: block.first,
            last: block.last,
            heading: block.heading.map_or(0, |heading| heading.line),
            score: 0.0,
        },
        has_match: false,
        defines: block.heading.is_some_and(|heading| query.symbols.contains(&heading.name)),
        is_exact: block.heading.is_some_and(|heading| query.spellings.contains(&heading.spelling)),
    }));
    for (term, rare) in query.terms.iter().zip(rarity) {
        let in_path = of.path.iter().filter(|&&other| other == term.term).count() as f64;
        let by_path = weights.block_path * in_path;
        let worth = |count: f64| term.weight * rare * saturated(count, weights.block_k1);
        let mut occurrences = of.occurrences(term.term).peekable();
        for (at, block) in of.blocks.iter().enumerate() {
            let mut count = by_path;
            if let Some(one) = occurrences.next_if(|one| one.block as usize == at) {
                let b = weights.block_b;
                count += f64::from(one.body) / (1.0 - b + b * f64::from(block.terms) / mean)
                    + weights.block_name * f64::from(one.name)
                    + weights.block_parent * f64::from(one.parent);
                scored[begin + at].has_match |= one.body > 0;
            }
            if count > 0.0 {
                scored[begin + at].at.score += worth(count);
            }
        }
    }
    stand_for_path(query, of, &mut scored[begin..]);
    for (one, block) in scored[begin..].iter_mut().zip(&of.blocks) {
        one.at.score *= block.heading.map_or(weights.undefined, |heading| match heading.kind {
            definitions::Kind::Constant
            | definitions::Kind::Variable
            | definitions::Kind::Type
            | definitions::Kind::Implementation
            | definitions::Kind::Module
            | definitions::Kind::Section => weights.constant,
            _ => 1.0,
        });
    }
}

/// Lets the first block of a file that has text stand for it if the terms of the query are in its path alone.
fn stand_for_path(query: &RankQuery, of: &FileBlocks, blocks: &mut [Scored]) {
    let in_path = || query.terms.iter().any(|term| of.path.contains(&term.term));
    let with_text = of.blocks.iter().position(|block| block.terms > 0).unwrap_or(0);
    if !blocks.iter().any(|one| one.has_match)
        && in_path()
        && let Some(first) = blocks.get_mut(with_text)
    {
        first.has_match = true;
    }
}

/// Adds to each block of a file a share of the scores of those before and after it.
fn share_with_neighbours(blocks: &mut [Scored], share: f64) {
    let own: Vec<f64> = blocks.iter().map(|one| one.at.score).collect();
    for (at, one) in blocks.iter_mut().enumerate() {
        let before = at.checked_sub(1).map_or(0.0, |before| own[before]);
        let after = own.get(at + 1).copied().unwrap_or_default();
        one.at.score += share * (before + after) / 2.0;
    }
}

/// Lifts the best block of each file by the matches of the file, and its blocks by its name; for a
/// query without a space those that define its symbol; lowers those of tests, documents and the like.
fn lift_files(query: &RankQuery, rarity: &[f64], files: &[RankedFile<'_>], scored: &mut [Scored]) {
    let weights = &query.weights;
    let mut sums = vec![0.0; files.len()];
    let mut best: Vec<Option<usize>> = vec![None; files.len()];
    for (at, one) in scored.iter().enumerate() {
        sums[one.at.file] += if one.has_match { one.at.score } else { 0.0 };
        let best = &mut best[one.at.file];
        if best.is_none_or(|best| scored[best].at.score < one.at.score) {
            *best = Some(at);
        }
    }
    let most = sums.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mut names = vec![0.0; files.len()];
    let worths: Vec<f64> = files.iter().map(|file| worth(query, file.path)).collect();
    for (at, file) in files.iter().enumerate() {
        let Some(best) = best[at] else { continue };
        let named = naming(query, rarity, file.path);
        names[at] = weights.name_parts * named.parts
            + weights.name_words * named.words
            + weights.folder_words * named.folder_words;
        scored[best].at.score +=
            weights.coherence * sums[at] / most + (1.0 - weights.name_spread) * names[at];
    }
    for one in scored {
        let named = names[one.at.file];
        one.at.score += weights.name_spread * named;
        if query.is_symbol {
            let symbol = if one.defines { weights.symbol } else { 0.0 };
            let exact = if one.is_exact { weights.exact } else { 0.0 };
            let agrees = if named > 0.0 { 1.0 + weights.agrees } else { 1.0 };
            one.at.score += (symbol + exact) * agrees;
        }
        one.at.score *= worths[one.at.file];
    }
}
