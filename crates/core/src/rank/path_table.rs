//! Paths, laid out so that what is asked of all of them goes through one stretch
//! of memory.

use std::ops::Range;

use super::quarter_masks::{self, QuarterMasks};
use super::score::{self, Best, Order};
use super::{LONG_QUERY, MAX_QUERY_BYTES};
use crate::glob::SuffixFilter;
use crate::text::char_mask::char_mask;

/// Paths, laid out to be gone through often.
#[derive(Clone, Debug, Default)]
pub struct PathTable {
    text: String,
    /// Where each path ends in `text`.
    ends: Vec<u32>,
    /// Which letters each path has.
    letters: Vec<u64>,
    /// Which letters the quarters of each path have.
    pub(super) quarters: Vec<QuarterMasks>,
    /// The last bytes of each path, the last one on top; zeros before a short one.
    lasts: Vec<u64>,
}

/// A path and how well it fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranked {
    /// The place of the path.
    pub index: u32,
    /// Higher is better; only to be compared within one query.
    pub score: u32,
}

impl PathTable {
    /// Adds a path. What does not fit into 4 GiB is left out.
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

    /// Gives back the room that no path fills.
    pub fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.letters.shrink_to_fit();
        self.quarters.shrink_to_fit();
        self.lasts.shrink_to_fit();
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The path at a place.
    pub fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)? as usize;
        let begin = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        self.text.get(begin..end)
    }

    /// Whether the path at a place can match globs whose matches end so.
    #[inline]
    pub fn fits(&self, index: usize, ends: &SuffixFilter) -> bool {
        match (self.lasts.get(index), self.letters.get(index)) {
            (Some(last), Some(letters)) => ends.fit(*last, *letters),
            _ => false,
        }
    }

    /// The memory in use, in bytes.
    pub fn bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * 4 + self.letters.capacity() * 32
    }

    /// The paths of a range that fit, the best `limit` of them in order, and how
    /// many fit. `typos` is how many letters of the query may be wrong; `None`
    /// goes by its length.
    pub fn rank(
        &self,
        query: &str,
        range: Range<usize>,
        typos: Option<u16>,
        limit: usize,
    ) -> (Vec<Ranked>, usize) {
        self.rank_shared(query, range, typos, limit, |places, score| vec![score(places)])
    }

    /// [`PathTable::rank`] by several threads: `share` is given places of paths and
    /// what scores some of them, and gives what that made of all of them, in
    /// whatever shares.
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
        // What fits without a typo is what was meant.
        let (mut ranked, mut fitting) = scored(0);
        if fitting == 0 && typos > 0 {
            (ranked, fitting) = scored(typos);
        }
        let give = |(score, _, index): Order| Ranked { index, score: u32::MAX - score };
        (ranked.into_iter().map(give).collect(), fitting)
    }

    /// The places of the paths of a range that have the letters of a query but for so many.
    fn with_letters(&self, query: &str, range: Range<usize>, typos: u16) -> Vec<u32> {
        // Capital and small letters beyond ASCII have different bytes.
        let wanted = if query.is_ascii() { char_mask(query.as_bytes()) } else { 0 };
        let range = range.start.min(self.len())..range.end.min(self.len());
        let mut places = vec![0; range.len()];
        let mut count = 0;
        for (place, letters) in range.clone().zip(&self.letters[range]) {
            // No branch on what nobody can guess: the place is written, and written over.
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
