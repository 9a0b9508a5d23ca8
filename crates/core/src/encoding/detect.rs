//! Detects the encoding of bytes.
//!
//! The order of checks matters: a byte order mark; escape sequences, because ISO-2022-JP is valid
//! ASCII; UTF-8, because random legacy text is never valid by chance, except UTF-16 of some
//! alphabets, which is ASCII and controls; UTF-16 without a mark, by the scripts of its units;
//! UTF-8 with a few invalid bytes; and last a guess among the legacy encodings by letter
//! statistics.

use super::tables::{self, LegacyTable};
use super::utf16::{self, Endian};
use super::{Encoding, EncodingKind};

/// The result of [`detect`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodingDetection {
    /// The detected encoding.
    pub encoding: Encoding,
    /// The length of the byte order mark in bytes; 0 without a mark.
    pub bom: usize,
    /// True if the encoding is a guess by letter statistics and does not follow from the structure
    /// of the bytes.
    pub guessed: bool,
    /// True if some bytes are invalid in the encoding.
    pub lossy: bool,
}

/// Returns the Unicode encoding whose byte order mark the bytes begin with.
pub fn encoding_from_bom(bytes: &[u8]) -> Option<Encoding> {
    match bytes {
        // `FF FE 00 00` is the mark of UTF-32, which is not supported. UTF-16 that begins with NUL
        // has the same bytes, but is no text.
        [0xff, 0xfe, 0, 0, ..] => None,
        [0xff, 0xfe, ..] => Some(Encoding::UTF_16LE),
        [0xfe, 0xff, ..] => Some(Encoding::UTF_16BE),
        [0xef, 0xbb, 0xbf, ..] => Some(Encoding::UTF_8),
        _ => None,
    }
}

/// Returns the most likely encoding. `complete` says that the bytes are the whole file; otherwise a
/// character that is cut off at their end counts as valid.
///
/// Always returns an encoding, for binary content too: [`crate::sniff`] decides whether the bytes
/// are text.
pub fn detect(bytes: &[u8], complete: bool) -> EncodingDetection {
    if let Some(encoding) = encoding_from_bom(bytes) {
        let body = &bytes[encoding.mark().len()..];
        let lossy = encoding == Encoding::UTF_8 && !is_utf8(body, complete);
        return EncodingDetection { encoding, bom: encoding.mark().len(), guessed: false, lossy };
    }
    let plain = |encoding| EncodingDetection { encoding, bom: 0, guessed: false, lossy: false };
    let ByteClasses { odd, escape, ascii } = classify_bytes(bytes);
    if escape && ascii == bytes.len() && is_iso_2022_jp(bytes) {
        return plain(Encoding(EncodingKind::Legacy(LegacyTable::ISO_2022_JP)));
    }
    let valid = is_utf8(&bytes[ascii..], complete);
    if valid && !odd {
        return plain(Encoding::UTF_8);
    }
    // A space or a line feed in UTF-16 contains a NUL, and Chinese and Japanese full stops another
    // control character: without any of them the bytes are not UTF-16.
    if odd && let Some(endian) = utf16_without_bom(bytes, complete) {
        return plain(Encoding(EncodingKind::Utf16(endian)));
    }
    if valid {
        return plain(Encoding::UTF_8);
    }
    if is_nearly_utf8(bytes) {
        return EncodingDetection { lossy: true, ..plain(Encoding::UTF_8) };
    }
    guess_legacy(bytes, complete)
}

/// Properties of the bytes, collected in a single pass, because reading a large text from memory is
/// slow.
struct ByteClasses {
    /// True if there is a control character that text does not contain ([`is_odd_control`]).
    odd: bool,
    /// True if there is an escape character (`1B`).
    escape: bool,
    /// A lower bound of the length of the ASCII prefix in bytes; exact if all bytes are ASCII.
    ascii: usize,
}

fn classify_bytes(bytes: &[u8]) -> ByteClasses {
    const ODD: u8 = 1;
    const ESCAPE: u8 = 2;
    const HIGH: u8 = 0x80;
    const CHUNK_BYTES: usize = 512;
    // The tests have no branches, so that many bytes are tested at once. Most chunks have only
    // plain bytes, which are cheaper to test for.
    let plain = |byte: u8| (byte as i8 >= 0x20) | matches!(byte, b'\t'..=b'\r');
    let mark = |byte: u8| {
        let escape = if byte == 0x1b { ESCAPE } else { 0 };
        let odd = if is_odd_control(byte) { ODD } else { 0 };
        (byte & HIGH) | escape | odd
    };
    let (mut marks, mut ascii) = (0, 0);
    for chunk in bytes.chunks(CHUNK_BYTES) {
        if !chunk.iter().fold(true, |all, &byte| all & plain(byte)) {
            marks |= chunk.iter().fold(0, |all, &byte| all | mark(byte));
        }
        if marks & HIGH == 0 {
            ascii += chunk.len();
        }
    }
    ByteClasses { odd: marks & ODD != 0, escape: marks & ESCAPE != 0, ascii }
}

