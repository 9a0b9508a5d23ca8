//! Maps lines of the file as it was read to lines after the edits applied so far.

use std::ops::Range;

use crate::edit::{Edit, Splice};
use crate::text::count_lf;

/// The line shifts caused by the earlier edits of a call.
#[derive(Clone, Debug, Default)]
pub(in crate::edit) struct LineOffsets {
    /// True if any edit names lines; otherwise nothing is recorded.
    is_needed: bool,
    /// Pairs of a line and a shift: lines after `line` (1-based, in the text before the edit) move
    /// by `shift`.
    shifts: Vec<(u64, i64)>,
    /// True if an edit was applied already.
    has_applied: bool,
    /// Lines (0-based) of the file as it was read that anchored edits replaced.
    replaced: Vec<Range<usize>>,
}

impl LineOffsets {
    /// Prepares the offsets for a list of edits.
    pub(in crate::edit) fn for_edits(edits: &[Edit]) -> Self {
        Self { is_needed: edits.iter().any(|edit| edit.anchors.is_some()), ..Self::default() }
    }

    /// Records by how many lines an edit that is about to be applied to `text` shifts the lines
    /// after it.
    pub(in crate::edit) fn record_edit(&mut self, text: &[u8], splices: &[Splice]) {
        if !self.is_needed {
            return;
        }
        self.has_applied = true;
        let (mut line, mut from) = (1, 0);
        let mut shifts = Vec::new();
        for splice in splices {
            let lines =
                count_lf(&splice.with) as i64 - count_lf(&text[splice.range.clone()]) as i64;
            let last = splice.range.end.saturating_sub(1).max(splice.range.start);
            line += count_lf(&text[from..last]);
            from = last;
            // Text inserted at the beginning of a line shifts that line too.
            let inserted = splice.range.is_empty() && (last == 0 || text[last - 1] == b'\n');
            if lines != 0 {
                shifts.push((line - u64::from(inserted), lines));
            }
        }
        // The lines of all shifts are lines of the text before the edit, so the last shift is
        // applied first.
        self.shifts.extend(shifts.into_iter().rev());
    }

    /// Returns true if no edit was applied yet, so that all lines are where they were read.
    pub(in crate::edit) fn has_no_edits(&self) -> bool {
        !self.has_applied
    }

    /// Records that an edit replaces these lines (0-based) of the file as it was read.
    pub(in crate::edit) fn record_replaced(&mut self, lines: &Range<usize>) {
        self.replaced.push(lines.clone());
    }

    /// Returns true if an edit replaced any of these lines (0-based) of the file as it was read.
    pub(in crate::edit) fn has_replaced(&self, lines: &Range<usize>) -> bool {
        self.replaced.iter().any(|one| one.start < lines.end && lines.start < one.end)
    }

    /// Returns the present number of a line of the file as it was read, both 1-based.
    pub(in crate::edit) fn current_line(&self, line: u64) -> u64 {
        let shifted = |line: u64, &(end, delta): &(u64, i64)| {
            if line > end { line.saturating_add_signed(delta).max(1) } else { line }
        };
        self.shifts.iter().fold(line, shifted)
    }
}
