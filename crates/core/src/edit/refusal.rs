//! Why an edit was refused: the reasons, and the error that tells them.
//!
//! A refusal is worth as much as the next attempt that it makes succeed. The
//! first line of a message is short and says what is wrong; what follows shows
//! the place in the file beside what was sent; the details hold what a program
//! can send instead. All of it stays below 2 KB.

use std::ops::Range;

use serde_json::{Value, json};

use super::align::Step;
use super::exact::occurs;
use super::lines::{FileLines, edit_lines, fold_ends, indent, trim};
use super::locate::Miss;
use super::merge::Conflict;
use super::nearest::nearest;
use super::needle::Needle;
use super::repair::Repair;
use super::{Edit, Found, Options, Strictness, Tier};
use crate::anchor::anchor;
use crate::error::{Code, Error};
use crate::path::escape_controls;
use crate::text::{BOM_UTF8, count_chars, cut_chars};

/// Why an edit was not made. Lines are 1-based unless a range.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Refusal {
    /// There is nothing to look for.
    EmptyOld,
    /// Old and new text are the same.
    SameText,
    /// All edits together change nothing.
    Unchanged,
    /// The old text is nowhere.
    NotFound,
    /// What the edit would make is there already.
    Already,
    /// The old text would be there, but this line of it reads otherwise.
    Different { file: Range<usize>, sent: Vec<u8>, there: Option<usize> },
    /// This line of the file stands amid what is replaced, unmentioned.
    Unmentioned { line: u64 },
    /// The old text leaves lines out with `...` where the new text does not.
    Elided,
    /// The text or the file is too large to go on looking.
    TooLarge,
    /// It is there, but only by a way of matching that is not allowed.
    TooLoose(Found),
    /// The old text is at each of these lines; `alike` where it is only like them.
    NotUnique { lines: Vec<u64>, alike: bool },
    /// The old text is at these lines, and another number was expected.
    Count { expected: u64, lines: Vec<u64> },
}

/// Characters of the first line, at most.
const FIRST_LINE: usize = 200;
/// Characters of a quoted line, at most.
const QUOTE: usize = 160;
/// Line numbers listed in a message, at most.
const LISTED: usize = 40;
/// Line numbers listed in the details, at most.
const DETAILED: usize = 100;
/// Bytes of a text to send instead, at most; beyond that, anchors must do.
const SENDABLE: usize = 800;

impl Refusal {
    /// What a miss means for the old text that was looked for.
    pub(super) fn of(miss: Miss, needle: &Needle<'_>) -> Self {
        match miss {
            Miss::Nowhere => Self::NotFound,
            Miss::TooLarge => Self::TooLarge,
            Miss::Several(places) => {
                let mut lines: Vec<u64> = places.iter().map(super::locate::Place::line).collect();
                lines.sort_unstable();
                Self::NotUnique { lines, alike: true }
            }
            Miss::Different { place, line } => {
                let there = place.alignment.steps.iter().find_map(|step| match step {
                    Step::Pair { old, file, .. } if old.contains(&line) => Some(file.start),
                    _ => None,
                });
                let sent = needle.lines[line].text.to_vec();
                Self::Different { file: place.alignment.file, sent, there }
            }
        }
    }

    /// Whether it is for being in several places.
    pub(super) fn is_ambiguous(&self) -> bool {
        matches!(self, Self::NotUnique { .. } | Self::Count { .. })
    }

    /// What remains of a reason where no loose match would be allowed anyway.
    pub(super) fn under(self, strictness: Strictness) -> Self {
        match self {
            Self::NotUnique { alike, .. } if alike && strictness < Strictness::Fuzzy => {
                Self::NotFound
            }
            Self::NotUnique { .. } | Self::Count { .. } if strictness == Strictness::Exact => {
                Self::NotFound
            }
            refusal => refusal,
        }
    }

