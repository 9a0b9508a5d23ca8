//! Writes the merged text: common lines, taken changes and conflicts.

use std::ops::Range;

use super::regions::Region;
use super::{Conflict, MergeOptions, Merged, Sides, Style, without_end};

/// Returns our line ending, if we converted all line endings of the base.
pub(super) fn own_end(sides: &Sides<'_>) -> Option<&'static [u8]> {
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

pub(super) struct Output<'o> {
    pub sides: &'o Sides<'o>,
    pub options: &'o MergeOptions,
    pub own_end: Option<&'static [u8]>,
    pub merged: Merged,
    pub lines: u32,
}

impl Output<'_> {
    fn push(&mut self, line: &[u8]) {
        self.merged.bytes.extend_from_slice(line);
        self.lines += 1;
    }

    /// Writes lines that neither side changed, with the line endings of the side that converted
    /// them.
    pub(super) fn common(&mut self, base: Range<u32>, next: &Region) {
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

    pub(super) fn region(&mut self, region: &Region) {
        let text = |lines: &[&[u8]], range: &Range<u32>| {
            lines[range.start as usize..range.end as usize]
                .iter()
                .map(|line| without_end(line).to_vec())
                .collect::<Vec<_>>()
        };
        let ours = text(&self.sides.ours, &region.ours);
        let theirs = text(&self.sides.theirs, &region.theirs);
        match (region.by_us, region.by_them) {
            (true, true) if ours != theirs => self.conflict(region, &ours, &theirs),
            (false, true) => self.copy(MergeSide::Theirs, region.theirs.clone()),
            _ => self.copy(MergeSide::Ours, region.ours.clone()),
        }
    }

    fn copy(&mut self, side: MergeSide, range: Range<u32>) {
        let lines = match side {
            MergeSide::Ours => &self.sides.ours,
            MergeSide::Base => &self.sides.base,
            MergeSide::Theirs => &self.sides.theirs,
        };
        let lines: Vec<Vec<u8>> = lines[range.start as usize..range.end as usize]
            .iter()
            .map(|line| line.to_vec())
            .collect();
        // If we converted the line endings, lines added by them are converted too.
        for line in lines {
            match (side, self.own_end) {
                (MergeSide::Theirs, Some(end)) if line.ends_with(b"\n") => {
                    let line = [without_end(&line), end].concat();
                    self.push(&line);
                }
                _ => self.push(&line),
            }
        }
    }

    fn conflict(&mut self, region: &Region, ours: &[Vec<u8>], theirs: &[Vec<u8>]) {
        let (mut head, mut tail) = (0, 0);
        if self.options.style != Style::Diff3 {
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
        self.copy(MergeSide::Ours, region.ours.start..own.start);
        let from = self.lines;
        self.marker('<', 0);
        self.closed(MergeSide::Ours, own.clone());
        if self.options.style != Style::Merge {
            self.marker('|', 1);
            self.closed(MergeSide::Base, region.base.clone());
        }
        self.merged_line(b"=======");
        self.closed(MergeSide::Theirs, other.clone());
        self.marker('>', 2);
        self.merged.conflicts.push(Conflict {
            base: region.base.clone(),
            ours: own.clone(),
            theirs: other,
            merged: from..self.lines,
        });
        self.copy(MergeSide::Ours, own.end..region.ours.end);
    }

    /// Writes lines of a conflict; each gets a line ending, because a marker follows.
    fn closed(&mut self, side: MergeSide, range: Range<u32>) {
        self.copy(side, range);
        if !self.merged.bytes.is_empty() && !self.merged.bytes.ends_with(b"\n") {
            self.merged.bytes.push(b'\n');
        }
    }

    fn marker(&mut self, mark: char, label: usize) {
        let mut line = mark.to_string().repeat(7);
        let label = &self.options.labels[label];
        if !label.is_empty() {
            line.push(' ');
            line.push_str(label);
        }
        self.merged_line(line.as_bytes());
    }

    fn merged_line(&mut self, line: &[u8]) {
        let crlf = self.sides.ours.first().is_some_and(|line| line.ends_with(b"\r\n"));
        let line = [line, if crlf { b"\r\n" } else { &b"\n"[..] }].concat();
        self.push(&line);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MergeSide {
    Ours,
    Base,
    Theirs,
}
