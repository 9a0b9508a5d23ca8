//! An index in memory of contents that the caller holds: finds those that a query can match.
//!
//! The caller owns the contents and adds new ones; this index stores only the grams of their
//! blocks. The caller still searches every candidate, so a false candidate costs only time, and the
//! index never leaves out a content with a match.

use super::{
    Block, BlockIndex, ContentClass, GramExtractor, GramQuery, IndexUnit, Query, QueryOptions,
    classify_content, split_into_index_units,
};
use crate::options::Options;

/// Finds the contents that can match a query, by their grams.
#[derive(Debug, Default)]
pub struct MemoryIndex {
    block_index: BlockIndex,
    extractor: GramExtractor,
    owners: u32,
}

impl MemoryIndex {
    /// Indexes a content. Returns its number, counted from 0 and never reused, or the reason why it
    /// gets none.
    pub fn sign(&mut self, content: &[u8]) -> IndexingResult {
        let (how, text) = classify_content(content);
        match how {
            ContentClass::Always => return IndexingResult::Always,
            ContentClass::Binary => return IndexingResult::Binary,
            // The offsets of blocks are not used here, but they must fit 32 bits.
            _ if u32::try_from(text.len()).is_err() || self.owners == u32::MAX => {
                return IndexingResult::Always;
            }
            _ => {}
        }
        let owner = self.owners;
        self.owners += 1;
        for IndexUnit { block, chunk, bytes } in split_into_index_units(text) {
            self.block_index.push(self.extractor.grams(bytes), Block { owner, ..block }, chunk);
        }
        IndexingResult::Text(owner)
    }

    /// Returns the contents that can match, one bit for each number; `None` means all.
    pub fn candidates(&self, query: &Query) -> Option<Vec<u64>> {
        self.block_index.owners(query.plan(), self.owners as usize)
    }

    /// Does the same as [`Self::candidates`] for the options of a query of one pattern, which is
    /// only parsed: compiling takes many times as long. Returns `None` for invalid options too.
    pub fn candidates_of(&self, options: &Options) -> Option<Vec<u64>> {
        let plan = GramQuery::of(&QueryOptions::read(options).ok()?);
        self.block_index.owners(&plan, self.owners as usize)
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.block_index.bytes()
    }
}

/// The result of indexing a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexingResult {
    /// The content has this number.
    Text(u32),
    /// The content is binary: no query matches in it.
    Binary,
    /// Every query must read the content.
    Always,
}

impl IndexingResult {
    /// Returns the result for JavaScript: the number of the content, -1 for binary, or -2 for
    /// always.
    pub fn code(self) -> i64 {
        match self {
            IndexingResult::Text(owner) => i64::from(owner),
            IndexingResult::Binary => -1,
            IndexingResult::Always => -2,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use proptest::prelude::*;

    use super::*;
    use crate::search::{Case, SearchLimits};

    fn query(pattern: &str, multiline: bool) -> Option<Query> {
        let case = Case::Sensitive;
        Query::new(&QueryOptions { pattern, regex: true, case, word: false, multiline }).ok()
    }

    fn hits(query: &Query, content: &[u8]) -> u64 {
        let limits = SearchLimits::default();
        query.search(content, &limits, &|| false, &mut |_| ControlFlow::Continue(())).hits
    }

    #[test]
    fn contents_are_left_out_that_cannot_match() {
        let mut held = MemoryIndex::default();
        let numbers =
            ["a needle", "a haystack", "é\u{feff}", ""].map(|text| held.sign(text.as_bytes()));
        assert_eq!(numbers, [0, 1, 2, 3].map(IndexingResult::Text));
        assert_eq!(held.sign(b"\0"), IndexingResult::Binary);
        assert_eq!(held.sign(b"\xff\xfea\0"), IndexingResult::Always);
        let query = query("needle", false).unwrap();
        assert_eq!(held.candidates(&query), Some(vec![1]));
        let unbuilt = |json: &str| held.candidates_of(&Options::parse(json).unwrap());
        assert_eq!(unbuilt(r#"{"pattern":"needle"}"#), Some(vec![1]));
        assert_eq!(unbuilt(r#"{"pattern":"(needle"}"#), None);
        assert_eq!(unbuilt("{}"), None);
        assert!(held.bytes() > 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_match_is_a_candidate(
            contents in prop::collection::vec("[abc \n]{0,60}", 1..20),
            pattern in "[abc]{1,4}(\n|[bc ])?[abc]{0,3}",
            multiline: bool,
        ) {
            let mut held = MemoryIndex::default();
            let signed: Vec<IndexingResult> = contents.iter().map(|text| held.sign(text.as_bytes())).collect();
            let Some(query) = query(&pattern, multiline) else { return Ok(()) };
            let candidates = held.candidates(&query);
            for (content, sign) in contents.iter().zip(signed) {
                let IndexingResult::Text(owner) = sign else { continue };
                let named = candidates.as_ref().is_none_or(|bits| bits[owner as usize / 64] >> (owner & 63) & 1 == 1);
                prop_assert!(named || hits(&query, content.as_bytes()) == 0, "{pattern:?} in {content:?}");
            }
        }
    }
}
