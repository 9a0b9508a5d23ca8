//! Texts as lines: the file's with where they stand, the edit's without ends.

use std::borrow::Cow;

use memchr::{memchr_iter, memmem};

use crate::text::{self, BOM_UTF8, Line};

/// The lines of a file, byte order mark left out.
pub(super) struct FileLines<'a> {
    /// Each line; `start` is an offset in the whole file.
    pub lines: Vec<Line<'a>>,
    /// Bytes of the whole file.
    pub len: usize,
}

impl<'a> FileLines<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        let body = text.strip_prefix(BOM_UTF8).unwrap_or(text);
        let offset = text.len() - body.len();
        let shifted = |line: Line<'a>| Line { start: line.start + offset, ..line };
        Self { lines: text::lines(body).map(shifted).collect(), len: text.len() }
    }

    /// The offset at which line `at` (0-based) begins, or the end of the file.
    pub(super) fn start(&self, at: usize) -> usize {
        self.lines.get(at).map_or(self.len, |line| line.start)
    }
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
