//! An index of the files below a directory. Before each query it applies the changes that the
//! kernel has reported since, and checks what no report covers.
//!
//! It contains the tree of names and, for each file, the grams (short byte sequences) that occur in
//! each of its blocks (`filewright_core::search::BlockIndex`). A query selects the files whose
//! grams allow a match; those are read and searched like in a search without an index. So the
//! results are the same, because a file whose state is uncertain is read by every query.
//!
//! - `session` combines roots with their indexes; `grep`, `find`, `fuzzy` and `list_tree` answer
//!   calls with an index if there is one (`query`, `names`, `outline`), otherwise from the disk;
//!   `code` answers ranked searches;
//! - `lifecycle` creates and ends indexes, `lookup` finds the one for a tree, `registry` bounds
//!   the memory of all, `readers` keeps one valid while a query reads it;
//! - `tree` stores the index, in path order; `watch` keeps it up to date;
//! - `build` reads files, for the index and for a query; `store` saves an index for later
//!   processes.
//!
//! Limitation: some changes are reported to no watcher. The kernel reports a store through a memory
//! map, and a write by `io_submit`, when the file is closed; a write through a hard link made
//! outside the roots, or in a layer under a mounted overlayfs, when the file changes next. A caller
//! that must see those uses `IndexMode::Strict`, which reads the contents of every file.

// The tests use `std::fs`, because they access the disk from outside the roots.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod build;
mod code;
mod find;
mod fuzzy;
mod grep;
mod lifecycle;
mod list_tree;
mod lookup;
mod names;
mod open_roots;
mod outline;
mod query;
mod readers;
mod registry;
mod session;
mod store;
mod tree;
mod watch;

#[cfg(test)]
mod cancel_tests;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod mmap_tests;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

pub use code::{CodeOptions, search_code};
pub use find::find_indexed;
pub use fuzzy::{FuzzyOptions, find_files};
pub use grep::grep_indexed;
pub use lifecycle::{dispose, set_state_dir, status, warm};
pub use list_tree::list_tree;
pub use open_roots::{ClosableRoots, OpenRoots};
pub use session::Session;
pub use watch::mounts::prepare;

use build::{indexer, negative_cache::NegativeCache};
use filewright_fs::walk::{StopSignal, WalkRoot};
use registry::REGISTRY;
use store::{IndexStore, restore, snapshot};
use tree::{path_columns, view::CachedViews};
use watch::{
    mounts, state,
    state::{IndexState, ScanContext},
};

/// The minimum duration of a search without an index for which it starts building one. A faster one
/// does not justify an index.
pub const MIN_SCAN_TIME: Duration = Duration::from_millis(25);
/// The maximum memory of one index in bytes. Files that do not fit are read by every query.
const MAX_INDEX_BYTES: usize = 512 << 20;
/// The minimum total size in bytes of the indexed files for which an index that no caller requested
/// is saved. A smaller one is quickly built again.
const MIN_SAVED_CORPUS_BYTES: u64 = 16 << 20;
/// The interval at which a call tries again to lock the state while another thread holds it.
const LOCK_POLL_INTERVAL: Duration = Duration::from_micros(200);

/// The indexes of a set of roots.
#[derive(Default)]
pub(crate) struct Indexes(Mutex<Vec<Arc<Index>>>);

impl std::fmt::Debug for Indexes {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} indexes", self.lock().len())
    }
}

