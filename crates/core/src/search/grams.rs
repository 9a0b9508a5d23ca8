//! The grams of a text: what an index remembers of a block.
//!
//! A gram is three bytes of one line, ASCII letters folded, as a hash of
//! [`HASH_BITS`] bits. Where a digit is among the three there is a second gram
//! in which every digit is the same, so that `[0-9]{4}-[0-9]{2}` has grams too;
//! and there are grams for blocks with a byte, or a number, beyond ASCII. Hashes collide, so
//! a gram that is there may be another: what is found by grams is a candidate.

/// How many bits the hash of a gram has.
pub const HASH_BITS: u32 = 18;

/// Stands for any digit. Where a text really has this byte, the gram is one
/// more that may be another.
pub(super) const DIGIT: u8 = 1;

/// The gram of a block with a byte beyond ASCII.
pub(super) const BEYOND_ASCII: u32 = hash(0, 0, 0);

/// The gram of a block with a number beyond ASCII, such as `٣`.
pub(super) const NUMBER_BEYOND_ASCII: u32 = hash(0, 0, 2);

const fn hash(a: u8, b: u8, c: u8) -> u32 {
    let word = (a as u32) << 16 | (b as u32) << 8 | c as u32;
    word.wrapping_add(1).wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS)
}

/// A byte as grams see it.
pub(super) const fn fold(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}

static FOLD: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = fold(byte as u8);
        byte += 1;
    }
    table
};

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
                hash(any_digit(a), any_digit(b), any_digit(c))
            } else {
                hash(a, b, c)
            }
        })
        .collect();
    grams.sort_unstable();
    grams.dedup();
    grams
}

/// Collects the distinct grams of blocks, using its memory again.
pub struct Signer {
    seen: Vec<u64>,
    grams: Vec<u32>,
}

impl Default for Signer {
    fn default() -> Self {
        Self { seen: vec![0; 1 << (HASH_BITS - 6)], grams: Vec::new() }
    }
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} grams", self.grams.len())
    }
}

impl Signer {
    /// The distinct grams of a block of whole lines.
    pub fn grams(&mut self, block: &[u8]) -> &[u32] {
        for &gram in &self.grams {
            self.seen[(gram >> 6) as usize] = 0;
        }
        self.grams.clear();
        if !block.is_ascii() {
            self.add(BEYOND_ASCII);
            let letters = || block.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
            if letters().any(|letter| !letter.is_ascii() && letter.is_numeric()) {
                self.add(NUMBER_BEYOND_ASCII);
            }
        }
        let mut rest = block;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            self.line(&rest[..end]);
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        &self.grams
    }

    fn line(&mut self, line: &[u8]) {
        let [first, second, rest @ ..] = line else { return };
        let (mut a, mut b) = (FOLD[usize::from(*first)], FOLD[usize::from(*second)]);
        // Which of the last three bytes are digits.
        let mut digits = u8::from(a.is_ascii_digit()) << 1 | u8::from(b.is_ascii_digit());
        for &c in rest {
            let c = FOLD[usize::from(c)];
            digits = (digits << 1 | u8::from(c.is_ascii_digit())) & 7;
            self.add(hash(a, b, c));
            if digits != 0 {
                self.add(hash(any_digit(a), any_digit(b), any_digit(c)));
            }
            (a, b) = (b, c);
        }
    }

    fn add(&mut self, gram: u32) {
        let word = &mut self.seen[(gram >> 6) as usize];
        let bit = 1 << (gram & 63);
        if *word & bit == 0 {
            *word |= bit;
            self.grams.push(gram);
        }
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
