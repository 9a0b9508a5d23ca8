//! The pattern and the options of a search.

use std::sync::Arc;

use crate::error::Result;
use crate::options::{Options, invalid};

/// The maximum nesting depth of groups in a pattern; deeper ones are refused.
pub(super) const MAX_GROUP_NESTING: u32 = 250;

/// Says whether letter case matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// `a` does not match `A`.
    #[default]
    Sensitive,
    /// `a` matches `A`, by Unicode simple case folding.
    Insensitive,
    /// Letter case matters only if the pattern contains an upper-case letter.
    Smart,
}

/// The pattern and the options of a query.
#[derive(Clone, Debug)]
pub struct QueryOptions<'a> {
    /// The pattern; not empty.
    pub pattern: &'a str,
    /// True if the pattern is a regular expression; otherwise it is plain text.
    pub regex: bool,
    /// Says whether letter case matters.
    pub case: Case,
    /// True if only whole words match.
    pub word: bool,
    /// True if a match may contain line endings.
    pub multiline: bool,
}

impl<'a> QueryOptions<'a> {
    /// Parses `pattern`, `regex`, `case`, `word` and `multiline`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` naming the option.
    pub fn read(options: &'a Options) -> Result<Self> {
        let pattern = options.text("pattern")?;
        Self::of(options, pattern.ok_or_else(|| invalid("pattern", "pattern is missing"))?)
    }

    /// Returns true if every match is the pattern itself, byte for byte.
    pub(super) fn is_text(&self) -> bool {
        self.case == Case::Sensitive
            && !(self.regex && self.pattern.contains(regex_syntax::is_meta_character))
    }

    /// Returns a text that is equal only for equal options.
    pub(super) fn key(&self) -> Arc<str> {
        let Self { pattern, regex, case, word, multiline } = self;
        format!("{regex} {case:?} {word} {multiline} {pattern}").into()
    }

    pub(super) fn of(options: &'a Options, pattern: &'a str) -> Result<Self> {
        Ok(Self {
            pattern,
            regex: options.flag("regex", true)?,
            case: match options.choice("case", &["sensitive", "insensitive", "smart"])? {
                0 => Case::Sensitive,
                1 => Case::Insensitive,
                _ => Case::Smart,
            },
            word: options.flag("word", false)?,
            multiline: options.flag("multiline", false)?,
        })
    }
}
