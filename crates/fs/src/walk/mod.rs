//! Walks a tree in parallel and in path order, without following links.
//!
//! A walk starts at a directory that [`Roots`] opened and continues by
//! descriptors and plain names, so that it cannot leave the tree even if entries are moved
//! meanwhile. Ignore files are found in the listings and never opened speculatively; `.git` is
//! never entered; denied entries are invisible; special files are skipped.
//!
//! Tasks are in a queue ordered by path, and threads take the smallest. So everything that sorts
//! before the smallest remaining task is finished, and a search with enough results can stop
//! without visiting the rest. Paths are ordered by the code points of the whole path; a directory
//! sorts as if its name ended in `/`.
//!
//! A thread holds at most three descriptors at any depth, and if descriptors run out it waits for
//! others to be closed.

mod dir_reader;
mod git_exclude;
pub mod list;
pub mod list_tree;
mod listing;
mod names;
mod open;
pub mod options;
pub mod parent_rules;
mod queue;
mod searched_file;
mod worker;

use std::ffi::CStr;
use std::num::NonZero;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use filewright_core::Result;
use filewright_core::pattern::ignore::Stack;
use filewright_core::walk::WalkLimits;

use crate::cancel::{CancelToken, Deadline};
use crate::dir::stat::Kind;
use crate::root::{AskedName, Resolver, Roots};

pub use dir_reader::walked;
use dir_reader::{DirReader, ReadEntry, path_below};
pub use filewright_core::walk::WalkOptions;
#[cfg(target_os = "linux")]
pub(crate) use git_exclude::start_outside_reader;
pub use git_exclude::{RepoTop, read_outside_exclude};
pub use listing::Listing;
pub use open::{Opener, ReadOutcome, open_plain, read_open, read_regular};
pub use queue::DirPath;
use queue::WalkQueue;
pub use searched_file::{ReadConditions, SearchedFile, read_visible};
use worker::Worker;

/// The maximum depth of a walk below the start, in directories.
pub const MAX_DEPTH: usize = WalkLimits::MAX_DEPTH as usize;

/// The visitor of the entries that a walk finds.
pub trait Visitor: Sync {
    /// The state of each thread.
    type Local: Send;

    /// If true, each matching file is passed to [`Visitor::file`], otherwise the matching entries
    /// of each directory are passed to [`Visitor::directory`].
    const OPENS_FILES: bool;

    /// Creates the state of a thread.
    fn local(&self) -> Self::Local;

    /// Reports whether an entry matches. `path` is relative to the start, in the form for display.
    fn wants(&self, path: &[u8], kind: Kind) -> bool;

    /// Receives the matching entries of one directory, in path order.
    fn directory(&self, local: &mut Self::Local, directory: &Directory<'_>);

    /// Receives one matching file.
    fn file(&self, local: &mut Self::Local, file: &FileEntry<'_>) -> AfterFile;
}

/// The matching entries of one directory.
pub struct Directory<'a> {
    /// The path of the directory relative to the start in the form for display, with a final slash;
    /// empty for the start.
    pub prefix: &'a [u8],
    /// The directory, open for reading.
    pub fd: BorrowedFd<'a>,
    /// All entries of the directory.
    pub listing: &'a Listing,
    /// The indexes of the matching entries in the listing.
    pub entries: &'a [u32],
}

/// A matching file, which the visitor opens.
pub struct FileEntry<'a> {
    /// The directory that contains it.
    pub dir: BorrowedFd<'a>,
    /// The name of the file in that directory.
    pub name: &'a CStr,
    /// The path relative to the start, in the form for display.
    pub path: &'a [u8],
    /// The conditions under which the walk ends early.
    pub stop: &'a StopSignal<'a>,
}

/// The visitor's answer: how the walk continues after a file.
pub enum AfterFile {
    /// Continue.
    Continue,
    /// Continue, but leave out everything that sorts after this path.
    Bound(Box<[u8]>),
    /// The walk must end, because it was cancelled or its time is up before the file was finished.
    Interrupted,
}

/// The conditions under which a walk ends early.
pub struct StopSignal<'a> {
    /// The flag that the caller sets to cancel.
    pub cancel: &'a CancelToken,
    /// The time at which the walk ends with what it has found.
    pub deadline: Deadline,
}

impl StopSignal<'_> {
    /// Reports whether the walk must end now.
    pub fn now(&self) -> bool {
        self.cancel.is_cancelled() || self.deadline.passed()
    }
}

/// The result of a walk.
#[derive(Debug, Default)]
pub struct Summary {
    /// The number of entries that could not be read, or were too deep. A directory that vanished
    /// while the tree was walked is empty.
    pub unreadable: u64,
    /// The number of matching entries that ignore files exclude.
    pub ignored: u64,
    /// The directories that ignore files exclude, and that may contain matching entries.
    pub ignored_dirs: Vec<DirPath>,
    /// The first path that was not visited, if the walk ended early: everything that sorts before
    /// it was visited.
    pub stopped_at: Option<Box<[u8]>>,
}

