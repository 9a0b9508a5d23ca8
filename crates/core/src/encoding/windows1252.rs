//! Decodes and encodes windows-1252: Latin-1 with letters and signs in place of the C1 controls.
//! Implemented here because detection falls back to it on every engine.

use std::borrow::Cow;

/// The characters of the bytes `80`–`9F`. The five bytes without a character map to the control
/// characters of the same number, as in the WHATWG table.
const C1_REPLACEMENTS: [char; 32] = [
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
            0x80..=0x9f => C1_REPLACEMENTS[usize::from(byte - 0x80)],
            byte => char::from(byte),
        });
    }
    Cow::Owned(text)
}

/// Encodes, or returns the first character that the encoding does not have, with its offset in
/// bytes of UTF-8.
pub(super) fn encode(text: &str) -> Result<Vec<u8>, (usize, char)> {
    let mut bytes = Vec::with_capacity(text.len());
    for (offset, c) in text.char_indices() {
        let byte = match c as u32 {
            code @ (0..=0x7f | 0xa0..=0xff) => Some(code as u8),
            _ => C1_REPLACEMENTS.iter().position(|&high| high == c).map(|at| 0x80 + at as u8),
        };
        bytes.push(byte.ok_or((offset, c))?);
    }
    Ok(bytes)
}
