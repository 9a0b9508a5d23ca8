//! Finds the old text by its bytes, ignoring only whether lines end in LF or CRLF (the tier
//! `exact`).
//!
//! A text with LF matches a file with CRLF and vice versa; the new text takes the file's line
//! endings.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem::{self, Finder};
use memchr::{memchr, memchr_iter, memrchr};

use crate::edit::budget::WorkBudget;
use crate::edit::explaining::refusal::Refusal;
use crate::edit::lines::to_lf_without_bom;
use crate::edit::{Edit, OldTextMatch, OnMultiple, Splice, Tier, choose_positions};
use crate::text::{BOM_UTF8, Eol, count_lf};

/// The maximum number of positions that one edit may replace; it is refused beyond that.
const MAX_POSITIONS_PER_EDIT: usize = 500_000;
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

/// A file and an old text with normalised line endings. The file is copied only if it has both
/// kinds of line endings.
struct EolView<'a> {
    raw: &'a [u8],
    /// The text to search: the file, with LF for CRLF if it has both.
    text: Cow<'a, [u8]>,
    /// The text to search for, with the line endings of `text`.
    old: Cow<'a, [u8]>,
}

impl<'a> EolView<'a> {
    fn new(raw: &'a [u8], eol: Eol, old: &'a [u8]) -> Self {
        let (text, old) = match eol {
            Eol::None | Eol::Lf => (Cow::Borrowed(raw), Cow::Borrowed(old)),
            Eol::CrLf => {
                let ends = std::iter::repeat(&b"\r\n"[..]);
                (Cow::Borrowed(raw), Cow::Owned(with_line_ends(old, ends)))
            }
            Eol::Mixed => (to_lf_without_bom(raw), Cow::Borrowed(old)),
        };
        Self { raw, text, old }
    }

    /// Returns the byte offsets at which the old text begins in the searched text, without
    /// overlaps. If the edit replaces one position only, a second one that overlaps the first is
    /// included, because it makes the match ambiguous.
    fn offsets(&self, edit: &Edit) -> Vec<usize> {
        if self.old.is_empty() {
            return Vec::new(); // nothing but a byte order mark was sent
        }
        let finder = Finder::new(&*self.old);
        // A match must not end between CR and LF.
        let whole = |at: &usize| {
            !(self.old.ends_with(b"\r") && self.text.get(at + self.old.len()) == Some(&b'\n'))
        };
        let found = finder.find_iter(&self.text).filter(whole);
        let mut places: Vec<usize> = found.take(MAX_POSITIONS_PER_EDIT + 1).collect();
        if let &[only] = places.as_slice()
            && !(edit.replace_all || edit.expected.is_some())
        {
            let end = self.text.len().min(only + 2 * self.old.len() - 1);
            let again = finder.find(&self.text[only + 1..end]).map(|at| only + 1 + at);
            places.extend(again.filter(whole));
        }
        places
    }

    /// Returns the byte ranges of the file for ascending offsets in the searched text.
    fn raw_ranges(&self, places: &[usize]) -> Vec<Range<usize>> {
        let len = self.old.len();
        if matches!(self.text, Cow::Borrowed(_)) {
            return places.iter().map(|&at| at..at + len).collect();
        }
        let mut ends = memchr_iter(b'\r', self.raw)
            .filter(|&at| self.raw.get(at + 1) == Some(&b'\n'))
            .enumerate()
            .map(|(before, at)| at - before)
            .peekable();
        let mut folds = 0;
        let mut raw = |at: usize| {
            while ends.next_if(|&end| end < at).is_some() {
                folds += 1;
            }
            at + folds
        };
        places.iter().map(|&at| raw(at)..raw(at + len)).collect()
    }
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

/// Returns a text with LF in which each line ends with the next of `ends` instead.
fn with_line_ends<'e>(text: &[u8], mut ends: impl Iterator<Item = &'e [u8]>) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 16);
    let mut next = 0;
    for at in memchr_iter(b'\n', text) {
        out.extend_from_slice(&text[next..at]);
        out.extend_from_slice(ends.next().unwrap_or(b"\n"));
        next = at + 1;
    }
    out.extend_from_slice(&text[next..]);
    out
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

/// Returns true if `needle` occurs in the text, ignoring the kind of line endings.
pub(in crate::edit) fn contains_text(text: &[u8], needle: &str) -> bool {
    let needle = to_lf_without_bom(needle.as_bytes());
    let view = EolView::new(text, Eol::detect(text), &needle);
    memmem::find(&view.text, &view.old).is_some()
}
