//! Computes the longest common subsequence of two short lists that have few lines in order,
//! sixty-four table cells at a time.
//!
//! Myers' search is fast where few lines changed. Where most lines changed, it visits nearly every
//! cell of the table, one by one. Here a row of the table is a bit row: bit `j` is clear where
//! taking in line `j` of the after side extends the subsequence. One addition and two masks compute
//! the next row. All rows are stored, and the pairs are read from them backwards.
//!
//! Source: H. Hyyrö, "Bit-parallel LCS-length computation revisited" (2004).

use imara_diff::Token;

/// The maximum size of the table in 64-bit words, for the rows and again for the masks; 16 MB each.
const MAX_LCS_TABLE_WORDS: usize = 1 << 21;

/// Returns the size of the table of two lists with these numbers of lines, in words of 64 cells;
/// `None` above [`MAX_LCS_TABLE_WORDS`].
pub(super) fn lcs_table_words(before: usize, after: usize) -> Option<usize> {
    before.checked_mul(after.div_ceil(64)).filter(|&words| words <= MAX_LCS_TABLE_WORDS)
}

/// Calls `pair` with the indexes of each pair of unchanged lines, the last pair first; no other
/// alignment has more pairs. The caller must have checked the size of the lists with
/// [`lcs_table_words`].
pub(super) fn for_each_unchanged_pair(
    before: &[Token],
    after: &[Token],
    mut pair: impl FnMut(usize, usize),
) {
    let width = after.len().div_ceil(64);
    if width == 0 {
        return;
    }
    let masks = PositionMasks::new(before, after, width);
    let mut rows = vec![u64::MAX; before.len() * width];
    for at in 0..before.len() {
        let (above, row) = rows.split_at_mut(at * width);
        let above = above.rchunks_exact(width).next().unwrap_or(&masks.initial_row);
        compute_table_row(above, masks.mask_of_line(at), &mut row[..width]);
    }
    let grows =
        |row: usize, column: usize| rows[row * width + column / 64] >> (column % 64) & 1 == 0;
    let (mut row, mut column) = (before.len(), after.len());
    while row > 0 && column > 0 {
        if !grows(row - 1, column - 1) {
            column -= 1;
            continue;
        }
        row -= 1;
        if row == 0 || !grows(row - 1, column - 1) {
            column -= 1;
            pair(row, column);
        }
    }
}

fn compute_table_row(above: &[u64], places: &[u64], row: &mut [u64]) {
    let mut carry = false;
    for ((word, &old), &mask) in row.iter_mut().zip(above).zip(places) {
        let (sum, over) = old.overflowing_add(old & mask);
        let (sum, again) = sum.overflowing_add(u64::from(carry));
        carry = over | again;
        *word = sum | (old & !mask);
    }
}

/// For each distinct line of the before side, a bit mask of the positions on the after side where
/// it occurs.
struct PositionMasks {
    /// The index of the mask for each line of the before side.
    which: Vec<u32>,
    /// One mask for each distinct line of the before side, one after another, of `width` words of 64
    /// bits each.
    bits: Vec<u64>,
    width: usize,
    /// The row above the first row of the table.
    initial_row: Vec<u64>,
}

impl PositionMasks {
    fn new(before: &[Token], after: &[Token], width: usize) -> Self {
        let most = before.iter().chain(after).map(|token| token.0).max().unwrap_or(0);
        // For each token, the index of its mask plus one; 0 is "no mask yet". Lines that occur only
        // on the after side need no mask.
        let mut kinds = vec![0u32; most as usize + 1];
        let mut count = 0;
        let which = before.iter().map(|token| {
            let kind = &mut kinds[token.0 as usize];
            if *kind == 0 {
                count += 1;
                *kind = count;
            }
            *kind - 1
        });
        let which: Vec<u32> = which.collect();
        let mut bits = vec![0u64; count as usize * width];
        for (at, token) in after.iter().enumerate() {
            if let Some(kind) = kinds[token.0 as usize].checked_sub(1) {
                bits[kind as usize * width + at / 64] |= 1 << (at % 64);
            }
        }
        Self { which, bits, width, initial_row: vec![u64::MAX; width] }
    }

    fn mask_of_line(&self, at: usize) -> &[u64] {
        let kind = self.which[at] as usize;
        &self.bits[kind * self.width..(kind + 1) * self.width]
    }
}

#[cfg(test)]
mod tests {
    use imara_diff::Token;
    use proptest::prelude::*;

    use super::{for_each_unchanged_pair, lcs_table_words};

    fn longest(before: &[u32], after: &[u32]) -> usize {
        let mut row = vec![0usize; after.len() + 1];
        for a in before {
            let mut corner = 0;
            for (j, b) in after.iter().enumerate() {
                let above = row[j + 1];
                row[j + 1] = if a == b { corner + 1 } else { above.max(row[j]) };
                corner = above;
            }
        }
        row[after.len()]
    }

    fn check(before: &[u32], after: &[u32]) {
        let tokens =
            |side: &[u32]| -> Vec<Token> { side.iter().map(|&kind| Token(kind)).collect() };
        let mut found = Vec::new();
        for_each_unchanged_pair(&tokens(before), &tokens(after), |x, y| found.push((x, y)));
        assert_eq!(found.len(), longest(before, after), "{before:?} {after:?}");
        assert!(found.iter().all(|&(x, y)| before[x] == after[y]));
        assert!(found.windows(2).all(|two| two[1].0 < two[0].0 && two[1].1 < two[0].1));
    }

    #[test]
    fn lists_near_a_word_boundary_are_compared() {
        for length in [0, 1, 2, 63, 64, 65, 127, 128, 129, 200] {
            let list = |step: u32| -> Vec<u32> { (0..length).map(|i| i * step % 5).collect() };
            check(&list(3), &list(7));
            check(&list(1), &list(1));
            check(&list(2), &[]);
            check(&[], &list(2));
        }
    }

    #[test]
    fn tables_that_are_too_large_return_none() {
        assert_eq!(lcs_table_words(0, 10), Some(0));
        assert_eq!(lcs_table_words(10, 65), Some(20));
        assert_eq!(lcs_table_words(1 << 20, 1 << 20), None);
        assert_eq!(lcs_table_words(usize::MAX, 65), None);
    }

    proptest! {
        #[test]
        fn number_of_pairs_is_maximal(
            before in prop::collection::vec(0u32..6, 0..150),
            after in prop::collection::vec(0u32..6, 0..150),
        ) {
            check(&before, &after);
        }
    }
}
