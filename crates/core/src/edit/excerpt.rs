//! Pieces of messages: lines of the file as they are shown, lists of numbers,
//! what two lines differ in.

use std::ops::Range;

use super::lines::{FileLines, indent, trim};
use crate::path::escape_controls;
use crate::text::{count_chars, cut_chars};

/// Characters of the first line, at most.
const FIRST_LINE: usize = 200;
/// Characters of a quoted line, at most.
const QUOTE: usize = 160;
/// Line numbers listed in a message, at most.
const LISTED: usize = 40;
/// Line numbers listed in the details, at most.
const DETAILED: usize = 100;

/// The stretch of the file where a text of `count` lines would stand, of which
/// the line `old` is the file's line `line`.
pub(super) fn around(file: &FileLines<'_>, line: usize, old: usize, count: usize) -> Range<usize> {
    let start = line.saturating_sub(old);
    start..(start + count.max(1)).min(file.len())
}

pub(super) fn trim_newlines(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\n").unwrap_or(text)
}

pub(super) fn detailed(lines: &[u64]) -> Vec<u64> {
    lines[..lines.len().min(DETAILED)].to_vec()
}

/// Whether a line of the file is this text, blanks around it aside.
pub(super) fn is_a_line(file: &FileLines<'_>, text: &str) -> bool {
    let text = trim(text.as_bytes());
    !text.is_empty() && file.texts().any(|line| trim(line) == text)
}

/// `head: tail` where that fits the first line, else `tail` on a line of its own.
pub(super) fn join(head: String, tail: &str) -> String {
    let short = count_chars(&head) + count_chars(tail) + 2 <= FIRST_LINE;
    format!("{head}{}{tail}", if short { ": " } else { "\n" })
}

pub(super) fn list(lines: &[u64]) -> String {
    let shown: Vec<String> = lines.iter().take(LISTED).map(u64::to_string).collect();
    let more = lines.len().saturating_sub(LISTED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &rest
}

pub(super) fn show(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(QUOTE * 4)]);
    escape_controls(cut_chars(&text, QUOTE)).into_owned()
}

/// The line of the file and the line that was sent, below each other.
pub(super) fn quote(file: &FileLines<'_>, line: usize, sent: &[u8]) -> String {
    let number = (line + 1).to_string();
    let blank = " ".repeat(number.len());
    format!("\n  file {number}: {}\n  sent {blank}: {}", show(file.text(line)), show(sent))
}

/// What two lines with the same words differ in.
pub(super) fn difference(sent: &[u8], file: &[u8]) -> &'static str {
    let sent = sent.strip_suffix(b"\r").unwrap_or(sent);
    if indent(sent) == indent(file) {
        "whitespace"
    } else if sent.contains(&b'\t') != file.contains(&b'\t') {
        "whitespace (indentation: tabs against spaces)"
    } else {
        "whitespace (indentation)"
    }
}
