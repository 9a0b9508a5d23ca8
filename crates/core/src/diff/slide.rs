//! Slides changes to the most readable positions.
//!
//! An added or removed block can often move up or down without changing the meaning of the diff,
//! for example `}` before a function or `}` after it. Blocks that meet while moving are joined. A
//! block that can be adjacent to a change of the other side moves there; any other moves to the
//! position that the indentation around it suggests. The heuristic is git's, as implemented in
//! imara-diff.

use std::ops::Range;

use imara_diff::{IndentHeuristic, IndentLevel, SliderHeuristic, Token};

use super::intern::Tokens;
use super::marks::{Marks, marked, unmarked};

/// Slides the changes of both sides to their best positions.
pub(super) fn slide(tokens: &Tokens<'_>, marks: &mut Marks) {
    let level = |token: Token| IndentLevel::for_ascii_line(tokens.line(token).iter().copied(), 8);
    let Marks { removed, added } = marks;
    Slider { lines: &tokens.before, own: removed, other: added, place: level }.run();
    Slider { lines: &tokens.after, own: added, other: removed, place: level }.run();
}

/// Reports whether any block of changed lines can move.
pub(super) fn movable(tokens: &Tokens<'_>, marks: &Marks) -> bool {
    let any = |lines: &[Token], own: &[bool]| {
        let mut at = 0;
        loop {
            let start = at + unmarked(&own[at..]);
            at = start + marked(&own[start..]);
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

struct Slider<'a, F> {
    /// The side whose blocks are moved.
    lines: &'a [Token],
    own: &'a mut [bool],
    other: &'a mut [bool],
    /// Returns the indentation of a line.
    place: F,
}

/// A block of changed lines and the block of the other side between the same unchanged lines, which
/// may be empty.
#[derive(Clone)]
struct ChangeBlock {
    own: Range<usize>,
    other: Range<usize>,
}

impl<F: Fn(Token) -> IndentLevel> Slider<'_, F> {
    fn run(&mut self) {
        let mut block = ChangeBlock { own: 0..marked(self.own), other: 0..marked(self.other) };
        loop {
            if !block.own.is_empty() {
                self.settle(&mut block);
            }
            if block.own.end >= self.lines.len() {
                return;
            }
            block = self.next(&block);
        }
    }

    /// Returns the next block: skips one unchanged line and all following lines without a change on
    /// either side.
    fn next(&self, block: &ChangeBlock) -> ChangeBlock {
        let (own, other) = (&self.own[block.own.end..], &self.other[block.other.end..]);
        let same = unmarked(own).min(unmarked(other));
        let after = |marks: &[bool], end: usize| {
            let start = (end + same).min(marks.len());
            start..start + marked(&marks[start..])
        };
        ChangeBlock {
            own: after(self.own, block.own.end),
            other: after(self.other, block.other.end),
        }
    }

    fn settle(&mut self, block: &mut ChangeBlock) {
        let (highest, beside) = loop {
            let size = block.own.len();
            while self.up(block) {}
            let highest = block.own.end;
            let mut beside = (!block.other.is_empty()).then_some(block.own.end);
            while self.down(block) {
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
                let mut heuristic = IndentHeuristic::new(&self.place);
                heuristic.best_slider_end(self.lines, range, highest as u32) as usize
            }
        };
        while block.own.end > goal && self.up(block) {}
    }

    /// Moves the block one line up and joins it to a block that it meets.
    fn up(&mut self, block: &mut ChangeBlock) -> bool {
        let Range { start, end } = block.own;
        if start == 0 || self.lines[start - 1] != self.lines[end - 1] {
            return false;
        }
        self.own[start - 1] = true;
        self.own[end - 1] = false;
        block.own = run_start(self.own, start - 1)..end - 1;
        // The other side's block moves over one unchanged line as well.
        let other_end = block.other.start - 1;
        block.other = run_start(self.other, other_end)..other_end;
        true
    }

    /// Moves the block one line down and joins it to a block that it meets.
    fn down(&mut self, block: &mut ChangeBlock) -> bool {
        let Range { start, end } = block.own;
        if end >= self.lines.len() || self.lines[start] != self.lines[end] {
            return false;
        }
        self.own[start] = false;
        self.own[end] = true;
        block.own = start + 1..end + 1 + marked(&self.own[end + 1..]);
        let other_start = block.other.end + 1;
        block.other = other_start..other_start + marked(&self.other[other_start..]);
        true
    }
}

/// Returns the start of the run of marked lines that ends before `to`.
fn run_start(marks: &[bool], to: usize) -> usize {
    to - marks[..to].iter().rev().take_while(|&&mark| mark).count()
}
