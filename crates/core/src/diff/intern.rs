//! Interns lines as small numbers: equal lines get equal tokens.
//!
//! Interning takes most of the time of a comparison, so it has three shortcuts. A new line that is
//! known to equal an old one reuses its token. A new line that equals the old line after the last
//! match gets that token without hashing. And the hash is a fast one without a secret key; if lines
//! crafted to collide exhaust the probe budget, a table with the keyed hash of the standard library
//! replaces it.

use std::collections::HashMap;

use imara_diff::Token;

use super::lines::NO_EQUAL_OLD_LINE;

/// The lines of two texts as tokens: numbers that are equal where the lines are equal.
pub(super) struct LineTokens<'a> {
    /// The old text.
    pub before: Vec<Token>,
    /// The new text.
    pub after: Vec<Token>,
    table: TokenTable<'a>,
}

impl<'a> LineTokens<'a> {
    /// Gives the lines of both texts their tokens. `equal_old_lines` has for each line of the new
    /// text the index of an equal line of the old one, if known; it may be shorter than `after`,
    /// and may hold numbers that no line has.
    pub(super) fn new(
        before: &[&'a [u8]],
        after: &[&'a [u8]],
        equal_old_lines: impl IntoIterator<Item = u32>,
    ) -> Self {
        let mut table = TokenTable::new(before.len(), after.len());
        let old: Vec<Token> = before.iter().map(|line| table.token_of(line)).collect();
        // The first position of each token in the old text, from which matching continues.
        let known = table.lines.len();
        let mut place = vec![0u32; known];
        for (at, token) in old.iter().enumerate().rev() {
            place[token.0 as usize] = at as u32;
        }
        let mut next = 0;
        let new: Vec<Token> = after
            .iter()
            .zip(equal_old_lines.into_iter().chain(std::iter::repeat(NO_EQUAL_OLD_LINE)))
            .map(|(line, twin)| {
                if let Some(&token) = old.get(twin as usize) {
                    next = twin as usize + 1;
                    return token;
                }
                if before.get(next).is_some_and(|expected| expected == line) {
                    next += 1;
                    return old[next - 1];
                }
                let token = table.token_of(line);
                if let Some(&at) = place.get(token.0 as usize) {
                    next = at as usize + 1;
                }
                token
            })
            .collect();
        Self { before: old, after: new, table }
    }

    /// Returns the number of distinct lines.
    pub(super) fn distinct(&self) -> usize {
        self.table.lines.len()
    }

    pub(super) fn line(&self, token: Token) -> &'a [u8] {
        self.table.lines[token.0 as usize]
    }

    /// Adds lines that both texts share: `lead` before the lines so far, `trail` after them.
    pub(super) fn add_common_lines(&mut self, lead: &[&'a [u8]], trail: &[&'a [u8]]) {
        let mut numbers = |lines: &[&'a [u8]]| -> Vec<Token> {
            lines.iter().map(|line| self.table.token_of(line)).collect()
        };
        let (lead, trail) = (numbers(lead), numbers(trail));
        for side in [&mut self.before, &mut self.after] {
            side.splice(..0, lead.iter().copied());
            side.extend_from_slice(&trail);
        }
    }
}

/// Marks an empty slot of [`TokenTable::slots`].
const EMPTY_SLOT: u32 = u32::MAX;

struct TokenTable<'a> {
    /// A hash table with open addressing and linear probing: each slot holds a token or
    /// [`EMPTY_SLOT`].
    slots: Vec<u32>,
    /// The hash of each token's line.
    hashes: Vec<u64>,
    /// The line of each token.
    lines: Vec<&'a [u8]>,
    /// The number of further collisions until the table gives way to `keyed`.
    probes_left: usize,
    /// Replaces the table above once `probes_left` is 0.
    keyed: Option<HashMap<&'a [u8], u32>>,
}

impl<'a> TokenTable<'a> {
    fn new(before: usize, after: usize) -> Self {
        let lines = before + after;
        // Most lines of the new text also occur in the old one.
        let distinct = before + after / 4 + 16;
        Self {
            slots: vec![EMPTY_SLOT; lines.next_power_of_two().max(16)],
            hashes: Vec::with_capacity(distinct),
            lines: Vec::with_capacity(distinct),
            probes_left: 16 * lines + 1024,
            keyed: None,
        }
    }

    /// Returns the token of a line, a new one at its first occurrence.
    fn token_of(&mut self, line: &'a [u8]) -> Token {
        if self.keyed.is_some() || self.probes_left == 0 {
            return self.keyed_token(line);
        }
        if self.lines.len() * 2 > self.slots.len() {
            self.double_slots();
        }
        let hash = hash_line(line);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let token = self.slots[at];
            if token == EMPTY_SLOT {
                let token = self.lines.len() as u32;
                self.slots[at] = token;
                self.hashes.push(hash);
                self.lines.push(line);
                return Token(token);
            }
            if self.hashes[token as usize] == hash && self.lines[token as usize] == line {
                return Token(token);
            }
            at = (at + 1) & mask;
            self.probes_left = self.probes_left.saturating_sub(1);
            if self.probes_left == 0 {
                return self.keyed_token(line);
            }
        }
    }

    /// Doubles the number of slots and inserts all tokens again.
    fn double_slots(&mut self) {
        let size = self.slots.len() * 2;
        self.slots.clear();
        self.slots.resize(size, EMPTY_SLOT);
        for (token, hash) in self.hashes.iter().enumerate() {
            let mut at = *hash as usize & (size - 1);
            while self.slots[at] != EMPTY_SLOT && self.probes_left > 0 {
                at = (at + 1) & (size - 1);
                self.probes_left -= 1;
            }
            self.slots[at] = token as u32;
        }
    }

    /// Returns the token of a line from the table with the keyed hash.
    fn keyed_token(&mut self, line: &'a [u8]) -> Token {
        let lines = &mut self.lines;
        let keyed = self.keyed.get_or_insert_with(|| {
            lines.iter().enumerate().map(|(token, &line)| (line, token as u32)).collect()
        });
        let token = *keyed.entry(line).or_insert_with(|| {
            lines.push(line);
            lines.len() as u32 - 1
        });
        Token(token)
    }
}

