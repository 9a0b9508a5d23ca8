//! Extracts the distinct grams of blocks, which is the main work of building an index.
//!
//! `unsafe`: calls instructions whose presence was checked.

use super::blocks::CHUNK_OVERLAP_BYTES;
use super::grams::{
    GRAM_HASH_BITS, IN_GRAM_OF_FIVE, IN_GRAM_OF_FOUR, NO_GRAM, NON_ASCII_GRAM,
    NON_ASCII_NUMBER_GRAM, fold_gram_byte, fold_gram_digit, hash_five, hash_four, hash_three,
    long_gram_kinds,
};

/// The line feed, which is part of no gram.
const LINE_FEED: u16 = b'\n' as u16;

/// The number of 64-bit words in a set of grams, one bit for each possible gram.
const WORDS_PER_SET: usize = 1 << (GRAM_HASH_BITS - 6);
/// The number of grams that are taken from a word of a set at once; few words have more.
const GRAMS_PER_STEP: usize = 4;
/// The number of sets to which grams are added in turn. Reading a word that was just written is
/// slow, and repeated bytes such as spaces always hit the same word. More sets would displace other
/// data from the first-level cache.
const GRAM_SET_COUNT: usize = 2;
/// The number of bytes whose grams are computed at once.
const BYTES_PER_BATCH: usize = 512;
/// The number of preceding bytes that a gram can include.
const MAX_PRECEDING_BYTES: usize = 4;
/// The number of bytes that are checked for digits at once.
const DIGIT_CHECK_BYTES: usize = 8;

/// Collects the distinct grams of one block after another, reusing its memory.
///
/// Except for digits, no branch depends on the bytes, because the processor could not predict it:
/// hashes are computed for many bytes in parallel and added to a set, and bytes without a gram
/// repeat another gram.
pub struct GramExtractor {
    /// The grams of the present block.
    seen: Box<[[u64; WORDS_PER_SET]; GRAM_SET_COUNT]>,
    lanes: Box<GramLanes>,
    /// The list of grams, with capacity for all grams, plus some entries that are overwritten.
    grams: Vec<u32>,
    /// The number of grams of the last block, at the beginning of `grams`.
    distinct: usize,
}

/// A batch of bytes and the grams that end at each byte.
struct GramLanes {
    /// The bytes with ASCII letters in lower case; the last bytes of the previous batch come first.
    bytes: [u16; BYTES_PER_BATCH + MAX_PRECEDING_BYTES],
    /// The same as `bytes`, with [`ANY_DIGIT_VALUE`](super::grams) for every digit.
    classes: [u16; BYTES_PER_BATCH + MAX_PRECEDING_BYTES],
    /// The kinds of longer grams that the byte can be part of ([`long_gram_kinds`]).
    sorts: [u8; BYTES_PER_BATCH + MAX_PRECEDING_BYTES],
    /// The grams of three bytes.
    grams: [u16; BYTES_PER_BATCH],
    /// The grams of four bytes, and of five in `fives`; where there is none, the gram of three
    /// bytes.
    fours: [u16; BYTES_PER_BATCH],
    fives: [u16; BYTES_PER_BATCH],
    /// The grams of three entries of `classes`; equal to `grams` where there is no digit.
    class_grams: [u16; BYTES_PER_BATCH],
    /// A value other than 0 where `grams` and `class_grams` differ.
    differ: [u8; BYTES_PER_BATCH],
}

impl Default for GramExtractor {
    fn default() -> Self {
        let lanes = GramLanes {
            bytes: [0; BYTES_PER_BATCH + MAX_PRECEDING_BYTES],
            classes: [0; BYTES_PER_BATCH + MAX_PRECEDING_BYTES],
            sorts: [0; BYTES_PER_BATCH + MAX_PRECEDING_BYTES],
            grams: [0; BYTES_PER_BATCH],
            fours: [0; BYTES_PER_BATCH],
            fives: [0; BYTES_PER_BATCH],
            class_grams: [0; BYTES_PER_BATCH],
            differ: [0; BYTES_PER_BATCH],
        };
        Self {
            seen: Box::new([[0; WORDS_PER_SET]; GRAM_SET_COUNT]),
            lanes: Box::new(lanes),
            grams: vec![0; WORDS_PER_SET * 64 + GRAMS_PER_STEP],
            distinct: 0,
        }
    }
}

impl std::fmt::Debug for GramExtractor {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} grams", self.distinct)
    }
}

impl GramLanes {
    /// Sets the preceding bytes to line feeds, for the beginning of a block.
    #[inline(always)]
    fn reset(&mut self) {
        self.bytes[BYTES_PER_BATCH..].fill(LINE_FEED);
        self.classes[BYTES_PER_BATCH..].fill(LINE_FEED);
        self.sorts[BYTES_PER_BATCH..].fill(0);
    }

