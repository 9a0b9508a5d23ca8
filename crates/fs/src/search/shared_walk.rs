//! Lets concurrent searches of one tree share a walk, so that each file is opened and read once for
//! all of them.
//!
//! The first search of a tree walks alone. Searches that are requested meanwhile wait until it ends
//! and then share one walk, which begins after all of them were requested, so that none sees an
//! older state of a file. At most one walk is running and one waiting per tree.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use filewright_core::Result;
use filewright_core::pack::Packed;

use super::grep::{Freshness, GrepOptions};
use super::searcher::{MAX_THREAD_BUFFER_BYTES, Search, SearchThread};
use crate::cancel::{CancelToken, Deadline};
use crate::dir::stat::Kind;
use crate::root::Roots;
use crate::walk::{
    AfterFile, Directory, FileEntry, ReadConditions, ReadOutcome, StopSignal, Visitor, WalkOptions,
    WalkRoot, read_visible, walk,
};

/// The interval at which a waiting search checks for cancellation.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(10);
/// The minimum time until its deadline for a search to wait for a shared walk. One with less time
/// runs alone.
const MIN_TIME_TO_SHARE: Duration = Duration::from_secs(5);

type PackedResults = Result<Vec<Packed>>;

/// For each tree with a running walk, the searches that wait for its end.
#[derive(Debug, Default)]
pub struct SharedWalks(Mutex<HashMap<SearchedTree, Vec<WaitingSearch>>>);

/// A set of files to search: the directory of the search, and the options that select files below
/// it ([`GrepOptions`]`::files_view`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct SearchedTree {
    path: Vec<u8>,
    view: String,
}

#[derive(Debug)]
struct WaitingSearch {
    options: GrepOptions,
    cancel: CancelToken,
    deadline: Deadline,
    tell: SyncSender<PackedResults>,
}

/// A running walk. When dropped, it counts as ended, and a walk for the waiting searches starts.
struct RunningWalk {
    roots: Arc<Roots>,
    walks: Arc<SharedWalks>,
    tree: SearchedTree,
}

/// Searches in a walk that is shared with other searches, or alone with `scan` if no walk of the
/// tree is running.
///
/// # Errors
/// Errors of `scan` and [`super::grep::grep`].
pub fn search_shared(
    walks: &Arc<SharedWalks>,
    roots: &Arc<Roots>,
    path: &[u8],
    options: &GrepOptions,
    stop: &StopSignal<'_>,
    scan: impl FnOnce() -> PackedResults,
) -> PackedResults {
    let hurried = stop.deadline.left().is_some_and(|left| left < MIN_TIME_TO_SHARE);
    if hurried || !options.walk.from.is_empty() {
        return scan();
    }
    let tree = SearchedTree { path: path.to_vec(), view: options.files_view.clone() };
    let told = match walks.lock().get_mut(&tree) {
        Some(waiting) => {
            let (tell, told) = sync_channel(1);
            waiting.push(WaitingSearch {
                options: options.clone(),
                cancel: stop.cancel.clone(),
                deadline: stop.deadline,
                tell,
            });
            Some(told)
        }
        None => None,
    };
    match told.and_then(|told| wait_for_shared_results(&told, stop)) {
        Some(results) => {
            stop.cancel.check()?;
            results
        }
        None => {
            stop.cancel.check()?;
            // If another search has started a walk of the tree by now, this search still runs alone
            // and is not registered.
            let _walking = RunningWalk::begin(walks, roots, tree);
            scan()
        }
    }
}

/// Waits for the result from the shared walk. Returns `None` if it fails or this search is
/// cancelled or out of time, so that this search must run alone.
fn wait_for_shared_results(
    told: &Receiver<PackedResults>,
    stop: &StopSignal<'_>,
) -> Option<PackedResults> {
    loop {
        match told.recv_timeout(CANCEL_CHECK_INTERVAL) {
            Ok(results) => return Some(results),
            Err(RecvTimeoutError::Timeout) if !stop.now() => {}
            Err(_) => return None,
        }
    }
}

impl SharedWalks {
    fn lock(&self) -> MutexGuard<'_, HashMap<SearchedTree, Vec<WaitingSearch>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunningWalk {
    /// Registers a walk of the tree as running; `None` if one is already.
    fn begin(walks: &Arc<SharedWalks>, roots: &Arc<Roots>, tree: SearchedTree) -> Option<Self> {
        let mut under_way = walks.lock();
        if under_way.contains_key(&tree) {
            return None;
        }
        under_way.insert(tree.clone(), Vec::new());
        drop(under_way);
        Some(Self { roots: Arc::clone(roots), walks: Arc::clone(walks), tree })
    }
}

impl Drop for RunningWalk {
    fn drop(&mut self) {
        let next = {
            let mut walks = self.walks.lock();
            match walks.get_mut(&self.tree) {
                Some(waiting) if !waiting.is_empty() => std::mem::take(waiting),
                _ => {
                    walks.remove(&self.tree);
                    return;
                }
            }
        };
        let walking = Self {
            roots: Arc::clone(&self.roots),
            walks: Arc::clone(&self.walks),
            tree: self.tree.clone(),
        };
        let walk = move || {
            let walking = walking;
            walk_together(&walking.roots, &walking.tree.path, next);
        };
        // The new thread inherits the Landlock restrictions of the calling thread. If it cannot be
        // started, the channels of the waiting searches close, and the searches run alone.
        let _ = std::thread::Builder::new().name("filewright-walk".to_owned()).spawn(walk);
    }
}

