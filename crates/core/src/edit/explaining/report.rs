//! The messages of refusals: a short first line with the cause, then the position in the file and
//! the text that was sent.

use std::ops::Range;

use super::excerpt::{
    covered_lines, displayed_line, first_detailed, has_line, join_message, list_line_numbers,
    quote_lines, whitespace_difference, without_last_lf,
};
use super::nearest::nearest_line;
use super::refusal::Refusal;
use super::suggestions::candidates;
use crate::edit::budget::too_much_error;
use crate::edit::lines::{FileLines, split_edit_lines, to_lf_without_bom, trim};
use crate::edit::matching::eol_view::contains_text;
use crate::edit::matching::repair::Repair;
use crate::edit::{Edit, EditOptions, OldTextMatch, Tier};
use crate::error::{Code, Error};
use crate::text::BOM_UTF8;
use crate::text::path::escape_controls;

/// The minimum length in bytes from which a new text that is in the file is not there by chance.
const MIN_DISTINCTIVE_TEXT_BYTES: usize = 32;

/// The maximum number of consecutive file lines that an old text is assumed to have left out.
const MAX_LEFT_OUT_LINES: usize = 200;
/// The maximum number of positions at which an old text that left out lines is assumed to begin.
const MAX_LEFT_OUT_STARTS: usize = 16;

/// Splits an LF text into lines, without an empty last one.
fn split_lf_lines(text: &[u8]) -> Vec<Vec<u8>> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
}

impl Refusal {
    /// Returns the error for the caller; the edit is at `index` (0-based) of `total`.
    pub(in crate::edit) fn into_error(
        self,
        text: &[u8],
        edit: &Edit,
        options: &EditOptions,
        index: usize,
        total: usize,
    ) -> Error {
        let what = match total {
            0 | 1 => "old_text".to_owned(),
            _ => format!("old_text of edits[{index}]"),
        };
        let path = escape_controls(&options.label);
        RefusalReport { text, edit, what: &what, path: &path }
            .error_for(self)
            .detail("edit_index", index)
    }
}

/// Composes the error for a refused edit.
pub(in crate::edit) struct RefusalReport<'r> {
    pub text: &'r [u8],
    pub edit: &'r Edit,
    /// How messages name the argument: `old_text`, or `old_text of edits[1]`.
    pub what: &'r str,
    /// The path of the file as messages show it.
    pub path: &'r str,
}