/// Returns true if the bytes are valid UTF-8; unless `complete`, a character may be cut off at
/// their end.
fn is_utf8(bytes: &[u8], complete: bool) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => !complete && error.error_len().is_none(),
    }
}

/// Returns true if the bytes have so many valid characters of several bytes that they must be UTF-8
/// with some errors.
pub(crate) fn is_nearly_utf8(bytes: &[u8]) -> bool {
    // Each continuation byte of a valid character scores one point. Legacy text of any language
    // scores far less than two points per error by chance.
    let (mut points, mut faults) = (0usize, 0usize);
    for chunk in bytes.utf8_chunks() {
        points += chunk.valid().bytes().filter(|&byte| (byte as i8) < -0x40).count();
        faults += usize::from(!chunk.invalid().is_empty());
        if faults >= 64 && points < faults {
            return false; // legacy text, detected early: nearly every chunk is an error there
        }
    }
    points >= 2 * faults
}

/// Returns true if a byte is a control character that text does not contain ([`is_odd_control`]).
pub(crate) fn has_odd_controls(bytes: &[u8]) -> bool {
    let odd = |chunk: &[u8]| chunk.iter().fold(false, |any, &byte| any | is_odd_control(byte));
    bytes.chunks(512).any(odd)
}

/// Returns true for a control character other than tab, line endings, form feed, bell, backspace
/// and escape, which occur in logs and old sources. Free of branches, so that the compiler can test
/// many bytes at once.
pub(crate) const fn is_odd_control(byte: u8) -> bool {
    (byte < 0x20) & !((byte >= 0x07) & (byte <= 0x0d)) & (byte != 0x1b)
}

/// Returns true if bytes that are all ASCII are valid ISO-2022-JP with one of its escape sequences.
fn is_iso_2022_jp(bytes: &[u8]) -> bool {
    let escape = |at: usize| {
        matches!(bytes[at..], [0x1b, b'$', b'B' | b'@', ..] | [0x1b, b'(', b'J' | b'I', ..])
    };
    memchr::memchr_iter(0x1b, bytes).any(escape) && LegacyTable::ISO_2022_JP.fits(bytes, true)
}

/// The maximum number of bytes that [`utf16_without_bom`] inspects, from the beginning.
const MAX_UTF16_SAMPLE_BYTES: usize = 512;

/// Returns the byte order under which the bytes are UTF-16 text: nearly every unit is a character
/// of a script in use, and some are spaces, line endings or full stops.
pub(crate) fn utf16_without_bom(bytes: &[u8], complete: bool) -> Option<Endian> {
    if bytes.len() < 4 || (complete && bytes.len() % 2 == 1) {
        return None;
    }
    let sample = &bytes[..bytes.len().min(MAX_UTF16_SAMPLE_BYTES) & !1];
    let score = |endian| utf16_score(sample, endian).map(|score| (score, endian));
    let best = [Endian::Little, Endian::Big].into_iter().filter_map(score);
    best.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, endian)| endian)
}

/// Returns how likely the bytes are text in this byte order, or `None` if they are not text.
/// Comparable between the two byte orders only.
fn utf16_score(sample: &[u8], endian: Endian) -> Option<f64> {
    let (mut good, mut rare, mut bad, mut breaks) = (0u32, 0u32, 0u32, 0u32);
    let mut high = false;
    let units = (sample.len() / 2) as u32;
    for unit in utf16::utf16_units(sample, endian) {
        let paired = high && (0xdc00..=0xdfff).contains(&unit);
        if high && !paired {
            return None;
        }
        high = (0xd800..=0xdbff).contains(&unit);
        match unit {
            0x4e00..=0x9fff | 0xac00..=0xd7a3 => good += 1,
            0x09 | 0x0a | 0x0d | 0x20 | 0x3000..=0x3002 | 0xff0c => {
                breaks += 1;
                good += 1;
            }
            0x21..=0x7e
            | 0xa0..=0x17f
            | 0x391..=0x3c9
            | 0x401..=0x45f
            | 0x5d0..=0x5ea
            | 0x621..=0x652
            | 0x904..=0x939
            | 0xe01..=0xe5b
            | 0x2010..=0x2026
            | 0x3003..=0x30ff
            | 0xff01..=0xff5e => good += 1,
            // Rare characters: many of them show that the byte order is wrong.
            0x180..=0x36f
            | 0x370..=0x3ff
            | 0x400..=0x52f
            | 0x531..=0x6ff
            | 0x900..=0xdff
            | 0x10a0..=0x11ff
            | 0x1e00..=0x206f
            | 0x20a0..=0x27bf
            | 0x3100..=0x4dbf
            | 0xf900..=0xfaff
            | 0xfe30..=0xfe4f
            | 0xff5f..=0xffee
            | 0xfeff
            | 0xd800..=0xdbff => {
                rare += 1;
            }
            0xdc00..=0xdfff if paired => good += 1,
            0xdc00..=0xdfff => return None,
            _ => bad += 1,
        }
        // More than one unit in a hundred without a character means that the bytes are not text.
        if bad * 100 > units {
            return None;
        }
    }
    let total = f64::from(units);
    // In the wrong byte order, letters are ideographs and spaces are `U+2000`. The right order has
    // the breaks and more of the common letters.
    let score = (f64::from(good) - 20.0 * f64::from(bad) - 2.0 * f64::from(rare)) / total;
    let enough_breaks = breaks > 0 && f64::from(breaks) * 60.0 >= total;
    (score > 0.8 && enough_breaks).then_some(score + f64::from(breaks) / total)
}

