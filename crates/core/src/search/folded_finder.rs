//! Finds where a text may have a pattern whose letter case does not matter, for WebAssembly: the
//! vector search of several strings that the automata use elsewhere does not exist there.
//!
//! The search is for one stretch of the pattern, at two bytes of it at once. A line with the
//! stretch may match, and a line without it cannot.

use super::query_options::{Case, QueryOptions};

/// The number of positions after which the comparison of words looks whether one has been found.
const BLOCK_POSITIONS: usize = 64;
/// A word with 1 in each byte.
const ONES: u64 = u64::MAX / 255;
/// The minimum length of a stretch in bytes. A shorter one is in too many lines.
const MIN_STRETCH_BYTES: usize = 3;
/// The letters from the most frequent one in English and in source code on. Other bytes than
/// letters count as being as frequent as the middle of the list.
const LETTERS_BY_FREQUENCY: &[u8] = b"etaoinrlhdcumpfgbwyvxjqz";

/// A byte of a pattern, which stands for the letter in both cases.
#[derive(Clone, Copy, Debug)]
struct FoldedByte {
    /// The bit in which the two cases of a letter differ; 0 for other bytes.
    case_bit: u8,
    /// The byte with this bit.
    lower: u8,
}

impl FoldedByte {
    fn of(byte: u8) -> Self {
        let case_bit = if byte.is_ascii_alphabetic() { 0x20 } else { 0 };
        Self { case_bit, lower: byte | case_bit }
    }

    fn matches(self, byte: u8) -> bool {
        byte | self.case_bit == self.lower
    }

    /// Returns a word with 0 in each byte at which a word of the text has this byte.
    fn differences(self, word: [u8; 8]) -> u64 {
        let [case_bits, lower] = [self.case_bit, self.lower].map(|byte| u64::from(byte) * ONES);
        (u64::from_le_bytes(word) | case_bits) ^ lower
    }

    /// Returns how rare the byte is.
    fn rarity(self) -> usize {
        let place = LETTERS_BY_FREQUENCY.iter().position(|letter| *letter == self.lower);
        place.unwrap_or(LETTERS_BY_FREQUENCY.len() / 2)
    }
}

/// Finds the longest stretch of a pattern in either letter case.
#[derive(Clone, Debug)]
pub(super) struct FoldedFinder {
    stretch: Vec<FoldedByte>,
    /// The offsets in the stretch of the two bytes that are compared at first, in order.
    probes: (usize, usize),
}

impl FoldedFinder {
    /// Creates a finder of the lines in which a query may match; `None` for a query whose letter
    /// case matters, for an expression, and for a pattern without a stretch that is long enough.
    ///
    /// `k` and `s` end a stretch, because each is also the lower case of a letter that is not
    /// ASCII: the Kelvin sign and the long s.
    pub fn of(options: &QueryOptions<'_>) -> Option<Self> {
        let pattern = options.pattern;
        let is_plain = !(options.regex && pattern.contains(regex_syntax::is_meta_character));
        let folds = match options.case {
            Case::Sensitive => false,
            Case::Insensitive => true,
            Case::Smart => !pattern.chars().any(char::is_uppercase),
        };
        if !is_plain || !folds || options.multiline {
            return None;
        }
        let ends = |byte: &u8| !byte.is_ascii() || b"kKsS\r\n".contains(byte);
        let stretch = pattern.as_bytes().split(ends).max_by_key(|stretch| stretch.len())?;
        if stretch.len() < MIN_STRETCH_BYTES {
            return None;
        }
        let stretch: Vec<_> = stretch.iter().map(|byte| FoldedByte::of(*byte)).collect();
        let mut by_rarity: Vec<usize> = (0..stretch.len()).collect();
        by_rarity.sort_by_key(|offset| std::cmp::Reverse(stretch[*offset].rarity()));
        let probes = (by_rarity[0].min(by_rarity[1]), by_rarity[0].max(by_rarity[1]));
        Some(Self { stretch, probes })
    }

