//! Encodes patches for JavaScript: the structure as JSON, because a patch is small compared with
//! its files; contents as bytes.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::apply::{AppliedHunk, HunkOptions, MatchMethod};
use super::set::{FileChange, SetOptions, apply_all, paths, redirect};
use super::{FilePatch, Hunk, LineMark, Patch, parse, reverse};
use crate::edit::truncate_error;
use crate::error::{Code, Error, Result};

/// The changed files of a patch for JavaScript: the facts as JSON, and the new contents (empty for
/// a deleted file) in the same order.
#[derive(Clone, Debug)]
pub struct PatchedFiles {
    /// A list of `{path, from?, operation, mode?, added, removed, offset, hunks}`.
    pub facts: String,
    /// The new contents.
    pub contents: Vec<Vec<u8>>,
}

/// Parses a patch to JSON: `{files, paths, warnings}`. `call` is `{strip?, fuzz?, path?, reverse?,
/// same?}`: `path` is the file that a patch of one file changes, whatever name it contains; `same`
/// maps other names of a file to the name to use.
///
/// # Errors
/// Like [`parse`]; `INVALID_ARGUMENT` for a malformed `call`.
pub fn parse_packed(text: &str, call: &str) -> Result<String> {
    let (patch, options) = parse_with_options(text, call)?;
    let files: Vec<Value> = patch.files.iter().map(file_json).collect();
    let paths = paths(&patch, &options);
    Ok(json!({ "files": files, "paths": paths, "warnings": patch.warnings }).to_string())
}

/// Applies a patch to files. `names` and contents are in the order of [`paths`]; a content is
/// `None` if the file does not exist.
///
/// # Errors
/// Like [`apply_all`].
pub fn apply_packed(
    names: Vec<String>,
    contents: Vec<Option<Vec<u8>>>,
    text: &str,
    call: &str,
) -> Result<PatchedFiles> {
    let (patch, options) = parse_with_options(text, call)?;
    let files: BTreeMap<String, Vec<u8>> = names
        .into_iter()
        .zip(contents)
        .filter_map(|(name, content)| Some((name, content?)))
        .collect();
    let mut changes =
        apply_all(&patch, &files, &options).map_err(|error| truncate_error(error, ""))?;
    let contents =
        changes.iter_mut().map(|change| change.bytes.take().unwrap_or_default()).collect();
    let facts: Vec<Value> = changes.iter().map(change_json).collect();
    Ok(PatchedFiles { facts: Value::from(facts).to_string(), contents })
}

/// Parses a patch and the options of a call.
fn parse_with_options(text: &str, call: &str) -> Result<(Patch, SetOptions)> {
    let malformed = || Error::new(Code::InvalidArgument, "the patch options are malformed");
    let call: Map<String, Value> = serde_json::from_str(call).map_err(|_| malformed())?;
    let number = |key: &str| match call.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
            number.map(Some).ok_or_else(|| {
                Error::new(
                    Code::InvalidArgument,
                    format!("{key} must be a whole number of at least 0"),
                )
                .detail("argument", key)
            })
        }
    };
    let fuzz = number("fuzz")?.unwrap_or(HunkOptions::default().fuzz).min(3);
    let path = call.get("path").and_then(Value::as_str).map(str::to_owned);
    let patch = parse(text, number("strip")?)?;
    let backwards = matches!(call.get("reverse"), Some(Value::Bool(true)));
    let mut patch = if backwards { reverse(&patch)? } else { patch };
    if let Some(path) = &path {
        redirect(&mut patch, path)?;
    }
    if let Some(Value::Object(same)) = call.get("same") {
        for file in &mut patch.files {
            for name in [&mut file.old, &mut file.new].into_iter().flatten() {
                if let Some(other) = same.get(name).and_then(Value::as_str) {
                    *name = other.to_owned();
                }
            }
        }
    }
    Ok((patch, SetOptions { hunks: HunkOptions { fuzz }, path }))
}

/// Returns the part of a parsed patch for one file as JSON.
fn file_json(file: &FilePatch) -> Value {
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
        "hunks": file.hunks.iter().map(hunk_json).collect::<Vec<_>>(),
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
fn change_json(change: &FileChange) -> Value {
    let hunk = |placed: &AppliedHunk| {
        let how = match placed.how {
            MatchMethod::Exact => "exact",
            MatchMethod::Blanks => "whitespace",
            MatchMethod::Loose => "fuzzy",
            MatchMethod::Fuzz => "fuzz",
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

#[cfg(test)]
mod tests;
