//! Readings of an edit that only a retry tries, because they are too bold to be applied at once.

use crate::edit::matching::repair::{hypotheses, without_line_number};

/// Returns old and new text as they can be meant, as they were sent first: with the repairs that
/// an edit makes by itself, without the hashes of a listing that lost some of its numbers, and
/// without the backslashes of a regular expression.
#[inline(never)]
pub(super) fn readings(old: &str, new: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> =
        hypotheses(old, new).into_iter().map(|reading| (reading.old, reading.new)).collect();
    let is_marked = |line: &str| line.trim().is_empty() || without_mark(line) != line;
    if old.split('\n').all(is_marked) {
        let plain = |text: &str| text.split('\n').map(without_mark).collect::<Vec<_>>().join("\n");
        all.push((plain(old), plain(new)));
    }
    if is_escaped(old) {
        let new = if is_escaped(new) { unescaped(new) } else { new.to_owned() };
        all.push((unescaped(old), new));
    }
    all
}

/// Returns a line of a listing without its number or hash (`12:k3x|text`, `k3x|text`).
fn without_mark(line: &str) -> &str {
    let plain = without_line_number(line);
    let hash = line.bytes().take_while(u8::is_ascii_alphanumeric).count();
    match line[hash..].strip_prefix('|') {
        Some(text) if plain == line && (2..=4).contains(&hash) => text,
        _ => plain,
    }
}

/// Returns true if a text has backslashes before brackets or dots and such marks with no backslash
/// nowhere.
fn is_escaped(text: &str) -> bool {
    let mut before = ' ';
    let mut count = 0;
    for mark in text.chars() {
        if matches!(mark, '(' | ')' | '[' | ']' | '{' | '}' | '.') {
            if before != '\\' {
                return false;
            }
            count += 1;
        }
        before = mark;
    }
    count > 0
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut marks = text.chars().peekable();
    while let Some(mark) = marks.next() {
        if mark == '\\' && marks.peek().is_some_and(char::is_ascii_punctuation) {
            plain.extend(marks.next());
        } else {
            plain.push(mark);
        }
    }
    plain
}