    /// The error that a caller sees, for the edit at `index` (0-based) of `total`.
    pub(super) fn into_error(
        self,
        text: &[u8],
        edit: &Edit,
        options: &Options,
        index: usize,
        total: usize,
    ) -> Error {
        let what = match total {
            0 | 1 => "old_text".to_owned(),
            _ => format!("old_text of edits[{index}]"),
        };
        let path = escape_controls(&options.label);
        Report { text, edit, what: &what, path: &path }.error(self).detail("edit_index", index)
    }
}

impl From<Conflict> for Refusal {
    fn from(Conflict::Unmentioned(line): Conflict) -> Self {
        Self::Unmentioned { line: line as u64 + 1 }
    }
}

/// What a message is about.
struct Report<'r> {
    text: &'r [u8],
    edit: &'r Edit,
    /// The argument: `old_text`, and of which edit.
    what: &'r str,
    /// The file, as shown.
    path: &'r str,
}

impl Report<'_> {
    fn error(&self, refusal: Refusal) -> Error {
        let Self { what, path, .. } = self;
        match refusal {
            Refusal::EmptyOld => Error::new(Code::InvalidArgument, format!("{what} is empty"))
                .hint("give the text to replace; to make a file, write it")
                .detail("argument", "old_text"),
            Refusal::SameText => Error::new(
                Code::NoChange,
                format!("{what} and new_text must be different, nothing to change in {path}"),
            ),
            Refusal::Unchanged => Error::new(
                Code::NoChange,
                format!("the edits leave {path} as it is; the result must be different"),
            ),
            Refusal::NotUnique { lines, alike } => self.not_unique(&lines, alike),
            Refusal::Count { expected, lines } => Error::new(
                Code::MatchCountMismatch,
                join(
                    format!(
                        "Expected {expected} occurrences of {what} in {path}, found {}",
                        lines.len()
                    ),
                    &format!("lines {}", list(&lines)),
                ),
            )
            .detail("expected", expected)
            .detail("found", lines.len())
            .detail("lines", detailed(&lines)),
            Refusal::Already => {
                self.not_found("already_applied", "new_text is already there", "").hint(
                    "nothing is left to do; if this is meant to be added again, use match: exact",
                )
            }
            Refusal::Different { .. } if self.is_applied() => self.error(Refusal::Already),
            Refusal::Different { file, sent, there } => self.different(&file, &sent, there),
            Refusal::Unmentioned { line } => {
                let lines = FileLines::new(self.text);
                let at = usize::try_from(line - 1).unwrap_or(usize::MAX);
                let shown = lines.lines.get(at).map(|there| show(there.text)).unwrap_or_default();
                self.not_found(
                    "unmentioned_line",
                    &format!(
                        "line {line} stands amid the lines to replace, and old_text leaves it out"
                    ),
                    &format!("\n  file {line}: {shown}"),
                )
                .hint("include the line in old_text, and in new_text if it is to stay")
                .detail("line", line)
            }
            Refusal::Elided => self
                .not_found(
                    "elided",
                    "old_text leaves lines out with ..., and new_text does not",
                    "",
                )
                .hint("send the lines themselves, or leave the same lines out of both texts"),
            Refusal::TooLarge => self
                .not_found(
                    "too_large",
                    "the text is not there literally, and too large for more",
                    "",
                )
                .hint("send fewer lines, or name them by their anchors"),
            Refusal::TooLoose(found) => self.too_loose(&found),
            Refusal::NotFound => self.nowhere(),
        }
    }

    fn not_found(&self, reason: &str, because: &str, more: &str) -> Error {
        let head = format!("{} not found in {}", self.what, self.path);
        let message = join(head, because) + more;
        Error::new(Code::MatchNotFound, message).detail("reason", reason)
    }

    fn not_unique(&self, lines: &[u64], alike: bool) -> Error {
        let (times, verb) = (lines.len(), if alike { "is like" } else { "occurs" });
        let head = format!("{} {verb} {times} places in {}", self.what, self.path);
        let head = if alike { head } else { head.replace(" places in ", " times in ") };
        let remedy = "Add surrounding lines to say which, or set replace_all";
        Error::new(Code::MatchNotUnique, join(head, &format!("lines {}. {remedy}", list(lines))))
            .hint("add surrounding lines to old_text, or set replace_all or near_line")
            .detail("found", times)
            .detail("lines", detailed(lines))
    }

    /// Whether what the edit would make stands in the file.
    fn is_applied(&self) -> bool {
        trim(self.edit.new.as_bytes()).len() >= 8 && occurs(self.text, &self.edit.new)
    }

    /// The old text would be there but for one line.
    fn different(&self, file: &Range<usize>, sent: &[u8], there: Option<usize>) -> Error {
        let lines = FileLines::new(self.text);
        let Some(there) = there.filter(|&at| at < lines.lines.len()) else {
            let (from, to) = (file.start + 1, file.end);
            return self
                .not_found(
                    "line_missing",
                    &format!("lines {from}-{to} are like it, but have no such line"),
                    &format!("\n  sent: {}", show(sent)),
                )
                .hint("read the lines again and copy them exactly")
                .detail("candidates", candidates(&lines, file));
        };
        let line = there + 1;
        self.not_found(
            "line_differs",
            &format!("nearest is line {line}, which reads differently"),
            &quote(&lines, there, sent),
        )
        .hint("read the lines again and copy them exactly")
        .detail("nearest_line", line)
        .detail("candidates", candidates(&lines, file))
    }

    /// It is there by a way of matching that is not allowed.
    fn too_loose(&self, found: &Found) -> Error {
        let lines = FileLines::new(self.text);
        let at = |offset: usize| {
            lines.lines.partition_point(|line| line.start <= offset).saturating_sub(1)
        };
        let range = match (found.splices.first(), found.splices.last()) {
            (Some(first), Some(last)) => {
                at(first.range.start)
                    ..at(last.range.end.saturating_sub(1).max(first.range.start)) + 1
            }
            _ => 0..0,
        };
        let sent = fold_ends(self.edit.old.as_bytes());
        let sent = edit_lines(&sent);
        let sent: Vec<&[u8]> = sent.into_iter().filter(|line| !trim(line).is_empty()).collect();
        let pair =
            sent.iter().zip(range.clone()).find(|(sent, at)| **sent != lines.lines[*at].text);
        let (sent, there) = pair
            .map_or((sent.first().copied().unwrap_or_default(), range.start), |(sent, at)| {
                (*sent, at)
            });
        let there = there.min(lines.lines.len().saturating_sub(1));
        let line = there + 1;
        let (reason, because) = match (found.tier, found.repairs.first()) {
            (_, Some(Repair::LineNumbers)) => (
                "line_numbers",
                format!(
                    "old_text begins its lines with a line number; without them it is at line {line}"
                ),
            ),
            (_, Some(repair)) => (
                repair.reason(),
                format!("old_text has {}; without them it is at line {line}", repair.as_str()),
            ),
            (Tier::Exact | Tier::Whitespace, None) => {
                let kind = difference(sent, lines.lines[there].text);
                ("whitespace", format!("nearest is line {line}, which differs only in {kind}"))
            }
            (Tier::Fuzzy, None) => {
                ("inexact", format!("nearest is line {line}, which reads a little differently"))
            }
        };
        self.not_found(reason, &because, &quote(&lines, there, sent))
            .hint("send the old_text of the first candidate, or allow a looser match")
            .detail("nearest_line", line)
            .detail("tier", found.tier.as_str())
            .detail("candidates", candidates(&lines, &range))
    }

    /// The old text is nowhere: says what comes nearest.
    fn nowhere(&self) -> Error {
        let body = self.text.strip_prefix(BOM_UTF8).unwrap_or(self.text);
        if body.is_empty() {
            return self
                .not_found("empty_file", "the file is empty", "")
                .hint("write the file instead");
        }
        if self.edit.old.trim().is_empty() {
            return self
                .not_found("blank", "old_text is blank, and white space must match exactly", "")
                .hint("include a line with text");
        }
        if self.is_applied() {
            return self.error(Refusal::Already);
        }
        if super::repair::has_line_numbers(&self.edit.old) {
            return self
                .not_found("line_numbers", "old_text begins its lines with a line number", "")
                .hint("send the lines without their numbers");
        }
        let lines = FileLines::new(self.text);
        let Some(near) = nearest(&lines, &self.edit.old) else {
            // Too short to be looked for before: as a line of its own.
            if is_a_line(&lines, &self.edit.new) {
                return self.error(Refusal::Already);
            }
            return self
                .not_found("not_found", "nothing there is like it", "")
                .hint("read the file again, or look for the text in other files");
        };
        let old = fold_ends(self.edit.old.as_bytes());
        let sent = edit_lines(&old).get(near.old).map(|line| line.to_vec()).unwrap_or_default();
        let there = lines.lines[near.line].text;
        let so = match near.whitespace_only {
            true if sent == there => ", but not what is around it".to_owned(),
            true => format!(", which differs only in {}", difference(&sent, there)),
            false => String::new(),
        };
        let line = near.line + 1;
        self.not_found(
            "not_found",
            &format!("nearest is line {line}{so}"),
            &quote(&lines, near.line, &sent),
        )
        .hint("read the file again and copy the text exactly")
        .detail("nearest_line", line)
    }
}

