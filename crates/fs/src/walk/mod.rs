//! Walking a tree: parallel, in path order, without following a link.
//!
//! A walk starts at a directory that [`Roots`](crate::root::Roots) opened and
//! goes on by descriptors and plain names, so it cannot leave the tree whatever
//! is moved about meanwhile. Ignore files are looked for in the listings and
//! never opened blindly; `.git` is never entered; what the policy denies is not
//! seen; special files are passed over.
//!
//! Work lies in a queue ordered by path, so that threads stay near each other:
//! what sorts before the smallest piece of work left is final, and a search
//! that has enough can stop without having looked at the rest. The order of
//! paths is that of the code points of the whole path: a directory counts as if
//! its name ended in `/`.
//!
//! A thread holds at most three descriptors however deep or wide the tree is,
//! and where descriptors run out it waits for others to be closed.

pub mod list;
pub mod list_tree;
mod listing;
mod open;
pub mod options;
pub mod parent_rules;
mod queue;
mod worker;

use std::ffi::CStr;
use std::num::NonZero;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use filewright_core::Result;
use filewright_core::glob::Globs;
use filewright_core::ignore::Stack;

use crate::cancel::{CancelToken, Deadline};
use crate::dir::stat::Kind;
use crate::root::{Resolver, Roots};

pub use listing::Listing;
pub use open::{Content, Opener, open_plain, read_open, read_regular};
pub use queue::DirPath;
use queue::Queue;
use worker::Worker;

/// How deep below the start a walk goes, in directories.
pub const MAX_DEPTH: usize = 2048;

/// How many directory entries are looked at inside ignored directories, when
/// what is hidden there is to be counted.
const IGNORED_BUDGET: u64 = 200_000;

/// Which entries a walk passes by.
#[derive(Clone, Debug)]
pub struct WalkOptions {
    /// Whether names that begin with a dot are seen.
    pub hidden: bool,
    /// The names of ignore files, lowest kind first; `None` ignores nothing.
    pub ignore: Option<Vec<String>>,
    /// What is asked for, relative to the start.
    pub globs: Globs,
    /// Whether ignored directories are entered to count what is hidden there.
    pub count_ignored: bool,
    /// Paths that sort before this one are passed over.
    pub from: Vec<u8>,
}

/// What is done on a walk.
pub trait Visitor: Sync {
    /// What each thread has for itself.
    type Local: Send;

    /// Whether files are opened: then each wanted one is given to
    /// [`Visitor::file`], else directories to [`Visitor::directory`].
    const OPENS_FILES: bool;

    /// A thread's own state.
    fn local(&self) -> Self::Local;

    /// Whether an entry is wanted. `path` is relative to the start.
    fn wants(&self, path: &[u8], kind: Kind) -> bool;

    /// The wanted entries of one directory, in path order.
    fn directory(&self, local: &mut Self::Local, directory: &Directory<'_>);

    /// One wanted file.
    fn file(&self, local: &mut Self::Local, file: &FileEntry<'_>) -> Next;
}

/// The wanted entries of one directory.
pub struct Directory<'a> {
    /// The directory, as shown, with a final slash; empty for the start.
    pub prefix: &'a [u8],
    /// The directory, open for reading.
    pub fd: BorrowedFd<'a>,
    /// All of its entries.
    pub listing: &'a Listing,
    /// Places in the listing.
    pub entries: &'a [u32],
}

/// A file to be opened.
pub struct FileEntry<'a> {
    /// The directory it is in.
    pub dir: BorrowedFd<'a>,
    /// Its name there.
    pub name: &'a CStr,
    /// The path relative to the start, as shown.
    pub path: &'a [u8],
    /// Whether the walk has to end.
    pub stop: &'a StopSignal<'a>,
}

/// What a visitor wants after a file.
pub enum Next {
    /// The next one.
    Continue,
    /// The same; what sorts behind this path is no longer of interest.
    Bound(Box<[u8]>),
    /// The file could not be finished in time.
    Interrupted,
}

/// Why a walk may have to end early.
pub struct StopSignal<'a> {
    /// Set when the caller cancels.
    pub cancel: &'a CancelToken,
    /// When the time is up.
    pub deadline: Deadline,
}

impl StopSignal<'_> {
    /// Whether it must end now.
    pub fn now(&self) -> bool {
        self.cancel.is_cancelled() || self.deadline.passed()
    }
}

