//! Parsed patches, and the facts about applied ones, as JSON.
//!
//! A patch of many hunks has a large JSON, which JavaScript parses on its only thread. A caller
//! that reads no hunks has their lists left empty.

use serde_json::{Value, json};

use super::attempt::{AppliedHunk, HunkMatchMethod};
use super::set::FileChange;
use super::{FilePatch, Hunk, LineMark};

/// Returns the part of a parsed patch for one file as JSON.
pub(super) fn file_json(file: &FilePatch, lists_hunks: bool) -> Value {
    let hunks = if lists_hunks { &file.hunks[..] } else { &[] };
    let count = |mark| {
        file.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.mark == mark).count()
    };
    json!({
        "oldPath": file.old,
        "newPath": file.new,
        "operation": file.operation.as_str(),
        "mode": file.mode,
        "binary": file.binary,
        "line": file.line,
        "added": count(LineMark::Added),
        "removed": count(LineMark::Removed),
        "hunks": hunks.iter().map(hunk_json).collect::<Vec<_>>(),
    })
}

/// Returns a parsed hunk as JSON.
fn hunk_json(hunk: &Hunk) -> Value {
    let mut lines = Vec::with_capacity(hunk.lines.len());
    for line in &hunk.lines {
        lines.push(format!("{}{}", line.mark.as_char(), line.text));
        if line.open {
            lines.push("\\ No newline at end of file".to_owned());
        }
    }
    json!({
        "oldStart": hunk.old_start,
        "oldLines": hunk.before().count(),
        "newStart": hunk.new_start,
        "newLines": hunk.after().count(),
        "anchors": hunk.anchors,
        "atEnd": hunk.at_end,
        "line": hunk.line,
        "lines": lines,
    })
}

/// Returns the facts about a changed file as JSON, without its content.
pub(super) fn change_json(change: &FileChange) -> Value {
    let hunk = |placed: &AppliedHunk| {
        let how = match placed.how {
            HunkMatchMethod::Exact => "exact",
            HunkMatchMethod::Blanks => "whitespace",
            HunkMatchMethod::Loose => "fuzzy",
            HunkMatchMethod::Fuzz => "fuzz",
        };
        json!({ "line": placed.line, "offset": placed.offset, "how": how })
    };
    let farthest =
        change.hunks.iter().map(|placed| placed.offset).max_by_key(|offset| offset.abs());
    json!({
        "path": change.path,
        "from": change.from,
        "operation": change.operation.as_str(),
        "mode": change.mode,
        "added": change.added,
        "removed": change.removed,
        "offset": farthest.unwrap_or(0),
        "hunks": change.hunks.iter().map(hunk).collect::<Vec<_>>(),
    })
}
