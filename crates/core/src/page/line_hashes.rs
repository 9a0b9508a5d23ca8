//! The hashes of all lines of a content, by which a later one of the same file tells which lines have
//! changed.
//!
//! They are a text with one short line for each line of the file, so that the line diff compares
//! them as it compares files. A hash has 30 bits: two different lines are taken for equal once in a
//! billion pairs, so whether a file has changed at all is never decided by them.

use super::index::line_ends;
use crate::anchor::line_hash;
use crate::{encoding, sniff};

/// The maximum number of lines of a file whose lines are hashed.
const MAX_HASHED_LINES: usize = 20_000;
/// The characters of a hash, of six bits each.
const HASH_CHARS: usize = 5;
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns the hashes of the lines of a whole content, line endings included: a text with a line of
/// five characters for each. `None` for a content that is not text, and for more than 20,000 lines.
///
/// ```
/// use filewright_core::page::line_hashes;
/// let hashes = line_hashes(b"one\ntwo\none\n").unwrap();
/// let [first, second, third] = hashes.lines().collect::<Vec<_>>()[..] else { panic!() };
/// assert!(first == third && first != second);
/// ```
pub fn line_hashes(bytes: &[u8]) -> Option<String> {
    if !sniff::sniff(bytes, "", true).kind.is_text() {
        return None;
    }
    let found = encoding::detect(bytes, true);
    let (bytes, unit) = (&bytes[found.bom..], found.encoding.unit());
    let mut hashes = Vec::with_capacity((bytes.len() / 32 + 1) * (HASH_CHARS + 1));
    let (mut from, mut lines) = (0, 0);
    for to in line_ends(bytes, unit).chain(std::iter::once(bytes.len())) {
        if from == to {
            continue; // the last line has a line ending
        }
        lines += 1;
        if lines > MAX_HASHED_LINES {
            return None;
        }
        let hash = line_hash(&bytes[from..to]);
        let mut line = [b'\n'; HASH_CHARS + 1];
        for (digit, place) in line[..HASH_CHARS].iter_mut().enumerate() {
            *place = DIGITS[(hash >> (6 * digit) & 63) as usize];
        }
        hashes.extend_from_slice(&line);
        from = to;
    }
    String::from_utf8(hashes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(bytes: &[u8]) -> Vec<String> {
        line_hashes(bytes).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn equal_lines_have_equal_hashes_and_line_endings_count() {
        let [a, b, c, d] = &hashes(b"one\ntwo\none\none")[..] else { panic!() };
        assert_eq!(a, c);
        assert!(a != b && a != d);
        assert_ne!(hashes(b"one\n"), hashes(b"one\r\n"));
        assert!(hashes(b"").is_empty());
    }

    #[test]
    fn lines_of_utf_16_are_those_of_the_text() {
        let bytes: Vec<u8> = [0xff, 0xfe]
            .into_iter()
            .chain("a\u{0a0a}b\nc\n".encode_utf16().flat_map(u16::to_le_bytes))
            .collect();
        assert_eq!(hashes(&bytes).len(), 2);
    }

    #[test]
    fn a_content_of_too_many_lines_or_that_is_no_text_has_none() {
        let lines = |count| line_hashes(&b"a\n".repeat(count));
        assert!(lines(MAX_HASHED_LINES).is_some());
        assert!(lines(MAX_HASHED_LINES + 1).is_none());
        assert!(line_hashes(b"a\0b\n").is_none());
    }
}
