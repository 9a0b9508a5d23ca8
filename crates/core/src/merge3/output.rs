//! Writes the merged text: common lines, the changes of one side, and conflicts.

use std::ops::Range;

use super::regions::ChangedRegion;
use super::{
    ConflictStyle, MergeConflict, MergeOptions, MergedText, ThreeTexts, without_line_ending,
};

/// Returns the line ending of ours if it converted all line endings of the base from LF to CRLF or
/// back; otherwise `None`.
pub(super) fn converted_line_ending(sides: &ThreeTexts<'_>) -> Option<&'static [u8]> {
    let kind = |lines: &[&[u8]]| {
        let crlf = lines.iter().filter(|line| line.ends_with(b"\r\n")).count();
        let ended = lines.iter().filter(|line| line.ends_with(b"\n")).count();
        match crlf {
            _ if ended == 0 => None,
            0 => Some(false),
            _ if crlf == ended => Some(true),
            _ => None,
        }
    };
    match (kind(&sides.base), kind(&sides.ours)) {
        (Some(false), Some(true)) => Some(b"\r\n"),
        (Some(true), Some(false)) => Some(b"\n"),
        _ => None,
    }
}

/// The merged text so far.
pub(super) struct MergeOutput<'o> {
    pub sides: &'o ThreeTexts<'o>,
    pub options: &'o MergeOptions,
    pub converted_line_ending: Option<&'static [u8]>,
    pub merged: MergedText,
    pub lines: u32,
}

impl MergeOutput<'_> {
    fn push(&mut self, line: &[u8]) {
        self.merged.bytes.extend_from_slice(line);
        self.lines += 1;
    }

    /// Writes the lines `base` that neither side changed before the region `next`, with the line
    /// endings of the side that converted them.
    pub(super) fn write_common(&mut self, base: Range<u32>, next: &ChangedRegion) {
        let length = base.end - base.start;
        let (ours, theirs) = (next.ours.start - length, next.theirs.start - length);
        for at in 0..length {
            let of = |lines: &[&'_ [u8]], from: u32| {
                lines.get((from + at) as usize).map(|line| line.to_vec())
            };
            let original = of(&self.sides.base, base.start).unwrap_or_default();
            let own = of(&self.sides.ours, ours).unwrap_or_default();
            let other = of(&self.sides.theirs, theirs).unwrap_or_default();
            self.push(if own == original { &other } else { &own });
        }
    }

    /// Writes a changed region: the lines of the side that changed it, or a conflict.
    pub(super) fn write_region(&mut self, region: &ChangedRegion) {
        let text = |lines: &[&[u8]], range: &Range<u32>| {
            lines[range.start as usize..range.end as usize]
                .iter()
                .map(|line| without_line_ending(line).to_vec())
                .collect::<Vec<_>>()
        };
        let ours = text(&self.sides.ours, &region.ours);
        let theirs = text(&self.sides.theirs, &region.theirs);
        match (region.by_us, region.by_them) {
            (true, true) if ours != theirs => self.write_conflict(region, &ours, &theirs),
            (false, true) => self.copy_lines(MergeSide::Theirs, region.theirs.clone()),
            _ => self.copy_lines(MergeSide::Ours, region.ours.clone()),
        }
    }

    /// Writes lines of one side. Lines of theirs get the line endings of ours if ours converted all
    /// line endings.
    fn copy_lines(&mut self, side: MergeSide, range: Range<u32>) {
        let lines = match side {
            MergeSide::Ours => &self.sides.ours,
            MergeSide::Base => &self.sides.base,
            MergeSide::Theirs => &self.sides.theirs,
        };
        let lines: Vec<Vec<u8>> = lines[range.start as usize..range.end as usize]
            .iter()
            .map(|line| line.to_vec())
            .collect();
        // If ours converted the line endings, the lines that theirs added are converted too.
        for line in lines {
            match (side, self.converted_line_ending) {
                (MergeSide::Theirs, Some(end)) if line.ends_with(b"\n") => {
                    let line = [without_line_ending(&line), end].concat();
                    self.push(&line);
                }
                _ => self.push(&line),
            }
        }
    }

    /// Writes the lines of both sides between conflict markers, and records the conflict.
    fn write_conflict(&mut self, region: &ChangedRegion, ours: &[Vec<u8>], theirs: &[Vec<u8>]) {
        let (mut head, mut tail) = (0, 0);
        if self.options.style != ConflictStyle::Diff3 {
            head = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count() as u32;
            let left = (ours.len().min(theirs.len())) - head as usize;
            tail = ours
                .iter()
                .rev()
                .zip(theirs.iter().rev())
                .take_while(|(a, b)| a == b)
                .count()
                .min(left) as u32;
        }
        let own = region.ours.start + head..region.ours.end - tail;
        let other = region.theirs.start + head..region.theirs.end - tail;
        self.copy_lines(MergeSide::Ours, region.ours.start..own.start);
        let from = self.lines;
        self.push_marker('<', 0);
        self.copy_closed(MergeSide::Ours, own.clone());
        if self.options.style != ConflictStyle::Merge {
            self.push_marker('|', 1);
            self.copy_closed(MergeSide::Base, region.base.clone());
        }
        self.push_marker_line(b"=======");
        self.copy_closed(MergeSide::Theirs, other.clone());
        self.push_marker('>', 2);
        self.merged.conflicts.push(MergeConflict {
            base: region.base.clone().into(),
            ours: own.clone().into(),
            theirs: other.into(),
            merged: (from..self.lines).into(),
        });
        self.copy_lines(MergeSide::Ours, own.end..region.ours.end);
    }

    /// Writes lines of one side of a conflict. The last one gets a line ending if it has none,
    /// because a marker follows.
    fn copy_closed(&mut self, side: MergeSide, range: Range<u32>) {
        self.copy_lines(side, range);
        if !self.merged.bytes.is_empty() && !self.merged.bytes.ends_with(b"\n") {
            self.merged.bytes.push(b'\n');
        }
    }

    /// Writes a conflict marker: seven times the sign, and the label with this index if it is not
    /// empty.
    fn push_marker(&mut self, mark: char, label: usize) {
        let mut line = mark.to_string().repeat(7);
        let label = &self.options.labels[label];
        if !label.is_empty() {
            line.push(' ');
            line.push_str(label);
        }
        self.push_marker_line(line.as_bytes());
    }

    /// Writes a line of a conflict marker with the line ending of the first line of ours.
    fn push_marker_line(&mut self, line: &[u8]) {
        let crlf = self.sides.ours.first().is_some_and(|line| line.ends_with(b"\r\n"));
        let line = [line, if crlf { b"\r\n" } else { &b"\n"[..] }].concat();
        self.push(&line);
    }
}

/// One of the three texts of a merge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MergeSide {
    Ours,
    Base,
    Theirs,
}