    /// Computes the grams of the next bytes, at most [`BYTES_PER_BATCH`].
    #[inline(always)]
    fn compute_grams(&mut self, bytes: &[u8]) {
        let Self { bytes: lanes, classes, sorts, grams, fours, fives, class_grams, differ } = self;
        lanes.copy_within(BYTES_PER_BATCH.., 0);
        classes.copy_within(BYTES_PER_BATCH.., 0);
        sorts.copy_within(BYTES_PER_BATCH.., 0);
        let places =
            lanes[MAX_PRECEDING_BYTES..].iter_mut().zip(&mut classes[MAX_PRECEDING_BYTES..]);
        for ((lane, any_digit), &byte) in places.zip(bytes) {
            (*lane, *any_digit) = (u16::from(fold_gram_byte(byte)), fold_gram_digit(byte));
        }
        for (sort, &byte) in sorts[MAX_PRECEDING_BYTES..].iter_mut().zip(bytes) {
            *sort = long_gram_kinds(fold_gram_byte(byte));
        }
        // No operation depends on the data, so the compiler computes several lanes at once.
        for at in 0..BYTES_PER_BATCH {
            grams[at] = gram_of_three(lanes, at);
            class_grams[at] = gram_of_three(classes, at);
            differ[at] = u8::from(grams[at] != class_grams[at]);
        }
        for at in 0..BYTES_PER_BATCH {
            let of_four = sorts[at + 1] & sorts[at + 2] & sorts[at + 3] & sorts[at + 4];
            let of_five = sorts[at] & of_four;
            let four = hash_four(lanes[at + 1], grams[at]);
            let five = hash_five(lanes[at], four);
            // If there is no gram of four or five bytes, the gram of three bytes is repeated, which
            // does no harm.
            fours[at] = if of_four & IN_GRAM_OF_FOUR != 0 { four } else { grams[at] };
            fives[at] = if of_five & IN_GRAM_OF_FIVE != 0 { five } else { grams[at] };
        }
    }
}

/// Returns the gram of the three bytes from `at + 2` on.
#[inline(always)]
fn gram_of_three(lanes: &[u16; BYTES_PER_BATCH + MAX_PRECEDING_BYTES], at: usize) -> u16 {
    let [a, b, c] = [lanes[at + 2], lanes[at + 3], lanes[at + 4]];
    if a == LINE_FEED || b == LINE_FEED || c == LINE_FEED { NO_GRAM } else { hash_three(a, b, c) }
}

/// Adds grams to the sets, adjacent ones to different sets.
#[inline(always)]
fn add_to_sets(sets: &mut [[u64; WORDS_PER_SET]; GRAM_SET_COUNT], grams: &[u16]) {
    let put =
        |set: &mut [u64; WORDS_PER_SET], gram: u16| set[usize::from(gram >> 6)] |= 1 << (gram & 63);
    let [first, second] = sets;
    let (some, rest) = grams.as_chunks::<GRAM_SET_COUNT>();
    for &[a, b] in some {
        put(first, a);
        put(second, b);
    }
    for &gram in rest {
        put(first, gram);
    }
}

impl GramExtractor {
    /// Returns the distinct grams of a block of whole lines.
    pub fn grams(&mut self, block: &[u8]) -> &[u32] {
        self.collect_grams(block);
        &self.grams[..self.distinct]
    }

    /// Collects the grams of a block into `grams`, with instructions that every processor has.
    #[cfg(not(target_arch = "x86_64"))]
    fn collect_grams(&mut self, block: &[u8]) {
        self.collect_grams_portable(block);
    }

