//! The attempt to apply one hunk: where it was applied and how the place was found, or why not.

use serde_json::{Value, json};

use super::FilePatch;
use super::mismatch::HunkMismatch;
use crate::edit::Splice;
use crate::error::{Code, Error};
use crate::text::path::escape_controls;

/// Limits how far the context of hunks may differ from the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HunkOptions {
    /// The number of outermost context lines that may be ignored on each side, 0 to 3. With 0, only
    /// line endings and trailing white space may differ.
    pub fuzz: usize,
}

impl Default for HunkOptions {
    fn default() -> Self {
        Self { fuzz: 2 }
    }
}

/// Where one hunk was applied, how far that is from where its header says, and how the place was
/// found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedHunk {
    /// The first line that the hunk replaced: 1-based, in the file before the patch.
    pub line: u64,
    /// The number of lines from the line in the hunk's header to the actual one, negative if it is
    /// earlier; 0 for a header without numbers.
    pub offset: i64,
    /// The comparison that found the hunk.
    pub how: HunkMatchMethod,
}

/// The comparison that found a hunk, strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HunkMatchMethod {
    /// All lines are equal.
    Exact,
    /// Lines are equal except for line endings and trailing white space.
    Blanks,
    /// The matcher of edits found the lines: they may differ in indentation, by a typo or a
    /// forgotten line.
    Loose,
    /// Some context lines were ignored.
    Fuzz,
}

/// The position of a hunk in the file.
#[derive(Clone, Debug)]
pub(super) struct HunkLocation {
    /// The line (0-based) after the last one that the hunk replaces.
    pub end: usize,
    pub placed: AppliedHunk,
}

impl HunkLocation {
    /// Returns the line (0-based) after the hunk in the text to which it was applied.
    pub(super) fn end_after(&self, splice: &Splice) -> usize {
        self.placed.line as usize - 1 + memchr::memchr_iter(b'\n', &splice.with).count()
    }
}

/// The splice and position of a hunk, or the reason why there is none.
pub(super) type HunkAttempt = std::result::Result<(Splice, HunkLocation), HunkMismatch>;

/// Returns the error for a file to which not all hunks apply: with the first mismatch, and as the
/// detail `hunks` the result of the first 20 hunks.
pub(super) fn hunks_error(file: &FilePatch, attempts: &[HunkAttempt]) -> Error {
    let total = attempts.len();
    let name = file.name().unwrap_or("the file");
    let path = escape_controls(name);
    let mut told = Vec::new();
    let mut first = None;
    for (index, attempt) in attempts.iter().enumerate() {
        match attempt {
            Ok((_, at)) => told.push(json!({ "hunk": index, "ok": true, "line": at.placed.line })),
            Err(unfit) => {
                told.push(json!({ "hunk": index, "ok": false, "reason": unfit.reason(), "message": unfit.message() }));
                first.get_or_insert((index, unfit));
            }
        }
    }
    let Some((index, unfit)) = first else {
        return Error::new(Code::PatchFailed, format!("the hunks of {path} overlap"))
            .detail("path", name);
    };
    let error = Error::new(
        Code::PatchFailed,
        format!("hunk {} of {total} does not apply to {path}: {}", index + 1, unfit.message()),
    )
    .hint(unfit.hint())
    .detail("file", name)
    .detail("path", name)
    .detail("hunk", index)
    .detail("patch_line", file.hunks[index].line)
    .detail("reason", unfit.reason())
    .detail("hunks", told.into_iter().take(20).collect::<Vec<Value>>());
    unfit.details(error)
}
