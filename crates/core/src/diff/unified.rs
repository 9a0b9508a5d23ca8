//! The unified format: hunks with context, as text and as numbers.
//!
//! The output applies with `git apply` and GNU patch, except where it is made for display:
//! [`DisplayLimits`] cut long lines and long diffs, and [`LineEndings::Shown`] prints CRLF as LF
//! where both texts have the same line endings.

use std::borrow::Cow;

use memchr::memchr;

use super::compute::compare_between_margins;
use super::hunks::{hunk_groups, hunk_lines};
use super::lines::{SharedMargins, common_prefix_len};
use super::{Change, ComparedLines, Comparison, DiffOptions, name};
use crate::text::Eol;

/// The names in the two header lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiffHeader<'a> {
    /// The old file's name without `a/`; `None` if the file did not exist.
    pub before: Option<&'a [u8]>,
    /// The new file's name without `b/`; `None` if the file does not exist.
    pub after: Option<&'a [u8]>,
}

/// The initial capacity of the text of a diff in bytes; enough for most diffs of a small edit.
const INITIAL_CAPACITY_BYTES: usize = 2048;

/// How the diff prints the line endings of its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineEndings {
    /// CRLF is printed as LF if both texts have the same line endings, otherwise unchanged.
    #[default]
    Shown,
    /// Line endings are printed unchanged: the diff of a CRLF text contains CRs.
    Raw,
}

/// Limits of a diff for display. 0 means no limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct DisplayLimits {
    /// The maximum length of a line in code points; a longer line is cut around its first
    /// difference.
    pub line: usize,
    /// The length in bytes from which on no further line is printed; a last line counts the omitted
    /// ones.
    pub bytes: usize,
}

/// How a diff is printed.
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

crate::wire! {
    /// A printed diff.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Unified {
        /// True if [`DisplayLimits`] cut a line or the whole diff.
        pub truncated: bool,
        /// Lines that only the new text has.
        pub added: u64,
        /// Lines that only the old text has.
        pub removed: u64,
        /// The diff; empty if the texts are equal.
        pub text: String,
    }
}

