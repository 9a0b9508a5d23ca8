//! Normalises lines for comparing their words: removes white space and uses one form of every
//! quote, dash and composed character.

use std::borrow::Cow;

use crate::edit::lines::trim;
use crate::text::unicode_normalize::{Form, to_normal_form};

/// The maximum length in bytes of a line that is normalised; a longer one is only trimmed.
const MAX_NORMALIZED_BYTES: usize = 1 << 16;

/// Returns the match key of a line: its text without white space and invisible characters, in
/// Unicode form NFKC, with plain quotes and dashes. Lines with equal keys have the same words.
pub(in crate::edit) fn match_key(line: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(line.len());
    push_key(line, &mut key);
    key
}

/// Appends the match key of a line to `key`.
pub(in crate::edit) fn push_key(line: &[u8], key: &mut Vec<u8>) {
    if line.len() > MAX_NORMALIZED_BYTES {
        key.extend_from_slice(trim(line));
        return;
    }
    if line.is_ascii() {
        let start = key.len();
        key.resize(start + line.len(), 0);
        let out = &mut key[start..];
        let mut len = 0;
        for &byte in line {
            out[len] = byte;
            len += usize::from(!is_ascii_space(byte));
        }
        key.truncate(start + len);
        return;
    }
    for chunk in line.utf8_chunks() {
        let seen: String = chunk.valid().chars().filter(|c| !is_invisible(*c)).collect();
        for c in to_normal_form(&seen, Form::Nfkc).chars().filter(|c| !is_invisible(*c)) {
            key.extend_from_slice(fold_char(c).encode_utf8(&mut [0; 4]).as_bytes());
        }
        key.extend_from_slice(chunk.invalid());
    }
}

pub(in crate::edit) fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Returns true for white space and invisible characters.
fn is_invisible(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

/// Returns the ASCII form of a typographic quote or dash; any other character unchanged.
pub(in crate::edit) fn fold_char(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{ff07}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{ff02}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        c => c,
    }
}

/// Returns the line with ASCII quotes and dashes, a blank for each other white space except tabs,
/// and without invisible characters.
pub(in crate::edit) fn with_plain_chars(line: &[u8]) -> Vec<u8> {
    let Some(text) = std::str::from_utf8(line).ok().filter(|text| !text.is_ascii()) else {
        return line.to_vec();
    };
    let is_seen = |c: &char| c.is_whitespace() || !is_invisible(*c);
    let plain = |c: char| if c.is_whitespace() && c != '\t' { ' ' } else { fold_char(c) };
    text.chars().filter(is_seen).map(plain).collect::<String>().into_bytes()
}

/// Returns the text without ASCII white space.
pub(in crate::edit) fn without_whitespace(line: &[u8]) -> Cow<'_, [u8]> {
    if line.iter().any(|byte| is_ascii_space(*byte)) {
        return Cow::Owned(line.iter().copied().filter(|byte| !is_ascii_space(*byte)).collect());
    }
    Cow::Borrowed(line)
}

/// Returns true if a key contains a letter, digit or underscore; any character beyond ASCII counts
/// as a letter.
pub(in crate::edit) fn has_word(key: &[u8]) -> bool {
    key.iter().any(|&byte| is_word_byte(byte))
}

/// Returns true if an offset lies inside a word of a text.
pub(in crate::edit) fn is_inside_word(text: &[u8], at: usize) -> bool {
    let is_word =
        |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(|&byte| is_word_byte(byte));
    is_word(at.checked_sub(1)) && is_word(Some(at))
}

/// Returns true for an ASCII letter, a digit, an underscore, and a byte of a character beyond
/// ASCII.
pub(in crate::edit) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::{match_key, with_plain_chars};

    #[test]
    fn keys_contain_only_words() {
        for (a, b) in [
            ("  if (x) {\t", "if(x){"),
            ("say \u{201c}hi\u{201d} \u{2013} ok", "say \"hi\" - ok"),
            ("caf\u{e9}", "cafe\u{301}"),
            ("a\u{a0}b\u{200b}c", "abc"),
            ("wait\u{2026}", "wait..."),
        ] {
            assert_eq!(match_key(a.as_bytes()), match_key(b.as_bytes()), "{a}");
        }
        assert_ne!(match_key(b"a-b"), match_key(b"ab"));
        let sent = "say\u{a0}\u{201c}hi\u{201d}\u{200b}  \u{2013}\tok";
        assert_eq!(with_plain_chars(sent.as_bytes()), b"say \"hi\"  -\tok");
    }
}
