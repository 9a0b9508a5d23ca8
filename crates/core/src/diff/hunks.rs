//! The hunks of a comparison as ranges of lines.

use std::ops::Range;

use super::{Change, Comparison, DiffOptions, compare};

/// The number of unchanged lines around each change that a hunk shows, as in every diff.
pub(crate) const CONTEXT_LINES: u32 = 3;

crate::wire! {
    /// Lines of the new text that replace lines of the old one. Lines count from 0.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ReplacedLines {
        /// The first line in the old text.
        pub old_start: u32,
        /// The number of removed lines.
        pub old_lines: u32,
        /// The first line in the new text.
        pub new_start: u32,
        /// The number of added lines.
        pub new_lines: u32,
    }
}

crate::wire! {
    /// A hunk: replaced lines that are near each other, and unchanged lines around them. Lines
    /// count from 0.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct HunkRange {
        /// The first line in the old text.
        pub old_start: u32,
        /// The number of lines in the old text.
        pub old_lines: u32,
        /// The first line in the new text.
        pub new_start: u32,
        /// The number of lines in the new text.
        pub new_lines: u32,
        /// The replaced lines, in order.
        pub changes: Vec<ReplacedLines>,
    }
}

/// Groups the changes into hunks: changes with at most twice the context of unchanged lines between
/// them share one.
pub(crate) fn hunk_groups(changes: &[Change], context: u32) -> impl Iterator<Item = &[Change]> {
    changes.chunk_by(move |last, next| {
        next.before.start - last.before.end <= context.saturating_mul(2)
    })
}

/// Returns the lines of both texts that the hunk of these changes shows.
pub(crate) fn hunk_lines(
    comparison: &Comparison<'_>,
    group: &[Change],
    context: u32,
) -> (Range<u32>, Range<u32>) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return (0..0, 0..0) };
    let (old, new) = (&comparison.before, &comparison.after);
    let lead = context.min(first.before.start - old.skipped);
    let trail = context.min(old.end() - last.before.end);
    // With `ignore_whitespace` too, each unchanged line of one text is paired with one of the
    // other.
    let after_end = (last.after.end + trail).min(new.end());
    (first.before.start - lead..last.before.end + trail, first.after.start - lead..after_end)
}

/// Returns the hunks between two texts whose lines end with LF, the same as a diff with three lines
/// of context prints.
pub(crate) fn hunks_between(before: &[u8], after: &[u8]) -> Vec<HunkRange> {
    let comparison = compare(before, after, CONTEXT_LINES, &DiffOptions::default());
    let count = |lines: &Range<u32>| lines.end - lines.start;
    hunk_groups(&comparison.changes, CONTEXT_LINES)
        .map(|group| {
            let (old, new) = hunk_lines(&comparison, group, CONTEXT_LINES);
            let changes = group.iter().map(|Change { before, after }| ReplacedLines {
                old_start: before.start,
                old_lines: count(before),
                new_start: after.start,
                new_lines: count(after),
            });
            HunkRange {
                old_start: old.start,
                old_lines: count(&old),
                new_start: new.start,
                new_lines: count(&new),
                changes: changes.collect(),
            }
        })
        .collect()
}
