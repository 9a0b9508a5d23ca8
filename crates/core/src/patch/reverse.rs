//! Builds the patch that undoes a patch.

use super::{FileOperation, FilePatch, Hunk, LineMark, Patch};
use crate::error::{Code, Error, Result};

/// Reverses a patch: added lines become removed lines and vice versa.
///
/// # Errors
/// `PATCH_FAILED` for a deletion without the deleted content, and for a copy, which cannot be
/// expressed in reverse.
pub fn reverse(patch: &Patch) -> Result<Patch> {
    let mut files = patch.files.iter().map(reverse_file).collect::<Result<Vec<_>>>()?;
    files.reverse();
    Ok(Patch { files, warnings: patch.warnings.clone() })
}

fn reverse_file(file: &FilePatch) -> Result<FilePatch> {
    let refuse = |message: &str| {
        Error::new(Code::PatchFailed, message).detail("path", file.name().unwrap_or_default())
    };
    if file.unchecked {
        return Err(refuse("a deletion that does not hold the content cannot be reversed"));
    }
    let operation = match file.operation {
        FileOperation::Create => FileOperation::Delete,
        FileOperation::Delete => FileOperation::Create,
        FileOperation::Update => FileOperation::Update,
        FileOperation::Rename => FileOperation::Rename,
        FileOperation::Copy => return Err(refuse("a copy cannot be reversed")),
    };
    Ok(FilePatch {
        old: file.new.clone(),
        new: file.old.clone(),
        operation,
        mode: file.old_mode,
        old_mode: file.mode,
        hunks: file.hunks.iter().map(reverse_hunk).collect(),
        ..file.clone()
    })
}

fn reverse_hunk(hunk: &Hunk) -> Hunk {
    let mut lines = hunk.lines.clone();
    for line in &mut lines {
        line.mark = match line.mark {
            LineMark::Context => LineMark::Context,
            LineMark::Removed => LineMark::Added,
            LineMark::Added => LineMark::Removed,
        };
    }
    Hunk { old_start: hunk.new_start, new_start: hunk.old_start, lines, ..hunk.clone() }
}
