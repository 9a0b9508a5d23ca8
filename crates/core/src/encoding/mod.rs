//! Text encodings: labels, decoding, encoding and detection.
//!
//! UTF-8, UTF-16 and windows-1252 are implemented here. Legacy encodings come from the tables of
//! `encoding_rs` with the feature `legacy`, otherwise from the host ([`platform`](self)), because a
//! browser has those tables already. Labels follow the WHATWG Encoding Standard, so `latin1` is
//! windows-1252, with a few more spellings that other systems use.
//!
//! Decoding never changes bytes on disk: an edit maps its position in the text back to bytes
//! ([`Encoding::first_chars_len`]) and splices there, so that bytes that do not decode, or would encode
//! differently, stay unchanged.

#[cfg(feature = "legacy")]
mod cjk;
mod detect;
#[cfg(not(feature = "legacy"))]
mod heuristics;
#[cfg(not(feature = "legacy"))]
mod host;
mod ideographs;
mod offset_map;
#[cfg(not(feature = "legacy"))]
pub mod platform;
#[cfg(feature = "legacy")]
mod tables;
mod utf16;
mod windows1252;

use std::borrow::Cow;

#[cfg(not(feature = "legacy"))]
use platform as tables;

pub use detect::{EncodingDetection, detect, encoding_from_bom};
pub(crate) use detect::{has_odd_controls, is_nearly_utf8, is_odd_control, utf16_without_bom};
pub(crate) use offset_map::trim_unchanged_ends;
pub use utf16::Endian;

use crate::error::{Code, Error, Result};
use crate::pack::Packed;
use crate::wire::Wire;

/// A character encoding, identified by its kind alone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Encoding(EncodingKind);

/// The implementation that decodes and encodes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EncodingKind {
    Utf8,
    Utf16(Endian),
    Windows1252,
    Legacy(tables::LegacyTable),
}

/// The bytes of a line feed in an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineFeedCode {
    /// A line feed is one byte `0A`, which is never part of another character.
    Byte,
    /// A line feed is two bytes in this order, at an even offset in the file.
    Two(Endian),
}

impl LineFeedCode {
    /// Returns the length of a line feed in bytes.
    #[allow(clippy::len_without_is_empty)]
    pub const fn len(self) -> usize {
        match self {
            Self::Byte => 1,
            Self::Two(_) => 2,
        }
    }
}

/// The result of [`Encoding::decode`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedBytes<'a> {
    /// The text, with U+FFFD for invalid bytes.
    pub text: Cow<'a, str>,
    /// True if the text contains a U+FFFD for invalid bytes.
    pub lossy: bool,
}

impl Encoding {
    /// UTF-8.
    pub const UTF_8: Self = Self(EncodingKind::Utf8);
    /// UTF-16, least significant byte first.
    pub const UTF_16LE: Self = Self(EncodingKind::Utf16(Endian::Little));
    /// UTF-16, most significant byte first.
    pub const UTF_16BE: Self = Self(EncodingKind::Utf16(Endian::Big));
    /// Latin-1 as the web defines it. Every byte is a valid character.
    pub const WINDOWS_1252: Self = Self(EncodingKind::Windows1252);

    /// Returns the encoding for a label in any letter case: WHATWG labels, and the spellings of
    /// Python, Node, Java and Windows code pages.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` naming the label.
    pub fn for_label(label: &str) -> Result<Self> {
        let plain: String = label
            .trim()
            .chars()
            .filter(|c| !matches!(c, '-' | '_' | ' '))
            .map(|c| c.to_ascii_lowercase())
            .collect();
        let known = match plain.as_str() {
            "utf8" | "utf8sig" | "unicode11utf8" | "xunicode20utf8" => Some(Self::UTF_8),
            "utf16" | "utf16le" | "ucs2" | "ucs2le" | "unicode" | "unicodefeff" | "csunicode"
            | "iso10646ucs2" => Some(Self::UTF_16LE),
            "utf16be" | "ucs2be" | "unicodefffe" => Some(Self::UTF_16BE),
            "windows1252" | "cp1252" | "xcp1252" | "latin1" | "l1" | "iso88591"
            | "iso885911987" | "isoir100" | "csisolatin1" | "ibm819" | "cp819" | "88591"
            | "ascii" | "usascii" | "ansix3.41968" | "binary" => Some(Self::WINDOWS_1252),
            other => legacy_for_label(label.trim(), other),
        };
        known.ok_or_else(|| {
            let label = crate::text::prefix_of_chars(label, 60); // no real one is longer
            Error::new(Code::InvalidArgument, format!("encoding {label:?} is not known"))
                .hint("use a WHATWG label such as \"utf-8\", \"utf-16le\" or \"shift_jis\"")
                .detail("argument", "encoding")
                .detail("encoding", label)
        })
    }

