//! Matching the lines up, within a budget of work.
//!
//! The algorithms are imara-diff's. They are near linear on real texts, yet the
//! histogram is quadratic when a text offers many equally good anchors, so a
//! region above [`WHOLE`] lines is first cut at lines that are unique on both
//! sides and in the same order. The cut regions are compared one by one; what
//! remains too large falls back to Myers, and beyond [`COARSE`] to "all of it
//! changed". Budgets count lines, not time: the same input gives the same diff
//! on every machine.

use imara_diff::{Algorithm as Imara, Diff, IndentHeuristic, IndentLevel, Interner, Token};

use super::lines::{self, Side};
use super::{Algorithm, Change, Comparison, Options};

/// Lines kept on each side of the difference. The heuristic that places a
/// change looks at most 100 lines up, and past 20 blank ones.
const MARGIN: u32 = 128;
/// Regions up to this many lines (both sides together) are compared whole.
const WHOLE: usize = 40_000;
/// Aim for regions of this many lines when cutting.
const PIECE: usize = 10_000;
/// Up to this product of line counts, the minimal diff is affordable.
const MINIMAL_CELLS: usize = 100_000_000;
/// A region of more lines than this, with nothing to cut it at, is not looked
/// into: its lines count as replaced.
const COARSE: usize = 4_000_000;

pub(super) fn compare<'a>(
    before: &'a [u8],
    after: &'a [u8],
    context: u32,
    options: &Options,
) -> Comparison<'a> {
    if before == after {
        let side = |text: &[u8]| Side { lines: Vec::new(), skipped: 0, cut: !text.is_empty() };
        return Comparison { before: side(before), after: side(after), changes: Vec::new() };
    }
    let mut margin = MARGIN.max(context.saturating_add(1));
    loop {
        let (old, new) = lines::sides(before, after, margin);
        let changes = changes(&old, &new, options);
        // A change that slid down to the edge of the window might slide on.
        let edge = changes.last().is_some_and(|last| {
            (old.cut && last.before.end == old.end()) || (new.cut && last.after.end == new.end())
        });
        if !edge {
            return Comparison { before: old, after: new, changes };
        }
        margin = margin.saturating_mul(16);
    }
}

/// The changes between two short lists of lines, as few as possible.
pub(crate) fn changes_between(before: &[&[u8]], after: &[&[u8]]) -> Vec<Change> {
    let options = Options { algorithm: Algorithm::Minimal, ignore_whitespace: false };
    let old = Side { lines: before.to_vec(), skipped: 0, cut: false };
    let new = Side { lines: after.to_vec(), skipped: 0, cut: false };
    changes(&old, &new, &options)
}

fn changes(old: &Side<'_>, new: &Side<'_>, options: &Options) -> Vec<Change> {
    let folded = options.ignore_whitespace.then(|| (Folded::new(old), Folded::new(new)));
    let mut interner = Interner::new((old.lines.len() + new.lines.len()).min(1 << 20));
    let (before, after): (Vec<Token>, Vec<Token>) = match &folded {
        Some((old, new)) => (
            old.keys().map(|key| interner.intern(key)).collect(),
            new.keys().map(|key| interner.intern(key)).collect(),
        ),
        None => (
            old.lines.iter().map(|&line| interner.intern(line)).collect(),
            new.lines.iter().map(|&line| interner.intern(line)).collect(),
        ),
    };
    let indent = |token: Token| {
        // The heuristic needs a level up to 200; no need to walk a long line.
        let line: &[u8] = interner[token];
        IndentLevel::for_ascii_line(line.iter().copied(), 8)
    };

    let mut found = Vec::new();
    for region in regions(&before, &after, interner.num_tokens()) {
        let (a, b) = (&before[region.before.clone()], &after[region.after.clone()]);
        let shift = |change: Change| Change {
            before: change.before.start + region.before.start as u32 + old.skipped
                ..change.before.end + region.before.start as u32 + old.skipped,
            after: change.after.start + region.after.start as u32 + new.skipped
                ..change.after.end + region.after.start as u32 + new.skipped,
        };
        if a.is_empty() || b.is_empty() || a.len() + b.len() > COARSE {
            if !(a.is_empty() && b.is_empty()) {
                let whole = Change { before: 0..a.len() as u32, after: 0..b.len() as u32 };
                push(&mut found, shift(whole));
            }
            continue;
        }
        let algorithm = match options.algorithm {
            Algorithm::Histogram if a.len() + b.len() > WHOLE => Imara::Myers,
            Algorithm::Histogram => Imara::Histogram,
            Algorithm::Minimal if a.len().saturating_mul(b.len()) <= MINIMAL_CELLS => {
                Imara::MyersMinimal
            }
            Algorithm::Myers | Algorithm::Minimal => Imara::Myers,
        };
        let mut diff = Diff::default();
        diff.compute_with(algorithm, a, b, interner.num_tokens());
        diff.postprocess_with(a, b, IndentHeuristic::new(indent));
        for hunk in diff.hunks() {
            push(&mut found, shift(Change { before: hunk.before, after: hunk.after }));
        }
    }
    found
}

