//! Why an edit was refused, said so that the next attempt succeeds.
//!
//! The first line of a message is short; what follows shows the place in the
//! file and what was sent. A message stays below 2 KB.

use super::exact::occurs;
use super::lines::{FileLines, edit_lines, fold_ends, indent, trim};
use super::nearest::nearest;
use super::{Edit, Options, Strictness, whitespace};
use crate::error::{Code, Error};
use crate::path::escape_controls;
use crate::text::{BOM_UTF8, cut_chars};

/// Why an edit was not made.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Refusal {
    /// There is nothing to look for.
    EmptyOld,
    /// Old and new text are the same.
    SameText,
    /// All edits together change nothing.
    Unchanged,
    /// The old text is nowhere.
    NotFound,
    /// The old text is at each of these lines.
    NotUnique { lines: Vec<u64> },
    /// The old text is at these lines, and another number was expected.
    Count { expected: u64, lines: Vec<u64> },
}

/// Characters of the first line, at most.
const FIRST_LINE: usize = 200;
/// Characters of a quoted line, at most.
const QUOTE: usize = 160;
/// Line numbers listed in a message, at most.
const LISTED: usize = 40;
/// Line numbers listed in the details, at most.
const DETAILED: usize = 1_000;

impl Refusal {
    /// The error that a caller sees, for the edit at `index` (0-based) of `total`.
    pub(super) fn into_error(
        self,
        text: &[u8],
        edit: &Edit,
        options: &Options,
        index: usize,
        total: usize,
    ) -> Error {
        let what =
            if total > 1 { format!("old_text of edits[{index}]") } else { "old_text".to_owned() };
        let path = escape_controls(&options.label);
        let error = match self {
            Self::EmptyOld => Error::new(Code::InvalidArgument, format!("{what} is empty"))
                .hint("give the text to replace; to make a file, write it")
                .detail("argument", "old_text"),
            Self::SameText => Error::new(
                Code::NoChange,
                format!("{what} and new_text must be different, nothing to change in {path}"),
            ),
            Self::Unchanged => Error::new(
                Code::NoChange,
                format!("the edits leave {path} as it is; the result must be different"),
            ),
            Self::NotUnique { lines } => not_unique(&what, &path, &lines),
            Self::Count { expected, lines } => Error::new(
                Code::MatchCountMismatch,
                join(
                    format!(
                        "Expected {expected} occurrences of {what} in {path}, found {}",
                        lines.len()
                    ),
                    &format!("lines {}", list(&lines)),
                ),
            )
            .detail("expected", expected)
            .detail("found", lines.len())
            .detail("lines", &lines[..lines.len().min(DETAILED)]),
            Self::NotFound => not_found(text, edit, options, &what, &path),
        };
        error.detail("edit_index", index)
    }
}

fn not_unique(what: &str, path: &str, lines: &[u64]) -> Error {
    let remedy = "Add surrounding lines to say which, or set replace_all";
    Error::new(
        Code::MatchNotUnique,
        join(
            format!("{what} occurs {} times in {path}", lines.len()),
            &format!("lines {}. {remedy}", list(lines)),
        ),
    )
    .hint("add surrounding lines to old_text, or set replace_all or near_line")
    .detail("found", lines.len())
    .detail("lines", &lines[..lines.len().min(DETAILED)])
}

