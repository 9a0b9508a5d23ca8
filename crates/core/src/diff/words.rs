//! Compares two texts by words or characters, for display within lines.
//!
//! A word is a run of letters, digits and underscores; a run of white space is one token; every
//! other character is a token of its own. The common prefix and suffix are cut off as raw bytes
//! before tokenising.

use super::changes_between_lines;
use crate::chars::utf16_len;
use crate::pack::Packed;

/// The unit in which two texts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenUnit {
    /// Words, runs of white space, and single characters otherwise.
    Words,
    /// Characters (code points).
    Chars,
}

/// The text that contains a part of a comparison: the old one, the new one or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The part is in both texts.
    Same = 0,
    /// The part is only in the old text: it was removed.
    Removed = 1,
    /// The part is only in the new text: it was added.
    Added = 2,
}

/// A run of tokens with the same [`ChangeKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffPart<'t> {
    /// The text that contains the part.
    pub kind: ChangeKind,
    /// The number of tokens of the part.
    pub tokens: usize,
    /// The text of the part.
    pub text: &'t str,
}

/// Compares two texts token by token. In a replacement, the removed part precedes the added part.
///
/// ```
/// use filewright_core::diff::words::{ChangeKind, TokenUnit, compare_tokens};
/// let found = compare_tokens("one two", "one three", TokenUnit::Words);
/// let told: Vec<_> = found.iter().map(|part| (part.kind, part.text)).collect();
/// assert_eq!(told, [(ChangeKind::Same, "one "), (ChangeKind::Removed, "two"), (ChangeKind::Added,
/// "three")]);
/// ```
pub fn compare_tokens<'t>(before: &'t str, after: &'t str, unit: TokenUnit) -> Vec<DiffPart<'t>> {
    let head = common_token_prefix_len(before, after, unit);
    let (old, new) = (&before[head..], &after[head..]);
    let tail = common_token_suffix_len(old, new, unit);
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let mut out = DiffPartList { parts: Vec::new() };
    out.push(ChangeKind::Same, &after[..head], count_tokens(&after[..head], unit));
    let (olds, news): (Vec<&str>, Vec<&str>) =
        (split_tokens(old, unit).collect(), split_tokens(new, unit).collect());
    let bytes = |tokens: &[&'t str]| tokens.iter().map(|token| token.as_bytes()).collect();
    let (old_bytes, new_bytes): (Vec<&[u8]>, Vec<&[u8]>) = (bytes(&olds), bytes(&news));
    let (mut from, mut at) = (0, 0);
    for change in changes_between_lines(&old_bytes, &new_bytes) {
        let (gone, come) = (change.before, change.after);
        let same = gone.start as usize - from;
        out.push_tokens(ChangeKind::Same, new, &news, at..at + same);
        (from, at) = (gone.end as usize, come.end as usize);
        out.push_tokens(ChangeKind::Removed, old, &olds, gone.start as usize..from);
        out.push_tokens(ChangeKind::Added, new, &news, come.start as usize..at);
    }
    out.push_tokens(ChangeKind::Same, new, &news, at..news.len());
    let tail = &after[after.len() - tail..];
    out.push(ChangeKind::Same, tail, count_tokens(tail, unit));
    out.parts
}

/// Encodes the result of [`compare_tokens`]: the number of parts, and for each its [`ChangeKind`]
/// (0 same, 1 removed, 2 added), its number of tokens and its length in UTF-16 code units.
pub fn compare_tokens_packed(before: &str, after: &str, chars: bool) -> Packed {
    let parts =
        compare_tokens(before, after, if chars { TokenUnit::Chars } else { TokenUnit::Words });
    let mut packed = Packed::new();
    packed.num(parts.len() as u64);
    for part in parts {
        packed.num(part.kind as u64);
        packed.num(part.tokens as u64);
        packed.num(utf16_len(part.text) as u64);
    }
    packed
}

/// The parts found so far, without empty ones.
struct DiffPartList<'t> {
    parts: Vec<DiffPart<'t>>,
}

impl<'t> DiffPartList<'t> {
    /// Adds the tokens with the indexes `run`; `tokens` are all tokens of `text`.
    fn push_tokens(
        &mut self,
        kind: ChangeKind,
        text: &'t str,
        tokens: &[&'t str],
        run: std::ops::Range<usize>,
    ) {
        let place = |at: usize| {
            tokens
                .get(at)
                .map_or(text.len(), |token| token.as_ptr() as usize - text.as_ptr() as usize)
        };
        self.push(kind, &text[place(run.start)..place(run.end)], run.len());
    }

    fn push(&mut self, kind: ChangeKind, text: &'t str, tokens: usize) {
        if !text.is_empty() {
            self.parts.push(DiffPart { kind, tokens, text });
        }
    }
}

/// Character classes. Consecutive characters of a class form a token, except those of the last
/// class, which are tokens of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Word,
    Blank,
    Mark,
}

