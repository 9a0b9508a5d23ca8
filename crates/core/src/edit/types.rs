//! The input and the result of an edit.

use super::anchored_lines::AnchoredLines;
use crate::diff::Unified;
use crate::diff::unified::DisplayLimits;
use crate::encoding::Encoding;

/// One replacement. The texts are UTF-8 with any line endings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edit {
    /// The text to replace; not empty unless `anchors` is set.
    pub old: String,
    /// The lines to replace or to insert at, instead of a text.
    pub anchors: Option<AnchoredLines>,
    /// The new text.
    pub new: String,
    /// True to replace every occurrence.
    pub replace_all: bool,
    /// The expected number of occurrences, all of which are replaced; any other number is an error.
    pub expected: Option<u64>,
    /// If the text occurs several times, the occurrence nearest to this line (1-based) is replaced.
    pub near_line: Option<u64>,
}

/// The loosest tier in which an old text may match; stricter ones are allowed too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strictness {
    /// Equal bytes, ignoring only the kind of line endings.
    Exact,
    /// White space may differ as well.
    #[default]
    Whitespace,
    /// Words may differ a little as well, for example by a typo.
    Fuzzy,
}

/// The treatment of an edit whose old text matches at several positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMultiple {
    /// The edit is refused, with the lines of all positions.
    #[default]
    Error,
    /// Takes the first position.
    First,
}

/// The options of [`plan`](super::plan).
#[derive(Clone, Debug)]
pub struct EditOptions {
    /// The loosest tier that is allowed.
    pub strictness: Strictness,
    /// The treatment of an edit whose old text matches at several positions.
    pub on_multiple: OnMultiple,
    /// The path as shown in messages and in the diff.
    pub label: String,
    /// The encoding of the file. Edits are always UTF-8.
    pub encoding: Encoding,
    /// The limits of the printed diff.
    pub limits: DisplayLimits,
    /// The minimum fraction of an old text, 0 to 1, that a fuzzy match must find. It can only raise
    /// the matcher's own minimum.
    pub threshold: f64,
}

impl Default for EditOptions {
    fn default() -> Self {
        Self {
            strictness: Strictness::default(),
            on_multiple: OnMultiple::default(),
            label: String::new(),
            encoding: Encoding::UTF_8,
            limits: DisplayLimits::default(),
            threshold: 0.0,
        }
    }
}

crate::wire! {
    /// How loosely an old text matched, strictest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Tier {
        /// Equal bytes, ignoring only the kind of line endings.
        Exact = "exact",
        /// Differences in white space.
        Whitespace = "whitespace",
        /// Small differences in wording.
        Fuzzy = "fuzzy",
    }
}

impl Tier {
    /// Returns true if `strictness` allows this tier.
    pub(super) const fn is_allowed_by(self, strictness: Strictness) -> bool {
        self as u8 <= strictness as u8
    }
}

crate::wire! {
    /// The result of one edit. Lines are 1-based, of the text the edit was applied to.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Applied {
        /// The number of positions where the old text was found; more than were replaced if one of
        /// them was chosen.
        pub matches: u64,
        /// How loosely the old text matched.
        pub tier: Tier,
        /// The number of the first replaced line.
        pub start_line: u64,
        /// The number of the last replaced line.
        pub end_line: u64,
        /// The fraction of the old text that was found, 0 to 1.
        pub score: f64,
        /// Repairs of the edit, such as removed `line numbers`.
        pub repairs: Vec<&'static str>,
    }
}

crate::wire! {
    /// The facts about applied edits besides the new text.
    pub struct PlanFacts {
        /// The number of replaced positions of all edits together.
        pub replacements: u64,
        /// The result of each edit, in order.
        pub edits: Vec<Applied>,
        /// The diff of the whole change.
        pub diff: Unified,
    }
}

/// The result of [`plan`](super::plan).
#[derive(Clone, Debug)]
pub struct Plan {
    /// The complete new text.
    pub bytes: Vec<u8>,
    /// A lower bound of the number of unchanged bytes at the beginning.
    pub head: usize,
    /// The number of replaced positions of all edits together.
    pub replacements: u64,
    /// The result of each edit, in order.
    pub edits: Vec<Applied>,
    /// The diff of the whole change.
    pub diff: Unified,
}
