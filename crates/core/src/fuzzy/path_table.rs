//! Paths in a layout for fast scans: one contiguous buffer per property.

use std::ops::Range;

use super::quarter_masks::{self, QuarterMasks};
use super::score::{self, Best, Order};
use super::{LONG_QUERY, MAX_QUERY_BYTES};
use crate::pattern::glob::SuffixFilter;
use crate::text::char_mask::char_mask;

/// Paths in a layout for repeated scans.
#[derive(Clone, Debug, Default)]
pub struct PathTable {
    text: String,
    /// The end of each path in `text`.
    ends: Vec<u32>,
    /// The letters of each path as a bit mask.
    letters: Vec<u64>,
    /// The letters in each quarter of each path.
    pub(super) quarters: Vec<QuarterMasks>,
    /// The last bytes of each path, the last one on top; zeros before a short one.
    lasts: Vec<u64>,
}

/// A path and its score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranked {
    /// The index of the path.
    pub index: u32,
    /// Higher is better; comparable only within one query.
    pub score: u32,
}

impl PathTable {
    /// Adds a path. Ignores paths beyond 4 GiB in total.
    pub fn push(&mut self, path: &str) {
        if let Ok(end) = u32::try_from(self.text.len() + path.len()) {
            self.text.push_str(path);
            self.ends.push(end);
            let (letters, quarters) = quarter_masks::of(path.as_bytes());
            self.letters.push(letters);
            self.quarters.push(quarters);
            let last = path.bytes().rev().take(8).enumerate();
            self.lasts
                .push(last.fold(0, |sum, (place, byte)| sum | u64::from(byte) << (56 - 8 * place)));
        }
    }

    /// Releases unused capacity.
    pub fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.letters.shrink_to_fit();
        self.quarters.shrink_to_fit();
        self.lasts.shrink_to_fit();
    }

    /// Returns the number of paths.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Reports whether there are no paths.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the path at an index.
    pub fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)? as usize;
        let begin = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        self.text.get(begin..end)
    }

    /// Reports whether the path at an index can match globs with these suffixes.
    #[inline]
    pub fn fits(&self, index: usize, ends: &SuffixFilter) -> bool {
        match (self.lasts.get(index), self.letters.get(index)) {
            (Some(last), Some(letters)) => ends.fit(*last, *letters),
            _ => false,
        }
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * 4 + self.letters.capacity() * 32
    }

    /// Ranks the paths of a range: returns the best `limit` in order, and the number of matches.
    /// `typos` is the number of wrong letters in the query; `None` derives it from the length.
    pub fn rank(
        &self,
        query: &str,
        range: Range<usize>,
        typos: Option<u16>,
        limit: usize,
    ) -> (Vec<Ranked>, usize) {
        self.rank_shared(query, range, typos, limit, |places, score| vec![score(places)])
    }

    /// Like [`PathTable::rank`], on several threads. `share` receives the indexes of the candidate
    /// paths and a function that scores some of them. It must score all of them, divided in any
    /// way.
    pub fn rank_shared(
        &self,
        query: &str,
        range: Range<usize>,
        typos: Option<u16>,
        limit: usize,
        share: impl Fn(&[u32], &(dyn Fn(&[u32]) -> Best + Sync)) -> Vec<Best>,
    ) -> (Vec<Ranked>, usize) {
        let query: String = query.chars().filter(|letter| !letter.is_whitespace()).collect();
        if query.is_empty() || query.len() > MAX_QUERY_BYTES {
            return (Vec::new(), 0);
        }
        let long = query.chars().count() >= LONG_QUERY;
        let typos = typos.unwrap_or(u16::from(long)).min(8);
        let scored = |typos| {
            let places = self.with_letters(&query, range.clone(), typos);
            let mut best = Best::new(limit);
            let score = |places: &[u32]| score::score(self, places, &query, typos, limit);
            share(&places, &score).into_iter().for_each(|share| best.join(share));
            best.finish()
        };
        // Paths that match without a typo take precedence.
        let (mut ranked, mut fitting) = scored(0);
        if fitting == 0 && typos > 0 {
            (ranked, fitting) = scored(typos);
        }
        let give = |(score, _, index): Order| Ranked { index, score: u32::MAX - score };
        (ranked.into_iter().map(give).collect(), fitting)
    }

    /// Returns the indexes in a range of the paths that have all letters of a query except for
    /// `typos`.
    fn with_letters(&self, query: &str, range: Range<usize>, typos: u16) -> Vec<u32> {
        // Upper-case and lower-case letters beyond ASCII have different bytes.
        let wanted = if query.is_ascii() { char_mask(query.as_bytes()) } else { 0 };
        let range = range.start.min(self.len())..range.end.min(self.len());
        let mut places = vec![0; range.len()];
        let mut count = 0;
        for (place, letters) in range.clone().zip(&self.letters[range]) {
            // Avoids an unpredictable branch: the index is always written, and overwritten if it
            // does not match.
            places[count] = place as u32;
            let mut missing = wanted & !letters;
            for _ in 0..typos {
                missing &= missing.wrapping_sub(1);
            }
            count += usize::from(missing == 0);
        }
        places.truncate(count);
        places
    }
}
