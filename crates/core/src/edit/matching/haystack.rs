//! The file as lines to search: the offset of each line and a hash of its match key
//! ([`match_key`](super::normalize::match_key)). Built for an edit that does not match exactly.

use super::normalize::push_key;
use crate::edit::budget::WorkBudget;
use crate::edit::lines::{FileLines, line_starts};

/// The offset, hash and length of each line of a file.
#[derive(Default)]
pub(in crate::edit) struct LineKeys {
    /// The byte offset of each line in the whole file.
    starts: Vec<u32>,
    /// The hash of each line's match key.
    hashes: Vec<u64>,
    /// The length of each line's match key in bytes.
    lens: Vec<u32>,
}

impl LineKeys {
    /// Indexes a file. Returns `None` if it is too large for the remaining budget.
    pub(in crate::edit) fn new(text: &[u8], work: &WorkBudget) -> Option<Self> {
        // Lines with characters beyond ASCII are normalised character by character.
        let units_per_byte = if text.is_ascii() { 2 } else { 6 };
        if !work.try_spend_times(text.len(), units_per_byte) {
            return None;
        }
        let starts = line_starts(text);
        let mut index = Self {
            hashes: Vec::with_capacity(starts.len()),
            lens: Vec::with_capacity(starts.len()),
            starts: Vec::new(),
        };
        let mut buffer = Vec::new();
        for line in FileLines::with_starts(text, &starts).texts() {
            buffer.clear();
            push_key(line, &mut buffer);
            index.hashes.push(crate::diff::hash_line(&buffer));
            index.lens.push(u32::try_from(buffer.len()).unwrap_or(u32::MAX));
        }
        index.starts = starts;
        Some(index)
    }
}

/// A file to search in, with its lines and the budget.
pub(in crate::edit) struct Haystack<'a> {
    /// The whole file.
    pub text: &'a [u8],
    /// The lines of the file.
    pub file: FileLines<'a>,
    /// The hash of each line's match key.
    pub hashes: &'a [u64],
    /// The length of each line's match key in bytes.
    pub lens: &'a [u32],
    /// The remaining budget of the search.
    pub work: &'a WorkBudget,
}

impl<'a> Haystack<'a> {
    /// Combines a file with its line keys.
    pub(in crate::edit) fn new(text: &'a [u8], index: &'a LineKeys, work: &'a WorkBudget) -> Self {
        let file = FileLines::with_starts(text, &index.starts);
        Self { text, file, hashes: &index.hashes, lens: &index.lens, work }
    }

    /// Returns the number of lines.
    pub(in crate::edit) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns the text of line `at` (0-based) without its line ending.
    pub(in crate::edit) fn line(&self, at: usize) -> &'a [u8] {
        self.file.text(at)
    }
}
