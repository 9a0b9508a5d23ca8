//! Aligns the lines of the old text with the lines of the file near one diagonal, that is, one
//! offset between file lines and old lines.
//!
//! Finds the cheapest alignment of the whole old text with a part of the file by dynamic
//! programming over the cells near the diagonal. Equal lines cost nothing, similar lines cost their
//! difference, and a line that only one side has costs more the more text it has. Lines that are
//! broken differently on the two sides are joined. Costs are in units of [`LINE_COST`].

use super::alignment::{Alignment, AlignmentStep, Cut, cut_after, cut_before};
use super::haystack::Haystack;
use super::levenshtein::BitPattern;
use super::needle::{LINE_COST, LineKind, Needle};
use super::normalize::match_key;
use super::pairs::{AlignStep, LinePairs};
use super::window::AlignmentWindow;

/// The maximum half-width of the band in lines: an alignment may be this far from the diagonal.
const MAX_BAND_LINES: usize = 64;
/// The half-widths of narrower bands, in lines, that are tried first. A path that leaves a band
/// skips, joins or splits lines, which costs at least [`MIN_DRIFT_COST`] per line; so an alignment
/// that costs less than leaving the band is the best of all.
const BAND_HALF_WIDTHS: [usize; 2] = [6, 24];
/// The minimum cost of moving one line away from the diagonal.
const MIN_DRIFT_COST: i32 = LINE_COST / 20 / 3;
/// The maximum number of cells of one alignment; a larger one is not computed.
const MAX_ALIGNMENT_CELLS: usize = 12_000_000;
/// The cost of a cell that no step has reached.
const INFINITE_COST: i32 = i32::MAX / 2;

/// The cells near a diagonal, a row for each old line: the cost to reach each cell, and the step
/// that led there at that cost.
struct CostBand {
    diagonal: isize,
    /// The half-width of the band in lines.
    pad: isize,
    /// The number of lines in the window plus one.
    wide: usize,
    costs: Vec<i32>,
    moves: Vec<AlignStep>,
}

impl CostBand {
    fn new(rows: usize, diagonal: isize, pad: usize, wide: usize) -> Self {
        let cells = rows * (2 * pad + 1);
        let (costs, moves) = (vec![INFINITE_COST; cells], vec![AlignStep::None; cells]);
        Self { diagonal, pad: pad as isize, wide, costs, moves }
    }

    /// Returns the columns of a row that lie in the band.
    fn columns(&self, row: usize) -> std::ops::RangeInclusive<usize> {
        let middle = self.diagonal + row as isize;
        let last = (middle + self.pad).clamp(0, self.wide as isize - 1);
        (middle - self.pad).max(0) as usize..=last as usize
    }

    /// Returns the index of a cell in `costs`, or `None` outside the band.
    fn cell_index(&self, row: usize, column: usize) -> Option<usize> {
        let from = column as isize - (self.diagonal + row as isize - self.pad);
        let width = 2 * self.pad + 1;
        ((0..width).contains(&from) && column < self.wide)
            .then(|| row * width as usize + from as usize)
    }

    fn cost(&self, row: usize, column: usize) -> i32 {
        self.cell_index(row, column).map_or(INFINITE_COST, |at| self.costs[at])
    }

    /// Records a step to a cell if it is cheaper than the cheapest so far.
    fn record_step(&mut self, row: usize, column: usize, cost: i32, by: AlignStep) {
        if let Some(at) = self.cell_index(row, column)
            && cost < self.costs[at]
        {
            self.costs[at] = cost;
            self.moves[at] = by;
        }
    }
}

/// Aligns the old text with the file around a diagonal (file line minus old line). Returns `None`
/// if every alignment costs more than `most`.
pub(in crate::edit) fn align(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
    diagonal: isize,
    most: i32,
    pattern: &mut BitPattern,
) -> Option<Alignment> {
    let widest = (needle.len() / 4).clamp(3, MAX_BAND_LINES);
    for pad in BAND_HALF_WIDTHS.into_iter().filter(|&pad| pad < widest) {
        let drifting = MIN_DRIFT_COST * pad as i32;
        let found = align_within_band(hay, needle, diagonal, pad, drifting, pattern);
        if found.as_ref().is_some_and(|found| found.cost < drifting) {
            return found;
        }
    }
    align_within_band(hay, needle, diagonal, widest, most, pattern)
}