impl RefusalReport<'_> {
    pub(in crate::edit) fn error_for(&self, refusal: Refusal) -> Error {
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
            Refusal::NotUnique { lines, alike } => self.not_unique_error(&lines, alike),
            Refusal::WrongCount { expected, lines } => Error::new(
                Code::MatchCountMismatch,
                join_message(
                    format!(
                        "Expected {expected} occurrence{} of {what} in {path}, found {}",
                        if expected == 1 { "" } else { "s" },
                        lines.len()
                    ),
                    &format!("lines {}", list_line_numbers(&lines)),
                ),
            )
            .detail("expected", expected)
            .detail("found", lines.len())
            .detail("lines", first_detailed(&lines)),
            Refusal::AlreadyApplied => {
                self.not_found_error("already_applied", &self.already_there_text(), "").hint(
                    "nothing is left to do; if this is meant to be added again, use match: exact",
                )
            }
            Refusal::Different { .. } if self.has_new_text() => {
                self.error_for(Refusal::AlreadyApplied)
            }
            Refusal::Different { file, sent, there } => self.different_error(&file, &sent, there),
            Refusal::Unmentioned { line } => {
                let lines = FileLines::new(self.text);
                let at = usize::try_from(line - 1).unwrap_or(usize::MAX);
                let shown =
                    if at < lines.len() { displayed_line(lines.text(at)) } else { String::new() };
                self.not_found_error(
                    "unmentioned_line",
                    &format!(
                        "line {line} is among or next to the lines to replace, and old_text leaves it out"
                    ),
                    &format!("\n  file {line}: {shown}"),
                )
                .hint("include the line in old_text, and in new_text if it is to stay")
                .detail("line", line)
            }
            Refusal::Elided => self
                .not_found_near_error(
                    "elided",
                    "old_text leaves lines out with ..., and new_text does not",
                    &self.edit.old,
                )
                .hint("send the lines themselves, or leave the same lines out of both texts"),
            Refusal::TooLarge => self
                .not_found_error(
                    "too_large",
                    "the text is not there literally, and too large for more",
                    "",
                )
                .hint("send fewer lines, or name them by their anchors"),
            Refusal::TooMuch => too_much_error(path),
            Refusal::TooLoose(found) => self.too_loose_error(&found),
            Refusal::NotFound => self.nowhere_error(),
        }
    }

    /// Returns the error `MATCH_NOT_FOUND`: `because` follows in its first line if that has room,
    /// `more` after it.
    fn not_found_error(&self, reason: &str, because: &str, more: &str) -> Error {
        let head = format!("{} not found in {}", self.what, self.path);
        let message = join_message(head, because) + more;
        Error::new(Code::MatchNotFound, message).detail("reason", reason)
    }

    /// Returns the same error as [`Self::not_found_error`], with the line of the file that is most
    /// similar to `sent`, if any.
    fn not_found_near_error(&self, reason: &str, because: &str, sent: &str) -> Error {
        let lines = FileLines::new(self.text);
        let Some(near) = nearest_line(&lines, sent) else {
            return self.not_found_error(reason, because, "");
        };
        let line = near.line + 1;
        let more = format!("\n  file {line}: {}", displayed_line(lines.text(near.line)));
        self.not_found_error(reason, &format!("{because}; nearest is line {line}"), &more)
            .detail("nearest_line", line)
    }

    /// Returns the error `MATCH_NOT_UNIQUE`; `alike` if the text is only similar to these lines.
    fn not_unique_error(&self, lines: &[u64], alike: bool) -> Error {
        let (times, verb) = (lines.len(), if alike { "is like" } else { "occurs" });
        let head = format!("{} {verb} {times} places in {}", self.what, self.path);
        let head = if alike { head } else { head.replace(" places in ", " times in ") };
        let file = FileLines::new(self.text);
        let span = to_lf_without_bom(without_last_lf(self.edit.old.as_bytes()))
            .split(|&b| b == b'\n')
            .count();
        let ranges: Vec<Range<usize>> = lines
            .iter()
            .filter_map(|&line| usize::try_from(line).ok()?.checked_sub(1))
            .map(|at| at..(at + span).min(file.len()))
            .collect();
        Error::new(
            Code::MatchNotUnique,
            join_message(head, &format!("lines {}", list_line_numbers(lines))),
        )
        .hint(if alike {
            "copy the lines that are meant from the file exactly, or add lines around them"
        } else {
            "add surrounding lines to old_text, or set replace_all or near_line"
        })
        .detail("found", times)
        .detail("lines", first_detailed(lines))
        .detail(
            "candidates",
            if alike { self.candidates(&file, &ranges) } else { candidates(&file, &ranges, None) },
        )
    }

    /// Returns the positions (0-based lines) as candidates, each with its difference from the text
    /// that was sent.
    fn candidates(&self, lines: &FileLines<'_>, ranges: &[Range<usize>]) -> serde_json::Value {
        let sent = to_lf_without_bom(self.edit.old.as_bytes());
        let sent = split_edit_lines(sent.strip_suffix(b"\n").unwrap_or(&sent));
        candidates(lines, ranges, Some(&sent))
    }

    /// Returns the words that the new text is in the file already, with its line if it has more
    /// than white space.
    fn already_there_text(&self) -> String {
        let there = "new_text is already there";
        match memchr::memmem::find(self.text, trim(self.edit.new.as_bytes())) {
            Some(at) if !self.edit.new.trim().is_empty() => {
                let line = memchr::memchr_iter(b'\n', &self.text[..at]).count() + 1;
                format!("{there}, at line {line}")
            }
            _ => there.to_owned(),
        }
    }

    /// Returns true if the new text has at least 8 bytes and occurs in the file.
    fn has_new_text(&self) -> bool {
        trim(self.edit.new.as_bytes()).len() >= 8 && contains_text(self.text, &self.edit.new)
    }

    /// Returns true if the new text is so short, and so different from the old one, that it may be
    /// in the file by chance.
    fn may_be_chance(&self) -> bool {
        let (old, new) = (trim(self.edit.old.as_bytes()), trim(self.edit.new.as_bytes()));
        let ahead = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let behind = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
        new.len() < MIN_DISTINCTIVE_TEXT_BYTES
            && !new.contains(&b'\n')
            && 2 * (ahead + behind) < old.len().min(new.len())
    }

    /// Returns the error for an old text that equals lines of the file except that it leaves out
    /// lines in between; `None` if it equals no lines in this way.
    fn left_out_error(&self, lines: &FileLines<'_>) -> Option<Error> {
        let sent = split_lf_lines(&to_lf_without_bom(self.edit.old.as_bytes()));
        let same = |at: usize, text: &[u8]| at < lines.len() && trim(lines.text(at)) == trim(text);
        let first = sent.first().filter(|line| !trim(line).is_empty())?;
        (0..lines.len())
            .filter(|&from| same(from, first))
            .take(MAX_LEFT_OUT_STARTS)
            .find_map(|from| self.left_out_error_at(lines, from, &sent))
    }

    /// Returns the error of [`Self::left_out_error`] if the old text begins at line `from`
    /// (0-based) and leaves out lines that follow it; `None` otherwise.
    fn left_out_error_at(
        &self,
        lines: &FileLines<'_>,
        from: usize,
        sent: &[Vec<u8>],
    ) -> Option<Error> {
        let same = |at: usize, text: &[u8]| at < lines.len() && trim(lines.text(at)) == trim(text);
        let kept = sent.iter().enumerate().take_while(|(at, text)| same(from + at, text)).count();
        let next = sent.get(kept)?;
        let gap = from + kept;
        let end =
            (gap + 1..lines.len().min(gap + MAX_LEFT_OUT_LINES)).find(|&at| same(at, next))?;
        // The lines after the gap must match too, because a closing brace alone occurs in many
        // places.
        if !sent[kept..].iter().enumerate().all(|(at, text)| same(end + at, text)) {
            return None;
        }
        let range = from..end + sent.len() - kept;
        let which = match (gap + 1, end) {
            (first, last) if first == last => format!("line {first}"),
            (first, last) => format!("lines {first}-{last}"),
        };
        let so = format!("it leaves out {which} between the lines that it has");
        Some(
            self.not_found_error(
                "not_found",
                &so,
                &format!("\n  file {}: {}", gap + 1, displayed_line(lines.text(gap))),
            )
            .hint("send all lines from the first to the last, or make an edit for each part")
            .detail("nearest_line", from + 1)
            .detail("candidates", self.candidates(lines, &[range])),
        )
    }

    /// Returns the error for an old text that matches the lines `file` except for its line `sent`.
    fn different_error(&self, file: &Range<usize>, sent: &[u8], there: Option<usize>) -> Error {
        let lines = FileLines::new(self.text);
        let Some(there) = there.filter(|&at| at < lines.len()) else {
            if let Some(error) = self.left_out_error(&lines) {
                return error;
            }
            let (from, to) = (file.start + 1, file.end);
            return self
                .not_found_error(
                    "line_missing",
                    &format!("lines {from}-{to} are like it, but have no such line"),
                    &format!("\n  sent: {}", displayed_line(sent)),
                )
                .hint("read the lines again and copy them exactly")
                .detail("candidates", self.candidates(&lines, std::slice::from_ref(file)));
        };
        let line = there + 1;
        self.not_found_error(
            "line_differs",
            &format!("nearest is line {line}, which reads differently"),
            &quote_lines(&lines, there, sent),
        )
        .hint("read the lines again and copy them exactly")
        .detail("nearest_line", line)
        .detail("candidates", self.candidates(&lines, std::slice::from_ref(file)))
    }

    /// Returns the error for a match in a tier that the edit's strictness excludes.
    fn too_loose_error(&self, found: &OldTextMatch) -> Error {
        let lines = FileLines::new(self.text);
        let range = match (found.splices.first(), found.splices.last()) {
            (Some(first), Some(last)) => {
                let end = last.range.end.saturating_sub(1).max(first.range.start);
                lines.line_at_offset(first.range.start)..lines.line_at_offset(end) + 1
            }
            _ => 0..0,
        };
        let sent = to_lf_without_bom(self.edit.old.as_bytes());
        let sent = split_edit_lines(&sent);
        let sent: Vec<&[u8]> = sent.into_iter().filter(|line| !trim(line).is_empty()).collect();
        let pair = sent.iter().zip(range.clone()).find(|(sent, at)| **sent != lines.text(*at));
        let (sent, there) = pair
            .map_or((sent.first().copied().unwrap_or_default(), range.start), |(sent, at)| {
                (*sent, at)
            });
        let there = there.min(lines.len().saturating_sub(1));
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
                let kind = whitespace_difference(sent, lines.text(there));
                ("whitespace", format!("nearest is line {line}, which differs only in {kind}"))
            }
            (Tier::Fuzzy, None) => {
                ("inexact", format!("nearest is line {line}, which reads a little differently"))
            }
        };
        self.not_found_error(reason, &because, &quote_lines(&lines, there, sent))
            .hint("send the old_text of the first candidate, or allow a looser match")
            .detail("nearest_line", line)
            .detail("tier", found.tier.as_str())
            .detail("candidates", self.candidates(&lines, &[range]))
    }

    /// Returns the error for an old text that does not occur, with the most similar lines.
    fn nowhere_error(&self) -> Error {
        let body = self.text.strip_prefix(BOM_UTF8).unwrap_or(self.text);
        if body.is_empty() {
            return self
                .not_found_error("empty_file", "the file is empty", "")
                .hint("write the file instead");
        }
        if self.edit.old.trim().is_empty() {
            return self
                .not_found_error(
                    "blank",
                    "old_text is blank, and white space must match exactly",
                    "",
                )
                .hint("include a line with text");
        }
        if self.has_new_text() && !self.may_be_chance() {
            return self.error_for(Refusal::AlreadyApplied);
        }
        if let Some(plain) = crate::edit::matching::repair::without_line_numbers(&self.edit.old) {
            return self
                .not_found_near_error(
                    "line_numbers",
                    "old_text begins its lines with a line number",
                    &plain,
                )
                .hint("send the lines without their numbers");
        }
        let lines = FileLines::new(self.text);
        if let Some(error) = self.left_out_error(&lines) {
            return error;
        }
        let Some(near) = nearest_line(&lines, &self.edit.old) else {
            // A short text is not searched for by similarity, so it is looked for as a whole line.
            if has_line(&lines, &self.edit.new) {
                return self
                    .not_found_error(
                        "not_found",
                        &format!("nothing there is like it; {}", self.already_there_text()),
                        "",
                    )
                    .hint(
                        "read the file again; if this edit was made before, nothing is left to do",
                    );
            }
            return self
                .not_found_error("not_found", "nothing there is like it", "")
                .hint("read the file again, or look for the text in other files");
        };
        let old = to_lf_without_bom(self.edit.old.as_bytes());
        let sent = split_edit_lines(&old);
        let sent_lines = sent.len() - usize::from(old.ends_with(b"\n"));
        let sent = sent.get(near.old).map(|line| line.to_vec()).unwrap_or_default();
        let there = lines.text(near.line);
        let so = match near.whitespace_only {
            true if sent == there => ", but not what is around it".to_owned(),
            true => format!(", which differs only in {}", whitespace_difference(&sent, there)),
            false => String::new(),
        };
        let line = near.line + 1;
        self.not_found_error(
            "not_found",
            &format!("nearest is line {line}{so}"),
            &quote_lines(&lines, near.line, &sent),
        )
        .hint("read the file again and copy the text exactly")
        .detail("nearest_line", line)
        .detail(
            "candidates",
            self.candidates(&lines, &[covered_lines(&lines, near.line, near.old, sent_lines)]),
        )
    }
}
