//! Sets of numbers as one bit each.

/// Intersects `set` with another set of bits; returns false if the result is empty.
pub(super) fn intersect_bit_set(set: &mut [u64], other: &[u64]) -> bool {
    let mut any = 0;
    for (word, other) in set.iter_mut().zip(other) {
        *word &= other;
        any |= *word;
    }
    any != 0
}

/// Adds another set of bits to `set`.
pub(super) fn unite_bit_set(set: &mut [u64], other: &[u64]) {
    for (word, other) in set.iter_mut().zip(other) {
        *word |= other;
    }
}