/// Aligns within a band of `pad` lines on either side of the diagonal. Returns `None` if every
/// alignment costs more than `most`, or if the work exceeds the budget.
fn align_within_band(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
    diagonal: isize,
    pad: usize,
    most: i32,
    pattern: &mut BitPattern,
) -> Option<Alignment> {
    let n = needle.len();
    let low = (diagonal - pad as isize).max(0) as usize;
    let high = (diagonal + (n + pad) as isize).clamp(0, hay.len() as isize) as usize;
    let cells = (n + 1) * (2 * pad + 1);
    if low >= high || cells > MAX_ALIGNMENT_CELLS || !hay.work.try_spend_times(cells, 25) {
        return None;
    }
    let window = AlignmentWindow::new(hay, needle, low..high)?;
    let mut pairs = LinePairs::new(hay, needle, &window, pattern);
    let mut band = CostBand::new(n + 1, diagonal - low as isize, pad, high - low + 1);
    for column in band.columns(0) {
        band.record_step(0, column, 0, AlignStep::None);
    }
    // A step spans at most [`AlignStep::MAX_JOINED_LINES`] rows, so once the costs of that many
    // rows are all too high, no alignment can be cheaper.
    let mut least = [INFINITE_COST; AlignStep::MAX_JOINED_LINES];
    for i in 0..n {
        let mut cheapest = INFINITE_COST;
        for j in band.columns(i) {
            let cost = band.cost(i, j);
            if cost >= INFINITE_COST {
                continue;
            }
            cheapest = cheapest.min(cost);
            let file = low + j;
            if file < high {
                pairs.steps_from(i, file, |old, lines, step, by| {
                    band.record_step(i + old, j + lines, cost + step, by);
                });
                if i > 0 {
                    band.record_step(i, j + 1, cost + window.skip_cost(file), AlignStep::FileOnly);
                }
            }
            band.record_step(i + 1, j, cost + skipped_old_line_cost(needle, i), AlignStep::OldOnly);
        }
        least[i % AlignStep::MAX_JOINED_LINES] = cheapest;
        if i + 1 >= AlignStep::MAX_JOINED_LINES && least.iter().all(|&least| least > most) {
            return None;
        }
    }
    // Of several ends of an alignment that cost the same, takes the one nearest to the diagonal.
    // The other ends are found from their own diagonals.
    let middle = band.diagonal + n as isize;
    let ends = band.columns(n).map(|j| (band.cost(n, j), middle.abs_diff(j as isize), j));
    let (cost, _, end) = ends.min()?;
    if cost >= INFINITE_COST {
        return None;
    }
    let mut steps = trace_back(&mut pairs, &band, (n, end), low);
    cut_both_ends(hay, needle, &mut steps);
    let mut lines = steps.iter().filter_map(|step| match step {
        AlignmentStep::Pair { file, .. } => Some(file.clone()),
        _ => None,
    });
    let first = lines.next()?;
    let file = first.start..lines.next_back().unwrap_or(first).end;
    Some(Alignment { steps, file, cost })
}

/// Turns the first and the last pair into parts of their file lines if both are, or can be: a text
/// that begins and ends inside lines has no typing errors there, however much of them it has.
fn cut_both_ends(hay: &Haystack<'_>, needle: &Needle<'_>, steps: &mut [AlignmentStep]) {
    let last = steps.len().saturating_sub(1);
    if last == 0 {
        return;
    }
    let part = |step: &AlignmentStep, is_first: bool| match step {
        AlignmentStep::Pair { old, file, likeness, cut }
            if old.len() == 1 && file.len() == 1 && needle.lines[old.start].key.len() >= 4 =>
        {
            let (line, key) = (&needle.lines[old.start].key, match_key(hay.line(file.start)));
            if *likeness >= 1.0 {
                return Some(*cut).filter(|cut| if is_first { cut.head > 0 } else { cut.tail > 0 });
            }
            if is_first {
                let head = cut_before(hay, needle, old.start, file.start);
                return key.ends_with(line).then_some(Cut { head, tail: 0 });
            }
            let tail = cut_after(hay, needle, old.start, file.start);
            key.starts_with(line).then_some(Cut { head: 0, tail })
        }
        _ => None,
    };
    let ends = (part(&steps[0], true), part(&steps[last], false));
    if let (Some(first), Some(end)) = ends {
        for (at, made) in [(0, first), (last, end)] {
            if let AlignmentStep::Pair { likeness, cut, .. } = &mut steps[at] {
                (*likeness, *cut) = (1.0, made);
            }
        }
    }
}

/// Returns the cost of an old line that the file does not have.
fn skipped_old_line_cost(needle: &Needle<'_>, old: usize) -> i32 {
    let line = &needle.lines[old];
    match line.kind {
        LineKind::Blank => LINE_COST / 20,
        LineKind::Comment | LineKind::Code => line.weight,
    }
}

/// Returns the steps that led to a cell, in the order of the lines.
fn trace_back(
    pairs: &mut LinePairs<'_, '_>,
    band: &CostBand,
    (mut i, mut j): (usize, usize),
    low: usize,
) -> Vec<AlignmentStep> {
    let mut steps = Vec::new();
    while let Some(by) = band.cell_index(i, j).map(|at| band.moves[at]) {
        let (old, lines) = match by {
            AlignStep::None => break,
            AlignStep::Pair | AlignStep::Edge => (1, 1),
            AlignStep::Join(count) => (1, usize::from(count)),
            AlignStep::Split(count) => (usize::from(count), 1),
            AlignStep::OldOnly => (1, 0),
            AlignStep::FileOnly => (0, 1),
        };
        (i, j) = (i - old, j - lines);
        let file = low + j;
        let (hay, needle) = (pairs.hay, pairs.needle);
        steps.push(match by {
            AlignStep::OldOnly => AlignmentStep::OldOnly(i),
            AlignStep::FileOnly => AlignmentStep::FileOnly(file),
            by => {
                let cut = match by {
                    AlignStep::Edge if i == 0 => {
                        Cut { head: cut_before(hay, needle, i, file), tail: 0 }
                    }
                    AlignStep::Edge => Cut { head: 0, tail: cut_after(hay, needle, i, file) },
                    _ => Cut::default(),
                };
                let likeness = match by {
                    AlignStep::Pair => pairs.likeness(i, file),
                    _ => 1.0,
                };
                AlignmentStep::Pair { old: i..i + old, file: file..file + lines, likeness, cut }
            }
        });
    }
    steps.reverse();
    steps
}
