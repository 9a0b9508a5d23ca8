//! Parses unified diffs and git's extended form of them.

use super::headers::{
    begins_mail_signature, is_git_header, is_hunk_header, link_or_submodule_mode, parse_body_line,
    parse_hunk_header, patch_error,
};
use super::quoted::{
    header_name, is_epoch_time, names_of_git_header, strip_prefixes, unprefixed_name,
};
use super::{FileOperation, FilePatch, Hunk, LineMark, Patch, PatchLine, v4a};
use crate::error::Result;

/// Parses a patch in any of the formats. `strip` is the number of leading directories to remove
/// from the names of a unified diff; `None` removes `a/` and `b/` if both names have them.
///
/// # Errors
/// `PATCH_FAILED` if the text contains no patch, or if a line within one is neither context nor
/// change; `details.line` is its line (1-based).
#[inline(never)]
pub fn parse(text: &str, strip: Option<usize>) -> Result<Patch> {
    let lines = split_lines(text);
    let envelope = lines.iter().position(|line| v4a::begins_envelope(line));
    let mut reader = PatchReader { lines, at: 0, strip, patch: Patch::default() };
    // If a diff precedes the line `*** Begin Patch`, that line is part of the text that the diff
    // changes.
    if let Some(at) = envelope.filter(|&at| !(0..at).any(|line| reader.begins_diff(line))) {
        return v4a::parse(&reader.lines, at);
    }
    reader.read_files()?;
    if reader.patch.files.is_empty() {
        let error = match text.lines().find(|line| line.starts_with("***************")) {
            Some(_) => patch_error("the patch is a context diff, which is not supported", None)
                .hint("send a unified diff (diff -u)"),
            None => patch_error("there is no patch in the text", None)
                .hint("send a unified diff, or a *** Begin Patch envelope"),
        };
        return Err(error);
    }
    Ok(reader.patch)
}

/// Splits a text into lines without LF. Keeps each CR unless every line has one: then they are not
/// part of the patch but were added on its way.
fn split_lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    if lines.iter().all(|line| line.ends_with('\r')) {
        for line in &mut lines {
            *line = line.strip_suffix('\r').unwrap_or(line);
        }
    }
    lines
}

/// Reads the files of a patch line by line.
struct PatchReader<'t> {
    lines: Vec<&'t str>,
    at: usize,
    strip: Option<usize>,
    patch: Patch,
}

