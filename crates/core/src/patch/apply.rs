//! Putting hunks where their lines stand.
//!
//! A hunk is looked for as it is, then with line ends and trailing blanks
//! folded, then by the edit matcher (other indentation, a slip of the pen, a
//! forgotten line), and at last without its outermost context lines. Line
//! numbers only choose: a place exactly where the header says wins, otherwise a
//! hunk that fits in two places is refused. All hunks are placed on the file as
//! it was; where that fails, each on the result of those before it.

use super::file::File;
use super::locate::{HunkLocation, place};
use super::mismatch::{HunkMismatch, report};
use super::{FilePatch, Hunk, Mark};
use crate::edit::{self, Budget, Splice};
use crate::error::Result;

/// How hunks may be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Outermost context lines that may be ignored on each side, 0 to 3. With 0
    /// nothing but line ends and trailing blanks may differ.
    pub fuzz: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { fuzz: 2 }
    }
}

/// Where a hunk went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedHunk {
    /// The first line (1-based) of the file it replaced.
    pub line: u64,
    /// Lines between where the header said and where it went; 0 without numbers.
    pub offset: i64,
    /// How it was found.
    pub how: MatchMethod,
}

/// How a hunk was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchMethod {
    /// As it is.
    Exact,
    /// But for line ends and trailing blanks.
    Blanks,
    /// By the edit matcher.
    Loose,
    /// Without some of its context.
    Fuzz,
}

/// A patched file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchedFile {
    /// The new content.
    pub bytes: Vec<u8>,
    /// Where each hunk went.
    pub hunks: Vec<AppliedHunk>,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
}

/// Applies the hunks of one file to its content.
///
/// # Errors
/// `PATCH_FAILED` with `hunk` (0-based), `reason` and, where lines differ,
/// `line`, `expected` and `found`; `hunks` tells of every hunk whether it fits.
pub fn apply(text: &[u8], file: &FilePatch, options: Options) -> Result<PatchedFile> {
    let work = Budget::default();
    let together = attempt_all(text, &file.hunks, options, &work);
    if let Some((splices, hunks)) = all_placed(&together) {
        return Ok(patched(edit::spliced(text, &splices), hunks, file));
    }
    // Hunks may have been written one after the other, each on the last result.
    let mut running = text.to_vec();
    let mut placed = Vec::new();
    let mut from = 0;
    for hunk in &file.hunks {
        match place(&File::new(&running, &file.hunks), hunk, from, 0, options, &work) {
            Ok((splice, at)) => {
                // The next one may begin with the lines that this one ends with.
                let shared = hunk.lines.iter().rev().take_while(|line| line.mark == Mark::Context);
                from = at.end_after(&splice).saturating_sub(shared.count());
                running = edit::spliced(&running, &[splice]);
                placed.push(at.placed);
            }
            Err(_) => return Err(report(file, &together)),
        }
    }
    Ok(patched(running, placed, file))
}

fn patched(bytes: Vec<u8>, hunks: Vec<AppliedHunk>, file: &FilePatch) -> PatchedFile {
    let count = |mark| {
        file.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.mark == mark).count()
            as u64
    };
    PatchedFile { bytes, hunks, added: count(Mark::Added), removed: count(Mark::Removed) }
}

/// A hunk with its splice and its place, or why there is none.
pub(super) type Attempt = std::result::Result<(Splice, HunkLocation), HunkMismatch>;

/// Places every hunk on the same text, in order.
fn attempt_all(text: &[u8], hunks: &[Hunk], options: Options, work: &Budget) -> Vec<Attempt> {
    let file = File::new(text, hunks);
    let (mut from, mut shift) = (0, 0);
    hunks
        .iter()
        .map(|hunk| {
            let made = place(&file, hunk, from, shift, options, work);
            if let Ok((_, at)) = &made {
                from = at.end;
                shift = at.placed.offset;
            }
            made
        })
        .collect()
}

fn all_placed(attempts: &[Attempt]) -> Option<(Vec<Splice>, Vec<AppliedHunk>)> {
    attempts
        .iter()
        .map(|attempt| {
            attempt.as_ref().ok().map(|(splice, at)| (splice.clone(), at.placed.clone()))
        })
        .collect::<Option<Vec<_>>>()
        .map(|placed| placed.into_iter().unzip())
}
