//! Finds the lines of an edit that names lines instead of a text, such as `120#k3x9q1`: a line
//! number and six characters computed from the line and its neighbours.
//!
//! All edits of a call name lines of the file as it was before the first edit. If the caller knows
//! that the file has not changed since it was read, the number identifies the line. Otherwise the
//! line is found by its anchor, with first and last line at their old distance; if several lines
//! have the anchor, the edit is refused, because the number may belong to another line by now.
//! Edits write whole lines with the line endings of the file.
//!
//! Splitting the file and comparing its lines with an anchor are charged to the budget of the call.

use std::ops::Range;

use serde_json::json;

use crate::anchor::{AnchorKind, neighbourhood_hashes};
use crate::edit::applying::offsets::LineOffsets;
use crate::edit::budget::{WorkBudget, too_much_error};
use crate::edit::explaining::excerpt::list_line_numbers;
use crate::edit::explaining::suggestions::candidates;
use crate::edit::lines::{FileLines, has_countable_lines, split_edit_lines, to_lf_without_bom};
use crate::edit::{Anchor, AnchoredLines, InsertSide, OldTextMatch, Splice, Tier};
use crate::error::{Code, Error, Result};
use crate::text::path::escape_controls;

/// The file in which an edit names lines.
pub(in crate::edit) struct AnchoredFile<'t> {
    /// The text before the first edit of the call.
    pub original: &'t [u8],
    /// The text before this edit.
    pub text: &'t [u8],
    /// The path of the file.
    pub label: &'t str,
    pub work: &'t WorkBudget,
}

impl AnchoredFile<'_> {
    /// Charges work before it starts.
    fn spend(&self, units: usize) -> Result<()> {
        if self.work.try_spend(units) {
            return Ok(());
        }
        Err(too_much_error(&escape_controls(self.label)))
    }
}

/// Applies an edit to the lines that it names.
///
/// # Errors
/// `MATCH_NOT_FOUND` if no line has the anchor, `MATCH_NOT_UNIQUE` if several have it and the file
/// may have changed, `INVALID_ARGUMENT` if the anchors are in the wrong order, `LIMIT_EXCEEDED` if
/// the budget of the call does not suffice.
pub(in crate::edit) fn find_by_anchors(
    at: &AnchoredFile<'_>,
    anchors: &AnchoredLines,
    new: &str,
    shifts: &mut LineOffsets,
) -> Result<OldTextMatch> {
    let AnchoredFile { original, text, .. } = *at;
    at.spend((original.len() + text.len()) / 4)?;
    if !has_countable_lines(text) || !has_countable_lines(original) {
        return Err(Error::new(Code::LimitExceeded, "the file has too many lines to name them")
            .hint("name the text to replace")
            .detail("reason", "too_large"));
    }
    let file = FileLines::new(text);
    let (read, lines) = if shifts.has_no_edits() {
        let lines = locate_lines(at, &file, anchors)?;
        (lines.clone(), lines)
    } else {
        let before = FileLines::new(original);
        let lines = locate_lines(at, &before, anchors)?;
        (lines.clone(), current_position_of_lines(&before, &file, &lines, shifts, at.label)?)
    };
    if anchors.insert.is_none() {
        shifts.record_replaced(&read);
    }
    let splice = match anchors.insert {
        None => splice_replacing_lines(text, &file, lines, new),
        Some(InsertSide::Before) => splice_inserting_lines(text, &file, lines.start, new),
        Some(InsertSide::After) => splice_inserting_lines(text, &file, lines.end, new),
    };
    Ok(OldTextMatch {
        splices: vec![splice],
        places: 1,
        tier: Tier::Exact,
        repairs: Vec::new(),
        score: 1.0,
    })
}

