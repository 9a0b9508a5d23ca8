//! The file as lines to be searched: where each begins, and a hash of what it
//! says. Made once, and only where an edit is not there literally.

use super::budget::Budget;
use super::lines::{FileLines, starts};
use super::normalize::push_key;

/// What is known of a file's lines.
#[derive(Default)]
pub(super) struct Index {
    /// By line: its offset in the whole file.
    starts: Vec<u32>,
    /// By line: the hash of its key.
    hashes: Vec<u64>,
    /// By line: bytes of its key.
    lens: Vec<u32>,
}

impl Index {
    /// Reads a file. `None` where it is too large for the work that is left.
    pub(super) fn new(text: &[u8], work: &Budget) -> Option<Self> {
        // Characters beyond ASCII are folded one by one.
        let dear = if text.is_ascii() { 2 } else { 6 };
        if !work.pay_for(text.len(), dear) {
            return None;
        }
        let starts = starts(text);
        let mut index = Self {
            hashes: Vec::with_capacity(starts.len()),
            lens: Vec::with_capacity(starts.len()),
            starts: Vec::new(),
        };
        let mut buffer = Vec::new();
        for line in FileLines::of(text, &starts).texts() {
            buffer.clear();
            push_key(line, &mut buffer);
            index.hashes.push(crate::diff::hash(&buffer));
            index.lens.push(u32::try_from(buffer.len()).unwrap_or(u32::MAX));
        }
        index.starts = starts;
        Some(index)
    }
}

/// A file to be searched.
pub(super) struct Haystack<'a> {
    /// The whole file.
    pub text: &'a [u8],
    /// The lines.
    pub file: FileLines<'a>,
    /// By line: the hash of its key.
    pub hashes: &'a [u64],
    /// By line: bytes of its key.
    pub lens: &'a [u32],
    /// What the search may still cost.
    pub work: &'a Budget,
}

impl<'a> Haystack<'a> {
    /// A file and what is known of it.
    pub(super) fn new(text: &'a [u8], index: &'a Index, work: &'a Budget) -> Self {
        let file = FileLines::of(text, &index.starts);
        Self { text, file, hashes: &index.hashes, lens: &index.lens, work }
    }

    /// The number of lines.
    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// The text of a line.
    pub(super) fn line(&self, at: usize) -> &'a [u8] {
        self.file.text(at)
    }
}
