//! Texts as lines: the file's with where they stand, the edit's without ends.

use std::borrow::Cow;

use memchr::{memchr_iter, memmem};

use crate::anchor::{line_hash, neighbourhood};
use crate::text::{self, BOM_UTF8};

/// Lines that a file may have for its lines to be looked at one by one.
pub(super) const MAX_LINES: u64 = 2_000_000;

/// Whether a file's lines may be looked at one by one.
pub(super) fn has_countable_lines(text: &[u8]) -> bool {
    u32::try_from(text.len()).is_ok() && text::count_lf(text) < MAX_LINES
}

/// The lines of a file, byte order mark left out.
pub(super) struct FileLines<'a> {
    text: &'a [u8],
    /// By line: its offset in the whole file.
    starts: Cow<'a, [u32]>,
}

impl<'a> FileLines<'a> {
    /// Finds the lines; of a file with too many, none ([`has_countable_lines`]).
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, starts: Cow::Owned(starts(text)) }
    }

    /// The lines of a file whose line beginnings are known.
    pub(super) fn of(text: &'a [u8], starts: &'a [u32]) -> Self {
        Self { text, starts: Cow::Borrowed(starts) }
    }

    /// The number of lines.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The offset at which line `at` (0-based) begins, or the end of the file.
    pub(super) fn start(&self, at: usize) -> usize {
        self.starts.get(at).map_or(self.text.len(), |&start| start as usize)
    }

    /// The line `at` (0-based) without its end, and the end.
    pub(super) fn split(&self, at: usize) -> (&'a [u8], &'a [u8]) {
        text::split_end(&self.text[self.start(at)..self.start(at + 1)])
    }

    /// The line `at` (0-based) without its end.
    pub(super) fn text(&self, at: usize) -> &'a [u8] {
        self.split(at).0
    }

    /// What tells the line `at` (0-based) by its text and its neighbours.
    pub(super) fn neighbourhood(&self, at: usize) -> u64 {
        let hash = |at: usize| (at < self.len()).then(|| line_hash(self.text(at)));
        neighbourhood(at.checked_sub(1).and_then(hash), line_hash(self.text(at)), hash(at + 1))
    }

    /// The hashes of all lines.
    pub(super) fn hashes(&self) -> Vec<u64> {
        self.texts().map(line_hash).collect()
    }

    /// All lines without their ends.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'a [u8]> {
        (0..self.len()).map(|at| self.text(at))
    }

    /// The line (0-based) that holds the byte at an offset.
    pub(super) fn at(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start as usize <= offset).saturating_sub(1)
    }
}

/// Where the lines of a file begin.
pub(super) fn starts(text: &[u8]) -> Vec<u32> {
    let first = if text.starts_with(BOM_UTF8) { BOM_UTF8.len() } else { 0 };
    if first == text.len() || !has_countable_lines(text) {
        return Vec::new();
    }
    let mut starts = vec![first as u32];
    starts.extend(memchr_iter(b'\n', text).map(|lf| lf as u32 + 1));
    if text.ends_with(b"\n") {
        starts.pop();
    }
    starts
}

/// LF for CRLF, and no byte order mark in front.
pub(super) fn fold_ends(text: &[u8]) -> Cow<'_, [u8]> {
    let text = text.strip_prefix(BOM_UTF8).unwrap_or(text);
    if memmem::find(text, b"\r\n").is_none() {
        return Cow::Borrowed(text);
    }
    let mut folded = Vec::with_capacity(text.len());
    let mut next = 0;
    for at in memchr_iter(b'\r', text) {
        if text.get(at + 1) == Some(&b'\n') {
            folded.extend_from_slice(&text[next..at]);
            next = at + 1;
        }
    }
    folded.extend_from_slice(&text[next..]);
    Cow::Owned(folded)
}

/// The lines of an LF text as an edit means them: `"a\nb\n"` is `a`, `b` and an
/// empty rest, which is a line of its own where only one of the texts has it.
pub(super) fn edit_lines(text: &[u8]) -> Vec<&[u8]> {
    text.split(|&byte| byte == b'\n').collect()
}

/// Whether a byte is a blank within a line.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// The blanks that a line begins with.
pub(super) fn indent(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|&byte| !matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
    &line[..end]
}

/// The line without blanks at either end.
pub(super) fn trim(line: &[u8]) -> &[u8] {
    let line = trim_end(line);
    let start = line.iter().position(|&byte| !is_blank(byte)).unwrap_or(line.len());
    &line[start..]
}

/// The line without trailing blanks.
pub(super) fn trim_end(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|&byte| !is_blank(byte)).map_or(0, |at| at + 1);
    &line[..end]
}
