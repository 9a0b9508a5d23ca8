//! The grams of a text: what an index remembers of a block.
//!
//! A gram is three bytes of one line, ASCII letters folded, as a hash of
//! [`HASH_BITS`] bits. Where a digit is among the three there is a second gram
//! in which every digit is the same, so that `[0-9]{4}-[0-9]{2}` has grams too;
//! and there are grams for blocks with a byte, or a number, beyond ASCII. Hashes collide, so
//! a gram that is there may be another: what is found by grams is a candidate.

/// How many bits the hash of a gram has.
pub const HASH_BITS: u32 = 16;

/// Stands for any digit. Where a text really has this byte, the gram is one
/// more that may be another.
pub(super) const DIGIT: u8 = 1;

/// The gram of a block with a byte beyond ASCII.
pub(super) const BEYOND_ASCII: u32 = hash_of(0, 0, 0);

/// The gram of a block with a number beyond ASCII, such as `٣`.
pub(super) const NUMBER_BEYOND_ASCII: u32 = hash_of(0, 0, 2);

/// A byte in a gram: folded, and two flags.
const LANE_BITS: u32 = 16;
const LINE_END: u64 = 1 << 8;
const IS_DIGIT: u64 = 1 << 9;
/// A flag of each of the last three bytes.
const fn in_each(flag: u64) -> u64 {
    flag | flag << LANE_BITS | flag << (2 * LANE_BITS)
}

static LANES: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = lane(byte as u8) as u16;
        byte += 1;
    }
    table
};

const fn lane(byte: u8) -> u64 {
    let folded = fold(byte) as u64;
    match byte {
        b'\n' => folded | LINE_END,
        b'0'..=b'9' => folded | IS_DIGIT,
        _ => folded,
    }
}

/// Of the last four lanes the first has no influence.
const fn hash(lanes: u64) -> u32 {
    const ODD: u64 = 0x9e37_79b9_7f4b;
    (lanes.wrapping_mul(ODD << LANE_BITS) >> (64 - HASH_BITS)) as u32
}

const fn hash_of(a: u8, b: u8, c: u8) -> u32 {
    hash(lane(a) << (2 * LANE_BITS) | lane(b) << LANE_BITS | lane(c))
}

/// One number for how grams are made, so that grams kept by another version are
/// known for what they are.
pub(super) fn fingerprint() -> u64 {
    let mut signer = Signer::default();
    let grams = signer.grams("Ab9 z\n\t_x(1);\u{e9} \u{663}".as_bytes());
    grams.iter().fold(u64::from(HASH_BITS), |sum, gram| {
        sum.rotate_left(5).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(*gram)
    })
}

/// A byte as grams see it.
pub(super) const fn fold(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}

const fn any_digit(byte: u8) -> u8 {
    if byte.is_ascii_digit() { DIGIT } else { byte }
}

/// The grams of what a match must contain: folded, with [`DIGIT`] for any digit.
/// Three bytes around a line end are no gram.
pub(super) fn of_needle(needle: &[u8]) -> Vec<u32> {
    let windows = needle.windows(3).filter(|window| !window.contains(&b'\n'));
    let mut grams: Vec<u32> = windows
        .map(|window| {
            let [a, b, c] = [window[0], window[1], window[2]];
            if window.contains(&DIGIT) {
                hash_of(any_digit(a), any_digit(b), any_digit(c))
            } else {
                hash_of(a, b, c)
            }
        })
        .collect();
    grams.sort_unstable();
    grams.dedup();
    grams
}

/// Words of the set of all grams.
const WORDS: usize = 1 << (HASH_BITS - 6);
/// Grams taken from a word at once: few words have more.
const STEP: usize = 4;

/// Collects the distinct grams of blocks, using its memory again.
///
/// Nothing done for each byte depends on what the bytes are, which no processor
/// can foretell, but for digits: grams go into a set, and those that are none
/// into a word beside it.
pub struct Signer {
    seen: Box<[u64; WORDS + 1]>,
    /// As many as there are grams, and some more to be written over.
    grams: Vec<u32>,
    distinct: usize,
}

impl Default for Signer {
    fn default() -> Self {
        Self { seen: Box::new([0; WORDS + 1]), grams: vec![0; WORDS * 64 + STEP], distinct: 0 }
    }
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} grams", self.distinct)
    }
}

impl Signer {
    /// The distinct grams of a block of whole lines, in order.
    pub fn grams(&mut self, block: &[u8]) -> &[u32] {
        let (seen, lanes) = (&mut *self.seen, &LANES);
        let mut add = |gram: u32, counts: bool| {
            let word = if counts { gram as usize >> 6 } else { WORDS };
            seen[word] |= 1 << (gram & 63);
        };
        if !block.is_ascii() {
            add(BEYOND_ASCII, true);
            let letters = || block.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
            if letters().any(|letter| !letter.is_ascii() && letter.is_numeric()) {
                add(NUMBER_BEYOND_ASCII, true);
            }
        }
        // As if a line had ended before.
        let mut last = in_each(LINE_END);
        for &byte in block {
            last = last << LANE_BITS | u64::from(lanes[usize::from(byte)]);
            let in_line = last & in_each(LINE_END) == 0;
            add(hash(last), in_line);
            let digits = last & in_each(IS_DIGIT);
            if digits != 0 {
                let ones = digits >> IS_DIGIT.trailing_zeros();
                let others = last & !(ones * (2 * IS_DIGIT - 1));
                add(hash(others | (ones * u64::from(DIGIT))), in_line);
            }
        }
        self.take();
        &self.grams[..self.distinct]
    }

    /// Empties the set into the list.
    fn take(&mut self) {
        let (grams, mut distinct) = (&mut self.grams[..], 0);
        for (index, word) in self.seen[..WORDS].iter_mut().enumerate() {
            let mut left = std::mem::take(word);
            let mut count = left.count_ones() as usize;
            loop {
                for gram in &mut grams[distinct..distinct + STEP] {
                    *gram = index as u32 * 64 + (left.trailing_zeros() & 63);
                    left &= left.wrapping_sub(1);
                }
                distinct += count.min(STEP);
                if count <= STEP {
                    break;
                }
                count -= STEP;
            }
        }
        self.distinct = distinct;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_the_grams_of_what_they_contain() {
        let mut signer = Signer::default();
        // block, needle (folded), whether its grams are all there
        let cases: &[(&str, &[u8], bool)] = &[
            ("abc", b"abc", true),
            ("xABCy", b"abc", true),
            ("ab\nc", b"abc", false),
            ("ab\nc", b"b\nc", true),
            ("on 2024-05-06\n", b"\x01\x01\x01\x01-\x01\x01-\x01\x01", true),
            ("on 2024-05-06\n", b"2024-0\x01-", true),
            ("on 2024-05-06\n", b"\x01\x01/", false),
            ("ab", b"ab", true),
            ("", b"abc", false),
        ];
        for (block, needle, expected) in cases {
            let grams = signer.grams(block.as_bytes());
            let all = of_needle(needle).iter().all(|gram| grams.contains(gram));
            assert_eq!(all, *expected, "{block} {needle:?}");
        }
        assert!(signer.grams("é".as_bytes()).contains(&BEYOND_ASCII));
        assert!(!signer.grams(b"e").contains(&BEYOND_ASCII));
        assert!(signer.grams("\u{ff} ٣".as_bytes()).contains(&NUMBER_BEYOND_ASCII));
        assert!(!signer.grams("é3".as_bytes()).contains(&NUMBER_BEYOND_ASCII));
    }
}
