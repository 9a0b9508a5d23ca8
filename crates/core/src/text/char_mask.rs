//! Computes a bit mask of the characters in a text: a cheap test that excludes most texts without a
//! certain character.

/// Returns a mask with one bit for each ASCII letter (of either case), digit and common sign that
/// occurs; all other bytes share the remaining bits.
pub(crate) fn char_mask(text: &[u8]) -> u64 {
    text.iter().fold(0, |mask, byte| {
        let bit = match byte.to_ascii_lowercase() {
            letter @ b'a'..=b'z' => letter - b'a',
            digit @ b'0'..=b'9' => 26 + digit - b'0',
            b'_' => 36,
            b'-' => 37,
            b'.' => 38,
            b'/' => 39,
            other => 40 + other % 24,
        };
        mask | 1 << bit
    })
}
