//! Computes the similarity of two short texts by their edit distance (Levenshtein), 64 cells at a
//! time.

/// The maximum length in bytes of texts that are compared; longer ones have similarity 0 unless
/// they are equal.
pub(in crate::edit) const MAX_SIMILAR_BYTES: usize = 4096;

/// Returns 1 minus the edit distance in bytes divided by the longer length: 1 for equal texts.
/// Returns 0 where that is below `floor`. After removing the common prefix and suffix, takes about
/// one step per byte of one text and 64 bytes of the other.
pub(in crate::edit) fn similarity(a: &[u8], b: &[u8], floor: f64) -> f64 {
    let longest = a.len().max(b.len());
    if a == b {
        return 1.0;
    }
    if longest > MAX_SIMILAR_BYTES {
        return 0.0;
    }
    let most = ((1.0 - floor) * longest as f64).floor() as usize;
    let prefix = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[prefix..], &b[prefix..]);
    let suffix = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - suffix], &b[..b.len() - suffix]);
    if a.len().abs_diff(b.len()) > most {
        return 0.0;
    }
    let (pattern, text) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    match bounded_edit_distance(pattern, text, most) {
        Some(distance) => 1.0 - distance as f64 / longest as f64,
        None => 0.0,
    }
}

/// Returns the edit distance of two texts in bytes, or `None` above `most`.
fn bounded_edit_distance(pattern: &[u8], text: &[u8], most: usize) -> Option<usize> {
    let mut whole = BitPattern::default();
    whole.set_pattern(pattern);
    whole.bounded_edit_distance(text, most)
}

/// A text prepared for comparison with many others.
#[derive(Default)]
pub(in crate::edit) struct BitPattern {
    bytes: Vec<u8>,
    /// For each block of 64 bytes of the text, a mask of the positions of each byte value.
    places: Vec<[u64; 256]>,
    columns: Vec<DistanceColumn>,
}

impl BitPattern {
    /// The length in bytes up to which texts are compared as a whole; for longer ones, the common
    /// prefix and suffix are removed first.
    const MAX_WHOLE_BYTES: usize = 128;

