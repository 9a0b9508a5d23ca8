//! Line anchors: two characters that tell a line's content.
//!
//! A read may print `120#k3` where it would print `120`; an edit may then name
//! lines by `120#k3` and is refused, or re-found, when line 120 no longer says
//! what was read. Two base-32 digits are enough to notice a shifted or changed
//! line (1 in 1,024 goes unnoticed) and cost a model two tokens.

/// Crockford's base 32: no `i`, `l`, `o`, `u`, which models and people misread.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A 64-bit hash of a line's text, without its line end. Stable between
/// versions, machines and engines: anchors may be stored.
pub fn line_hash(text: &[u8]) -> u64 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = (text.len() as u64).wrapping_mul(MULTIPLIER);
    let mut words = text.chunks_exact(8);
    for word in &mut words {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(word);
        hash = mix(hash, u64::from_le_bytes(bytes));
    }
    let mut bytes = [0; 8];
    bytes[..words.remainder().len()].copy_from_slice(words.remainder());
    hash = mix(hash, u64::from_le_bytes(bytes));
    hash ^ (hash >> 32)
}

/// One round: multiply to 128 bits and fold, so that every bit reaches every other.
fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word ^ 0xa076_1d64_78bd_642f)
        * u128::from(word.rotate_left(32) ^ 0xe703_7ed1_a0b4_28db);
    (product as u64) ^ ((product >> 64) as u64) ^ hash.rotate_left(23)
}

/// The two characters that stand for a line's text (UTF-8, without line end).
///
/// ```
/// use filewright_core::anchor::anchor;
/// assert_eq!(anchor(b"}"), anchor(b"}"));
/// assert_ne!(anchor(b"let a = 1;"), anchor(b"let a = 2;"));
/// ```
pub fn anchor(text: &[u8]) -> [char; 2] {
    let hash = line_hash(text);
    [digit(hash >> 5), digit(hash)]
}

fn digit(bits: u64) -> char {
    char::from(DIGITS[(bits & 31) as usize])
}

/// The anchors of every line of a text, two characters each, in one string.
pub fn anchors(text: &str) -> String {
    crate::text::lines(text.as_bytes()).flat_map(|line| anchor(line.text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_stable() {
        // Stored anchors must stay valid: these change only with a major version.
        assert_eq!(anchors("\nfn main() {\r\n    let x = 1;\n}\n"), "xyr2bpbn");
    }

    #[test]
    fn line_ends_do_not_matter() {
        assert_eq!(anchors("a\nb\n"), anchors("a\r\nb"));
    }

    #[test]
    fn similar_lines_spread_over_all_anchors() {
        let mut seen = std::collections::HashMap::new();
        for n in 0..20_000u32 {
            *seen.entry(anchor(format!("    field_{n}: {n},").as_bytes())).or_insert(0u32) += 1;
        }
        assert_eq!(seen.len(), 1024);
        // The expected count is 19.5; a poor hash clumps.
        assert!(seen.values().all(|&count| count < 50), "{:?}", seen.values().max());
    }

    #[test]
    fn length_and_padding_matter() {
        assert_ne!(line_hash(b"a"), line_hash(b"a\0"));
        assert_ne!(line_hash(b""), line_hash(b"\0"));
        assert_ne!(line_hash(b"12345678"), line_hash(b"12345678\0"));
    }
}
