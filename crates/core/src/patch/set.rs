//! Applies a whole patch to a set of files. The result is computed completely before it is
//! returned, so that a patch is applied in full or not at all.

use std::collections::BTreeMap;

use super::apply::apply;
use super::attempt::{AppliedHunk, HunkOptions};
use super::{FileOperation, FilePatch, Patch};
use crate::error::{Code, Error, Result};
use crate::text::path::escape_controls;

/// The change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The path of the file.
    pub path: String,
    /// The old path, if the file is renamed or copied.
    pub from: Option<String>,
    /// The operation on the file.
    pub operation: FileOperation,
    /// The new content; `None` if the file is deleted.
    pub bytes: Option<Vec<u8>>,
    /// The mode, if the patch sets it.
    pub mode: Option<u32>,
    /// The number of added lines.
    pub added: u64,
    /// The number of removed lines.
    pub removed: u64,
    /// The position of each hunk.
    pub hunks: Vec<AppliedHunk>,
}

/// The options of [`apply_to_files`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchOptions {
    /// How hunks may differ from the files.
    pub hunks: HunkOptions,
    /// The file that a patch without file names changes.
    pub path: Option<String>,
}

/// Returns the paths that a patch may read or write, each once, in the order of the patch.
pub fn paths_of_patch(patch: &Patch, options: &PatchOptions) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for file in &patch.files {
        let unnamed = if file.name().is_none() { options.path.clone() } else { None };
        let named = [file.old.clone(), file.new.clone(), unnamed, path_inside_top_dir(file)];
        for path in named.into_iter().flatten() {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    paths
}

/// Returns the path below the first directory if both names are equal there, as in `--- old/src/f`
/// and `+++ new/src/f`.
fn path_inside_top_dir(file: &FilePatch) -> Option<String> {
    let (old, new) = (file.old.as_deref()?, file.new.as_deref()?);
    let ((_, old_rest), (_, new_rest)) = (old.split_once('/')?, new.split_once('/')?);
    let same = file.operation == FileOperation::Update && old != new && old_rest == new_rest;
    same.then(|| old_rest.to_owned())
}

/// Replaces the file name in a patch of one file by `path`.
///
/// # Errors
/// `INVALID_ARGUMENT` if the patch changes several files.
pub fn set_path_of_single_file(patch: &mut Patch, path: &str) -> Result<()> {
    let mut names = patch.files.iter().filter_map(FilePatch::name);
    let first = names.next().map(str::to_owned);
    if names.any(|name| Some(name) != first.as_deref()) {
        return Err(Error::new(Code::InvalidArgument, "path is for a patch of one file")
            .hint("leave path out: the patch names its files")
            .detail("argument", "path"));
    }
    for file in &mut patch.files {
        if file.operation == FileOperation::Rename || file.operation == FileOperation::Copy {
            file.old = Some(path.to_owned());
            continue;
        }
        for name in [&mut file.old, &mut file.new].into_iter().flatten() {
            *name = path.to_owned();
        }
    }
    Ok(())
}

/// Computes the result of a patch. `files` has the content of every path of [`paths_of_patch`] that
/// exists.
///
/// # Errors
/// `PATCH_FAILED` with `path` and `reason`; nothing is applied in that case.
pub fn apply_to_files(
    patch: &Patch,
    files: &BTreeMap<String, Vec<u8>>,
    options: &PatchOptions,
) -> Result<Vec<FileChange>> {
    let mut set = PatchedFiles::new(files, options);
    let changes =
        patch.files.iter().map(|file| set.apply_file(file)).collect::<Result<Vec<_>>>()?;
    let same = |(path, bytes): (&String, &Option<Vec<u8>>)| files.get(path) == bytes.as_ref();
    let modes = changes.iter().any(|change| change.mode.is_some());
    if set.changed.iter().all(same) && !modes {
        return Err(patch_refusal(
            patch.files.first(),
            "already_applied",
            "changes nothing: all of it is there already",
        )
        .hint("leave the patch out"));
    }
    Ok(changes)
}

/// The files with the changes of the parts of the patch that were applied so far.
#[derive(Clone)]
pub(super) struct PatchedFiles<'s> {
    files: &'s BTreeMap<String, Vec<u8>>,
    changed: BTreeMap<String, Option<Vec<u8>>>,
    options: &'s PatchOptions,
}

