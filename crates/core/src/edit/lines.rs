//! Splits a file and the texts of an edit into lines, and trims lines.

use std::borrow::Cow;

use memchr::{memchr_iter, memmem};

use crate::anchor::{line_hash, neighbourhood_hash};
use crate::text::{self, BOM_UTF8};

/// The number of lines from which on a file is not indexed by line.
pub(super) const MAX_INDEXED_LINES: u64 = 2_000_000;

/// Returns true if a file has fewer than [`MAX_INDEXED_LINES`] lines and less than 4 GiB.
pub(super) fn has_countable_lines(text: &[u8]) -> bool {
    u32::try_from(text.len()).is_ok() && text::count_lf(text) < MAX_INDEXED_LINES
}

/// The lines of a file without its byte order mark.
pub(super) struct FileLines<'a> {
    text: &'a [u8],
    /// The byte offset of each line in the whole file.
    starts: Cow<'a, [u32]>,
}

impl<'a> FileLines<'a> {
    /// Splits a file into lines; returns no lines for a file with too many
    /// ([`has_countable_lines`]).
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, starts: Cow::Owned(line_starts(text)) }
    }

    /// Creates the lines from the offsets that [`line_starts`] returned.
    pub(super) fn with_starts(text: &'a [u8], starts: &'a [u32]) -> Self {
        Self { text, starts: Cow::Borrowed(starts) }
    }

    /// Returns the number of lines.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns the byte offset at which line `at` (0-based) begins, or the length of the file
    /// beyond the last line.
    pub(super) fn start(&self, at: usize) -> usize {
        self.starts.get(at).map_or(self.text.len(), |&start| start as usize)
    }

    /// Returns line `at` (0-based) without its ending, and the ending.
    pub(super) fn split_line(&self, at: usize) -> (&'a [u8], &'a [u8]) {
        text::split_line_ending(&self.text[self.start(at)..self.start(at + 1)])
    }

    /// Returns line `at` (0-based) without its ending.
    pub(super) fn text(&self, at: usize) -> &'a [u8] {
        self.split_line(at).0
    }

    /// Returns [`neighbourhood_hash`] of line `at` (0-based).
    pub(super) fn neighbourhood_hash(&self, at: usize) -> u64 {
        let hash = |at: usize| (at < self.len()).then(|| line_hash(self.text(at)));
        neighbourhood_hash(at.checked_sub(1).and_then(hash), line_hash(self.text(at)), hash(at + 1))
    }

    /// Returns [`line_hash`] of all lines.
    pub(super) fn hashes(&self) -> Vec<u64> {
        self.texts().map(line_hash).collect()
    }

    /// Returns all lines without their endings.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'a [u8]> {
        (0..self.len()).map(|at| self.text(at))
    }

    /// Returns the line (0-based) that contains the byte at an offset; the last line for an offset
    /// beyond it.
    pub(super) fn line_at_offset(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start as usize <= offset).saturating_sub(1)
    }
}

/// Returns the byte offset of each line; empty for a file without text or with too many lines
/// ([`has_countable_lines`]). A byte order mark belongs to no line.
pub(super) fn line_starts(text: &[u8]) -> Vec<u32> {
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

/// Replaces CRLF by LF and removes a byte order mark.
pub(super) fn to_lf_without_bom(text: &[u8]) -> Cow<'_, [u8]> {
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

/// Splits the text of an edit, with LF only, into lines: `"a\nb\n"` is `a`, `b` and an empty rest,
/// which counts as a line if only one of the texts has it.
pub(super) fn split_edit_lines(text: &[u8]) -> Vec<&[u8]> {
    text.split(|&byte| byte == b'\n').collect()
}

/// Returns true for white space other than LF.
pub(super) fn is_blank_byte(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// Returns the blanks and tabs at the start of a line.
pub(super) fn indentation_of(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|&byte| !matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
    &line[..end]
}

/// Returns the line without white space at either end.
pub(super) fn trim(line: &[u8]) -> &[u8] {
    let line = trim_end(line);
    let start = line.iter().position(|&byte| !is_blank_byte(byte)).unwrap_or(line.len());
    &line[start..]
}

/// Returns the line without trailing white space.
pub(super) fn trim_end(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|&byte| !is_blank_byte(byte)).map_or(0, |at| at + 1);
    &line[..end]
}

/// Returns true if a line consists of dots that stand for left-out lines, alone or in a comment
/// with at most 48 bytes of words.
pub(super) fn is_elision(line: &[u8]) -> bool {
    const OPEN: [&str; 7] = ["//", "#", "/*", "<!--", "--", "{/*", "*"];
    const CLOSE: [&str; 3] = ["*/}", "*/", "-->"];
    let Ok(whole) = std::str::from_utf8(trim(line)) else { return false };
    let dots = |text: &str| text.starts_with("...") || text.starts_with('\u{2026}');
    let text = OPEN.iter().find_map(|mark| whole.strip_prefix(mark)).unwrap_or(whole);
    let text = CLOSE.iter().find_map(|mark| text.strip_suffix(mark)).unwrap_or(text).trim();
    if !dots(text) {
        return false;
    }
    let rest = text.trim_start_matches(['.', '\u{2026}']);
    let words = rest.trim_end_matches(['.', '\u{2026}']);
    // `...props` is code that spreads a value; `... props` stands for left-out lines.
    let is_marker = rest.is_empty() || rest.starts_with(' ') || whole.len() > text.len();
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '\'' | '(' | ')');
    is_marker && words.len() <= 48 && words.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::is_elision;

    #[test]
    fn elisions_are_recognised() {
        for line in [
            "...",
            "  // ...",
            "# ... existing code ...",
            "/* ... */",
            "<!-- ... -->",
            "\u{2026}",
            "// ... rest of code ...",
        ] {
            assert!(is_elision(line.as_bytes()), "{line}");
        }
        for line in ["...args", "f(...)", "// see ...", "..", "", "...props,", "...a.b"] {
            assert!(!is_elision(line.as_bytes()), "{line}");
        }
    }
}
