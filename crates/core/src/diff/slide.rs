//! Slides changes to the most readable positions.
//!
//! An added or removed block can often move up or down without changing the meaning of the diff,
//! for example `}` before a function or `}` after it. Blocks that meet while moving are joined. A
//! block that can be adjacent to a change of the other side moves there; any other moves to the
//! position that the indentation around it suggests. The heuristic is git's, as implemented in
//! imara-diff.

use std::ops::Range;

use imara_diff::{IndentHeuristic, IndentLevel, SliderHeuristic, Token};

use super::intern::LineTokens;
use super::marks::{ChangeMarks, count_leading_marked, count_leading_unmarked};

/// Slides the changes of both sides to their best positions.
pub(super) fn slide_changes(tokens: &LineTokens<'_>, marks: &mut ChangeMarks) {
    let level = |token: Token| IndentLevel::for_ascii_line(tokens.line(token).iter().copied(), 8);
    let ChangeMarks { removed, added } = marks;
    ChangeSlider { lines: &tokens.before, own: removed, other: added, indent_of: level }
        .slide_all();
    ChangeSlider { lines: &tokens.after, own: added, other: removed, indent_of: level }.slide_all();
}

/// Returns true if any block of changed lines can move, that is, if the line before it equals its
/// last line or the line after it equals its first.
pub(super) fn has_movable_block(tokens: &LineTokens<'_>, marks: &ChangeMarks) -> bool {
    let any = |lines: &[Token], own: &[bool]| {
        let mut at = 0;
        loop {
            let start = at + count_leading_unmarked(&own[at..]);
            at = start + count_leading_marked(&own[start..]);
            if start == at {
                return false;
            }
            let up = start > 0 && lines[start - 1] == lines[at - 1];
            if up || lines.get(at) == Some(&lines[start]) {
                return true;
            }
        }
    };
    any(&tokens.before, &marks.removed) || any(&tokens.after, &marks.added)
}

/// Slides the blocks of changed lines of one text.
struct ChangeSlider<'a, F> {
    /// The lines of the text whose blocks are moved.
    lines: &'a [Token],
    /// The marks of the changed lines of that text.
    own: &'a mut [bool],
    /// The marks of the changed lines of the other text.
    other: &'a mut [bool],
    /// Returns the indentation of a line in columns, with tabs of 8.
    indent_of: F,
}

/// A block of changed lines and the block of the other side between the same unchanged lines, which
/// may be empty.
#[derive(Clone)]
struct ChangeBlock {
    own: Range<usize>,
    other: Range<usize>,
}

impl<F: Fn(Token) -> IndentLevel> ChangeSlider<'_, F> {
    fn slide_all(&mut self) {
        let mut block = ChangeBlock {
            own: 0..count_leading_marked(self.own),
            other: 0..count_leading_marked(self.other),
        };
        loop {
            if !block.own.is_empty() {
                self.move_to_best(&mut block);
            }
            if block.own.end >= self.lines.len() {
                return;
            }
            block = self.next_block(&block);
        }
    }

    /// Returns the next block: skips one unchanged line and all following lines without a change on
    /// either side.
    fn next_block(&self, block: &ChangeBlock) -> ChangeBlock {
        let (own, other) = (&self.own[block.own.end..], &self.other[block.other.end..]);
        let same = count_leading_unmarked(own).min(count_leading_unmarked(other));
        let after = |marks: &[bool], end: usize| {
            let start = (end + same).min(marks.len());
            start..start + count_leading_marked(&marks[start..])
        };
        ChangeBlock {
            own: after(self.own, block.own.end),
            other: after(self.other, block.other.end),
        }
    }

    /// Moves a block as far up and down as it goes, and then to its best position.
    fn move_to_best(&mut self, block: &mut ChangeBlock) {
        let (highest, beside) = loop {
            let size = block.own.len();
            while self.move_up(block) {}
            let highest = block.own.end;
            let mut beside = (!block.other.is_empty()).then_some(block.own.end);
            while self.move_down(block) {
                if !block.other.is_empty() {
                    beside = Some(block.own.end);
                }
            }
            // A block that grew by joining another may be able to move further up.
            if block.own.len() == size {
                break (highest, beside);
            }
        };
        if block.own.end == highest {
            return;
        }
        let goal = match beside {
            Some(end) => end,
            None => {
                let range = block.own.start as u32..block.own.end as u32;
                let mut heuristic = IndentHeuristic::new(&self.indent_of);
                heuristic.best_slider_end(self.lines, range, highest as u32) as usize
            }
        };
        while block.own.end > goal && self.move_up(block) {}
    }

    /// Moves the block one line up and joins it to a block that it meets. Returns false if it
    /// cannot move.
    fn move_up(&mut self, block: &mut ChangeBlock) -> bool {
        let Range { start, end } = block.own;
        if start == 0 || self.lines[start - 1] != self.lines[end - 1] {
            return false;
        }
        self.own[start - 1] = true;
        self.own[end - 1] = false;
        block.own = marked_run_start(self.own, start - 1)..end - 1;
        // The block of the other text moves over one unchanged line as well.
        let other_end = block.other.start - 1;
        block.other = marked_run_start(self.other, other_end)..other_end;
        true
    }

    /// Moves the block one line down and joins it to a block that it meets. Returns false if it
    /// cannot move.
    fn move_down(&mut self, block: &mut ChangeBlock) -> bool {
        let Range { start, end } = block.own;
        if end >= self.lines.len() || self.lines[start] != self.lines[end] {
            return false;
        }
        self.own[start] = false;
        self.own[end] = true;
        block.own = start + 1..end + 1 + count_leading_marked(&self.own[end + 1..]);
        let other_start = block.other.end + 1;
        block.other = other_start..other_start + count_leading_marked(&self.other[other_start..]);
        true
    }
}

/// Returns the start of the run of marked lines that ends before `to`.
fn marked_run_start(marks: &[bool], to: usize) -> usize {
    to - marks[..to].iter().rev().take_while(|&&mark| mark).count()
}
