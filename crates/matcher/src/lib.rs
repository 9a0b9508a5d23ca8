//! The matcher of the fuzzy path search (`neo_frizbee`), compiled apart from the core.
//!
//! The crate that names the type of the paths compiles its loops: for every instruction set, number
//! of typos and alphabet, 1.2 of the 2.5 MB of machine code that the core had. Here they are
//! compiled once for the core and its tests, and beside the core.

pub use neo_frizbee::{CaseMatching, Config, Match, SortStrategy};

/// Matches paths with one query. See [`neo_frizbee::Matcher`].
#[derive(Clone, Debug)]
pub struct Matcher(neo_frizbee::Matcher);

impl Matcher {
    /// Creates a matcher for a query.
    pub fn new(query: &str, config: &Config) -> Self {
        Self(neo_frizbee::Matcher::new(query, config))
    }

    /// Returns the matches among some paths, in the order of the configuration.
    #[inline(never)]
    pub fn match_list(&mut self, paths: &[&str]) -> Vec<Match> {
        self.0.match_list(paths)
    }
}
