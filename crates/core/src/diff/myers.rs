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
use super::marks::{Marks, Region};

/// Limit of visited diagonals and equal lines for all regions of a comparison.
const MAX_MYERS_STEPS: u64 = 60_000_000;
/// The minimum number of rounds before a search is cut short; the square root of the number of
/// lines if that is larger.
const MIN_ROUNDS: usize = 256;
/// The number of search steps before a table is considered, so that small regions are split as git
/// splits them. A step takes as long as four words of a table.
const MIN_STEPS_BEFORE_TABLE: u64 = 16_384;

/// Marks the changed lines of regions.
pub(super) fn myers(
    before: &[Token],
    after: &[Token],
    tokens: usize,
    regions: Vec<Region>,
    minimal: bool,
    marks: &mut Marks,
) {
    let mut search = PathSearch::new(minimal);
    for mut region in regions {
        region.strip(before, after);
        if region.before.is_empty() || region.after.is_empty() {
            marks.replace(&region);
            continue;
        }
        // A line that the other side lacks cannot pair up, so it is left out.
        let shared = SharedLines::new(before, after, tokens, &region);
        let pairs = search.run(&shared.before, &shared.after);
        marks.replace(&region);
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
    fn new(before: &[Token], after: &[Token], tokens: usize, region: &Region) -> Self {
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

struct PathSearch {
    minimal: bool,
    left: u64,
    /// For each diagonal, the old line that the paths from the start have reached.
    forward: Vec<i32>,
    /// For each diagonal, the old line that the paths from the end have reached.
    backward: Vec<i32>,
}

/// The next step for a region.
enum Split {
    /// Split the region here: a good path passes through this point.
    At(usize, usize),
    /// Compute the whole table, which is cheaper than further search.
    Table,
}

/// No path from the start has reached this diagonal.
const NOT_AHEAD: i32 = i32::MIN;
/// No path from the end has reached this diagonal.
const NOT_BEHIND: i32 = i32::MAX;

impl PathSearch {
    fn new(minimal: bool) -> Self {
        Self { minimal, left: MAX_MYERS_STEPS, forward: Vec::new(), backward: Vec::new() }
    }

    /// Returns the pairs of unchanged lines.
    fn run(&mut self, before: &[Token], after: &[Token]) -> Vec<(usize, usize)> {
        let diagonals = before.len() + after.len() + 3;
        self.forward.resize(self.forward.len().max(diagonals), 0);
        self.backward.resize(self.backward.len().max(diagonals), 0);
        let mut pairs = Vec::new();
        let mut open = vec![Region { before: 0..before.len(), after: 0..after.len() }];
        while let Some(whole) = open.pop() {
            let mut region = whole.clone();
            region.strip(before, after);
            let (old, new) = (region.before.clone(), region.after.clone());
            pairs.extend((whole.before.start..old.start).zip(whole.after.start..new.start));
            pairs.extend((old.end..whole.before.end).zip(new.end..whole.after.end));
            if old.is_empty() || new.is_empty() {
                continue;
            }
            match self.split(before, after, &region) {
                Some(Split::At(x, y)) => {
                    open.push(Region { before: x..old.end, after: y..new.end });
                    open.push(Region { before: old.start..x, after: new.start..y });
                }
                Some(Split::Table) => {
                    bits::pairs(&before[old.clone()], &after[new.clone()], |x, y| {
                        pairs.push((old.start + x, new.start + y));
                    })
                }
                None => {}
            }
        }
        pairs
    }

    /// Charges work to the budget. When the budget for a minimal result is spent, heuristics are
    /// allowed; when that budget is spent too, returns false.
    fn spend(&mut self, steps: u64) -> bool {
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

    /// Splits a region whose first and last lines differ. Returns `None` once the budget is spent.
    fn split(&mut self, before: &[Token], after: &[Token], region: &Region) -> Option<Split> {
        let (x0, x1) = (region.before.start as i32, region.before.end as i32);
        let (y0, y1) = (region.after.start as i32, region.after.end as i32);
        // The slot of diagonal x - y, offset so that the lowest possible one is 0.
        let slot = |diagonal: i32| (diagonal + after.len() as i32 + 1) as usize;
        let limits = (x0 - y1, x1 - y0);
        let (start, goal) = (x0 - y0, x1 - y1);
        let odd = (start - goal) % 2 != 0;
        let (mut ahead, mut behind) = (start..=start, goal..=goal);
        self.forward[slot(start)] = x0;
        self.backward[slot(goal)] = x1;
        let patience = MIN_ROUNDS.max(region.len().isqrt());
        let table = bits::words(region.before.len(), region.after.len()).map(|words| words as u64);
        let mut spent = 0;

        for round in 1.. {
            ahead = widened(&ahead, limits);
            self.forward[slot(ahead.start() - 1)] = NOT_AHEAD;
            self.forward[slot(ahead.end() + 1)] = NOT_AHEAD;
            let mut steps = 0;
            for diagonal in ahead.clone().rev().step_by(2) {
                let right = self.forward[slot(diagonal - 1)];
                let right = if right < x1 && right != NOT_AHEAD { right + 1 } else { NOT_AHEAD };
                let down = self.forward[slot(diagonal + 1)];
                let down =
                    if down != NOT_AHEAD && down - diagonal <= y1 { down } else { NOT_AHEAD };
                let mut x = right.max(down);
                if x != NOT_AHEAD {
                    let from = x;
                    while x < x1
                        && x - diagonal < y1
                        && before[x as usize] == after[(x - diagonal) as usize]
                    {
                        x += 1;
                    }
                    steps += (x - from) as u64;
                    if odd && behind.contains(&diagonal) && self.backward[slot(diagonal)] <= x {
                        return Some(Split::At(x as usize, (x - diagonal) as usize));
                    }
                }
                self.forward[slot(diagonal)] = x;
                steps += 1;
            }

            behind = widened(&behind, limits);
            self.backward[slot(behind.start() - 1)] = NOT_BEHIND;
            self.backward[slot(behind.end() + 1)] = NOT_BEHIND;
            for diagonal in behind.clone().rev().step_by(2) {
                let left = self.backward[slot(diagonal + 1)];
                let left = if left > x0 && left != NOT_BEHIND { left - 1 } else { NOT_BEHIND };
                let up = self.backward[slot(diagonal - 1)];
                let up = if up != NOT_BEHIND && up - diagonal >= y0 { up } else { NOT_BEHIND };
                let mut x = left.min(up);
                if x != NOT_BEHIND {
                    let from = x;
                    while x > x0
                        && x - diagonal > y0
                        && before[x as usize - 1] == after[(x - diagonal) as usize - 1]
                    {
                        x -= 1;
                    }
                    steps += (from - x) as u64;
                    if !odd && ahead.contains(&diagonal) && x <= self.forward[slot(diagonal)] {
                        return Some(Split::At(x as usize, (x - diagonal) as usize));
                    }
                }
                self.backward[slot(diagonal)] = x;
                steps += 1;
            }

            if !self.spend(steps) {
                return None;
            }
            spent += steps;
            if let Some(words) = table
                && (round >= patience || spent > MIN_STEPS_BEFORE_TABLE.max(words / 4))
            {
                return self.spend(words / 4).then_some(Split::Table);
            }
            if round >= patience && !self.minimal {
                let far = ahead.step_by(2).map(|d| (self.forward[slot(d)], d));
                let far = far.filter(|&(x, _)| x != NOT_AHEAD).max_by_key(|&(x, d)| 2 * x - d)?;
                let near = behind.step_by(2).map(|d| (self.backward[slot(d)], d));
                let near =
                    near.filter(|&(x, _)| x != NOT_BEHIND).min_by_key(|&(x, d)| 2 * x - d)?;
                let gained = 2 * far.0 - far.1 - x0 - y0;
                let (x, d) = if gained >= x1 + y1 - 2 * near.0 + near.1 { far } else { near };
                return Some(Split::At(x as usize, (x - d) as usize));
            }
        }
        None
    }
}

/// Widens the diagonals by one on each side, within the limits.
fn widened(range: &RangeInclusive<i32>, limits: (i32, i32)) -> RangeInclusive<i32> {
    let (low, high) = (*range.start(), *range.end());
    let low = if low > limits.0 { low - 1 } else { low + 1 };
    let high = if high < limits.1 { high + 1 } else { high - 1 };
    low..=high
}
