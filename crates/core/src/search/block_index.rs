//! An index of many texts by their grams (short substrings): finds the blocks in which a query can
//! match.
//!
//! A block consists of whole lines. A block that ends in a very long line, as in minified programs,
//! contains nearly every gram and takes long to read, so it is indexed in overlapping chunks. The
//! grams of one string must be in one chunk together; other parts of a match may be in another.

use super::bit_set::{intersect_bit_set, unite_bit_set};
use super::block::{Block, Chunk};
use super::gram_query::GramQuery;
use super::shards::Shards;

/// The number of index rows per hundred distinct grams of a block. Fewer rows give more false
/// candidates, more rows take more memory.
const BLOCK_ROWS_PER_HUNDRED_GRAMS: usize = 118;
/// The number of index rows per hundred distinct grams of a chunk: fewer, because checking a false
/// candidate is cheaper than opening a file.
const CHUNK_ROWS_PER_HUNDRED_GRAMS: usize = 90;

/// An index of many blocks. Clones share the parts that do not change.
#[derive(Clone, Debug, Default)]
pub struct BlockIndex {
    /// The blocks that are indexed as a whole.
    pub(super) whole: Shards,
    /// The blocks that are indexed in chunks.
    pub(super) long: Vec<Block>,
    /// The chunks; the owner of each is the index of its block in `long`.
    pub(super) chunks: Shards,
}

impl BlockIndex {
    /// Adds a block with its distinct grams, or one chunk of a block with the distinct grams of the
    /// chunk. The chunks of a block must be added in order.
    pub fn push(&mut self, grams: &[u32], block: Block, chunk: Option<Chunk>) {
        let Some(Chunk { offset, len }) = chunk else {
            return self.whole.push(grams, block, BLOCK_ROWS_PER_HUNDRED_GRAMS);
        };
        // The first chunk of a block has the block's offset. For a later chunk, the block is one of
        // the last entries, because only few are added in between.
        let later = offset != block.offset;
        let known = || self.long.iter().rposition(|known| *known == block);
        let place = later.then(known).flatten().unwrap_or(self.long.len());
        if place == self.long.len() {
            self.long.push(block);
        }
        let chunk = Block { owner: place as u32, offset, len, line: block.line };
        self.chunks.push(grams, chunk, CHUNK_ROWS_PER_HUNDRED_GRAMS);
    }

    /// Returns the number of blocks.
    pub fn len(&self) -> usize {
        self.whole.len() + self.long.len()
    }

    /// Returns true if there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.whole.bytes() + self.chunks.bytes() + self.long.capacity() * size_of::<Block>()
    }

    /// Releases memory that is reserved but not used.
    pub fn shrink(&mut self) {
        self.whole.shrink();
        self.chunks.shrink();
        self.long.shrink_to_fit();
    }

    /// Calls `found` for each block that may contain what a query requires.
    pub fn blocks(&self, plan: &GramQuery, found: &mut dyn FnMut(&Block)) {
        self.whole.blocks(plan, found);
        if self.long.is_empty() {
            return;
        }
        match owners_that_may_match(plan, self.long.len(), &|grams, found| {
            self.chunks.blocks(grams, found)
        }) {
            None => self.long.iter().for_each(found),
            Some(set) => {
                let is_in = |place: usize| set[place / 64] >> (place & 63) & 1 == 1;
                let of_set = self.long.iter().enumerate().filter(|(place, _)| is_in(*place));
                of_set.for_each(|(_, block)| found(block));
            }
        }
    }

    /// Does the same as [`Self::blocks`] for queries whose match lies within one chunk: of a block
    /// in chunks, reports only the chunks that may contain a match.
    pub fn candidates_with_chunks(
        &self,
        plan: &GramQuery,
        found: &mut dyn FnMut(&Block, Option<Chunk>),
    ) {
        self.whole.blocks(plan, &mut |block| found(block, None));
        self.chunks.blocks(plan, &mut |&Block { owner, offset, len, .. }| {
            if let Some(block) = self.long.get(owner as usize) {
                found(block, Some(Chunk { offset, len }));
            }
        });
    }

    /// Returns true if a query selects so many blocks (an eighth or more of a sample) that a search
    /// for the first matches is faster without the index.
    pub fn is_unselective(&self, plan: &GramQuery) -> bool {
        let (fitting, blocks) = self.whole.sample(plan);
        blocks > 0 && fitting * 8 >= blocks
    }

    /// Returns the texts, with numbers below `count`, that may contain what a query requires in any
    /// of their blocks, as one bit each. `None` means all.
    pub fn owners(&self, plan: &GramQuery, count: usize) -> Option<Vec<u64>> {
        owners_that_may_match(plan, count, &|grams, found| self.blocks(grams, found))
    }
}

