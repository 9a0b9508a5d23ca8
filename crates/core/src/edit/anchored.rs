//! Edits that name lines instead of text: `120#k3`, a number and what the line
//! says in two characters.
//!
//! The number is where to look first, adjusted by what earlier edits of the same
//! call added or removed. Where the line there says something else, the lines
//! have moved: they are found again by what they say, first and last line at
//! their old distance, or the edit is refused. Whole lines are written, with the
//! line ends of the file.

use std::ops::Range;

use serde_json::json;

use super::candidates::candidates;
use super::lines::{FileLines, edit_lines, fold_ends, has_countable_lines};
use super::quote::list;
use super::shifts::Shifts;
use super::{Found, Splice, Tier};
use crate::anchor::anchor;
use crate::error::{Code, Error, Result};
use crate::path::escape_controls;

/// A line by its number and by what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The line when it was read, 1-based.
    pub line: u64,
    /// What it says, as [`anchor()`] gives it.
    pub hash: [char; 2],
}

/// Where new lines go in relation to the line that is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insert {
    /// Before it.
    Before,
    /// After it.
    After,
}

/// The lines that an edit names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchors {
    /// The first line.
    pub from: Anchor,
    /// The last line; the first where there is one alone.
    pub to: Anchor,
    /// Whether the new text goes beside the line instead of in its place.
    pub insert: Option<Insert>,
}

impl Anchor {
    /// Reads `120#k3`, as an argument of this name. What follows the two
    /// characters, such as the line itself, is passed over after a blank or `|`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for any other form.
    pub fn parse(argument: &str, text: &str) -> Result<Self> {
        let form = || {
            let shown = escape_controls(crate::text::cut_chars(text, 40)).into_owned();
            Error::new(
                Code::InvalidArgument,
                format!("{argument} must be a line anchor such as 120#k3, got \"{shown}\""),
            )
            .hint("read the file with anchors: true and copy the anchor")
            .detail("argument", argument)
        };
        let (number, rest) = text.trim_start().split_once('#').ok_or_else(form)?;
        let line = number.trim().parse::<u64>().ok().filter(|&line| line > 0).ok_or_else(form)?;
        let mut rest = rest.chars();
        let hash = match (rest.next(), rest.next(), rest.next()) {
            (Some(a), Some(b), None | Some(' ' | '\t' | '|' | '\u{2192}' | '\r' | '\n')) => [a, b],
            _ => return Err(form()),
        };
        let known = |c: &char| c.is_ascii_alphanumeric();
        if hash.iter().all(known) {
            Ok(Self { line, hash: hash.map(|c| c.to_ascii_lowercase()) })
        } else {
            Err(form())
        }
    }
}

/// Makes the edit at the lines that it names.
///
/// # Errors
/// `MATCH_NOT_FOUND` where no line says what the anchor does, `MATCH_NOT_UNIQUE`
/// where several do and none is where it was, `INVALID_ARGUMENT` where the
/// anchors are in the wrong order.
pub(super) fn find(
    text: &[u8],
    anchors: &Anchors,
    new: &str,
    shifts: &Shifts,
    label: &str,
) -> Result<Found> {
    if !has_countable_lines(text) {
        return Err(Error::new(Code::LimitExceeded, "the file has too many lines to name them")
            .hint("name the text to replace")
            .detail("reason", "too_large"));
    }
    let file = FileLines::new(text);
    let lines = place(&file, anchors, shifts, label)?;
    let splice = match anchors.insert {
        None => replace(text, &file, lines, new),
        Some(Insert::Before) => insert(text, &file, lines.start, new),
        Some(Insert::After) => insert(text, &file, lines.end, new),
    };
    Ok(Found {
        splices: vec![splice],
        places: 1,
        tier: Tier::Exact,
        repairs: Vec::new(),
        score: 1.0,
    })
}

