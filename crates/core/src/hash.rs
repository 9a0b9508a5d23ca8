//! Content hashes: `sha256:` and 64 lower-case hexadecimal digits.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 of `bytes` in the text form used everywhere: `sha256:` and 64 lower-case
/// hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let mut hasher = Hasher::new();
    hasher.update(bytes);
    hasher.finish()
}

/// An incremental [`sha256`], for content that is read in chunks.
#[derive(Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Creates an empty hasher.
    pub fn new() -> Self {
        Self::default()
    }

    /// Hashes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the hash of all bytes in the form of [`sha256`].
    pub fn finish(self) -> String {
        const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digest = self.0.finalize();
        let mut text = String::with_capacity(7 + 64);
        text.push_str("sha256:");
        for byte in digest {
            text.push(char::from(HEX_DIGITS[usize::from(byte >> 4)]));
            text.push(char::from(HEX_DIGITS[usize::from(byte & 15)]));
        }
        text
    }
}

/// Saved states of hashing a text, one after each [`Self::STEP_BYTES`], so that hashing another
/// text with the same prefix can continue from one of them.
#[derive(Clone, Default)]
pub struct HashCheckpoints(Vec<Hasher>);

impl HashCheckpoints {
    /// The number of bytes between saved states.
    pub const STEP_BYTES: usize = 1 << 20;

    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Hashes the next [`Self::STEP_BYTES`] of the text and saves the state. Returns false if fewer
    /// bytes are left.
    pub fn step(&mut self, text: &[u8]) -> bool {
        let start = self.0.len() * Self::STEP_BYTES;
        let Some(piece) = text.get(start..start + Self::STEP_BYTES) else { return false };
        let mut hasher = self.0.last().cloned().unwrap_or_default();
        hasher.update(piece);
        self.0.push(hasher);
        true
    }

    /// Returns the last saved state that is valid for another text with the same first `same`
    /// bytes, and the number of bytes hashed in it.
    pub fn shared_prefix(mut self, same: usize) -> (Hasher, usize) {
        self.0.truncate(same / Self::STEP_BYTES);
        let hashed = self.0.len() * Self::STEP_BYTES;
        (self.0.pop().unwrap_or_default(), hashed)
    }
}

#[cfg(test)]
mod tests {
    use super::{HashCheckpoints, sha256};

    #[test]
    fn a_hash_continues_where_texts_diverge() {
        let old: Vec<u8> =
            (0..2 * HashCheckpoints::STEP_BYTES + 5).map(|at| (at % 251) as u8).collect();
        for same in [HashCheckpoints::STEP_BYTES - 1, HashCheckpoints::STEP_BYTES, old.len()] {
            for steps in [1, 3] {
                let mut trail = HashCheckpoints::new();
                let made = (0..steps).filter(|_| trail.step(&old)).count();
                assert_eq!(made, steps.min(2));
                let new = [&old[..same], b"else"].concat();
                let (mut hasher, hashed) = trail.shared_prefix(same);
                assert_eq!(
                    hashed,
                    made.min(same / HashCheckpoints::STEP_BYTES) * HashCheckpoints::STEP_BYTES
                );
                hasher.update(&new[hashed..]);
                assert_eq!(hasher.finish(), sha256(&new));
            }
        }
    }

    #[test]
    fn known_answer() {
        assert_eq!(
            super::sha256(b"abc"),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
