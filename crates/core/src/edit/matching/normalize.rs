//! Normalises lines for comparing their words: removes white space and uses one form of every
//! quote, dash and composed character.

use std::borrow::Cow;

use crate::edit::lines::trim;
use crate::text::unicode_normalize::{Form, normalised};

/// Longer lines are compared unchanged except for white space around them. Bytes.
const MAX_FOLDED_BYTES: usize = 1 << 16;

/// Returns the key of a line; lines with equal keys have the same words.
pub(in crate::edit) fn match_key(line: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(line.len());
    push_key(line, &mut key);
    key
}

/// Appends the key of a line.
pub(in crate::edit) fn push_key(line: &[u8], key: &mut Vec<u8>) {
    if line.len() > MAX_FOLDED_BYTES {
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
            len += usize::from(!is_space(byte));
        }
        key.truncate(start + len);
        return;
    }
    for chunk in line.utf8_chunks() {
        let seen: String = chunk.valid().chars().filter(|c| !is_invisible(*c)).collect();
        for c in normalised(&seen, Form::Nfkc).chars().filter(|c| !is_invisible(*c)) {
            key.extend_from_slice(fold_char(c).encode_utf8(&mut [0; 4]).as_bytes());
        }
        key.extend_from_slice(chunk.invalid());
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Matches white space and invisible characters.
fn is_invisible(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

/// Returns the plain form of a typographic character.
pub(in crate::edit) fn fold_char(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{ff07}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{ff02}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        c => c,
    }
}

/// Replaces typographic characters and white space by their plain forms.
pub(in crate::edit) fn plain(line: &[u8]) -> Vec<u8> {
    let Some(text) = std::str::from_utf8(line).ok().filter(|text| !text.is_ascii()) else {
        return line.to_vec();
    };
    let is_seen = |c: &char| c.is_whitespace() || !is_invisible(*c);
    let plain = |c: char| if c.is_whitespace() && c != '\t' { ' ' } else { fold_char(c) };
    text.chars().filter(is_seen).map(plain).collect::<String>().into_bytes()
}

/// Removes all white space from a text.
pub(in crate::edit) fn collapse_whitespace(line: &[u8]) -> Cow<'_, [u8]> {
    if line.iter().any(|byte| is_space(*byte)) {
        return Cow::Owned(line.iter().copied().filter(|byte| !is_space(*byte)).collect());
    }
    Cow::Borrowed(line)
}

/// Reports whether a key contains a letter, digit or underscore.
pub(in crate::edit) fn has_word(key: &[u8]) -> bool {
    key.iter().any(|&byte| is_word_byte(byte))
}

/// Reports whether a byte is a letter, a digit, an underscore, or part of another character than
/// those of ASCII.
pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::{match_key, plain};

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
        assert_eq!(plain(sent.as_bytes()), b"say \"hi\"  -\tok");
    }
}
