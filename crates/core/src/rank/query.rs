//! The terms of a query.

use super::tokens::{EveryWord, Heads, Term, Tokenizer, hash, parts_of, stem_of, stemmed};
use super::vocabulary::{DOCUMENT_WORDS, OTHER_WORDS, STOP_WORDS, TASK_WORDS};
use super::weights::Weights;
use crate::error::Result;
use crate::options::{Options, invalid};

/// The maximum length of a query in bytes; a longer one is refused.
pub const MAX_QUERY_BYTES: usize = 1000;
/// The maximum number of terms of a query; further words are ignored.
const MAX_TERMS: usize = 64;

/// The blocks that a query asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Every block.
    #[default]
    Any,
    /// Blocks that define a symbol of the query.
    Definition,
    /// Blocks of tests.
    Test,
}

/// A term of a query.
#[derive(Clone, Copy, Debug)]
pub struct QueryTerm {
    pub(super) term: Term,
    pub(super) weight: f64,
    /// The index of the term that code may write as this one, and than which it is no rarer.
    pub(super) instead_of: Option<usize>,
}

/// A parsed query.
#[derive(Clone, Debug)]
pub struct RankQuery {
    pub(super) terms: Vec<QueryTerm>,
    /// How the identifiers with the terms, and with the symbols, begin.
    pub(super) heads: Heads,
    /// The words themselves without their endings, each with the index of its term.
    pub(super) words: Vec<(String, usize)>,
    /// The identifiers that the query names as symbols: those of several parts, and every one with
    /// [`Kind::Definition`] or in a query without a space.
    pub(super) symbols: Vec<Term>,
    /// The hashes of all identifiers as written.
    pub(super) spellings: Vec<Term>,
    /// True if the query is a symbol and not a sentence: it has no space.
    pub(super) is_symbol: bool,
    pub(super) kind: Kind,
    /// True if the query asks for tests or examples, so that they do not count less.
    pub(super) wants_noise: bool,
    /// True if the query asks for documents.
    pub(super) wants_documents: bool,
    pub(super) weights: Weights,
}

impl RankQuery {
    /// Parses `query` and `kind` (`any`, `definition`, `test`).
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a query without a word, or a too long one.
    pub fn read(options: &Options) -> Result<Self> {
        let text = options.text("query")?.unwrap_or_default();
        if text.len() > MAX_QUERY_BYTES {
            return Err(invalid("query", "query is longer than 1000 bytes"));
        }
        let kind = match options.choice("kind", &["any", "definition", "test"])? {
            0 => Kind::Any,
            1 => Kind::Definition,
            _ => Kind::Test,
        };
        let query = Self::new(text, kind, Weights::TUNED);
        if query.terms.is_empty() {
            return Err(invalid("query", "query has no word to search for"));
        }
        Ok(query)
    }

    /// Parses a text with the given weights.
    pub fn new(text: &str, kind: Kind, weights: Weights) -> Self {
        let mut query = Self {
            terms: Vec::new(),
            heads: Heads::default(),
            words: Vec::new(),
            symbols: Vec::new(),
            spellings: Vec::new(),
            is_symbol: !text.trim().contains(char::is_whitespace),
            kind,
            wants_noise: kind == Kind::Test,
            wants_documents: false,
            weights,
        };
        for every_word in [false, true] {
            // A query of nothing but stop words is about these.
            if every_word && !query.terms.is_empty() {
                break;
            }
            for identifier in identifiers(text) {
                query.add_identifier(identifier, every_word);
            }
        }
        query.add_pairs(text);
        query
    }

    /// Returns the blocks that it asks for.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    fn add_identifier(&mut self, identifier: &str, every_word: bool) {
        let parts = parts_of(identifier);
        for part in &parts {
            self.wants_noise |= matches!(&part[..], "test" | "tests" | "example" | "examples");
            self.wants_documents |= DOCUMENT_WORDS.contains(&&part[..]);
            if every_word || part.len() > 1 && !STOP_WORDS.contains(&&part[..]) {
                self.add_word(part);
            }
        }
        let mut letters = Vec::new();
        Tokenizer::default().words(identifier.as_bytes(), &EveryWord, |word, _| {
            letters = word.unwrap_or_default().to_vec();
        });
        if letters.is_empty() {
            return;
        }
        if parts.len() > 1 {
            self.add(&letters, 1.0, None);
        }
        let whole = hash(&letters);
        self.spellings.push(hash(identifier.as_bytes()));
        if parts.len() > 1 || self.is_symbol || self.kind == Kind::Definition {
            self.heads.add(&letters);
            self.symbols.push(whole);
        }
    }

    fn add_word(&mut self, word: &str) {
        let stem = stem_of(word);
        let weight = if TASK_WORDS.contains(&word) { self.weights.task_word } else { 1.0 };
        let Some(at) = self.add(&stem, weight, None) else { return };
        for (_, others) in OTHER_WORDS.iter().filter(|(known, _)| stem_of(known) == stem) {
            for other in *others {
                self.add(&stem_of(other), self.weights.other_word, Some(at));
            }
        }
        self.words.push((stemmed(word), at));
    }

    /// Adds each two words in sequence as one identifier: code has `PageCache` or `page_cache` for a
    /// page cache.
    fn add_pairs(&mut self, text: &str) {
        let words: Vec<String> = identifiers(text).flat_map(parts_of).collect();
        for pair in words.windows(2) {
            let is_said = |word: &String| !STOP_WORDS.contains(&&word[..]);
            let last = self.terms.iter().position(|known| known.term == hash(&stem_of(&pair[1])));
            if pair.iter().all(is_said) && last.is_some() {
                self.add(&stem_of(&pair.concat()), self.weights.pair, last);
            }
        }
    }

    /// Adds the term of a word without its ending, or its weight if it is repeated. Returns the index of a
    /// new one.
    fn add(&mut self, stem: &[u8], weight: f64, instead_of: Option<usize>) -> Option<usize> {
        let term = hash(stem);
        if let Some(known) = self.terms.iter_mut().find(|known| known.term == term) {
            known.weight += if instead_of.is_none() { weight } else { 0.0 };
            return None;
        }
        if self.terms.len() == MAX_TERMS {
            return None;
        }
        self.heads.add(stem);
        self.terms.push(QueryTerm { term, weight, instead_of });
        Some(self.terms.len() - 1)
    }

    /// Reports whether a term is one of the query.
    pub(super) fn has(&self, term: Term) -> bool {
        self.terms.iter().any(|known| known.term == term)
    }
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_ascii() && !(c.is_ascii_alphanumeric() || c == '_' || c == '$'))
}
