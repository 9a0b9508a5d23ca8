//! Counts characters of texts in UTF-8.

/// Returns the number of Unicode code points in a text.
pub fn count_chars(text: &str) -> usize {
    // Every code point has exactly one byte that is not a continuation byte (80 to BF).
    count_bytes(text.as_bytes(), |byte| byte as i8 >= -0x40)
}

/// Returns the number of bytes that satisfy `is`. Adds up groups whose count fits into one byte,
/// because the processor adds many bytes in one instruction.
fn count_bytes(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    const BYTES_PER_GROUP: usize = 192;
    let of_some = |some: &[u8]| some.iter().map(|&byte| u8::from(is(byte))).sum::<u8>();
    bytes.chunks(BYTES_PER_GROUP).map(|some| usize::from(of_some(some))).sum()
}

/// Returns the length of a text in UTF-16 units, as JavaScript counts it.
pub fn utf16_len(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    // Each code point is one UTF-16 unit, except those of four bytes, which are two.
    count_chars(text) + count_bytes(text.as_bytes(), |byte| byte >= 0xf0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_utf16() {
        for text in ["", "abc", "é", "漢", "😀", "a😀é漢z"] {
            for text in [text.to_owned(), text.repeat(400)] {
                assert_eq!(utf16_len(&text), text.encode_utf16().count(), "{text}");
                assert_eq!(count_chars(&text), text.chars().count(), "{text}");
            }
        }
    }
}