    /// Replaces the text that is compared with others.
    pub(in crate::edit) fn set_pattern(&mut self, bytes: &[u8]) {
        for (at, &byte) in self.bytes.iter().enumerate() {
            self.places[at / 64][usize::from(byte)] = 0;
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        let blocks = bytes.len().div_ceil(64);
        if self.places.len() < blocks {
            self.places.resize(blocks, [0; 256]);
        }
        for (at, &byte) in bytes.iter().enumerate() {
            self.places[at / 64][usize::from(byte)] |= 1 << (at % 64);
        }
    }

    /// Returns [`similarity`] of the pattern and a text.
    pub(in crate::edit) fn similarity(&mut self, text: &[u8], floor: f64) -> f64 {
        let longest = self.bytes.len().max(text.len());
        if longest > Self::MAX_WHOLE_BYTES {
            return similarity(&self.bytes, text, floor);
        }
        if longest == 0 {
            return 1.0;
        }
        let most = ((1.0 - floor) * longest as f64).floor() as usize;
        if self.bytes.len().abs_diff(text.len()) > most {
            return 0.0;
        }
        self.bounded_edit_distance(text, most)
            .map_or(0.0, |distance| 1.0 - distance as f64 / longest as f64)
    }

    /// Returns the edit distance in bytes, or `None` above `most`, by Myers' bit-vector algorithm
    /// in blocks of 64 rows.
    fn bounded_edit_distance(&mut self, text: &[u8], most: usize) -> Option<usize> {
        let Some(last) = self.bytes.len().checked_sub(1) else {
            return Some(text.len()).filter(|&distance| distance <= most);
        };
        let blocks = last / 64 + 1;
        self.columns.clear();
        self.columns.resize(blocks, DistanceColumn { up: !0, down: 0 });
        let last = 1u64 << (last % 64);
        let mut score = self.bytes.len();
        for (at, &byte) in text.iter().enumerate() {
            // In the top row, each byte of the text adds one to the distance.
            let mut carry = 1;
            for (block, column) in self.columns.iter_mut().enumerate() {
                let high = if block + 1 == blocks { last } else { 1 << 63 };
                carry = column.advance_byte(self.places[block][usize::from(byte)], carry, high);
            }
            score = score.wrapping_add_signed(carry);
            // Each remaining byte can lower the score by at most one.
            if score > most + (text.len() - at - 1) {
                return None;
            }
        }
        Some(score).filter(|&distance| distance <= most)
    }
}

/// The differences between adjacent rows of one column in a block of 64: bits for rows where the
/// distance increases (`up`) and where it decreases (`down`).
#[derive(Clone, Copy)]
struct DistanceColumn {
    up: u64,
    down: u64,
}

impl DistanceColumn {
    /// Processes the next byte of the text, whose positions in the block are `matches`. `carry` is
    /// the change of distance along the row above the block; returns the change along the row of
    /// the bit `high`.
    fn advance_byte(&mut self, matches: u64, carry: isize, high: u64) -> isize {
        let vertical = matches | self.down;
        let matches = matches | u64::from(carry < 0);
        let horizontal = ((matches & self.up).wrapping_add(self.up) ^ self.up) | matches;
        let mut plus = self.down | !(horizontal | self.up);
        let mut minus = self.up & horizontal;
        let out = isize::from(plus & high != 0) - isize::from(minus & high != 0);
        plus = (plus << 1) | u64::from(carry > 0);
        minus = (minus << 1) | u64::from(carry < 0);
        self.up = minus | !(vertical | plus);
        self.down = plus & vertical;
        out
    }
}

#[cfg(test)]
mod tests {
    use super::{BitPattern, bounded_edit_distance, similarity};
    use proptest::prelude::*;

    fn plain(a: &[u8], b: &[u8]) -> usize {
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (i, x) in a.iter().enumerate() {
            let mut diagonal = std::mem::replace(&mut row[0], i + 1);
            for (j, y) in b.iter().enumerate() {
                let best = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
                diagonal = std::mem::replace(&mut row[j + 1], best);
            }
        }
        row[b.len()]
    }

    #[test]
    fn similarity_of_pairs() {
        assert_eq!(similarity(b"abcd", b"abxd", 0.5), 0.75);
        assert_eq!(similarity(b"abcd", b"abxd", 0.8), 0.0);
        assert_eq!(similarity(b"", b"", 0.5), 1.0);
        assert_eq!(similarity(&[b'a'; 5000], &[b'a'; 5001], 0.5), 0.0);
    }

    proptest! {
        #[test]
        fn patterns_can_be_used_again(
            texts in proptest::collection::vec("[ab]{0,140}", 2..6), floor in 0.0f64..0.9,
        ) {
            let mut pattern = BitPattern::default();
            for pair in texts.windows(2) {
                pattern.set_pattern(pair[0].as_bytes());
                for text in &texts {
                    let expected = similarity(pair[0].as_bytes(), text.as_bytes(), floor);
                    prop_assert_eq!(pattern.similarity(text.as_bytes(), floor), expected);
                }
            }
        }

        #[test]
        fn distances_are_those_of_the_plain_algorithm(
            a in proptest::collection::vec(b'a'..b'd', 0..200),
            b in proptest::collection::vec(b'a'..b'd', 0..200),
        ) {
            let expected = plain(&a, &b);
            prop_assert_eq!(bounded_edit_distance(&a, &b, usize::MAX / 2), Some(expected));
            prop_assert_eq!(bounded_edit_distance(&a, &b, expected), Some(expected));
            if expected > 0 {
                prop_assert_eq!(bounded_edit_distance(&a, &b, expected - 1), None);
            }
        }
    }
}
