//! Line anchors: six characters that identify a line together with its two neighbours.
//!
//! A read may print `120#k3x9q1` instead of `120`. An edit may then name a line by `120#k3x9q1`; if
//! line 120 has changed since, the edit is relocated or refused. The neighbours distinguish equal
//! lines such as `}`. Six base-32 digits are 30 bits, so a stale anchor matches a wrong line in one
//! of a million files of a thousand lines. A line whose anchor could also fit another line (see
//! [`AnchorKind::Common`]) gets an anchor that an edit accepts only on its own line number, never
//! at another line of a changed file.

use std::collections::HashSet;

/// Crockford's base 32: no `i`, `l`, `o`, `u`, which models and people misread.
const BASE32_DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A 64-bit hash of a line's text without its line ending. The function stays the same in all
/// versions and on all machines, in the native and the WebAssembly build, because callers may store
/// anchors.
pub fn line_hash(text: &[u8]) -> u64 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = (text.len() as u64).wrapping_mul(MULTIPLIER);
    let mut words = text.chunks_exact(8);
    for word in &mut words {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(word);
        hash = line_hash_round(hash, u64::from_le_bytes(bytes));
    }
    let mut bytes = [0; 8];
    bytes[..words.remainder().len()].copy_from_slice(words.remainder());
    hash = line_hash_round(hash, u64::from_le_bytes(bytes));
    hash ^ (hash >> 32)
}

/// One round of [`line_hash`]: multiplies the state by the next word to 128 bits and combines both
/// halves, so that every input bit affects every output bit.
fn line_hash_round(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word ^ 0xa076_1d64_78bd_642f)
        * u128::from(word.rotate_left(32) ^ 0xe703_7ed1_a0b4_28db);
    (product as u64) ^ ((product >> 64) as u64) ^ hash.rotate_left(23)
}

/// The length of an anchor in base-32 digits, which are one byte each.
pub const ANCHOR_LENGTH: usize = 6;

/// Stands in place of the anchor of a line whose content or neighbour was not read. No edit can
/// refer to it.
pub const NO_ANCHOR: &str = "------";

/// Combines the [`line_hash`] of a line with those of the lines before and after it; `None` at the
/// beginning or end of the file.
pub(crate) fn neighbourhood_hash(before: Option<u64>, line: u64, after: Option<u64>) -> u64 {
    const EDGE: u64 = 0x5851_f42d_4c95_7f2d;
    line_hash_round(line_hash_round(line, before.unwrap_or(EDGE)), after.unwrap_or(EDGE))
}

/// Returns [`neighbourhood_hash`] for every line, given the [`line_hash`] of all lines of a file.
pub(crate) fn neighbourhood_hashes(hashes: &[u64]) -> Vec<u64> {
    let at = |at: usize| hashes.get(at).copied();
    let one = |(index, &line): (usize, &u64)| {
        neighbourhood_hash(index.checked_sub(1).and_then(at), line, at(index + 1))
    };
    hashes.iter().enumerate().map(one).collect()
}

/// Returns the anchor that encodes a [`neighbourhood_hash`]. Both kinds of anchor have the same
/// form; the kind changes the digits.
pub(crate) fn anchor_digits(neighbourhood: u64, kind: AnchorKind) -> [char; ANCHOR_LENGTH] {
    let number = anchor_number(neighbourhood, kind);
    std::array::from_fn(|at| {
        char::from(BASE32_DIGITS[(number >> (5 * (ANCHOR_LENGTH - 1 - at)) & 31) as usize])
    })
}

/// Returns the number whose digits are [`anchor_digits`]. Comparing numbers is several times faster
/// than comparing digits.
pub(crate) fn anchor_number(neighbourhood: u64, kind: AnchorKind) -> u32 {
    let hash = match kind {
        AnchorKind::Unique => neighbourhood,
        AnchorKind::Common => line_hash_round(neighbourhood, 0x2545_f491_4f6c_dd1d),
    };
    (hash ^ (hash >> 32)) as u32 & ((1 << (5 * ANCHOR_LENGTH)) - 1)
}

/// Returns the number that an anchor's digits write; `None` if a character is no digit.
pub(crate) fn number_of_digits(digits: &[char; ANCHOR_LENGTH]) -> Option<u32> {
    digits.iter().try_fold(0, |number, &digit| {
        let value = BASE32_DIGITS.iter().position(|&one| char::from(one) == digit)?;
        Some(number << 5 | value as u32)
    })
}

/// Says whether an edit may look for a line elsewhere in a changed file by its anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnchorKind {
    /// The edit may look elsewhere: the neighbourhood (the line with its two neighbours) occurs
    /// once in the file, and so does at least one of its three lines.
    Unique,
    /// The edit accepts only the line's own number: the neighbourhood occurs more than once, so the
    /// one that is left after a change may be another line; or every line of it occurs more than
    /// once, so a removal elsewhere may create an equal one; or the file is too large to count.
    Common,
}

