//! What is known about the files below a directory, for the ranked searches that start there.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use filewright_core::rank::{PackedCut, RankIndex};

use super::reader::{FilePlace, FileVersion, Known, ReadFiles, ReadPart};
use crate::tree::{FileState, NO_NUMBER};
use crate::watch::state::IndexState;

/// The maximum number of directories whose counts are kept: each has its own, because a path counts
/// from where the query starts.
const MAX_STARTS: usize = 4;
/// The number of past contents, beyond as many as the present ones, from which all are counted again.
const MAX_UNUSED: usize = 1024;

/// The memory use of a path and of blocks besides their bytes: counters, lengths and the allocator's.
const DOC_BYTES: usize = 96;

/// What was found about a file, and the version of the file.
#[derive(Clone, Copy)]
struct KnownFile {
    known: Known,
    stamp: u64,
    /// [`FileRecord::touched`](crate::tree::FileRecord::touched) before it was read.
    touched: u32,
    /// What was known of reports before it was read.
    seen: SeenReports,
    /// False if the file can change without a report.
    is_reported: bool,
}

/// How often something has happened after which the reports of a file do not tell whether it is unchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct SeenReports {
    /// [`IndexState::lost_changes`].
    lost: u32,
    /// [`IndexState::added_links`].
    links: u32,
}

impl SeenReports {
    /// Returns what has happened so far.
    pub fn of(state: &IndexState) -> Self {
        Self { lost: state.lost_changes, links: state.added_links }
    }
}

/// A content of a file that was ranked. Another content of the file is another one.
pub(super) struct RankedDoc {
    /// Its number in the tree.
    pub file: u32,
    /// Its path relative to the start, in the form for display.
    pub path: Arc<str>,
    /// The stamp of the content.
    pub stamp: u64,
    /// Its blocks.
    pub cut: PackedCut,
}

/// The ranked files of one start.
pub(crate) struct Ranks {
    /// Tells whether the numbers of the files are still those that a query has looked up.
    pub id: u64,
    pub(super) index: RankIndex,
    /// By their numbers in the index.
    pub(super) docs: Vec<RankedDoc>,
    /// The memory use of what `docs` point to, in bytes.
    doc_bytes: usize,
    /// By the numbers of files in the tree.
    files: Vec<Option<KnownFile>>,
}

impl Default for Ranks {
    fn default() -> Self {
        static LAST_ID: AtomicU64 = AtomicU64::new(0);
        Self {
            id: LAST_ID.fetch_add(1, Ordering::Relaxed),
            index: RankIndex::default(),
            docs: Vec::new(),
            doc_bytes: 0,
            files: Vec::new(),
        }
    }
}

impl Ranks {
    /// Returns what is known about a file, if its content is the present one; `None` if it has to be
    /// read. A stamp with it is one for the caller to compare.
    ///
    /// An indexed file is as new as the index, which checks its stamp. So is any other whose watch has
    /// reported nothing since it was read, if no report was lost. What no watch reports, the stamp tells:
    /// a change of a file with several hard links, or that may have got one, in a directory without a watch,
    /// or of a mounted file.
    pub fn get(&self, state: &IndexState, file: u32) -> Option<(Known, Option<u64>)> {
        let known = self.files.get(file as usize)?.as_ref()?;
        let record = &state.tree.files[file as usize];
        match record.state {
            FileState::Text | FileState::Whole | FileState::Unindexable | FileState::Binary => {
                (known.stamp == record.stamp).then_some((known.known, None))
            }
            FileState::Dirty => {
                let now = SeenReports::of(state);
                let is_same = known.touched == record.touched && known.seen.lost == now.lost;
                let is_told = known.is_reported
                    && known.seen.links == now.links
                    && !state.unwatched.contains(&record.dir);
                is_same.then_some((known.known, (!is_told).then_some(known.stamp)))
            }
            FileState::Secret => None,
        }
    }

    /// Records that a file had its stamp after `seen`.
    pub fn confirm(&mut self, file: u32, stamp: u64, seen: SeenReports) {
        let known = self.files.get_mut(file as usize).and_then(Option::as_mut);
        if let Some(known) = known.filter(|known| known.stamp == stamp) {
            known.seen = seen;
        }
    }

    /// Adds what was read of `places`, and returns the numbers of the files that are ranked. `seen` is
    /// that of before the reading.
    pub fn add(
        &mut self,
        read: ReadFiles,
        places: &[FilePlace],
        seen: SeenReports,
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
                Some(KnownFile { known, stamp, touched, seen, is_reported });
        };
        for ReadPart { segment, docs } in read.parts {
            let Some(first) = self.index.append(segment) else { continue };
            for (number, doc) in (first..).zip(docs) {
                let (version, stamp) = (doc.version, doc.version.stamp);
                let (file, path, cut) = (version.file, doc.path, doc.cut);
                self.doc_bytes += path.len() + cut.bytes() + DOC_BYTES;
                self.docs.push(RankedDoc { file, path, stamp, cut });
                added.numbers.push(number);
                learn(self, doc.at, &version, Known::Ranked(number));
            }
        }
        for (at, version, known) in read.others {
            learn(self, at, &version, known);
        }
        added
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
        self.index.bytes()
            + self.docs.capacity() * size_of::<RankedDoc>()
            + self.files.capacity() * size_of::<Option<KnownFile>>()
            + self.doc_bytes
    }
}

/// What [`Ranks::add`] has added.
#[derive(Default)]
pub(super) struct Added {
    pub numbers: Vec<u32>,
    /// The number of files that the next query reads again, unless they are indexed.
    pub passing: usize,
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

    /// Forgets the least recent starts if all have more than `max_bytes`; never the most recent one. What
    /// a query has locked is measured when that ends. Returns the memory use in bytes.
    pub fn limit(&mut self, max_bytes: usize) -> usize {
        let (mut bytes, mut kept) = (0, 0);
        for (_, ranks) in &self.0 {
            let own = free(ranks).map_or(0, |ranks| ranks.bytes());
            if kept > 0 && bytes + own > max_bytes {
                break;
            }
            bytes += own;
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
