//! Myers' algorithm in linear space, which finds the fewest changed lines.
//!
//! Paths grow along equal lines from both corners of a region; the region is split where they meet.
//! When the search has cost as much as the whole table would cost with [`super::bits`], the table
//! is computed instead. If the table is too large and a minimal result is not required, the region
//! is split at the point that got farthest. All work counts against a budget; regions left when it
//! is spent are reported as replaced.

use std::ops::RangeInclusive;

use imara_diff::Token;

use super::bits;
use super::marks::{ChangeMarks, ComparedRegion};

/// The budget of steps for all regions of a comparison. A step is a visited diagonal or a compared
/// equal line. What is left when it is spent is reported as replaced.
const MAX_MYERS_STEPS: u64 = 60_000_000;
/// The number of rounds after which the search may stop before it finds a minimal result, or the
/// square root of the region's lines if that is larger. A round extends the paths by one changed
/// line from both ends.
const MIN_SEARCH_ROUNDS: usize = 256;
/// The number of search steps before a table is considered, so that small regions are split as git
/// splits them. A step takes as long as four words of a table.
const MIN_STEPS_BEFORE_TABLE: u64 = 16_384;

/// Marks the changed lines of regions. With `minimal`, a region is split only at points of a
/// shortest path until the budget is spent.
pub(super) fn mark_by_myers(
    before: &[Token],
    after: &[Token],
    tokens: usize,
    regions: Vec<ComparedRegion>,
    minimal: bool,
    marks: &mut ChangeMarks,
) {
    let mut search = PathSearch::new(minimal);
    for mut region in regions {
        region.strip_common_ends(before, after);
        if region.before.is_empty() || region.after.is_empty() {
            marks.mark_region(&region);
            continue;
        }
        // A line that does not occur on the other side stays marked as changed, so it is left out
        // of the search.
        let shared = SharedLines::new(before, after, tokens, &region);
        let pairs = search.unchanged_pairs(&shared.before, &shared.after);
        marks.mark_region(&region);
        for (x, y) in pairs {
            marks.removed[shared.before_at[x]] = false;
            marks.added[shared.after_at[y]] = false;
        }
    }
}

/// The lines of a region that occur on both sides, with their positions.
struct SharedLines {
    before: Vec<Token>,
    after: Vec<Token>,
    before_at: Vec<usize>,
    after_at: Vec<usize>,
}

impl SharedLines {
    fn new(before: &[Token], after: &[Token], tokens: usize, region: &ComparedRegion) -> Self {
        let mut seen = vec![0u8; tokens];
        for at in region.before.clone() {
            seen[before[at].0 as usize] |= 1;
        }
        for at in region.after.clone() {
            seen[after[at].0 as usize] |= 2;
        }
        let both = |lines: &[Token], range: std::ops::Range<usize>| -> (Vec<Token>, Vec<usize>) {
            range.filter(|&at| seen[lines[at].0 as usize] == 3).map(|at| (lines[at], at)).unzip()
        };
        let (old, before_at) = both(before, region.before.clone());
        let (new, after_at) = both(after, region.after.clone());
        Self { before: old, after: new, before_at, after_at }
    }
}

/// The search for a shortest edit path, with the arrays that it reuses for every region.
struct PathSearch {
    minimal: bool,
    /// The remaining steps.
    left: u64,
    /// For each diagonal, the old line that the paths from the start have reached.
    forward: Vec<i32>,
    /// For each diagonal, the old line that the paths from the end have reached.
    backward: Vec<i32>,
}

/// How [`PathSearch`] divides a region whose first and last lines differ.
enum RegionSplit {
    /// The region is split before these lines of the old and the new text: a short path passes
    /// through this point.
    At(usize, usize),
    /// The region is aligned with [`super::bits`], which is cheaper than further search.
    Table,
}

/// The entry in [`PathSearch::forward`] of a diagonal that no path from the start has reached.
const UNREACHED_FORWARD: i32 = i32::MIN;
/// The entry in [`PathSearch::backward`] of a diagonal that no path from the end has reached.
const UNREACHED_BACKWARD: i32 = i32::MAX;

impl PathSearch {
    fn new(minimal: bool) -> Self {
        Self { minimal, left: MAX_MYERS_STEPS, forward: Vec::new(), backward: Vec::new() }
    }

    /// Returns the pairs of unchanged lines as indexes into both lists.
    fn unchanged_pairs(&mut self, before: &[Token], after: &[Token]) -> Vec<(usize, usize)> {
        let diagonals = before.len() + after.len() + 3;
        self.forward.resize(self.forward.len().max(diagonals), 0);
        self.backward.resize(self.backward.len().max(diagonals), 0);
        let mut pairs = Vec::new();
        let mut open = vec![ComparedRegion { before: 0..before.len(), after: 0..after.len() }];
        while let Some(whole) = open.pop() {
            let mut region = whole.clone();
            region.strip_common_ends(before, after);
            let (old, new) = (region.before.clone(), region.after.clone());
            pairs.extend((whole.before.start..old.start).zip(whole.after.start..new.start));
            pairs.extend((old.end..whole.before.end).zip(new.end..whole.after.end));
            if old.is_empty() || new.is_empty() {
                continue;
            }
            match self.find_split(before, after, &region) {
                Some(RegionSplit::At(x, y)) => {
                    open.push(ComparedRegion { before: x..old.end, after: y..new.end });
                    open.push(ComparedRegion { before: old.start..x, after: new.start..y });
                }
                Some(RegionSplit::Table) => bits::for_each_unchanged_pair(
                    &before[old.clone()],
                    &after[new.clone()],
                    |x, y| {
                        pairs.push((old.start + x, new.start + y));
                    },
                ),
                None => {}
            }
        }
        pairs
    }

