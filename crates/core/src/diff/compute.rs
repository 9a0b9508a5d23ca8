//! Computes the changes between two texts by running the algorithms in order, each with a budget.
//!
//! Budgets count visited lines, not time, so that the same input gives the same diff on every
//! machine. Histogram leaves to Myers the regions that it cannot align in its budget; Myers reports
//! as replaced the regions that exceed its own.

use imara_diff::Token;

use super::histogram::histogram;
use super::intern::Tokens;
use super::lines::{self, Margins, SharedMargins, Side};
use super::marks::{Marks, Region};
use super::myers::myers;
use super::slide::{movable, slide};
use super::{Algorithm, Change, Comparison, DiffOptions};

/// Common lines kept on each side of the difference. Sliding a change looks at most 100 lines up
/// and 20 blank lines beyond.
const MARGIN: u32 = 128;
/// Longer texts are not compared; they count as replaced completely.
const MAX_DIFF_LINES: usize = 1 << 30;

/// Like [`super::compare`], for texts whose ends are known to be equal over `same`.
pub(super) fn compare<'a>(
    before: &'a [u8],
    after: &'a [u8],
    same: SharedMargins,
    context: u32,
    options: &DiffOptions,
) -> Comparison<'a> {
    if same.middle(before) == same.middle(after) {
        let side = |text: &[u8]| Side { lines: Vec::new(), skipped: 0, cut: !text.is_empty() };
        return Comparison { before: side(before), after: side(after), changes: Vec::new() };
    }
    let mut margin = MARGIN.max(context.saturating_add(1));
    loop {
        let (old, new, twins, margins) = lines::sides(before, after, same, margin);
        let changes = changes(&old, &new, &twins, margins, options);
        // A change that slid to the edge of the window might slide beyond it.
        let edge = changes.last().is_some_and(|last| {
            (old.cut && last.before.end == old.end()) || (new.cut && last.after.end == new.end())
        });
        if !edge {
            return Comparison { before: old, after: new, changes };
        }
        margin = margin.saturating_mul(16);
    }
}

/// Computes the smallest set of changes between two short lists of lines.
pub(crate) fn changes_between(before: &[&[u8]], after: &[&[u8]]) -> Vec<Change> {
    let tokens = Tokens::new(before, after, []);
    let marks = marks(&tokens, Algorithm::Minimal);
    marks.changes()
}

fn changes(
    old: &Side<'_>,
    new: &Side<'_>,
    twins: &[u32],
    margins: Margins,
    options: &DiffOptions,
) -> Vec<Change> {
    if old.lines.len() + new.lines.len() > MAX_DIFF_LINES {
        return vec![Change { before: old.skipped..old.end(), after: new.skipped..new.end() }];
    }
    let marks = if options.ignore_whitespace {
        let (old, new) = (Folded::new(old), Folded::new(new));
        slid(&old.keys(), &new.keys(), &[], margins, options.algorithm)
    } else {
        slid(&old.lines, &new.lines, twins, margins, options.algorithm)
    };
    let mut changes = marks.changes();
    for change in &mut changes {
        change.before = change.before.start + old.skipped..change.before.end + old.skipped;
        change.after = change.after.start + new.skipped..change.after.end + new.skipped;
    }
    changes
}

/// Slides the changes to their most readable positions.
///
/// Sliding needs the lines around a change, but most changes have only one possible position. Then
/// only the nearest lines need tokens.
fn slid(
    before: &[&[u8]],
    after: &[&[u8]],
    twins: &[u32],
    margins: Margins,
    algorithm: Algorithm,
) -> Marks {
    let (lead, trail) = (margins.lead.saturating_sub(1), margins.trail.saturating_sub(1));
    let near = |lines: &[&[u8]]| lead..lines.len() - trail;
    // A twin outside the remaining lines gets a number that no line has.
    let twins = twins.iter().skip(lead).map(|twin| twin.wrapping_sub(lead as u32));
    let mut tokens = Tokens::new(&before[near(before)], &after[near(after)], twins);
    let mut marks = marks(&tokens, algorithm);
    if movable(&tokens, &marks) {
        tokens.widen(&before[..lead], &before[before.len() - trail..]);
        marks.widen(lead, trail);
        slide(&tokens, &mut marks);
    } else {
        marks.widen(lead, trail);
    }
    marks
}

fn marks(tokens: &Tokens<'_>, algorithm: Algorithm) -> Marks {
    let (before, after): (&[Token], &[Token]) = (&tokens.before, &tokens.after);
    let distinct = tokens.distinct();
    let mut marks = Marks::new(before.len(), after.len());
    let mut whole = Region { before: 0..before.len(), after: 0..after.len() };
    whole.strip(before, after);
    let open = match algorithm {
        Algorithm::Histogram => histogram(before, after, distinct, whole, &mut marks),
        Algorithm::Myers | Algorithm::Minimal => vec![whole],
    };
    let minimal = algorithm == Algorithm::Minimal;
    if !open.is_empty() {
        myers(before, after, distinct, open, minimal, &mut marks);
    }
    marks
}

/// The lines of one side without white space, in one allocation.
struct Folded {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Folded {
    fn new(side: &Side<'_>) -> Self {
        let mut bytes = Vec::with_capacity(side.lines.iter().map(|line| line.len()).sum());
        let mut ends = Vec::with_capacity(side.lines.len());
        for line in &side.lines {
            bytes.extend(line.iter().filter(|byte| !is_space(**byte)));
            ends.push(bytes.len());
        }
        Self { bytes, ends }
    }

    fn keys(&self) -> Vec<&[u8]> {
        let mut from = 0;
        self.ends.iter().map(|&to| &self.bytes[std::mem::replace(&mut from, to)..to]).collect()
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}