    /// Returns the offset of the first occurrence of the stretch.
    pub fn find(&self, text: &[u8]) -> Option<usize> {
        let positions = (text.len() + 1).checked_sub(self.stretch.len())?;
        let mut at = 0;
        while at < positions {
            let end = positions.min(at + BLOCK_POSITIONS);
            if self.may_begin_in(text, at, end)
                && let Some(found) = (at..end).find(|at| self.is_at(text, *at))
            {
                return Some(found);
            }
            at = end;
        }
        None
    }

    /// Returns false if no stretch begins at the offsets from `from` to `to`.
    fn may_begin_in(&self, text: &[u8], from: usize, to: usize) -> bool {
        let (first, second) = self.probes;
        let (left, left_rest) = text[from + first..to + first].as_chunks::<8>();
        let (right, _) = text[from + second..to + second].as_chunks::<8>();
        let (one, other) = (self.stretch[first], self.stretch[second]);
        let mut found = 0;
        for (left, right) in left.iter().zip(right) {
            let differences = one.differences(*left) | other.differences(*right);
            // This has a bit for the lowest byte that is 0, and for no byte if none is.
            found |= differences.wrapping_sub(ONES) & !differences & (ONES << 7);
        }
        found != 0 || !left_rest.is_empty()
    }

    fn is_at(&self, text: &[u8], at: usize) -> bool {
        self.stretch.iter().zip(&text[at..]).all(|(folded, byte)| folded.matches(*byte))
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use proptest::prelude::*;

    use super::FoldedFinder;
    use crate::search::{Case, Query, QueryOptions, SearchLimits};

    fn options(pattern: &str, case: Case, word: bool) -> QueryOptions<'_> {
        QueryOptions { pattern, regex: false, case, word, multiline: false }
    }

    /// Returns the matches of a query as lines and columns.
    fn hits(query: &Query, text: &str) -> Vec<(u64, u64)> {
        let mut found = Vec::new();
        query.search(text.as_bytes(), &SearchLimits::default(), &|| false, &mut |hit| {
            found.push((hit.line, hit.column));
            ControlFlow::Continue(())
        });
        found
    }

    #[test]
    fn a_stretch_ends_at_letters_with_a_third_form() {
        let length = |pattern| {
            FoldedFinder::of(&options(pattern, Case::Insensitive, false))
                .map(|finder| finder.stretch.len())
        };
        assert_eq!(length("PM_Resume"), Some(5));
        assert_eq!(length("desk_is"), None);
        assert_eq!(length("größe_raum"), Some(6));
        assert!(FoldedFinder::of(&options("PM_Re", Case::Smart, false)).is_none());
        assert!(FoldedFinder::of(&options("pm_re", Case::Smart, false)).is_some());
        assert!(FoldedFinder::of(&options("pm_re", Case::Sensitive, false)).is_none());
    }

    #[test]
    fn it_finds_the_third_forms_of_letters() {
        let options = options("abcKdef", Case::Insensitive, false);
        let query = Query::new(&options).unwrap().with_folded_finder(&options);
        assert_eq!(hits(&query, "x\nABC\u{212a}DEF\nabckde\n"), [(2, 1)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// A search with the finder finds what the automaton finds alone.
        #[test]
        fn it_leaves_out_no_match(
            pattern in "[abk_\u{e9}]{1,6}",
            text in "([abkABK_\u{e9}\u{212a} \r\n]{0,30}[abkABK_\u{e9}\u{212a}]{0,9}){0,12}",
            word: bool,
        ) {
            let options = options(&pattern, Case::Insensitive, word);
            let mut without = Query::new(&options).unwrap();
            without.folded = None;
            let with = without.clone().with_folded_finder(&options);
            prop_assert_eq!(hits(&with, &text), hits(&without, &text));
        }
    }
}