    /// Subtracts steps from the budget and returns false once it is spent. A minimal result has a
    /// budget of its own; when that is spent, the search goes on with heuristics and a new budget.
    fn try_spend(&mut self, steps: u64) -> bool {
        if self.left >= steps {
            self.left -= steps;
        } else if self.minimal {
            self.minimal = false;
            self.left = MAX_MYERS_STEPS;
        } else {
            self.left = 0;
        }
        self.left > 0
    }

    /// Finds where to split a region whose first and last lines differ. Returns `None` once the
    /// budget is spent.
    fn find_split(
        &mut self,
        before: &[Token],
        after: &[Token],
        region: &ComparedRegion,
    ) -> Option<RegionSplit> {
        let (x0, x1) = (region.before.start as i32, region.before.end as i32);
        let (y0, y1) = (region.after.start as i32, region.after.end as i32);
        // Returns the index of diagonal x - y in `forward` and `backward`, so that the lowest
        // possible diagonal has index 0.
        let slot = |diagonal: i32| (diagonal + after.len() as i32 + 1) as usize;
        let limits = (x0 - y1, x1 - y0);
        let (start, goal) = (x0 - y0, x1 - y1);
        let odd = (start - goal) % 2 != 0;
        let (mut ahead, mut behind) = (start..=start, goal..=goal);
        self.forward[slot(start)] = x0;
        self.backward[slot(goal)] = x1;
        let patience = MIN_SEARCH_ROUNDS.max(region.len().isqrt());
        let table = bits::lcs_table_words(region.before.len(), region.after.len())
            .map(|words| words as u64);
        let mut spent = 0;

        for round in 1.. {
            ahead = widened_diagonals(&ahead, limits);
            self.forward[slot(ahead.start() - 1)] = UNREACHED_FORWARD;
            self.forward[slot(ahead.end() + 1)] = UNREACHED_FORWARD;
            let mut steps = 0;
            for diagonal in ahead.clone().rev().step_by(2) {
                let right = self.forward[slot(diagonal - 1)];
                let right = if right < x1 && right != UNREACHED_FORWARD {
                    right + 1
                } else {
                    UNREACHED_FORWARD
                };
                let down = self.forward[slot(diagonal + 1)];
                let down = if down != UNREACHED_FORWARD && down - diagonal <= y1 {
                    down
                } else {
                    UNREACHED_FORWARD
                };
                let mut x = right.max(down);
                if x != UNREACHED_FORWARD {
                    let from = x;
                    while x < x1
                        && x - diagonal < y1
                        && before[x as usize] == after[(x - diagonal) as usize]
                    {
                        x += 1;
                    }
                    steps += (x - from) as u64;
                    if odd && behind.contains(&diagonal) && self.backward[slot(diagonal)] <= x {
                        return Some(RegionSplit::At(x as usize, (x - diagonal) as usize));
                    }
                }
                self.forward[slot(diagonal)] = x;
                steps += 1;
            }

            behind = widened_diagonals(&behind, limits);
            self.backward[slot(behind.start() - 1)] = UNREACHED_BACKWARD;
            self.backward[slot(behind.end() + 1)] = UNREACHED_BACKWARD;
            for diagonal in behind.clone().rev().step_by(2) {
                let left = self.backward[slot(diagonal + 1)];
                let left = if left > x0 && left != UNREACHED_BACKWARD {
                    left - 1
                } else {
                    UNREACHED_BACKWARD
                };
                let up = self.backward[slot(diagonal - 1)];
                let up = if up != UNREACHED_BACKWARD && up - diagonal >= y0 {
                    up
                } else {
                    UNREACHED_BACKWARD
                };
                let mut x = left.min(up);
                if x != UNREACHED_BACKWARD {
                    let from = x;
                    while x > x0
                        && x - diagonal > y0
                        && before[x as usize - 1] == after[(x - diagonal) as usize - 1]
                    {
                        x -= 1;
                    }
                    steps += (from - x) as u64;
                    if !odd && ahead.contains(&diagonal) && x <= self.forward[slot(diagonal)] {
                        return Some(RegionSplit::At(x as usize, (x - diagonal) as usize));
                    }
                }
                self.backward[slot(diagonal)] = x;
                steps += 1;
            }

            if !self.try_spend(steps) {
                return None;
            }
            spent += steps;
            if let Some(words) = table
                && (round >= patience || spent > MIN_STEPS_BEFORE_TABLE.max(words / 4))
            {
                return self.try_spend(words / 4).then_some(RegionSplit::Table);
            }
            if round >= patience && !self.minimal {
                let far = ahead.step_by(2).map(|d| (self.forward[slot(d)], d));
                let far =
                    far.filter(|&(x, _)| x != UNREACHED_FORWARD).max_by_key(|&(x, d)| 2 * x - d)?;
                let near = behind.step_by(2).map(|d| (self.backward[slot(d)], d));
                let near = near
                    .filter(|&(x, _)| x != UNREACHED_BACKWARD)
                    .min_by_key(|&(x, d)| 2 * x - d)?;
                let gained = 2 * far.0 - far.1 - x0 - y0;
                let (x, d) = if gained >= x1 + y1 - 2 * near.0 + near.1 { far } else { near };
                return Some(RegionSplit::At(x as usize, (x - d) as usize));
            }
        }
        None
    }
}

/// Widens the range of diagonals by one on each side. Beyond the limits of the region it shrinks by
/// one instead, so that every second diagonal stays the right one.
fn widened_diagonals(range: &RangeInclusive<i32>, limits: (i32, i32)) -> RangeInclusive<i32> {
    let (low, high) = (*range.start(), *range.end());
    let low = if low > limits.0 { low - 1 } else { low + 1 };
    let high = if high < limits.1 { high + 1 } else { high - 1 };
    low..=high
}
