//! Where lines of the file as it was read are after the edits made so far.

use std::ops::Range;

use super::{Edit, Splice};
use crate::text::count_lf;

/// How many lines earlier edits of a call have shifted what comes after them.
#[derive(Clone, Debug, Default)]
pub(super) struct LineOffsets {
    /// Whether any edit names lines.
    wanted: bool,
    /// Lines after the first number (1-based, of the text before the edit) moved
    /// by the second.
    moves: Vec<(u64, i64)>,
    /// Whether an edit was made.
    made: bool,
    /// Lines (0-based) of the file as it was read that edits by anchors replaced.
    replaced: Vec<Range<usize>>,
}

impl LineOffsets {
    /// For these edits.
    pub(super) fn of(edits: &[Edit]) -> Self {
        Self { wanted: edits.iter().any(|edit| edit.anchors.is_some()), ..Self::default() }
    }

    /// Notes what an edit is going to move.
    pub(super) fn note(&mut self, text: &[u8], splices: &[Splice]) {
        if !self.wanted {
            return;
        }
        self.made = true;
        let (mut line, mut from) = (1, 0);
        let mut moves = Vec::new();
        for splice in splices {
            let lines =
                count_lf(&splice.with) as i64 - count_lf(&text[splice.range.clone()]) as i64;
            let last = splice.range.end.saturating_sub(1).max(splice.range.start);
            line += count_lf(&text[from..last]);
            from = last;
            // What is inserted at the beginning of a line moves that line too.
            let inserted = splice.range.is_empty() && (last == 0 || text[last - 1] == b'\n');
            if lines != 0 {
                moves.push((line - u64::from(inserted), lines));
            }
        }
        // Each number is one of the text before: the last first.
        self.moves.extend(moves.into_iter().rev());
    }

    /// Whether no edit was made yet, so that every line is where it was read.
    pub(super) fn is_empty(&self) -> bool {
        !self.made
    }

    /// Notes lines (0-based) of the file as it was read that are replaced.
    pub(super) fn replace(&mut self, lines: &Range<usize>) {
        self.replaced.push(lines.clone());
    }

    /// Whether one of these lines was replaced.
    pub(super) fn has_replaced(&self, lines: &Range<usize>) -> bool {
        self.replaced.iter().any(|one| one.start < lines.end && lines.start < one.end)
    }

    /// Where a line of the file as it was read is now.
    pub(super) fn now(&self, line: u64) -> u64 {
        let shifted = |line: u64, &(end, delta): &(u64, i64)| {
            if line > end { line.saturating_add_signed(delta).max(1) } else { line }
        };
        self.moves.iter().fold(line, shifted)
    }
}