/// Runs one walk for several searches and sends each its result. The channel of a search without a
/// result closes, and it runs alone.
fn walk_together(roots: &Roots, path: &[u8], waiting: Vec<WaitingSearch>) {
    let first = &waiting[0].options;
    let Ok(walk_root) = WalkRoot::open(roots, path, first.walk.ignore.as_deref()) else { return };
    let earliest = waiting.iter().filter_map(|one| one.deadline.left()).min();
    let cancel = CancelToken::new();
    let stop = StopSignal {
        cancel: &cancel,
        deadline: Deadline::after(earliest.map(|left| left.as_millis() as u64)),
    };
    let members = waiting.iter().map(|one| SharingSearch::new(one, &walk_root, &stop)).collect();
    let together = SharedVisitor { members, options: &first.walk, all: &cancel };
    let Ok((summary, _)) = walk(&walk_root, together.options, &stop, &together) else { return };
    for member in together.members {
        // If the walk was stopped by the earliest deadline, the searches have no result: those with
        // time left run alone.
        if summary.stopped_at.is_none() && !member.waiting.cancel.is_cancelled() {
            let results = member.search.results(
                summary.unreadable,
                summary.ignored_entries(),
                None,
                Freshness::Scan,
            );
            let _ = member.waiting.tell.send(Ok(results));
        }
    }
}

/// One of the searches that share a walk.
struct SharingSearch<'a> {
    waiting: &'a WaitingSearch,
    search: Search<'a>,
    stop: StopSignal<'a>,
    /// This search has enough results and needs no path that sorts after this one. `None`: it needs
    /// all paths.
    bound: Mutex<Option<Box<[u8]>>>,
}

impl<'a> SharingSearch<'a> {
    fn new(waiting: &'a WaitingSearch, walk_root: &'a WalkRoot<'a>, stop: &StopSignal<'a>) -> Self {
        let stop = StopSignal { cancel: &waiting.cancel, deadline: stop.deadline };
        let search = Search::below(&waiting.options, walk_root);
        Self { waiting, search, stop, bound: Mutex::default() }
    }

    fn wants(&self, path: &[u8]) -> bool {
        let bound = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        bound.as_ref().is_none_or(|bound| *path <= **bound)
    }

    fn bound(&self, path: Box<[u8]>) {
        let mut bound = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        if bound.as_ref().is_none_or(|bound| path < *bound) {
            *bound = Some(path);
        }
    }
}

/// The searches that share a walk, as its visitor.
struct SharedVisitor<'a> {
    members: Vec<SharingSearch<'a>>,
    options: &'a WalkOptions,
    /// The token that cancels the walk.
    all: &'a CancelToken,
}

impl SharedVisitor<'_> {
    /// Returns the path after which no search needs anything; `None` if at least one search needs
    /// every path.
    fn bound(&self) -> Option<Box<[u8]>> {
        let mut last: Option<Box<[u8]>> = None;
        for member in self.members.iter().filter(|member| !member.waiting.cancel.is_cancelled()) {
            let bound = member.bound.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
            if last.as_ref().is_none_or(|last| bound > *last) {
                last = Some(bound);
            }
        }
        last
    }
}

impl Visitor for SharedVisitor<'_> {
    /// The buffer for the content of a file, and the state of each search.
    type Local = (Vec<u8>, Vec<SearchThread>);

    const OPENS_FILES: bool = true;

    fn local(&self) -> Self::Local {
        (Vec::new(), self.members.iter().map(|member| member.search.local()).collect())
    }

    fn wants(&self, path: &[u8], kind: Kind) -> bool {
        // All searches of a shared walk want the same files: see `GrepOptions::files_view`.
        self.members.first().is_some_and(|member| member.search.wants(path, kind))
    }

    fn directory(&self, _: &mut Self::Local, _: &Directory<'_>) {
        if self.members.iter().all(|member| member.waiting.cancel.is_cancelled()) {
            self.all.cancel();
        }
    }

    fn file(&self, (buffer, locals): &mut Self::Local, file: &FileEntry<'_>) -> AfterFile {
        let FileEntry { path, .. } = *file;
        let first = self.members.first();
        let look = |text: &[u8], is_end| {
            let lengths = locals.iter().map(|one| one.query.length_without_match(text, is_end));
            lengths.reduce(|least, length| Some(least?.min(length?))).flatten()
        };
        let conditions = ReadConditions {
            max_bytes: first.map_or(0, |one| one.search.options.max_file_bytes),
            hides: &|stat| first.is_some_and(|one| one.search.hides_other_name(stat, path)),
            look: &look,
        };
        let read = read_visible(file, &conditions, buffer);
        let (mut bounded, mut cancelled) = (false, 0);
        for (member, local) in self.members.iter().zip(locals) {
            if member.waiting.cancel.is_cancelled() {
                cancelled += 1;
                continue;
            }
            if !member.wants(path) {
                continue;
            }
            let next = match read {
                Ok(ReadOutcome::Read) => {
                    std::mem::swap(buffer, &mut local.buffer);
                    let next = member.search.content(local, path, &member.stop);
                    std::mem::swap(buffer, &mut local.buffer);
                    next
                }
                _ => member.search.whole(local, path, read, &member.stop),
            };
            match next {
                AfterFile::Continue => {}
                AfterFile::Bound(path) => {
                    member.bound(path);
                    bounded = true;
                }
                // The search was cancelled, which ends no other search. Otherwise the walk is out
                // of time, which ends all searches.
                AfterFile::Interrupted if member.waiting.cancel.is_cancelled() => {}
                AfterFile::Interrupted => return AfterFile::Interrupted,
            }
        }
        if buffer.capacity() > MAX_THREAD_BUFFER_BYTES {
            *buffer = Vec::new();
        }
        if cancelled == self.members.len() {
            self.all.cancel();
        }
        match self.bound() {
            Some(path) if bounded => AfterFile::Bound(path),
            _ => AfterFile::Continue,
        }
    }
}

#[cfg(test)]
mod tests;
