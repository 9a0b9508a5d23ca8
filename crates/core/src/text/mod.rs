//! Splits text into lines without changing any byte.
//!
//! Only LF and CRLF end a line. A lone CR, U+2028, VT and FF are ordinary characters, and a final
//! line ending begins no further line: `"a\nb\n"` and `"a\nb"` both have two lines. This module
//! works on bytes; [`crate::encoding`] interprets them.

pub(crate) mod char_mask;
pub mod path;
pub mod unicode_normalize;
pub(crate) mod windows_names;
pub mod windows_paths;

pub use crate::chars::count_chars;
use memchr::{memchr, memchr_iter, memrchr};

/// The UTF-8 byte order mark.
pub const BOM_UTF8: &[u8] = b"\xef\xbb\xbf";

crate::wire! {
    /// The line endings of a text.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Eol {
        /// No line has a line ending.
        None = "none",
        /// All line endings are LF.
        Lf = "lf",
        /// All line endings are CRLF.
        CrLf = "crlf",
        /// Both occur.
        Mixed = "mixed",
    }
}

impl Eol {
    /// Returns the kind for these numbers of lines that end in LF and in CRLF.
    pub const fn of(lf: u64, crlf: u64) -> Self {
        match (lf, crlf) {
            (0, 0) => Self::None,
            (_, 0) => Self::Lf,
            (0, _) => Self::CrLf,
            _ => Self::Mixed,
        }
    }

    /// Returns the kind of line endings in a text.
    pub fn detect(text: &[u8]) -> Self {
        // Stops as soon as the result is certain.
        let Some(first) = memchr(b'\n', text) else { return Self::None };
        let ends_crlf = |at: usize| at > 0 && text[at - 1] == b'\r';
        if !ends_crlf(first) {
            let crlf = |at: usize| text.get(at + 1) == Some(&b'\n');
            return if memchr_iter(b'\r', text).any(crlf) { Self::Mixed } else { Self::Lf };
        }
        if memchr_iter(b'\n', text).all(ends_crlf) { Self::CrLf } else { Self::Mixed }
    }

    /// Returns the kind of line endings in a text in UTF-16, given the two bytes of LF and of CR.
    pub(crate) fn detect_wide(text: &[u8], lf: [u8; 2], cr: [u8; 2]) -> Self {
        let low = usize::from(lf[0] == 0);
        let (mut lines, mut crlf) = (0, 0);
        for at in memchr_iter(b'\n', text) {
            let start = at.wrapping_sub(low);
            if start % 2 == 0 && text.get(start..start + 2) == Some(&lf[..]) {
                lines += 1;
                crlf += u64::from(start >= 2 && text[start - 2..start] == cr);
            }
        }
        Self::of(lines - crlf, crlf)
    }
}

/// Returns the number of LF bytes.
pub fn count_lf(text: &[u8]) -> u64 {
    memchr_iter(b'\n', text).count() as u64
}

/// Returns the number of CRLF pairs.
pub fn count_crlf(text: &[u8]) -> u64 {
    memchr_iter(b'\r', text).filter(|&at| text.get(at + 1) == Some(&b'\n')).count() as u64
}

/// Returns the number of lines: that of line endings, plus one if the last line has none.
pub fn count_lines(text: &[u8]) -> u64 {
    count_lf(text) + u64::from(text.last().is_some_and(|&byte| byte != b'\n'))
}

/// One line: its text and its line ending (`""`, `"\n"` or `"\r\n"`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The byte offset of the line.
    pub start: usize,
    /// The line without its line ending.
    pub text: &'a [u8],
    /// The line ending; empty only for a last line without one.
    pub end: &'a [u8],
}

/// Splits a line with at most one line ending, at its end, into text and line ending.
pub fn split_line_ending(line: &[u8]) -> (&[u8], &[u8]) {
    let end = match line {
        [.., b'\r', b'\n'] => 2,
        [.., b'\n'] => 1,
        _ => 0,
    };
    line.split_at(line.len() - end)
}

/// Returns an iterator over the lines of a text.
///
/// ```
/// use filewright_core::text::lines;
/// let ends: Vec<_> = lines(b"a\r\nb").map(|line| line.end).collect();
/// assert_eq!(ends, [&b"\r\n"[..], b""]);
/// ```
pub fn lines(text: &[u8]) -> Lines<'_> {
    Lines { text, at: 0 }
}

