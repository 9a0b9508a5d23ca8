//! Grams: the short substrings of a block that the index stores.
//!
//! A gram is three bytes of one line, ASCII letters folded, as a hash of [`GRAM_HASH_BITS`] bits.
//! Identifiers consist of syllables that occur in every text (`the`, `per`, `ing`), so five
//! consecutive letters are a gram too, as are four letters or digits. Three bytes with a digit have
//! a second gram in which all digits are equal, so that `[0-9]{4}-[0-9]{2}` has grams too. Two more
//! grams mark blocks with a byte, or a number, beyond ASCII. Hashes collide, so a block found by
//! its grams is only a candidate.

/// The number of bits in the hash of a gram.
pub const GRAM_HASH_BITS: u32 = 16;

/// The byte that stands for any digit in a string of a query. A text that contains this byte is
/// treated as if it contained a digit.
pub(super) const ANY_DIGIT_BYTE: u8 = 1;

/// The value of every digit in grams that do not distinguish digits. It is no byte value, and
/// measurements show that the index rows of such grams are shared with few others, which matters
/// because these few grams must distinguish dates and numbers from all other text.
const ANY_DIGIT_VALUE: u16 = 0x2d5;

/// The gram of a block with a non-ASCII byte. No text produces it directly, and few grams share its
/// rows.
pub(super) const NON_ASCII_GRAM: u32 = hash_three(0, 0, 8) as u32;

/// The gram of a block with a non-ASCII number, such as `٣`.
pub(super) const NON_ASCII_NUMBER_GRAM: u32 = hash_three(0, 0, 4) as u32;

/// Stands in place of the gram of three bytes of which one is a line feed. A gram that has this
/// hash counts as present in every block.
pub(super) const NO_GRAM: u16 = u16::MAX;

/// The factors of the three bytes in a hash: powers of 33, multiplied so that the upper bits depend
/// on all bytes. With 16-bit words, every processor computes eight hashes at once.
const FACTORS_OF_THREE_BYTES: [u16; 3] = {
    const SPREAD: u16 = 0x9e37;
    [SPREAD.wrapping_mul(33 * 33), SPREAD.wrapping_mul(33), SPREAD]
};

/// Returns the hash of three bytes.
#[inline(always)]
pub(super) const fn hash_three(a: u16, b: u16, c: u16) -> u16 {
    let sum = a
        .wrapping_mul(FACTORS_OF_THREE_BYTES[0])
        .wrapping_add(b.wrapping_mul(FACTORS_OF_THREE_BYTES[1]));
    sum.wrapping_add(c.wrapping_mul(FACTORS_OF_THREE_BYTES[2]))
}

/// The factor of the first of four bytes in a hash.
const FIRST_OF_FOUR_FACTOR: u16 = FACTORS_OF_THREE_BYTES[0].wrapping_mul(33);

/// Returns the hash of four bytes, given the hash `three` of the last three.
#[inline(always)]
pub(super) const fn hash_four(first: u16, three: u16) -> u16 {
    three.wrapping_add(first.wrapping_mul(FIRST_OF_FOUR_FACTOR))
}

/// The factor of the first of five bytes in a hash.
const FIRST_OF_FIVE_FACTOR: u16 = FIRST_OF_FOUR_FACTOR.wrapping_mul(33);

/// Returns the hash of five bytes, given the hash `four` of the last four.
#[inline(always)]
pub(super) const fn hash_five(first: u16, four: u16) -> u16 {
    four.wrapping_add(first.wrapping_mul(FIRST_OF_FIVE_FACTOR))
}

/// Flag of [`long_gram_kinds`]: four such bytes in a row are a gram.
pub(super) const IN_GRAM_OF_FOUR: u8 = 1;
/// Flag of [`long_gram_kinds`]: five such bytes in a row are a gram.
pub(super) const IN_GRAM_OF_FIVE: u8 = 2;

/// Returns the kinds of long grams that a folded byte can be part of: letters and `_` are in all,
/// digits in those of four bytes.
#[inline(always)]
pub(super) const fn long_gram_kinds(byte: u8) -> u8 {
    let letter = (byte.wrapping_sub(b'a') <= b'z' - b'a') | (byte == b'_');
    let digit = byte.wrapping_sub(b'0') <= b'9' - b'0';
    (letter as u8) * (IN_GRAM_OF_FOUR | IN_GRAM_OF_FIVE) + (digit as u8) * IN_GRAM_OF_FOUR
}

/// Returns the byte as it is in grams: an ASCII letter in lower case.
#[inline(always)]
pub(super) const fn fold_gram_byte(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}

/// Returns the byte as it is in grams that do not distinguish digits.
#[inline(always)]
pub(super) const fn fold_gram_digit(byte: u8) -> u16 {
    let digit = byte.is_ascii_digit() || byte == ANY_DIGIT_BYTE;
    if digit { ANY_DIGIT_VALUE } else { fold_gram_byte(byte) as u16 }
}

/// Returns the distinct grams of a string that a match must contain, with ASCII letters in lower
/// case and [`ANY_DIGIT_BYTE`] for any digit. Bytes around a line feed form no gram.
pub(super) fn grams_of(needle: &[u8]) -> Vec<u32> {
    let three = |window: &[u8]| {
        let any = window.contains(&ANY_DIGIT_BYTE);
        let lane = |byte: u8| if any { fold_gram_digit(byte) } else { u16::from(byte) };
        hash_three(lane(window[0]), lane(window[1]), lane(window[2]))
    };
    let four = |window: &[u8]| hash_four(window[0].into(), three(&window[1..]));
    let five = |window: &[u8]| hash_five(window[0].into(), four(&window[1..]));
    let all =
        |window: &[u8], sort: u8| window.iter().all(|byte| long_gram_kinds(*byte) & sort != 0);
    let threes = needle.windows(3).filter(|window| !window.contains(&b'\n')).map(three);
    let fours = needle.windows(4).filter(|window| all(window, IN_GRAM_OF_FOUR)).map(four);
    let fives = needle.windows(5).filter(|window| all(window, IN_GRAM_OF_FIVE)).map(five);
    let mut grams: Vec<u32> = threes.chain(fours).chain(fives).map(u32::from).collect();
    grams.sort_unstable();
    grams.dedup();
    grams
}
