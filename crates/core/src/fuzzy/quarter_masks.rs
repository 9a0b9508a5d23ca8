//! A filter that rejects paths that cannot contain the letters of a query in order.
//!
//! The letters of the four quarters of a path take sixteen bytes. The filter consumes the query
//! quarter by quarter, as far as the letters of the quarter allow in any order. A path that does
//! not consume the whole query cannot match.

use crate::text::char_mask::char_mask;

/// The letters of each quarter of a path; some letters share a bit.
pub(super) type QuarterMasks = [u32; 4];

/// The maximum number of letters in a query: one bit of a word each.
const MAX_QUERY_CHARS: usize = 48;
/// The maximum number of wrong letters.
const MAX_TYPOS: usize = 8;

/// Returns the letters of a path and those of its quarters.
pub(super) fn of(path: &[u8]) -> (u64, QuarterMasks) {
    let mut all = 0;
    let quarters = std::array::from_fn(|quarter| {
        let cut = |quarter| path.len() * quarter / 4;
        let letters = char_mask(&path[cut(quarter)..cut(quarter + 1)]);
        all |= letters;
        fold(letters)
    });
    (all, quarters)
}

/// Digits and punctuation share bits with each other and with rare letters.
fn fold(letters: u64) -> u32 {
    letters as u32 | ((letters >> 32) as u32).rotate_left(22)
}

/// The letters of a query, in order.
pub(super) struct SubsequenceFilter {
    /// For each byte of a quarter's mask and each value of it, the letters of the query that it
    /// contains, one bit each.
    has: Box<[[u64; 256]; 4]>,
    letters: u32,
    typos: usize,
}

impl SubsequenceFilter {
    /// Returns `None` for a query that cannot be filtered.
    pub fn of(query: &str, typos: u16) -> Option<Self> {
        if !query.is_ascii() || query.len() > MAX_QUERY_CHARS {
            return None;
        }
        let mut of_bit = [0_u64; 32];
        for (at, byte) in query.bytes().enumerate() {
            of_bit[fold(char_mask(&[byte])).trailing_zeros() as usize] |= 1 << at;
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

    /// Reports whether a path with these quarters may match. A result of false is certain.
    #[inline]
    pub fn may_fit(&self, quarters: &QuarterMasks) -> bool {
        let in_order = quarters.map(|quarter| {
            let [a, b, c, d] = quarter.to_le_bytes().map(usize::from);
            self.has[0][a] | self.has[1][b] | self.has[2][c] | self.has[3][d]
        });
        match self.typos {
            0 => self.takes::<1>(in_order),
            1 => self.takes::<2>(in_order),
            2 => self.takes::<3>(in_order),
            _ => self.takes::<{ MAX_TYPOS + 1 }>(in_order),
        }
    }

    /// Reports whether the whole query is consumed with fewer than `N` letters skipped as typos.
    #[inline]
    fn takes<const N: usize>(&self, in_order: [u64; 4]) -> bool {
        // The number of letters consumed for each number of skipped letters.
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