    /// Returns the name in lower case: `utf-8`, `utf-16le`, `windows-1252`, `shift_jis`, …
    pub fn name(self) -> Cow<'static, str> {
        match self.0 {
            EncodingKind::Utf8 => Cow::Borrowed("utf-8"),
            EncodingKind::Utf16(Endian::Little) => Cow::Borrowed("utf-16le"),
            EncodingKind::Utf16(Endian::Big) => Cow::Borrowed("utf-16be"),
            EncodingKind::Windows1252 => Cow::Borrowed("windows-1252"),
            EncodingKind::Legacy(table) => table.name(),
        }
    }

    /// Returns how a line feed is encoded.
    pub const fn unit(self) -> LineFeedCode {
        match self.0 {
            EncodingKind::Utf16(endian) => LineFeedCode::Two(endian),
            _ => LineFeedCode::Byte,
        }
    }

    /// Returns the byte order mark of this encoding; empty if it has none.
    pub const fn mark(self) -> &'static [u8] {
        match self.0 {
            EncodingKind::Utf8 => crate::text::BOM_UTF8,
            EncodingKind::Utf16(Endian::Little) => b"\xff\xfe",
            EncodingKind::Utf16(Endian::Big) => b"\xfe\xff",
            _ => b"",
        }
    }

    /// Decodes, with U+FFFD for invalid bytes. Does not handle a byte order mark: remove it first
    /// ([`encoding_from_bom`]).
    pub fn decode(self, bytes: &[u8]) -> DecodedBytes<'_> {
        match self.0 {
            EncodingKind::Utf8 => match String::from_utf8_lossy(bytes) {
                // The result is borrowed only if all bytes are valid.
                text @ Cow::Borrowed(_) => DecodedBytes { text, lossy: false },
                text => DecodedBytes { text, lossy: true },
            },
            EncodingKind::Utf16(endian) => utf16::decode(bytes, endian),
            EncodingKind::Windows1252 => {
                DecodedBytes { text: windows1252::decode(bytes), lossy: false }
            }
            EncodingKind::Legacy(table) => {
                let (text, lossy) = table.decode(bytes);
                DecodedBytes { text, lossy }
            }
        }
    }

    /// Decodes bytes that must be valid.
    ///
    /// # Errors
    /// `ENCODING_ERROR` with the offset of the first invalid byte.
    pub fn decode_strict(self, bytes: &[u8]) -> Result<Cow<'_, str>> {
        let decoded = self.decode(bytes);
        if decoded.lossy {
            return Err(self.decode_error(bytes));
        }
        Ok(decoded.text)
    }

    /// Returns the error for bytes that are invalid in this encoding.
    pub(crate) fn decode_error(self, bytes: &[u8]) -> Error {
        let name = self.name();
        let mut error = Error::new(
            Code::EncodingError,
            format!("the bytes are not valid in the encoding {name}"),
        )
        .detail("encoding", &*name);
        if self.0 == EncodingKind::Utf8
            && let Err(at) = std::str::from_utf8(bytes)
        {
            let offset = at.valid_up_to();
            error = error
                .detail("offset", offset as u64)
                .detail("line", crate::text::line_number_at(bytes, offset));
        }
        let likely = detect(bytes, true).encoding;
        if likely != self && !bytes.is_empty() {
            let likely = likely.name();
            error = error
                .hint(format!(
                    "the bytes look like {likely}: pass encoding \"{likely}\", or \"auto\""
                ))
                .detail("detected", &*likely);
        }
        error
    }

    /// Encodes text without a byte order mark.
    ///
    /// # Errors
    /// `ENCODING_ERROR` for the first character that the encoding cannot represent, with `details`
    /// `{encoding, character, code_point, offset}` (`offset` in bytes of UTF-8).
    pub fn encode(self, text: &str) -> Result<Vec<u8>> {
        match self.0 {
            EncodingKind::Utf8 => Ok(text.as_bytes().to_vec()),
            EncodingKind::Utf16(endian) => Ok(utf16::encode(text, endian)),
            EncodingKind::Windows1252 => windows1252::encode(text)
                .map_err(|(offset, c)| self.unmappable_char_error(offset, c)),
            EncodingKind::Legacy(table) => table.encode(text).map_err(|offset| {
                let rest = text.get(offset..).and_then(|rest| rest.chars().next());
                self.unmappable_char_error(offset, rest.unwrap_or(char::REPLACEMENT_CHARACTER))
            }),
        }
    }

    /// The error for a character, at an offset in bytes of UTF-8, that this encoding cannot
    /// represent.
    fn unmappable_char_error(self, offset: usize, c: char) -> Error {
        let name = self.name();
        let code_point = format!("U+{:04X}", c as u32);
        Error::new(
            Code::EncodingError,
            format!("the encoding {name} has no character {c:?} ({code_point})"),
        )
        .hint("leave the character out, or write the whole file with encoding \"utf-8\"")
        .detail("encoding", &*name)
        .detail("character", c.to_string())
        .detail("code_point", code_point)
        .detail("offset", offset as u64)
    }

    /// Returns true if encoding the decoded text gives the same bytes. If not (invalid bytes, or
    /// two codes for one character), an edit must replace bytes of the file and not encode the text
    /// again.
    pub fn is_exact(self, bytes: &[u8]) -> bool {
        let decoded = self.decode(bytes);
        if decoded.lossy {
            return false;
        }
        match self.0 {
            // In these encodings each character has only one code.
            EncodingKind::Utf8 | EncodingKind::Utf16(_) | EncodingKind::Windows1252 => true,
            EncodingKind::Legacy(_) => self.encode(&decoded.text).is_ok_and(|again| again == bytes),
        }
    }

    /// Returns the length in bytes of the first `chars` code points of `bytes`, which must begin at
    /// a character; all bytes if there are fewer. Invalid bytes count as the U+FFFD that replaces
    /// them.
    pub fn first_chars_len(self, bytes: &[u8], chars: usize) -> usize {
        if chars == 0 {
            return 0;
        }
        match self.0 {
            EncodingKind::Utf8 => utf8_first_chars_len(bytes, chars),
            EncodingKind::Utf16(endian) => utf16::first_chars_len(bytes, endian, chars),
            EncodingKind::Windows1252 => chars.min(bytes.len()),
            EncodingKind::Legacy(table) if table.is_single_byte() => chars.min(bytes.len()),
            EncodingKind::Legacy(table) => table.first_chars_len(bytes, chars),
        }
    }

    /// Returns the maximum length in bytes of one code point, with the escape sequences around it.
    pub(crate) const fn max_char_len(self) -> usize {
        match self.0 {
            EncodingKind::Windows1252 => 1,
            // ISO-2022-JP: two bytes, and an escape sequence of three on either side.
            EncodingKind::Legacy(_) => 8,
            _ => 4,
        }
    }

    /// Returns true for ISO-2022-JP, in which the meaning of bytes depends on the escape sequence
    /// before them.
    pub(crate) fn is_stateful(self) -> bool {
        self.0 == EncodingKind::Legacy(tables::LegacyTable::ISO_2022_JP)
    }

    /// Returns the escape sequence that is in effect after the bytes `before`; empty unless the
    /// encoding is stateful. Whoever decodes from there on must decode it first.
    pub(crate) fn shift_state(self, before: &[u8]) -> &[u8] {
        match memchr::memrchr(0x1b, before) {
            Some(at) if self.is_stateful() => &before[at..(at + 3).min(before.len())],
            _ => b"",
        }
    }
}

