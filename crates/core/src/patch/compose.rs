//! Composes a file from its old content and some of the hunks of a change.
//!
//! Whole lines are taken from the bytes of the two contents, and nothing is decoded: the encoding,
//! the byte order mark, the line endings and a missing last one stay as they are in the content
//! from which the line comes.

use std::borrow::Cow;

use crate::diff::{HunkRange, ReplacedLines, hunks_between, split_lines};
use crate::encoding::Endian;
use crate::error::{Code, Error, Result};

/// How the bytes of an encoding form lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineForm {
    /// The byte LF ends a line, as in UTF-8 and in every encoding whose first 128 characters are
    /// those of ASCII.
    Bytes,
    /// The unit LF ends a line.
    Utf16(Endian),
}

impl LineForm {
    /// Returns the form of an encoding with this name, in the spelling of
    /// [`Encoding::name`](crate::encoding::Encoding::name).
    pub fn of(encoding: &str) -> Self {
        match encoding {
            "utf-16le" => Self::Utf16(Endian::Little),
            "utf-16be" => Self::Utf16(Endian::Big),
            _ => Self::Bytes,
        }
    }

    /// Returns the hunks between two contents.
    pub fn hunks(self, before: &[u8], after: &[u8]) -> Vec<HunkRange> {
        hunks_between(&self.comparable(before), &self.comparable(after))
    }

    /// Returns a text with the same lines, each of which ends with the byte LF: equal lines are
    /// equal, and different ones differ, also where the bytes are no valid text.
    fn comparable(self, text: &[u8]) -> Cow<'_, [u8]> {
        let Self::Utf16(endian) = self else { return Cow::Borrowed(text) };
        let (pairs, rest) = text.as_chunks::<2>();
        let mut out = Vec::with_capacity(text.len() + text.len() / 2);
        for unit in pairs.iter().map(|pair| u32::from(endian.unit(*pair))) {
            // As UTF-8, but an unpaired surrogate stays what it is, and so does a pair.
            match unit {
                0..0x80 => out.push(unit as u8),
                0x80..0x800 => out.extend([0xc0 | (unit >> 6) as u8, continuation(unit)]),
                _ => {
                    out.extend([0xe0 | (unit >> 12) as u8, continuation(unit >> 6)]);
                    out.push(continuation(unit));
                }
            }
        }
        // A byte that is left over must not become LF.
        out.extend(rest.iter().flat_map(|byte| [0xff, 0x80 | byte >> 4, 0x80 | byte & 0x0f]));
        Cow::Owned(out)
    }

    /// Splits a content into its lines, each with its line ending.
    fn lines(self, text: &[u8]) -> Vec<&[u8]> {
        let Self::Utf16(endian) = self else { return split_lines(text) };
        let lf = endian.bytes(LF);
        let mut lines = Vec::new();
        let mut from = 0;
        for (index, pair) in text.as_chunks::<2>().0.iter().enumerate() {
            if *pair == lf {
                let end = 2 * (index + 1);
                lines.push(&text[from..end]);
                from = end;
            }
        }
        if from < text.len() {
            lines.push(&text[from..]);
        }
        lines
    }

    /// Returns true if a line has a line ending.
    fn is_ended(self, line: &[u8]) -> bool {
        match self {
            Self::Bytes => line.ends_with(b"\n"),
            Self::Utf16(endian) => {
                line.len().is_multiple_of(2) && line.ends_with(&endian.bytes(LF))
            }
        }
    }

    /// Returns the line ending of a line, or `None` for one that has none.
    fn ending_of(self, line: &[u8]) -> Option<&[u8]> {
        if !self.is_ended(line) {
            return None;
        }
        let (unit, cr): (usize, &[u8]) = match self {
            Self::Bytes => (1, b"\r"),
            Self::Utf16(endian) => (2, &endian.bytes(CR)),
        };
        let text = &line[..line.len() - unit];
        let length = if text.ends_with(cr) { 2 * unit } else { unit };
        Some(&line[line.len() - length..])
    }
}

const LF: u16 = 0x0a;
const CR: u16 = 0x0d;

/// Returns the continuation byte of UTF-8 for the six lowest bits.
fn continuation(bits: u32) -> u8 {
    0x80 | (bits & 0x3f) as u8
}