/// A place to send instead: its lines, its text where it is short, and anchors.
fn candidates(file: &FileLines<'_>, range: &Range<usize>) -> Value {
    let Some(last) = range.end.checked_sub(1).filter(|&last| last < file.lines.len()) else {
        return json!([]);
    };
    let end = file.lines[last].start + file.lines[last].text.len();
    let mark = |at: usize| {
        let hash: String = anchor(file.lines[at].text).iter().collect();
        format!("{}#{hash}", at + 1)
    };
    let mut candidate = json!({
        "start_line": range.start + 1,
        "end_line": range.end,
        "from": mark(range.start),
        "to": mark(last),
    });
    let lines = &file.lines[range.clone()];
    if end - file.start(range.start) <= SENDABLE
        && let Some(text) =
            lines.iter().map(|line| std::str::from_utf8(line.text).ok()).collect::<Option<Vec<_>>>()
    {
        candidate["old_text"] = text.join("\n").into();
    }
    json!([candidate])
}

fn detailed(lines: &[u64]) -> Vec<u64> {
    lines[..lines.len().min(DETAILED)].to_vec()
}

/// Whether a line of the file is this text, blanks around it aside.
fn is_a_line(file: &FileLines<'_>, text: &str) -> bool {
    let text = trim(text.as_bytes());
    !text.is_empty() && file.lines.iter().any(|line| trim(line.text) == text)
}

