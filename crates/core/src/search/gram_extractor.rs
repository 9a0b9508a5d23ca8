//! Making the grams of blocks: the work of building an index is here.
//!
//! `unsafe`: the call of instructions that were asked for before.

use super::grams::{
    BEYOND_ASCII, HASH_BITS, NO_GRAM, NUMBER_BEYOND_ASCII, OF_FIVE, OF_FOUR, class, fold, hash,
    hash_five, hash_four, sort_of,
};

/// Between lines.
const END: u16 = b'\n' as u16;

/// Words of the set of all grams.
const WORDS: usize = 1 << (HASH_BITS - 6);
/// Grams taken from a word at once: few words have more.
const GRAMS_PER_STEP: usize = 4;
/// Sets that take turns: a word that was written just now is slow to be read again, and
/// what repeats itself, as spaces do, always asks for the same word. More of them leave
/// the fastest memory to nothing else.
const SETS: usize = 2;
/// Bytes whose grams are computed at once.
const BYTES_PER_STEP: usize = 512;
/// Bytes before them that grams reach back to.
const BEFORE: usize = 4;
/// Of so many bytes it is asked at once whether one is a digit.
const SOME: usize = 8;

/// Collects the distinct grams of blocks, using its memory again.
///
/// Nothing done for each byte depends on what the bytes are, which no processor
/// can foretell, but for digits: hashes are computed for many bytes side by side
/// and go into a set, those that are no gram as one and the same.
pub struct GramExtractor {
    seen: Box<[[u64; WORDS]; SETS]>,
    lanes: Box<Lanes>,
    /// As many as there are grams, and some more to be written over.
    grams: Vec<u32>,
    distinct: usize,
}

/// Some bytes and the grams that end at each.
struct Lanes {
    /// Folded; the last of the bytes before come first.
    bytes: [u16; BYTES_PER_STEP + BEFORE],
    /// As `bytes`, with all digits the same.
    classes: [u16; BYTES_PER_STEP + BEFORE],
    /// Which grams of more than three bytes it can be in.
    sorts: [u8; BYTES_PER_STEP + BEFORE],
    grams: [u16; BYTES_PER_STEP],
    /// The grams of four bytes, and of five.
    fours: [u16; BYTES_PER_STEP],
    fives: [u16; BYTES_PER_STEP],
    /// The grams of `classes`: the same where there is no digit.
    class_grams: [u16; BYTES_PER_STEP],
    /// What is not 0 where they differ.
    differ: [u8; BYTES_PER_STEP],
}

impl Default for GramExtractor {
    fn default() -> Self {
        let lanes = Lanes {
            bytes: [0; BYTES_PER_STEP + BEFORE],
            classes: [0; BYTES_PER_STEP + BEFORE],
            sorts: [0; BYTES_PER_STEP + BEFORE],
            grams: [0; BYTES_PER_STEP],
            fours: [0; BYTES_PER_STEP],
            fives: [0; BYTES_PER_STEP],
            class_grams: [0; BYTES_PER_STEP],
            differ: [0; BYTES_PER_STEP],
        };
        Self {
            seen: Box::new([[0; WORDS]; SETS]),
            lanes: Box::new(lanes),
            grams: vec![0; WORDS * 64 + GRAMS_PER_STEP],
            distinct: 0,
        }
    }
}

impl std::fmt::Debug for GramExtractor {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} grams", self.distinct)
    }
}

impl Lanes {
    /// As if a line had ended before.
    #[inline(always)]
    fn begin(&mut self) {
        self.bytes[BYTES_PER_STEP..].fill(END);
        self.classes[BYTES_PER_STEP..].fill(END);
        self.sorts[BYTES_PER_STEP..].fill(0);
    }

    /// Takes the bytes that follow, at most [`BYTES_PER_STEP`], and computes their grams.
    #[inline(always)]
    fn take(&mut self, bytes: &[u8]) {
        let Self { bytes: lanes, classes, sorts, grams, fours, fives, class_grams, differ } = self;
        lanes.copy_within(BYTES_PER_STEP.., 0);
        classes.copy_within(BYTES_PER_STEP.., 0);
        sorts.copy_within(BYTES_PER_STEP.., 0);
        let places = lanes[BEFORE..].iter_mut().zip(&mut classes[BEFORE..]);
        for ((lane, any_digit), &byte) in places.zip(bytes) {
            (*lane, *any_digit) = (u16::from(fold(byte)), class(byte));
        }
        for (sort, &byte) in sorts[BEFORE..].iter_mut().zip(bytes) {
            *sort = sort_of(fold(byte));
        }
        // What is done does not depend on the data, so it is done for many bytes at once.
        for at in 0..BYTES_PER_STEP {
            grams[at] = gram(lanes, at);
            class_grams[at] = gram(classes, at);
            differ[at] = u8::from(grams[at] != class_grams[at]);
        }
        for at in 0..BYTES_PER_STEP {
            let of_four = sorts[at + 1] & sorts[at + 2] & sorts[at + 3] & sorts[at + 4];
            let of_five = sorts[at] & of_four;
            let four = hash_four(lanes[at + 1], grams[at]);
            let five = hash_five(lanes[at], four);
            // What is no gram of four or five is that of three, which is there already.
            fours[at] = if of_four & OF_FOUR != 0 { four } else { grams[at] };
            fives[at] = if of_five & OF_FIVE != 0 { five } else { grams[at] };
        }
    }
}

