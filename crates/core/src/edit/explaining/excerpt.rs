//! Parts of messages: quoted lines of the file, lists of line numbers, and the difference between
//! two lines.

use std::ops::Range;

use crate::edit::lines::{FileLines, indentation_of, trim};
use crate::text::path::escape_controls;
use crate::text::{count_chars, prefix_of_chars};

/// The maximum length in characters of a message whose reason and explanation are on one line; in a
/// longer message, the explanation begins a new line.
const MAX_JOINED_MESSAGE_CHARS: usize = 200;
/// The maximum number of characters in a quoted line.
const MAX_QUOTED_CHARS: usize = 160;
/// The maximum number of line numbers in a message; the rest is only counted.
const MAX_LISTED_LINES: usize = 40;
/// The maximum number of line numbers in the error details; the rest is left out.
const MAX_DETAILED_LINES: usize = 100;

/// Returns the lines of the file (0-based) that a text of `count` lines would cover if its line
/// `old` is the file's line `line`, without those beyond the end of the file.
pub(in crate::edit) fn covered_lines(
    file: &FileLines<'_>,
    line: usize,
    old: usize,
    count: usize,
) -> Range<usize> {
    let start = line.saturating_sub(old);
    start..(start + count.max(1)).min(file.len())
}

pub(in crate::edit) fn without_last_lf(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\n").unwrap_or(text)
}

/// Returns the first [`MAX_DETAILED_LINES`] line numbers, for the error details.
pub(in crate::edit) fn first_detailed(lines: &[u64]) -> Vec<u64> {
    lines[..lines.len().min(MAX_DETAILED_LINES)].to_vec()
}

/// Returns true if a line of the file equals this text, ignoring white space at the ends of either.
/// Returns false for a blank text.
pub(in crate::edit) fn has_line(file: &FileLines<'_>, text: &str) -> bool {
    let text = trim(text.as_bytes());
    !text.is_empty() && file.texts().any(|line| trim(line) == text)
}

/// Joins reason and explanation of a message as `head: tail` if that is at most
/// [`MAX_JOINED_MESSAGE_CHARS`] long, otherwise puts `tail` on a line of its own.
pub(in crate::edit) fn join_message(head: String, tail: &str) -> String {
    let short = count_chars(&head) + count_chars(tail) + 2 <= MAX_JOINED_MESSAGE_CHARS;
    format!("{head}{}{tail}", if short { ": " } else { "\n" })
}

/// Lists line numbers for a message, at most [`MAX_LISTED_LINES`].
pub(in crate::edit) fn list_line_numbers(lines: &[u64]) -> String {
    let shown: Vec<String> = lines.iter().take(MAX_LISTED_LINES).map(u64::to_string).collect();
    let more = lines.len().saturating_sub(MAX_LISTED_LINES);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &rest
}

/// Returns a line for display: cut at [`MAX_QUOTED_CHARS`], with control characters escaped.
pub(in crate::edit) fn displayed_line(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(MAX_QUOTED_CHARS * 4)]);
    escape_controls(prefix_of_chars(&text, MAX_QUOTED_CHARS)).into_owned()
}

/// Returns two lines for a message: the line of the file (`line` is 0-based) and below it the line
/// that was sent.
pub(in crate::edit) fn quote_lines(file: &FileLines<'_>, line: usize, sent: &[u8]) -> String {
    let number = (line + 1).to_string();
    let blank = " ".repeat(number.len());
    format!(
        "\n  file {number}: {}\n  sent {blank}: {}",
        displayed_line(file.text(line)),
        displayed_line(sent)
    )
}

/// Says in which way two lines that differ only in white space differ, for a message.
pub(in crate::edit) fn whitespace_difference(sent: &[u8], file: &[u8]) -> &'static str {
    let sent = sent.strip_suffix(b"\r").unwrap_or(sent);
    if indentation_of(sent) == indentation_of(file) {
        "whitespace"
    } else if sent.contains(&b'\t') != file.contains(&b'\t') {
        "whitespace (indentation: tabs against spaces)"
    } else {
        "whitespace (indentation)"
    }
}
