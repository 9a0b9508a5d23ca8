//! Edits that name lines instead of text: `120#k3x9q1` is a number and six characters that identify
//! the line and its neighbours.
//!
//! All edits of a call name lines of the file as it was before the first edit. If the caller knows
//! that the file has not changed since it was read, the number identifies the line. Otherwise the
//! line is found by its anchor, with first and last line at their old distance; if several lines
//! have the anchor, the edit is refused, because the number may belong to another line by now.
//! Edits write whole lines with the line endings of the file.

use std::ops::Range;

use serde_json::json;

use crate::anchor::{ANCHOR_LENGTH, AnchorKind, digits, neighbourhoods};
use crate::edit::applying::offsets::LineOffsets;
use crate::edit::explaining::excerpt::list;
use crate::edit::explaining::suggestions::candidates;
use crate::edit::lines::{FileLines, edit_lines, fold_ends, has_countable_lines};
use crate::edit::{Match, Splice, Tier};
use crate::error::{Code, Error, Result};
use crate::text::path::escape_controls;

/// A line identified by number and anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The number of the line when it was read, 1-based.
    pub line: u64,
    /// The anchor, as [`crate::anchor::anchors`] returns it.
    pub hash: [char; ANCHOR_LENGTH],
}

/// The position of inserted lines relative to the named line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insert {
    /// Before the line.
    Before,
    /// After the line.
    After,
}

/// The lines that an edit names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchors {
    /// The first line.
    pub from: Anchor,
    /// The last line; equal to `from` for a single line.
    pub to: Anchor,
    /// Inserts the new text next to the line instead of replacing the line.
    pub insert: Option<Insert>,
    /// True if the file is known to be the version that the anchors were read from.
    pub unchanged: bool,
}

impl Anchor {
    /// Returns the kind of line whose anchor this is, for a line with this neighbourhood.
    fn kind(&self, neighbourhood: u64) -> Option<AnchorKind> {
        [AnchorKind::Unique, AnchorKind::Common]
            .into_iter()
            .find(|&kind| digits(neighbourhood, kind) == self.hash)
    }

    /// Parses `120#k3x9q1`; `argument` names the value in errors. Accepts a seventh character for
    /// use by the caller, and ignores anything after a blank or `|`, such as the line itself.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for any other form.
    pub fn parse(argument: &str, text: &str) -> Result<Self> {
        let form = || {
            let shown = escape_controls(crate::text::cut_chars(text, 40)).into_owned();
            Error::new(
                Code::InvalidArgument,
                format!("{argument} must be a line anchor such as 120#k3x9q1, got \"{shown}\""),
            )
            .hint("read the file with anchors: true and copy the anchor")
            .detail("argument", argument)
        };
        let (number, rest) = text.trim_start().split_once('#').ok_or_else(form)?;
        let line = number.trim().parse::<u64>().ok().filter(|&line| line > 0).ok_or_else(form)?;
        let is_behind = |c: char| matches!(c, ' ' | '\t' | '|' | '\u{2192}' | '\r' | '\n');
        let digits = rest.split(is_behind).next().unwrap_or_default().to_ascii_lowercase();
        let digits: Vec<char> = digits.chars().collect();
        let hash = digits.get(..ANCHOR_LENGTH).and_then(|hash| hash.try_into().ok());
        match hash {
            Some(hash)
                if digits.len() <= ANCHOR_LENGTH + 1
                    && digits.iter().all(char::is_ascii_alphanumeric) =>
            {
                Ok(Self { line, hash })
            }
            _ => Err(form()),
        }
    }
}

/// Applies an edit to the lines that it names.
///
/// # Errors
/// `MATCH_NOT_FOUND` if no line has the anchor, `MATCH_NOT_UNIQUE` if several have it and the file
/// may have changed, `INVALID_ARGUMENT` if the anchors are in the wrong order.
///
/// `original` is the text before the first edit of the call, `text` the text before this edit.
pub(in crate::edit) fn find(
    original: &[u8],
    text: &[u8],
    anchors: &Anchors,
    new: &str,
    shifts: &mut LineOffsets,
    label: &str,
) -> Result<Match> {
    if !has_countable_lines(text) || !has_countable_lines(original) {
        return Err(Error::new(Code::LimitExceeded, "the file has too many lines to name them")
            .hint("name the text to replace")
            .detail("reason", "too_large"));
    }
    let file = FileLines::new(text);
    let (read, lines) = if shifts.is_empty() {
        let lines = place(&file, anchors, label)?;
        (lines.clone(), lines)
    } else {
        let before = FileLines::new(original);
        let lines = place(&before, anchors, label)?;
        (lines.clone(), moved(&before, &file, &lines, shifts, label)?)
    };
    if anchors.insert.is_none() {
        shifts.replace(&read);
    }
    let splice = match anchors.insert {
        None => replace(text, &file, lines, new),
        Some(Insert::Before) => insert(text, &file, lines.start, new),
        Some(Insert::After) => insert(text, &file, lines.end, new),
    };
    Ok(Match {
        splices: vec![splice],
        places: 1,
        tier: Tier::Exact,
        repairs: Vec::new(),
        score: 1.0,
    })
}