/// Returns a 64-bit hash of a line, which differs between the native and the WebAssembly build: it
/// must not be stored or sent.
pub(crate) fn hash_line(line: &[u8]) -> u64 {
    #[cfg(not(target_family = "wasm"))]
    return hash_line_with(line, multiply_fold);
    #[cfg(target_family = "wasm")]
    return hash_line_with(line, multiply_fold_halves);
}

/// Hashes a line in blocks of 16 bytes; `fold` combines two 64-bit words into one.
fn hash_line_with(line: &[u8], fold: impl Fn(u64, u64) -> u64) -> u64 {
    const A: u64 = 0x9e37_79b9_7f4a_7c15;
    const B: u64 = 0xd6e8_feb8_6659_fd93;
    let pair = |pair: &[u8; 16]| {
        let pair = u128::from_le_bytes(*pair);
        (pair as u64, (pair >> 64) as u64)
    };
    let mut hash = line.len() as u64 ^ A;
    let mut rest = line;
    while let Some((block, more)) = rest.split_first_chunk::<16>() {
        let (x, y) = pair(block);
        hash = fold(x ^ hash, y ^ B);
        rest = more;
    }
    let (x, y) = match line.last_chunk::<16>() {
        // Reads the last 16 bytes, of which some were hashed already, instead of copying the
        // remainder.
        Some(block) => pair(block),
        None => {
            let mut block = [0; 16];
            block[..line.len()].copy_from_slice(line);
            pair(&block)
        }
    };
    fold(fold(x ^ hash, y ^ B), A)
}

/// Returns the exclusive or of both halves of the 128-bit product.
#[cfg(any(test, not(target_family = "wasm")))]
fn multiply_fold(x: u64, y: u64) -> u64 {
    let product = u128::from(x) * u128::from(y);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Combines two words without a 128-bit product, which is a function call on WebAssembly and took a
/// sixth of the time of a comparison: multiplies the low half of each by the high half of the
/// other.
#[cfg(any(test, target_family = "wasm"))]
fn multiply_fold_halves(x: u64, y: u64) -> u64 {
    const HALF: u64 = u32::MAX as u64;
    ((x & HALF) * (y >> 32)) ^ ((x >> 32) * (y & HALF)).rotate_left(32)
}

#[cfg(test)]
mod tests {
    use super::{LineTokens, TokenTable, hash_line_with, multiply_fold, multiply_fold_halves};
    use std::collections::HashSet;

    use proptest::prelude::*;

    fn equal_lines_have_equal_tokens(before: &[&[u8]], after: &[&[u8]]) {
        let tokens = LineTokens::new(before, after, []);
        let back = |side: &[imara_diff::Token]| {
            side.iter().map(|token| tokens.line(*token)).collect::<Vec<_>>()
        };
        assert_eq!((back(&tokens.before), back(&tokens.after)), (before.to_vec(), after.to_vec()));
        let mut distinct = tokens.table.lines.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), tokens.distinct());
    }

    #[test]
    fn keyed_table_replaces_the_first_one_midway() {
        let mut table = TokenTable::new(2, 2);
        let first = table.token_of(b"a");
        table.probes_left = 0;
        assert_eq!(
            (table.token_of(b"a"), table.token_of(b"b").0, table.token_of(b"b").0),
            (first, 1, 1)
        );
    }

    #[test]
    fn similar_lines_hash_to_different_slots() {
        let lines: Vec<String> =
            (0..4096).map(|n| format!("    let value{n} = {};\n", n % 7)).collect();
        let places = |fold: fn(u64, u64) -> u64| {
            let place = |line: &String| hash_line_with(line.as_bytes(), fold) & 0x3fff;
            lines.iter().map(place).collect::<HashSet<_>>().len()
        };
        // Random hashes of 4,096 lines would fill 3,625 of these 16,384 slots.
        assert!(places(multiply_fold) > 3500 && places(multiply_fold_halves) > 3500);
    }

    proptest! {
        #[test]
        fn tokens_stand_for_lines(
            before in proptest::collection::vec("[ab]{0,3}", 0..40),
            after in proptest::collection::vec("[ab]{0,20}", 0..40),
        ) {
            let before: Vec<&[u8]> = before.iter().map(String::as_bytes).collect();
            let after: Vec<&[u8]> = after.iter().map(String::as_bytes).collect();
            equal_lines_have_equal_tokens(&before, &after);
        }
    }
}
