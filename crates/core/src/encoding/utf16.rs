//! Decodes and encodes UTF-16, because `encoding_rs` decodes it but does not encode it.

use std::borrow::Cow;

use super::DecodedBytes;

/// The byte order of a UTF-16 unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endian {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl Endian {
    /// Returns the UTF-16 unit of two bytes.
    pub const fn unit(self, pair: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(pair),
            Self::Big => u16::from_be_bytes(pair),
        }
    }

    /// Returns the two bytes of a UTF-16 unit.
    pub const fn bytes(self, unit: u16) -> [u8; 2] {
        match self {
            Self::Little => unit.to_le_bytes(),
            Self::Big => unit.to_be_bytes(),
        }
    }
}

/// Returns the UTF-16 units of the bytes; ignores an odd byte at the end.
pub(super) fn utf16_units(bytes: &[u8], endian: Endian) -> impl Iterator<Item = u16> {
    bytes.chunks_exact(2).map(move |pair| endian.unit([pair[0], pair[1]]))
}

pub(super) fn decode(bytes: &[u8], endian: Endian) -> DecodedBytes<'static> {
    let mut text = String::with_capacity(bytes.len() / 2 + bytes.len() / 8);
    let mut lossy = false;
    for c in char::decode_utf16(utf16_units(bytes, endian)) {
        lossy |= c.is_err();
        text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    if bytes.len() % 2 == 1 {
        lossy = true;
        text.push(char::REPLACEMENT_CHARACTER);
    }
    DecodedBytes { text: Cow::Owned(text), lossy }
}

pub(super) fn encode(text: &str, endian: Endian) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() * 2);
    bytes.extend(text.encode_utf16().flat_map(|unit| endian.bytes(unit)));
    bytes
}

/// Returns the length in bytes of the first `chars` code points.
pub(super) fn first_chars_len(bytes: &[u8], endian: Endian, chars: usize) -> usize {
    let mut at = 0;
    for c in char::decode_utf16(utf16_units(bytes, endian)).take(chars) {
        at += c.map_or(2, |c| 2 * c.len_utf16());
    }
    // An odd byte at the end counts as one more character.
    if at + 1 == bytes.len() && char::decode_utf16(utf16_units(bytes, endian)).count() < chars {
        at += 1;
    }
    at
}
