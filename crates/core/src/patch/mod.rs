//! Patches: reading them in every form that people and models write, and
//! applying them, all files or none.
//!
//! - [`parse`]: unified diffs, git's extended headers, and the `*** Begin Patch`
//!   envelope (V4A). Line counts are taken from the body where the header is
//!   wrong; prose and fences around a patch are passed over.
//! - [`apply`]: each hunk goes where its lines stand, or is refused: with the
//!   lines that differ, or with the lines where it would fit equally well. A
//!   hunk that is already there is refused as such; nothing is a silent no-op.
//! - [`set`]: a whole patch over a set of files.
//! - [`reverse`]: the patch that undoes a patch.
//!
//! Pure: file contents come in and go out as bytes. Whoever calls decides which
//! paths may be touched; a path is only ever the text that the patch has.

pub mod apply;
mod file;
mod headers;
mod locate;
mod mismatch;
mod pack;
mod parse;
mod quoted;
mod reverse;
pub mod set;
mod v4a;

pub use pack::{PatchedFiles, apply_packed, parse_packed};
pub use parse::parse;
pub use reverse::reverse;

/// A patch as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// The files, in the order of the patch. One may be named more than once.
    pub files: Vec<FilePatch>,
    /// What was wrong with the patch and could be mended.
    pub warnings: Vec<String>,
}

/// What a patch does with a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operation {
    /// Changes it.
    #[default]
    Update,
    /// Makes it.
    Create,
    /// Removes it.
    Delete,
    /// Gives it another name, and may change it.
    Rename,
    /// Makes another of it, and may change that.
    Copy,
}

impl Operation {
    /// `update`, `create`, `delete`, `rename` or `copy`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Update => "update",
            Self::Create => "create",
            Self::Delete => "delete",
            Self::Rename => "rename",
            Self::Copy => "copy",
        }
    }
}

/// The part of a patch about one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePatch {
    /// The file's name before; `None` where there was none, or the patch does
    /// not say.
    pub old: Option<String>,
    /// The file's name after; likewise.
    pub new: Option<String>,
    /// What is done.
    pub operation: Operation,
    /// Permission bits and kind after, in git's octal form (`0o100644`), where told.
    pub mode: Option<u32>,
    /// Permission bits and kind before, likewise.
    pub old_mode: Option<u32>,
    /// Whether the content is binary, which cannot be applied.
    pub binary: bool,
    /// Whether the removed content is not in the patch and need not match.
    pub unchecked: bool,
    /// The changes.
    pub hunks: Vec<Hunk>,
    /// The line of the patch (1-based) at which this file begins.
    pub line: usize,
}

impl FilePatch {
    /// The name to speak of: the one after, else the one before.
    pub fn name(&self) -> Option<&str> {
        self.new.as_deref().or(self.old.as_deref())
    }
}

/// One change with its surroundings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The first line before (1-based), as the header has it; an empty side
    /// names the line before it. `None` where the header has no numbers.
    pub old_start: Option<u64>,
    /// The first line after, likewise.
    pub new_start: Option<u64>,
    /// Lines that stand before the hunk, outermost first (`@@ class A`).
    pub anchors: Vec<String>,
    /// Whether the hunk ends where the file ends.
    pub at_end: bool,
    /// The lines.
    pub lines: Vec<PatchLine>,
    /// The line of the patch (1-based) at which the hunk begins.
    pub line: usize,
}

/// What a line of a hunk says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The line is there and stays.
    Context,
    /// The line is there and goes.
    Removed,
    /// The line comes.
    Added,
}

impl Mark {
    /// The mark's character in a unified diff.
    pub const fn as_char(self) -> char {
        match self {
            Self::Context => ' ',
            Self::Removed => '-',
            Self::Added => '+',
        }
    }
}

/// One line of a hunk, without mark and LF; a CR before the LF is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchLine {
    /// What it says.
    pub mark: Mark,
    /// The line.
    pub text: String,
    /// Whether `\ No newline at end of file` follows it.
    pub open: bool,
}

impl Hunk {
    /// The lines before the change.
    pub fn before(&self) -> impl Iterator<Item = &PatchLine> {
        self.lines.iter().filter(|line| line.mark != Mark::Added)
    }

    /// The lines after the change.
    pub fn after(&self) -> impl Iterator<Item = &PatchLine> {
        self.lines.iter().filter(|line| line.mark != Mark::Removed)
    }
}

#[cfg(test)]
mod tests;
