//! The unified format: hunks with context, as text and as numbers.
//!
//! The output applies with `git apply` and GNU patch, except where it is made for display:
//! [`DisplayLimits`] truncate long lines and long diffs, and line endings are shown as LF where both sides
//! have the same kind (`line_ends`).

use std::borrow::Cow;

use memchr::memchr;

use super::compute::compare;
use super::lines::{SharedMargins, common_prefix};
use super::{Change, Comparison, DiffOptions, Side, name};
use crate::text::Eol;

/// The names in the two header lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiffHeader<'a> {
    /// The old file's name without `a/`; `None` if the file did not exist.
    pub before: Option<&'a [u8]>,
    /// The new file's name without `b/`; `None` if the file does not exist.
    pub after: Option<&'a [u8]>,
}

/// The initial capacity in bytes: enough for most diffs of a small edit.
const FIRST_CAPACITY: usize = 2048;

/// The representation of line endings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineEndings {
    /// As LF if both sides have the same kind, otherwise unchanged.
    #[default]
    Shown,
    /// Unchanged: the diff of a CRLF text contains CRs.
    Raw,
}

/// Limits of a diff for display. 0 means no limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct DisplayLimits {
    /// The maximum code points per line; longer lines are truncated around their difference.
    pub line: usize,
    /// The maximum bytes of the text; a closing line counts the omitted lines.
    pub bytes: usize,
}

/// The format of a printed diff.
#[derive(Clone, Copy, Debug)]
pub struct Format<'a> {
    /// The file names.
    pub header: DiffHeader<'a>,
    /// The number of unchanged lines around each change.
    pub context: u32,
    /// The representation of line endings.
    pub line_ends: LineEndings,
    /// The limits for display.
    pub limits: DisplayLimits,
}

/// A printed diff.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unified {
    /// True if the texts are equal.
    pub identical: bool,
    /// The diff; empty if the texts are equal.
    pub text: String,
    /// Lines that only the new text has.
    pub added: u64,
    /// Lines that only the old text has.
    pub removed: u64,
    /// True if [`DisplayLimits`] truncated `text`.
    pub truncated: bool,
}

impl Unified {
    /// Returns truncated, lines added and lines removed, which the text alone does not show.
    pub fn totals(&self) -> [u32; 3] {
        let count = |lines: u64| lines.try_into().unwrap_or(u32::MAX);
        [u32::from(self.truncated), count(self.added), count(self.removed)]
    }
}

/// Compares two texts and prints the difference. `None` is a missing file.
pub fn diff(
    before: Option<&[u8]>,
    after: Option<&[u8]>,
    options: &DiffOptions,
    format: &Format<'_>,
) -> Unified {
    diff_between(before, after, SharedMargins::default(), options, format)
}

/// Like [`diff`], for texts whose ends are known to be equal over `same`.
pub(crate) fn diff_between(
    before: Option<&[u8]>,
    after: Option<&[u8]>,
    same: SharedMargins,
    options: &DiffOptions,
    format: &Format<'_>,
) -> Unified {
    let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
    let comparison = compare(old, new, same, format.context, options);
    if comparison.changes.is_empty() && before.is_some() == after.is_some() {
        return Unified { identical: true, ..Unified::default() };
    }
    let strip_cr = format.line_ends == LineEndings::Shown && same_line_ends(old, new, &comparison);
    let header = DiffHeader {
        before: before.and(format.header.before),
        after: after.and(format.header.after),
    };
    let out = Unified { text: String::with_capacity(FIRST_CAPACITY), ..Unified::default() };
    Printer { comparison: &comparison, strip_cr, limits: format.limits, out }
        .print(&header, format.context)
}

/// Reports whether CRs can be left out without hiding a difference.
fn same_line_ends(before: &[u8], after: &[u8], comparison: &Comparison<'_>) -> bool {
    // Only shown lines matter, and most lines of a large text are not shown.
    let shows = |side: &Side<'_>| side.lines.iter().any(|line| line.ends_with(b"\r\n"));
    if !shows(&comparison.before) && !shows(&comparison.after) {
        return true;
    }
    // Without any CR there is nothing to leave out.
    if memchr(b'\r', before).is_none() && memchr(b'\r', after).is_none() {
        return true;
    }
    match (Eol::detect(before), Eol::detect(after)) {
        (Eol::Mixed, Eol::Mixed) => {
            comparison.changes.iter().all(|change| {
                let text = |line: Option<&[u8]>| line.map(|line| without_cr(line).into_owned());
                change.before.len() != change.after.len()
                    || change.before.clone().zip(change.after.clone()).all(|(x, y)| {
                        text(comparison.before.line(x)) != text(comparison.after.line(y))
                    })
            })
        }
        (Eol::None, Eol::Mixed) | (Eol::Mixed, Eol::None) => false,
        (Eol::None, _) | (_, Eol::None) => true,
        (old, new) => old == new,
    }
}

/// Shows a CRLF as LF.
fn without_cr(line: &[u8]) -> Cow<'_, [u8]> {
    match line.strip_suffix(b"\r\n") {
        Some(text) => Cow::Owned([text, b"\n"].concat()),
        None => Cow::Borrowed(line),
    }
}

/// Groups the changes into hunks: changes less than twice the context apart share one.
pub(super) fn groups(changes: &[Change], context: u32) -> impl Iterator<Item = &[Change]> {
    changes.chunk_by(move |last, next| {
        next.before.start - last.before.end <= context.saturating_mul(2)
    })
}

struct Printer<'a, 'b> {
    comparison: &'b Comparison<'a>,
    strip_cr: bool,
    limits: DisplayLimits,
    out: Unified,
}

