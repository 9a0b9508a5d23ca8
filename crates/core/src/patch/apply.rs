//! Applies the hunks of one file.
//!
//! The lines of a hunk are searched for exactly, then ignoring line endings and trailing white
//! space, then with the matcher of edits (other indentation, a typo, a forgotten line), and last
//! without the outermost context lines. Line numbers only choose between positions: a match exactly
//! at the header's line wins, otherwise a hunk that matches twice is refused. All hunks are located
//! in the original file; if that fails, each is located in the result of the previous ones.

use super::attempt::{HunkAttempt, hunks_error};
use super::file::TargetFile;
use super::locate::place_hunk;
use super::{FilePatch, Hunk, LineMark};
use crate::edit::{self, Splice, WorkBudget};
use crate::error::Result;

pub use super::attempt::{AppliedHunk, HunkMatchMethod, HunkOptions};

/// A patched file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchedFile {
    /// The new content.
    pub bytes: Vec<u8>,
    /// The position of each hunk, in the order of the patch.
    pub hunks: Vec<AppliedHunk>,
    /// The number of added lines.
    pub added: u64,
    /// The number of removed lines.
    pub removed: u64,
}

/// Applies the hunks of one file to its content.
///
/// # Errors
/// `PATCH_FAILED` with `hunk` (0-based), `reason` and, where lines differ, `line`, `expected` and
/// `found`; `hunks` says for every hunk whether it applies.
pub fn apply(text: &[u8], file: &FilePatch, options: HunkOptions) -> Result<PatchedFile> {
    let work = WorkBudget::default();
    let together = locate_all_hunks(text, &file.hunks, options, &work);
    if let Some((splices, hunks)) = collect_if_all_placed(&together) {
        return Ok(build_patched_file(edit::apply_splices(text, &splices), hunks, file));
    }
    // Each hunk may have been written against the result of the previous one.
    let mut running = text.to_vec();
    let mut placed = Vec::new();
    let mut from = 0;
    for hunk in &file.hunks {
        match place_hunk(&TargetFile::new(&running, &file.hunks), hunk, from, 0, options, &work) {
            Ok((splice, at)) => {
                // The next hunk may begin with the context lines that end this one.
                let shared =
                    hunk.lines.iter().rev().take_while(|line| line.mark == LineMark::Context);
                from = at.end_after(&splice).saturating_sub(shared.count());
                running = edit::apply_splices(&running, &[splice]);
                placed.push(at.placed);
            }
            Err(_) => return Err(hunks_error(file, &together)),
        }
    }
    Ok(build_patched_file(running, placed, file))
}

/// Combines the result, counting the lines that the patch adds and removes.
fn build_patched_file(bytes: Vec<u8>, hunks: Vec<AppliedHunk>, file: &FilePatch) -> PatchedFile {
    let count = |mark| {
        file.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.mark == mark).count()
            as u64
    };
    PatchedFile { bytes, hunks, added: count(LineMark::Added), removed: count(LineMark::Removed) }
}

/// Locates all hunks in the same text, in order. Returns for each its position or the reason why
/// there is none.
fn locate_all_hunks(
    text: &[u8],
    hunks: &[Hunk],
    options: HunkOptions,
    work: &WorkBudget,
) -> Vec<HunkAttempt> {
    let file = TargetFile::new(text, hunks);
    let (mut from, mut shift) = (0, 0);
    hunks
        .iter()
        .map(|hunk| {
            let made = place_hunk(&file, hunk, from, shift, options, work);
            if let Ok((_, at)) = &made {
                from = at.end;
                shift = at.placed.offset;
            }
            made
        })
        .collect()
}

/// Returns the splices and positions of all hunks, or `None` if one has no position.
fn collect_if_all_placed(attempts: &[HunkAttempt]) -> Option<(Vec<Splice>, Vec<AppliedHunk>)> {
    attempts
        .iter()
        .map(|attempt| {
            attempt.as_ref().ok().map(|(splice, at)| (splice.clone(), at.placed.clone()))
        })
        .collect::<Option<Vec<_>>>()
        .map(|placed| placed.into_iter().unzip())
}
