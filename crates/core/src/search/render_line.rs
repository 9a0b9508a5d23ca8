//! Renders a line for display: without its line ending, as UTF-8, and truncated to the requested
//! length.

use std::borrow::Cow;
use std::ops::Range;

use crate::text::count_chars;

/// A line of a text, or the displayed part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Line<'a> {
    /// The text, with U+FFFD for invalid bytes.
    pub text: Cow<'a, str>,
    /// True if `text` is only a part of the line, with `…` where text is left out.
    pub cut: bool,
}

/// Stands for a part of a line that is left out.
const ELLIPSIS: char = '…';

/// Returns a line in at most `max_chars` code points (0 for no limit); of a longer line, the part
/// around the byte range `focus`.
pub(super) fn render_line(line: &[u8], focus: Range<usize>, max_chars: usize) -> Line<'_> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if max_chars == 0 || line.len() <= max_chars {
        return Line { text: lossy_text(line), cut: false };
    }
    let start = focus.start.min(line.len());
    // At most `reach` bytes on either side of the focus are decoded, so that a huge line takes no
    // longer than a long one.
    let reach = max_chars.saturating_mul(4).saturating_add(8);
    let from = next_char_boundary(line, start.saturating_sub(reach)).min(start);
    let to = next_char_boundary(line, start.saturating_add(reach).min(line.len()));
    let left = String::from_utf8_lossy(&line[from..start]);
    let right = String::from_utf8_lossy(&line[start..to]);
    let (on_left, on_right) = (left.chars().count(), right.chars().count());
    if from == 0 && to == line.len() && on_left + on_right <= max_chars {
        return Line { text: left + right, cut: false };
    }
    // A quarter of the space goes to the text before the match; space that one side does not need
    // goes to the other.
    let room_right = max_chars - on_left.min(max_chars / 4);
    let room_left = max_chars - on_right.min(room_right);
    let cut_left = on_left > room_left || from > 0;
    let cut_right = on_right > room_right || to < line.len();
    let marks = max_chars >= 3;
    let (mut take_left, mut take_right) = (on_left.min(room_left), on_right.min(room_right));
    if marks && cut_left {
        let side = if take_left > 0 { &mut take_left } else { &mut take_right };
        *side = side.saturating_sub(1);
    }
    if marks && cut_right {
        take_right = take_right.saturating_sub(1);
    }
    let mut text = String::with_capacity(take_left + take_right + 8);
    if marks && cut_left {
        text.push(ELLIPSIS);
    }
    text.extend(left.chars().skip(on_left - take_left));
    text.extend(right.chars().take(take_right));
    if marks && cut_right {
        text.push(ELLIPSIS);
    }
    Line { text: Cow::Owned(text), cut: true }
}

/// Returns bytes as text, with U+FFFD for invalid ones. Nearly all are valid UTF-8, and checking is
/// cheaper than replacing.
fn lossy_text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Returns the number of code points that the bytes have as text.
pub(super) fn count_shown_chars(bytes: &[u8]) -> usize {
    if bytes.is_ascii() {
        return bytes.len();
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => count_chars(text),
        Err(_) => String::from_utf8_lossy(bytes).chars().count(),
    }
}

/// Returns the byte offset `at` or, if it is inside a code point, that of the next one.
fn next_char_boundary(line: &[u8], at: usize) -> usize {
    if at == 0 {
        return 0;
    }
    let continuations = line[at..].iter().take(3).take_while(|&&byte| byte & 0xc0 == 0x80);
    at + continuations.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn windows() {
        let cases = [
            ("short", 0..1, 10, "short"),
            ("short\r", 0..1, 10, "short"),
            ("0123456789abcdef", 0..1, 8, "0123456…"),
            ("0123456789abcdef", 15..16, 8, "…9abcdef"),
            ("0123456789abcdef", 8..9, 8, "…789abc…"),
            ("ééééé", 0..2, 5, "ééééé"),
            ("éééééé", 0..2, 5, "éééé…"),
            ("0123456789", 4..5, 0, "0123456789"),
            ("0123456789", 4..5, 2, "45"),
        ];
        for (line, focus, max, expected) in cases {
            assert_eq!(render_line(line.as_bytes(), focus, max).text, expected, "{line} {max}");
        }
        assert_eq!(render_line(b"a\xffb", 0..1, 9).text, "a\u{fffd}b");
    }

    proptest! {
        #[test]
        fn never_longer_and_holds_the_focus(line in "[a-zé漢😀]{1,60}", at in 0usize..60, max in 3usize..40) {
            let chars: Vec<char> = line.chars().collect();
            let at = at % chars.len();
            let start: usize = chars[..at].iter().map(|c| c.len_utf8()).sum();
            let shown = render_line(line.as_bytes(), start..start + chars[at].len_utf8(), max);
            prop_assert!(shown.text.chars().count() <= max);
            prop_assert_eq!(shown.cut, chars.len() > max);
            prop_assert!(shown.text.contains(chars[at]));
        }

        #[test]
        fn never_panics(line in proptest::collection::vec(any::<u8>(), 0..80), start in 0usize..90, max in 0usize..20) {
            let shown = render_line(&line, start..start + 1, max);
            prop_assert!(max == 0 || shown.text.chars().count() <= max.max(1) || !shown.cut);
            count_shown_chars(&line);
        }
    }
}
