//! The lines of the file that an alignment visits: the match key of each, and the cost if the old
//! text does not have it.

use std::ops::Range;

use super::haystack::Haystack;
use super::levenshtein::MAX_SIMILAR_BYTES;
use super::needle::{LINE_COST, LineKind, Needle, line_weight};
use super::normalize::push_key;

/// The maximum length of all match keys in a window in bytes; a larger window is not aligned.
const MAX_WINDOW_KEY_BYTES: usize = 1 << 25;

/// The lines that an alignment visits.
pub(in crate::edit) struct AlignmentWindow {
    first: usize,
    keys: Vec<u8>,
    ends: Vec<usize>,
    skip_costs: Vec<i32>,
}

impl AlignmentWindow {
    /// Prepares these lines (0-based); returns `None` if the work exceeds the budget or the keys
    /// exceed [`MAX_WINDOW_KEY_BYTES`].
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
            skip_costs: Vec::with_capacity(lines.len()),
        };
        for line in lines {
            let text = hay.line(line);
            let start = window.keys.len();
            if held(line).is_some() {
                push_key(text, &mut window.keys);
            }
            let key = &window.keys[start..];
            window.skip_costs.push(match LineKind::of(text) {
                _ if needle.new_only_hashes.contains(&hay.hashes[line]) => LINE_COST / 20,
                _ if held(line).is_none() => LINE_COST,
                LineKind::Blank => LINE_COST * 6 / 100,
                LineKind::Comment => LINE_COST / 4,
                LineKind::Code => line_weight(key) * 9 / 10,
            });
            window.ends.push(window.keys.len());
        }
        Some(window)
    }

    /// Returns the match key of a file line (0-based); empty for a line longer than
    /// [`MAX_SIMILAR_BYTES`].
    pub(in crate::edit) fn key(&self, line: usize) -> &[u8] {
        let at = line - self.first;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.keys[start..self.ends[at]]
    }

    /// Returns the match key of a file line, or `None` after the end of the window.
    pub(in crate::edit) fn key_if_inside(&self, line: usize) -> Option<&[u8]> {
        (line < self.first + self.ends.len()).then(|| self.key(line))
    }

    /// Returns the cost of a file line that the old text does not have.
    pub(in crate::edit) fn skip_cost(&self, line: usize) -> i32 {
        self.skip_costs[line - self.first]
    }
}