/// Returns the content after some hunks of the change from `before` to `after`.
///
/// `chosen` has for each chosen hunk its number in [`LineForm::hunks`] from 0, the number of its
/// chosen rows, and these rows; the numbers of hunks and of rows ascend. No rows stand for the
/// whole hunk. The rows of a hunk are its lines as a diff prints them, from 0: removed lines precede
/// the added ones that replace them. A removed line that is not chosen stays, an added line that is
/// not chosen is left out.
///
/// # Errors
/// `INVALID_ARGUMENT` for a hunk that is not there, for a row that is not a changed line, and for
/// numbers that do not ascend.
pub fn compose(before: &[u8], after: &[u8], form: LineForm, chosen: &[u32]) -> Result<Vec<u8>> {
    let (old, new) = (form.lines(before), form.lines(after));
    let mut content = Composition::new(form, &old, &new, before.len().max(after.len()));
    let mut chosen = Chosen(chosen);
    for (number, hunk) in (0..).zip(&form.hunks(before, after)) {
        match chosen.rows_of(number)? {
            None => {}
            Some([]) => hunk.changes.iter().for_each(|change| content.replace(change)),
            Some(rows) => content.replace_rows(hunk, rows)?,
        }
    }
    chosen.end()?;
    Ok(content.finish())
}

/// The rest of a choice, in the encoding of [`compose`].
struct Chosen<'a>(&'a [u32]);

impl<'a> Chosen<'a> {
    /// Returns the rows of a hunk if it is the next chosen one.
    fn rows_of(&mut self, number: u32) -> Result<Option<&'a [u32]>> {
        let [hunk, count, rest @ ..] = self.0 else { return Ok(None) };
        if *hunk != number {
            return Ok(None);
        }
        let (rows, next) = rest.split_at_checked(*count as usize).ok_or_else(invalid)?;
        self.0 = next;
        Ok(Some(rows))
    }

    /// Checks that every chosen hunk was there.
    fn end(&self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(invalid()) }
    }
}

fn invalid() -> Error {
    Error::new(Code::InvalidArgument, "a chosen hunk or line is not there, or is chosen twice")
        .detail("argument", "chosen")
}

/// A content that is composed line by line.
struct Composition<'a> {
    form: LineForm,
    old: &'a [&'a [u8]],
    new: &'a [&'a [u8]],
    /// The index of the next line of the old content.
    next: usize,
    out: Vec<u8>,
    /// True while the last composed line lacks a line ending.
    is_open: bool,
}

impl<'a> Composition<'a> {
    fn new(form: LineForm, old: &'a [&'a [u8]], new: &'a [&'a [u8]], capacity: usize) -> Self {
        Self { form, old, new, next: 0, out: Vec::with_capacity(capacity), is_open: false }
    }

    /// Appends one line. Only the last line of a content lacks a line ending; where another one
    /// follows it because of a choice of rows, it gets the one that the first line has.
    fn push(&mut self, line: &[u8]) {
        if self.is_open {
            let firsts = self.old.first().into_iter().chain(self.new.first());
            let ending = firsts.filter_map(|line| self.form.ending_of(line)).next();
            match (ending, self.form) {
                (Some(ending), _) => self.out.extend(ending),
                (None, LineForm::Bytes) => self.out.push(b'\n'),
                (None, LineForm::Utf16(endian)) => self.out.extend(endian.bytes(LF)),
            }
        }
        self.out.extend(line);
        self.is_open = !self.form.is_ended(line);
    }

    /// Appends the lines of the old content before the line with this index.
    fn keep_until(&mut self, end: usize) {
        for index in self.next..end {
            self.push(self.old[index]);
        }
        self.next = end;
    }

    /// Replaces lines of the old content, after those before them.
    fn replace(&mut self, change: &ReplacedLines) {
        let from = change.old_start as usize;
        self.keep_until(from);
        let start = change.new_start as usize;
        for index in start..start + change.new_lines as usize {
            self.push(self.new[index]);
        }
        self.next = from + change.old_lines as usize;
    }

    /// Replaces only the chosen rows of a hunk.
    fn replace_rows(&mut self, hunk: &HunkRange, rows: &[u32]) -> Result<()> {
        let mut rows = rows.iter().copied().peekable();
        let mut row = 0;
        // Returns true if the current row is chosen, and goes on to the next one.
        let mut is_next_chosen = || {
            row += 1;
            rows.next_if_eq(&(row - 1)).is_some()
        };
        let mut line = hunk.old_start;
        for change in &hunk.changes {
            for _ in line..change.old_start {
                if is_next_chosen() {
                    return Err(invalid());
                }
            }
            line = change.old_start + change.old_lines;
            for index in change.old_start..line {
                self.keep_until(index as usize);
                self.next += usize::from(is_next_chosen());
            }
            self.keep_until(line as usize);
            for index in change.new_start..change.new_start + change.new_lines {
                if is_next_chosen() {
                    self.push(self.new[index as usize]);
                }
            }
        }
        if rows.next().is_some() { Err(invalid()) } else { Ok(()) }
    }

    /// Appends the rest of the old content and returns the whole.
    fn finish(mut self) -> Vec<u8> {
        self.keep_until(self.old.len());
        self.out
    }
}

#[cfg(test)]
mod tests;
