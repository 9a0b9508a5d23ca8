//! The old text laid along a stretch of the file, step by step.

use std::ops::Range;

use super::haystack::Haystack;
use super::needle::Needle;
use super::normalize::match_key;

/// How lines of the two sides belong together.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// These lines of the old text stand at those of the file.
    Pair {
        old: Range<usize>,
        file: Range<usize>,
        /// 1 where they say the same.
        likeness: f64,
        /// What of the file's line the old text does not cover.
        cut: Cut,
    },
    /// The file has no such line.
    OldOnly(usize),
    /// The old text has no such line.
    FileOnly(usize),
}

/// The part of a file line that an old text which begins or ends in the middle
/// of it leaves out, in bytes of the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cut {
    /// Bytes before the old text.
    pub head: usize,
    /// Bytes after it.
    pub tail: usize,
}

/// The old text laid along a stretch of the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Alignment {
    /// In the order of both sides, beginning and ending with a pair or a line
    /// that only the old text has.
    pub steps: Vec<Step>,
    /// The lines of the file, from the first pair to the last.
    pub file: Range<usize>,
    /// What does not fit.
    pub cost: i32,
}

impl Alignment {
    /// Whether the old text stands elsewhere here than there, though the two may
    /// overlap: no line of it stands at the same line of the file.
    pub(super) fn is_apart_from(&self, other: &Self) -> bool {
        let pairs = |alignment: &Self| -> Vec<(usize, usize)> {
            let pair = |step: &Step| match step {
                Step::Pair { old, file, .. } => Some((old.start, file.start)),
                Step::OldOnly(_) | Step::FileOnly(_) => None,
            };
            alignment.steps.iter().filter_map(pair).collect()
        };
        // Both ascend.
        let (own, mut others) = (pairs(self), pairs(other).into_iter().peekable());
        own.into_iter().all(|pair| {
            while others.next_if(|other| *other < pair).is_some() {}
            others.peek() != Some(&pair)
        })
    }
}

/// How many bytes of a file line come before the old line that it ends with.
pub(super) fn cut_before(
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

/// How many bytes of a file line come after the old line that it begins with.
pub(super) fn cut_after(hay: &Haystack<'_>, needle: &Needle<'_>, old: usize, file: usize) -> usize {
    let (line, goal) = (hay.line(file), needle.lines[old].key.len());
    let end =
        (0..=line.len()).find(|&at| line.is_char_at(at) && match_key(&line[..at]).len() >= goal);
    line.len() - end.unwrap_or(line.len())
}

trait Boundary {
    /// Whether a character begins at an offset, or the text ends there.
    fn is_char_at(&self, at: usize) -> bool;
}

impl Boundary for [u8] {
    fn is_char_at(&self, at: usize) -> bool {
        self.get(at).is_none_or(|&byte| byte & 0xc0 != 0x80)
    }
}