fn place(
    file: &FileLines<'_>,
    Anchors { from, to, .. }: &Anchors,
    shifts: &Shifts,
    label: &str,
) -> Result<Range<usize>> {
    let Some(span) = to.line.checked_sub(from.line).and_then(|span| usize::try_from(span).ok())
    else {
        let message = format!("to names line {}, which comes before from", to.line);
        return Err(Error::new(Code::InvalidArgument, message).detail("argument", "to"));
    };
    let says = |at: usize, hash: [char; 2]| at < file.len() && anchor(file.text(at)) == hash;
    let fits = |at: usize| {
        says(at, from.hash) && at.checked_add(span).is_some_and(|end| says(end, to.hash))
    };
    let expected = usize::try_from(shifts.now(from.line) - 1).unwrap_or(usize::MAX);
    if fits(expected) {
        return Ok(expected..expected + span + 1);
    }
    let path = escape_controls(label);
    let shown = |anchor: &Anchor| {
        let [a, b] = anchor.hash;
        format!("{}#{a}{b}", anchor.line)
    };
    let named = if span == 0 { shown(from) } else { format!("{} to {}", shown(from), shown(to)) };
    let places: Vec<usize> = (0..file.len()).filter(|&at| fits(at)).take(101).collect();
    match places.as_slice() {
        [only] => Ok(*only..*only + span + 1),
        [] => {
            let near = expected.min(file.len().saturating_sub(1));
            let near = near..(near + span + 1).min(file.len());
            Err(Error::new(
                Code::MatchNotFound,
                format!(
                    "{named} is not in {path} any more: the lines have changed since they were read"
                ),
            )
            .hint("read the lines again and use their new anchors")
            .detail("reason", "stale_anchor")
            .detail("candidates", candidates(file, &[near], None)))
        }
        several => {
            let numbers: Vec<u64> = several.iter().map(|at| *at as u64 + 1).collect();
            let ranges: Vec<Range<usize>> =
                several.iter().map(|at| *at..*at + span + 1).take(3).collect();
            Err(Error::new(
                Code::MatchNotUnique,
                format!(
                    "{named} has moved in {path}, and lines say the same at {} places: lines {}",
                    several.len(),
                    list(&numbers),
                ),
            )
            .hint("read the lines again and use their new anchors")
            .detail("reason", "stale_anchor")
            .detail("found", several.len())
            .detail("lines", json!(numbers))
            .detail("candidates", candidates(file, &ranges, None)))
        }
    }
}

/// The line end that a line has, or that the one before it has.
fn end_of<'t>(text: &'t [u8], file: &FileLines<'_>, line: usize) -> &'t [u8] {
    let end = |line: usize| {
        let next = file.start(line + 1);
        match text[..next] {
            [.., b'\r', b'\n'] => Some(&b"\r\n"[..]),
            [.., b'\n'] => Some(&b"\n"[..]),
            _ => None,
        }
    };
    let at = line.min(file.len().saturating_sub(1));
    end(at).or_else(|| at.checked_sub(1).and_then(end)).unwrap_or(b"\n")
}

/// The lines of a new text; the line end after the last one may be there or not.
fn new_lines(new: &str) -> Vec<Vec<u8>> {
    let folded = fold_ends(new.as_bytes());
    if folded.is_empty() {
        return Vec::new();
    }
    let body = folded.strip_suffix(b"\n").unwrap_or(&folded);
    edit_lines(body).into_iter().map(<[u8]>::to_vec).collect()
}

fn replace(text: &[u8], file: &FileLines<'_>, lines: Range<usize>, new: &str) -> Splice {
    let range = file.start(lines.start)..file.start(lines.end);
    let open = !text[range.clone()].ends_with(b"\n");
    let mut with = Vec::new();
    for (index, line) in new_lines(new).iter().enumerate() {
        let beside = (lines.start + index).min(lines.end - 1);
        with.extend_from_slice(line);
        with.extend_from_slice(end_of(text, file, beside));
    }
    if open && !with.is_empty() {
        let end = end_of(text, file, lines.end - 1).len();
        with.truncate(with.len() - end);
    }
    Splice { range, with }
}

fn insert(text: &[u8], file: &FileLines<'_>, before: usize, new: &str) -> Splice {
    let at = file.start(before);
    let end = end_of(text, file, before.saturating_sub(1));
    let mut with = Vec::new();
    for line in new_lines(new) {
        with.extend_from_slice(&line);
        with.extend_from_slice(end);
    }
    let open = before == file.len() && before > 0 && !text.ends_with(b"\n");
    if open && !with.is_empty() {
        // The former last line needs an end now, and the new one has none.
        with.truncate(with.len() - end.len());
        with.splice(0..0, end.iter().copied());
    }
    Splice { range: at..at, with }
}

#[cfg(test)]
mod tests {
    use super::{Anchor, Anchors, Insert};
    use crate::anchor::anchor;
    use crate::edit::{Edit, Options, plan};

    /// The anchor of a line that says `text`.
    fn at(line: u64, text: &str) -> Anchor {
        Anchor { line, hash: anchor(text.as_bytes()) }
    }

