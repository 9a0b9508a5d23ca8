//! Decides whether a line differs from another only by typos.
//!
//! `cofnig` for `config` is a typo; `teardown_request2` for `teardown_request1`, `F_SETFL` for
//! `F_GETFL` or another argument are different code, however similar the lines are. A sent word
//! that occurs elsewhere in the file is no typo.

use super::normalize::{fold_char, is_word_byte};
use crate::diff::changes_between_lines;

/// The maximum number of typos in one line.
const MAX_TYPOS: usize = 2;

/// Returns true if `sent` differs from `file` only by at most [`MAX_TYPOS`] typos, white space and
/// the kind of quotes. `known` returns true for a word that the file contains.
pub(in crate::edit) fn is_typo(sent: &[u8], file: &[u8], known: &dyn Fn(&[u8]) -> bool) -> bool {
    // An en or em dash may stand for one hyphen or for two.
    let dashed = [&b"\xe2\x80\x93"[..], b"\xe2\x80\x94"]
        .iter()
        .any(|dash| memchr::memmem::find(sent, dash).is_some());
    let (mut sent, mut file) = (split_words(sent), split_words(file));
    if dashed {
        for side in [&mut sent, &mut file] {
            side.dedup_by(|a, b| a == b && *a == b"-");
        }
    }
    let a: Vec<&[u8]> = sent.iter().map(Vec::as_slice).collect();
    let b: Vec<&[u8]> = file.iter().map(Vec::as_slice).collect();
    let changes = changes_between_lines(&a, &b);
    changes.len() <= MAX_TYPOS
        && changes.iter().all(|change| {
            let sent = &a[change.before.start as usize..change.before.end as usize];
            let file = &b[change.after.start as usize..change.after.end as usize];
            match (sent, file) {
                ([], [mark]) | ([mark], []) => is_minor_punctuation(mark),
                ([sent], [file]) if is_quote(sent) && is_quote(file) => true,
                ([sent], [file]) => is_misspelt(sent, file) && !known(sent),
                // Two words were joined, or one was split.
                ([one], [a, b]) | ([a, b], [one]) => {
                    [*a, *b].concat() == *one && !(sent.len() == 1 && known(one))
                }
                _ => false,
            }
        })
}

/// Returns true for punctuation whose loss or addition counts as a typo.
fn is_minor_punctuation(token: &[u8]) -> bool {
    matches!(token, [b';' | b',' | b'.' | b':' | b'"' | b'\'' | b'`' | b')' | b'('])
}

fn is_quote(token: &[u8]) -> bool {
    matches!(token, [b'"' | b'\'' | b'`'])
}

/// Returns true if two words differ by one typo, or by two if both are long. Digits must be equal.
fn is_misspelt(sent: &[u8], file: &[u8]) -> bool {
    let digits = |word: &[u8]| word.iter().copied().filter(u8::is_ascii_digit).collect::<Vec<_>>();
    let letters = |word: &[u8]| word.iter().all(|&byte| is_word_byte(byte));
    let (short, long) = (sent.len().min(file.len()), sent.len().max(file.len()));
    if !letters(sent) || !letters(file) || digits(sent) != digits(file) || short < 2 || long < 4 {
        return false;
    }
    // `String` and `string` are two types.
    if sent.eq_ignore_ascii_case(file) {
        return false;
    }
    let edit_distance = edit_distance(sent, file);
    edit_distance == 1 || (edit_distance == 2 && short >= 8)
}

/// Returns the number of wrong, missing, added and transposed bytes between two words; `usize::MAX`
/// for words that differ much.
fn edit_distance(a: &[u8], b: &[u8]) -> usize {
    let prefix = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[prefix..], &b[prefix..]);
    let suffix = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - suffix], &b[..b.len() - suffix]);
    if a.len().abs_diff(b.len()) > MAX_TYPOS || a.len().min(b.len()) > 64 {
        return usize::MAX;
    }
    let wide = b.len() + 1;
    let mut table: Vec<usize> = vec![0; (a.len() + 1) * wide];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let at = i * wide + j;
            table[at] = match (i, j) {
                (0, other) | (other, 0) => other,
                (i, j) => {
                    let wrong = usize::from(a[i - 1] != b[j - 1]);
                    let mut least = (table[at - wide] + 1)
                        .min(table[at - 1] + 1)
                        .min(table[at - wide - 1] + wrong);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        least = least.min(table[at - 2 * wide - 2] + 1);
                    }
                    least
                }
            };
        }
    }
    table[a.len() * wide + b.len()]
}

/// Splits a line into words and single other visible characters, with plain quotes and dashes.
fn split_words(line: &[u8]) -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    let mut open = false;
    for c in String::from_utf8_lossy(line).chars() {
        let c = fold_char(c);
        let letter = c.is_alphanumeric() || c == '_';
        if c.is_whitespace() {
            open = false;
            continue;
        }
        let mut buffer = [0; 4];
        let bytes = c.encode_utf8(&mut buffer).as_bytes();
        match words.last_mut().filter(|_| open && letter) {
            Some(word) => word.extend_from_slice(bytes),
            None => words.push(bytes.to_vec()),
        }
        open = letter;
    }
    words
}

/// Returns true if a text contains a word that is not a part of a longer one.
pub(in crate::edit) fn has_whole_word(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find_iter(text, word).any(|at| {
        let free = |at: Option<&u8>| at.is_none_or(|&byte| !is_word_byte(byte));
        free(at.checked_sub(1).and_then(|at| text.get(at))) && free(text.get(at + word.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::{has_whole_word, is_typo};

    #[test]
    fn typos_differ_from_other_code() {
        let known = |word: &[u8]| word == b"height";
        for (sent, file, slip) in [
            ("let cofnig = 1;", "let config = 1;", true),
            ("go fnc() {", "go func() {", true),
            ("thhis.x", "this.x", true),
            ("let x = 1", "let x = 1;", true),
            ("say(\u{201c}hi\u{201d})", "say(\"hi\")", true),
            ("say('hi')", "say(\"hi\")", true),
            ("recieve(user name)", "receive(username)", true),
            ("def teardown_request2():", "def teardown_request1():", false),
            ("f(a, b)", "f(a, b, M)", false),
            ("a - b", "a + b", false),
            ("get(x)", "set(x)", false),
            ("if a {", "if b {", false),
            ("heigth", "height", true),
            ("height", "heigth", false),
            ("Provider(path)", "SecureProvider(path)", false),
            ("return 10", "return 11", false),
            ("let x: String", "let x: string", false),
        ] {
            assert_eq!(is_typo(sent.as_bytes(), file.as_bytes(), &known), slip, "{sent}");
        }
    }

    #[test]
    fn words_are_whole() {
        assert!(has_whole_word(b"a foo_bar b", b"foo_bar"));
        assert!(!has_whole_word(b"a foo_bar b", b"foo"));
        assert!(has_whole_word(b"foo", b"foo"));
    }
}
