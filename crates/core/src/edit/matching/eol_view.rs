//! A file and an old text whose line endings are made equal, so that bytes can be compared.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr_iter;
use memchr::memmem::{self, Finder};

use crate::edit::Edit;
use crate::edit::lines::to_lf_without_bom;
use crate::text::Eol;

/// The maximum number of positions that one edit may replace; it is refused beyond that.
pub(super) const MAX_POSITIONS_PER_EDIT: usize = 500_000;

/// A file and an old text with normalised line endings. The file is copied only if it has both
/// kinds of line endings.
pub(super) struct EolView<'a> {
    raw: &'a [u8],
    /// The text to search: the file, with LF for CRLF if it has both.
    pub text: Cow<'a, [u8]>,
    /// The text to search for, with the line endings of `text`.
    old: Cow<'a, [u8]>,
}

impl<'a> EolView<'a> {
    pub(super) fn new(raw: &'a [u8], eol: Eol, old: &'a [u8]) -> Self {
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
    pub(super) fn offsets(&self, edit: &Edit) -> Vec<usize> {
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
    pub(super) fn raw_ranges(&self, places: &[usize]) -> Vec<Range<usize>> {
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

/// Returns a text with LF in which each line ends with the next of `ends` instead.
pub(super) fn with_line_ends<'e>(text: &[u8], mut ends: impl Iterator<Item = &'e [u8]>) -> Vec<u8> {
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

/// Returns true if `needle` occurs in the text, ignoring the kind of line endings.
pub(in crate::edit) fn contains_text(text: &[u8], needle: &str) -> bool {
    let needle = to_lf_without_bom(needle.as_bytes());
    let view = EolView::new(text, Eol::detect(text), &needle);
    memmem::find(&view.text, &view.old).is_some()
}