/// What became of a walk.
#[derive(Debug, Default)]
pub struct Summary {
    /// Entries that could not be looked at, or lay too deep.
    pub unreadable: u64,
    /// Wanted entries hidden by ignore files; without `count_ignored` also the
    /// directories that were not entered.
    pub ignored: u64,
    /// The walk ended early: everything before this path was seen.
    pub stopped_at: Option<Box<[u8]>>,
}

/// Numbers that all threads add to.
#[derive(Default)]
struct Counters {
    unreadable: AtomicU64,
    ignored: AtomicU64,
    ignored_seen: AtomicU64,
}

impl Counters {
    fn add(counter: &AtomicU64, count: u64) {
        if count > 0 {
            counter.fetch_add(count, Ordering::Relaxed);
        }
    }
}

/// Where a walk starts.
pub struct WalkRoot<'r> {
    /// The roots that the start was opened beneath.
    pub roots: &'r Roots,
    /// The start, open for reading.
    pub fd: OwnedFd,
    /// The absolute real path of the start, with a final slash.
    pub real: Vec<u8>,
    resolver: Resolver,
    /// The ignore rules of the directories above the start.
    pub stack: Stack,
    /// Where paths as the ignore rules see them begin in absolute paths.
    pub top: usize,
    /// What the rules above are, in one number.
    pub rules: u64,
}

impl<'r> WalkRoot<'r> {
    /// Opens the start of a walk.
    ///
    /// # Errors
    /// As [`Roots::open_dir`].
    pub fn open(roots: &'r Roots, path: &[u8], ignore: Option<&[String]>) -> Result<Self> {
        let opened = roots.open_dir(path)?;
        let mut real = opened.real;
        if real.last() != Some(&b'/') {
            real.push(b'/');
        }
        let (stack, top, rules) = match ignore {
            Some(names) => parent_rules::parent_rules(roots, &real, names),
            None => (Stack::new(), real.len(), 0),
        };
        let resolver = roots.resolver();
        Ok(Self { roots, fd: opened.fd, real, resolver, stack, top, rules })
    }
}

/// Walks the tree.
///
/// # Errors
/// `CANCELLED`. A deadline that passes is no error: see [`Summary::stopped_at`].
pub fn walk<V: Visitor>(
    ground: &WalkRoot<'_>,
    options: &WalkOptions,
    stop: &StopSignal<'_>,
    visitor: &V,
) -> Result<(Summary, Vec<V::Local>)> {
    walk_queue(ground, options, stop, visitor, Queue::new(ground.stack.clone()))
}

/// Counts what is wanted and hidden in ignored directories.
///
/// # Errors
/// As [`walk`].
pub fn walk_ignored<V: Visitor>(
    ground: &WalkRoot<'_>,
    options: &WalkOptions,
    stop: &StopSignal<'_>,
    visitor: &V,
    places: Vec<DirPath>,
) -> Result<Summary> {
    if places.is_empty() {
        return Ok(Summary::default());
    }
    Ok(walk_queue(ground, options, stop, visitor, Queue::of_ignored(places))?.0)
}

fn walk_queue<V: Visitor>(
    ground: &WalkRoot<'_>,
    options: &WalkOptions,
    stop: &StopSignal<'_>,
    visitor: &V,
    queue: Queue,
) -> Result<(Summary, Vec<V::Local>)> {
    let counters = Counters::default();
    let worker = || Worker::new(ground, options, stop, visitor, &queue, &counters);
    let mut locals = Vec::new();
    std::thread::scope(|scope| {
        let mut helpers = Vec::new();
        let mut first = worker();
        first.run(|| {
            // Small trees are done before a thread has started.
            for _ in 1..threads() {
                let spawned = std::thread::Builder::new().spawn_scoped(scope, || {
                    let mut worker = worker();
                    worker.run(|| {});
                    worker.finish()
                });
                helpers.extend(spawned);
            }
        });
        locals.push(first.finish());
        for helper in helpers {
            match helper.join() {
                Ok(local) => locals.push(local),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    stop.cancel.check()?;
    let summary = Summary {
        unreadable: counters.unreadable.into_inner(),
        ignored: counters.ignored.into_inner(),
        stopped_at: queue.stopped_at(),
    };
    Ok((summary, locals))
}

/// How many threads search: more than this the disk cache does not feed.
pub fn threads() -> usize {
    // Asked once: the answer is read from several files.
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZero::get).min(16))
}
