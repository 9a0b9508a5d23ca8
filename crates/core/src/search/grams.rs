//! The grams of a text: what an index remembers of a block.
//!
//! A gram is three bytes of one line, ASCII letters folded, as a hash of
//! [`HASH_BITS`] bits. Names are made of syllables that stand in every text (`the`, `per`,
//! `ing`), so five letters in a row are a gram too, as are four letters or digits. Where a
//! digit is among three bytes there is a second gram in which every digit is the same, so
//! that `[0-9]{4}-[0-9]{2}` has grams too; and there are grams for blocks with a byte, or a
//! number, beyond ASCII. Hashes collide, so a gram that is there may be another: what is
//! found by grams is a candidate.

use super::blocks::MAX_STRING_BYTES;

/// How many bits the hash of a gram has.
pub const HASH_BITS: u32 = 16;

/// Stands for any digit in what is looked for. A text that really has this byte is
/// taken to have a digit.
pub(super) const DIGIT: u8 = 1;

/// What any digit counts as in a gram: no byte, and measured to share its rows with
/// little else, since few grams have to tell dates and numbers from all other text.
const ANY_DIGIT: u16 = 0x2d5;

/// The gram of a block with a byte beyond ASCII. No text has its bytes, and few have what
/// shares its rows.
pub(super) const BEYOND_ASCII: u32 = hash(0, 0, 8) as u32;

/// The gram of a block with a number beyond ASCII, such as `٣`.
pub(super) const NUMBER_BEYOND_ASCII: u32 = hash(0, 0, 4) as u32;

/// What bytes around a line end hash to, which are no gram. A gram that is this
/// number is in every block.
pub(super) const NO_GRAM: u16 = u16::MAX;

/// What each byte counts for: numbers to the base of 33, spread over all bits, the
/// upper ones above all. In words of this size eight are computed at once by any processor.
const COUNTS: [u16; 3] = {
    const SPREAD: u16 = 0x9e37;
    [SPREAD.wrapping_mul(33 * 33), SPREAD.wrapping_mul(33), SPREAD]
};

#[inline(always)]
pub(super) const fn hash(a: u16, b: u16, c: u16) -> u16 {
    let sum = a.wrapping_mul(COUNTS[0]).wrapping_add(b.wrapping_mul(COUNTS[1]));
    sum.wrapping_add(c.wrapping_mul(COUNTS[2]))
}

/// What the first of four bytes counts for.
const COUNTS_FOURTH: u16 = COUNTS[0].wrapping_mul(33);

/// The hash of four bytes, of which the last three have the hash `three`.
#[inline(always)]
pub(super) const fn hash_four(first: u16, three: u16) -> u16 {
    three.wrapping_add(first.wrapping_mul(COUNTS_FOURTH))
}

/// What the first of five bytes counts for.
const COUNTS_FIFTH: u16 = COUNTS_FOURTH.wrapping_mul(33);

/// The hash of five bytes, of which the last four have the hash `four`.
#[inline(always)]
pub(super) const fn hash_five(first: u16, four: u16) -> u16 {
    four.wrapping_add(first.wrapping_mul(COUNTS_FIFTH))
}

/// In [`sort_of`]: four such bytes in a row are a gram.
pub(super) const OF_FOUR: u8 = 1;
/// In [`sort_of`]: five such bytes in a row are a gram.
pub(super) const OF_FIVE: u8 = 2;

/// Which grams of more than three bytes a folded byte can be in: letters and what joins
/// words are in all, digits in those of four.
#[inline(always)]
pub(super) const fn sort_of(byte: u8) -> u8 {
    let letter = (byte.wrapping_sub(b'a') <= b'z' - b'a') | (byte == b'_');
    let digit = byte.wrapping_sub(b'0') <= b'9' - b'0';
    (letter as u8) * (OF_FOUR | OF_FIVE) + (digit as u8) * OF_FOUR
}

/// One number for how grams are made, and how many bytes have theirs together, so that
/// grams kept by another version are known for what they are.
pub(super) fn fingerprint() -> u64 {
    let mut signer = super::GramExtractor::default();
    let grams = signer.grams("Ab9 z\n\t_x(1);\u{e9} \u{663} in_the_map".as_bytes());
    let sizes = u64::from(HASH_BITS) | (MAX_STRING_BYTES as u64) << 32;
    grams.iter().fold(sizes, |sum, gram| {
        sum.rotate_left(5).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(*gram)
    })
}

/// A byte as grams see it.
#[inline(always)]
pub(super) const fn fold(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}

/// A byte as grams see it that do not tell digits apart.
#[inline(always)]
pub(super) const fn class(byte: u8) -> u16 {
    let digit = byte.is_ascii_digit() || byte == DIGIT;
    if digit { ANY_DIGIT } else { fold(byte) as u16 }
}

/// The grams of what a match must contain: folded, with [`DIGIT`] for any digit.
/// Bytes around a line end are no gram.
pub(super) fn of_needle(needle: &[u8]) -> Vec<u32> {
    let three = |window: &[u8]| {
        let any = window.contains(&DIGIT);
        let lane = |byte: u8| if any { class(byte) } else { u16::from(byte) };
        hash(lane(window[0]), lane(window[1]), lane(window[2]))
    };
    let four = |window: &[u8]| hash_four(window[0].into(), three(&window[1..]));
    let five = |window: &[u8]| hash_five(window[0].into(), four(&window[1..]));
    let all = |window: &[u8], sort: u8| window.iter().all(|byte| sort_of(*byte) & sort != 0);
    let threes = needle.windows(3).filter(|window| !window.contains(&b'\n')).map(three);
    let fours = needle.windows(4).filter(|window| all(window, OF_FOUR)).map(four);
    let fives = needle.windows(5).filter(|window| all(window, OF_FIVE)).map(five);
    let mut grams: Vec<u32> = threes.chain(fours).chain(fives).map(u32::from).collect();
    grams.sort_unstable();
    grams.dedup();
    grams
}
