//! An index of the files below a directory, always as fresh as the disk.
//!
//! It holds the tree of names and, of each file, which grams its blocks have
//! (`filewright_core::search::Slices`). A query asks it which files can have a
//! match; those are read and searched as a scan would, so the answers are the
//! scan's answers by construction, and an index can be wrong only by leaving a
//! file out. That it never does: files whose state is not known beyond doubt are
//! read by every query.
//!
//! - `watch` hears what changed, `state` takes it in before each query, `list`
//!   compares a directory with what was known of it;
//! - `tree`, `order` and `view` hold what is known, in path order;
//! - `work` chooses the files, `verify` reads them;
//! - `sign` reads all files once, in the background;
//! - `shelf` keeps what was signed for the next process, `kept` says how, and
//!   `adopt` takes it over.
//!
//! What it cannot know: a store through a memory map is told of when the map
//! goes, and a file may be changed through another name that it was given
//! outside the tree. Who must see that too asks with `strict`.

mod adopt;
mod event;
mod fuzzy;
mod kept;
mod laid;
mod lease;
mod list;
mod look;
mod names;
mod order;
mod shelf;
mod sign;
mod state;
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
mod stops;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::time::Duration;

pub use fuzzy::{FuzzyOptions, find_files};
pub(crate) use names::{Listed, files, names};
pub(crate) use shelf::Shelf;

use crate::cancel::{Cancel, Deadline};
use crate::grep::{Fresh, GrepOptions, Search};
use crate::root::{Roots, is_within};
use crate::walk::{Ground, Stop};
use state::{Sight, State};
use view::Views;
use work::Work;

/// A scan that takes less is not worth an index.
pub const WORTH_IT: Duration = Duration::from_millis(25);
/// The most indexes of a process; the one used longest ago goes.
const MOST_INDEXES: usize = 8;
/// The most memory of one index, in bytes; files beyond it are read by every query.
const MOST_BYTES: usize = 512 << 20;
/// The most memory of all indexes of a process, in bytes; the one used longest ago goes.
const MOST_BYTES_IN_ALL: usize = 1 << 30;
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
}

impl Key {
    fn of(ground: &Ground<'_>, names: Option<&[String]>) -> Option<Self> {
        let id = state::id_of(ground)?;
        let (real, names) = (ground.real.clone(), names.map(<[String]>::to_vec));
        Some(Self { real, names, top: ground.top, rules: ground.rules, id })
    }
}

