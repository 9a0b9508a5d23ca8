//! Whether a path can have the letters of a query in their order.
//!
//! Which letters each quarter of a path has takes sixteen bytes. Going through
//! the quarters, as much of the query is taken in each as its letters allow,
//! whatever their order there: what cannot be taken so cannot fit.

use crate::text::char_mask::char_mask;

/// The letters of each quarter of a path, one bit for some of them.
pub(super) type QuarterMasks = [u32; 4];

/// The longest query that is looked at, in letters: a word has a bit for each.
const MAX_QUERY_CHARS: usize = 48;
/// The most letters that may be wrong.
const MAX_TYPOS: usize = 8;

/// The letters of a path, and those of its quarters.
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

/// Digits and signs share the bits of each other and of rare letters.
fn fold(letters: u64) -> u32 {
    letters as u32 | ((letters >> 32) as u32).rotate_left(22)
}

/// The letters of a query, in their order.
pub(super) struct SubsequenceFilter {
    /// For each byte of the letters of a quarter, by its value: which letters of
    /// the query are among them, one bit each.
    has: Box<[[u64; 256]; 4]>,
    letters: u32,
    typos: usize,
}

impl SubsequenceFilter {
    /// `None` for a query of which nothing can be told.
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

    /// Whether a path with these quarters may fit. False is certain.
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

    /// Whether all of the query is taken where its typos, fewer than `N`, are left out.
    #[inline]
    fn takes<const N: usize>(&self, in_order: [u64; 4]) -> bool {
        // How far it is taken where so many letters were left out.
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