/// The gram of three lanes after the first.
#[inline(always)]
fn gram(lanes: &[u16; BYTES_PER_STEP + BEFORE], at: usize) -> u16 {
    let [a, b, c] = [lanes[at + 2], lanes[at + 3], lanes[at + 4]];
    if a == END || b == END || c == END { NO_GRAM } else { hash(a, b, c) }
}

/// Puts grams into the sets, neighbours into different ones.
#[inline(always)]
fn add(sets: &mut [[u64; WORDS]; SETS], grams: &[u16]) {
    let put = |set: &mut [u64; WORDS], gram: u16| set[usize::from(gram >> 6)] |= 1 << (gram & 63);
    let [first, second] = sets;
    let (some, rest) = grams.as_chunks::<SETS>();
    for &[a, b] in some {
        put(first, a);
        put(second, b);
    }
    for &gram in rest {
        put(first, gram);
    }
}

impl GramExtractor {
    /// The distinct grams of a block of whole lines.
    pub fn grams(&mut self, block: &[u8]) -> &[u32] {
        self.sign(block);
        &self.grams[..self.distinct]
    }

    /// With the instructions that every processor has.
    #[cfg(not(target_arch = "x86_64"))]
    fn sign(&mut self, block: &[u8]) {
        self.sign_by_any(block);
    }

    /// With those that this processor has: a quarter faster where it has wide ones.
    #[cfg(target_arch = "x86_64")]
    fn sign(&mut self, block: &[u8]) {
        if std::is_x86_feature_detected!("avx2")
            && std::is_x86_feature_detected!("bmi1")
            && std::is_x86_feature_detected!("bmi2")
        {
            // SAFETY: the processor has the instructions.
            unsafe { self.sign_by_wide(block) }
        } else {
            self.sign_by_any(block);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn sign_by_wide(&mut self, block: &[u8]) {
        self.sign_by_any(block);
    }

    #[inline(always)]
    fn sign_by_any(&mut self, block: &[u8]) {
        let (seen, lanes) = (&mut *self.seen, &mut *self.lanes);
        if !block.is_ascii() {
            add(seen, &[BEYOND_ASCII as u16]);
            let letters = || block.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
            if letters().any(|letter| !letter.is_ascii() && letter.is_numeric()) {
                add(seen, &[NUMBER_BEYOND_ASCII as u16]);
            }
        }
        lanes.begin();
        for bytes in block.chunks(BYTES_PER_STEP) {
            lanes.take(bytes);
            add(seen, &lanes.grams[..bytes.len()]);
            add(seen, &lanes.fours[..bytes.len()]);
            add(seen, &lanes.fives[..bytes.len()]);
            // Where one differs, its neighbours are added too: they are there already.
            let classes = lanes.class_grams[..bytes.len()].chunks(SOME);
            for (grams, differ) in classes.zip(lanes.differ.as_chunks::<SOME>().0) {
                if u64::from_le_bytes(*differ) != 0 {
                    add(seen, grams);
                }
            }
        }
        self.take();
    }

    /// Empties the set into the list.
    #[inline(always)]
    fn take(&mut self) {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::grams::{DIGIT, of_needle};
    use super::*;

    #[test]
    fn blocks_have_the_grams_of_what_they_contain() {
        let mut signer = GramExtractor::default();
        // block, needle (folded), whether its grams are all there
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
            let grams = signer.grams(block.as_bytes());
            let all = of_needle(needle).iter().all(|gram| grams.contains(gram));
            assert_eq!(all, *expected, "{block} {needle:?}");
        }
        assert!(signer.grams("é".as_bytes()).contains(&BEYOND_ASCII));
        assert!(!signer.grams(b"e").contains(&BEYOND_ASCII));
        assert!(signer.grams("\u{ff} ٣".as_bytes()).contains(&NUMBER_BEYOND_ASCII));
        assert!(!signer.grams("é3".as_bytes()).contains(&NUMBER_BEYOND_ASCII));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Every gram of every line is there, whatever the processor has, and where it is cut.
        #[test]
        fn nothing_is_left_out(text in "[aB1Ct_é \n]{0,1600}") {
            let (mut one, mut other) = (GramExtractor::default(), GramExtractor::default());
            let signed = one.grams(text.as_bytes());
            other.sign_by_any(text.as_bytes());
            prop_assert_eq!(signed, &other.grams[..other.distinct]);
            let folded: Vec<u8> = text.bytes().map(fold).collect();
            for line in folded.split(|&byte| byte == b'\n') {
                let classes: Vec<u8> =
                    line.iter().map(|byte| if byte.is_ascii_digit() { DIGIT } else { *byte }).collect();
                let needed = of_needle(line).into_iter().chain(of_needle(&classes));
                prop_assert!(needed.into_iter().all(|gram| signed.contains(&gram)));
            }
        }
    }
}
