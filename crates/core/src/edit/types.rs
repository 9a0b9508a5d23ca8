//! What an edit is given, and what it answers.

use super::line_anchors::Anchors;
use crate::diff::Unified;
use crate::diff::unified::Limits;
use crate::encoding::Encoding;

/// One replacement. The texts are UTF-8 with any line ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edit {
    /// The text to replace; not empty, unless lines are named.
    pub old: String,
    /// The lines to replace, instead of a text.
    pub anchors: Option<Anchors>,
    /// The text to put there.
    pub new: String,
    /// Replace every occurrence.
    pub replace_all: bool,
    /// Replace exactly this many occurrences, or refuse.
    pub expected: Option<u64>,
    /// Of several occurrences, take the one nearest to this line (1-based).
    pub near_line: Option<u64>,
}

/// How loosely text may match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strictness {
    /// The bytes, line ends folded.
    Exact,
    /// Also differences of white space.
    #[default]
    Whitespace,
    /// Also small differences of wording.
    Fuzzy,
}

/// What to do where an edit fits in several places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMultiple {
    /// Refuse, naming the lines.
    #[default]
    Error,
    /// Take the first place.
    First,
}

/// How a list of edits is applied.
#[derive(Clone, Debug)]
pub struct Options {
    /// The loosest way of matching allowed.
    pub strictness: Strictness,
    /// What to do where an edit fits in several places.
    pub on_multiple: OnMultiple,
    /// The path as shown in messages and in the diff.
    pub label: String,
    /// The file's encoding. Edits are UTF-8 in any case.
    pub encoding: Encoding,
    /// Cuts of the diff for display.
    pub limits: Limits,
    /// The least share of a fuzzy old text that must be found, 0 to 1. It can
    /// only raise what the matcher asks for itself.
    pub threshold: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            strictness: Strictness::default(),
            on_multiple: OnMultiple::default(),
            label: String::new(),
            encoding: Encoding::UTF_8,
            limits: Limits::default(),
            threshold: 0.0,
        }
    }
}

/// How an edit was matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// The bytes, line ends folded.
    Exact,
    /// Differences of white space.
    Whitespace,
    /// Small differences of wording.
    Fuzzy,
}

impl Tier {
    /// `exact`, `whitespace` or `fuzzy`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Whitespace => "whitespace",
            Self::Fuzzy => "fuzzy",
        }
    }

    /// Whether this tier is allowed.
    pub(super) const fn fits(self, strictness: Strictness) -> bool {
        self as u8 <= strictness as u8
    }
}

/// What became of one edit. Lines are those of the text it was applied to,
/// 1-based, from the first replaced line to the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// In how many places the old text was found; more than were replaced where
    /// one of them was chosen.
    pub matches: u64,
    /// How they were found.
    pub tier: Tier,
    /// The first replaced line.
    pub start_line: u64,
    /// The last replaced line.
    pub end_line: u64,
    /// How much of the old text was found, 0 to 1.
    pub score: f64,
    /// What had to be undone in the edit, such as `line numbers`.
    pub repairs: Vec<&'static str>,
}

/// The result of [`plan`].
#[derive(Clone, Debug)]
pub struct Plan {
    /// The whole new text.
    pub bytes: Vec<u8>,
    /// How many bytes of its beginning are as they were, at least.
    pub head: usize,
    /// Replaced places of all edits together.
    pub replacements: u64,
    /// What became of each edit, in order.
    pub edits: Vec<Applied>,
    /// What changed.
    pub diff: Unified,
}
