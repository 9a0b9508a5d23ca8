//! The reasons why an edit was refused.
//!
//! A refusal should make the next attempt succeed: this module has the reasons, [`super::report`]
//! their messages, and [`super::suggestions`] the lines of the file. A refusal is at most 2,048
//! bytes of JSON ([`super::truncate`]), without the edit to send instead
//! ([`retry`](crate::edit::correcting::retry)).

use std::ops::Range;

use crate::edit::applying::merge::Conflict;
use crate::edit::matching::alignment::AlignmentStep;
use crate::edit::matching::candidates::NoMatch;
use crate::edit::matching::needle::Needle;
use crate::edit::{OldTextMatch, Strictness};

/// The reason why an edit was not applied. `line` and `lines` are 1-based; `file` and `there` are
/// 0-based.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::edit) enum Refusal {
    /// The old text is empty.
    EmptyOld,
    /// Old and new text are equal.
    SameText,
    /// All edits together change nothing.
    Unchanged,
    /// The old text does not occur.
    NotFound,
    /// The new text is in the file already, at the position of the edit.
    AlreadyApplied,
    /// The old text matches the lines `file` except for its line `sent`. `there` is the file's line
    /// in that place, if there is one.
    Different { file: Range<usize>, sent: Vec<u8>, there: Option<usize> },
    /// The file's line `line` is between replaced lines, and the old text does not have it.
    Unmentioned { line: u64 },
    /// The old text leaves lines out with `...` and the new text does not leave out the same ones.
    Elided,
    /// A search for similar lines would exceed the budget of the call.
    TooLarge,
    /// The call exceeds its budget with exact matches alone, or would write too much.
    TooMuch,
    /// The old text matches only in a tier that the edit's strictness excludes.
    TooLoose(OldTextMatch),
    /// The old text matches at each of these lines; `alike` if it is only similar to them.
    NotUnique { lines: Vec<u64>, alike: bool },
    /// The old text matches at these lines, but the edit expected another number of matches.
    WrongCount { expected: u64, lines: Vec<u64> },
}

impl Refusal {
    /// Returns the refusal for a failed search of the old text.
    pub(in crate::edit) fn of(miss: NoMatch, needle: &Needle<'_>) -> Self {
        match miss {
            NoMatch::Nowhere => Self::NotFound,
            NoMatch::TooLarge => Self::TooLarge,
            NoMatch::Several(places) => {
                let mut lines: Vec<u64> =
                    places.iter().map(crate::edit::matching::candidates::Candidate::line).collect();
                lines.sort_unstable();
                Self::NotUnique { lines, alike: true }
            }
            NoMatch::Different { place, line } => {
                let there = place.alignment.steps.iter().find_map(|step| match step {
                    AlignmentStep::Pair { old, file, .. } if old.contains(&line) => {
                        Some(file.start)
                    }
                    _ => None,
                });
                let sent = needle.lines[line].text.to_vec();
                Self::Different { file: place.alignment.file, sent, there }
            }
        }
    }

    /// Returns true if the edit was refused for the number of its matches.
    pub(in crate::edit) fn is_ambiguous(&self) -> bool {
        matches!(self, Self::NotUnique { .. } | Self::WrongCount { .. })
    }

    /// Returns `NotFound` in place of an ambiguity among matches that this strictness excludes
    /// anyway.
    pub(in crate::edit) fn limited_to(self, strictness: Strictness) -> Self {
        match self {
            Self::NotUnique { alike, .. } if alike && strictness < Strictness::Fuzzy => {
                Self::NotFound
            }
            Self::NotUnique { .. } | Self::WrongCount { .. } if strictness == Strictness::Exact => {
                Self::NotFound
            }
            refusal => refusal,
        }
    }
}

impl From<Conflict> for Refusal {
    fn from(Conflict::Unmentioned(line): Conflict) -> Self {
        Self::Unmentioned { line: line as u64 + 1 }
    }
}
