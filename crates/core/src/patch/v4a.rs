//! Parses a patch in the form that begins with `*** Begin Patch` (V4A).

use super::headers::{parse_body_line, parse_hunk_header, patch_error};
use super::{FileOperation, FilePatch, Hunk, LineMark, Patch, PatchLine};
use crate::error::Result;

/// Returns true for the line `*** Begin Patch`, which begins an envelope.
pub(super) fn begins_envelope(line: &str) -> bool {
    matches!(line.trim(), "*** Begin Patch")
}

/// Parses the patch whose first line is line `at` (0-based).
pub(super) fn parse(lines: &[&str], at: usize) -> Result<Patch> {
    let mut patch = Patch::default();
    let mut at = at + 1;
    while let Some(line) = lines.get(at) {
        let number = at + 1;
        let text = line.trim();
        at += 1;
        if text == "*** End Patch" {
            break;
        }
        let operation = |mark: &str| text.strip_prefix(mark).map(|path| path.trim().to_owned());
        if let Some(path) = operation("*** Add File:") {
            let (lines, next) = read_added_lines(lines, at)?;
            at = next;
            let hunks = match lines.is_empty() {
                true => Vec::new(),
                false => vec![Hunk { lines, line: number + 1, ..Hunk::default() }],
            };
            let operation = FileOperation::Create;
            patch.files.push(FilePatch {
                new: Some(path),
                operation,
                hunks,
                line: number,
                ..FilePatch::default()
            });
        } else if let Some(path) = operation("*** Delete File:") {
            let operation = FileOperation::Delete;
            patch.files.push(FilePatch {
                old: Some(path),
                operation,
                unchecked: true,
                line: number,
                ..FilePatch::default()
            });
        } else if let Some(path) = operation("*** Update File:") {
            let mut file = FilePatch {
                old: Some(path.clone()),
                new: Some(path),
                line: number,
                ..FilePatch::default()
            };
            if let Some(to) =
                lines.get(at).and_then(|line| line.trim().strip_prefix("*** Move to:"))
            {
                (file.operation, file.new) = (FileOperation::Rename, Some(to.trim().to_owned()));
                at += 1;
            }
            at = read_hunks(lines, at, &mut file)?;
            if file.hunks.is_empty() && file.operation == FileOperation::Update {
                return Err(patch_error(
                    format!("the update at line {number} of the patch has no hunk"),
                    Some(number),
                ));
            }
            patch.files.push(file);
        } else if !text.is_empty() {
            return Err(patch_error(
                format!("line {number} of the patch is not a file header"),
                Some(number),
            )
            .hint("use *** Add File:, *** Update File: or *** Delete File:"));
        }
    }
    if patch.files.is_empty() {
        return Err(patch_error("the patch names no file", None)
            .hint("use *** Add File:, *** Update File: or *** Delete File:"));
    }
    Ok(patch)
}

/// Returns true for a line of an envelope that ends the body of a file.
fn is_envelope_header(line: &str) -> bool {
    line.starts_with("*** ") && line.trim() != "*** End of File"
}

/// Reads the content of an added file; also returns the line after it.
fn read_added_lines(lines: &[&str], mut at: usize) -> Result<(Vec<PatchLine>, usize)> {
    let mut added = Vec::new();
    while let Some(line) = lines.get(at).filter(|line| !is_envelope_header(line)) {
        let text = match line.strip_prefix('+') {
            Some(text) => text,
            None if line.trim().is_empty() => "",
            None => {
                return Err(patch_error(
                    format!("line {} of the patch does not begin with +", at + 1),
                    Some(at + 1),
                )
                .hint("begin every line of an added file with +"));
            }
        };
        added.push(PatchLine { mark: LineMark::Added, text: text.to_owned(), open: false });
        at += 1;
    }
    // Empty lines before the next header are not part of the file.
    let empty = lines[..at].iter().rev().take_while(|line| line.trim().is_empty()).count();
    added.truncate(added.len().saturating_sub(empty));
    Ok((added, at))
}

/// Reads the hunks of an updated file; returns the line after them.
fn read_hunks(lines: &[&str], mut at: usize, file: &mut FilePatch) -> Result<usize> {
    let mut hunk = Hunk { line: at + 1, ..Hunk::default() };
    let mut bare = 0;
    let close = |file: &mut FilePatch, hunk: Hunk, bare: usize| {
        let mut hunk = hunk;
        hunk.lines.truncate(hunk.lines.len() - bare);
        if !hunk.lines.is_empty() {
            file.hunks.push(hunk);
        }
    };
    while let Some(line) = lines.get(at).filter(|line| !is_envelope_header(line)) {
        at += 1;
        if line.trim() == "*** End of File" {
            hunk.at_end = true;
            continue;
        }
        if let Some(header) = parse_hunk_header(line) {
            if !hunk.lines.is_empty() {
                let anchors = Vec::new();
                let next = Hunk { line: at, anchors, ..Hunk::default() };
                close(file, std::mem::replace(&mut hunk, next), bare);
            }
            bare = 0;
            if !header.section.is_empty() {
                hunk.anchors.push(header.section);
            }
            continue;
        }
        let Some(body) = parse_body_line(line) else {
            return Err(patch_error(
                format!("line {at} of the patch begins with none of space, + and -"),
                Some(at),
            )
            .hint("begin context lines with a space"));
        };
        bare = if line.trim_end_matches('\r').is_empty() { bare + 1 } else { 0 };
        hunk.lines.push(body);
    }
    close(file, hunk, bare);
    Ok(at)
}
