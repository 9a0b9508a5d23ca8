//! What is known about the files below a directory, for the ranked searches that start there.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use filewright_core::rank::{FileBlocks, RankIndex};

use super::reader::{FilePlace, FileVersion, Known, MAX_BLOCK_BYTES, ReadFiles, ReadPart};
use crate::tree::{FileState, NO_NUMBER};
use crate::watch::state::IndexState;

/// The maximum number of directories whose counts are kept: each has its own, because a path counts
/// from where the query starts.
const MAX_STARTS: usize = 4;
/// The number of past contents, beyond as many as the present ones, from which all are counted again.
const MAX_UNUSED: usize = 1024;

/// What was found about a file, and the version of the file.
#[derive(Clone, Copy)]
struct KnownFile {
    known: Known,
    stamp: u64,
    /// [`FileRecord::touched`](crate::tree::FileRecord::touched) before it was read.
    touched: u32,
    /// [`IndexState::lost_changes`] before it was read.
    lost: u32,
    /// False if the file can change without a report.
    is_reported: bool,
}

/// A content of a file that was ranked. Another content of the file is another one.
pub(super) struct RankedDoc {
    /// Its number in the tree.
    pub file: u32,
    /// Its path relative to the start, in the form for display.
    pub path: Arc<str>,
    /// The stamp of the content.
    pub stamp: u64,
}

/// The ranked files of one start.
pub(crate) struct Ranks {
    /// Tells whether the numbers of the files are still those that a query has looked up.
    pub id: u64,
    pub(super) index: RankIndex,
    /// By their numbers in the index.
    pub(super) docs: Vec<RankedDoc>,
    /// By the numbers of files in the tree.
    files: Vec<Option<KnownFile>>,
    blocks: BlockCache,
}

impl Default for Ranks {
    fn default() -> Self {
        static LAST_ID: AtomicU64 = AtomicU64::new(0);
        Self {
            id: LAST_ID.fetch_add(1, Ordering::Relaxed),
            index: RankIndex::default(),
            docs: Vec::new(),
            files: Vec::new(),
            blocks: BlockCache::default(),
        }
    }
}

impl Ranks {
    /// Returns what is known about a file, if its content is the present one; `None` if it has to be
    /// read. A stamp with it is one for the caller to compare.
    ///
    /// An indexed file is as new as the index, which checks its stamp. So is any other whose watch has
    /// reported nothing since it was read, if no report was lost. What no watch reports, the stamp tells:
    /// a change of a file with several hard links, in a directory without a watch, or of a mounted file.
    pub fn get(&self, state: &IndexState, file: u32) -> Option<(Known, Option<u64>)> {
        let known = self.files.get(file as usize)?.as_ref()?;
        let record = &state.tree.files[file as usize];
        match record.state {
            FileState::Text | FileState::Whole | FileState::Unindexable | FileState::Binary => {
                (known.stamp == record.stamp).then_some((known.known, None))
            }
            FileState::Dirty => {
                let is_same = known.touched == record.touched && known.lost == state.lost_changes;
                let is_told = known.is_reported && !state.unwatched.contains(&record.dir);
                is_same.then_some((known.known, (!is_told).then_some(known.stamp)))
            }
            FileState::Secret => None,
        }
    }

    /// Adds what was read of `places`, and returns the numbers of the files that are ranked. `lost` is
    /// that of before the reading.
    pub fn add(
        &mut self,
        read: ReadFiles,
        places: &[FilePlace],
        lost: u32,
        state: &IndexState,
    ) -> Added {
        let mut added = Added::default();
        let mut learn = |this: &mut Self, at: usize, version: &FileVersion, known: Known| {
            let FileVersion { file, stamp, is_lasting, is_linked } = *version;
            added.passing += usize::from(!is_lasting);
            if !is_lasting {
                return;
            }
            if this.files.len() <= file as usize {
                this.files.resize(file as usize + 1, None);
            }
            let record = state.tree.files.get(file as usize);
            let is_watched = record.is_some_and(|record| !state.unwatched.contains(&record.dir));
            let is_reported = is_watched && !is_linked && !state.tree.is_mount_point(file);
            let touched = places[at].touched;
            this.files[file as usize] =
                Some(KnownFile { known, stamp, touched, lost, is_reported });
        };
        for ReadPart { segment, docs } in read.parts {
            let Some(first) = self.index.append(segment) else { continue };
            for (number, doc) in (first..).zip(docs) {
                let (version, stamp) = (doc.version, doc.version.stamp);
                self.docs.push(RankedDoc { file: version.file, path: doc.path, stamp });
                added.numbers.push(number);
                learn(self, doc.at, &version, Known::Ranked(number));
                if let Some(blocks) = doc.blocks {
                    self.blocks.put(number, Arc::new(blocks));
                }
            }
        }
        for (at, version, known) in read.others {
            learn(self, at, &version, known);
        }
        added
    }

    /// Returns the blocks of a file, if they are in memory.
    pub fn blocks(&mut self, number: u32) -> Option<Arc<FileBlocks>> {
        self.blocks.get(number)
    }