impl std::fmt::Debug for Encoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

/// An encoding is encoded as its name in lower case.
impl Wire for Encoding {
    fn put(&self, to: &mut Packed) {
        to.str(&self.name());
    }
}

crate::wire! {
    /// A decoded file.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DecodedText<'a> {
        /// The characters, without a byte order mark.
        pub text: Cow<'a, str>,
        /// The encoding of the bytes.
        pub encoding: Encoding,
        /// True when the bytes begin with a byte order mark.
        pub bom: bool,
        /// True when U+FFFD replaces invalid bytes.
        pub lossy: bool,
    }
}

/// Decodes a whole file in the encoding that `label` names, which must fit all bytes, or in the
/// detected one for `auto`, with U+FFFD for invalid bytes.
///
/// # Errors
/// `INVALID_ARGUMENT` for an unknown label; `ENCODING_ERROR` for bytes that are invalid in the
/// named encoding.
pub fn decode_text<'a>(bytes: &'a [u8], label: &str) -> Result<DecodedText<'a>> {
    let auto = label == "auto";
    let (encoding, bom) = if auto {
        let found = detect(bytes, true);
        (found.encoding, found.bom)
    } else {
        encoding_by_label(bytes, label)?
    };
    let DecodedBytes { text, lossy } = encoding.decode(&bytes[bom..]);
    if lossy && !auto {
        return Err(encoding.decode_error(&bytes[bom..]));
    }
    Ok(DecodedText { text, encoding, bom: bom > 0, lossy })
}