/// A function that calls back for each block that contains all grams of a query without
/// alternatives.
type ForEachBlockWithGrams<'a> = &'a dyn Fn(&GramQuery, &mut dyn FnMut(&Block));

/// Returns the texts (owners of blocks), as one bit each, that may contain what a query requires in
/// any of their blocks; `None` means all.
fn owners_that_may_match(
    plan: &GramQuery,
    count: usize,
    blocks: ForEachBlockWithGrams<'_>,
) -> Option<Vec<u64>> {
    match plan {
        GramQuery::Any => None,
        GramQuery::Grams(_) => {
            let mut set = vec![0; count.div_ceil(64)];
            blocks(plan, &mut |block| {
                if let Some(word) = set.get_mut(block.owner as usize / 64) {
                    *word |= 1 << (block.owner & 63);
                }
            });
            Some(set)
        }
        GramQuery::All(plans) => {
            let known = plans.iter().filter_map(|plan| owners_that_may_match(plan, count, blocks));
            known.reduce(|mut set, other| {
                intersect_bit_set(&mut set, &other);
                set
            })
        }
        GramQuery::One(plans) => {
            let mut set = vec![0; count.div_ceil(64)];
            for plan in plans {
                unite_bit_set(&mut set, &owners_that_may_match(plan, count, blocks)?);
            }
            Some(set)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use proptest::prelude::*;

    use super::super::grams::GRAM_HASH_BITS;
    use super::super::{
        Case, GramExtractor, Hit, IndexUnit, Query, QueryOptions, SearchLimits,
        split_into_index_units,
    };
    use super::*;

    fn block(owner: u32) -> Block {
        Block { owner, offset: 0, len: 1, line: 1 }
    }

    #[test]
    fn every_block_is_found_again_by_its_grams() {
        let mut block_index = BlockIndex::default();
        let grams_of = |owner: u32| -> Vec<u32> {
            // Sizes differ widely, so that there are several shards.
            (0..=(owner % 7) * 300).map(|gram| (owner * 31 + gram * 97) & 0xffff).collect()
        };
        for owner in 0..500 {
            block_index.push(&grams_of(owner), block(owner), None);
        }
        block_index.shrink();
        assert_eq!(block_index.len(), 500);
        for owner in 0..500 {
            let plan = GramQuery::Grams(grams_of(owner));
            let mut found = Vec::new();
            block_index.blocks(&plan, &mut |block| found.push(block.owner));
            assert!(found.contains(&owner), "{owner}");
            let set = block_index.owners(&plan, 500).unwrap();
            assert!(set[owner as usize / 64] >> (owner & 63) & 1 == 1, "{owner}");
        }
        let mut all = 0;
        block_index.blocks(&GramQuery::Any, &mut |_| all += 1);
        assert_eq!((all, block_index.owners(&GramQuery::Any, 500)), (500, None));
        assert!(
            block_index.is_unselective(&GramQuery::Any)
                && !BlockIndex::default().is_unselective(&GramQuery::Any)
        );
        assert!(!block_index.is_unselective(&GramQuery::Grams(grams_of(6))), "which few have");
    }

    #[test]
    fn queries_combine_with_all_and_one() {
        let mut block_index = BlockIndex::default();
        assert!(block_index.is_empty());
        // A small shard ignores the low bits of a gram, so these differ in the high bits.
        let apart = |grams: &[u32]| -> Vec<u32> {
            grams.iter().map(|gram| gram << (GRAM_HASH_BITS - 4)).collect()
        };
        for (owner, grams) in [(0, &[1, 2][..]), (1, &[2, 3]), (2, &[4])] {
            block_index.push(&apart(grams), block(owner), None);
        }
        block_index.shrink();
        assert!(!block_index.is_empty() && block_index.bytes() > 0);
        let of = |grams: &[u32]| GramQuery::Grams(apart(grams));
        for (name, plan, expected) in [
            ("all", GramQuery::All(vec![of(&[1]), of(&[2])]), 0b001),
            ("one", GramQuery::One(vec![of(&[1]), of(&[4])]), 0b101),
            ("all that say something", GramQuery::All(vec![GramQuery::Any, of(&[3])]), 0b010),
        ] {
            assert_eq!(block_index.owners(&plan, 3).unwrap()[0] & 0b111, expected, "{name}");
            let mut found = 0;
            block_index.blocks(&plan, &mut |block| found |= 1 << block.owner);
            assert_eq!(found & expected, expected, "{name}");
        }
        let one_of_any = GramQuery::One(vec![of(&[1]), GramQuery::Any]);
        assert!(block_index.owners(&one_of_any, 3).is_none(), "any of them may be meant");
    }

    fn remember(block_index: &mut BlockIndex, owner: u32, text: &str) {
        let mut extractor = GramExtractor::default();
        for IndexUnit { block, chunk, bytes } in split_into_index_units(text.as_bytes()) {
            block_index.push(extractor.grams(bytes), Block { owner, ..block }, chunk);
        }
    }

    fn options(pattern: &str) -> QueryOptions<'_> {
        QueryOptions { pattern, regex: true, case: Case::Sensitive, word: false, multiline: false }
    }

    #[test]
    fn distant_parts_of_a_long_line_are_found_together() {
        let mut block_index = BlockIndex::default();
        let filler = "0 ".repeat(50_000);
        remember(&mut block_index, 0, &format!("first{filler}second{filler}third\nanother line\n"));
        remember(&mut block_index, 1, "second and third\n");
        // The columns: pattern, owners that may match, true if one chunk may match.
        for (pattern, owners, in_a_chunk) in [
            ("first", 0b01, true),
            ("second", 0b11, true),
            ("third.*absent|first.*third", 0b01, false),
            ("first.*third", 0b01, false),
            ("first.*absent", 0b00, false),
            ("another line", 0b01, false),
        ] {
            let plan = GramQuery::of(&options(pattern));
            let (mut found, mut chunks) = (0, 0);
            block_index.blocks(&plan, &mut |block| found |= 1 << block.owner);
            assert_eq!(found, owners, "{pattern}");
            let set = block_index.owners(&plan, 2).unwrap();
            assert_eq!(set[0] & 0b11, owners, "{pattern}");
            block_index.candidates_with_chunks(&plan, &mut |block, chunk| {
                assert!(chunk.is_none() || block.owner == 0, "{pattern}");
                chunks += u32::from(chunk.is_some());
            });
            assert_eq!(chunks > 0, in_a_chunk, "{pattern}");
        }
        let mut all = 0;
        block_index.blocks(&GramQuery::Any, &mut |_| all += 1);
        assert_eq!(
            (all, block_index.len()),
            (3, 3),
            "the long line, the one after it, the other text"
        );
    }

    #[test]
    fn a_string_longer_than_the_overlap_is_found_across_chunks() {
        let needle: String = (0..400).map(|at| format!("{at:03}x")).collect();
        let filler = "- ".repeat(20_000);
        for at in (15_000..17_000).step_by(200) {
            let mut block_index = BlockIndex::default();
            remember(&mut block_index, 0, &format!("{}{needle}{filler}", &filler[..at]));
            let mut found = false;
            block_index.blocks(&GramQuery::of(&options(&needle)), &mut |_| found = true);
            assert!(found, "{at}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// As for short lines, no match is missed; if a match fits into a chunk, one of the
        /// reported chunks contains it.
        #[test]
        fn nothing_on_a_long_line_is_left_out(
            pattern in prop::sample::select(vec![
                "needle", "needle|pin", r"\bneedle\b", r"needle\w*", "(?i)NEEDLE", "^needle",
                "needle$", "ne{1,3}dle[0-9]{2}", "needle.*pin", r"[0-9]{4}-[0-9]{2}",
                "stra\u{df}e", r"\Bedle",
            ]),
            words in prop::collection::vec((0..90_000_usize, prop::sample::select(vec![
                "needle", " needle ", "needle42", "pin", "2024-05", "STRA\u{df}E stra\u{df}e",
                "Needle", "\n",
            ])), 1..6),
            word: bool,
        ) {
            let mut text = "x ".repeat(50_000);
            for (at, word) in words {
                let at = (at..).find(|at| text.is_char_boundary(*at)).unwrap();
                text.insert_str(at, word);
            }
            let query = Query::new(&QueryOptions { word, ..options(pattern) }).unwrap();
            let mut block_index = BlockIndex::default();
            remember(&mut block_index, 0, &text);
            let (mut found, mut candidates_with_chunks) = (false, false);
            block_index.blocks(query.plan(), &mut |_| found = true);
            block_index.candidates_with_chunks(query.plan(), &mut |_, chunk| {
                let (at, len) = chunk.map_or((0, text.len()), |s| (s.offset as usize, s.len as usize));
                candidates_with_chunks |= query.may_match(&text.as_bytes()[at..at + len]);
            });
            let mut ignore = |_: &Hit<'_>| ControlFlow::Continue(());
            let outcome = query.search(text.as_bytes(), &SearchLimits::default(), &|| false, &mut ignore);
            prop_assert!(found || outcome.hits == 0, "{}", pattern);
            prop_assert!(candidates_with_chunks || outcome.hits == 0 || !query.fits_chunk(), "{}", pattern);
        }
    }
}
