//! Finds the old text by its bytes, ignoring only whether lines end in LF or CRLF (the tier
//! `exact`).
//!
//! A text with LF matches a file with CRLF and vice versa; the new text takes the file's line
//! endings.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use super::eol_view::{EolView, MAX_POSITIONS_PER_EDIT, with_line_ends};
use crate::edit::budget::WorkBudget;
use crate::edit::explaining::refusal::Refusal;
use crate::edit::lines::to_lf_without_bom;
use crate::edit::{Edit, OldTextMatch, OnMultiple, Splice, Tier, choose_positions};
use crate::text::{BOM_UTF8, Eol, count_lf};

/// The maximum number of bytes that one edit may write at several positions together; it is refused
/// beyond that.
const MAX_WRITTEN_BYTES: usize = 1 << 26;

/// Finds the old text. Returns `None` if it does not occur.
///
/// # Errors
/// Refuses if it occurs more than once and the edit does not say which to take.
pub(in crate::edit) fn find_exact(
    text: &[u8],
    edit: &Edit,
    on_multiple: OnMultiple,
    work: &WorkBudget,
) -> Result<Option<OldTextMatch>, Refusal> {
    if !work.try_spend(text.len() / 2 + edit.old.len() + edit.new.len() + 200) {
        return Err(Refusal::TooMuch);
    }
    let old = to_lf_without_bom(edit.old.as_bytes());
    let body = text.strip_prefix(BOM_UTF8).unwrap_or(text);
    let eol = Eol::detect(body);
    let view = EolView::new(body, eol, &old);
    let places = view.offsets(edit);
    if places.is_empty() {
        return Ok(None);
    }
    // The line numbers are needed only to choose a position or to report a wrong number of them.
    let lines = match places.as_slice() {
        [_] if edit.expected.is_none() => vec![1],
        places => line_numbers_at_offsets(&view.text, places),
    };
    let chosen = choose_positions(&lines, edit, on_multiple)?;
    let count = chosen.len();
    if count > MAX_POSITIONS_PER_EDIT
        || (count > 1 && count.saturating_mul(edit.new.len()) > MAX_WRITTEN_BYTES)
    {
        return Err(Refusal::TooMuch);
    }
    let offset = text.len() - body.len();
    let ranges = view.raw_ranges(&places[chosen]);
    let ranges = ranges.into_iter().map(|range| range.start + offset..range.end + offset);
    let mut with: Option<Vec<u8>> = None;
    let splices = ranges.map(|range| {
        if eol == Eol::Mixed || with.is_none() {
            with = Some(with_file_line_ends(text, &range, eol, &old, edit.new.as_bytes()));
        }
        Splice { range, with: with.clone().unwrap_or_default() }
    });
    let splices = splices.collect();
    Ok(Some(OldTextMatch {
        splices,
        places: lines.len(),
        tier: Tier::Exact,
        repairs: Vec::new(),
        score: 1.0,
    }))
}

/// Returns the line (1-based) at each of the ascending offsets.
fn line_numbers_at_offsets(text: &[u8], places: &[usize]) -> Vec<u64> {
    let mut line = 1;
    let mut from = 0;
    let number = |&at: &usize| {
        line += count_lf(&text[from..at]);
        from = at;
        line
    };
    places.iter().map(number).collect()
}

/// Returns the new text with the line endings of the file: those of all its lines, or in a file
/// with both kinds those of the lines at `range`.
fn with_file_line_ends(
    text: &[u8],
    range: &Range<usize>,
    eol: Eol,
    old: &[u8],
    new: &[u8],
) -> Vec<u8> {
    match eol {
        Eol::None => new.to_vec(),
        Eol::Lf => to_lf_without_bom(new).into_owned(),
        Eol::CrLf => with_line_ends(&to_lf_without_bom(new), std::iter::repeat(&b"\r\n"[..])),
        Eol::Mixed => {
            let new = to_lf_without_bom(new);
            let ends = line_ends_in_mixed_file(text, range, old, &new);
            with_line_ends(&new, ends.into_iter())
        }
    }
}

/// Returns the line endings of the new text in a file with both kinds: an unchanged line keeps its
/// own, a replacement takes that of the replaced line, and an added line takes that of the previous
/// line.
fn line_ends_in_mixed_file<'t>(
    text: &'t [u8],
    range: &Range<usize>,
    old: &[u8],
    new: &[u8],
) -> Vec<&'t [u8]> {
    let end_at =
        |lf: usize| if lf > 0 && text[lf - 1] == b'\r' { lf - 1..lf + 1 } else { lf..lf + 1 };
    let region: Vec<&[u8]> = memchr_iter(b'\n', &text[range.clone()])
        .map(|lf| &text[end_at(range.start + lf)])
        .collect();
    let before = memrchr(b'\n', &text[..range.start]).map(|lf| &text[end_at(lf)]);
    let after = memchr(b'\n', &text[range.end..]).map(|lf| &text[end_at(range.end + lf)]);
    // A replaced text within one line contains no line ending, so the list begins with the line
    // ending of its line.
    let mut last = region.first().copied().or(after).or(before).unwrap_or(b"\n");

    let (old, new) = (crate::diff::split_lines(old), crate::diff::split_lines(new));
    let mut changes = crate::diff::changes_between_lines(&old, &new).into_iter().peekable();
    let mut ends = Vec::with_capacity(new.len());
    let mut shift = 0i64;
    for line in 0..new.len() as u32 {
        while changes.peek().is_some_and(|change| change.after.end <= line) {
            if let Some(done) = changes.next() {
                shift = i64::from(done.before.end) - i64::from(done.after.end);
            }
        }
        let origin = match changes.peek() {
            Some(change) if change.after.contains(&line) => {
                let at = change.before.start + (line - change.after.start);
                change.before.contains(&at).then_some(at as usize)
            }
            _ => usize::try_from(i64::from(line) + shift).ok(),
        };
        if let Some(end) = origin.and_then(|at| region.get(at)) {
            last = end;
        }
        ends.push(last);
    }
    ends
}
