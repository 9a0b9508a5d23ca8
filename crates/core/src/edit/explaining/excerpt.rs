//! Parts of messages: quoted lines of the file, lists of line numbers, and the difference between
//! two lines.

use std::ops::Range;

use crate::edit::lines::{FileLines, indent, trim};
use crate::text::path::escape_controls;
use crate::text::{count_chars, cut_chars};

/// The maximum number of characters in the first line of a message.
const MAX_FIRST_LINE_CHARS: usize = 200;
/// The maximum number of characters in a quoted line.
const MAX_QUOTED_CHARS: usize = 160;
/// The maximum number of line numbers in a message.
const MAX_LISTED_LINES: usize = 40;
/// The maximum number of line numbers in the error details.
const MAX_DETAILED_LINES: usize = 100;

/// Returns the range of the file at which a text of `count` lines would be if its line `old` is the
/// file's line `line`.
pub(in crate::edit) fn around(
    file: &FileLines<'_>,
    line: usize,
    old: usize,
    count: usize,
) -> Range<usize> {
    let start = line.saturating_sub(old);
    start..(start + count.max(1)).min(file.len())
}

pub(in crate::edit) fn trim_newlines(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\n").unwrap_or(text)
}

pub(in crate::edit) fn detailed(lines: &[u64]) -> Vec<u64> {
    lines[..lines.len().min(MAX_DETAILED_LINES)].to_vec()
}

/// Reports whether a line of the file equals this text, ignoring white space around it.
pub(in crate::edit) fn is_a_line(file: &FileLines<'_>, text: &str) -> bool {
    let text = trim(text.as_bytes());
    !text.is_empty() && file.texts().any(|line| trim(line) == text)
}

/// Joins as `head: tail` if that fits into the first line, otherwise puts `tail` on its own line.
pub(in crate::edit) fn join(head: String, tail: &str) -> String {
    let short = count_chars(&head) + count_chars(tail) + 2 <= MAX_FIRST_LINE_CHARS;
    format!("{head}{}{tail}", if short { ": " } else { "\n" })
}

pub(in crate::edit) fn list(lines: &[u64]) -> String {
    let shown: Vec<String> = lines.iter().take(MAX_LISTED_LINES).map(u64::to_string).collect();
    let more = lines.len().saturating_sub(MAX_LISTED_LINES);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &rest
}

pub(in crate::edit) fn show(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(MAX_QUOTED_CHARS * 4)]);
    escape_controls(cut_chars(&text, MAX_QUOTED_CHARS)).into_owned()
}

/// Quotes the line of the file above the line of the call.
pub(in crate::edit) fn quote(file: &FileLines<'_>, line: usize, sent: &[u8]) -> String {
    let number = (line + 1).to_string();
    let blank = " ".repeat(number.len());
    format!("\n  file {number}: {}\n  sent {blank}: {}", show(file.text(line)), show(sent))
}

/// Names the kind of difference between two lines with the same words.
pub(in crate::edit) fn difference(sent: &[u8], file: &[u8]) -> &'static str {
    let sent = sent.strip_suffix(b"\r").unwrap_or(sent);
    if indent(sent) == indent(file) {
        "whitespace"
    } else if sent.contains(&b'\t') != file.contains(&b'\t') {
        "whitespace (indentation: tabs against spaces)"
    } else {
        "whitespace (indentation)"
    }
}
