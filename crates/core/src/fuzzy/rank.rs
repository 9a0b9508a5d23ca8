//! Ranks the paths of a table for a query, on one thread or on several.

use std::ops::Range;

use super::path_table::PathTable;
use super::score::{self, BestResults, ResultOrder};
use super::{MAX_QUERY_BYTES, MIN_TYPO_QUERY_CHARS};

/// A path and its score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankedPath {
    /// The index of the path.
    pub index: u32,
    /// The score: higher is better. Comparable only within one query.
    pub score: u32,
}

impl PathTable {
    /// Ranks the paths with indexes in a range. Returns the best `limit`, best first, and the
    /// number of all that match. `typos` is the number of letters of the query that may be wrong;
    /// `None` derives it from the length of the query.
    pub fn rank(
        &self,
        query: &str,
        range: Range<usize>,
        typos: Option<u16>,
        limit: usize,
    ) -> (Vec<RankedPath>, usize) {
        self.rank_shared(query, range, typos, limit, |places, score| vec![score(places)])
    }

    /// Does the same as [`PathTable::rank`] on several threads. `share` receives the indexes of the
    /// candidate paths and a function that scores some of them. It must score all of them, divided
    /// in any way.
    pub fn rank_shared(
        &self,
        query: &str,
        range: Range<usize>,
        typos: Option<u16>,
        limit: usize,
        share: impl Fn(&[u32], &(dyn Fn(&[u32]) -> BestResults + Sync)) -> Vec<BestResults>,
    ) -> (Vec<RankedPath>, usize) {
        let query: String = query.chars().filter(|letter| !letter.is_whitespace()).collect();
        if query.is_empty() || query.len() > MAX_QUERY_BYTES {
            return (Vec::new(), 0);
        }
        let long = query.chars().count() >= MIN_TYPO_QUERY_CHARS;
        let typos = typos.unwrap_or(u16::from(long)).min(8);
        let scored = |typos| {
            let places = self.with_letters(&query, range.clone(), typos);
            let mut best = BestResults::new(limit);
            let score = |places: &[u32]| score::score_paths(self, places, &query, typos, limit);
            share(&places, &score).into_iter().for_each(|share| best.merge_best(share));
            best.into_results()
        };
        // Paths that match only with a typo are searched for only if none matches without.
        let (mut ranked, mut fitting) = scored(0);
        if fitting == 0 && typos > 0 {
            (ranked, fitting) = scored(typos);
        }
        let give = |(score, _, index): ResultOrder| RankedPath { index, score: u32::MAX - score };
        (ranked.into_iter().map(give).collect(), fitting)
    }
}
