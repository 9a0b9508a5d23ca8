//! Patches: parses the formats that people and models write, and applies them to all files or none.
//!
//! - [`parse()`]: unified diffs, git's extended headers, and the `*** Begin Patch` envelope (V4A).
//!   Line counts come from the body if the header is wrong; prose and fences around a patch are
//!   skipped.
//! - [`apply`]: applies each hunk where its lines are, or refuses it with the lines that differ
//!   or with the lines where it matches equally well. A hunk that is already applied is refused
//!   too, so that nothing is a silent no-op.
//! - [`compose`]: returns a file after some of the hunks of a change.
//! - [`set`]: applies a whole patch to a set of files.
//! - [`reverse()`]: returns the patch that undoes a patch.
//!
//! This module does no I/O: file contents are passed in and out as bytes. The caller decides which
//! paths may be changed; a path is only the text in the patch.

mod anchors;
pub mod apply;
mod attempt;
pub mod compose;
mod file;
mod headers;
mod json;
mod locate;
mod mismatch;
mod parse;
mod quoted;
mod request;
mod retry;
mod reverse;
pub mod set;
mod unmarked;
mod v4a;

pub use parse::parse;
pub use request::{Contents, PatchRequest, PatchedFiles};
pub use reverse::reverse;

/// A parsed patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// The files, in the order of the patch. A file may occur more than once.
    pub files: Vec<FilePatch>,
    /// Sentences on defects of the patch that were corrected, such as wrong line counts.
    pub warnings: Vec<String>,
}

/// The operation of a patch on a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileOperation {
    /// Changes the file.
    #[default]
    Update,
    /// Creates the file.
    Create,
    /// Deletes the file.
    Delete,
    /// Renames the file, and may change it.
    Rename,
    /// Copies the file, and may change the copy.
    Copy,
}

impl FileOperation {
    /// Returns `update`, `create`, `delete`, `rename` or `copy`.
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

/// The part of a patch that concerns one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePatch {
    /// The old name of the file; `None` if there was none, or if the patch does not say.
    pub old: Option<String>,
    /// The new name of the file; `None` if there is none, or if the patch does not say.
    pub new: Option<String>,
    /// The operation of the patch on the file.
    pub operation: FileOperation,
    /// The new mode, in git's octal form (`0o100644`), if the patch has it.
    pub mode: Option<u32>,
    /// The old mode, in git's octal form, if the patch has it.
    pub old_mode: Option<u32>,
    /// True if the content is binary; such a part cannot be applied.
    pub binary: bool,
    /// True if the patch deletes the file without its content, so that the content need not match.
    pub unchecked: bool,
    /// The hunks, in the order of the patch.
    pub hunks: Vec<Hunk>,
    /// The line of the patch (1-based) at which this file begins.
    pub line: usize,
}

impl FilePatch {
    /// Returns the file name for messages: the new name, otherwise the old one.
    pub fn name(&self) -> Option<&str> {
        self.new.as_deref().or(self.old.as_deref())
    }
}

/// A hunk: one change with its context lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The first old line (1-based) in the header; for an empty side, the line before it. `None` if
    /// the header has no numbers.
    pub old_start: Option<u64>,
    /// The first new line (1-based) in the header; for an empty side, the line before it. `None` if
    /// the header has no numbers.
    pub new_start: Option<u64>,
    /// Lines that precede the hunk in the file, outermost first (`@@ class A`).
    pub anchors: Vec<String>,
    /// True if the hunk must be at the end of the file.
    pub at_end: bool,
    /// The lines of the hunk.
    pub lines: Vec<PatchLine>,
    /// The line of the patch (1-based) at which the hunk begins.
    pub line: usize,
}

/// Says whether a hunk keeps, removes or adds a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineMark {
    /// The hunk keeps the line of the file.
    Context,
    /// The hunk removes the line of the file.
    Removed,
    /// The line is added.
    Added,
}

impl LineMark {
    /// Returns the mark's character in a unified diff.
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
    /// Says whether the hunk keeps, removes or adds the line.
    pub mark: LineMark,
    /// The text of the line.
    pub text: String,
    /// True if `\ No newline at end of file` follows the line, that is, it ends the file without a
    /// line ending.
    pub open: bool,
}

impl Hunk {
    /// Returns the lines of the file that the hunk replaces: context and removed lines.
    pub fn before(&self) -> impl Iterator<Item = &PatchLine> {
        self.lines.iter().filter(|line| line.mark != LineMark::Added)
    }

    /// Returns the lines that the hunk leaves: context and added lines.
    pub fn after(&self) -> impl Iterator<Item = &PatchLine> {
        self.lines.iter().filter(|line| line.mark != LineMark::Removed)
    }
}

#[cfg(test)]
mod tests;
