//! An index of the files below a directory, always as fresh as the disk.
//!
//! It holds the tree of names and, of each file, which grams its blocks have
//! (`filewright_core::search::Slices`). A query asks it which files can have a
//! match; those are read and searched as a scan would, so the answers are the
//! scan's answers by construction, and an index can be wrong only by leaving a
//! file out. That it never does: files whose state is not known beyond doubt are
//! read by every query.
//!
//! - `make` begins and ends indexes, `live` bounds what all of them hold, `ask` finds
//!   the one that knows a tree and searches by it;
//! - `watch` hears what changed, `state` takes it in before each query, `sweep` asks
//!   where no watch tells, `listing` and `list` compare a directory with what was known
//!   of it, `look` does so for many that are new;
//! - `tree`, `order` and `view` hold what is known, in path order;
//! - `work` chooses the files, `verify` reads them;
//! - `sign` reads all files once, in the background;
//! - `shelf` keeps what was signed for the next process, `kept` says how, and
//!   `adopt` takes it over.
//!
//! - `mounts` tells of what is mounted over files, which no watch does.
//!
//! What it cannot know: the kernel tells nobody of a store through a memory map,
//! written to the disk or not, until the file is closed for good. Who must see
//! that too asks with `IndexMode::Strict`, which reads the contents of every file.

// Tests look at the disk from outside the roots.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod adopt;
mod ask;
mod event;
mod find;
mod fuzzy;
mod grep;
mod kept;
mod laid;
mod lease;
mod list;
mod list_tree;
mod listing;
mod live;
mod look;
mod make;
mod mounts;
mod names;
mod order;
mod outline;
mod ruled_out;
mod session;
mod shelf;
mod sign;
mod state;
mod sweep;
mod tree;
mod verify;
mod view;
#[cfg(target_os = "linux")]
mod watch;
#[cfg(not(target_os = "linux"))]
#[path = "unwatched.rs"]
mod watch;
mod work;

#[cfg(test)]
mod keeping;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod maps;
#[cfg(test)]
mod stops;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

pub use find::find_indexed;
pub use fuzzy::{FuzzyOptions, find_files};
pub use grep::grep_indexed;
pub use list_tree::list_tree;
pub use make::{dispose, keep_in, status, warm};
pub use mounts::prepare;
pub use session::Session;

use filewright_fs::walk::{Ground, Stop};
use ruled_out::RuledOut;
use shelf::Shelf;
use state::{Sight, State};
use view::Views;

/// A scan that takes less is not worth an index.
pub const WORTH_IT: Duration = Duration::from_millis(25);
/// The most memory of one index, in bytes; files beyond it are read by every query.
const MOST_BYTES: usize = 512 << 20;
/// Files of fewer bytes are signed in a moment: an index of them that nobody asked for is not kept.
const WORTH_KEEPING: u64 = 16 << 20;
/// How often a state that somebody else is at is asked for.
const WAIT: Duration = Duration::from_micros(200);

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

/// What an index is of: equal walks see equal trees.
#[derive(Clone, PartialEq, Eq)]
struct Key {
    /// The real path of the start, with a final slash.
    real: Vec<u8>,
    /// The names of ignore files.
    names: Option<Vec<String>>,
    /// Where the rules see paths begin.
    top: usize,
    /// The rules above the start.
    rules: u64,
    id: (u64, u64),
    /// What is mounted below the start, in one number.
    mounts: u64,
}

impl Key {
    fn of(ground: &Ground<'_>, names: Option<&[String]>) -> Option<Self> {
        let id = state::id_of(ground)?;
        let (real, names) = (ground.real.clone(), names.map(<[String]>::to_vec));
        let mounts = mounts::below(&real);
        Some(Self { real, names, top: ground.top, rules: ground.rules, id, mounts })
    }
}

/// An index.
pub(crate) struct Index {
    key: Key,
    shelf: Arc<OnceLock<Arc<Shelf>>>,
    /// The first listing is done.
    listed: AtomicBool,
    signing: AtomicBool,
    closed: AtomicBool,
    full: AtomicBool,
    /// Memory in use, in bytes, when it was last weighed.
    weight: AtomicUsize,
    /// Bytes of the files that were signed.
    corpus: AtomicU64,
    /// Who looks into `state` and must find there what was there before.
    users: lease::Users,
    state: Mutex<State>,
    views: Mutex<Views>,
    ruled_out: Mutex<RuledOut>,
    /// The paths of the files, laid out for scoring.
    paths: Mutex<laid::Laid>,
    /// Somebody waited for it.
    awaited: AtomicBool,
    /// What an earlier process kept was asked for.
    asked: AtomicBool,
    /// It is on its way.
    coming: Mutex<Option<Receiver<Option<kept::Kept>>>>,
    /// How many files were signed since the index was kept.
    unkept: AtomicUsize,
}

