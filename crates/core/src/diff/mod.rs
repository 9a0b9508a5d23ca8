//! Line diffs between two texts, as data and as a unified diff.
//!
//! The default is the histogram algorithm with git's indentation heuristic: on real changes it
//! reports the same removed and added lines as `git diff --diff-algorithm=histogram`. The common
//! prefix and suffix are cut off as raw bytes before tokenising, so that a small edit in a large
//! file costs two memory comparisons.
//!
//! - [`compare`] finds the changed line ranges ([`Comparison`]);
//! - [`HunkRange`] groups them into hunks;
//! - [`unified`] prints them, and is the only module that knows the format;
//! - [`compute`] bounds the work: inputs beyond the budget get a coarser but correct diff.
//!
//! This module does not decode: a line is the bytes up to and including its LF. Callers decode text
//! in legacy encodings first.

mod anchors;
mod bits;
mod call;
mod compute;
mod histogram;
mod hunks;
mod intern;
mod lines;
mod marks;
mod myers;
mod name;
mod newlines;
mod slide;
pub mod unified;
pub mod words;

use std::ops::Range;

pub use call::DiffCall;
pub(crate) use compute::changes_between_lines;
pub(crate) use hunks::hunks_between;
pub use hunks::{HunkRange, ReplacedLines};
pub(crate) use intern::hash_line;
pub use lines::ComparedLines;
pub(crate) use lines::SharedMargins;
pub(crate) use lines::split_lines;
pub use unified::{DiffHeader, DisplayLimits, Unified};

crate::wire! {
    /// The algorithm that matches lines.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Algorithm {
        /// Rare lines first: readable diffs. Git calls it `histogram`.
        #[default]
        Histogram = "histogram",
        /// Myers with git's cost heuristics: git's default.
        Myers = "myers",
        /// Myers without heuristics: the fewest changed lines. Falls back to `myers` for inputs
        /// that would take too long.
        Minimal = "minimal",
    }
}

/// Controls how lines are compared and matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiffOptions {
    /// The algorithm that matches lines.
    pub algorithm: Algorithm,
    /// True if lines that differ only in white space (CR included) count as equal.
    pub ignore_whitespace: bool,
}

/// A changed region: `after` lines replace `before` lines. Lines are counted from 0; at most one of
/// the ranges is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Lines of the old text.
    pub before: Range<u32>,
    /// Lines of the new text.
    pub after: Range<u32>,
}

/// The result of [`compare`]: the changes and the lines around them.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// The old text.
    pub before: ComparedLines<'a>,
    /// The new text.
    pub after: ComparedLines<'a>,
    /// The changed regions in order; they are never adjacent.
    pub changes: Vec<Change>,
}

impl Comparison<'_> {
    /// Returns the number of added lines, that is, lines only in the new text.
    pub fn added(&self) -> u64 {
        self.changes.iter().map(|change| change.after.len() as u64).sum()
    }

    /// Returns the number of removed lines, that is, lines only in the old text.
    pub fn removed(&self) -> u64 {
        self.changes.iter().map(|change| change.before.len() as u64).sum()
    }
}

/// Finds the changed lines between two texts. `context` is the number of unchanged lines before and
/// after each change that the result must contain, for printing.
pub fn compare<'a>(
    before: &'a [u8],
    after: &'a [u8],
    context: u32,
    options: &DiffOptions,
) -> Comparison<'a> {
    compute::compare_between_margins(
        before,
        after,
        lines::SharedMargins::default(),
        context,
        options,
    )
}

#[cfg(test)]
mod tests;