impl<'t> PatchReader<'t> {
    fn line(&self, at: usize) -> Option<&'t str> {
        self.lines.get(at).copied()
    }

    fn read_files(&mut self) -> Result<()> {
        while let Some(line) = self.line(self.at) {
            if let Some(names) = line.strip_prefix("diff --git ") {
                self.read_git_file(names)?;
            } else if self.is_file_header(self.at) {
                let line = self.at + 1;
                let file = FilePatch { line, ..FilePatch::default() };
                self.read_file_from_header(file)?;
            } else if is_hunk_header(line) {
                // There is no file header, so the caller must say which file is meant.
                let mut file = FilePatch { line: self.at + 1, ..FilePatch::default() };
                self.read_hunks(&mut file)?;
                self.patch.files.push(file);
            } else {
                self.at += 1;
            }
        }
        Ok(())
    }

    /// Returns true if line `at` is `--- name` and the next one is `+++ name`.
    fn is_file_header(&self, at: usize) -> bool {
        self.line(at).is_some_and(|line| line.starts_with("--- "))
            && self.line(at + 1).is_some_and(|line| line.starts_with("+++ "))
    }

    /// Returns true if a unified diff begins at line `at`.
    fn begins_diff(&self, at: usize) -> bool {
        let line = self.line(at).unwrap_or_default();
        line.starts_with("diff --git ")
            || self.is_file_header(at)
            || parse_hunk_header(line).is_some_and(|header| header.old.is_some())
    }

    /// Returns true for a file header that cannot be two changed lines of a hunk, because a hunk or
    /// nothing follows it.
    fn is_clear_file_header(&self, at: usize) -> bool {
        self.is_file_header(at) && self.line(at + 2).is_none_or(is_hunk_header)
    }

    /// Reads a file from its header `---` and `+++` on.
    fn read_file_from_header(&mut self, mut file: FilePatch) -> Result<()> {
        let header = self.line(self.at + 2).and_then(parse_hunk_header);
        let read = |at: usize, side: Option<(u64, u64)>| {
            let text = &self.line(at)?[4..];
            // `diff -N` writes the time 0 for a missing file.
            let is_absent = side == Some((0, 0)) && is_epoch_time(text);
            header_name(text).filter(|_| !is_absent)
        };
        let old = read(self.at, header.as_ref().and_then(|header| header.old));
        let new = read(self.at + 1, header.as_ref().and_then(|header| header.new));
        self.at += 2;
        let absent = (old.is_none(), new.is_none());
        let (old, new) = strip_prefixes(old, new, self.strip);
        if matches!(
            file.operation,
            FileOperation::Update | FileOperation::Create | FileOperation::Delete
        ) {
            (file.old, file.new) = (old, new);
            file.operation = match absent {
                (true, false) => FileOperation::Create,
                (false, true) => FileOperation::Delete,
                _ => file.operation,
            };
        }
        self.read_hunks(&mut file)?;
        self.patch.files.push(file);
        Ok(())
    }

    /// Reads a file from its header `diff --git` on; `names` is the rest of that line.
    fn read_git_file(&mut self, names: &str) -> Result<()> {
        let mut file = FilePatch { line: self.at + 1, ..FilePatch::default() };
        if let Some((old, new)) = names_of_git_header(names) {
            (file.old, file.new) = strip_prefixes(Some(old), Some(new), self.strip);
        }
        self.at += 1;
        while let Some(line) = self.line(self.at) {
            let text = line.trim_end_matches('\r');
            let mode = |text: &str| u32::from_str_radix(text.trim(), 8).ok();
            let name = |text: &str| Some(unprefixed_name(text, self.strip));
            if let Some(old) = text.strip_prefix("old mode ") {
                file.old_mode = mode(old);
            } else if let Some(new) = text.strip_prefix("new mode ") {
                file.mode = mode(new);
            } else if let Some(new) = text.strip_prefix("new file mode ") {
                (file.operation, file.mode) = (FileOperation::Create, mode(new));
            } else if let Some(old) = text.strip_prefix("deleted file mode ") {
                (file.operation, file.old_mode) = (FileOperation::Delete, mode(old));
            } else if let Some(from) = text.strip_prefix("rename from ") {
                (file.operation, file.old) = (FileOperation::Rename, name(from));
            } else if let Some(to) = text.strip_prefix("rename to ") {
                (file.operation, file.new) = (FileOperation::Rename, name(to));
            } else if let Some(from) = text.strip_prefix("copy from ") {
                (file.operation, file.old) = (FileOperation::Copy, name(from));
            } else if let Some(to) = text.strip_prefix("copy to ") {
                (file.operation, file.new) = (FileOperation::Copy, name(to));
            } else if text.starts_with("Binary files ") || text == "GIT binary patch" {
                file.binary = true;
            } else if !is_git_header(text) {
                break;
            }
            // The new mode may be that of a link or a submodule too, which cannot be patched.
            file.mode = file.mode.or_else(|| link_or_submodule_mode(text));
            self.at += 1;
        }
        match file.operation {
            FileOperation::Create => file.old = None,
            FileOperation::Delete => file.new = None,
            _ => {}
        }
        if self.is_file_header(self.at) {
            return self.read_file_from_header(file);
        }
        if self.line(self.at).is_some_and(is_hunk_header) {
            self.read_hunks(&mut file)?;
        }
        self.patch.files.push(file);
        Ok(())
    }

    fn read_hunks(&mut self, file: &mut FilePatch) -> Result<()> {
        while let Some(header) = self.line(self.at).and_then(parse_hunk_header) {
            let line = self.at + 1;
            self.at += 1;
            let lines = match (header.old, header.new) {
                (Some((_, old)), Some((_, new))) => match self.read_counted_body(old, new) {
                    Some(lines) => lines,
                    None => {
                        let lines = self.read_uncounted_body()?;
                        self.patch.warnings.push(format!(
                            "the hunk at line {line} of the patch has other line counts than its header"
                        ));
                        lines
                    }
                },
                _ => self.read_uncounted_body()?,
            };
            if lines.is_empty() {
                return Err(patch_error(
                    format!("the hunk at line {line} of the patch is empty"),
                    Some(line),
                ));
            }
            let anchors = match header.old {
                None if !header.section.is_empty() => vec![header.section],
                _ => Vec::new(),
            };
            let start = |side: Option<(u64, u64)>| side.map(|(start, _)| start);
            file.hunks.push(Hunk {
                old_start: start(header.old),
                new_start: start(header.new),
                anchors,
                at_end: false,
                lines,
                line,
            });
        }
        Ok(())
    }

    /// Reads the body of a hunk by the counts of its header; returns `None` if they do not match
    /// the body.
    fn read_counted_body(&mut self, mut old: u64, mut new: u64) -> Option<Vec<PatchLine>> {
        let mut at = self.at;
        let mut lines: Vec<PatchLine> = Vec::new();
        while old > 0 || new > 0 {
            let line = parse_body_line(self.line(at)?)?;
            let (before, after) = match line.mark {
                LineMark::Context => (1, 1),
                LineMark::Removed => (1, 0),
                LineMark::Added => (0, 1),
            };
            (old, new) = (old.checked_sub(before)?, new.checked_sub(after)?);
            lines.push(line);
            at += 1;
            at += self.read_no_newline_mark(at, &mut lines);
        }
        let more = self.line(at).is_some_and(|line| {
            line.starts_with([' ', '+', '-'])
                && !self.is_file_header(at)
                && !begins_mail_signature(line)
        });
        if more {
            return None;
        }
        self.at = at;
        Some(lines)
    }

    /// Reads the body of a hunk up to the first line that cannot be part of it.
    fn read_uncounted_body(&mut self) -> Result<Vec<PatchLine>> {
        let mut lines: Vec<PatchLine> = Vec::new();
        let mut bare = 0;
        while let Some(text) = self.line(self.at) {
            if is_hunk_header(text)
                || self.is_clear_file_header(self.at)
                || text.starts_with("diff --git ")
                || text.starts_with("```")
                || begins_mail_signature(text)
            {
                break;
            }
            let Some(line) = parse_body_line(text) else {
                if self.is_prose(self.at) {
                    break;
                }
                let number = self.at + 1;
                return Err(patch_error(
                    format!("line {number} of the patch begins with none of space, + and -"),
                    Some(number),
                )
                .hint("begin context lines with a space"));
            };
            bare = if text.trim_end_matches('\r').is_empty() { bare + 1 } else { 0 };
            lines.push(line);
            self.at += 1;
            self.at += self.read_no_newline_mark(self.at, &mut lines);
        }
        // Empty lines after a hunk belong to the text after it.
        lines.truncate(lines.len() - bare);
        Ok(lines)
    }

    /// Marks the last line as open if line `at` is `\ No newline at end of file`; returns the
    /// number of lines read.
    fn read_no_newline_mark(&self, at: usize, lines: &mut [PatchLine]) -> usize {
        match (self.line(at), lines.last_mut()) {
            (Some(line), Some(last)) if line.starts_with('\\') => {
                last.open = true;
                1
            }
            _ => 0,
        }
    }

    /// Returns true if no changed line follows from line `at` up to the next header: the rest is
    /// text after the patch.
    fn is_prose(&self, at: usize) -> bool {
        !self.lines[at..]
            .iter()
            .enumerate()
            .take_while(|(more, line)| !is_hunk_header(line) && !self.is_file_header(at + more))
            .any(|(_, line)| line.starts_with(['+', '-']) && !begins_mail_signature(line))
    }
}