fn char_class(c: char) -> CharClass {
    match c {
        '_' => CharClass::Word,
        c if c.is_alphanumeric() => CharClass::Word,
        c if c.is_whitespace() => CharClass::Blank,
        _ => CharClass::Mark,
    }
}

/// Returns true if a token ends between two adjacent characters.
fn is_token_boundary(before: char, after: char, unit: TokenUnit) -> bool {
    let class_before = char_class(before);
    unit == TokenUnit::Chars || class_before == CharClass::Mark || class_before != char_class(after)
}

fn split_tokens(text: &str, unit: TokenUnit) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut chars = rest.char_indices().peekable();
        chars.peek()?;
        let mut end = rest.len();
        while let Some((_, c)) = chars.next() {
            if let Some(&(at, next)) = chars.peek()
                && is_token_boundary(c, next, unit)
            {
                end = at;
                break;
            }
        }
        let (token, left) = rest.split_at(end);
        rest = left;
        Some(token)
    })
}

fn count_tokens(text: &str, unit: TokenUnit) -> usize {
    split_tokens(text, unit).count()
}

/// Returns the length in bytes of the whole tokens that both texts begin with.
fn common_token_prefix_len(a: &str, b: &str, unit: TokenUnit) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    if same == a.len() && same == b.len() {
        return same;
    }
    // After the last common character the texts may go on with the same token or not, so the token
    // that contains it is not counted as common.
    let whole = (0..=same).rev().find(|&at| a.is_char_boundary(at)).unwrap_or(0);
    let mut chars = a[..whole].char_indices().rev();
    let mut after = chars.next();
    for (at, c) in chars {
        if let Some((start, next)) = after
            && is_token_boundary(c, next, unit)
        {
            return start;
        }
        after = Some((at, c));
    }
    0
}

/// Returns the length in bytes of the whole tokens that both texts end with.
fn common_token_suffix_len(a: &str, b: &str, unit: TokenUnit) -> usize {
    let same = a.bytes().rev().zip(b.bytes().rev()).take_while(|(a, b)| a == b).count();
    let start = (a.len() - same..=a.len()).find(|&at| a.is_char_boundary(at)).unwrap_or(a.len());
    let tail = &a[start..];
    let mut chars = tail.char_indices();
    let Some((_, mut before)) = chars.next() else { return 0 };
    for (at, c) in chars {
        if is_token_boundary(before, c, unit) {
            return tail.len() - at;
        }
        before = c;
    }
    0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ChangeKind, TokenUnit, compare_tokens, compare_tokens_packed};

    fn told(before: &str, after: &str, unit: TokenUnit) -> String {
        let show = |part: &super::DiffPart<'_>| match part.kind {
            ChangeKind::Same => part.text.to_owned(),
            ChangeKind::Removed => format!("[-{}-]", part.text),
            ChangeKind::Added => format!("{{+{}+}}", part.text),
        };
        compare_tokens(before, after, unit).iter().map(show).collect()
    }

    #[test]
    fn words_and_characters() {
        use TokenUnit::{Chars, Words};
        for (before, after, unit, shown) in [
            ("", "", Words, ""),
            ("a", "", Words, "[-a-]"),
            ("", "a", Chars, "{+a+}"),
            ("let a = 1;", "let ab = 1;", Words, "let [-a-]{+ab+} = 1;"),
            ("let a = 1;", "let ab = 1;", Chars, "let a{+b+} = 1;"),
            ("f(x)", "f(x, y)", Words, "f(x{+, y+})"),
            ("näher", "nahe", Chars, "n[-ä-]{+a+}he[-r-]"),
            ("a  b", "a b", Words, "a[-  -]{+ +}b"),
            ("same", "same", Words, "same"),
        ] {
            assert_eq!(told(before, after, unit), shown, "{before} -> {after}");
        }
    }

    proptest! {
        #[test]
        fn both_sides_are_there_in_full(before in "[ab_ \\.é\n]{0,40}", after in "[ab_ \\.é\n]{0,40}", chars: bool) {
            let unit = if chars { TokenUnit::Chars } else { TokenUnit::Words };
            let parts = compare_tokens(&before, &after, unit);
            let side = |other: ChangeKind| -> String {
                parts.iter().filter(|part| part.kind != other).map(|part| part.text).collect()
            };
            prop_assert_eq!(side(ChangeKind::Added), before.as_str());
            prop_assert_eq!(side(ChangeKind::Removed), after.as_str());
            for part in &parts {
                prop_assert!(part.tokens > 0);
            }
        }
    }

    #[test]
    fn crosses_packed() {
        // The number of parts; for each its change, tokens and length in UTF-16 units.
        let nums = compare_tokens_packed("a \u{1f600} c", "a b c", true).nums;
        assert_eq!(
            nums,
            [6., 0., 1., 1., 0., 1., 1., 1., 1., 2., 2., 1., 1., 0., 1., 1., 0., 1., 1.]
        );
        assert_eq!(compare_tokens_packed("same", "same", false).nums, [1., 0., 1., 4.]);
    }
}
