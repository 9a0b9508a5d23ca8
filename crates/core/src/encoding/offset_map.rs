//! Maps offsets in a decoded text to offsets in the bytes that it was decoded from.
//!
//! An edit must not encode the whole text again: two codes may stand for one character, and invalid
//! bytes would be lost. So it maps each changed range to bytes and writes only there.

use std::ops::Range;

use super::{Encoding, EncodingKind, utf16};

impl Encoding {
    /// Returns the offset in `bytes` for each of `cuts`, ascending byte offsets in `text`, which
    /// was decoded from `bytes`. Returns `None` if a cut lies inside the text that one code decodes
    /// to.
    pub(crate) fn byte_offsets(
        self,
        bytes: &[u8],
        text: &str,
        cuts: &[usize],
    ) -> Option<Vec<usize>> {
        match self.0 {
            EncodingKind::Utf8 if text.as_bytes() == bytes => Some(cuts.to_vec()),
            EncodingKind::Utf8 => {
                // Decoding replaced each invalid sequence by one U+FFFD, which has three bytes.
                let spans = bytes.utf8_chunks().flat_map(|chunk| {
                    let bad = chunk.invalid().len();
                    let valid = chunk.valid().chars().map(|c| (c.len_utf8(), c.len_utf8()));
                    valid.chain((bad > 0).then_some((bad, 3)))
                });
                map_by_spans(spans, cuts)
            }
            EncodingKind::Utf16(endian) => {
                let units = utf16::utf16_units(bytes, endian);
                let spans = char::decode_utf16(units)
                    .map(|c| c.map_or((2, 3), |c| (2 * c.len_utf16(), c.len_utf8())));
                map_by_spans(spans.chain((bytes.len() % 2 == 1).then_some((1, 3))), cuts)
            }
            EncodingKind::Windows1252 => {
                map_by_spans(text.chars().map(|c| (1, c.len_utf8())), cuts)
            }
            EncodingKind::Legacy(table) if table.is_single_byte() => {
                map_by_spans(text.chars().map(|c| (1, c.len_utf8())), cuts)
            }
            EncodingKind::Legacy(table) if self.is_stateful() => {
                map_by_spans(table.spans(bytes), cuts)
            }
            EncodingKind::Legacy(table) => {
                // Decodes line by line, and maps byte by byte only in a line that contains a cut.
                let mut offsets = Vec::with_capacity(cuts.len());
                let mut cuts = cuts.iter().copied().peekable();
                let mut begin = 0;
                for line in crate::text::lines(bytes) {
                    let raw = &bytes[line.start..line.start + line.text.len() + line.end.len()];
                    let (text, _) = table.decode(raw);
                    let inside = std::iter::from_fn(|| {
                        cuts.next_if(|&cut| cut < begin + text.len()).map(|cut| cut - begin)
                    });
                    let inside: Vec<usize> = inside.collect();
                    if !inside.is_empty() {
                        let found = map_by_spans(table.spans(raw), &inside)?;
                        offsets.extend(found.into_iter().map(|offset| line.start + offset));
                    }
                    begin += text.len();
                }
                offsets.extend(cuts.filter(|&cut| cut == begin).map(|_| bytes.len()));
                Some(offsets)
            }
        }
    }
}

/// Maps the cuts by spans, each the length in bytes of the file and in bytes of UTF-8 of one
/// decoding step.
fn map_by_spans(
    mut spans: impl Iterator<Item = (usize, usize)>,
    cuts: &[usize],
) -> Option<Vec<usize>> {
    let (mut raw, mut at) = (0, 0);
    cuts.iter()
        .map(|&cut| {
            while at < cut {
                let (bytes, utf8) = spans.next()?;
                raw += bytes;
                at += utf8;
            }
            (at == cut).then_some(raw)
        })
        .collect()
}

/// Returns the part of a replacement that differs from the old text, cut at character boundaries.
/// The rest need not be written, and writing it could change its bytes.
pub(crate) fn trim_unchanged_ends<'a>(
    text: &[u8],
    range: Range<usize>,
    with: &'a [u8],
) -> (Range<usize>, &'a [u8]) {
    let old = &text[range.clone()];
    let begins = |bytes: &[u8], at: usize| bytes.get(at).is_none_or(|&b| (b as i8) >= -0x40);
    let mut head = old.iter().zip(with).take_while(|(a, b)| a == b).count();
    while !(begins(old, head) && begins(with, head)) {
        head -= 1;
    }
    let (old, with) = (&old[head..], &with[head..]);
    let mut tail = old.iter().rev().zip(with.iter().rev()).take_while(|(a, b)| a == b).count();
    while !(begins(old, old.len() - tail) && begins(with, with.len() - tail)) {
        tail -= 1;
    }
    (range.start + head..range.end - tail, &with[..with.len() - tail])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn replacements_are_trimmed_between_characters() {
        let trimmed = |text: &str, with: &'static str| {
            let (range, with) =
                trim_unchanged_ends(text.as_bytes(), 0..text.len(), with.as_bytes());
            (range, std::str::from_utf8(with).unwrap())
        };
        assert_eq!(trimmed("a b c", "a x c"), (2..3, "x"));
        assert_eq!(trimmed("aa", "a"), (1..2, ""));
        assert_eq!(trimmed("same", "same"), (4..4, ""));
        // U+00E9 and U+00E8 share their first byte, U+00E9 and U+0129 the last.
        assert_eq!(trimmed("x\u{e9}", "x\u{e8}"), (1..3, "\u{e8}"));
        assert_eq!(trimmed("\u{e9}x", "\u{129}x"), (0..2, "\u{129}"));
    }

    proptest! {
        #[test]
        fn pieces_between_cuts_decode_to_pieces_of_the_text(
            bytes in proptest::collection::vec(prop_oneof![1 => Just(b'\n'), 9 => any::<u8>()], 0..60),
            name in prop_oneof![Just("utf-8"), Just("utf-16le"), Just("utf-16be"), Just("latin1"), Just("koi8-r"),
                Just("shift_jis"), Just("euc-jp"), Just("gb18030"), Just("big5"), Just("euc-kr")],
            at in any::<(prop::sample::Index, prop::sample::Index)>(),
        ) {
            let encoding = Encoding::for_label(name).unwrap();
            let text = encoding.decode(&bytes).text;
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let (a, b) = (places[at.0.index(places.len())], places[at.1.index(places.len())]);
            let cuts = [0, a.min(b), a.max(b), text.len()];
            if let Some(offsets) = encoding.byte_offsets(&bytes, &text, &cuts) {
                prop_assert_eq!((offsets[0], offsets[3]), (0, bytes.len()));
                prop_assert!(offsets.is_sorted());
                if encoding.is_exact(&bytes) {
                    let part = encoding.decode(&bytes[offsets[1]..offsets[2]]).text;
                    prop_assert_eq!(&*part, &text[cuts[1]..cuts[2]]);
                }
            }
        }
    }
}