/// The lines and neighbourhoods, as hashes, that occur more than once in a file; `None` if the file
/// is too large to count them.
pub(crate) struct RepeatedLines(Option<RepeatedHashes>);

struct RepeatedHashes {
    lines: HashSet<u64>,
    neighbourhoods: HashSet<u64>,
}

impl RepeatedLines {
    /// Finds the repeated lines and neighbourhoods of a file, given the [`line_hash`] of each line.
    pub(crate) fn among(hashes: &[u64]) -> Self {
        Self(Some(RepeatedHashes {
            lines: repeated_hashes(hashes),
            neighbourhoods: repeated_hashes(&neighbourhood_hashes(hashes)),
        }))
    }

    /// Returns the value for a file that is too large to count, in which every line counts as
    /// repeated.
    pub(crate) const fn unknown() -> Self {
        Self(None)
    }

    /// Returns the anchor of a line; a neighbour is `None` at the beginning or end of the file.
    pub(crate) fn digits(
        &self,
        before: Option<u64>,
        line: u64,
        after: Option<u64>,
    ) -> [char; ANCHOR_LENGTH] {
        let neighbourhood = neighbourhood_hash(before, line, after);
        let is_unique = self.0.as_ref().is_some_and(|repeated| {
            !repeated.neighbourhoods.contains(&neighbourhood)
                && [before, Some(line), after]
                    .iter()
                    .flatten()
                    .any(|hash| !repeated.lines.contains(hash))
        });
        anchor_digits(
            neighbourhood,
            if is_unique { AnchorKind::Unique } else { AnchorKind::Common },
        )
    }

    /// Returns the anchor of the line at index `at` of `hashes`.
    pub(crate) fn digits_at(&self, hashes: &[u64], at: usize) -> [char; ANCHOR_LENGTH] {
        let hash = |at: usize| hashes.get(at).copied();
        self.digits(at.checked_sub(1).and_then(hash), hashes[at], hash(at + 1))
    }
}

/// Returns the hashes that occur more than once.
fn repeated_hashes(hashes: &[u64]) -> HashSet<u64> {
    let mut seen = HashSet::with_capacity(hashes.len());
    hashes.iter().copied().filter(|&one| !seen.insert(one)).collect()
}

/// Returns the anchors of all lines of a text in one string, [`ANCHOR_LENGTH`] characters each.
pub fn anchors(text: &str) -> String {
    let hashes = line_hashes(text);
    let repeated = RepeatedLines::among(&hashes);
    (0..hashes.len()).flat_map(|at| repeated.digits_at(&hashes, at)).collect()
}

pub(crate) fn line_hashes(text: &str) -> Vec<u64> {
    crate::text::lines(text.as_bytes()).map(|line| line_hash(line.text)).collect()
}

/// Returns the anchors of consecutive lines in one string, given their hashes; a hash of `None` is
/// unknown, and the line and its neighbours get [`NO_ANCHOR`]. `before` and `after` are the hashes
/// of the lines around: `None` if unknown, `Some(None)` at the beginning or end of the file.
pub(crate) fn anchors_between(
    before: Option<Option<u64>>,
    hashes: &[Option<u64>],
    after: Option<Option<u64>>,
    repeated: &RepeatedLines,
) -> String {
    let known = |at: usize| hashes[at].map(Some);
    let mut text = String::with_capacity(hashes.len() * ANCHOR_LENGTH);
    for (at, hash) in hashes.iter().enumerate() {
        let previous = if at == 0 { before } else { known(at - 1) };
        let next = if at + 1 == hashes.len() { after } else { known(at + 1) };
        match (previous, hash, next) {
            (Some(previous), Some(line), Some(next)) => {
                text.extend(repeated.digits(previous, *line, next));
            }
            _ => text.push_str(NO_ANCHOR),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_stable() {
        // Callers store anchors, so the values change only with a major version.
        assert_eq!(anchors("\nfn main() {\r\n    let x = 1;\n}\n"), "gg49e3dv3rmz59fe31devrb3");
    }

    #[test]
    fn line_ends_do_not_matter() {
        assert_eq!(anchors("a\nb\n"), anchors("a\r\nb"));
    }

    #[test]
    fn similar_lines_spread_over_all_anchors() {
        let mut seen = std::collections::HashMap::new();
        for n in 0..20_000u32 {
            let hash = line_hash(format!("    field_{n}: {n},").as_bytes());
            for (at, digit) in anchor_digits(hash, AnchorKind::Unique).into_iter().enumerate() {
                *seen.entry((at, digit)).or_insert(0u32) += 1;
            }
        }
        assert_eq!(seen.len(), 6 * 32);
        // The expected count is 625; a poor hash would cluster.
        assert!(seen.values().all(|&count| (500..750).contains(&count)), "{seen:?}");
    }

    #[test]
    fn length_and_padding_matter() {
        assert_ne!(line_hash(b"a"), line_hash(b"a\0"));
        assert_ne!(line_hash(b""), line_hash(b"\0"));
        assert_ne!(line_hash(b"12345678"), line_hash(b"12345678\0"));
    }
}