impl Printer<'_, '_> {
    fn print(mut self, header: &DiffHeader<'_>, context: u32) -> Unified {
        self.out.added = self.comparison.added();
        self.out.removed = self.comparison.removed();
        self.header(header);
        let mut shown = 0;
        for group in groups(&self.comparison.changes, context) {
            if self.full() {
                break;
            }
            shown += self.hunk(group, context);
        }
        let all = self.out.added + self.out.removed;
        if shown < all {
            self.out.truncated = true;
            self.out.text.push_str(&format!("[diff cut: {} more changed lines]\n", all - shown));
        }
        self.out
    }

    fn header(&mut self, header: &DiffHeader<'_>) {
        for (marker, prefix, name) in [("---", "a", header.before), ("+++", "b", header.after)] {
            let name = name.map_or("/dev/null".into(), |name| name::with_prefix(prefix, name));
            self.out.text.extend([marker, " ", &name, "\n"]);
        }
    }

    fn full(&self) -> bool {
        self.limits.bytes != 0 && self.out.text.len() >= self.limits.bytes
    }

    /// Prints one hunk and returns the number of changed lines that it printed.
    fn hunk(&mut self, group: &[Change], context: u32) -> u64 {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return 0 };
        let (old, new) = (&self.comparison.before, &self.comparison.after);
        let lead = context.min(first.before.start - old.skipped);
        let trail = context.min(old.end() - last.before.end);
        let lines = |from: u32, to: u32| (if from == to { from } else { from + 1 }, to - from);
        let (old_start, old_lines) = lines(first.before.start - lead, last.before.end + trail);
        // With `ignore_whitespace`, unchanged lines still pair up one to one.
        let after_end = (last.after.end + trail).min(new.end());
        let (new_start, new_lines) = lines(first.after.start - lead, after_end);
        for (marker, start, count) in [("@@ -", old_start, old_lines), (" +", new_start, new_lines)]
        {
            self.out.text.push_str(marker);
            push_number(&mut self.out.text, start);
            if count != 1 {
                self.out.text.push(',');
                push_number(&mut self.out.text, count);
            }
        }
        self.out.text.push_str(" @@\n");
        let mut shown = 0;
        let mut next = first.before.start - lead;
        for change in group {
            self.context(next, change.before.start);
            shown += self.change(change);
            next = change.before.end;
            if self.full() {
                break;
            }
        }
        if !self.full() {
            self.context(next, last.before.end + trail);
        }
        shown
    }

    fn context(&mut self, from: u32, to: u32) {
        for number in from..to {
            let line = self.comparison.before.line(number).unwrap_or_default();
            self.line(' ', line, 0);
        }
    }

    fn change(&mut self, change: &Change) -> u64 {
        let comparison = self.comparison;
        let pair = |index: usize| {
            let old = comparison.before.line(change.before.start + index as u32);
            let new = comparison.after.line(change.after.start + index as u32);
            (old.unwrap_or_default(), new.unwrap_or_default())
        };
        let paired = change.before.len().min(change.after.len());
        let mut shown = 0;
        for (marker, count) in [('-', change.before.len()), ('+', change.after.len())] {
            for index in 0..count {
                if self.full() {
                    return shown;
                }
                let (old, new) = pair(index);
                let line = if marker == '-' { old } else { new };
                let long = self.limits.line != 0 && line.len() > self.limits.line;
                let focus = if long && index < paired { common_prefix(old, new) } else { 0 };
                self.line(marker, line, focus);
                shown += 1;
            }
        }
        shown
    }

    fn line(&mut self, marker: char, line: &[u8], focus: usize) {
        self.out.text.push(marker);
        let (text, end) = match line.strip_suffix(b"\n") {
            Some(text) if self.strip_cr => (text.strip_suffix(b"\r").unwrap_or(text), "\n"),
            Some(text) => (text, "\n"),
            None => (line, "\n\\ No newline at end of file\n"),
        };
        if self.limits.line != 0 && text.len() > self.limits.line {
            self.cut_line(text, focus);
        } else {
            push_lossy(&mut self.out.text, text);
        }
        self.out.text.push_str(end);
    }

    /// Prints a long line truncated around the byte of its first difference.
    fn cut_line(&mut self, line: &[u8], focus: usize) {
        let limit = self.limits.line;
        if code_points(line) <= limit {
            push_lossy(&mut self.out.text, line);
            return;
        }
        self.out.truncated = true;
        // The only difference may be the line ending, which is not printed.
        let focus = focus.min(line.len() - 1);
        let mut from = if focus <= limit { 0 } else { focus - limit / 4 };
        while from > 0 && is_continuation(line[from]) {
            from -= 1;
        }
        if from > 0 {
            let skipped = code_points(&line[..from]);
            self.out.text.push_str(&format!("[{skipped} characters] ..."));
        }
        let rest = &line[from..];
        let to = nth_code_point(rest, limit);
        push_lossy(&mut self.out.text, &rest[..to]);
        if to < rest.len() {
            self.out.text.push_str("... [truncated]");
        }
    }
}

/// Writes digits directly, because the formatting machinery costs more than a short hunk.
fn push_number(text: &mut String, number: u32) {
    if number >= 10 {
        push_number(text, number / 10);
    }
    text.push(char::from(b'0' + (number % 10) as u8));
}

fn push_lossy(text: &mut String, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(valid) => text.push_str(valid),
        Err(_) => text.push_str(&String::from_utf8_lossy(bytes)),
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

fn code_points(text: &[u8]) -> usize {
    text.iter().filter(|byte| !is_continuation(**byte)).count()
}

/// Returns the offset of the `count`-th code point, or the length of the text.
fn nth_code_point(text: &[u8], count: usize) -> usize {
    let mut starts = text.iter().enumerate().filter(|(_, byte)| !is_continuation(**byte));
    starts.nth(count).map_or(text.len(), |(at, _)| at)
}