    /// Keeps the blocks of a file.
    pub fn keep_blocks(&mut self, number: u32, blocks: Arc<FileBlocks>) {
        self.blocks.put(number, blocks);
    }

    /// Forgets all files if most of their contents are of the past.
    pub fn limit(&mut self, state: &IndexState) {
        if self.docs.len() <= MAX_UNUSED {
            return;
        }
        let is_ranked = |known: &Option<KnownFile>| {
            known.as_ref().is_some_and(|known| matches!(known.known, Known::Ranked(_)))
        };
        let live = self.files.iter().zip(&state.tree.files);
        let live = live.filter(|(known, file)| is_ranked(known) && file.dir != NO_NUMBER).count();
        if self.docs.len() > 2 * live + MAX_UNUSED {
            *self = Self::default();
        }
    }

    fn bytes(&self) -> usize {
        let paths: usize = self.docs.iter().map(|doc| doc.path.len() + 16).sum();
        self.index.bytes()
            + self.blocks.bytes()
            + self.docs.capacity() * size_of::<RankedDoc>()
            + self.files.capacity() * size_of::<Option<KnownFile>>()
            + paths
    }
}

/// What [`Ranks::add`] has added.
#[derive(Default)]
pub(super) struct Added {
    pub numbers: Vec<u32>,
    /// The number of files that the next query reads again, unless they are indexed.
    pub passing: usize,
}

/// The blocks of files that were read or were among the best of late, by the numbers of the files. It
/// has two generations: when the young one is full it replaces the old one, which is dropped.
#[derive(Default)]
struct BlockCache {
    young: HashMap<u32, Arc<FileBlocks>>,
    young_bytes: usize,
    old: HashMap<u32, Arc<FileBlocks>>,
    old_bytes: usize,
}

impl BlockCache {
    fn get(&mut self, number: u32) -> Option<Arc<FileBlocks>> {
        if let Some(blocks) = self.young.get(&number) {
            return Some(Arc::clone(blocks));
        }
        let blocks = self.old.remove(&number)?;
        self.old_bytes -= blocks.bytes();
        self.put(number, Arc::clone(&blocks));
        Some(blocks)
    }

    fn put(&mut self, number: u32, blocks: Arc<FileBlocks>) {
        self.young_bytes += blocks.bytes();
        if let Some(before) = self.young.insert(number, blocks) {
            self.young_bytes -= before.bytes();
        }
        if self.young_bytes > MAX_BLOCK_BYTES / 2 {
            self.old = std::mem::take(&mut self.young);
            self.old_bytes = std::mem::take(&mut self.young_bytes);
        }
    }

    fn bytes(&self) -> usize {
        self.young_bytes + self.old_bytes
    }
}

/// The ranked files of the starts of the last queries, the most recent first.
#[derive(Default)]
pub(crate) struct CachedRanks(Vec<StartRanks>);

/// A start, as its path in the tree, and its ranked files.
type StartRanks = (Arc<[u8]>, Arc<Mutex<Ranks>>);

impl CachedRanks {
    /// Returns the files below a start, given as its path in the tree.
    pub(super) fn below(&mut self, start: &Arc<[u8]>) -> Arc<Mutex<Ranks>> {
        match self.0.iter().position(|(known, _)| known == start) {
            Some(place) => self.0[..=place].rotate_right(1),
            None => {
                self.0.truncate(MAX_STARTS - 1);
                self.0.insert(0, (Arc::clone(start), Arc::default()));
            }
        }
        Arc::clone(&self.0[0].1)
    }

    /// Returns the memory use in bytes, without what a query has locked.
    pub fn bytes(&self) -> usize {
        self.0.iter().filter_map(|(_, ranks)| free(ranks)).map(|ranks| ranks.bytes()).sum()
    }

    /// Forgets the blocks of the least recent starts if all have more than `max_blocks` bytes, and those
    /// starts if all have more than `max_bytes`; never the most recent start. What a query has locked is
    /// measured when that ends. Returns the memory use in bytes.
    pub fn limit(&mut self, max_blocks: usize, max_bytes: usize) -> usize {
        let (mut blocks, mut bytes, mut kept) = (0, 0, 0);
        for (_, ranks) in &self.0 {
            if let Some(mut ranks) = free(ranks) {
                blocks += ranks.blocks.bytes();
                if kept > 0 && blocks > max_blocks {
                    blocks -= ranks.blocks.bytes();
                    ranks.blocks = BlockCache::default();
                }
                let own = ranks.bytes();
                if kept > 0 && bytes + own > max_bytes {
                    break;
                }
                bytes += own;
            }
            kept += 1;
        }
        self.0.truncate(kept);
        bytes
    }
}

/// Locks the files of a start unless a query has locked them.
fn free(ranks: &Mutex<Ranks>) -> Option<MutexGuard<'_, Ranks>> {
    match ranks.try_lock() {
        Ok(ranks) => Some(ranks),
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
