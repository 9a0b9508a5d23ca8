//! Splits the file that a patch changes into lines, compares them with those of a hunk, and builds
//! the splice of a hunk.

use std::ops::Range;

use super::{Hunk, LineMark};
use crate::diff::split_lines;
use crate::edit::Splice;
use crate::text::BOM_UTF8;

/// Returns true if a line of a patch and a line of a file count as equal.
pub(super) type LineComparison = fn(&[u8], &[u8]) -> bool;

/// Compares all bytes of two lines.
pub(super) fn eq_exact(a: &[u8], b: &[u8]) -> bool {
    a == b
}

/// Compares two lines without a CR at their ends.
pub(super) fn eq_ignore_eol(a: &[u8], b: &[u8]) -> bool {
    without_cr(a) == without_cr(b)
}

/// Compares two lines without white space at their ends.
pub(super) fn eq_ignore_trailing_space(a: &[u8], b: &[u8]) -> bool {
    a.trim_ascii_end() == b.trim_ascii_end()
}

/// Compares two lines without indentation and white space at their ends.
pub(super) fn eq_ignore_indent(a: &[u8], b: &[u8]) -> bool {
    a.trim_ascii() == b.trim_ascii()
}

pub(super) fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The lines of the file, without LF but with CR. A byte order mark belongs to no line unless a
/// hunk contains it.
pub(super) struct TargetFile<'a> {
    pub text: &'a [u8],
    pub lines: Vec<&'a [u8]>,
    starts: Vec<usize>,
    /// True if the last line has no line ending.
    open: bool,
}

impl<'a> TargetFile<'a> {
    #[inline(never)]
    pub(super) fn new(text: &'a [u8], hunks: &[Hunk]) -> Self {
        // Some programs write the byte order mark into a patch, as part of the first line.
        let shown = hunks
            .iter()
            .flat_map(|hunk| &hunk.lines)
            .any(|line| line.mark != LineMark::Added && line.text.as_bytes().starts_with(BOM_UTF8));
        let body = text.strip_prefix(BOM_UTF8).filter(|_| !shown).unwrap_or(text);
        let mut start = text.len() - body.len();
        let whole = split_lines(body);
        let mut starts = Vec::with_capacity(whole.len());
        for line in &whole {
            starts.push(start);
            start += line.len();
        }
        let open = whole.last().is_some_and(|line| !line.ends_with(b"\n"));
        let lines = whole.iter().map(|line| line.strip_suffix(b"\n").unwrap_or(line)).collect();
        Self { text, lines, starts, open }
    }

    /// Returns the byte offset of a line (0-based), or the length of the file beyond the last one.
    pub(super) fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.text.len())
    }

    /// Returns the line (0-based) that contains the byte at an offset.
    pub(super) fn line_at(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset).saturating_sub(1)
    }

    /// Returns the lines (0-based), from `from` on, at which the lines `wanted` occur; with
    /// `at_end` only if they are the last ones.
    #[inline(never)]
    pub(super) fn find(
        &self,
        wanted: &[&[u8]],
        from: usize,
        at_end: bool,
        same: LineComparison,
    ) -> Vec<usize> {
        let Some(last) = self.lines.len().checked_sub(wanted.len()) else { return Vec::new() };
        let pivot = (0..wanted.len()).max_by_key(|&at| wanted[at].len()).unwrap_or(0);
        let from = if at_end { from.max(last) } else { from };
        (from..=last)
            .filter(|&at| wanted.is_empty() || same(self.lines[at + pivot], wanted[pivot]))
            .filter(|&at| wanted.iter().zip(&self.lines[at..]).all(|(a, b)| same(b, a)))
            .collect()
    }

    /// Returns the splice that applies the lines `part` of a hunk to the file's lines `lines`. With
    /// `literal`, new lines are written as in the patch; otherwise they take the line endings of
    /// the lines that they replace or adjoin.
    #[inline(never)]
    pub(super) fn splice(
        &self,
        hunk: &Hunk,
        part: Range<usize>,
        lines: Range<usize>,
        literal: bool,
    ) -> Splice {
        let cr = |line: usize| self.ends_in_crlf(line);
        let before = (0..lines.start).rev().find_map(cr).unwrap_or(false);
        let mut beside = cr(lines.start).unwrap_or(before);
        let (mut with, mut at) = (Vec::new(), lines.start);
        for line in &hunk.lines[part.clone()] {
            match line.mark {
                LineMark::Removed => {
                    beside = cr(at).unwrap_or(beside);
                    at += 1;
                    continue;
                }
                LineMark::Context => {
                    with.extend_from_slice(self.lines[at]);
                    beside = cr(at).unwrap_or(beside);
                    at += 1;
                }
                LineMark::Added if literal => with.extend_from_slice(line.text.as_bytes()),
                LineMark::Added => {
                    with.extend_from_slice(without_cr(line.text.as_bytes()));
                    with.extend_from_slice(if beside { b"\r" } else { b"" });
                }
            }
            with.push(b'\n');
        }
        if lines.end == self.lines.len() && self.is_open_after(hunk, &part) && with.ends_with(b"\n")
        {
            with.pop();
            // The CR of a removed CRLF goes too, unless the patch wrote it literally or it belongs
            // to a last line without LF.
            let last =
                hunk.lines[part.clone()].iter().rev().find(|line| line.mark != LineMark::Removed);
            let is_line_end = match last.map(|line| line.mark) {
                Some(LineMark::Added) => !literal,
                _ => self.ends_in_crlf(self.lines.len() - 1) == Some(true),
            };
            if is_line_end && with.ends_with(b"\r") {
                with.pop();
            }
        }
        if lines.start == self.lines.len() && self.open && !with.is_empty() {
            // The former last line needs a line ending now.
            let end: &[u8] = if before { b"\r\n" } else { b"\n" };
            with.splice(0..0, end.iter().copied());
        }
        Splice { range: self.start(lines.start)..self.start(lines.end), with }
    }

    /// Returns true if a line (0-based) ends in CRLF; `None` if it has no line ending or does not
    /// exist.
    pub(super) fn ends_in_crlf(&self, line: usize) -> Option<bool> {
        if self.open && line + 1 == self.lines.len() {
            return None;
        }
        self.lines.get(line).map(|line| line.ends_with(b"\r"))
    }

    /// Returns true if the file has no final line ending after the hunk: as the patch says,
    /// otherwise as the file has it.
    fn is_open_after(&self, hunk: &Hunk, part: &Range<usize>) -> bool {
        let lines = &hunk.lines[part.clone()];
        let last = |mark: LineMark| lines.iter().rev().find(|line| line.mark != mark);
        let was_open = last(LineMark::Added).is_some_and(|line| line.open);
        match last(LineMark::Removed) {
            Some(line) if line.open => true,
            _ if was_open => false,
            _ => self.open && !lines.iter().all(|line| line.mark == LineMark::Added),
        }
    }
}