/// Returns the lines (0-based) of the file as it was before the call.
fn place(
    file: &FileLines<'_>,
    Anchors { from, to, unchanged, .. }: &Anchors,
    label: &str,
) -> Result<Range<usize>> {
    let Some(span) = to.line.checked_sub(from.line).and_then(|span| usize::try_from(span).ok())
    else {
        let message = format!("to names line {}, which comes before from", to.line);
        return Err(Error::new(Code::InvalidArgument, message).detail("argument", "to"));
    };
    let expected = usize::try_from(from.line - 1).unwrap_or(usize::MAX);
    if *unchanged
        && let Some(last) = expected.checked_add(span).filter(|&last| last < file.len())
        && from.kind(file.neighbourhood(expected)).is_some()
        && to.kind(file.neighbourhood(last)).is_some()
    {
        return Ok(expected..last + 1);
    }
    let path = escape_controls(label);
    let shown =
        |anchor: &Anchor| format!("{}#{}", anchor.line, anchor.hash.iter().collect::<String>());
    let named = if span == 0 { shown(from) } else { format!("{} to {}", shown(from), shown(to)) };
    let (places, is_certain) = places(file, from, to, span);
    match places.as_slice() {
        [only] if is_certain => Ok(*only..*only + span + 1),
        [] => {
            let near = expected.min(file.len().saturating_sub(1));
            Err(stale(file, near..(near + span + 1).min(file.len()), &named, &path))
        }
        several => {
            let numbers: Vec<u64> = several.iter().map(|at| *at as u64 + 1).collect();
            let ranges: Vec<Range<usize>> =
                several.iter().map(|at| *at..*at + span + 1).take(3).collect();
            let message = if let [only] = several {
                format!(
                    "{named} cannot be told from lines like it in {path}, which may have changed since it was read: it may be line {} now",
                    only + 1
                )
            } else {
                format!(
                    "{named} is one of several equal places in {path}, which may have changed since it was read: lines {}",
                    list(&numbers)
                )
            };
            Err(Error::new(Code::MatchNotUnique, message)
                .hint("read the lines again, or send old_text with the lines around it")
                .detail("reason", "stale_anchor")
                .detail("found", several.len())
                .detail("lines", json!(numbers))
                .detail("candidates", candidates(file, &ranges, None)))
        }
    }
}

/// Returns the lines (0-based) at which both anchors match, stopping once there are enough to
/// report an ambiguity. The flag is true if a single match must be the line that was read, because
/// one of the anchors identifies a line that was unique and still is.
fn places(file: &FileLines<'_>, from: &Anchor, to: &Anchor, span: usize) -> (Vec<usize>, bool) {
    const MAX_MATCHES: usize = 101;
    let hashes = file.hashes();
    let all = neighbourhoods(&hashes);
    let mut places = Vec::new();
    let mut is_certain = false;
    for at in 0..all.len().saturating_sub(span) {
        let (Some(first), Some(last)) = (from.kind(all[at]), to.kind(all[at + span])) else {
            continue;
        };
        is_certain |= first == AnchorKind::Unique && has_unique_line(&hashes, at)
            || last == AnchorKind::Unique && has_unique_line(&hashes, at + span);
        places.push(at);
        if places.len() == MAX_MATCHES {
            break;
        }
    }
    (places, is_certain)
}

/// Reports whether the line at an index, or one of its neighbours, occurs only once in the file.
fn has_unique_line(hashes: &[u64], at: usize) -> bool {
    hashes[at.saturating_sub(1)..(at + 2).min(hashes.len())]
        .iter()
        .any(|one| hashes.iter().filter(|other| *other == one).nth(1).is_none())
}

