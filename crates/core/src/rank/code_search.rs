//! One ranked search of contents that the caller passes.

use super::blocks::{FileBlocks, ranked_text};
use super::excerpt::pack_block;
use super::files::{FileRanking, RankIndex};
use super::order::RankedBlock;
use super::query::{Kind, RankQuery};
use super::seldom::is_test;
use super::tokens::Tokenizer;
use crate::error::Result;
use crate::options::Options;
use crate::pack::Packed;

/// The number of blocks returned unless the caller says another.
pub const DEFAULT_LIMIT: u64 = 10;
/// The maximum number of blocks; a larger one counts as this many.
pub const MAX_LIMIT: u64 = 100;

/// A query, the files added to it, and their ranking.
#[derive(Debug)]
pub struct CodeSearch {
    query: RankQuery,
    limit: usize,
    tokenizer: Tokenizer,
    index: RankIndex,
    files: Vec<(String, FileBlocks)>,
    rarity: Vec<f64>,
    /// The best blocks, each with the path of its file.
    best: Vec<(String, RankedBlock)>,
}

impl CodeSearch {
    /// Parses the options of [`RankQuery::read`], and `limit`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`.
    pub fn new(options: &Options) -> Result<Self> {
        let limit = options.number("limit")?.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
        Ok(Self {
            query: RankQuery::read(options)?,
            limit: limit as usize,
            tokenizer: Tokenizer::default(),
            index: RankIndex::default(),
            files: Vec::new(),
            rarity: Vec::new(),
            best: Vec::new(),
        })
    }

    /// Adds a file. Returns false for one that is not ranked: binary, too large, or no test where
    /// tests are asked for.
    pub fn add(&mut self, path: &str, content: &[u8]) -> bool {
        if self.query.kind() == Kind::Test && !is_test(path) {
            return false;
        }
        let Some(text) = ranked_text(content) else { return false };
        let blocks = FileBlocks::of(path, &text, &mut self.tokenizer);
        let is_added = self.index.push(&blocks).is_some();
        if is_added {
            self.files.push((path.to_owned(), blocks));
        }
        is_added
    }

    /// Ranks the files, and returns the path of each of the best blocks, in their order.
    pub fn rank(&mut self) -> Vec<&str> {
        let ranking = self.index.rank(&self.query, |_| true);
        let file = |number: u32| {
            let (path, blocks) = &self.files[number as usize];
            (&path[..], blocks)
        };
        let (ranked, best) = ranking.blocks(&self.query, self.limit, file);
        let path = |one: &RankedBlock| ranked[one.file].path.to_owned();
        self.best = best.iter().map(|one| (path(one), *one)).collect();
        let FileRanking { rarity, .. } = ranking;
        self.rarity = rarity;
        self.best.iter().map(|(path, _)| &path[..]).collect()
    }

    /// Packs one of the best blocks with its lines in the content of its file; nothing if the
    /// content has changed so that no line has a term.
    pub fn show(&self, index: usize, content: &[u8]) -> Packed {
        let mut packed = Packed::new();
        let Some((path, block)) = self.best.get(index) else { return packed };
        let text = ranked_text(content).unwrap_or_default();
        if pack_block(&mut packed, &self.query, &self.rarity, (path, &text), block) {
            packed
        } else {
            Packed::new()
        }
    }
}