impl Unified {
    /// Returns true if the texts are equal.
    pub fn is_identical(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns what the text alone does not show: 1 if it was cut, else 0, and the numbers of added
    /// and of removed lines, at most `u32::MAX` each.
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
    diff_with_margins(before, after, SharedMargins::default(), options, format)
}

/// Does the same as [`diff`] for texts that are known to share a prefix and a suffix of the lengths
/// in `same`.
pub(crate) fn diff_with_margins(
    before: Option<&[u8]>,
    after: Option<&[u8]>,
    same: SharedMargins,
    options: &DiffOptions,
    format: &Format<'_>,
) -> Unified {
    let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
    let comparison = compare_between_margins(old, new, same, format.context, options);
    if comparison.changes.is_empty() && before.is_some() == after.is_some() {
        return Unified::default();
    }
    let strip_cr = format.line_ends == LineEndings::Shown && can_hide_cr(old, new, &comparison);
    let header = DiffHeader {
        before: before.and(format.header.before),
        after: after.and(format.header.after),
    };
    let out = Unified { text: String::with_capacity(INITIAL_CAPACITY_BYTES), ..Unified::default() };
    HunkPrinter { comparison: &comparison, strip_cr, limits: format.limits, out }
        .print(&header, format.context)
}

/// Returns true if CRLF can be printed as LF without hiding a difference.
fn can_hide_cr(before: &[u8], after: &[u8], comparison: &Comparison<'_>) -> bool {
    // Only printed lines matter, and most lines of a large text are not printed.
    let shows = |side: &ComparedLines<'_>| side.lines.iter().any(|line| line.ends_with(b"\r\n"));
    if !shows(&comparison.before) && !shows(&comparison.after) {
        return true;
    }
    // Without a CR there is no CRLF.
    if memchr(b'\r', before).is_none() && memchr(b'\r', after).is_none() {
        return true;
    }
    match (Eol::detect(before), Eol::detect(after)) {
        (Eol::Mixed, Eol::Mixed) => {
            comparison.changes.iter().all(|change| {
                let text = |line: Option<&[u8]>| line.map(|line| with_lf_ending(line).into_owned());
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

fn with_lf_ending(line: &[u8]) -> Cow<'_, [u8]> {
    match line.strip_suffix(b"\r\n") {
        Some(text) => Cow::Owned([text, b"\n"].concat()),
        None => Cow::Borrowed(line),
    }
}

/// Prints the hunks of a comparison, cutting where the limits are reached.
struct HunkPrinter<'a, 'b> {
    comparison: &'b Comparison<'a>,
    strip_cr: bool,
    limits: DisplayLimits,
    out: Unified,
}

impl HunkPrinter<'_, '_> {
    fn print(mut self, header: &DiffHeader<'_>, context: u32) -> Unified {
        self.out.added = self.comparison.added();
        self.out.removed = self.comparison.removed();
        self.print_header(header);
        let mut shown = 0;
        for group in hunk_groups(&self.comparison.changes, context) {
            if self.is_full() {
                break;
            }
            shown += self.print_hunk(group, context);
        }
        let all = self.out.added + self.out.removed;
        if shown < all {
            self.out.truncated = true;
            self.out.text.push_str(&format!("[diff cut: {} more changed lines]\n", all - shown));
        }
        self.out
    }

    /// Prints the lines `---` and `+++`.
    fn print_header(&mut self, header: &DiffHeader<'_>) {
        for (marker, prefix, name) in [("---", "a", header.before), ("+++", "b", header.after)] {
            let name =
                name.map_or("/dev/null".into(), |name| name::quoted_prefixed_name(prefix, name));
            self.out.text.extend([marker, " ", &name, "\n"]);
        }
    }

    /// Returns true if no further line may be printed.
    fn is_full(&self) -> bool {
        self.limits.bytes != 0 && self.out.text.len() >= self.limits.bytes
    }

    /// Prints one hunk and returns the number of changed lines that it printed.
    fn print_hunk(&mut self, group: &[Change], context: u32) -> u64 {
        let (old, new) = hunk_lines(self.comparison, group, context);
        for (marker, lines) in [("@@ -", &old), (" +", &new)] {
            let count = lines.end - lines.start;
            self.out.text.push_str(marker);
            push_number(&mut self.out.text, lines.start + u32::from(count > 0));
            if count != 1 {
                self.out.text.push(',');
                push_number(&mut self.out.text, count);
            }
        }
        self.out.text.push_str(" @@\n");
        let mut shown = 0;
        let mut next = old.start;
        for change in group {
            self.print_context(next, change.before.start);
            shown += self.print_change(change);
            next = change.before.end;
            if self.is_full() {
                break;
            }
        }
        if !self.is_full() {
            self.print_context(next, old.end);
        }
        shown
    }

    /// Prints the unchanged lines with these numbers (0-based) of the old text.
    fn print_context(&mut self, from: u32, to: u32) {
        for number in from..to {
            let line = self.comparison.before.line(number).unwrap_or_default();
            self.print_line(' ', line, 0);
        }
    }

    /// Prints removed and then added lines until the limit, and returns their number.
    fn print_change(&mut self, change: &Change) -> u64 {
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
                if self.is_full() {
                    return shown;
                }
                let (old, new) = pair(index);
                let line = if marker == '-' { old } else { new };
                let long = self.limits.line != 0 && line.len() > self.limits.line;
                let focus = if long && index < paired { common_prefix_len(old, new) } else { 0 };
                self.print_line(marker, line, focus);
                shown += 1;
            }
        }
        shown
    }

    /// Prints one line. `focus` is the offset of its first difference, around which a long line is
    /// cut.
    fn print_line(&mut self, marker: char, line: &[u8], focus: usize) {
        self.out.text.push(marker);
        let (text, end) = match line.strip_suffix(b"\n") {
            Some(text) if self.strip_cr => (text.strip_suffix(b"\r").unwrap_or(text), "\n"),
            Some(text) => (text, "\n"),
            None => (line, "\n\\ No newline at end of file\n"),
        };
        if self.limits.line != 0 && text.len() > self.limits.line {
            self.print_long_line(text, focus);
        } else {
            push_lossy(&mut self.out.text, text);
        }
        self.out.text.push_str(end);
    }

    /// Prints a line longer than the limit in bytes. If it is also longer in code points, prints
    /// the part around `focus`, the offset of its first difference, and the number of characters
    /// left out before.
    fn print_long_line(&mut self, line: &[u8], focus: usize) {
        let limit = self.limits.line;
        if count_code_points(line) <= limit {
            push_lossy(&mut self.out.text, line);
            return;
        }
        self.out.truncated = true;
        // If only the line ending differs, `focus` lies behind the printed text.
        let focus = focus.min(line.len() - 1);
        let mut from = if focus <= limit { 0 } else { focus - limit / 4 };
        while from > 0 && is_utf8_continuation(line[from]) {
            from -= 1;
        }
        if from > 0 {
            let skipped = count_code_points(&line[..from]);
            self.out.text.push_str(&format!("[{skipped} characters] ..."));
        }
        let rest = &line[from..];
        let to = code_point_offset(rest, limit);
        push_lossy(&mut self.out.text, &rest[..to]);
        if to < rest.len() {
            self.out.text.push_str("... [truncated]");
        }
    }
}

/// Appends a decimal number. `format!` takes longer than printing the rest of a short hunk.
fn push_number(text: &mut String, number: u32) {
    if number >= 10 {
        push_number(text, number / 10);
    }
    text.push(char::from(b'0' + (number % 10) as u8));
}

/// Appends bytes as UTF-8; invalid sequences become U+FFFD.
fn push_lossy(text: &mut String, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(valid) => text.push_str(valid),
        Err(_) => text.push_str(&String::from_utf8_lossy(bytes)),
    }
}

fn is_utf8_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// Returns the number of code points; bytes that are not UTF-8 may count as none.
fn count_code_points(text: &[u8]) -> usize {
    text.iter().filter(|byte| !is_utf8_continuation(**byte)).count()
}

/// Returns the offset of the `count`-th code point, or the length of the text.
fn code_point_offset(text: &[u8], count: usize) -> usize {
    let mut starts = text.iter().enumerate().filter(|(_, byte)| !is_utf8_continuation(**byte));
    starts.nth(count).map_or(text.len(), |(at, _)| at)
}
