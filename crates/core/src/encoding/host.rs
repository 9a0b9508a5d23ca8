//! The functions by which a host decodes legacy encodings.

/// The functions of a host for legacy encodings. Names of encodings are those of the WHATWG
/// standard in lower case.
#[derive(Clone, Copy, Debug)]
pub struct Platform {
    /// Returns the name of the encoding for a label.
    pub find: fn(&str) -> Option<String>,
    /// Decodes bytes, with U+FFFD for invalid ones.
    pub decode: fn(&str, &[u8]) -> String,
    /// Returns true if all bytes are valid. If the last argument is true, a character cut off at
    /// their end is invalid too.
    pub fits: fn(&str, &[u8], bool) -> bool,
    /// Encodes a text, or returns the offset, in bytes of UTF-8, of the first character that the
    /// encoding does not have.
    pub encode: fn(&str, &str) -> Result<Vec<u8>, usize>,
    /// Returns two numbers for each decoding step: the bytes read, and the bytes of UTF-8 produced.
    pub spans: fn(&str, &[u8]) -> Vec<u32>,
    /// Returns the length in bytes of a number of code points at the beginning.
    pub first_chars_len: fn(&str, &[u8], usize) -> usize,
}