/// An index.
pub(crate) struct Index {
    key: Key,
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
    fn new(key: Key) -> Arc<Self> {
        let off = || AtomicBool::new(false);
        Arc::new(Self {
            key,
            listed: off(),
            signing: off(),
            closed: off(),
            full: off(),
            weight: AtomicUsize::default(),
            corpus: AtomicU64::new(0),
            users: lease::Users::default(),
            state: Mutex::new(State::default()),
            views: Mutex::default(),
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
    fn ask(&self, ground: &Ground<'_>) {
        if let Some(shelf) = ground.roots.shelf.get()
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
    fn keep(&self, ground: &Ground<'_>) {
        let Some(shelf) = ground.roots.shelf.get() else { return };
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
    }

    fn status(&self) -> Status {
        let laid = self.paths.lock().map_or(0, |laid| laid.bytes());
        let state = self.lock();
        Status {
            files: state.tree.live_files as u64,
            unsigned: state.tree.dirty.len() as u64,
            corpus_bytes: self.corpus.load(Ordering::Relaxed),
            memory_bytes: (state.tree.bytes() + laid) as u64,
            watches: state.watched() as u64,
            ready: self.listed.load(Ordering::Acquire) && !self.signing.load(Ordering::Acquire),
        }
    }

    /// Lists the tree and, where contents will be asked for, signs its files.
    fn build(&self, ground: &Ground<'_>, contents: bool, stop: &Stop<'_>) {
        if contents {
            self.ask(ground);
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

/// What an index-driven search saw, beyond what it found.
pub(crate) struct Seen {
    pub unreadable: u64,
    pub ignored: u64,
    pub stopped_at: Option<Box<[u8]>>,
    pub fresh: Fresh,
}

/// Searches by an index; `None` where there is none that knows the tree.
pub(crate) fn search(
    roots: &Arc<Roots>,
    ground: &Ground<'_>,
    options: &GrepOptions,
    stop: &Stop<'_>,
    search: &Search<'_>,
) -> Option<Seen> {
    let names = options.walk.ignore.as_deref();
    let (index, opened) = find(roots, ground, names)?;
    // Candidates are looked up one after another: until the last of them nothing may be emptied.
    let _lease = lease::Lease::of(&index)?;
    let base = opened.as_ref().unwrap_or(ground);
    let below = &ground.real[base.real.len()..];
    let (work, cut, seen) = {
        let (mut state, fresh) = refreshed(roots, &index, base, names, options.strict, stop)?;
        let start = state.tree.find_dir(below)?;
        state.tree.arrange();
        let mut views = index.views.lock().unwrap_or_else(PoisonError::into_inner);
        let view = views.get(&state.tree, start, search);
        let work = Work::of(&state.tree, view, options);
        let (unreadable, ignored) = (view.unreadable, view.ignored);
        let cut = state.tree.dirs[start as usize].shown.len();
        if state.tree.dirty.len() >= sign::FEW {
            sign_again(roots, &index);
        }
        (work, cut, Seen { unreadable, ignored, stopped_at: None, fresh })
    };
    let (stopped_at, bounded) = verify::verify(&index, base, cut, &work, search, stop);
    if !bounded && stopped_at.is_none() {
        search.passed(work.passed.texts, work.passed.binaries, work.passed.large);
    }
    Some(Seen { stopped_at, ..seen })
}

/// The state of an index as the disk is now; `None` where it cannot be had.
fn refreshed<'i>(
    roots: &Roots,
    index: &'i Arc<Index>,
    base: &Ground<'_>,
    names: Option<&[String]>,
    strict: bool,
    stop: &Stop<'_>,
) -> Option<(MutexGuard<'i, State>, Fresh)> {
    let mut state = loop {
        match index.state.try_lock() {
            Ok(state) => break state,
            Err(TryLockError::Poisoned(state)) => break state.into_inner(),
            // Somebody takes in many changes; who is cancelled meanwhile need not wait.
            Err(TryLockError::WouldBlock) if stop.now() => return None,
            Err(TryLockError::WouldBlock) => std::thread::sleep(WAIT),
        }
    };
    // It may have been closed while this waited.
    if !index.listed.load(Ordering::Acquire) {
        return None;
    }
    match state.refresh(&Sight { ground: base, names, stop }, strict) {
        Ok(fresh) if state.is_settled() => Some((state, fresh)),
        Ok(_) => None,
        Err(_) => {
            drop(state);
            forget(roots, index);
            None
        }
    }
}

/// The index that knows the start of a search, and its own start where that is
/// another.
fn find<'r>(
    roots: &'r Roots,
    ground: &Ground<'_>,
    names: Option<&[String]>,
) -> Option<(Arc<Index>, Option<Ground<'r>>)> {
    let index = {
        let indexes = roots.indexes.lock();
        let knows = |index: &&Arc<Index>| {
            let key = &index.key;
            key.names.as_deref() == names
                && key.top == ground.top
                && ground.real.starts_with(&key.real)
        };
        Arc::clone(indexes.iter().filter(knows).max_by_key(|index| index.key.real.len())?)
    };
    if index.is_closed() {
        forget(roots, &index);
        return None;
    }
    if !index.listed.load(Ordering::Acquire) {
        return None;
    }
    let opened = if ground.real == index.key.real {
        None
    } else {
        Some(Ground::open(roots, path_of(&index.key.real), names).ok()?)
    };
    if Key::of(opened.as_ref().unwrap_or(ground), names).as_ref() != Some(&index.key) {
        // Another directory by now, or under other rules.
        forget(roots, &index);
        return None;
    }
    LIVE.touch(&index);
    Some((index, opened))
}

fn forget(roots: &Roots, index: &Arc<Index>) {
    index.close();
    roots.indexes.lock().retain(|known| !Arc::ptr_eq(known, index));
}

fn path_of(real: &[u8]) -> &[u8] {
    match real.strip_suffix(b"/").unwrap_or(real) {
        b"" => b"/",
        path => path,
    }
}

/// Has an index made in the background, of the root that a search was in.
pub(crate) fn make(
    roots: &Arc<Roots>,
    ground: &Ground<'_>,
    names: Option<&[String]>,
    anywhere: bool,
    contents: bool,
) {
    let root = roots.index_root(path_of(&ground.real), |path| anywhere || is_of_use(path));
    let Some(root) = root else { return };
    let Some(index) = register(roots, root, names) else { return };
    index.signing.store(true, Ordering::Release);
    let (roots, root) = (Arc::clone(roots), root.to_vec());
    start(&index, move |index| {
        if let Ok(ground) = Ground::open(&roots, &root, index.key.names.as_deref()) {
            let cancel = Cancel::new();
            let stop = Stop { cancel: &cancel, deadline: Deadline::default() };
            index.build(&ground, contents, &stop);
        }
    });
}

/// Makes an index now, and waits for it. One that is cancelled is thrown away.
///
/// # Errors
/// As [`Roots::open_dir`]; `CANCELLED`.
pub fn warm(
    roots: &Arc<Roots>,
    path: &[u8],
    respect_ignore: bool,
    cancel: &Cancel,
) -> filewright_core::Result<Status> {
    cancel.check()?;
    let names: Vec<String> =
        filewright_core::ignore::FILE_NAMES.map(str::to_owned).into_iter().collect();
    let names = respect_ignore.then_some(&names[..]);
    let ground = Ground::open(roots, path, names)?;
    if let Some((index, _)) = find(roots, &ground, names) {
        return Ok(index.status());
    }
    let Some(index) = register(roots, path_of(&ground.real), names) else {
        return Ok(Status::default());
    };
    index.signing.store(true, Ordering::Release);
    index.awaited.store(true, Ordering::Relaxed);
    let stop = Stop { cancel, deadline: Deadline::default() };
    index.build(&ground, true, &stop);
    index.signing.store(false, Ordering::Release);
    if cancel.is_cancelled() {
        forget(roots, &index);
        cancel.check()?;
    }
    index.weigh(&index.lock());
    LIVE.touch(&index);
    Ok(index.status())
}

/// Has the indexes of a set of roots kept in a directory of state, for processes
/// that follow. To be called by a thread that the kernel does not restrict.
pub fn keep_in(roots: &Roots, state: &[u8]) {
    if let Some(shelf) = Shelf::new(state) {
        // Once: whoever came first stays.
        let _ = roots.shelf.set(shelf);
    }
}

/// Gives back all indexes of a set of roots. The next search makes new ones.
pub fn dispose(roots: &Roots) {
    let indexes = std::mem::take(&mut *roots.indexes.lock());
    indexes.iter().for_each(|index| index.close());
}

/// What is known of the index of a path; `None` where there is none.
///
/// # Errors
/// As [`Roots::open_dir`].
pub fn status(roots: &Roots, path: &[u8]) -> filewright_core::Result<Option<Status>> {
    let real = roots.open_dir(path)?.real;
    let indexes: Vec<Arc<Index>> = roots.indexes.lock().clone();
    let of = indexes.iter().find(|index| is_within(&real, path_of(&index.key.real)));
    Ok(of.map(|index| index.status()))
}

/// Puts a new index into its place; `None` where there is one, or none can be.
fn register(roots: &Roots, root: &[u8], names: Option<&[String]>) -> Option<Arc<Index>> {
    let ground = Ground::open(roots, root, names).ok()?;
    let key = Key::of(&ground, names)?;
    let index = {
        let mut indexes = roots.indexes.lock();
        indexes.retain(|index| !index.is_closed());
        if indexes.iter().any(|index| index.key == key) {
            return None;
        }
        let index = Index::new(key);
        indexes.push(Arc::clone(&index));
        index
    };
    LIVE.touch(&index);
    Some(index)
}

fn sign_again(roots: &Arc<Roots>, index: &Arc<Index>) {
    if index.is_full() || index.signing.swap(true, Ordering::AcqRel) {
        return;
    }
    let roots = Arc::clone(roots);
    start(index, move |index| {
        let names = index.key.names.as_deref();
        if let Ok(ground) = Ground::open(&roots, path_of(&index.key.real), names) {
            let cancel = Cancel::new();
            sign::sign(index, &ground, &Stop { cancel: &cancel, deadline: Deadline::default() });
        }
    });
}

/// Starts a thread that works on an index. It inherits what the kernel allows
/// to the thread that starts it.
fn start(index: &Arc<Index>, work: impl FnOnce(&Index) + Send + 'static) {
    let worked = Arc::clone(index);
    let started =
        std::thread::Builder::new().name("filewright-index".to_owned()).spawn(move || {
            sign::lower_priority();
            // A defect costs the index, not the search.
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&worked)));
            worked.signing.store(false, Ordering::Release);
            if done.is_err() {
                worked.close();
            } else {
                let bytes = worked.lock().tree.bytes();
                worked.full.store(bytes > MOST_BYTES, Ordering::Relaxed);
                worked.weight.store(bytes, Ordering::Relaxed);
                if !worked.is_closed() {
                    LIVE.touch(&worked);
                }
            }
        });
    if started.is_err() {
        index.signing.store(false, Ordering::Release);
    }
}

/// Whether an index of a directory serves anybody: not of a whole file system,
/// nor of all that a user has.
fn is_of_use(path: &[u8]) -> bool {
    use std::os::unix::ffi::OsStrExt as _;
    let home = std::env::var_os("HOME");
    let home = home.as_ref().map(|home| path_of(home.as_bytes()));
    path != b"/" && !home.is_some_and(|home| home != b"/" && is_within(home, path))
}

/// The indexes of this process, the one used last at the end.
static LIVE: Live = Live(Mutex::new(VecDeque::new()));

struct Live(Mutex<VecDeque<Weak<Index>>>);

impl Live {
    /// An index is used. Where there are too many, or they hold too much, others go.
    fn touch(&self, index: &Arc<Index>) {
        self.touch_within(index, MOST_BYTES_IN_ALL);
    }

    fn touch_within(&self, index: &Arc<Index>, most_bytes: usize) {
        let surplus = {
            let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let mut held: Vec<Arc<Index>> = live
                .iter()
                .filter_map(Weak::upgrade)
                .filter(|known| !known.is_closed() && !Arc::ptr_eq(known, index))
                .collect();
            held.push(Arc::clone(index));
            let weigh = |held: &[Arc<Index>]| -> usize {
                held.iter().map(|index| index.weight.load(Ordering::Relaxed)).sum()
            };
            let mut gone = 0;
            while held.len() - gone > 1
                && (held.len() - gone > MOST_INDEXES || weigh(&held[gone..]) > most_bytes)
            {
                gone += 1;
            }
            *live = held[gone..].iter().map(Arc::downgrade).collect();
            held.truncate(gone);
            held
        };
        surplus.iter().for_each(|index| index.close());
    }
}