impl<'s> PatchedFiles<'s> {
    /// Returns the files before the patch.
    pub(super) fn new(files: &'s BTreeMap<String, Vec<u8>>, options: &'s PatchOptions) -> Self {
        Self { files, changed: BTreeMap::new(), options }
    }

    /// Returns path and present content of the file that a part of the patch updates; `None` if it
    /// does not exist or the part does something else.
    pub(super) fn content_to_update(&self, file: &FilePatch) -> Option<(String, &[u8])> {
        let file = self.with_existing_names(file).ok()?;
        let path = file.new.filter(|_| file.operation == FileOperation::Update && !file.binary)?;
        let content = self.get(&path)?;
        Some((path, content))
    }

    /// Replaces the content of a file.
    pub(super) fn set_content(&mut self, path: String, content: Vec<u8>) {
        self.changed.insert(path, Some(content));
    }

    /// Returns true if all files have the same content and existence in both.
    pub(super) fn has_same_contents(&self, other: &Self) -> bool {
        let paths = self.files.keys().chain(self.changed.keys()).chain(other.changed.keys());
        paths.into_iter().all(|path| self.get(path) == other.get(path))
    }

    /// Returns the present content of a file; `None` if it does not exist.
    fn get(&self, path: &str) -> Option<&[u8]> {
        match self.changed.get(path) {
            Some(made) => made.as_deref(),
            None => self.files.get(path).map(Vec::as_slice),
        }
    }

    /// Applies the part of the patch for one file.
    pub(super) fn apply_file(&mut self, file: &FilePatch) -> Result<FileChange> {
        let file = &self.with_existing_names(file)?;
        if file.binary {
            return Err(patch_refusal(
                Some(file),
                "unsupported_binary_patch",
                "is binary, which is not supported",
            )
            .hint("leave it out of the patch and write the file instead"));
        }
        let is_special = |mode: u32| matches!(mode & 0o170_000, 0o120_000 | 0o160_000);
        if file.mode.is_some_and(is_special) || file.old_mode.is_some_and(is_special) {
            return Err(patch_refusal(
                Some(file),
                "unsupported_mode",
                "makes a link or a submodule, which is not supported",
            )
            .hint("leave it out of the patch"));
        }
        let change = match file.operation {
            FileOperation::Create => self.create(file),
            FileOperation::Delete => self.delete(file),
            FileOperation::Update => self.update(file),
            FileOperation::Rename | FileOperation::Copy => self.move_to(file),
        }?;
        if let Some(from) =
            change.from.as_ref().filter(|_| change.operation == FileOperation::Rename)
        {
            self.changed.insert(from.clone(), None);
        }
        self.changed.insert(change.path.clone(), change.bytes.clone());
        Ok(change)
    }

    /// Returns the part of the patch with names of files that exist, and with the operation that
    /// its hunks imply.
    fn with_existing_names(&self, file: &FilePatch) -> Result<FilePatch> {
        let mut file = file.clone();
        if file.name().is_none() {
            let only = self.files.keys().next().filter(|_| self.files.len() == 1);
            let path = self.options.path.as_ref().or(only).ok_or_else(|| {
                patch_refusal(None, "no_path", "names no file")
                    .hint("begin it with --- and +++ lines, or give the path")
            })?;
            (file.old, file.new) = (Some(path.clone()), Some(path.clone()));
        }
        if file.operation == FileOperation::Update && file.old != file.new {
            // For `--- f.orig`, `+++ f`, takes the name that exists.
            let all = [file.new.clone(), file.old.clone(), path_inside_top_dir(&file)];
            let existing = all.into_iter().flatten().find(|path| self.get(path).is_some());
            let path = existing.or(file.new.clone());
            (file.old, file.new) = (path.clone(), path);
        }
        // `@@ -0,0 +1,n @@` says that the file was missing or empty; another line number says that
        // it existed.
        let adds_only = file
            .hunks
            .iter()
            .all(|hunk| hunk.old_start == Some(0) && hunk.before().next().is_none());
        if file.operation == FileOperation::Update
            && adds_only
            && !file.hunks.is_empty()
            && file.new.as_ref().is_some_and(|path| self.get(path).is_none())
        {
            file.operation = FileOperation::Create;
        }
        Ok(file)
    }