impl Summary {
    /// Returns the number of ignored files and directories of a walk for files.
    pub fn ignored_entries(&self) -> u64 {
        self.ignored + self.ignored_dirs.len() as u64
    }
}

/// The counters that the threads of a walk share.
#[derive(Default)]
struct Counters {
    unreadable: AtomicU64,
    ignored: AtomicU64,
}

impl Counters {
    /// Adds to a counter, without touching shared memory for 0.
    fn add(counter: &AtomicU64, count: u64) {
        if count > 0 {
            counter.fetch_add(count, Ordering::Relaxed);
        }
    }
}

/// The directory at which a walk starts.
pub struct WalkRoot<'r> {
    /// The roots below which the start was opened.
    pub roots: &'r Roots,
    /// The descriptor of the start, open for reading.
    pub fd: OwnedFd,
    /// The absolute real path of the start, with a final slash.
    pub real: Vec<u8>,
    /// The other path to which deny rules apply as well.
    pub asked: AskedName,
    resolver: Resolver,
    /// The ignore rules of the directories above the start.
    pub stack: Stack,
    /// The number of bytes at the start of an absolute path that are cut off before it is matched
    /// with the ignore rules, which are relative to the topmost directory that they apply to.
    pub top: usize,
    /// A hash of the ignore rules of the directories above the start.
    pub rules: u64,
}

impl<'r> WalkRoot<'r> {
    /// Opens the start of a walk.
    ///
    /// # Errors
    /// Like [`Roots::open_dir`].
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
        let asked = opened.asked;
        Ok(Self { roots, fd: opened.fd, real, asked, resolver, stack, top, rules })
    }

    /// Reports whether deny rules apply to an entry by its absolute real path. Its parent must not
    /// be denied.
    pub fn denied_entry(&self, path: &[u8]) -> bool {
        self.asked.denied_entry(self.roots.rules(), path)
    }
}

/// Walks the tree.
///
/// # Errors
/// `CANCELLED`. Reaching the deadline is no error: see [`Summary::stopped_at`].
pub fn walk<V: Visitor>(
    walk_root: &WalkRoot<'_>,
    options: &WalkOptions,
    stop: &StopSignal<'_>,
    visitor: &V,
) -> Result<(Summary, Vec<V::Local>)> {
    let queue = WalkQueue::new(walk_root.stack.clone());
    let counters = Counters::default();
    let worker = || Worker::new(walk_root, options, stop, visitor, &queue, &counters);
    let (mut locals, mut ignored_dirs) = (Vec::new(), Vec::new());
    let mut add = |(local, ignored): (V::Local, Vec<DirPath>)| {
        locals.push(local);
        ignored_dirs.extend(ignored);
    };
    std::thread::scope(|scope| {
        let mut helpers = Vec::new();
        let mut first = worker();
        first.run(|| {
            // Called only for trees with several tasks, because small ones are finished before a
            // thread has started.
            for _ in 1..threads() {
                let spawned = std::thread::Builder::new().spawn_scoped(scope, || {
                    let mut worker = worker();
                    worker.run(|| {});
                    worker.finish()
                });
                helpers.extend(spawned);
            }
        });
        add(first.finish());
        for helper in helpers {
            match helper.join() {
                Ok(finished) => add(finished),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    stop.cancel.check()?;
    let summary = Summary {
        unreadable: counters.unreadable.into_inner(),
        ignored: counters.ignored.into_inner(),
        ignored_dirs,
        stopped_at: queue.stopped_at(),
    };
    Ok((summary, locals))
}

/// Returns the number of matching entries in directories that ignore files exclude. `None` if these
/// have more than `most` entries, or cannot all be read before `stop`.
pub fn matches_in_ignored<V: Visitor>(
    walk_root: &WalkRoot<'_>,
    options: &WalkOptions,
    stop: &StopSignal<'_>,
    visitor: &V,
    (dirs, most): (&[DirPath], usize),
) -> Option<u64> {
    let options = WalkOptions { ignore: None, ..options.clone() };
    let mut reader = DirReader::new(walk_root, &options, stop);
    let (mut left, mut seen, mut found) = (dirs.to_vec(), 0, 0);
    while let Some(place) = left.pop() {
        let dir = reader.read(&place, &Stack::new()).ok()?;
        let wants = |path: &[u8], kind: Kind| visitor.wants(path, kind);
        reader.entries(&dir, wants, |ReadEntry { index, listing, decision, .. }| {
            found += u64::from(decision.selected);
            if decision.enter {
                left.push(path_below(&place, listing, index));
            }
        });
        seen += reader.listed();
        if seen > most || stop.now() {
            return None;
        }
    }
    Some(found)
}

/// Returns the number of threads of a walk: the number of processors, at most 16, because more
/// would only wait for the kernel's file cache.
pub fn threads() -> usize {
    // Computed once, because the system call reads several files.
    static THREAD_COUNT: OnceLock<usize> = OnceLock::new();
    *THREAD_COUNT
        .get_or_init(|| std::thread::available_parallelism().map_or(1, NonZero::get).min(16))
}
