//! An alignment of the old text with a range of file lines, step by step.

use std::ops::Range;

use super::haystack::Haystack;
use super::needle::Needle;
use super::normalize::match_key;

#[derive(Clone, Debug, PartialEq)]
pub(in crate::edit) enum AlignmentStep {
    /// These lines of the old text correspond to these lines of the file; all numbers are 0-based.
    Pair {
        old: Range<usize>,
        file: Range<usize>,
        /// The similarity of the lines, from 0 to 1 for equal ones.
        likeness: f64,
        /// The parts of the file line that the old text does not cover.
        cut: Cut,
    },
    /// This line (0-based) of the old text is not in the file.
    OldOnly(usize),
    /// This line (0-based) of the file is not in the old text.
    FileOnly(usize),
}

/// The part of a file line that the old text leaves out because it begins or ends in the middle of
/// the line. Bytes of the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::edit) struct Cut {
    /// The number of bytes of the line before the old text.
    pub head: usize,
    /// The number of bytes of the line after the old text.
    pub tail: usize,
}

/// The old text aligned with a range of file lines.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::edit) struct Alignment {
    /// The steps in the order of both texts. The first and last one is a pair, or a line that only
    /// the old text has.
    pub steps: Vec<AlignmentStep>,
    /// The lines of the file from the first pair to the last.
    pub file: Range<usize>,
    /// The total cost of the differences, in units of [`LINE_COST`](super::needle::LINE_COST).
    pub cost: i32,
}

impl Alignment {
    /// Returns true if the two alignments share no pair of an old line and a file line. Their file
    /// ranges may still overlap.
    pub(in crate::edit) fn is_apart_from(&self, other: &Self) -> bool {
        let pairs = |alignment: &Self| -> Vec<(usize, usize)> {
            let pair = |step: &AlignmentStep| match step {
                AlignmentStep::Pair { old, file, .. } => Some((old.start, file.start)),
                AlignmentStep::OldOnly(_) | AlignmentStep::FileOnly(_) => None,
            };
            alignment.steps.iter().filter_map(pair).collect()
        };
        // Both lists are in ascending order.
        let (own, mut others) = (pairs(self), pairs(other).into_iter().peekable());
        own.into_iter().all(|pair| {
            while others.next_if(|other| *other < pair).is_some() {}
            others.peek() != Some(&pair)
        })
    }
}

/// Returns the number of bytes before the old line in a file line that ends with it.
pub(in crate::edit) fn cut_before(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
    old: usize,
    file: usize,
) -> usize {
    let (line, goal) = (hay.line(file), needle.lines[old].key.len());
    (0..line.len())
        .rev()
        .find(|&at| line.is_char_at(at) && match_key(&line[at..]).len() >= goal)
        .unwrap_or(0)
}

/// Returns the number of bytes after the old line in a file line that begins with it.
pub(in crate::edit) fn cut_after(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
    old: usize,
    file: usize,
) -> usize {
    let (line, goal) = (hay.line(file), needle.lines[old].key.len());
    let end =
        (0..=line.len()).find(|&at| line.is_char_at(at) && match_key(&line[..at]).len() >= goal);
    line.len() - end.unwrap_or(line.len())
}

trait CharBoundary {
    /// Returns true at the start of a UTF-8 character and at the end of the text.
    fn is_char_at(&self, at: usize) -> bool;
}

impl CharBoundary for [u8] {
    fn is_char_at(&self, at: usize) -> bool {
        self.get(at).is_none_or(|&byte| byte & 0xc0 != 0x80)
    }
}