    /// Collects the grams of a block into `grams`, with the instructions of this processor: with
    /// AVX2 it takes a quarter less time.
    #[cfg(target_arch = "x86_64")]
    fn collect_grams(&mut self, block: &[u8]) {
        if std::is_x86_feature_detected!("avx2")
            && std::is_x86_feature_detected!("bmi1")
            && std::is_x86_feature_detected!("bmi2")
        {
            // SAFETY: the processor has the instructions.
            unsafe { self.collect_grams_avx2(block) }
        } else {
            self.collect_grams_portable(block);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn collect_grams_avx2(&mut self, block: &[u8]) {
        self.collect_grams_portable(block);
    }

    #[inline(always)]
    fn collect_grams_portable(&mut self, block: &[u8]) {
        let (seen, lanes) = (&mut *self.seen, &mut *self.lanes);
        if !block.is_ascii() {
            add_to_sets(seen, &[NON_ASCII_GRAM as u16]);
            let letters = || block.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
            if letters().any(|letter| !letter.is_ascii() && letter.is_numeric()) {
                add_to_sets(seen, &[NON_ASCII_NUMBER_GRAM as u16]);
            }
        }
        lanes.reset();
        for bytes in block.chunks(BYTES_PER_BATCH) {
            lanes.compute_grams(bytes);
            add_to_sets(seen, &lanes.grams[..bytes.len()]);
            add_to_sets(seen, &lanes.fours[..bytes.len()]);
            add_to_sets(seen, &lanes.fives[..bytes.len()]);
            // If one gram differs, those around it are added again, which does no harm.
            let classes = lanes.class_grams[..bytes.len()].chunks(DIGIT_CHECK_BYTES);
            for (grams, differ) in classes.zip(lanes.differ.as_chunks::<DIGIT_CHECK_BYTES>().0) {
                if u64::from_le_bytes(*differ) != 0 {
                    add_to_sets(seen, grams);
                }
            }
        }
        self.drain_sets();
    }

    /// Moves the grams from the sets to the list, leaving the sets empty.
    #[inline(always)]
    fn drain_sets(&mut self) {
        let (grams, mut distinct) = (&mut self.grams[..], 0);
        let [first, others @ ..] = &mut *self.seen;
        for (index, word) in first.iter_mut().enumerate() {
            let mut left = std::mem::take(word);
            for other in others.iter_mut() {
                left |= std::mem::take(&mut other[index]);
            }
            loop {
                for _ in 0..GRAMS_PER_STEP {
                    grams[distinct] = index as u32 * 64 + (left.trailing_zeros() & 63);
                    distinct += usize::from(left != 0);
                    left &= left.wrapping_sub(1);
                }
                if left == 0 {
                    break;
                }
            }
        }
        self.distinct = distinct;
    }
}

/// Returns a number that changes with the definition of grams and the overlap of chunks, so that
/// grams stored by another version are detected.
pub(super) fn gram_format_fingerprint() -> u64 {
    let mut extractor = GramExtractor::default();
    let grams = extractor.grams("Ab9 z\n\t_x(1);\u{e9} \u{663} in_the_map".as_bytes());
    let sizes = u64::from(GRAM_HASH_BITS) | (CHUNK_OVERLAP_BYTES as u64) << 32;
    grams.iter().fold(sizes, |sum, gram| {
        sum.rotate_left(5).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(*gram)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::grams::{ANY_DIGIT_BYTE, grams_of};
    use super::*;

    #[test]
    fn blocks_have_the_grams_of_what_they_contain() {
        let mut extractor = GramExtractor::default();
        // The columns: block, folded needle, true if the block has all grams of the needle.
        let cases: &[(&str, &[u8], bool)] = &[
            ("abc", b"abc", true),
            ("xABCy", b"abc", true),
            ("ab\nc", b"abc", false),
            ("ab\nc", b"b\nc", true),
            ("on 2024-05-06\n", b"\x01\x01\x01\x01-\x01\x01-\x01\x01", true),
            ("on 2024-05-06\n", b"2024-0\x01-", true),
            ("on 2024-05-06\n", b"\x01\x01/", false),
            ("a\x01b", b"a\x01b", true),
            ("ab", b"ab", true),
            ("in_The map", b"_the", true),
            ("in_The map", b"nthe", false),
            ("the hen then", b"then", true),
            ("the hen", b"then", false),
            ("cuddl uddle", b"cuddle", true),
            ("cudd uddl ddle", b"cuddle", false),
            ("x8664 8664_x", b"x8664_x", true),
            ("x866 664_x", b"x8664", false),
            ("", b"abc", false),
        ];
        for (block, needle, expected) in cases {
            let grams = extractor.grams(block.as_bytes());
            let all = grams_of(needle).iter().all(|gram| grams.contains(gram));
            assert_eq!(all, *expected, "{block} {needle:?}");
        }
        assert!(extractor.grams("é".as_bytes()).contains(&NON_ASCII_GRAM));
        assert!(!extractor.grams(b"e").contains(&NON_ASCII_GRAM));
        assert!(extractor.grams("\u{ff} ٣".as_bytes()).contains(&NON_ASCII_NUMBER_GRAM));
        assert!(!extractor.grams("é3".as_bytes()).contains(&NON_ASCII_NUMBER_GRAM));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// All grams of every line are extracted, on every processor and wherever batches end.
        #[test]
        fn nothing_is_left_out(text in "[aB1Ct_é \n]{0,1600}") {
            let (mut one, mut other) = (GramExtractor::default(), GramExtractor::default());
            let signed = one.grams(text.as_bytes());
            other.collect_grams_portable(text.as_bytes());
            prop_assert_eq!(signed, &other.grams[..other.distinct]);
            let folded: Vec<u8> = text.bytes().map(fold_gram_byte).collect();
            for line in folded.split(|&byte| byte == b'\n') {
                let classes: Vec<u8> =
                    line.iter().map(|byte| if byte.is_ascii_digit() { ANY_DIGIT_BYTE } else { *byte }).collect();
                let needed = grams_of(line).into_iter().chain(grams_of(&classes));
                prop_assert!(needed.into_iter().all(|gram| signed.contains(&gram)));
            }
        }
    }
}
