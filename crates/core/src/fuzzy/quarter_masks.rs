//! Rejects paths that cannot contain the letters of a query in order.
//!
//! A path is divided into four quarters, and the letters of each are a mask of four bytes. The
//! filter takes letters from the beginning of the query as long as the first quarter has them, in
//! any order, then goes on with the next quarter. If letters are left after the last quarter, the
//! path cannot match.

use crate::text::char_mask::char_mask;

/// The letters of each quarter of a path as bit masks; some letters share a bit.
pub(super) type QuarterMasks = [u32; 4];

/// The maximum length of a query in bytes: each letter has one bit of a 64-bit word. A longer query
/// is not filtered.
const MAX_FILTERED_QUERY_BYTES: usize = 48;
/// The maximum number of wrong letters; more count as this many.
const MAX_TYPOS: usize = 8;

/// Returns the letters of a path and of each of its quarters as bit masks.
pub(super) fn letter_masks(path: &[u8]) -> (u64, QuarterMasks) {
    let mut all = 0;
    let quarters = std::array::from_fn(|quarter| {
        let cut = |quarter| path.len() * quarter / 4;
        let letters = char_mask(&path[cut(quarter)..cut(quarter + 1)]);
        all |= letters;
        fold_letter_mask(letters)
    });
    (all, quarters)
}

/// Folds a mask of 64 bits to 32: digits and punctuation share bits with each other and with rare
/// letters.
fn fold_letter_mask(letters: u64) -> u32 {
    letters as u32 | ((letters >> 32) as u32).rotate_left(22)
}

/// Tests whether paths can contain the letters of one query in order.
pub(super) struct SubsequenceFilter {
    /// For each byte of a quarter's mask and each value of the byte, the letters of the query that
    /// the value contains: bit `n` for letter `n`.
    has: Box<[[u64; 256]; 4]>,
    letters: u32,
    typos: usize,
}

impl SubsequenceFilter {
    /// Prepares the filter; `None` for a query with characters beyond ASCII or more than
    /// [`MAX_FILTERED_QUERY_BYTES`].
    pub fn of(query: &str, typos: u16) -> Option<Self> {
        if !query.is_ascii() || query.len() > MAX_FILTERED_QUERY_BYTES {
            return None;
        }
        let mut of_bit = [0_u64; 32];
        for (at, byte) in query.bytes().enumerate() {
            of_bit[fold_letter_mask(char_mask(&[byte])).trailing_zeros() as usize] |= 1 << at;
        }
        let mut has = Box::new([[0; 256]; 4]);
        for (byte, has) in has.iter_mut().enumerate() {
            for value in 1..256_usize {
                let lowest = value.trailing_zeros() as usize;
                has[value] = has[value & (value - 1)] | of_bit[8 * byte + lowest];
            }
        }
        Some(Self { has, letters: query.len() as u32, typos: usize::from(typos).min(MAX_TYPOS) })
    }

    /// Returns true if a path with these quarters may match; false only if it cannot.
    #[inline]
    pub fn may_fit(&self, quarters: &QuarterMasks) -> bool {
        let in_order = quarters.map(|quarter| {
            let [a, b, c, d] = quarter.to_le_bytes().map(usize::from);
            self.has[0][a] | self.has[1][b] | self.has[2][c] | self.has[3][d]
        });
        match self.typos {
            0 => self.contains_in_order::<1>(in_order),
            1 => self.contains_in_order::<2>(in_order),
            2 => self.contains_in_order::<3>(in_order),
            _ => self.contains_in_order::<{ MAX_TYPOS + 1 }>(in_order),
        }
    }

    /// Returns true if the quarters contain the whole query in order with fewer than `N` letters
    /// left out.
    #[inline]
    fn contains_in_order<const N: usize>(&self, in_order: [u64; 4]) -> bool {
        // The number of letters found so far for each number of letters left out.
        let mut taken: [u32; N] = std::array::from_fn(|left_out| left_out as u32);
        for has in in_order {
            let on = |at: u32| at + (has >> at).trailing_ones();
            taken[0] = on(taken[0]);
            for left_out in 1..N {
                taken[left_out] = on(taken[left_out]).max(on(taken[left_out - 1] + 1));
            }
        }
        taken[self.typos.min(N - 1)] >= self.letters
    }
}
