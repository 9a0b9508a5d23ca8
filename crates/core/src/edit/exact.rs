//! The literal tier: the bytes of the old text, with line ends folded.
//!
//! A text sent with LF matches a file with CRLF, and the other way round; what
//! is written takes the file's line ends. Nothing else is folded.

use std::ops::Range;

use memchr::memmem::{self, Finder};
use memchr::{memchr, memchr_iter, memrchr};

use super::lines::fold_ends;
use super::refusal::Refusal;
use super::{Edit, Found, OnMultiple, Splice, Tier, choose};
use crate::text::{BOM_UTF8, Eol, count_lf};

/// Finds the old text. `None` where it does not occur.
///
/// # Errors
/// Refuses where it occurs more than once and nothing says which is meant.
pub(super) fn find(
    text: &[u8],
    edit: &Edit,
    on_multiple: OnMultiple,
) -> Result<Option<Found>, Refusal> {
    let old = fold_ends(edit.old.as_bytes());
    let view = View::new(text);
    let places = places(view.text(), &old, edit);
    if places.is_empty() {
        return Ok(None);
    }
    let lines = line_numbers(view.text(), &places);
    let chosen = choose(&lines, edit, on_multiple)?;
    let eol = Eol::detect(view.raw);
    let splices = places[chosen]
        .iter()
        .map(|&at| {
            let range = view.raw_range(at..at + old.len());
            let with = dress(text, &range, eol, &old, edit.new.as_bytes());
            Splice { range, with }
        })
        .collect();
    Ok(Some(Found { splices, tier: Tier::Exact, repairs: Vec::new(), score: 1.0 }))
}

/// Where `old` begins. Places that overlap cannot all be replaced, but to
/// decide on uniqueness a second one that overlaps the first counts too.
fn places(text: &[u8], old: &[u8], edit: &Edit) -> Vec<usize> {
    let finder = Finder::new(old);
    let mut places: Vec<usize> = finder.find_iter(text).collect();
    if let &[only] = places.as_slice()
        && !(edit.replace_all || edit.expected.is_some())
    {
        let rest = &text[only + 1..text.len().min(only + 2 * old.len() - 1)];
        places.extend(finder.find(rest).map(|at| only + 1 + at));
    }
    places
}

fn line_numbers(text: &[u8], places: &[usize]) -> Vec<u64> {
    let mut line = 1;
    let mut from = 0;
    let number = |&at: &usize| {
        line += count_lf(&text[from..at]);
        from = at;
        line
    };
    places.iter().map(number).collect()
}

/// The text without its byte order mark and with LF for CRLF, and the way back
/// to the bytes of the file.
struct View<'a> {
    raw: &'a [u8],
    offset: usize,
    folded: Option<Vec<u8>>,
    /// Offsets in `folded` of the LFs that were CRLF.
    folds: Vec<usize>,
}

impl<'a> View<'a> {
    fn new(text: &'a [u8]) -> Self {
        let raw = text.strip_prefix(BOM_UTF8).unwrap_or(text);
        let mut view =
            Self { raw, offset: text.len() - raw.len(), folded: None, folds: Vec::new() };
        if memmem::find(raw, b"\r\n").is_none() {
            return view;
        }
        let mut folded = Vec::with_capacity(raw.len());
        let mut next = 0;
        for at in memchr_iter(b'\r', raw) {
            if raw.get(at + 1) == Some(&b'\n') {
                folded.extend_from_slice(&raw[next..at]);
                view.folds.push(folded.len());
                next = at + 1;
            }
        }
        folded.extend_from_slice(&raw[next..]);
        view.folded = Some(folded);
        view
    }

    fn text(&self) -> &[u8] {
        self.folded.as_deref().unwrap_or(self.raw)
    }

    /// The bytes of the file behind a range of [`View::text`]. A CRLF belongs
    /// to its LF: it is never torn.
    fn raw_range(&self, range: Range<usize>) -> Range<usize> {
        let raw = |at: usize| self.offset + at + self.folds.partition_point(|&fold| fold < at);
        raw(range.start)..raw(range.end)
    }
}

/// The new text with the file's line ends.
fn dress(text: &[u8], range: &Range<usize>, eol: Eol, old: &[u8], new: &[u8]) -> Vec<u8> {
    match eol {
        Eol::None => new.to_vec(),
        Eol::Lf => fold_ends(new).into_owned(),
        Eol::CrLf => with_ends(&fold_ends(new), std::iter::repeat(&b"\r\n"[..])),
        Eol::Mixed => {
            let new = fold_ends(new);
            let ends = mixed_ends(text, range, old, &new);
            with_ends(&new, ends.into_iter())
        }
    }
}

/// Gives each line of an LF text the next of `ends`.
fn with_ends<'e>(text: &[u8], mut ends: impl Iterator<Item = &'e [u8]>) -> Vec<u8> {
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

/// The line ends of the new text in a file that has both kinds: a line that
/// stays keeps its own, a line that takes another's place takes its end, and a
/// line that is added ends as the one before it.
fn mixed_ends<'t>(text: &'t [u8], range: &Range<usize>, old: &[u8], new: &[u8]) -> Vec<&'t [u8]> {
    let end_at =
        |lf: usize| if lf > 0 && text[lf - 1] == b'\r' { lf - 1..lf + 1 } else { lf..lf + 1 };
    let region: Vec<&[u8]> = memchr_iter(b'\n', &text[range.clone()])
        .map(|lf| &text[end_at(range.start + lf)])
        .collect();
    let before = memrchr(b'\n', &text[..range.start]).map(|lf| &text[end_at(lf)]);
    let after = memchr(b'\n', &text[range.end..]).map(|lf| &text[end_at(range.end + lf)]);
    let mut last = region.first().copied().or(before).or(after).unwrap_or(b"\n");

    let (old, new) = (crate::diff::split(old), crate::diff::split(new));
    let mut changes = crate::diff::changes_between(&old, &new).into_iter().peekable();
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

/// Whether the text occurs at all.
pub(super) fn occurs(text: &[u8], needle: &str) -> bool {
    let view = View::new(text);
    memmem::find(view.text(), &fold_ends(needle.as_bytes())).is_some()
}
