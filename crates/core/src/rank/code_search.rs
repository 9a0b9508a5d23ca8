//! Ranked searches of contents that the caller passes, and the contents that it passes once.

use std::sync::Arc;

use super::blocks::{FileBlocks, ranked_text};
use super::cut::Cut;
use super::excerpt::shown_block;
use super::files::RankIndex;
use super::order::{RankedBlock, RankedFile, cut_to_pool, rank_blocks};
use super::query::{Kind, RankQuery};
use super::segments::RankBatch;
use super::seldom::is_test;
use super::tokens::{Tokenizer, hash64};
use crate::error::Result;
use crate::options::Options;
use crate::pack::Packed;
use crate::wire::Wire as _;

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
    batch: RankBatch,
    files: Vec<AddedFile>,
    rarity: Vec<f64>,
    /// The best blocks; their files are indexes of `files`.
    best: Vec<RankedBlock>,
}

#[derive(Debug)]
struct AddedFile {
    root: u32,
    file: Arc<CountedFile>,
}

/// A content whose terms are counted.
#[derive(Debug)]
struct CountedFile {
    path: Box<str>,
    blocks: FileBlocks,
    /// Tells whether a content is the same.
    hash: u64,
}

impl CountedFile {
    /// Counts the terms of a content with `count`. Returns `None` for one that is not ranked: binary, or
    /// too large.
    fn of(path: &str, content: &[u8], count: impl FnOnce(&[u8]) -> FileBlocks) -> Option<Self> {
        let blocks = count(&ranked_text(content)?);
        Some(Self { path: path.into(), blocks, hash: hash64(0, content) })
    }
}

/// Contents whose terms are counted once, for many searches.
#[derive(Debug, Default)]
pub struct CountedContents {
    tokenizer: Tokenizer,
    files: Vec<Arc<CountedFile>>,
    bytes: usize,
}

impl CountedContents {
    /// Counts the terms of a content, and returns its number, from 0 on; `None` for one that is not
    /// ranked.
    pub fn add(&mut self, path: &str, content: &[u8]) -> Option<u32> {
        let tokenizer = &mut self.tokenizer;
        let file = CountedFile::of(path, content, |text| FileBlocks::of(path, text, tokenizer))?;
        let number = u32::try_from(self.files.len()).ok()?;
        self.bytes += file.blocks.bytes() + path.len() + size_of::<CountedFile>();
        self.files.push(Arc::new(file));
        Some(number)
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
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
            batch: RankBatch::default(),
            files: Vec::new(),
            rarity: Vec::new(),
            best: Vec::new(),
        })
    }

    /// Adds a file, by its path relative to the directory with the index `root`. Returns false for
    /// one that is not ranked: binary, too large, or no test where tests are asked for.
    pub fn add(&mut self, root: u32, path: &str, content: &[u8]) -> bool {
        if !self.wants(path) {
            return false;
        }
        let (tokenizer, query) = (&mut self.tokenizer, &self.query);
        let file = CountedFile::of(path, content, |text| {
            let mut cut = Cut::of(path, text);
            cut.count(text, tokenizer);
            FileBlocks::asked(&cut, (path, text), tokenizer, query)
        });
        file.is_some_and(|file| self.add_counted(root, Arc::new(file)))
    }

    /// Adds a content that is counted already. Returns false for one that is not searched.
    pub fn add_known(&mut self, root: u32, contents: &CountedContents, number: u32) -> bool {
        let file = contents.files.get(number as usize).filter(|file| self.wants(&file.path));
        file.is_some_and(|file| self.add_counted(root, Arc::clone(file)))
    }

    fn wants(&self, path: &str) -> bool {
        self.query.kind() != Kind::Test || is_test(path)
    }

    fn add_counted(&mut self, root: u32, file: Arc<CountedFile>) -> bool {
        let is_added = self.batch.push_asked(&file.blocks, &self.query).is_some();
        if is_added {
            self.files.push(AddedFile { root, file });
        }
        is_added
    }

    /// Ranks the files. Returns for each of the best blocks the number of its file, in the order in
    /// which they were added, from 0 on.
    pub fn rank(&mut self) -> Vec<u32> {
        let mut index = RankIndex::default();
        index.append(std::mem::take(&mut self.batch).sorted());
        let seen = vec![true; index.len()];
        let stats = index.stats(&self.query, &seen);
        self.rarity = stats.rarity(&self.query);
        let ranked = index.rank(&self.query, &stats, &seen);
        let mut found: Vec<(u32, f64, &AddedFile)> = ranked
            .into_iter()
            .map(|(number, score)| (number, score, &self.files[number as usize]))
            .collect();
        cut_to_pool(&self.query, &mut found, |(_, score, added)| {
            (*score, added.root, &added.file.path)
        });
        let files: Vec<RankedFile<'_>> = found
            .iter()
            .map(|&(_, score, AddedFile { root, file })| RankedFile {
                root: *root,
                path: &file.path,
                blocks: &file.blocks,
                score,
            })
            .collect();
        let best = rank_blocks(&self.query, &self.rarity, &files, self.limit);
        let file = |one: &RankedBlock| found[one.file].0 as usize;
        self.best = best.iter().map(|one| RankedBlock { file: file(one), ..*one }).collect();
        self.best.iter().map(|one| one.file as u32).collect()
    }

    /// Packs one of the best blocks with its lines in the content of its file; nothing if the
    /// content has changed.
    pub fn show(&self, index: usize, content: &[u8]) -> Packed {
        let Some(block) = self.best.get(index) else { return Packed::new() };
        let AddedFile { root, file } = &self.files[block.file];
        if hash64(0, content) != file.hash {
            return Packed::new();
        }
        let text = ranked_text(content).unwrap_or_default();
        shown_block((&self.query, &self.rarity), (*root, &file.path, &text), block).packed()
    }
}