/// Returns the encoding that a label names for these bytes, and the length in bytes of its byte
/// order mark at their beginning.
pub(crate) fn encoding_by_label(bytes: &[u8], label: &str) -> Result<(Encoding, usize)> {
    let named = Encoding::for_label(label)?;
    let marked = encoding_from_bom(bytes);
    let encoding = match marked {
        // For the label "utf-16", the mark decides the byte order.
        Some(marked) if label.eq_ignore_ascii_case("utf-16") => marked,
        _ => named,
    };
    Ok((encoding, if marked == Some(encoding) { encoding.mark().len() } else { 0 }))
}

/// Encodes a whole file, with a byte order mark in front if `bom`.
///
/// # Errors
/// `INVALID_ARGUMENT` for an unknown label, or a mark in an encoding that has none;
/// `ENCODING_ERROR` for the first character that the encoding lacks.
pub fn encode_text(text: &str, label: &str, bom: bool) -> Result<Vec<u8>> {
    let encoding = Encoding::for_label(label)?;
    if !bom {
        return encoding.encode(text);
    }
    if encoding.mark().is_empty() {
        return Err(Error::new(
            Code::InvalidArgument,
            format!("the encoding {} has no byte order mark", encoding.name()),
        ));
    }
    Ok([encoding.mark(), &encoding.encode(text)?].concat())
}

fn utf8_first_chars_len(bytes: &[u8], chars: usize) -> usize {
    let (mut at, mut left) = (0, chars);
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        let cut = crate::text::prefix_of_chars(valid, left);
        at += cut.len();
        left -= crate::text::count_chars(cut);
        if left == 0 {
            break;
        }
        if !chunk.invalid().is_empty() {
            at += chunk.invalid().len();
            left -= 1;
        }
        if left == 0 {
            break;
        }
    }
    at
}

/// Returns the legacy encoding for a label; `plain` is the label in lower case without separators.
fn legacy_for_label(label: &str, plain: &str) -> Option<Encoding> {
    let alias = match plain {
        "cp932" | "ms932" | "shiftjis" | "shiftjisx0213" => "shift_jis",
        "cp936" | "ms936" => "gbk",
        "cp949" | "ms949" | "uhc" | "euckr" => "euc-kr",
        "cp950" | "ms950" => "big5",
        "eucjp" | "ujis" => "euc-jp",
        "koi8r" => "koi8-r",
        "koi8u" => "koi8-u",
        "macroman" => "macintosh",
        "iso2022jp" => "iso-2022-jp",
        _ => label,
    };
    tables::find_by_label(alias).or_else(|| tables::find_by_label(&alias.replace('_', "-")))
}

#[cfg(test)]
mod tests;
