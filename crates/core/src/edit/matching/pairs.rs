//! The ways in which lines of the old text and of the file can correspond.

use super::haystack::Haystack;
use super::levenshtein::{BitPattern, MAX_SIMILAR_BYTES};
use super::needle::{LINE_COST, Needle};
use super::normalize::is_word_byte;
use super::window::Window;
use crate::edit::lines::{trim, trim_end};

/// Less similar lines do not pair up.
const MIN_PAIR_SIMILARITY: f64 = 0.6;

/// The step that reached a cell of an alignment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::edit) enum AlignStep {
    /// The path begins here.
    None,
    /// One line of each side.
    Pair,
    /// An old line that begins or ends within the file's line.
    Edge,
    /// One old line for several file lines.
    Join(u8),
    /// Several old lines for one file line.
    Split(u8),
    /// The file has no such line.
    OldOnly,
    /// The old text has no such line.
    FileOnly,
}

impl AlignStep {
    /// The maximum number of lines that are joined to equal one line of the other side.
    pub(in crate::edit) const MAX_JOINED_LINES: usize = 4;
}

/// Computes and caches the similarity of line pairs.
pub(in crate::edit) struct Pairs<'p, 'n> {
    pub hay: &'p Haystack<'p>,
    pub needle: &'p Needle<'n>,
    window: &'p Window,
    pattern: &'p mut BitPattern,
    /// The old line that the pattern currently holds.
    row: Option<usize>,
}

impl<'p, 'n> Pairs<'p, 'n> {
    pub(in crate::edit) fn new(
        hay: &'p Haystack<'p>,
        needle: &'p Needle<'n>,
        window: &'p Window,
        pattern: &'p mut BitPattern,
    ) -> Self {
        Self { hay, needle, window, pattern, row: None }
    }

    /// Returns the similarity of an old line and a file line.
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
        if self.row.replace(old) != Some(old) {
            self.pattern.set(&line.key);
        }
        self.pattern.similarity(self.window.key(file), MIN_PAIR_SIMILARITY)
    }

    /// Returns the steps that can pair the old lines from `old` with the file lines from `file`:
    /// the number of lines of each side and the cost.
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
            let check_disjoint =
                f64::from(line.weight.max(LINE_COST * 3 / 10)) * (1.0 - likeness) * 1.5;
            way(1, 1, check_disjoint as i32 + LINE_COST * 3 / 100, AlignStep::Pair);
        }
        let n = needle.len();
        let (own, other) = (line.key.len(), hay.lens[file] as usize);
        if own.max(other) > MAX_SIMILAR_BYTES {
            return;
        }
        let key = self.window.key(file);
        if n > 1 && own >= 4 && own < other {
            let (sent, there) = (trim(line.text), trim(hay.line(file)));
            let first = old == 0
                && key.ends_with(&line.key)
                && !splits_word(there.strip_suffix(sent), sent);
            let last = old == n - 1
                && key.starts_with(&line.key)
                && !splits_word(Some(sent), there.strip_prefix(sent).unwrap_or_default());
            if first || last {
                way(1, 1, LINE_COST * 12 / 100, AlignStep::Edge);
            }
        }
        if own > other && other > 0 {
            let lens = |at: usize| hay.lens.get(file + at).map(|&len| len as usize);
            if let Some(count) = joined(own, lens) {
                let mut rest = line.key.as_slice();
                let fits = (0..count).all(|at| {
                    let key = self.window.get(file + at).unwrap_or_default();
                    rest.strip_prefix(key).map(|left| rest = left).is_some()
                });
                if fits && rest.is_empty() {
                    way(1, count, LINE_COST / 20, AlignStep::Join(count as u8));
                }
            }
        } else if own < other && own > 0 {
            let lens = |at: usize| needle.lines.get(old + at).map(|line| line.key.len());
            if let Some(count) = joined(other, lens) {
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

/// Reports whether the boundary between two parts of a line is within a word.
fn splits_word(before: Option<&[u8]>, after: &[u8]) -> bool {
    let is_in_word = |byte: Option<&u8>| byte.is_some_and(|&byte| is_word_byte(byte));
    is_in_word(before.and_then(|before| before.last())) && is_in_word(after.first())
}

/// Returns how many parts from the first on have this total length.
fn joined(total: usize, len: impl Fn(usize) -> Option<usize>) -> Option<usize> {
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

/// Returns the small cost of lines with equal keys that are not identical. It only decides between
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