    fn edit(from: Anchor, to: Anchor, insert: Option<Insert>, new: &str) -> Edit {
        let anchors = Some(Anchors { from, to, insert });
        Edit { anchors, new: new.into(), ..Edit::default() }
    }

    fn run(text: &str, edits: &[Edit]) -> String {
        let options = Options { label: "f".into(), ..Options::default() };
        match plan(text.as_bytes(), edits, &options) {
            Ok(plan) => String::from_utf8(plan.bytes).unwrap(),
            Err(error) => format!("{}: {}", error.code.as_str(), error.message),
        }
    }

    #[test]
    fn lines_are_named_by_anchors() {
        use Insert::{After, Before};
        let one = |line, text| (at(line, text), at(line, text));
        for (name, text, (from, to), insert, new, result) in [
            ("one line", "a\nb\nc\n", one(2, "b"), None, "B", "a\nB\nc\n"),
            ("with its end", "a\nb\nc\n", one(2, "b"), None, "B\n", "a\nB\nc\n"),
            (
                "several",
                "a\nb\nc\nd\n",
                (at(2, "b"), at(3, "c")),
                None,
                "X\nY\nZ",
                "a\nX\nY\nZ\nd\n",
            ),
            ("away", "a\nb\nc\n", one(2, "b"), None, "", "a\nc\n"),
            ("to a blank line", "a\nb\nc\n", one(2, "b"), None, "\n", "a\n\nc\n"),
            ("before", "a\nb\n", one(1, "a"), Some(Before), "x\ny", "x\ny\na\nb\n"),
            ("after", "a\nb\n", one(1, "a"), Some(After), "x", "a\nx\nb\n"),
            ("after the open end", "a\nb", one(2, "b"), Some(After), "x", "a\nb\nx"),
            ("the open end", "a\nb", one(2, "b"), None, "B\nC", "a\nB\nC"),
            ("CRLF", "a\r\nb\r\n", one(2, "b"), None, "x\ny", "a\r\nx\r\ny\r\n"),
            ("CRLF after", "a\r\nb", one(2, "b"), Some(After), "x", "a\r\nb\r\nx"),
            ("a mark", "\u{feff}a\nb\n", one(1, "a"), None, "A", "\u{feff}A\nb\n"),
            ("moved down", "new\na\nb\n", one(1, "a"), None, "A", "new\nA\nb\n"),
            ("moved up", "b\nc\n", (at(3, "b"), at(4, "c")), None, "X", "X\n"),
        ] {
            assert_eq!(run(text, &[edit(from, to, insert, new)]), result, "{name}");
        }
    }

    #[test]
    fn numbers_are_those_of_the_file_as_it_was_read() {
        let (open, close) = ("{", "}");
        let text = "{\n1\n}\n{\n2\n}\n";
        let edits = [
            edit(at(1, open), at(1, open), Some(Insert::After), "x\ny\nz"),
            edit(at(6, close), at(6, close), Some(Insert::Before), "w"),
        ];
        assert_eq!(run(text, &edits), "{\nx\ny\nz\n1\n}\n{\n2\nw\n}\n");
    }

    #[test]
    fn what_has_changed_is_refused() {
        let gone = edit(at(2, "b"), at(2, "b"), None, "B");
        assert_eq!(
            run("a\nQ\nc\n", std::slice::from_ref(&gone)),
            "MATCH_NOT_FOUND: 2#".to_owned()
                + &anchor(b"b").iter().collect::<String>()
                + " is not in f any more: the lines have changed since they were read"
        );
        assert!(run("a\nQ\nb\nb\n", &[gone]).starts_with("MATCH_NOT_UNIQUE"));
        let turned = edit(at(2, "b"), at(1, "a"), None, "B");
        assert!(run("a\nb\n", &[turned]).starts_with("INVALID_ARGUMENT"));
    }

    #[test]
    fn anchors_are_read() {
        for text in ["120#k3", " 120#k3", "120#K3", "120#k3\tlet x", "120#k3|let x"] {
            assert_eq!(
                Anchor::parse("from", text).ok(),
                Some(Anchor { line: 120, hash: ['k', '3'] }),
                "{text}"
            );
        }
        for text in ["", "120", "#k3", "0#k3", "x#k3", "120#k", "120#k34", "120#-3"] {
            assert!(Anchor::parse("from", text).is_err(), "{text}");
        }
    }
}