/// Returns the lines (0-based) that the anchors name, in the file as it was before the call.
fn locate_lines(
    at: &AnchoredFile<'_>,
    file: &FileLines<'_>,
    AnchoredLines { from, to, unchanged, .. }: &AnchoredLines,
) -> Result<Range<usize>> {
    let Some(span) = to.line.checked_sub(from.line).and_then(|span| usize::try_from(span).ok())
    else {
        let message = format!("to names line {}, which comes before from", to.line);
        return Err(Error::new(Code::InvalidArgument, message).detail("argument", "to"));
    };
    let expected = usize::try_from(from.line - 1).unwrap_or(usize::MAX);
    if *unchanged
        && let Some(last) = expected.checked_add(span).filter(|&last| last < file.len())
        && from.kind_at()(file.neighbourhood_hash(expected)).is_some()
        && to.kind_at()(file.neighbourhood_hash(last)).is_some()
    {
        return Ok(expected..last + 1);
    }
    at.spend(units_of_search(at.original, file))?;
    let path = escape_controls(at.label);
    let shown =
        |anchor: &Anchor| format!("{}#{}", anchor.line, anchor.hash.iter().collect::<String>());
    let named = if span == 0 { shown(from) } else { format!("{} to {}", shown(from), shown(to)) };
    let (places, is_certain) = lines_with_anchors(file, from, to, span);
    match places.as_slice() {
        [only] if is_certain => Ok(*only..*only + span + 1),
        [] => {
            let near = expected.min(file.len().saturating_sub(1));
            Err(stale_anchor_error(file, near..(near + span + 1).min(file.len()), &named, &path))
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
                    list_line_numbers(&numbers)
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

/// Returns the cost of [`lines_with_anchors`]: it hashes each byte and compares each line.
fn units_of_search(text: &[u8], file: &FileLines<'_>) -> usize {
    const UNITS_PER_LINE: usize = 24;
    text.len() / 2 + file.len().saturating_mul(UNITS_PER_LINE)
}

/// Returns the lines (0-based) at which `from` matches and `to` matches `span` lines later; at most
/// 101, which suffice to report an ambiguity. The flag is true if there is one match and it must be
/// the line that was read, because one of the anchors identifies a line that was unique and still
/// is.
fn lines_with_anchors(
    file: &FileLines<'_>,
    from: &Anchor,
    to: &Anchor,
    span: usize,
) -> (Vec<usize>, bool) {
    const MAX_MATCHES: usize = 101;
    let hashes = file.hashes();
    let all = neighbourhood_hashes(&hashes);
    let (kind_of_first, kind_of_last) = (from.kind_at(), to.kind_at());
    let kinds = |at: usize| Some((kind_of_first(all[at])?, kind_of_last(all[at + span])?));
    let places: Vec<usize> = (0..all.len().saturating_sub(span))
        .filter(|&at| kinds(at).is_some())
        .take(MAX_MATCHES)
        .collect();
    let is_certain = match places.as_slice() {
        &[only] => kinds(only).is_some_and(|(first, last)| {
            first == AnchorKind::Unique && has_unique_line(&hashes, only)
                || last == AnchorKind::Unique && has_unique_line(&hashes, only + span)
        }),
        _ => false,
    };
    (places, is_certain)
}

/// Returns true if the line at an index, or one of its neighbours, occurs only once in the file.
fn has_unique_line(hashes: &[u64], at: usize) -> bool {
    hashes[at.saturating_sub(1)..(at + 2).min(hashes.len())]
        .iter()
        .any(|one| hashes.iter().filter(|other| *other == one).nth(1).is_none())
}

/// Returns the present position of lines of the file before the call, after its earlier edits.
fn current_position_of_lines(
    before: &FileLines<'_>,
    now: &FileLines<'_>,
    lines: &Range<usize>,
    shifts: &LineOffsets,
    label: &str,
) -> Result<Range<usize>> {
    let start =
        usize::try_from(shifts.current_line(lines.start as u64 + 1) - 1).unwrap_or(usize::MAX);
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

/// The error for lines that are not in the file any more; `near` are the lines to show instead.
fn stale_anchor_error(file: &FileLines<'_>, near: Range<usize>, named: &str, path: &str) -> Error {
    let message = format!(
        "{named} is not in {path} any more: the lines or their neighbours have changed since they were read"
    );
    Error::new(Code::MatchNotFound, message)
        .hint("read the lines again and use their new anchors")
        .detail("reason", "stale_anchor")
        .detail("candidates", candidates(file, &[near], None))
}

/// Returns the line ending of a line or, if it has none, that of the previous line; LF if neither
/// has one.
fn line_ending_of<'t>(text: &'t [u8], file: &FileLines<'_>, line: usize) -> &'t [u8] {
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
fn split_new_text(new: &str) -> Vec<Vec<u8>> {
    let folded = to_lf_without_bom(new.as_bytes());
    if folded.is_empty() {
        return Vec::new();
    }
    let body = folded.strip_suffix(b"\n").unwrap_or(&folded);
    split_edit_lines(body).into_iter().map(<[u8]>::to_vec).collect()
}

fn splice_replacing_lines(
    text: &[u8],
    file: &FileLines<'_>,
    lines: Range<usize>,
    new: &str,
) -> Splice {
    let range = file.start(lines.start)..file.start(lines.end);
    let open = !text[range.clone()].ends_with(b"\n");
    let mut with = Vec::new();
    for (index, line) in split_new_text(new).iter().enumerate() {
        let beside = (lines.start + index).min(lines.end - 1);
        with.extend_from_slice(line);
        with.extend_from_slice(line_ending_of(text, file, beside));
    }
    if open && !with.is_empty() {
        let end = line_ending_of(text, file, lines.end - 1).len();
        with.truncate(with.len() - end);
    }
    Splice { range, with }
}

/// Returns the splice that inserts lines before a line (0-based).
fn splice_inserting_lines(text: &[u8], file: &FileLines<'_>, before: usize, new: &str) -> Splice {
    let at = file.start(before);
    let end = line_ending_of(text, file, before.saturating_sub(1));
    let mut with = Vec::new();
    for line in split_new_text(new) {
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
mod tests;