fn not_found(text: &[u8], edit: &Edit, options: &Options, what: &str, path: &str) -> Error {
    let head = format!("{what} not found in {path}");
    let refuse = |reason: &str, message: String| {
        Error::new(Code::MatchNotFound, message).detail("reason", reason)
    };
    if text.strip_prefix(BOM_UTF8).unwrap_or(text).is_empty() {
        return refuse("empty_file", join(head, "the file is empty"))
            .hint("write the file instead");
    }
    if trim(edit.old.as_bytes()).iter().all(u8::is_ascii_whitespace) {
        return refuse(
            "blank",
            join(head, "old_text is blank, and white space must match exactly"),
        )
        .hint("include a line with text");
    }
    if let Some(plain) = without_line_numbers(&edit.old) {
        let there = occurs(text, &plain);
        let also = if there { "; without them it is there" } else { "" };
        return refuse(
            "line_numbers",
            join(head, &format!("old_text begins its lines with a line number{also}")),
        )
        .hint("send the lines without their numbers");
    }
    let file = FileLines::new(text);
    if trim(edit.new.as_bytes()).len() >= 8 && occurs(text, &edit.new) {
        return refuse("already_applied", join(head, "new_text is already there"))
            .hint("nothing is left to do, or read the file again");
    }
    if options.strictness == Strictness::Exact
        && let Ok(Some(found)) = whitespace::find(text, edit, super::OnMultiple::Error)
        && let Some(splice) = found.splices.first()
    {
        let line = file.lines.partition_point(|line| line.start < splice.range.start);
        let sent = first_line(&edit.old);
        let kind = difference(&sent, file.lines[line].text);
        let message = join(head, &format!("line {} differs only in {kind}", line + 1));
        return refuse("whitespace", message + &quote(&file, line, &sent))
            .hint("copy the text as the file has it, or allow match: whitespace")
            .detail("nearest_line", line + 1);
    }
    match nearest(&file, &edit.old) {
        Some(near) => {
            let old = fold_ends(edit.old.as_bytes());
            let sent = edit_lines(&old).get(near.old).map(|line| line.to_vec()).unwrap_or_default();
            let difference = if near.whitespace_only {
                format!(", which differs only in {}", difference(&sent, file.lines[near.line].text))
            } else {
                String::new()
            };
            let message = join(head, &format!("nearest is line {}{difference}", near.line + 1));
            refuse("not_found", message + &quote(&file, near.line, &sent))
                .hint("read the file again and copy the text exactly")
                .detail("nearest_line", near.line + 1)
        }
        // Too short to be looked for before: as a line of its own, where nothing is like old_text.
        None if is_a_line(&file, &edit.new) => {
            refuse("already_applied", join(head, "new_text is already there"))
                .hint("nothing is left to do, or read the file again")
        }
        None => refuse("not_found", join(head, "nothing there is like it"))
            .hint("read the file again, or look for the text in other files"),
    }
}

/// Whether a line of the file is this text, blanks around it aside.
fn is_a_line(file: &FileLines<'_>, text: &str) -> bool {
    let text = trim(text.as_bytes());
    !text.is_empty() && file.lines.iter().any(|line| trim(line.text) == text)
}

/// `head: tail` where that fits the first line, else `tail` on a line of its own.
fn join(head: String, tail: &str) -> String {
    let short = crate::text::count_chars(&head) + crate::text::count_chars(tail) + 2 <= FIRST_LINE;
    format!("{head}{}{tail}", if short { ": " } else { "\n" })
}

fn list(lines: &[u64]) -> String {
    let shown: Vec<String> = lines.iter().take(LISTED).map(u64::to_string).collect();
    let more = lines.len().saturating_sub(LISTED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &rest
}

/// The line of the file and the line that was sent, below each other.
fn quote(file: &FileLines<'_>, line: usize, sent: &[u8]) -> String {
    let show = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        escape_controls(cut_chars(&text, QUOTE)).into_owned()
    };
    let number = (line + 1).to_string();
    let blank = " ".repeat(number.len());
    format!("\n  file {number}: {}\n  sent {blank}: {}", show(file.lines[line].text), show(sent))
}

/// What two lines with the same words differ in.
fn difference(sent: &[u8], file: &[u8]) -> &'static str {
    let sent_text = sent.strip_suffix(b"\r").unwrap_or(sent);
    if indent(sent_text) == indent(file) {
        "whitespace"
    } else if sent_text.contains(&b'\t') != file.contains(&b'\t') {
        "whitespace (indentation: tabs against spaces)"
    } else {
        "whitespace (indentation)"
    }
}

fn first_line(text: &str) -> Vec<u8> {
    let text = fold_ends(text.as_bytes());
    let lines = edit_lines(&text);
    lines.iter().find(|line| !trim(line).is_empty()).map(|line| line.to_vec()).unwrap_or_default()
}

/// The text without the line numbers that a listing put before its lines; `None`
/// unless every line that is not blank has one.
fn without_line_numbers(text: &str) -> Option<String> {
    let mut plain = Vec::new();
    let mut any = false;
    for line in text.split('\n') {
        if line.trim().is_empty() {
            plain.push(line);
            continue;
        }
        let rest = line.trim_start();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let rest = rest.get(digits..).filter(|_| digits > 0)?;
        let marks = ["\t", "\u{2192}", ": ", "| ", " | ", "|"];
        let mark = marks.iter().find(|mark| rest.starts_with(**mark))?;
        plain.push(&rest[mark.len()..]);
        any = true;
    }
    any.then(|| plain.join("\n"))
}