/// What is told of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Files in the tree.
    pub files: u64,
    /// Files that are still read by every query.
    pub unsigned: u64,
    /// Bytes of the files that were signed.
    pub corpus_bytes: u64,
    /// Memory in use, in bytes.
    pub memory_bytes: u64,
    /// Directories that are watched.
    pub watches: u64,
    /// Nothing is under way.
    pub ready: bool,
}

impl Index {
    fn new(key: Key, shelf: &Arc<OnceLock<Arc<Shelf>>>) -> Arc<Self> {
        let off = || AtomicBool::new(false);
        Arc::new(Self {
            key,
            shelf: Arc::clone(shelf),
            listed: off(),
            signing: off(),
            closed: off(),
            full: off(),
            weight: AtomicUsize::default(),
            corpus: AtomicU64::new(0),
            users: lease::Users::default(),
            state: Mutex::new(State::default()),
            views: Mutex::default(),
            ruled_out: Mutex::default(),
            paths: Mutex::default(),
            awaited: off(),
            asked: off(),
            coming: Mutex::default(),
            unkept: AtomicUsize::new(0),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ruled_out(&self) -> MutexGuard<'_, RuledOut> {
        self.ruled_out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Stops signing where there is no more room.
    fn weigh(&self, state: &State) {
        let bytes = state.tree.slices.bytes();
        self.full.store(bytes > MOST_BYTES, Ordering::Relaxed);
        self.weight.store(bytes, Ordering::Relaxed);
    }

    /// Asks for what an earlier process kept, once.
    fn ask(&self) {
        if let Some(shelf) = self.shelf.get()
            && !self.asked.swap(true, Ordering::AcqRel)
        {
            *self.coming.lock().unwrap_or_else(PoisonError::into_inner) = shelf.load(&self.key);
        }
    }

    /// Takes over what was asked for.
    fn take_kept(&self, ground: &Ground<'_>, stop: &Stop<'_>) {
        let coming = self.coming.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(coming) = coming else { return };
        loop {
            match coming.recv_timeout(WAIT * 10) {
                Ok(Some(kept)) => return adopt::adopt(self, ground, kept, stop),
                Err(RecvTimeoutError::Timeout) if !stop.now() && !self.is_closed() => {}
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Keeps the index for processes that follow, where enough was signed since.
    fn keep(&self) {
        let Some(shelf) = self.shelf.get() else { return };
        let small = self.corpus.load(Ordering::Relaxed) < WORTH_KEEPING;
        if small && !self.awaited.load(Ordering::Relaxed) {
            return;
        }
        let state = self.lock();
        let (unkept, files) = (self.unkept.load(Ordering::Relaxed), state.tree.live_files);
        if unkept == 0 || unkept * 20 < files || self.is_closed() || !state.tree.is_compact() {
            return;
        }
        self.unkept.store(0, Ordering::Relaxed);
        let snapshot = kept::Snapshot::of(&state.tree);
        drop(state);
        shelf.save(&self.key, snapshot);
    }

    fn count_bytes(&self, bytes: u64) {
        self.corpus.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Gives everything back, as soon as no query looks into it.
    fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.listed.store(false, Ordering::Release);
        if self.users.close() {
            self.empty();
        }
    }

    fn empty(&self) {
        *self.lock() = State::default();
        *self.paths.lock().unwrap_or_else(PoisonError::into_inner) = laid::Laid::default();
        *self.ruled_out() = RuledOut::default();
    }

    fn status(&self) -> Status {
        let laid = self.paths.lock().map_or(0, |laid| laid.bytes());
        let ruled_out = self.ruled_out().bytes();
        let state = self.lock();
        Status {
            files: state.tree.live_files as u64,
            unsigned: state.tree.dirty.len() as u64,
            corpus_bytes: self.corpus.load(Ordering::Relaxed),
            memory_bytes: (state.tree.bytes() + laid + ruled_out) as u64,
            watches: state.watched() as u64,
            ready: self.listed.load(Ordering::Acquire) && !self.signing.load(Ordering::Acquire),
        }
    }

    /// Lists the tree and, where contents will be asked for, signs its files.
    fn build(&self, ground: &Ground<'_>, contents: bool, stop: &Stop<'_>) {
        if contents {
            self.ask();
        }
        {
            let mut state = self.lock();
            *state = State::new();
            let sight = Sight { ground, names: self.key.names.as_deref(), stop };
            if state.refresh(&sight, false).is_err() || !state.is_settled() {
                drop(state);
                self.close();
                return;
            }
            state.begun = true;
            state.tree.arrange();
        }
        if !self.is_closed() {
            self.listed.store(true, Ordering::Release);
        }
        if contents {
            sign::sign(self, ground, stop);
        }
    }
}

fn forget(session: &Session, index: &Arc<Index>) {
    index.close();
    session.indexes.lock().retain(|known| !Arc::ptr_eq(known, index));
}

fn path_of(real: &[u8]) -> &[u8] {
    match real.strip_suffix(b"/").unwrap_or(real) {
        b"" => b"/",
        path => path,
    }
}
