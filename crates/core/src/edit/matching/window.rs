//! The lines of the file that an alignment visits: the key of each and the cost of skipping it.

use std::ops::Range;

use super::haystack::Haystack;
use super::levenshtein::MAX_SIMILAR_BYTES;
use super::needle::{LINE_COST, LineKind, Needle, weight};
use super::normalize::push_key;

/// The maximum length of all keys in a window. Bytes.
const MAX_WINDOW_KEY_BYTES: usize = 1 << 25;

pub(in crate::edit) struct Window {
    first: usize,
    keys: Vec<u8>,
    ends: Vec<usize>,
    skips: Vec<i32>,
}

impl Window {
    /// Returns `None` if the lines exceed the budget or the window.
    pub(in crate::edit) fn new(
        hay: &Haystack<'_>,
        needle: &Needle<'_>,
        lines: Range<usize>,
    ) -> Option<Self> {
        let held =
            |line: usize| (hay.lens[line] as usize <= MAX_SIMILAR_BYTES).then_some(hay.lens[line]);
        let bytes: usize = lines.clone().filter_map(held).map(|len| len as usize).sum();
        if bytes > MAX_WINDOW_KEY_BYTES || !hay.work.try_spend(2 * bytes + 40 * lines.len()) {
            return None;
        }
        let mut window = Self {
            first: lines.start,
            keys: Vec::with_capacity(bytes),
            ends: Vec::with_capacity(lines.len()),
            skips: Vec::with_capacity(lines.len()),
        };
        for line in lines {
            let text = hay.line(line);
            let start = window.keys.len();
            if held(line).is_some() {
                push_key(text, &mut window.keys);
            }
            let key = &window.keys[start..];
            window.skips.push(match LineKind::of(text) {
                _ if needle.offered.contains(&hay.hashes[line]) => LINE_COST / 20,
                _ if held(line).is_none() => LINE_COST,
                LineKind::Blank => LINE_COST * 6 / 100,
                LineKind::Comment => LINE_COST / 4,
                LineKind::Code => weight(key) * 9 / 10,
            });
            window.ends.push(window.keys.len());
        }
        Some(window)
    }

    /// Returns the key of a file line; empty for a line that is too long.
    pub(in crate::edit) fn key(&self, line: usize) -> &[u8] {
        let at = line - self.first;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.keys[start..self.ends[at]]
    }

    /// Returns the key of a line that may lie outside the window.
    pub(in crate::edit) fn get(&self, line: usize) -> Option<&[u8]> {
        (line < self.first + self.ends.len()).then(|| self.key(line))
    }

    /// Returns the cost of a file line that the old text lacks.
    pub(in crate::edit) fn skip(&self, line: usize) -> i32 {
        self.skips[line - self.first]
    }
}
