//! Stores paths for fast scans: each property of all paths is one contiguous buffer.

use std::ops::Range;

use super::quarter_masks::{self, QuarterMasks};
use crate::pattern::glob::SuffixFilter;
use crate::text::char_mask::char_mask;

/// Paths with the properties that filters test, in one buffer per property.
#[derive(Clone, Debug, Default)]
pub struct PathTable {
    text: String,
    /// The byte offset of the end of each path in `text`.
    ends: Vec<u32>,
    /// The letters of each path as a bit mask ([`char_mask`]).
    letters: Vec<u64>,
    /// The letters in each quarter of each path as bit masks.
    pub(super) quarters: Vec<QuarterMasks>,
    /// The last eight bytes of each path, the last one in the highest byte; zeros for those that a
    /// shorter path does not have.
    last_bytes: Vec<u64>,
}

impl PathTable {
    /// Adds a path at the end. Does nothing once all paths together would exceed 4 GiB.
    pub fn push(&mut self, path: &str) {
        self.insert(self.len(), path);
    }

    /// Adds a path before the one at an index, which costs a move of all later ones. Does nothing
    /// once all paths together would exceed 4 GiB, or beyond the last index.
    pub fn insert(&mut self, index: usize, path: &str) {
        let bytes = u32::try_from(self.text.len() + path.len()).map(|_| path.len() as u32);
        let (Ok(bytes), Some(rest)) = (bytes, self.ends.get_mut(index..)) else { return };
        rest.iter_mut().for_each(|end| *end += bytes);
        let begin = self.begin_of(index);
        self.text.insert_str(begin, path);
        self.ends.insert(index, begin as u32 + bytes);
        let (letters, quarters) = quarter_masks::letter_masks(path.as_bytes());
        self.letters.insert(index, letters);
        self.quarters.insert(index, quarters);
        let last = path.bytes().rev().take(8).enumerate();
        let last = last.fold(0, |sum, (place, byte)| sum | u64::from(byte) << (56 - 8 * place));
        self.last_bytes.insert(index, last);
    }

    /// Removes the path at an index, which costs a move of all later ones. Does nothing beyond the
    /// last one.
    pub fn remove(&mut self, index: usize) {
        let Some(&end) = self.ends.get(index) else { return };
        let begin = self.begin_of(index);
        self.text.replace_range(begin..end as usize, "");
        self.ends.remove(index);
        self.ends[index..].iter_mut().for_each(|later| *later -= end - begin as u32);
        self.letters.remove(index);
        self.quarters.remove(index);
        self.last_bytes.remove(index);
    }

    /// Returns the byte offset in `text` at which the path at an index begins.
    fn begin_of(&self, index: usize) -> usize {
        if index == 0 { 0 } else { self.ends[index - 1] as usize }
    }

    /// Releases memory that is reserved but not used.
    pub fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.letters.shrink_to_fit();
        self.quarters.shrink_to_fit();
        self.last_bytes.shrink_to_fit();
    }

    /// Returns the number of paths.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are no paths.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the path at an index, or `None` beyond the last one.
    pub fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)? as usize;
        self.text.get(self.begin_of(index)..end)
    }

    /// Returns true if the path at an index may match a glob with one of these suffixes; false only
    /// if it matches none.
    #[inline]
    pub fn fits(&self, index: usize, ends: &SuffixFilter) -> bool {
        match (self.last_bytes.get(index), self.letters.get(index)) {
            (Some(last), Some(letters)) => ends.fit(*last, *letters),
            _ => false,
        }
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * 4 + self.letters.capacity() * 32
    }

    /// Returns the indexes in a range of the paths that have all letters of a query except for at
    /// most `typos`, in any order.
    pub(super) fn with_letters(&self, query: &str, range: Range<usize>, typos: u16) -> Vec<u32> {
        // Beyond ASCII, a letter has other bytes in upper case than in lower case, so such a query
        // is not filtered.
        let wanted = if query.is_ascii() { char_mask(query.as_bytes()) } else { 0 };
        let range = range.start.min(self.len())..range.end.min(self.len());
        let mut places = vec![0; range.len()];
        let mut count = 0;
        for (place, letters) in range.clone().zip(&self.letters[range]) {
            // The loop avoids a branch, which the processor could not predict: it writes every
            // index, and overwrites that of a path that does not match.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_table_that_was_edited_is_like_a_new_one(
            edits in proptest::collection::vec((any::<bool>(), 0_usize..9, "[a-cé/]{0,12}"), 0..40),
        ) {
            let (mut table, mut paths) = (PathTable::default(), Vec::<String>::new());
            for (adds, index, path) in edits {
                if !adds {
                    table.remove(index);
                    if index < paths.len() {
                        paths.remove(index);
                    }
                } else if index <= paths.len() {
                    table.insert(index, &path);
                    paths.insert(index, path);
                }
            }
            let mut new = PathTable::default();
            paths.iter().for_each(|path| new.push(path));
            prop_assert_eq!(format!("{table:?}"), format!("{new:?}"));
            prop_assert_eq!(table.len(), paths.len());
        }
    }
}
