//! The counts of the terms of the files below a directory, for the queries that start there.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use filewright_core::rank::{FileBlocks, RankIndex};

/// The maximum number of directories whose counts are kept: each has its own, because a path counts
/// from where the query starts.
const MAX_STARTS: usize = 4;
/// The maximum memory of the blocks of all files, in bytes. Beyond it only the counts of a file are
/// kept, and its blocks are read again where it may be among the best.
const MAX_BLOCK_BYTES: usize = 128 << 20;
/// The number of unused files in addition to the used ones from which all are counted again.
const MAX_UNUSED: usize = 1024;
/// The memory of the blocks of unused files, in bytes, in addition to that of the used ones.
const MAX_UNUSED_BYTES: usize = 32 << 20;

/// A version of a file: its number as the owner of blocks, and its stamp.
pub(super) type FileVersion = (u32, u64);

/// A ranked file.
pub(super) struct RankedDoc {
    /// Its number in the tree.
    pub file: u32,
    /// Its path relative to the start, in the form for display.
    pub path: Box<str>,
    /// The stamp of the content.
    pub stamp: u64,
    /// `None` if the memory for blocks was used up.
    pub blocks: Option<FileBlocks>,
}

/// The ranked files of one start.
pub(crate) struct Ranks {
    /// Tells whether the numbers of the files are still those that a query has looked up.
    id: u64,
    pub(super) index: RankIndex,
    /// By their numbers in the index.
    pub(super) docs: Vec<RankedDoc>,
    by_version: HashMap<FileVersion, u32>,
    block_bytes: usize,
}

impl Default for Ranks {
    fn default() -> Self {
        static LAST_ID: AtomicU64 = AtomicU64::new(0);
        Self {
            id: LAST_ID.fetch_add(1, Ordering::Relaxed),
            index: RankIndex::default(),
            docs: Vec::new(),
            by_version: HashMap::new(),
            block_bytes: 0,
        }
    }
}

impl Ranks {
    /// Returns what changes when all files are forgotten.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the number of the file with this version.
    pub fn get(&self, version: FileVersion) -> Option<u32> {
        self.by_version.get(&version).copied()
    }

    /// Adds a file and returns its number; it is found by later queries if it has a version.
    pub fn add(&mut self, doc: RankedDoc, version: Option<FileVersion>) -> Option<u32> {
        let RankedDoc { blocks: Some(blocks), .. } = &doc else { return None };
        let (number, bytes) = (self.index.push(blocks)?, blocks.bytes());
        let is_kept = self.block_bytes + bytes <= MAX_BLOCK_BYTES;
        self.block_bytes += if is_kept { bytes } else { 0 };
        self.docs.push(if is_kept { doc } else { RankedDoc { blocks: None, ..doc } });
        if let Some(version) = version {
            self.by_version.insert(version, number);
        }
        Some(number)
    }

    /// Forgets all files if queries do not use most of them any more. `used` are the numbers of those
    /// that the last query has searched.
    pub fn limit(&mut self, used: &[u32]) {
        let blocks = used.iter().filter_map(|&number| self.docs[number as usize].blocks.as_ref());
        let bytes: usize = blocks.map(FileBlocks::bytes).sum();
        let is_stale = self.docs.len() > 2 * used.len() + MAX_UNUSED;
        if is_stale || self.block_bytes > 2 * bytes + MAX_UNUSED_BYTES {
            *self = Self::default();
        }
    }

    fn bytes(&self) -> usize {
        self.index.bytes() + self.block_bytes + self.docs.len() * 160
    }
}

/// The ranked files of the starts of the last queries, the most recent first.
#[derive(Default)]
pub(crate) struct CachedRanks(Vec<(Arc<[u8]>, Ranks)>);

impl CachedRanks {
    /// Returns the files below a start, given as its path in the tree.
    pub(super) fn below(&mut self, start: &Arc<[u8]>) -> &mut Ranks {
        match self.0.iter().position(|(known, _)| known == start) {
            Some(place) => self.0[..=place].rotate_right(1),
            None => {
                self.0.truncate(MAX_STARTS - 1);
                self.0.insert(0, (Arc::clone(start), Ranks::default()));
            }
        }
        &mut self.0[0].1
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|(_, ranks)| ranks.bytes()).sum()
    }
}
