//! Merges within a line, word by word: applies the change that an edit makes to its old line to the
//! file's line.
//!
//! The old line of the edit and the file's line may differ in white space, in a typo or in the kind
//! of quotes. A new line derived from such an old line becomes the file's line with only the
//! model's change applied.

use std::ops::Range;

use crate::diff::{Change, changes_between_lines};

/// Applies the change from `base`, the old line, to `theirs`, the new one, to `ours`, the file's
/// line. Where both changed the same words, the edit's words win.
pub(in crate::edit) fn merge_words(base: &[u8], ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    if base == ours {
        return theirs.to_vec();
    }
    let (base, ours, theirs) = (split_tokens(base), split_tokens(ours), split_tokens(theirs));
    let file = split_into_token_changes(changes_between_lines(&base, &ours));
    let edit = split_into_token_changes(changes_between_lines(&base, &theirs));
    let (mut file, mut edit) = (file.iter().peekable(), edit.iter().peekable());
    let mut merged = Vec::new();
    let mut next = 0;
    loop {
        let mine = match (file.peek(), edit.peek()) {
            (None, None) => break,
            (Some(mine), Some(other)) => {
                let both = mine.before == other.before;
                let same =
                    both && join_tokens(&ours, &mine.after) == join_tokens(&theirs, &other.after);
                if same {
                    edit.next();
                    true
                } else if ranges_overlap(&mine.before, &other.before)
                    || (is_whitespace_change(&base, &ours, mine)
                        && supersedes_whitespace(tokens_in(&theirs, &other.after), mine, other))
                {
                    file.next();
                    continue;
                } else {
                    (mine.before.start, mine.before.end) < (other.before.start, other.before.end)
                }
            }
            (mine, _) => mine.is_some(),
        };
        let (change, side) = match if mine { file.next() } else { edit.next() } {
            Some(change) => (change, if mine { &ours } else { &theirs }),
            None => break,
        };
        merged.extend(join_tokens(&base, &(next..change.before.start)));
        merged.extend(join_tokens(side, &change.after));
        next = change.before.end;
    }
    merged.extend(join_tokens(&base, &(next..base.len() as u32)));
    merged
}

/// Does the same as [`merge_words`], and returns `None` where the file's line differs in words that
/// the edit changes, or directly beside them. A change that the file has already is no difference.
pub(in crate::edit) fn merge_words_strictly(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
) -> Option<Vec<u8>> {
    let (old, file, new) = (split_tokens(base), split_tokens(ours), split_tokens(theirs));
    let of_file = changes_between_lines(&old, &file);
    let of_edit = changes_between_lines(&old, &new);
    let clashes = |mine: &Change, other: &Change| {
        let is_made = mine.before == other.before
            && join_tokens(&file, &mine.after) == join_tokens(&new, &other.after);
        let meets = mine.before.start <= other.before.end && other.before.start <= mine.before.end;
        meets && !is_made
    };
    let clash = of_file.iter().any(|mine| of_edit.iter().any(|other| clashes(mine, other)));
    (!clash).then(|| merge_words(base, ours, theirs))
}

fn split_into_token_changes(changes: Vec<Change>) -> Vec<Change> {
    let singles = |change: Change| {
        let (before, after) = (change.before.clone(), change.after.clone());
        let even = before.len() == after.len();
        let single = before.zip(after).map(|(a, b)| Change { before: a..a + 1, after: b..b + 1 });
        if even { single.collect() } else { vec![change] }
    };
    changes.into_iter().flat_map(singles).collect()
}

fn join_tokens(tokens: &[&[u8]], range: &Range<u32>) -> Vec<u8> {
    tokens[range.start as usize..range.end as usize].concat()
}

/// Returns true if two changed ranges share a token, or an empty one lies inside the other.
fn ranges_overlap(a: &Range<u32>, b: &Range<u32>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Returns true if the edit's change `other`, next to the file's white-space change `mine`, brings
/// its own white space there or removes the word that the white space belongs to. The file's change
/// is then dropped.
fn supersedes_whitespace(new: &[&[u8]], mine: &Change, other: &Change) -> bool {
    let blank = |token: Option<&&[u8]>| token.is_none_or(|token| matches!(token[0], b' ' | b'\t'));
    if mine.before == other.before {
        return false;
    }
    (mine.before.end == other.before.start && blank(new.first()))
        || (other.before.end == mine.before.start && blank(new.last()))
}

/// Returns the tokens whose indexes are in `range`.
fn tokens_in<'l, 't>(tokens: &'l [&'t [u8]], range: &Range<u32>) -> &'l [&'t [u8]] {
    &tokens[range.start as usize..range.end as usize]
}

/// Returns true if a change replaces blanks by blanks.
fn is_whitespace_change(base: &[&[u8]], side: &[&[u8]], change: &Change) -> bool {
    let blank = |tokens: &[&[u8]], range: &Range<u32>| {
        tokens[range.start as usize..range.end as usize]
            .iter()
            .all(|token| matches!(token.first(), Some(b' ' | b'\t')))
    };
    blank(base, &change.before) && blank(side, &change.after)
}

/// Splits a line into words, runs of white space, and single other characters.
pub(in crate::edit) fn split_tokens(line: &[u8]) -> Vec<&[u8]> {
    let class = |byte: u8| match byte {
        b' ' | b'\t' => 1,
        b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => 2,
        _ => 0,
    };
    let mut tokens = Vec::new();
    let mut rest = line;
    while let Some(&first) = rest.first() {
        let len = match class(first) {
            0 => 1 + rest[1..].iter().take_while(|&&byte| byte & 0xc0 == 0x80).count(),
            kind => rest.iter().take_while(|&&byte| class(byte) == kind).count(),
        };
        let (token, left) = rest.split_at(len);
        tokens.push(token);
        rest = left;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::{merge_words, split_tokens};
    use proptest::prelude::*;

    #[test]
    fn only_the_change_is_carried_over() {
        for (base, ours, theirs, merged) in [
            ("f(a, b)", "f( a,b )", "f(a, b, c)", "f( a,b, c )"),
            ("a=b", "a = b", "a = c", "a = c"),
            ("f(x){", "f(x) {", "g(x)", "g(x)"),
            (
                "let cofnig = load(a)",
                "let config = load(a)",
                "let cofnig = load(b)",
                "let config = load(b)",
            ),
            ("say \u{201c}hi\u{201d}", "say \"hi\"", "say \u{201c}ho\u{201d}", "say \"ho\""),
            ("a + b", "a + b", "a - b", "a - b"),
            ("f(\u{201c}sbstr\u{201d})", "f(\"substr\")", "f(\"sbstr\")", "f(\"substr\")"),
            ("a", "b", "c", "c"),
            ("x = 1", "x  =  1", "y = 1", "y  =  1"),
        ] {
            let got = merge_words(base.as_bytes(), ours.as_bytes(), theirs.as_bytes());
            assert_eq!(String::from_utf8_lossy(&got), merged, "{base}");
        }
    }

    proptest! {
        #[test]
        fn merging_is_total(
            base in "[ab (é]{0,12}", ours in "[ab (é]{0,12}", theirs in "[ab (é]{0,12}",
        ) {
            let (base, ours, theirs) = (base.as_bytes(), ours.as_bytes(), theirs.as_bytes());
            prop_assert_eq!(split_tokens(base).concat(), base);
            prop_assert_eq!(merge_words(base, base, theirs), theirs);
            prop_assert_eq!(merge_words(base, ours, base), ours);
            prop_assert_eq!(merge_words(base, ours, ours), ours);
        }
    }
}
