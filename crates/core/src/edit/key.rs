//! What two lines have in common when only their words count: no white space,
//! one form of every quote, dash and composed character.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use super::lines::FileLines;
use super::needle::{Kind, LINE, weight};

/// The words of a line. Lines with equal keys say the same.
pub(super) fn key(line: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(line.len());
    push_key(line, &mut key);
    key
}

fn push_key(line: &[u8], key: &mut Vec<u8>) {
    if line.is_ascii() {
        key.extend(line.iter().filter(|byte| !is_space(**byte)));
        return;
    }
    for chunk in line.utf8_chunks() {
        for c in chunk.valid().chars().filter(|c| !is_unseen(*c)).nfkc().filter(|c| !is_unseen(*c))
        {
            key.extend_from_slice(fold_char(c).encode_utf8(&mut [0; 4]).as_bytes());
        }
        key.extend_from_slice(chunk.invalid());
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// White space, and characters that show nothing.
fn is_unseen(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

/// The plain form of a typographic character.
pub(super) fn fold_char(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{ff07}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{ff02}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        c => c,
    }
}

/// A text without its white space, other than that as it is.
pub(super) fn squeezed(line: &[u8]) -> Cow<'_, [u8]> {
    if line.iter().any(|byte| is_space(*byte)) {
        return Cow::Owned(line.iter().copied().filter(|byte| !is_space(*byte)).collect());
    }
    Cow::Borrowed(line)
}

/// Whether a key holds a letter, digit or underscore.
pub(super) fn has_word(key: &[u8]) -> bool {
    key.iter().any(|&byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80)
}

/// A file's lines with the hashes of their keys.
pub(super) struct Haystack<'a> {
    /// The whole file.
    pub text: &'a [u8],
    /// The lines.
    pub file: FileLines<'a>,
    /// By line: the hash of its key.
    pub hashes: Vec<u64>,
    /// By line: bytes of its key.
    pub lens: Vec<u32>,
    /// By line: what it costs that the old text does not have it.
    pub skips: Vec<i32>,
}

impl<'a> Haystack<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        let file = FileLines::new(text);
        let mut hashes = Vec::with_capacity(file.lines.len());
        let mut lens = Vec::with_capacity(file.lines.len());
        let mut skips = Vec::with_capacity(file.lines.len());
        let mut buffer = Vec::new();
        for line in &file.lines {
            buffer.clear();
            push_key(line.text, &mut buffer);
            hashes.push(crate::diff::hash(&buffer));
            lens.push(buffer.len() as u32);
            skips.push(match Kind::of(line.text) {
                Kind::Blank => LINE * 6 / 100,
                Kind::Comment => LINE / 4,
                Kind::Code => weight(&buffer) * 9 / 10,
            });
        }
        Self { text, file, hashes, lens, skips }
    }

    /// The number of lines.
    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// The text of a line.
    pub(super) fn line(&self, at: usize) -> &'a [u8] {
        self.file.lines[at].text
    }
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn keys_hold_the_words_alone() {
        for (a, b) in [
            ("  if (x) {\t", "if(x){"),
            ("say \u{201c}hi\u{201d} \u{2013} ok", "say \"hi\" - ok"),
            ("caf\u{e9}", "cafe\u{301}"),
            ("a\u{a0}b\u{200b}c", "abc"),
            ("wait\u{2026}", "wait..."),
        ] {
            assert_eq!(key(a.as_bytes()), key(b.as_bytes()), "{a}");
        }
        assert_ne!(key(b"a-b"), key(b"ab"));
    }
}