/// Appends a change, joining it to the last one where they touch.
fn push(found: &mut Vec<Change>, change: Change) {
    match found.last_mut() {
        Some(last)
            if last.before.end == change.before.start && last.after.end == change.after.start =>
        {
            last.before.end = change.before.end;
            last.after.end = change.after.end;
        }
        _ => found.push(change),
    }
}

struct Region {
    before: std::ops::Range<usize>,
    after: std::ops::Range<usize>,
}

/// The regions to compare one by one: everything at once where it is small,
/// else pieces that begin with a line which is unique on both sides.
fn regions(before: &[Token], after: &[Token], tokens: u32) -> Vec<Region> {
    let (mut a, mut b) = (0, 0);
    let mut regions = Vec::new();
    if before.len() + after.len() > WHOLE {
        for (x, y) in unique_anchors(before, after, tokens) {
            if x - a + y - b >= PIECE {
                regions.push(Region { before: a..x, after: b..y });
                (a, b) = (x, y);
            }
        }
    }
    regions.push(Region { before: a..before.len(), after: b..after.len() });
    regions
}

/// Pairs of equal lines that occur once on each side, as the longest series in
/// which both sides ascend.
fn unique_anchors(before: &[Token], after: &[Token], tokens: u32) -> Vec<(usize, usize)> {
    const NEVER: u32 = u32::MAX;
    const OFTEN: u32 = u32::MAX - 1;
    let locate = |side: &[Token]| {
        let mut place = vec![NEVER; tokens as usize];
        for (at, token) in side.iter().enumerate() {
            let slot = &mut place[token.0 as usize];
            *slot = if *slot == NEVER { at as u32 } else { OFTEN };
        }
        place
    };
    let in_after = locate(after);
    let in_before = locate(before);
    let pairs: Vec<(usize, usize)> = before
        .iter()
        .enumerate()
        .filter(|&(_, token)| in_before[token.0 as usize] < OFTEN)
        .filter(|&(_, token)| in_after[token.0 as usize] < OFTEN)
        .map(|(at, token)| (at, in_after[token.0 as usize] as usize))
        .collect();

    // Patience sorting: `piles[k]` ends the best ascending series of k + 1 pairs.
    let mut piles: Vec<usize> = Vec::new();
    let mut previous = vec![usize::MAX; pairs.len()];
    for (index, &(_, y)) in pairs.iter().enumerate() {
        let pile = piles.partition_point(|&top| pairs[top].1 < y);
        previous[index] = if pile == 0 { usize::MAX } else { piles[pile - 1] };
        if pile == piles.len() {
            piles.push(index);
        } else {
            piles[pile] = index;
        }
    }
    let mut series = Vec::with_capacity(piles.len());
    let mut at = piles.last().copied().unwrap_or(usize::MAX);
    while let Some(&pair) = pairs.get(at) {
        series.push(pair);
        at = previous[at];
    }
    series.reverse();
    series
}

/// The lines of a side without any white space, in one allocation.
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

    fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.ends.iter().scan(0, |from, &to| {
            let key = &self.bytes[*from..to];
            *from = to;
            Some(key)
        })
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}