/// The maximum number of bytes that letter statistics inspect.
const MAX_LEGACY_SAMPLE_BYTES: usize = 1536;
/// The maximum number of ASCII bytes of a word that are kept before, between and after its
/// non-ASCII bytes.
const MAX_ADJACENT_ASCII_BYTES: usize = 16;
/// The number of repeated words after which the sample ends, because the rest is assumed to be
/// similar.
const MAX_REPEATED_WORDS: u32 = 64;

/// Guesses the encoding of bytes that are neither UTF-8 nor UTF-16.
fn guess_legacy(bytes: &[u8], complete: bool) -> EncodingDetection {
    let guess = |encoding| EncodingDetection { encoding, bom: 0, guessed: true, lossy: false };
    let first = first_non_ascii(bytes).unwrap_or(0);
    if let Some(table) = tables::detect_certain_cjk(&bytes[first..])
        && table.fits(bytes, complete)
    {
        return guess(Encoding(EncodingKind::Legacy(table)));
    }
    let encoding = tables::guess_encoding(&words_with_non_ascii(bytes));
    match encoding.0 {
        // Every byte is a valid character in the fallback encoding.
        EncodingKind::Legacy(table) if !table.fits(bytes, complete) => {
            guess(Encoding::WINDOWS_1252)
        }
        _ => guess(encoding),
    }
}

/// Returns the first words that contain a non-ASCII byte, each followed by a space. The statistics
/// use nothing else, and it is a fifth of a text in a Latin alphabet. A word that was seen recently
/// is left out. The space cannot be mistaken, because it is never the second byte of a character.
fn words_with_non_ascii(bytes: &[u8]) -> Vec<u8> {
    let mut sample = Vec::with_capacity(bytes.len().min(MAX_LEGACY_SAMPLE_BYTES) + 1);
    let mut seen = [0u64; 256];
    let (mut at, mut again) = (0, 0);
    while let Some(ahead) = first_non_ascii(&bytes[at..]) {
        let first = at + ahead;
        let begin = bytes[at..first].iter().rposition(|&byte| byte <= b' ');
        let begin = begin
            .map_or(at, |blank| at + blank + 1)
            .max(first.saturating_sub(MAX_ADJACENT_ASCII_BYTES));
        let (mut end, mut last) = (first + 1, first);
        while end < bytes.len() && bytes[end] > b' ' && end - last <= MAX_ADJACENT_ASCII_BYTES {
            if !bytes[end].is_ascii() {
                last = end;
            }
            end += 1;
        }
        at = end;
        let word = &bytes[begin..end];
        let hash = word_hash(word);
        let place = &mut seen[(hash >> 56) as usize];
        if std::mem::replace(place, hash) == hash {
            again += 1;
            if again == MAX_REPEATED_WORDS {
                break;
            }
            continue;
        }
        let room = MAX_LEGACY_SAMPLE_BYTES - sample.len();
        sample.extend_from_slice(&word[..word.len().min(room)]);
        if sample.len() == MAX_LEGACY_SAMPLE_BYTES {
            break;
        }
        sample.push(b' ');
    }
    sample.truncate(MAX_LEGACY_SAMPLE_BYTES);
    sample
}

/// Returns a hash of a word, to recognise words that were seen recently. Takes eight bytes per step,
/// because a line without spaces is one word.
fn word_hash(word: &[u8]) -> u64 {
    // The multiplier is 2^64 divided by the golden ratio.
    let mix = |hash: u64, bytes: u64| (hash ^ bytes).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let step = |hash: u64, bytes: u64| mix(hash.rotate_left(26), bytes);
    let (steps, rest) = word.as_chunks();
    let hash = steps.iter().fold(1, |hash, bytes| step(hash, u64::from_le_bytes(*bytes)));
    step(hash, rest.iter().fold(1, |all, &byte| all << 8 | u64::from(byte)))
}

/// Returns the index of the first non-ASCII byte, skipping whole blocks of ASCII.
fn first_non_ascii(bytes: &[u8]) -> Option<usize> {
    const SIMD_BLOCK_BYTES: usize = 32;
    let blocks = bytes.chunks_exact(SIMD_BLOCK_BYTES);
    let plain = blocks.take_while(|block| block.is_ascii()).count() * SIMD_BLOCK_BYTES;
    bytes[plain..].iter().position(|byte| !byte.is_ascii()).map(|at| plain + at)
}
