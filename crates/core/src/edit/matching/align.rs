//! Aligns the lines of the old text with the lines of the file near one diagonal.
//!
//! A semi-global alignment in a band. Equal lines cost nothing, similar lines cost their
//! difference, and a line that only one side has costs more the more text it has. Lines that are
//! broken differently on the two sides are joined. Costs are in ten-thousandths of a line.

use super::alignment::{Alignment, AlignmentStep, Cut, cut_after, cut_before};
use super::haystack::Haystack;
use super::levenshtein::BitPattern;
use super::needle::{LINE_COST, LineKind, Needle};
use super::pairs::{AlignStep, Pairs};
use super::window::Window;

/// The maximum number of lines by which the two sides may drift apart.
const MAX_BAND: usize = 64;
/// Narrower bands to try first. A path that leaves a band skips, joins or splits lines, which costs
/// at least `DRIFT` per line of drift.
const BAND_WIDTHS: [usize; 2] = [6, 24];
const DRIFT: i32 = LINE_COST / 20 / 3;
/// The maximum number of cells in one alignment.
const MAX_CELLS: usize = 12_000_000;
/// The cost of an impossible step.
const INFINITE_COST: i32 = i32::MAX / 2;

/// The cells near a diagonal, row by row: the cost to reach each cell and the step that led there.
struct Band {
    diagonal: isize,
    pad: isize,
    /// The number of lines in the window plus one.
    wide: usize,
    costs: Vec<i32>,
    moves: Vec<AlignStep>,
}

impl Band {
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

    fn at(&self, row: usize, column: usize) -> Option<usize> {
        let from = column as isize - (self.diagonal + row as isize - self.pad);
        let width = 2 * self.pad + 1;
        ((0..width).contains(&from) && column < self.wide)
            .then(|| row * width as usize + from as usize)
    }

    fn cost(&self, row: usize, column: usize) -> i32 {
        self.at(row, column).map_or(INFINITE_COST, |at| self.costs[at])
    }

    fn reach(&mut self, row: usize, column: usize, cost: i32, by: AlignStep) {
        if let Some(at) = self.at(row, column)
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
    let widest = (needle.len() / 4).clamp(3, MAX_BAND);
    for pad in BAND_WIDTHS.into_iter().filter(|&pad| pad < widest) {
        let drifting = DRIFT * pad as i32;
        let found = align_within(hay, needle, diagonal, pad, drifting, pattern);
        if found.as_ref().is_some_and(|found| found.cost < drifting) {
            return found;
        }
    }
    align_within(hay, needle, diagonal, widest, most, pattern)
}

/// Aligns within a band of `pad` lines to either side.
fn align_within(
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
    if low >= high || cells > MAX_CELLS || !hay.work.try_spend_times(cells, 25) {
        return None;
    }
    let window = Window::new(hay, needle, low..high)?;
    let mut pairs = Pairs::new(hay, needle, &window, pattern);
    let mut band = Band::new(n + 1, diagonal - low as isize, pad, high - low + 1);
    for column in band.columns(0) {
        band.reach(0, column, 0, AlignStep::None);
    }
    // A step spans only a few rows, so the costs of the last rows decide whether to stop.
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
                    band.reach(i + old, j + lines, cost + step, by);
                });
                if i > 0 {
                    band.reach(i, j + 1, cost + window.skip(file), AlignStep::FileOnly);
                }
            }
            band.reach(i + 1, j, cost + old_only(needle, i), AlignStep::OldOnly);
        }
        least[i % AlignStep::MAX_JOINED_LINES] = cheapest;
        if i + 1 >= AlignStep::MAX_JOINED_LINES && least.iter().all(|&least| least > most) {
            return None;
        }
    }
    // Of several ends that cost the same, the one on the diagonal: another has its own diagonal.
    let middle = band.diagonal + n as isize;
    let ends = band.columns(n).map(|j| (band.cost(n, j), middle.abs_diff(j as isize), j));
    let (cost, _, end) = ends.min()?;
    if cost >= INFINITE_COST {
        return None;
    }
    let steps = back(&mut pairs, &band, (n, end), low);
    let mut lines = steps.iter().filter_map(|step| match step {
        AlignmentStep::Pair { file, .. } => Some(file.clone()),
        _ => None,
    });
    let first = lines.next()?;
    let file = first.start..lines.next_back().unwrap_or(first).end;
    Some(Alignment { steps, file, cost })
}

/// Returns the cost of an old line that the file does not have.
fn old_only(needle: &Needle<'_>, old: usize) -> i32 {
    let line = &needle.lines[old];
    match line.kind {
        LineKind::Blank => LINE_COST / 20,
        LineKind::Comment | LineKind::Code => line.weight,
    }
}

/// Follows the steps back from a cell to the start.
fn back(
    pairs: &mut Pairs<'_, '_>,
    band: &Band,
    (mut i, mut j): (usize, usize),
    low: usize,
) -> Vec<AlignmentStep> {
    let mut steps = Vec::new();
    while let Some(by) = band.at(i, j).map(|at| band.moves[at]) {
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