/// The iterator of [`lines`].
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = memchr(b'\n', rest).map_or(rest.len(), |lf| lf + 1);
        let (text, end) = split_line_ending(&rest[..length]);
        let start = self.at;
        self.at += length;
        Some(Line { start, text, end })
    }
}

/// Returns the number (1-based) of the line that contains the byte at `offset`; an offset beyond
/// the end counts as the end.
pub fn line_number_at(text: &[u8], offset: usize) -> u64 {
    count_lf(&text[..offset.min(text.len())]) + 1
}

/// Returns the byte offset at which the line that contains the byte at `offset` begins.
pub fn line_begin(text: &[u8], offset: usize) -> usize {
    memrchr(b'\n', &text[..offset.min(text.len())]).map_or(0, |lf| lf + 1)
}

/// Returns the longest prefix of `text` with at most `max` code points.
pub fn prefix_of_chars(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    match text.char_indices().nth(max) {
        Some((at, _)) => &text[..at],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn line_ends_are_found_as_they_are_counted(text in "[a\r\n]{0,30}") {
            let text = text.as_bytes();
            let crlf = super::count_crlf(text);
            prop_assert_eq!(Eol::detect(text), Eol::of(super::count_lf(text) - crlf, crlf));
        }
    }

    #[test]
    fn only_lf_and_crlf_end_a_line() {
        for (text, count, eol) in [
            ("", 0, "none"),
            ("a", 1, "none"),
            ("\n", 1, "lf"),
            ("\r", 1, "none"),
            ("\r\n", 1, "crlf"),
            ("a\nb\n", 2, "lf"),
            ("a\nb", 2, "lf"),
            ("a\r\nb\r\n", 2, "crlf"),
            ("a\r\nb\n", 2, "mixed"),
            ("a\rb\n", 1, "lf"),
            ("a\r\r\nb", 2, "crlf"),
            ("a\u{2028}b\u{b}c\u{c}d\u{85}e\n", 1, "lf"),
            ("\n\n\n", 3, "lf"),
        ] {
            assert_eq!(count_lines(text.as_bytes()), count, "{text:?}");
            assert_eq!(lines(text.as_bytes()).count() as u64, count, "{text:?}");
            assert_eq!(Eol::detect(text.as_bytes()).as_str(), eol, "{text:?}");
        }
    }

    #[test]
    fn lines_are_found_by_offset() {
        let text = b"one\ntwo\r\nthree";
        assert_eq!(
            (line_number_at(text, 0), line_number_at(text, 8), line_number_at(text, 99)),
            (1, 2, 3)
        );
        assert_eq!((line_begin(text, 3), line_begin(text, 8), line_begin(text, 9)), (0, 4, 9));
    }

    #[test]
    fn cuts_fall_between_code_points() {
        assert_eq!(prefix_of_chars("aé漢😀b", 4), "aé漢😀");
        assert_eq!(prefix_of_chars("ab", 5), "ab");
        assert_eq!(prefix_of_chars("é", 0), "");
        assert_eq!(count_chars("aé漢😀b"), 5);
    }

    proptest! {
        #[test]
        fn line_ends_are_the_same_in_units_of_two_bytes(text in "[ab\r\n\u{a0d}\u{d0a}]{0,20}") {
            let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            let found = Eol::detect(text.as_bytes());
            prop_assert_eq!(Eol::detect_wide(&le, [0x0a, 0], [0x0d, 0]), found);
            prop_assert_eq!(Eol::detect_wide(&be, [0, 0x0a], [0, 0x0d]), found);
        }

        #[test]
        fn lines_lose_nothing(text in proptest::collection::vec(
            prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..60)) {
            let whole: Vec<u8> =
                lines(&text).flat_map(|line| [line.text, line.end].concat()).collect();
            prop_assert_eq!(&whole, &text);
            for (index, line) in lines(&text).enumerate() {
                let number = index as u64 + 1;
                prop_assert_eq!(line_number_at(&text, line.start), number);
                prop_assert_eq!(line_begin(&text, line.start + line.text.len()), line.start);
                prop_assert!(!line.text.contains(&b'\n'));
            }
        }
    }
}