impl Indexes {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Index>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Indexes {
    fn drop(&mut self) {
        self.lock().drain(..).for_each(|index| index.close());
    }
}

/// Identifies the tree of an index: walks with equal keys see the same entries.
#[derive(Clone, PartialEq, Eq)]
struct IndexKey {
    /// The real path of the start, with a final slash.
    real: Vec<u8>,
    /// The names of ignore files.
    names: Option<Vec<String>>,
    /// The number of bytes of an absolute path before the part that ignore rules are matched with,
    /// as in [`WalkRoot::top`].
    top: usize,
    /// A hash of the ignore rules of the directories above the start.
    rules: u64,
    id: (u64, u64),
    /// A hash of the mounts below the start.
    mounts: u64,
}

impl IndexKey {
    fn of(walk_root: &WalkRoot<'_>, names: Option<&[String]>) -> Option<Self> {
        let id = state::device_and_inode_of(walk_root)?;
        let (real, names) = (walk_root.real.clone(), names.map(<[String]>::to_vec));
        let mounts = mounts::hash_mounts_below(&real);
        Some(Self { real, names, top: walk_root.top, rules: walk_root.rules, id, mounts })
    }
}

pub(crate) struct Index {
    key: IndexKey,
    index_store: Arc<OnceLock<Arc<IndexStore>>>,
    /// True once the whole tree was listed for the first time, so that queries can use it.
    listed: AtomicBool,
    is_indexing: AtomicBool,
    closed: AtomicBool,
    full: AtomicBool,
    /// The memory use of the tree and its blocks in bytes when it was last measured.
    memory_bytes: AtomicUsize,
    /// The memory use of the counts for ranked searches, in bytes, after the last of them.
    rank_bytes: AtomicUsize,
    /// The total size of the indexed files in bytes.
    corpus: AtomicU64,
    /// The queries that are reading the index, which is not emptied while there are any.
    users: readers::Readers,
    state: Mutex<IndexState>,
    views: Mutex<CachedViews>,
    misses: Mutex<NegativeCache>,
    /// The counts of terms for ranked searches; empty until the first of them.
    ranks: Mutex<code::CachedRanks>,
    /// The paths of all files in one buffer, for scans over all of them.
    paths: Mutex<path_columns::PathColumns>,
    /// True if a caller asked for this index ([`warm`]), so that it is saved whatever its size.
    requested: AtomicBool,
    /// True once the snapshot saved by an earlier process was requested from the store.
    load_started: AtomicBool,
    /// Receives the snapshot that the store thread is loading.
    pending_load: Mutex<Option<Receiver<Option<snapshot::SavedIndex>>>>,
    files_since_save: AtomicUsize,
}

filewright_core::wire! {
    /// The state of the index of a directory.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct IndexStatus {
        /// The number of indexed files.
        pub files: u64,
        /// The number of files that every search still reads.
        pub unsigned: u64,
        /// Bytes of the files that were read for it.
        pub corpus_bytes: u64,
        /// Memory in use, in bytes.
        pub memory_bytes: u64,
        /// The number of watched directories.
        pub watches: u64,
        /// True when no work on it is pending.
        pub ready: bool,
    }
}

impl Index {
    fn new(key: IndexKey, index_store: &Arc<OnceLock<Arc<IndexStore>>>) -> Arc<Self> {
        let off = || AtomicBool::new(false);
        Arc::new(Self {
            key,
            index_store: Arc::clone(index_store),
            listed: off(),
            is_indexing: off(),
            closed: off(),
            full: off(),
            memory_bytes: AtomicUsize::default(),
            rank_bytes: AtomicUsize::default(),
            corpus: AtomicU64::new(0),
            users: readers::Readers::default(),
            state: Mutex::new(IndexState::default()),
            views: Mutex::default(),
            misses: Mutex::default(),
            ranks: Mutex::default(),
            paths: Mutex::default(),
            requested: off(),
            load_started: off(),
            pending_load: Mutex::default(),
            files_since_save: AtomicUsize::new(0),
        })
    }

