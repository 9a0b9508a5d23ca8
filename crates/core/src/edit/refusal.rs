//! Why an edit was refused.
//!
//! A refusal is worth as much as the next attempt that it makes succeed: the
//! reasons are here, their sentences in [`super::report`], what to send instead
//! in [`super::candidates`]. All of it stays below 2 KB.

use std::ops::Range;

use super::alignment::Step;
use super::candidates::NoMatch;
use super::merge::Conflict;
use super::needle::Needle;
use super::report::Report;
use super::{Edit, Match, Options, Strictness};
use crate::error::Error;
use crate::path::escape_controls;

/// Why an edit was not made. Lines are 1-based unless a range.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Refusal {
    /// There is nothing to look for.
    EmptyOld,
    /// Old and new text are the same.
    SameText,
    /// All edits together change nothing.
    Unchanged,
    /// The old text is nowhere.
    NotFound,
    /// What the edit would make is there already.
    AlreadyApplied,
    /// The old text would be there, but this line of it reads otherwise.
    Different { file: Range<usize>, sent: Vec<u8>, there: Option<usize> },
    /// This line of the file stands amid what is replaced, unmentioned.
    Unmentioned { line: u64 },
    /// The old text leaves lines out with `...` where the new text does not.
    Elided,
    /// The text or the file is too large to go on looking.
    TooLarge,
    /// The edits are too many, or too much to write, for one call.
    TooMuch,
    /// It is there, but only by a way of matching that is not allowed.
    TooLoose(Match),
    /// The old text is at each of these lines; `alike` where it is only like them.
    NotUnique { lines: Vec<u64>, alike: bool },
    /// The old text is at these lines, and another number was expected.
    Count { expected: u64, lines: Vec<u64> },
}

impl Refusal {
    /// What a miss means for the old text that was looked for.
    pub(super) fn of(miss: NoMatch, needle: &Needle<'_>) -> Self {
        match miss {
            NoMatch::Nowhere => Self::NotFound,
            NoMatch::TooLarge => Self::TooLarge,
            NoMatch::Several(places) => {
                let mut lines: Vec<u64> =
                    places.iter().map(super::candidates::Candidate::line).collect();
                lines.sort_unstable();
                Self::NotUnique { lines, alike: true }
            }
            NoMatch::Different { place, line } => {
                let there = place.alignment.steps.iter().find_map(|step| match step {
                    Step::Pair { old, file, .. } if old.contains(&line) => Some(file.start),
                    _ => None,
                });
                let sent = needle.lines[line].text.to_vec();
                Self::Different { file: place.alignment.file, sent, there }
            }
        }
    }

    /// Whether it is for being in several places.
    pub(super) fn is_ambiguous(&self) -> bool {
        matches!(self, Self::NotUnique { .. } | Self::Count { .. })
    }

    /// What remains of a reason where no loose match would be allowed anyway.
    pub(super) fn under(self, strictness: Strictness) -> Self {
        match self {
            Self::NotUnique { alike, .. } if alike && strictness < Strictness::Fuzzy => {
                Self::NotFound
            }
            Self::NotUnique { .. } | Self::Count { .. } if strictness == Strictness::Exact => {
                Self::NotFound
            }
            refusal => refusal,
        }
    }

    /// The error that a caller sees, for the edit at `index` (0-based) of `total`.
    pub(super) fn into_error(
        self,
        text: &[u8],
        edit: &Edit,
        options: &Options,
        index: usize,
        total: usize,
    ) -> Error {
        let what = match total {
            0 | 1 => "old_text".to_owned(),
            _ => format!("old_text of edits[{index}]"),
        };
        let path = escape_controls(&options.label);
        Report { text, edit, what: &what, path: &path }.error(self).detail("edit_index", index)
    }
}

impl From<Conflict> for Refusal {
    fn from(Conflict::Unmentioned(line): Conflict) -> Self {
        Self::Unmentioned { line: line as u64 + 1 }
    }
}
