//! Line diffs: what changed between two texts, as data and as a unified diff.
//!
//! The default is the histogram algorithm with git's indentation heuristic: on
//! real changes it gives the same removed and added lines as
//! `git diff --diff-algorithm=histogram`. What both sides have in common at
//! their beginning and end is cut off on raw bytes before anything is
//! tokenised, so a small edit in a large file costs two comparisons of memory.
//!
//! - [`compare`] finds the changed line ranges ([`Comparison`]);
//! - [`unified`] prints them, and is the only place that knows the format;
//! - work is bounded ([`compute`]): inputs beyond the budget get a coarser but
//!   correct diff, never none.
//!
//! Nothing here decodes: a line is the bytes up to and with its LF. Text in a
//! legacy encoding is decoded before it comes here.

mod anchors;
mod bits;
mod compute;
mod histogram;
mod intern;
mod lines;
mod marks;
mod myers;
mod name;
mod newlines;
mod pack;
mod slide;
pub mod unified;
pub mod words;

use std::ops::Range;

pub(crate) use compute::changes_between;
pub(crate) use intern::hash;
pub(crate) use lines::SharedMargins;
pub use lines::Side;
pub(crate) use lines::split;
pub(crate) use pack::append;
pub use pack::{DiffCall, diff_called, diff_packed};
pub use unified::{Header, Limits, Unified};

/// How lines are matched up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Rare lines first: readable, and what git calls `histogram`.
    #[default]
    Histogram,
    /// Myers with git's cost heuristics: git's default.
    Myers,
    /// Myers without heuristics: the fewest changed lines. Inputs for which
    /// that would take too long are done by [`Algorithm::Myers`].
    Minimal,
}

/// What counts as a difference, and how it is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// How lines are matched up.
    pub algorithm: Algorithm,
    /// Whether lines that differ only in white space (CR included) are equal.
    pub ignore_whitespace: bool,
}

/// A changed region: `before` lines were replaced by `after` lines. Lines are
/// counted from 0; one of the ranges may be empty, never both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Lines of the old text.
    pub before: Range<u32>,
    /// Lines of the new text.
    pub after: Range<u32>,
}

/// The result of [`compare`]: the changes, and the lines around them.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// The old text.
    pub before: Side<'a>,
    /// The new text.
    pub after: Side<'a>,
    /// The changed regions, in order, never touching each other.
    pub changes: Vec<Change>,
}

impl Comparison<'_> {
    /// Lines that only the new text has.
    pub fn added(&self) -> u64 {
        self.changes.iter().map(|change| change.after.len() as u64).sum()
    }

    /// Lines that only the old text has.
    pub fn removed(&self) -> u64 {
        self.changes.iter().map(|change| change.before.len() as u64).sum()
    }
}

/// Finds the changed lines between two texts. `context` is the number of
/// unchanged lines that must stay reachable around each change, for printing.
pub fn compare<'a>(
    before: &'a [u8],
    after: &'a [u8],
    context: u32,
    options: &Options,
) -> Comparison<'a> {
    compute::compare(before, after, lines::SharedMargins::default(), context, options)
}

#[cfg(test)]
mod tests;
