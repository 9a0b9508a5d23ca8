//! A patch with the options of a call.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::attempt::HunkOptions;
use super::headers::patch_error;
use super::json::{change_json, file_json};
use super::retry::{SentPatch, add_retry};
use super::set::{self, PatchOptions, apply_to_files, paths_of_patch, set_path_of_single_file};
use super::unmarked::with_marks;
use super::{FileOperation, FilePatch, Patch, parse, reverse};
use crate::edit::truncate_error;
use crate::error::{Code, Error, Result};

/// The contents of files; `None` for a file that does not exist.
pub type Contents<'a> = Vec<Option<Cow<'a, [u8]>>>;

/// The files that a patch has changed: the facts as JSON, and the new contents (empty for a deleted
/// file) in the same order.
#[derive(Clone, Debug)]
pub struct PatchedFiles {
    /// A list of `{path, from?, operation, mode?, added, removed, offset, hunks}`.
    pub facts: String,
    /// The new contents.
    pub contents: Vec<Vec<u8>>,
}

/// A parsed patch, and how it is applied.
#[derive(Clone, Debug)]
pub struct PatchRequest {
    patch: Patch,
    options: PatchOptions,
    lists_hunks: bool,
    /// The patch as it was sent, but with the marks of its context lines.
    text: String,
    /// The error of a patch whose context lines lack their marks.
    refusal: Option<Error>,
    /// True if the patch is undone.
    is_reversed: bool,
    call: Map<String, Value>,
}

impl PatchRequest {
    /// Parses a patch. `call` is `{strip?, fuzz?, path?, reverse?, same?, hunks?}`: `path` is the
    /// file that a patch of one file changes, whatever name it contains; `same` maps other names of
    /// a file to the name to use; with `hunks: false` the lists of hunks in the JSON are empty.
    ///
    /// # Errors
    /// Like [`parse()`]; `PATCH_FAILED` too if a name is empty or a renamed or copied file has only
    /// one name; `INVALID_ARGUMENT` for a malformed `call`.
    pub fn parse(text: &str, call: &str) -> Result<Self> {
        let malformed = || Error::new(Code::InvalidArgument, "the patch options are malformed");
        Self::parse_with(text, serde_json::from_str(call).map_err(|_| malformed())?)
    }

    /// Parses another text with the options of the call, but as a patch that is not reversed.
    fn with_text(&self, text: &str) -> Result<Self> {
        let mut call = self.call.clone();
        call.remove("reverse");
        Self::parse_with(text, call)
    }

    fn parse_with(text: &str, call: Map<String, Value>) -> Result<Self> {
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
        let backwards = matches!(call.get("reverse"), Some(Value::Bool(true)));
        let strip = number("strip")?;
        let (text, patch, refusal) = match parse(text, strip) {
            Ok(patch) => (text.to_owned(), patch, None),
            Err(error) => {
                let marked = with_marks(text).filter(|_| !backwards);
                let parsed = marked.and_then(|text| Some((parse(&text, strip).ok()?, text)));
                let Some((patch, text)) = parsed else { return Err(error) };
                (text, patch, Some(error))
            }
        };
        let mut patch = if backwards { reverse(&patch)? } else { patch };
        if let Some(path) = &path {
            set_path_of_single_file(&mut patch, path)?;
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
        patch.files.iter().try_for_each(check_names)?;
        let lists_hunks = !matches!(call.get("hunks"), Some(Value::Bool(false)));
        let options = PatchOptions { hunks: HunkOptions { fuzz }, path };
        Ok(Self { patch, options, lists_hunks, text, refusal, is_reversed: backwards, call })
    }

    /// Returns the patch as JSON: `{files, paths, warnings}`. Without lists of hunks it is what a
    /// caller needs to read the files, also of a patch that is refused then.
    ///
    /// # Errors
    /// `PATCH_FAILED` for the hunks of a patch whose context lines lack their marks.
    pub fn to_json(&self) -> Result<String> {
        if let Some(refusal) = self.refusal.as_ref().filter(|_| self.lists_hunks) {
            return Err(refusal.clone());
        }
        let files: Vec<Value> =
            self.patch.files.iter().map(|file| file_json(file, self.lists_hunks)).collect();
        let paths = paths_of_patch(&self.patch, &self.options);
        let json = json!({ "files": files, "paths": paths, "warnings": self.patch.warnings });
        Ok(json.to_string())
    }

    /// Applies the patch to files. `names` and `contents` are in the order of [`paths_of_patch`].
    ///
    /// # Errors
    /// Like [`apply_to_files`].
    pub fn apply(&self, names: &[String], contents: Contents<'_>) -> Result<PatchedFiles> {
        let files: BTreeMap<String, Vec<u8>> = names
            .iter()
            .zip(contents)
            .filter_map(|(name, content)| Some((name.clone(), content?.into_owned())))
            .collect();
        let applied = match &self.refusal {
            Some(refusal) => Err(refusal.clone()),
            None => apply_to_files(&self.patch, &files, &self.options),
        };
        let mut changes = applied
            .map_err(|error| truncate_error(error, ""))
            .map_err(|error| self.with_retry(error, &files))?;
        let contents =
            changes.iter_mut().map(|change| change.bytes.take().unwrap_or_default()).collect();
        let facts: Vec<Value> = changes.iter().map(change_json).collect();
        Ok(PatchedFiles { facts: Value::from(facts).to_string(), contents })
    }

    /// Returns the error with the patch to send instead, if the places of its hunks are known.
    fn with_retry(&self, error: Error, files: &BTreeMap<String, Vec<u8>>) -> Error {
        let sent = SentPatch {
            text: &self.text,
            patch: &self.patch,
            hunks: self.options.hunks,
            is_reversed: self.is_reversed,
            is_repaired: self.refusal.is_some(),
            parse: &|text| {
                let again = self.with_text(text).ok()?;
                Some(again.patch).filter(|_| again.refusal.is_none())
            },
        };
        add_retry(error, &sent, &set::PatchedFiles::new(files, &self.options))
    }
}

/// Refuses a file without the names that its part of the patch needs. A part without any name is
/// that of the file in `path`.
fn check_names(file: &FilePatch) -> Result<()> {
    let needs_both = matches!(file.operation, FileOperation::Rename | FileOperation::Copy);
    for (which, name) in [("old", &file.old), ("new", &file.new)] {
        let fault = match name.as_deref() {
            Some("") => "an empty",
            None if needs_both => "no",
            _ => continue,
        };
        let line = file.line;
        return Err(patch_error(
            format!("the file at line {line} of the patch has {fault} {which} name"),
            Some(line),
        )
        .hint("write the path of the file there, or leave this part out of the patch")
        .detail("reason", "no_path"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
