//! Parses single lines of a patch: their kinds, and the numbers in a hunk header. Has the error for
//! those that are none.

use super::{LineMark, PatchLine};
use crate::error::{Code, Error};

/// The error for a text that is no valid patch, at a line of it (1-based).
pub(super) fn patch_error(message: impl Into<String>, line: Option<usize>) -> Error {
    let error = Error::new(Code::PatchFailed, message);
    match line {
        Some(line) => error.detail("line", line),
        None => error,
    }
}

/// The parts of a hunk header: the ranges of old and new lines as first line and count, and the
/// text after them.
pub(super) struct HunkHeader {
    pub old: Option<(u64, u64)>,
    pub new: Option<(u64, u64)>,
    pub section: String,
}

/// Parses a line of a hunk's body; `None` if it cannot be one. An empty line is an empty context
/// line that lost its space.
pub(super) fn parse_body_line(line: &str) -> Option<PatchLine> {
    let mark = match line.chars().next() {
        None | Some('\r') => {
            return Some(PatchLine { mark: LineMark::Context, text: line.to_owned(), open: false });
        }
        Some(' ') => LineMark::Context,
        Some('+') => LineMark::Added,
        Some('-') => LineMark::Removed,
        Some(_) => return None,
    };
    Some(PatchLine { mark, text: line[1..].to_owned(), open: false })
}

/// Returns true for the line `--` that `git format-patch` writes after a patch, before its
/// signature.
pub(super) fn begins_mail_signature(line: &str) -> bool {
    line.trim_end() == "--"
}

/// Returns true for the headers of git that have no effect on the file.
pub(super) fn is_git_header(line: &str) -> bool {
    ["similarity index ", "dissimilarity index ", "index "]
        .iter()
        .any(|start| line.starts_with(start))
}

/// Returns the mode at the end of a header line if it is that of a symbolic link or a submodule.
pub(super) fn link_or_submodule_mode(line: &str) -> Option<u32> {
    let mode = u32::from_str_radix(line.rsplit(' ').next()?, 8).ok()?;
    matches!(mode & 0o170_000, 0o120_000 | 0o160_000).then_some(mode)
}

pub(super) fn is_hunk_header(line: &str) -> bool {
    parse_hunk_header(line).is_some()
}

/// Parses a hunk header: `@@ -1,2 +3,4 @@ section`, `@@ ... @@`, `@@ section` or `@@`; `None` for
/// another line.
pub(super) fn parse_hunk_header(line: &str) -> Option<HunkHeader> {
    let rest = line.trim_end_matches('\r').strip_prefix("@@")?;
    let numbers = || {
        let (old, after) = parse_range(rest.trim_start().strip_prefix('-')?)?;
        let (new, after) = parse_range(after.trim_start().strip_prefix('+')?)?;
        let section = after.trim_start().strip_prefix("@@").unwrap_or(after);
        Some(HunkHeader { old: Some(old), new: Some(new), section: section.trim().to_owned() })
    };
    if let Some(header) = numbers() {
        return Some(header);
    }
    if !rest.is_empty() && !rest.starts_with(' ') {
        return None;
    }
    let section = rest.trim();
    let section = section.strip_suffix("@@").unwrap_or(section).trim();
    let dots = section.trim_matches(['.', '\u{2026}', ' ']).is_empty();
    let section = if dots { String::new() } else { section.to_owned() };
    Some(HunkHeader { old: None, new: None, section })
}

/// Parses `12,3` or `12` as first line and count (1 if missing); also returns the rest of the text.
fn parse_range(text: &str) -> Option<((u64, u64), &str)> {
    let number = |text: &'_ str| {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        Some((text[..digits].parse::<u64>().ok()?, digits))
    };
    let (start, digits) = number(text)?;
    let rest = &text[digits..];
    match rest.strip_prefix(',') {
        Some(rest) => {
            let (count, digits) = number(rest)?;
            Some(((start, count), &rest[digits..]))
        }
        None => Some(((start, 1), rest)),
    }
}