    /// Creates a file; refused if it exists with other content.
    fn create(&self, file: &FilePatch) -> Result<FileChange> {
        let path = file.new.clone().unwrap_or_default();
        let made = apply(b"", file, self.options.hunks)?;
        if self.get(&path).is_some_and(|existing| existing != made.bytes) {
            return Err(patch_refusal(Some(file), "exists", "is to be made, but exists")
                .hint("update it, or delete it first"));
        }
        Ok(file_change(file, path, None, Some(made.bytes), made.added, made.removed, made.hunks))
    }

    /// Deletes a file; refused if its content is not that of the patch.
    fn delete(&self, file: &FilePatch) -> Result<FileChange> {
        let path = file.old.clone().unwrap_or_default();
        let existing = self.existing_content(file, &path)?;
        if file.unchecked {
            let removed = crate::text::count_lines(existing);
            return Ok(file_change(file, path, None, None, 0, removed, Vec::new()));
        }
        let made = apply(existing, file, self.options.hunks)?;
        if !made.bytes.is_empty() {
            return Err(patch_refusal(
                Some(file),
                "content_differs",
                "is to be deleted, but has other content than the patch",
            ));
        }
        Ok(file_change(file, path, None, None, made.added, made.removed, made.hunks))
    }

    /// Changes an existing file.
    fn update(&self, file: &FilePatch) -> Result<FileChange> {
        let path = file.new.clone().unwrap_or_default();
        let made = apply(self.existing_content(file, &path)?, file, self.options.hunks)?;
        Ok(file_change(file, path, None, Some(made.bytes), made.added, made.removed, made.hunks))
    }

    /// Renames or copies a file, and changes the result.
    fn move_to(&self, file: &FilePatch) -> Result<FileChange> {
        let from = file.old.clone().unwrap_or_default();
        let path = file.new.clone().unwrap_or_default();
        if path != from && self.get(&path).is_some() {
            return Err(patch_refusal(Some(file), "exists", "is the new name, but exists")
                .hint("choose another name, or delete it first"));
        }
        // A copy is made from the content before the patch, wherever the source is in the patch.
        let before = self.files.get(&from).filter(|_| file.operation == FileOperation::Copy);
        let existing =
            before.map_or_else(|| self.existing_content(file, &from), |bytes| Ok(bytes))?;
        let made = apply(existing, file, self.options.hunks)?;
        Ok(file_change(
            file,
            path,
            Some(from),
            Some(made.bytes),
            made.added,
            made.removed,
            made.hunks,
        ))
    }

    fn existing_content(&self, file: &FilePatch, path: &str) -> Result<&[u8]> {
        self.get(path).ok_or_else(|| {
            patch_refusal(Some(file), "not_found", "is not there")
                .hint("correct the name, or make the file: --- /dev/null in a diff, *** Add File")
                .detail("path", path)
        })
    }
}

fn file_change(
    file: &FilePatch,
    path: String,
    from: Option<String>,
    bytes: Option<Vec<u8>>,
    added: u64,
    removed: u64,
    hunks: Vec<AppliedHunk>,
) -> FileChange {
    let mode = file.mode.map(|mode| mode & 0o7777);
    FileChange { path, from, operation: file.operation, bytes, mode, added, removed, hunks }
}

/// The error for a part of the patch that cannot be applied, or for the whole patch.
fn patch_refusal(file: Option<&FilePatch>, reason: &str, because: &str) -> Error {
    let name = file.and_then(FilePatch::name);
    let what =
        name.map_or_else(|| "the patch".to_owned(), |name| escape_controls(name).into_owned());
    let error = Error::new(Code::PatchFailed, format!("{what} {because}")).detail("reason", reason);
    match (name, file) {
        (Some(name), Some(file)) => {
            error.detail("file", name).detail("path", name).detail("patch_line", file.line)
        }
        _ => error,
    }
}