/// `head: tail` where that fits the first line, else `tail` on a line of its own.
fn join(head: String, tail: &str) -> String {
    let short = count_chars(&head) + count_chars(tail) + 2 <= FIRST_LINE;
    format!("{head}{}{tail}", if short { ": " } else { "\n" })
}

fn list(lines: &[u64]) -> String {
    let shown: Vec<String> = lines.iter().take(LISTED).map(u64::to_string).collect();
    let more = lines.len().saturating_sub(LISTED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &rest
}

fn show(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(QUOTE * 4)]);
    escape_controls(cut_chars(&text, QUOTE)).into_owned()
}

/// The line of the file and the line that was sent, below each other.
fn quote(file: &FileLines<'_>, line: usize, sent: &[u8]) -> String {
    let number = (line + 1).to_string();
    let blank = " ".repeat(number.len());
    format!("\n  file {number}: {}\n  sent {blank}: {}", show(file.lines[line].text), show(sent))
}

/// What two lines with the same words differ in.
fn difference(sent: &[u8], file: &[u8]) -> &'static str {
    let sent = sent.strip_suffix(b"\r").unwrap_or(sent);
    if indent(sent) == indent(file) {
        "whitespace"
    } else if sent.contains(&b'\t') != file.contains(&b'\t') {
        "whitespace (indentation: tabs against spaces)"
    } else {
        "whitespace (indentation)"
    }
}