/// Maps lines of the file before the call to lines after its earlier edits.
fn moved(
    before: &FileLines<'_>,
    now: &FileLines<'_>,
    lines: &Range<usize>,
    shifts: &LineOffsets,
    label: &str,
) -> Result<Range<usize>> {
    let start = usize::try_from(shifts.now(lines.start as u64 + 1) - 1).unwrap_or(usize::MAX);
    let end = start.saturating_add(lines.len());
    let is_same = end <= now.len()
        && !shifts.has_replaced(lines)
        && lines.clone().zip(start..end).all(|(old, new)| before.text(old) == now.text(new));
    if is_same {
        return Ok(start..end);
    }
    let message = format!(
        "an earlier edit of this call changed line {} of {}",
        lines.start + 1,
        escape_controls(label)
    );
    Err(Error::new(Code::MatchNotFound, message)
        .hint("put all that becomes of a line into one edit")
        .detail("reason", "stale_anchor"))
}

fn stale(file: &FileLines<'_>, near: Range<usize>, named: &str, path: &str) -> Error {
    let message = format!(
        "{named} is not in {path} any more: the lines or their neighbours have changed since they were read"
    );
    Error::new(Code::MatchNotFound, message)
        .hint("read the lines again and use their new anchors")
        .detail("reason", "stale_anchor")
        .detail("candidates", candidates(file, &[near], None))
}

/// Returns the line ending of a line, or that of the previous line.
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

/// Splits a new text into lines; the line ending after the last one is optional.
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
        // The former last line needs a line ending now, and the new last line has none.
        with.truncate(with.len() - end.len());
        with.splice(0..0, end.iter().copied());
    }
    Splice { range: at..at, with }
}

#[cfg(test)]
mod tests {
    use super::{Anchor, Anchors, Insert};
    use crate::anchor::anchors;
    use crate::edit::{Edit, EditOptions, plan};

    /// Returns the anchor of a line of a text.
    fn at(text: &str, line: usize) -> Anchor {
        let all: Vec<char> = anchors(text.trim_start_matches('\u{feff}')).chars().collect();
        let hash = all[6 * (line - 1)..6 * line].try_into().unwrap();
        Anchor { line: line as u64, hash }
    }

    /// Returns an edit of lines `from` to `to` of a text.
    fn edit(text: &str, (from, to): (usize, usize), insert: Option<Insert>, new: &str) -> Edit {
        let (from, to) = (at(text, from), at(text, to));
        let anchors = Some(Anchors { from, to, insert, unchanged: false });
        Edit { anchors, new: new.into(), ..Edit::default() }
    }

    fn unchanged(mut edit: Edit) -> Edit {
        edit.anchors.as_mut().unwrap().unchanged = true;
        edit
    }

    fn run(text: &str, edits: &[Edit]) -> String {
        let options = EditOptions { label: "f".into(), ..EditOptions::default() };
        match plan(text.as_bytes(), edits, &options) {
            Ok(plan) => String::from_utf8(plan.bytes).unwrap(),
            Err(error) => format!("{}: {}", error.code.as_str(), error.message),
        }
    }

    #[test]
    fn lines_are_named_by_anchors() {
        use Insert::{After, Before};
        for (name, text, lines, insert, new, result) in [
            ("one line", "a\nb\nc\n", (2, 2), None, "B", "a\nB\nc\n"),
            ("with its end", "a\nb\nc\n", (2, 2), None, "B\n", "a\nB\nc\n"),
            ("several", "a\nb\nc\nd\n", (2, 3), None, "X\nY\nZ", "a\nX\nY\nZ\nd\n"),
            ("away", "a\nb\nc\n", (2, 2), None, "", "a\nc\n"),
            ("to a blank line", "a\nb\nc\n", (2, 2), None, "\n", "a\n\nc\n"),
            ("before", "a\nb\n", (1, 1), Some(Before), "x\ny", "x\ny\na\nb\n"),
            ("after", "a\nb\n", (1, 1), Some(After), "x", "a\nx\nb\n"),
            ("after the open end", "a\nb", (2, 2), Some(After), "x", "a\nb\nx"),
            ("the open end", "a\nb", (2, 2), None, "B\nC", "a\nB\nC"),
            ("CRLF", "a\r\nb\r\n", (2, 2), None, "x\ny", "a\r\nx\r\ny\r\n"),
            ("CRLF after", "a\r\nb", (2, 2), Some(After), "x", "a\r\nb\r\nx"),
            ("a mark", "\u{feff}a\nb\n", (1, 1), None, "A", "\u{feff}A\nb\n"),
        ] {
            let edit = edit(text, lines, insert, new);
            assert_eq!(run(text, std::slice::from_ref(&edit)), result, "{name}");
            assert_eq!(run(text, &[unchanged(edit)]), result, "{name}, known to be unchanged");
        }
    }

