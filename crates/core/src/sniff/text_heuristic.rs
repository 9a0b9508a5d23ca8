//! Decides whether bytes without a known signature are text.
//!
//! UTF-8 without NULs is text, and so is everything with a byte order mark or the structure of
//! UTF-16. The rest is legacy text or binary data. Text in a legacy encoding has hardly any control
//! characters, and either spaces between words or the common characters of an East Asian encoding.

use crate::encoding;

/// The number of bytes that are inspected to distinguish legacy text from data.
const MAX_INSPECTED_BYTES: usize = 512;

/// Returns true if the sample is text. `complete` says that it is the whole file.
pub(super) fn is_text(sample: &[u8], complete: bool) -> bool {
    if encoding::encoding_from_bom(sample).is_some() {
        return true;
    }
    let odd = encoding::has_odd_controls(sample);
    if odd {
        if encoding::utf16_without_bom(sample, complete).is_some() {
            return true;
        }
        // As for diff(1), a NUL early in a file makes it binary.
        if memchr::memchr(0, sample).is_some() {
            return false;
        }
    }
    let head = &sample[..sample.len().min(2 * MAX_INSPECTED_BYTES)];
    let complete = complete && head.len() == sample.len();
    match std::str::from_utf8(head) {
        Ok(_) if !odd => return true,
        Ok(_) => {
            let odd = sample.iter().filter(|&&byte| encoding::is_odd_control(byte)).count();
            // Old printer files and terminal dumps contain some controls; data contains many.
            return odd * 10 <= sample.len();
        }
        Err(error) if !complete && error.error_len().is_none() => return true,
        Err(_) => {}
    }
    // Starts at the line with the first non-ASCII byte, which says most about the encoding.
    let first = sample.iter().position(|byte| !byte.is_ascii()).unwrap_or(0);
    let rest = &sample[crate::text::line_begin(sample, first)..];
    let sample = &rest[..rest.len().min(MAX_INSPECTED_BYTES)];
    let mut counts = [0u32; 256];
    for &byte in sample {
        counts[usize::from(byte)] += 1;
    }
    let sum = |from: usize, to: usize| counts[from..=to].iter().sum::<u32>();
    let total = sample.len() as u32;
    let odd: u32 = (0..0x20)
        .filter(|&byte| encoding::is_odd_control(byte))
        .map(|byte| counts[usize::from(byte)])
        .sum();
    if odd * 200 > total {
        return false;
    }
    let high = sum(0x80, 0xff);
    let blanks = counts[0x20] + counts[0x0a] + counts[0x09] + counts[0x0d];
    // Text in an alphabet is mostly ASCII words with some other letters; a single word may have
    // many.
    if high * 10 <= total * 3
        || (odd == 0 && high * 2 <= total)
        || (blanks * 40 >= total && sum(0x20, 0x7e) * 12 >= total)
    {
        return true;
    }
    is_east_asian(sample) || is_thai(sample) || encoding::is_nearly_utf8(sample)
}

/// Returns true if all non-ASCII bytes are Thai letters (TIS-620, windows-874), with vowel signs
/// and tone marks only after letters, and there are as many of these as in Thai text. Thai has no
/// spaces between words.
fn is_thai(sample: &[u8]) -> bool {
    let (mut before, mut marks) = (b' ', 0u32);
    for &byte in sample {
        let mark = matches!(byte, 0xd1 | 0xd4..=0xda | 0xe7..=0xee);
        // The signs of windows-874 besides the letters: euro, dots, quotes, dashes, no-break space.
        let known = matches!(byte, 0..=0x80 | 0x85 | 0x91..=0x97 | 0xa0..=0xda | 0xdf..=0xfb);
        if !known || (mark && before < 0xa1) {
            return false;
        }
        marks += u32::from(mark);
        before = byte;
    }
    // At least one byte in twelve must be a mark: in Thai text one letter in four or five has one,
    // and the rest allows for ASCII.
    marks as usize * 12 >= sample.len()
}

/// Returns true if nearly all non-ASCII bytes form pairs of one East Asian encoding, most of them
/// frequent characters.
fn is_east_asian(sample: &[u8]) -> bool {
    // Shift-JIS, whose common characters are punctuation, kana and the frequent ideographs (level
    // 1).
    has_plausible_pairs(
        sample,
        |lead| matches!(lead, 0x81..=0x9f | 0xe0..=0xfc),
        |trail| matches!(trail, 0x40..=0x7e | 0x80..=0xfc),
        |lead, _| matches!(lead, 0x81..=0x83 | 0x88..=0x97),
        |single| matches!(single, 0xa1..=0xdf),
    )
    // EUC-JP and EUC-KR, whose common characters are punctuation, kana or hangul, and the frequent
    // ideographs (level 1).
    || has_plausible_pairs(
        sample,
        |lead| matches!(lead, 0x8e | 0xa1..=0xfe),
        |trail| trail >= 0xa1,
        |lead, _| matches!(lead, 0xa1 | 0xa3..=0xa5 | 0xb0..=0xcf),
        |_| false,
    )
    // GBK and GB18030, whose common characters are punctuation and the frequent ideographs (level
    // 1).
    || has_plausible_pairs(
        sample,
        |lead| matches!(lead, 0x81..=0xfe),
        |trail| matches!(trail, 0x30..=0x39 | 0x40..=0x7e | 0x80..=0xfe),
        |lead, trail| trail >= 0xa1 && matches!(lead, 0xa1 | 0xa3 | 0xb0..=0xd7),
        |single| single == 0x80,
    )
    // Big5, whose common characters are punctuation and the frequent ideographs (level 1).
    || has_plausible_pairs(
        sample,
        |lead| matches!(lead, 0x81..=0xfe),
        |trail| matches!(trail, 0x40..=0x7e | 0xa1..=0xfe),
        |lead, _| matches!(lead, 0xa1..=0xc6),
        |_| false,
    )
}

/// Returns true if nearly all pairs are valid and most are common; or if all are valid and there
/// are lines with Chinese commas and full stops, as in text written with the rarer characters of
/// another country's encoding.
fn has_plausible_pairs(
    sample: &[u8],
    lead: impl Fn(u8) -> bool,
    trail: impl Fn(u8) -> bool,
    is_common: impl Fn(u8, u8) -> bool,
    single: impl Fn(u8) -> bool,
) -> bool {
    let (mut pairs, mut common, mut stops, mut faults) = (0u32, 0u32, 0u32, 0u32);
    let mut bytes = sample.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte.is_ascii() || single(byte) {
            continue;
        }
        match bytes.peek() {
            Some(&next) if lead(byte) && trail(next) => {
                bytes.next();
                pairs += 1;
                common += u32::from(is_common(byte, next));
                stops +=
                    u32::from(matches!([byte, next], [0xa1, 0xa1..=0xa4] | [0xa3, 0xa1..=0xbf]));
            }
            // More than one error in a hundred bytes means that this is not the encoding.
            Some(_) if faults as usize * 100 > sample.len() => return false,
            Some(_) => faults += 1,
            None => {}
        }
    }
    let lines = || memchr::memchr(b'\n', sample).is_some();
    pairs > 0
        && faults * 50 <= pairs
        && (common * 10 >= pairs * 7 || (faults == 0 && stops * 30 >= pairs && lines()))
}
