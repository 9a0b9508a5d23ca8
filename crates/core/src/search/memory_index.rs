//! An index of contents that the caller holds: which of them a query need not read.
//!
//! The caller owns the contents and says when one is new; what is kept here are the
//! grams of their blocks. A query that the index answers is still run on every
//! content that it names, so an answer can be wrong only by leaving one out, which
//! the plan of a query never does.

use super::{
    Block, BlockIndex, BlockRange, ContentClass, GramExtractor, GramQuery, Query, QueryOptions,
    cuts, signable,
};
use crate::options::Options;

/// Which held contents can match, by the grams of their blocks.
#[derive(Debug, Default)]
pub struct MemoryIndex {
    slices: BlockIndex,
    signer: GramExtractor,
    owners: u32,
}

impl MemoryIndex {
    /// Remembers a content. `None`: every query has to read it. Otherwise its number,
    /// from 0; numbers are never used again.
    pub fn sign(&mut self, content: &[u8]) -> Indexed {
        let (how, text) = signable(content);
        match how {
            ContentClass::Always => return Indexed::Always,
            ContentClass::Binary => return Indexed::Binary,
            // Positions of blocks are not looked at, but the numbers must fit.
            _ if u32::try_from(text.len()).is_err() || self.owners == u32::MAX => {
                return Indexed::Always;
            }
            _ => {}
        }
        let owner = self.owners;
        self.owners += 1;
        for BlockRange { block, stretch, bytes } in cuts(text) {
            self.slices.push(self.signer.grams(bytes), Block { owner, ..block }, stretch);
        }
        Indexed::Text(owner)
    }

    /// The numbers of the contents that can match, as one bit each; `None` is all.
    pub fn candidates(&self, query: &Query) -> Option<Vec<u64>> {
        self.slices.owners(query.plan(), self.owners as usize)
    }

    /// The same for a query of one pattern that is compiled elsewhere, from its
    /// options: to parse it takes a fraction of what compiling does. `None` also
    /// for options that no query is made of.
    pub fn candidates_of(&self, options: &Options) -> Option<Vec<u64>> {
        let plan = GramQuery::of(&QueryOptions::read(options).ok()?);
        self.slices.owners(&plan, self.owners as usize)
    }

    /// The memory in use, in bytes.
    pub fn bytes(&self) -> usize {
        self.slices.bytes()
    }
}

/// What became of a content that was to be signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexed {
    /// It is known by this number.
    Text(u32),
    /// It is binary: no query finds anything in it.
    Binary,
    /// Every query has to read it.
    Always,
}

impl Indexed {
    /// As it crosses to JavaScript: the number, or -1 for binary, -2 for always.
    pub fn code(self) -> i64 {
        match self {
            Indexed::Text(owner) => i64::from(owner),
            Indexed::Binary => -1,
            Indexed::Always => -2,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use proptest::prelude::*;

    use super::*;
    use crate::search::{Case, Limits};

    fn query(pattern: &str, multiline: bool) -> Option<Query> {
        let case = Case::Sensitive;
        Query::new(&QueryOptions { pattern, regex: true, case, word: false, multiline }).ok()
    }

    fn hits(query: &Query, content: &[u8]) -> u64 {
        let limits = Limits::default();
        query.search(content, &limits, &|| false, &mut |_| ControlFlow::Continue(())).hits
    }

    #[test]
    fn contents_are_left_out_that_cannot_match() {
        let mut held = MemoryIndex::default();
        let numbers =
            ["a needle", "a haystack", "é\u{feff}", ""].map(|text| held.sign(text.as_bytes()));
        assert_eq!(numbers, [0, 1, 2, 3].map(Indexed::Text));
        assert_eq!(held.sign(b"\0"), Indexed::Binary);
        assert_eq!(held.sign(b"\xff\xfea\0"), Indexed::Always);
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
        fn whatever_matches_is_a_candidate(
            contents in prop::collection::vec("[abc \n]{0,60}", 1..20),
            pattern in "[abc]{1,4}(\n|[bc ])?[abc]{0,3}",
            multiline: bool,
        ) {
            let mut held = MemoryIndex::default();
            let signed: Vec<Indexed> = contents.iter().map(|text| held.sign(text.as_bytes())).collect();
            let Some(query) = query(&pattern, multiline) else { return Ok(()) };
            let candidates = held.candidates(&query);
            for (content, sign) in contents.iter().zip(signed) {
                let Indexed::Text(owner) = sign else { continue };
                let named = candidates.as_ref().is_none_or(|bits| bits[owner as usize / 64] >> (owner & 63) & 1 == 1);
                prop_assert!(named || hits(&query, content.as_bytes()) == 0, "{pattern:?} in {content:?}");
            }
        }
    }
}
