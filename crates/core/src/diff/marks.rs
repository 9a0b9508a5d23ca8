//! Marks of the changed lines of both texts, which every algorithm fills in.

use std::ops::Range;

use super::Change;

/// Which lines changed. A marked line has no counterpart in the other text; the unmarked lines of
/// both texts are equal in order.
pub(super) struct ChangeMarks {
    /// For each line of the old text, whether it was removed.
    pub removed: Vec<bool>,
    /// For each line of the new text, whether it was added.
    pub added: Vec<bool>,
}

impl ChangeMarks {
    pub(super) fn new(before: usize, after: usize) -> Self {
        Self { removed: vec![false; before], added: vec![false; after] }
    }

    /// Adds unchanged lines to both texts: `lead` at the beginning, `trail` at the end.
    pub(super) fn add_unmarked(&mut self, lead: usize, trail: usize) {
        for side in [&mut self.removed, &mut self.added] {
            side.splice(..0, std::iter::repeat_n(false, lead));
            side.resize(side.len() + trail, false);
        }
    }

    pub(super) fn mark_region(&mut self, region: &ComparedRegion) {
        self.removed[region.before.clone()].fill(true);
        self.added[region.after.clone()].fill(true);
    }

    /// Returns the changed regions in order.
    pub(super) fn changes(&self) -> Vec<Change> {
        let mut changes = Vec::new();
        let (mut x, mut y) = (0, 0);
        while x < self.removed.len() || y < self.added.len() {
            let same = count_leading_unmarked(&self.removed[x..])
                .min(count_leading_unmarked(&self.added[y..]));
            (x, y) = (x + same, y + same);
            let (gone, new) =
                (count_leading_marked(&self.removed[x..]), count_leading_marked(&self.added[y..]));
            if gone + new > 0 {
                changes.push(Change {
                    before: x as u32..(x + gone) as u32,
                    after: y as u32..(y + new) as u32,
                });
            }
            (x, y) = (x + gone, y + new);
        }
        changes
    }
}

/// Returns the number of marked lines before the first unmarked one.
pub(super) fn count_leading_marked(marks: &[bool]) -> usize {
    marks.iter().take_while(|&&mark| mark).count()
}

/// Returns the number of unmarked lines before the first marked one.
pub(super) fn count_leading_unmarked(marks: &[bool]) -> usize {
    const LINES_PER_BLOCK: usize = 32;
    let blocks = marks.chunks_exact(LINES_PER_BLOCK);
    let whole = blocks.take_while(|block| !block.iter().fold(false, |any, &mark| any | mark));
    let whole = whole.count() * LINES_PER_BLOCK;
    whole + marks[whole..].iter().take_while(|&&mark| !mark).count()
}

/// A range of the old text that is compared with a range of the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ComparedRegion {
    pub before: Range<usize>,
    pub after: Range<usize>,
}

impl ComparedRegion {
    /// Returns the number of lines on both sides together.
    pub(super) fn len(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// Shrinks the region by the lines that both sides share at its beginning and end.
    pub(super) fn strip_common_ends<T: PartialEq>(&mut self, before: &[T], after: &[T]) {
        let (x, y) = (&before[self.before.clone()], &after[self.after.clone()]);
        let prefix = x.iter().zip(y).take_while(|(a, b)| a == b).count();
        let (x, y) = (&x[prefix..], &y[prefix..]);
        let suffix = x.iter().rev().zip(y.iter().rev()).take_while(|(a, b)| a == b).count();
        self.before = self.before.start + prefix..self.before.end - suffix;
        self.after = self.after.start + prefix..self.after.end - suffix;
    }
}