    fn lock(&self) -> MutexGuard<'_, IndexState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn misses(&self) -> MutexGuard<'_, NegativeCache> {
        self.misses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Reports whether the index uses more than [`MAX_INDEX_BYTES`].
    fn is_over_budget(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Measures the memory use. Above [`MAX_INDEX_BYTES`], indexing stops.
    fn update_memory_use(&self, state: &IndexState) {
        let bytes = state.tree.block_index.bytes();
        self.full.store(bytes > MAX_INDEX_BYTES, Ordering::Relaxed);
        self.memory_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Limits the memory of ranked searches, which counts for the limit of all indexes.
    fn limit_ranks(self: &Arc<Self>) {
        let bytes = {
            let mut ranks = self.ranks.lock().unwrap_or_else(PoisonError::into_inner);
            ranks.limit(MAX_INDEX_BYTES)
        };
        self.rank_bytes.store(bytes, Ordering::Relaxed);
        REGISTRY.mark_used(self);
    }

    /// Returns the memory use in bytes when it was last measured.
    fn measured_bytes(&self) -> usize {
        self.memory_bytes.load(Ordering::Relaxed) + self.rank_bytes.load(Ordering::Relaxed)
    }

    /// Requests the snapshot that an earlier process saved; does nothing the second time.
    fn request_saved(&self) {
        if let Some(index_store) = self.index_store.get()
            && !self.load_started.swap(true, Ordering::AcqRel)
        {
            *self.pending_load.lock().unwrap_or_else(PoisonError::into_inner) =
                index_store.load(&self.key);
        }
    }

    /// Waits for the requested snapshot and restores the files that are unchanged.
    fn restore_saved(&self, walk_root: &WalkRoot<'_>, stop: &StopSignal<'_>) {
        let pending_load = self.pending_load.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(pending_load) = pending_load else { return };
        loop {
            match pending_load.recv_timeout(LOCK_POLL_INTERVAL * 10) {
                Ok(Some(kept)) => {
                    return restore::restore_unchanged(self, walk_root, kept, stop);
                }
                Err(RecvTimeoutError::Timeout) if !stop.now() && !self.is_closed() => {}
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Saves the index for later processes if at least 5 % of its files were indexed since the last
    /// save.
    fn save(&self) {
        let Some(index_store) = self.index_store.get() else { return };
        let small = self.corpus.load(Ordering::Relaxed) < MIN_SAVED_CORPUS_BYTES;
        if small && !self.requested.load(Ordering::Relaxed) {
            return;
        }
        let state = self.lock();
        let (files_since_save, files) =
            (self.files_since_save.load(Ordering::Relaxed), state.tree.live_files);
        if files_since_save == 0
            || files_since_save * 20 < files
            || self.is_closed()
            || !state.tree.is_compact()
        {
            return;
        }
        self.files_since_save.store(0, Ordering::Relaxed);
        let snapshot = snapshot::Snapshot::of(&state.tree);
        drop(state);
        index_store.save(&self.key, snapshot);
    }

    fn count_bytes(&self, bytes: u64) {
        self.corpus.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Closes the index: new queries cannot use it, and its memory is released as soon as no query
    /// reads it.
    fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.listed.store(false, Ordering::Release);
        if self.users.close() {
            self.empty();
        }
    }

    fn empty(&self) {
        *self.lock() = IndexState::default();
        *self.paths.lock().unwrap_or_else(PoisonError::into_inner) =
            path_columns::PathColumns::default();
        *self.views.lock().unwrap_or_else(PoisonError::into_inner) = CachedViews::default();
        *self.misses() = NegativeCache::default();
        *self.ranks.lock().unwrap_or_else(PoisonError::into_inner) = code::CachedRanks::default();
    }

    fn status(&self) -> IndexStatus {
        let laid = self.paths.lock().map_or(0, |laid| laid.bytes());
        let misses = self.misses().bytes();
        let views = self.views.lock().map_or(0, |views| views.bytes());
        let ranks = self.ranks.lock().map_or(0, |ranks| ranks.bytes());
        let state = self.lock();
        IndexStatus {
            files: state.tree.live_files as u64,
            unsigned: state.tree.dirty.len() as u64,
            corpus_bytes: self.corpus.load(Ordering::Relaxed),
            memory_bytes: (state.tree.bytes() + laid + misses + views + ranks) as u64,
            watches: state.watched() as u64,
            ready: self.listed.load(Ordering::Acquire) && !self.is_indexing.load(Ordering::Acquire),
        }
    }

    /// Lists the tree, and with `contents` also indexes its files. Closes the index if the tree
    /// cannot be listed completely.
    fn build(&self, walk_root: &WalkRoot<'_>, contents: bool, stop: &StopSignal<'_>) {
        if contents {
            self.request_saved();
        }
        {
            let mut state = self.lock();
            *state = IndexState::new();
            state.tree.mount_points = mounts::mount_points_below(&self.key.real);
            let context = ScanContext { walk_root, names: self.key.names.as_deref(), stop };
            if state.refresh(&context, false).is_err() || !state.is_settled() {
                drop(state);
                self.close();
                return;
            }
            state.begun = true;
        }
        if !self.is_closed() {
            self.listed.store(true, Ordering::Release);
        }
        if contents {
            indexer::index_files(self, walk_root, stop);
        }
    }
}

fn close_and_remove(session: &Session, index: &Arc<Index>) {
    index.close();
    session.indexes.lock().retain(|known| !Arc::ptr_eq(known, index));
}

/// Returns a path without its final slash; `/` for `/`.
fn without_final_slash(real: &[u8]) -> &[u8] {
    match real.strip_suffix(b"/").unwrap_or(real) {
        b"" => b"/",
        path => path,
    }
}
