//! The histogram algorithm: pairs the run of equal lines around the rarest line, then continues
//! before and after it.
//!
//! Of all runs that both sides share, the one whose rarest line occurs least often in the old text
//! wins, then the longest, then the first. Lines with more than [`MAX_ANCHOR_OCCURRENCES`]
//! occurrences are no anchors. A region whose common lines are all that frequent, and every region
//! left when the budget is spent, is returned to the caller for Myers.

use imara_diff::Token;

use super::anchors;
use super::marks::{ChangeMarks, ComparedRegion};

/// The maximum number of occurrences in the old text of a line that the algorithm pairs first.
/// Lines that occur more often align nothing.
const MAX_ANCHOR_OCCURRENCES: u32 = 64;
/// The budget of steps (visited lines and extended candidates) is [`BASE_STEP_BUDGET`] plus this
/// many per line of the region. Real texts use a tenth of it; without a budget, a text with many
/// equal lines would take quadratic time.
const STEP_BUDGET_PER_LINE: usize = 24;
/// The part of the budget of steps that does not depend on the size of the region.
const BASE_STEP_BUDGET: usize = 8_000_000;

/// Marks the changed lines of a region. Returns the parts that it could not align, because their
/// common lines are all frequent or the budget is spent; they are left to Myers' algorithm.
pub(super) fn mark_by_histogram(
    before: &[Token],
    after: &[Token],
    tokens: usize,
    region: ComparedRegion,
    marks: &mut ChangeMarks,
) -> Vec<ComparedRegion> {
    let mut index = TokenIndex::new(tokens, before.len());
    let mut left = BASE_STEP_BUDGET + STEP_BUDGET_PER_LINE * region.len();
    let mut open = anchors::split_at_unique_lines(before, after, tokens, region);
    let mut refused = Vec::new();
    while let Some(region) = open.pop() {
        if region.before.is_empty() || region.after.is_empty() {
            marks.mark_region(&region);
            continue;
        }
        if left == 0 {
            refused.push(region);
            continue;
        }
        match index.best_run(before, after, &region, &mut left) {
            BestRun::Nothing => marks.mark_region(&region),
            BestRun::Frequent => refused.push(region),
            BestRun::EqualRun { x, y, len } => {
                open.push(ComparedRegion {
                    before: x + len..region.before.end,
                    after: y + len..region.after.end,
                });
                open.push(ComparedRegion {
                    before: region.before.start..x,
                    after: region.after.start..y,
                });
            }
        }
    }
    refused
}

/// The result of [`TokenIndex::best_run`] for a region.
enum BestRun {
    /// The sides have no line in common.
    Nothing,
    /// Every common line is too frequent.
    Frequent,
    /// `len` equal lines from `x` in the old text and `y` in the new text.
    EqualRun { x: usize, y: usize, len: usize },
}

/// Where each line occurs in one region of the old text. Reused for all regions of a comparison.
struct TokenIndex {
    /// The occurrences of each line, indexed by its token.
    entries: Vec<TokenCount>,
    /// For each line of the old text, the index of the next line with the same token.
    next: Vec<u32>,
    round: u32,
}

/// How often a line occurs in the region, and the indexes of its first and last occurrence.
#[derive(Clone, Copy)]
struct TokenCount {
    /// The value of [`TokenIndex::round`] when this entry was written. Entries of earlier rounds
    /// count as empty, so that the table need not be cleared for each region.
    round: u32,
    count: u32,
    first: u32,
    last: u32,
}

/// Stands for no further line in the lists of occurrences.
const NO_NEXT_LINE: u32 = u32::MAX;

impl TokenIndex {
    fn new(tokens: usize, lines: usize) -> Self {
        let void = TokenCount { round: 0, count: 0, first: NO_NEXT_LINE, last: NO_NEXT_LINE };
        Self { entries: vec![void; tokens], next: vec![NO_NEXT_LINE; lines], round: 0 }
    }

    /// Returns the number of occurrences of a line in the region.
    fn occurrences_of(&self, token: Token) -> u32 {
        let entry = &self.entries[token.0 as usize];
        if entry.round == self.round { entry.count } else { 0 }
    }

    /// Records the occurrences of the lines of a region.
    fn index_region(&mut self, before: &[Token], region: &ComparedRegion) {
        self.round += 1;
        for at in region.before.clone() {
            self.next[at] = NO_NEXT_LINE;
            let entry = &mut self.entries[before[at].0 as usize];
            if entry.round != self.round {
                *entry =
                    TokenCount { round: self.round, count: 1, first: at as u32, last: at as u32 };
            } else {
                self.next[entry.last as usize] = at as u32;
                entry.last = at as u32;
                entry.count += 1;
            }
        }
    }

    /// Finds the run of equal lines that the algorithm pairs in a region: the one with the rarest
    /// line. Subtracts its steps from `left`.
    fn best_run(
        &mut self,
        before: &[Token],
        after: &[Token],
        region: &ComparedRegion,
        left: &mut usize,
    ) -> BestRun {
        self.index_region(before, region);
        let mut best = (0, 0, 0);
        let mut rarest = MAX_ANCHOR_OCCURRENCES + 1;
        let mut shared = false;
        let mut steps = region.len();
        let mut y = region.after.start;
        while y < region.after.end {
            let count = self.occurrences_of(after[y]);
            shared |= count > 0;
            if count == 0 || count > rarest {
                y += 1;
                continue;
            }
            let mut reached = y + 1;
            let mut x = self.entries[after[y].0 as usize].first;
            while x != NO_NEXT_LINE {
                let stretch = self.extend_to_run(before, after, region, (x as usize, y));
                steps += stretch.len;
                reached = reached.max(stretch.y + stretch.len);
                if stretch.len > best.2 || stretch.rarest < rarest {
                    best = (stretch.x, stretch.y, stretch.len);
                    rarest = stretch.rarest;
                }
                let end = (stretch.x + stretch.len) as u32;
                while x != NO_NEXT_LINE && x < end {
                    x = self.next[x as usize];
                }
            }
            y = reached;
        }
        *left = left.saturating_sub(steps);
        match best {
            _ if shared && rarest > MAX_ANCHOR_OCCURRENCES => BestRun::Frequent,
            (_, _, 0) => BestRun::Nothing,
            (x, y, len) => BestRun::EqualRun { x, y, len },
        }
    }

    /// Extends a pair of equal lines to the whole run of equal lines around it.
    fn extend_to_run(
        &self,
        before: &[Token],
        after: &[Token],
        region: &ComparedRegion,
        (x, y): (usize, usize),
    ) -> EqualRun {
        let (mut from, mut to) = ((x, y), (x + 1, y + 1));
        let mut rarest = self.occurrences_of(before[x]);
        while from.0 > region.before.start
            && from.1 > region.after.start
            && before[from.0 - 1] == after[from.1 - 1]
        {
            from = (from.0 - 1, from.1 - 1);
            rarest = rarest.min(self.occurrences_of(before[from.0]));
        }
        while to.0 < region.before.end && to.1 < region.after.end && before[to.0] == after[to.1] {
            rarest = rarest.min(self.occurrences_of(before[to.0]));
            to = (to.0 + 1, to.1 + 1);
        }
        EqualRun { x: from.0, y: from.1, len: to.0 - from.0, rarest }
    }
}

/// A run of equal lines from `x` in the old text and `y` in the new text.
struct EqualRun {
    x: usize,
    y: usize,
    len: usize,
    /// The number of occurrences of the rarest line of the run.
    rarest: u32,
}
