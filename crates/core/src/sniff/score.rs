//! Whether bytes without a known signature are text.
//!
//! UTF-8 without NULs is, and so is anything with a mark or the shape of UTF-16.
//! What remains is legacy text or data, told apart by what text in any legacy
//! encoding has and data has not: hardly a control character, and either blanks
//! between words or the common characters of an East Asian encoding.

use crate::encoding::{self, Unit};

/// Whether the sample is text. `complete` says that it is the whole file.
pub(super) fn is_text(sample: &[u8], complete: bool) -> bool {
    if encoding::bom(sample).is_some() {
        return true;
    }
    let nuls = memchr::memchr(0, sample).is_some();
    if nuls || encoding::has_odd_controls(sample) {
        if matches!(encoding::detect(sample, complete).encoding.unit(), Unit::Two(_)) {
            return true;
        }
        // As everywhere since diff(1): a NUL early in a file makes it binary.
        if nuls {
            return false;
        }
    }
    let mut counts = [0u32; 256];
    match std::str::from_utf8(sample) {
        Ok(_) => {
            let odd = sample.iter().filter(|&&byte| encoding::is_odd_control(byte)).count();
            // Old printer files and dumps of terminals have some; data has many.
            return odd * 10 <= sample.len();
        }
        Err(error) if !complete && error.error_len().is_none() => return true,
        Err(_) => {}
    }
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
    // Mostly ASCII words, with some letters of another encoding.
    if high * 10 <= total * 3 || (blanks * 40 >= total && sum(0x20, 0x7e) * 12 >= total) {
        return true;
    }
    encoding::is_nearly_utf8(sample) || east_asian(sample)
}

/// The byte pairs of an encoding: the first byte of a pair, the second, and the
/// first bytes of the characters that make up most of any text.
struct Pairs {
    lead: fn(u8) -> bool,
    trail: fn(u8) -> bool,
    common: fn(u8, u8) -> bool,
    /// A lone high byte that is a character of its own.
    single: fn(u8) -> bool,
}

const EAST_ASIAN: [Pairs; 4] = [
    // Shift-JIS: kana, punctuation, level 1 of the ideographs.
    Pairs {
        lead: |b| matches!(b, 0x81..=0x9f | 0xe0..=0xfc),
        trail: |b| matches!(b, 0x40..=0x7e | 0x80..=0xfc),
        common: |lead, _| matches!(lead, 0x81..=0x83 | 0x88..=0x97),
        single: |b| matches!(b, 0xa1..=0xdf),
    },
    // EUC-JP and EUC-KR: kana or hangul, punctuation, level 1.
    Pairs {
        lead: |b| matches!(b, 0x8e | 0xa1..=0xfe),
        trail: |b| b >= 0xa1,
        common: |lead, _| matches!(lead, 0xa1 | 0xa3..=0xa5 | 0xb0..=0xcf),
        single: |_| false,
    },
    // GBK and GB18030: punctuation, level 1.
    Pairs {
        lead: |b| matches!(b, 0x81..=0xfe),
        trail: |b| matches!(b, 0x30..=0x39 | 0x40..=0x7e | 0x80..=0xfe),
        common: |lead, trail| trail >= 0xa1 && matches!(lead, 0xa1 | 0xa3 | 0xb0..=0xd7),
        single: |b| b == 0x80,
    },
    // Big5: punctuation, level 1.
    Pairs {
        lead: |b| matches!(b, 0x81..=0xfe),
        trail: |b| matches!(b, 0x40..=0x7e | 0xa1..=0xfe),
        common: |lead, _| matches!(lead, 0xa1..=0xc6),
        single: |_| false,
    },
];

/// Whether nearly all pairs are valid, and most are common, in one encoding.
fn east_asian(sample: &[u8]) -> bool {
    EAST_ASIAN.iter().any(|encoding| {
        let (mut pairs, mut common, mut faults) = (0u32, 0u32, 0u32);
        let mut at = 0;
        while let Some(&byte) = sample.get(at) {
            at += 1;
            if byte.is_ascii() || (encoding.single)(byte) {
                continue;
            }
            match sample.get(at) {
                Some(&next) if (encoding.lead)(byte) && (encoding.trail)(next) => {
                    at += 1;
                    pairs += 1;
                    common += u32::from((encoding.common)(byte, next));
                }
                Some(_) => faults += 1,
                None => {}
            }
        }
        pairs > 0 && faults * 50 <= pairs && common * 10 >= pairs * 7
    })
}
