//! The steps of an alignment at one pair of an old line and a file line, with their costs.

use super::haystack::Haystack;
use super::levenshtein::{BitPattern, MAX_SIMILAR_BYTES};
use super::needle::{LINE_COST, Needle};
use super::window::AlignmentWindow;
use crate::edit::lines::{trim, trim_end};

/// The minimum similarity, 0 to 1, of an old line and a file line that correspond.
const MIN_PAIR_SIMILARITY: f64 = 0.6;

/// The step that reached a cell of an alignment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::edit) enum AlignStep {
    /// No step: the alignment begins at this cell.
    None,
    /// The step pairs one old line with one file line.
    Pair,
    /// The step pairs the first or last old line with a file line within which it begins or ends.
    Edge,
    /// The step pairs one old line with several file lines.
    Join(u8),
    /// The step pairs several old lines with one file line.
    Split(u8),
    /// The step skips an old line that the file does not have.
    OldOnly,
    /// The step skips a file line that the old text does not have.
    FileOnly,
}

impl AlignStep {
    /// The maximum number of lines that are joined to equal one line of the other side.
    pub(in crate::edit) const MAX_JOINED_LINES: usize = 4;
}

/// Computes the similarity of pairs of an old line and a file line.
pub(in crate::edit) struct LinePairs<'p, 'n> {
    pub hay: &'p Haystack<'p>,
    pub needle: &'p Needle<'n>,
    window: &'p AlignmentWindow,
    pattern: &'p mut BitPattern,
    /// The index of the old line that `pattern` holds.
    pattern_line: Option<usize>,
}

impl<'p, 'n> LinePairs<'p, 'n> {
    pub(in crate::edit) fn new(
        hay: &'p Haystack<'p>,
        needle: &'p Needle<'n>,
        window: &'p AlignmentWindow,
        pattern: &'p mut BitPattern,
    ) -> Self {
        Self { hay, needle, window, pattern, pattern_line: None }
    }

    /// Returns the similarity, 0 to 1, of an old line and a file line (0-based). It is 0 below
    /// [`MIN_PAIR_SIMILARITY`], for long lines and beyond the budget.
    pub(in crate::edit) fn likeness(&mut self, old: usize, file: usize) -> f64 {
        let line = &self.needle.lines[old];
        if self.hay.hashes[file] == line.hash {
            return 1.0;
        }
        let (a, b) = (line.key.len(), self.hay.lens[file] as usize);
        if a.min(b) * 10 < a.max(b) * 6 || a.max(b) > MAX_SIMILAR_BYTES {
            return 0.0;
        }
        if !self.hay.work.try_spend_times(b, 6 * a.div_ceil(64)) {
            return 0.0;
        }
        if self.pattern_line.replace(old) != Some(old) {
            self.pattern.set_pattern(&line.key);
        }
        self.pattern.similarity(self.window.key(file), MIN_PAIR_SIMILARITY)
    }

    /// Calls `way` for each step that pairs the old lines from `old` on with the file lines from
    /// `file` on: with the number of lines of each side, the cost and the step.
    pub(in crate::edit) fn steps_from(
        &mut self,
        old: usize,
        file: usize,
        mut way: impl FnMut(usize, usize, i32, AlignStep),
    ) {
        let likeness = self.likeness(old, file);
        let (hay, needle) = (self.hay, self.needle);
        let line = &needle.lines[old];
        if likeness == 1.0 {
            way(1, 1, whitespace_cost(line.text, hay.line(file)), AlignStep::Pair);
            return;
        }
        if likeness >= MIN_PAIR_SIMILARITY {
            let cost = f64::from(line.weight.max(LINE_COST * 3 / 10)) * (1.0 - likeness) * 1.5;
            way(1, 1, cost as i32 + LINE_COST * 3 / 100, AlignStep::Pair);
        }
        let n = needle.len();
        let (own, other) = (line.key.len(), hay.lens[file] as usize);
        if own.max(other) > MAX_SIMILAR_BYTES {
            return;
        }
        let key = self.window.key(file);
        if n > 1 && own >= 4 && own < other {
            let first = old == 0 && key.ends_with(&line.key);
            let last = old == n - 1 && key.starts_with(&line.key);
            if first || last {
                way(1, 1, LINE_COST * 12 / 100, AlignStep::Edge);
            }
        }
        if own > other && other > 0 {
            let lens = |at: usize| hay.lens.get(file + at).map(|&len| len as usize);
            if let Some(count) = count_joined_parts(own, lens) {
                let mut rest = line.key.as_slice();
                let fits = (0..count).all(|at| {
                    let key = self.window.key_if_inside(file + at).unwrap_or_default();
                    rest.strip_prefix(key).map(|left| rest = left).is_some()
                });
                if fits && rest.is_empty() {
                    way(1, count, LINE_COST / 20, AlignStep::Join(count as u8));
                }
            }
        } else if own < other && own > 0 {
            let lens = |at: usize| needle.lines.get(old + at).map(|line| line.key.len());
            if let Some(count) = count_joined_parts(other, lens) {
                let mut rest = key;
                let fits = (0..count).all(|at| {
                    let key = needle.lines[old + at].key.as_slice();
                    rest.strip_prefix(key).map(|left| rest = left).is_some()
                });
                if fits {
                    way(count, 1, LINE_COST / 20, AlignStep::Split(count as u8));
                }
            }
        }
    }
}

/// Returns how many parts, from the first on, have this total length together: two or more, or
/// `None`.
fn count_joined_parts(total: usize, len: impl Fn(usize) -> Option<usize>) -> Option<usize> {
    let mut sum = 0;
    for at in 0..AlignStep::MAX_JOINED_LINES {
        let piece = len(at).filter(|&piece| piece > 0)?;
        sum += piece;
        if sum >= total {
            return (sum == total && at > 0).then_some(at + 1);
        }
    }
    None
}

/// Returns the cost of two lines with equal match keys: at most 10, so that it decides only between
/// positions that match equally well otherwise.
fn whitespace_cost(old: &[u8], file: &[u8]) -> i32 {
    if old == file {
        0
    } else if trim_end(old) == trim_end(file) {
        1
    } else if trim(old) == trim(file) {
        5
    } else {
        10
    }
}