    #[test]
    fn lines_that_moved_are_found_by_their_neighbours() {
        let text = "fn a() {\n  x();\n}\n\nfn b() {\n  y();\n}\n";
        let close = edit(text, (7, 7), Some(Insert::After), "// b");
        let moved = format!("1\n2\n3\n4\n{text}");
        assert_eq!(run(&moved, std::slice::from_ref(&close)), format!("{moved}// b\n"));
        // A caller that wrongly claims an unchanged file does no harm.
        assert_eq!(run(&moved, &[unchanged(close)]), format!("{moved}// b\n"));
        let body = edit(text, (5, 6), None, "fn c() {");
        assert_eq!(run(&moved, &[body]), moved.replace("fn b() {\n  y();", "fn c() {"));
    }

    #[test]
    fn line_numbers_refer_to_the_file_as_it_was_read() {
        let text = "{\n1\n}\n{\n2\n}\n";
        let edits = [
            edit(text, (1, 1), Some(Insert::After), "x\ny\nz"),
            edit(text, (6, 6), Some(Insert::Before), "w"),
        ];
        assert_eq!(run(text, &edits), "{\nx\ny\nz\n1\n}\n{\n2\nw\n}\n");
        // The first edit changes the neighbours of the second.
        let text = "a\nb\nc\n";
        let edits = [edit(text, (1, 1), None, "A"), edit(text, (2, 2), None, "B\nB")];
        assert_eq!(run(text, &edits), "A\nB\nB\nc\n");
        let text = "a\nb\nb\n";
        let twice = [edit(text, (2, 2), None, ""), edit(text, (2, 2), None, "B")];
        assert_eq!(
            run(text, &twice),
            "MATCH_NOT_FOUND: an earlier edit of this call changed line 2 of f"
        );
    }

    #[test]
    fn stale_anchors_are_refused() {
        let text = "a\nb\nc\n";
        let gone = edit(text, (2, 2), None, "B");
        assert!(run("a\nQ\nc\n", std::slice::from_ref(&gone)).starts_with("MATCH_NOT_FOUND: 2#"));
        let neighbour = "a\nb\nC\n";
        assert!(run(neighbour, &[gone]).contains("the lines or their neighbours have changed"));
        let equal = "x\nitem\nitem\nitem\nitem\n";
        let one = edit(equal, (3, 3), None, "B");
        let refusal = run(equal, std::slice::from_ref(&one));
        assert!(refusal.starts_with("MATCH_NOT_UNIQUE"), "{refusal}");
        assert!(refusal.contains("is one of several equal places in f"), "{refusal}");
        // The only remaining match may be another line.
        let fewer = "x\nitem\nitem\nitem\n";
        let refusal = run(fewer, std::slice::from_ref(&one));
        assert!(refusal.ends_with("it may be line 3 now"), "{refusal}");
        assert_eq!(run(equal, &[unchanged(one)]), "x\nitem\nB\nitem\nitem\n");
        // Lines 1 to 3 of the file equal lines that a removal brought together.
        let common = "}\n)\n\n}\n)\nx\n)\n\n";
        let refusal = run("}\nx\n)\n\n}\n)\n\n", &[edit(common, (2, 2), None, "B")]);
        assert!(refusal.ends_with("it may be line 6 now"), "{refusal}");
        let turned = edit(text, (2, 1), None, "B");
        assert!(run(text, &[turned]).starts_with("INVALID_ARGUMENT"));
    }

    #[test]
    fn anchors_are_read() {
        for text in
            ["120#k3x9q1", " 120#k3x9q1", "120#K3X9Q1", "120#k3x9q1\tlet x", "120#k3x9q1z|let x"]
        {
            assert_eq!(
                Anchor::parse("from", text).ok(),
                Some(Anchor { line: 120, hash: ['k', '3', 'x', '9', 'q', '1'] }),
                "{text}"
            );
        }
        for text in [
            "",
            "120",
            "#k3x9q1",
            "0#k3x9q1",
            "x#k3x9q1",
            "120#k3x9q",
            "120#k3x9q1zz",
            "120#k3x9q-",
        ] {
            assert!(Anchor::parse("from", text).is_err(), "{text}");
        }
    }
}
