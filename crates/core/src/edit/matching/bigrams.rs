//! Estimates the similarity of two lines by their pairs of adjacent bytes.
//!
//! The estimate takes one step per byte, so that all lines of a large file can be checked and only
//! the most similar ones are compared exactly.

/// The set of byte pairs of a line.
pub(in crate::edit) struct Bigrams {
    /// One bit for each of the 65,536 pairs.
    pairs: Vec<u64>,
    /// The number of distinct pairs in the set.
    pub len: usize,
}

impl Bigrams {
    pub(in crate::edit) fn new(line: &[u8]) -> Self {
        let mut pairs = vec![0u64; 1024];
        for pair in line.windows(2) {
            let at = pair_index(pair[0], pair[1]);
            pairs[at / 64] |= 1 << (at % 64);
        }
        let len = pairs.iter().map(|bits| bits.count_ones() as usize).sum();
        Self { pairs, len }
    }

    /// Counts the pairs of adjacent bytes of `line` that are in this set; a repeated pair counts
    /// each time.
    pub(in crate::edit) fn shared(&self, line: &[u8]) -> usize {
        line.windows(2).map(|pair| usize::from(self.has(pair[0], pair[1]))).sum()
    }

    /// Does the same as [`Self::shared`] for `line` without its white space.
    pub(in crate::edit) fn shared_without_whitespace(&self, line: &[u8]) -> usize {
        let mut words = line.iter().copied().filter(|&byte| !matches!(byte, b' ' | b'\t'..=b'\r'));
        let Some(mut before) = words.next() else { return 0 };
        let pair = |byte| usize::from(self.has(std::mem::replace(&mut before, byte), byte));
        words.map(pair).sum()
    }

    fn has(&self, a: u8, b: u8) -> bool {
        let at = pair_index(a, b);
        self.pairs[at / 64] >> (at % 64) & 1 == 1
    }
}

/// Returns the index of a pair of bytes among all pairs.
fn pair_index(a: u8, b: u8) -> usize {
    usize::from(a) << 8 | usize::from(b)
}

#[cfg(test)]
mod tests {
    use super::Bigrams;

    #[test]
    fn pairs_are_counted() {
        let pairs = Bigrams::new(b"abab");
        assert_eq!(pairs.len, 2);
        assert_eq!(pairs.shared(b"xabb"), 1);
        assert_eq!((pairs.shared(b"a bab"), pairs.shared_without_whitespace(b"a bab")), (2, 3));
    }
}
