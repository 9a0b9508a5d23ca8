//! Finds matches of a pattern in a text: with an automaton or, for a plain text, with a byte
//! search, which needs no compilation.

use std::ops::Range;
use std::sync::Arc;

use grep_matcher::{LineMatchKind, Matcher};
use grep_regex::RegexMatcher;
use memchr::memmem::Finder;

/// A compiled pattern. Each thread clones it to have its own working memory.
#[derive(Clone, Debug)]
pub(super) enum MatchEngine {
    Regex(RegexMatcher),
    Text(Arc<Finder<'static>>),
}

impl MatchEngine {
    /// Creates an engine that searches for a plain text.
    pub fn of_text(text: &str) -> Self {
        Self::Text(Arc::new(Finder::new(text).into_owned()))
    }

    /// Returns the byte range of the first match.
    pub fn find(&self, text: &[u8]) -> Option<Range<usize>> {
        self.find_at(text, 0)
    }

    /// Returns the byte range of the first match that begins at or after a byte offset.
    pub fn find_at(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        match self {
            // The matcher cannot fail: its error type is uninhabited.
            Self::Regex(matcher) => {
                let found = matcher.find_at(text, at).ok()??;
                Some(found.start()..found.end())
            }
            Self::Text(finder) => {
                let start = at + finder.find(text.get(at..)?)?;
                Some(start..start + finder.needle().len())
            }
        }
    }

    /// Returns true if there is a match.
    pub fn is_match(&self, text: &[u8]) -> bool {
        match self {
            Self::Regex(matcher) => matcher.is_match(text).unwrap_or(false),
            Self::Text(finder) => finder.find(text).is_some(),
        }
    }

    /// Returns the matcher that finds lines which may match, if that is faster than searching for
    /// matches; `None` for a plain text.
    pub fn line_matcher(&self) -> Option<&RegexMatcher> {
        match self {
            Self::Regex(matcher) => Some(matcher),
            Self::Text(_) => None,
        }
    }
}

/// Returns an offset in the first line of a text that matches, or may match.
pub(super) fn first_candidate_line(matcher: &RegexMatcher, text: &[u8]) -> Option<LineMatchKind> {
    matcher.find_candidate_line(text).ok()?
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use proptest::prelude::*;

    use crate::search::{Case, Query, QueryOptions, SearchLimits};

    /// Returns the matches of a pattern as lines and columns.
    fn hits(options: &QueryOptions<'_>, text: &str) -> Vec<(u64, u64, String)> {
        let mut found = Vec::new();
        Query::new(options).unwrap().search(
            text.as_bytes(),
            &SearchLimits::default(),
            &|| false,
            &mut |hit| {
                found.push((hit.line, hit.column, hit.text.text.to_string()));
                ControlFlow::Continue(())
            },
        );
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// A plain text search finds the same matches as the automaton for the same text.
        #[test]
        fn a_text_has_the_hits_of_its_expression(
            pattern in "[ab\u{e9} .*]{1,3}\r?",
            text in "[ab\u{e9} .*\r\n]{0,60}",
            multiline: bool,
        ) {
            let plain = QueryOptions {
                pattern: &pattern, regex: false, case: Case::Sensitive, word: false, multiline,
            };
            prop_assert!(plain.is_text());
            // The group prevents the plain text path.
            let grouped = format!("({})", regex_syntax::escape(&pattern));
            let expression = QueryOptions { pattern: &grouped, regex: true, ..plain.clone() };
            prop_assert!(!expression.is_text());
            prop_assert_eq!(hits(&plain, &text), hits(&expression, &text));
        }
    }
}
