//! Legacy encodings that the host decodes, as a browser does with `TextDecoder`. Tables in the
//! WebAssembly module would add half a megabyte to every download.
//!
//! The host registers its functions once with [`use_platform`]. Without them the legacy encodings
//! are unknown, and windows-1252 is the fallback.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::heuristics;
use super::{Encoding, EncodingKind};

pub use super::host::Platform;

/// The functions that the host registered.
static REGISTERED_PLATFORM: OnceLock<Platform> = OnceLock::new();

/// Registers the host's functions; later calls have no effect.
pub fn use_platform(platform: Platform) {
    let _ = REGISTERED_PLATFORM.set(platform);
}

/// All encodings that a host may know besides those implemented here.
const ENCODING_NAMES: [&str; 34] = [
    "iso-2022-jp",
    "shift_jis",
    "euc-jp",
    "gb18030",
    "gbk",
    "big5",
    "euc-kr",
    // The following encodings are single-byte.
    "ibm866",
    "iso-8859-2",
    "iso-8859-3",
    "iso-8859-4",
    "iso-8859-5",
    "iso-8859-6",
    "iso-8859-7",
    "iso-8859-8",
    "iso-8859-8-i",
    "iso-8859-10",
    "iso-8859-13",
    "iso-8859-14",
    "iso-8859-15",
    "iso-8859-16",
    "koi8-r",
    "koi8-u",
    "macintosh",
    "windows-874",
    "windows-1250",
    "windows-1251",
    "windows-1253",
    "windows-1254",
    "windows-1255",
    "windows-1256",
    "windows-1257",
    "windows-1258",
    "x-mac-cyrillic",
];
/// The index of the first single-byte encoding in [`ENCODING_NAMES`].
const FIRST_SINGLE_BYTE_INDEX: u8 = 7;

/// One of the legacy encodings: its index in [`ENCODING_NAMES`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct LegacyTable(u8);

/// Returns the encoding for a WHATWG label.
pub(super) fn find_by_label(label: &str) -> Option<Encoding> {
    encoding_by_name(&(REGISTERED_PLATFORM.get()?.find)(label)?)
}

fn encoding_by_name(name: &str) -> Option<Encoding> {
    match name {
        "utf-8" => Some(Encoding::UTF_8),
        "utf-16le" => Some(Encoding::UTF_16LE),
        "utf-16be" => Some(Encoding::UTF_16BE),
        "windows-1252" => Some(Encoding::WINDOWS_1252),
        _ => {
            let at = ENCODING_NAMES.iter().position(|&known| known == name)?;
            Some(Encoding(EncodingKind::Legacy(LegacyTable(at as u8))))
        }
    }
}

/// Returns `None`: [`guess_encoding`] decides alone, because it has few candidates.
pub(super) fn detect_certain_cjk(_: &[u8]) -> Option<LegacyTable> {
    None
}

/// Returns the most likely encoding of a sample of words with non-ASCII bytes.
pub(super) fn guess_encoding(sample: &[u8]) -> Encoding {
    let name =
        REGISTERED_PLATFORM.get().map(|platform| heuristics::guess_encoding(platform, sample));
    name.and_then(encoding_by_name).unwrap_or(Encoding::WINDOWS_1252)
}

impl LegacyTable {
    pub(super) const ISO_2022_JP: Self = Self(0);

    fn label(self) -> &'static str {
        ENCODING_NAMES[usize::from(self.0)]
    }

    /// Returns the name in lower case.
    pub(super) fn name(self) -> Cow<'static, str> {
        Cow::Borrowed(self.label())
    }

    pub(super) fn is_single_byte(self) -> bool {
        self.0 >= FIRST_SINGLE_BYTE_INDEX
    }

    /// Returns the text, with U+FFFD for invalid bytes, and whether there were any.
    pub(super) fn decode(self, bytes: &[u8]) -> (Cow<'_, str>, bool) {
        if self != Self::ISO_2022_JP
            && bytes.is_ascii()
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            return (Cow::Borrowed(text), false);
        }
        let text = REGISTERED_PLATFORM.get().map(|platform| (platform.decode)(self.label(), bytes));
        let text = text.unwrap_or_default();
        let lossy = text.contains(char::REPLACEMENT_CHARACTER);
        (Cow::Owned(text), lossy)
    }

    /// Returns true if all bytes are valid; unless `complete`, a character may be cut off at their
    /// end.
    pub(super) fn fits(self, bytes: &[u8], complete: bool) -> bool {
        REGISTERED_PLATFORM
            .get()
            .is_some_and(|platform| (platform.fits)(self.label(), bytes, complete))
    }

    /// Encodes, or returns the offset, in bytes of UTF-8, of the first character that the encoding
    /// does not have.
    pub(super) fn encode(self, text: &str) -> Result<Vec<u8>, usize> {
        if self != Self::ISO_2022_JP && text.is_ascii() {
            return Ok(text.as_bytes().to_vec());
        }
        REGISTERED_PLATFORM.get().map_or(Err(0), |platform| (platform.encode)(self.label(), text))
    }

    /// Returns for each decoding step the number of bytes read and of bytes of UTF-8 produced.
    pub(super) fn spans(self, bytes: &[u8]) -> impl Iterator<Item = (usize, usize)> {
        let spans = REGISTERED_PLATFORM.get().map(|platform| (platform.spans)(self.label(), bytes));
        let spans = spans.unwrap_or_default();
        (0..spans.len() / 2).map(move |at| (spans[2 * at] as usize, spans[2 * at + 1] as usize))
    }

    /// Returns the length in bytes of the first `chars` code points; all bytes if there are fewer.
    pub(super) fn first_chars_len(self, bytes: &[u8], chars: usize) -> usize {
        let found = REGISTERED_PLATFORM
            .get()
            .map(|platform| (platform.first_chars_len)(self.label(), bytes, chars));
        found.unwrap_or(0).min(bytes.len())
    }
}
