//! Computes the changes between two texts by running the algorithms in order, each with a budget.
//!
//! Budgets count visited lines, not time, so that the same input gives the same diff on every
//! machine. Histogram leaves to Myers the regions that it cannot align in its budget; Myers reports
//! as replaced the regions that exceed its own.

use imara_diff::Token;

use super::histogram::mark_by_histogram;
use super::intern::LineTokens;
use super::lines::{self, CommonLineCounts, ComparedLines, SharedMargins};
use super::marks::{ChangeMarks, ComparedRegion};
use super::myers::mark_by_myers;
use super::slide::{has_movable_block, slide_changes};
use super::{Algorithm, Change, Comparison, DiffOptions};

/// The number of common lines that are kept before and after the differing part. Sliding a change
/// looks at most 100 lines up and 20 blank lines beyond.
const MARGIN_LINES: u32 = 128;
/// The maximum number of lines of both texts together. Beyond it, the differing part is reported as
/// replaced without a comparison.
const MAX_DIFF_LINES: usize = 1 << 30;

/// Does the same as [`super::compare`] for texts that are known to share a prefix and a suffix of
/// the lengths in `same`.
pub(super) fn compare_between_margins<'a>(
    before: &'a [u8],
    after: &'a [u8],
    same: SharedMargins,
    context: u32,
    options: &DiffOptions,
) -> Comparison<'a> {
    if same.middle(before) == same.middle(after) {
        let side =
            |text: &[u8]| ComparedLines { lines: Vec::new(), skipped: 0, cut: !text.is_empty() };
        return Comparison { before: side(before), after: side(after), changes: Vec::new() };
    }
    let mut margin = MARGIN_LINES.max(context.saturating_add(1));
    loop {
        let (old, new, equal_old_lines, margins) =
            lines::split_compared_lines(before, after, same, margin);
        let changes = changes_between_sides(&old, &new, &equal_old_lines, margins, options);
        // A change that slid to the end of the kept lines might slide further, so the comparison is
        // repeated with more of them.
        let reaches_end = changes.last().is_some_and(|last| {
            (old.cut && last.before.end == old.end()) || (new.cut && last.after.end == new.end())
        });
        if !reaches_end {
            return Comparison { before: old, after: new, changes };
        }
        margin = margin.saturating_mul(16);
    }
}

/// Computes the smallest set of changes between two short lists of lines.
pub(crate) fn changes_between_lines(before: &[&[u8]], after: &[&[u8]]) -> Vec<Change> {
    let tokens = LineTokens::new(before, after, []);
    let marks = mark_changes(&tokens, Algorithm::Minimal);
    marks.changes()
}

/// Returns the changes between the kept lines of both texts, with line numbers in the whole texts.
fn changes_between_sides(
    old: &ComparedLines<'_>,
    new: &ComparedLines<'_>,
    equal_old_lines: &[u32],
    margins: CommonLineCounts,
    options: &DiffOptions,
) -> Vec<Change> {
    if old.lines.len() + new.lines.len() > MAX_DIFF_LINES {
        return vec![Change { before: old.skipped..old.end(), after: new.skipped..new.end() }];
    }
    let marks = if options.ignore_whitespace {
        let (old, new) = (WithoutWhitespace::new(old), WithoutWhitespace::new(new));
        mark_and_slide_changes(&old.lines(), &new.lines(), &[], margins, options.algorithm)
    } else {
        mark_and_slide_changes(&old.lines, &new.lines, equal_old_lines, margins, options.algorithm)
    };
    let mut changes = marks.changes();
    for change in &mut changes {
        change.before = change.before.start + old.skipped..change.before.end + old.skipped;
        change.after = change.after.start + new.skipped..change.after.end + new.skipped;
    }
    changes
}

/// Compares two lists of lines and slides the changes to their most readable positions.
///
/// Sliding needs the lines around a change, but most changes have only one possible position. Then
/// only the nearest lines get tokens.
fn mark_and_slide_changes(
    before: &[&[u8]],
    after: &[&[u8]],
    equal_old_lines: &[u32],
    margins: CommonLineCounts,
    algorithm: Algorithm,
) -> ChangeMarks {
    let (lead, trail) = (margins.lead.saturating_sub(1), margins.trail.saturating_sub(1));
    let near = |lines: &[&[u8]]| lead..lines.len() - trail;
    // The index of an equal old line that was left out becomes a number that no line has.
    let equal_old_lines =
        equal_old_lines.iter().skip(lead).map(|twin| twin.wrapping_sub(lead as u32));
    let mut tokens = LineTokens::new(&before[near(before)], &after[near(after)], equal_old_lines);
    let mut marks = mark_changes(&tokens, algorithm);
    if has_movable_block(&tokens, &marks) {
        tokens.add_common_lines(&before[..lead], &before[before.len() - trail..]);
        marks.add_unmarked(lead, trail);
        slide_changes(&tokens, &mut marks);
    } else {
        marks.add_unmarked(lead, trail);
    }
    marks
}

/// Runs the algorithm: histogram, then Myers for what histogram leaves, or Myers alone.
fn mark_changes(tokens: &LineTokens<'_>, algorithm: Algorithm) -> ChangeMarks {
    let (before, after): (&[Token], &[Token]) = (&tokens.before, &tokens.after);
    let distinct = tokens.distinct();
    let mut marks = ChangeMarks::new(before.len(), after.len());
    let mut whole = ComparedRegion { before: 0..before.len(), after: 0..after.len() };
    whole.strip_common_ends(before, after);
    let open = match algorithm {
        Algorithm::Histogram => mark_by_histogram(before, after, distinct, whole, &mut marks),
        Algorithm::Myers | Algorithm::Minimal => vec![whole],
    };
    let minimal = algorithm == Algorithm::Minimal;
    if !open.is_empty() {
        mark_by_myers(before, after, distinct, open, minimal, &mut marks);
    }
    marks
}

/// The lines of one text without white space, as they are compared with `ignore_whitespace`. Held
/// in one allocation.
struct WithoutWhitespace {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl WithoutWhitespace {
    fn new(side: &ComparedLines<'_>) -> Self {
        let mut bytes = Vec::with_capacity(side.lines.iter().map(|line| line.len()).sum());
        let mut ends = Vec::with_capacity(side.lines.len());
        for line in &side.lines {
            bytes.extend(line.iter().filter(|byte| !is_whitespace(**byte)));
            ends.push(bytes.len());
        }
        Self { bytes, ends }
    }

    fn lines(&self) -> Vec<&[u8]> {
        let mut from = 0;
        self.ends.iter().map(|&to| &self.bytes[std::mem::replace(&mut from, to)..to]).collect()
    }
}

fn is_whitespace(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}
