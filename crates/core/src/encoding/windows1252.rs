//! windows-1252: Latin-1 with letters and signs in place of the C1 controls. Implemented here
//! because detection falls back to it on every engine.

use std::borrow::Cow;

/// The characters of `80`–`9F`. The five undefined codes map to the controls of the same number, as
/// in the WHATWG table.
const HIGH: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

pub(super) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    if bytes.is_ascii()
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 8);
    for &byte in bytes {
        text.push(match byte {
            0x80..=0x9f => HIGH[usize::from(byte - 0x80)],
            byte => char::from(byte),
        });
    }
    Cow::Owned(text)
}

/// Encodes, or returns the offset (bytes of UTF-8) and the character without a code.
pub(super) fn encode(text: &str) -> Result<Vec<u8>, (usize, char)> {
    let mut bytes = Vec::with_capacity(text.len());
    for (offset, c) in text.char_indices() {
        let byte = match c as u32 {
            code @ (0..=0x7f | 0xa0..=0xff) => Some(code as u8),
            _ => HIGH.iter().position(|&high| high == c).map(|at| 0x80 + at as u8),
        };
        bytes.push(byte.ok_or((offset, c))?);
    }
    Ok(bytes)
}
