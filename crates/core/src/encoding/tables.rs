//! Legacy encodings with the tables of `encoding_rs`, and detection with the statistics of
//! `chardetng`.
//!
//! `platform.rs` replaces this file where the host decodes.

use std::borrow::Cow;

use super::Encoding;

/// A legacy encoding, by its table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct LegacyTable(&'static encoding_rs::Encoding);

/// Returns the encoding for a WHATWG label.
pub(super) fn find_by_label(label: &str) -> Option<Encoding> {
    encoding_rs::Encoding::for_label_no_replacement(label.as_bytes()).map(encoding_from_table)
}

/// Returns the encoding for a table; encodings implemented in this crate are never tables.
fn encoding_from_table(table: &'static encoding_rs::Encoding) -> Encoding {
    match table {
        t if t == encoding_rs::UTF_8 => Encoding::UTF_8,
        t if t == encoding_rs::UTF_16LE => Encoding::UTF_16LE,
        t if t == encoding_rs::UTF_16BE => Encoding::UTF_16BE,
        t if t == encoding_rs::WINDOWS_1252 => Encoding::WINDOWS_1252,
        t => Encoding(super::EncodingKind::Legacy(LegacyTable(t))),
    }
}

/// Returns the encoding of a Japanese, Chinese or Korean text if it is certain. `bytes` must begin
/// with a non-ASCII character.
pub(super) fn detect_certain_cjk(bytes: &[u8]) -> Option<LegacyTable> {
    super::cjk::detect_certain_cjk(bytes).map(LegacyTable)
}

/// The number of non-ASCII bytes in the first part of a sample, after which two equal guesses in a
/// row are accepted.
const MIN_NON_ASCII_BYTES: usize = 20;

/// Guesses the encoding of a sample of words by letter statistics. The statistics cost 0.2 µs per
/// byte, so they read twice as much each time until two guesses agree.
pub(super) fn guess_encoding(sample: &[u8]) -> Encoding {
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    let mut before = None;
    let (mut fed, mut enough) = (0, MIN_NON_ASCII_BYTES);
    loop {
        let end = fed + prefix_len_with_non_ascii(&sample[fed..], enough);
        detector.feed(&sample[fed..end], false);
        let found = detector.guess(None, chardetng::Utf8Detection::Deny);
        if end == sample.len() || before == Some(found) {
            // GB18030 contains all of GBK, so it decodes the text too.
            return encoding_from_table(if found == encoding_rs::GBK {
                encoding_rs::GB18030
            } else {
                found
            });
        }
        if before.is_some() {
            enough *= 2;
        }
        before = Some(found);
        fed = end;
    }
}

/// Returns the length in bytes of the prefix that contains `high` non-ASCII bytes.
fn prefix_len_with_non_ascii(sample: &[u8], high: usize) -> usize {
    let mut places = sample.iter().enumerate().filter(|(_, byte)| !byte.is_ascii());
    places.nth(high).map_or(sample.len(), |(at, _)| at)
}

impl LegacyTable {
    pub(super) const ISO_2022_JP: Self = Self(encoding_rs::ISO_2022_JP);

    /// Returns the name in lower case.
    pub(super) fn name(self) -> Cow<'static, str> {
        Cow::Owned(self.0.name().to_ascii_lowercase())
    }

    pub(super) fn is_single_byte(self) -> bool {
        self.0.is_single_byte()
    }

    /// Returns the text, with U+FFFD for invalid bytes, and whether there were any.
    pub(super) fn decode(self, bytes: &[u8]) -> (Cow<'_, str>, bool) {
        self.0.decode_without_bom_handling(bytes)
    }

    /// Returns true if all bytes are valid; unless `complete`, a character may be cut off at their
    /// end.
    pub(super) fn fits(self, bytes: &[u8], complete: bool) -> bool {
        if self.is_single_byte() {
            // In a single-byte encoding each byte value is valid or not, so each is checked once.
            let mut there = [false; 256];
            for &byte in bytes {
                there[usize::from(byte)] = true;
            }
            let different: Vec<u8> =
                (0x80..=0xff).filter(|&byte| there[usize::from(byte)]).collect();
            return !self.0.decode_without_bom_handling(&different).1;
        }
        let mut decoder = self.0.new_decoder_without_bom_handling();
        // Decoding to UTF-16 is faster than to UTF-8, and the output is discarded.
        let mut out = [0; 512];
        let mut at = 0;
        loop {
            let (result, read, _) =
                decoder.decode_to_utf16_without_replacement(&bytes[at..], &mut out, complete);
            at += read;
            match result {
                encoding_rs::DecoderResult::InputEmpty => return true,
                encoding_rs::DecoderResult::OutputFull => {}
                encoding_rs::DecoderResult::Malformed(..) => return false,
            }
        }
    }

    /// Encodes a text, or returns the offset, in bytes of UTF-8, of the first character that the
    /// encoding does not have.
    pub(super) fn encode(self, text: &str) -> Result<Vec<u8>, usize> {
        use encoding_rs::EncoderResult;
        let mut encoder = self.0.new_encoder();
        let mut out = Vec::with_capacity(text.len() + 16);
        let mut at = 0;
        loop {
            let (result, read) =
                encoder.encode_from_utf8_to_vec_without_replacement(&text[at..], &mut out, true);
            at += read;
            match result {
                EncoderResult::InputEmpty => return Ok(out),
                EncoderResult::OutputFull => out.reserve(64 + (text.len() - at) * 2),
                EncoderResult::Unmappable(c) => return Err(at - c.len_utf8().min(at)),
            }
        }
    }

    /// Returns for each decoding step the number of bytes read and of bytes of UTF-8 produced.
    /// Decodes one byte at a time: a character is complete when the decoder emits it.
    pub(super) fn spans(self, bytes: &[u8]) -> impl Iterator<Item = (usize, usize)> {
        let mut decoder = self.0.new_decoder_without_bom_handling();
        let mut fed = 0;
        let mut taken = 0;
        std::iter::from_fn(move || {
            let mut out = [0; 32];
            while taken < bytes.len() {
                let (input, last) =
                    (bytes.get(fed..fed + 1).unwrap_or_default(), fed >= bytes.len());
                let (_, _, written, _) = decoder.decode_to_utf8(input, &mut out, last);
                fed += input.len();
                if written > 0 || last {
                    let span = (fed - taken, written);
                    taken = fed;
                    return Some(span);
                }
            }
            None
        })
    }

    /// Returns the length in bytes of the first `chars` code points; all bytes if there are fewer.
    pub(super) fn first_chars_len(self, bytes: &[u8], chars: usize) -> usize {
        let mut decoder = self.0.new_decoder_without_bom_handling();
        let mut out = [0; 32];
        let mut seen = 0;
        for (at, byte) in bytes.iter().enumerate() {
            let (_, _, written, _) =
                decoder.decode_to_utf8(std::slice::from_ref(byte), &mut out, false);
            seen += out[..written].iter().filter(|&&byte| (byte as i8) >= -0x40).count();
            if seen >= chars {
                return at + 1;
            }
        }
        bytes.len()
    }
}
