//! Asking an index: which one knows a tree, what changed since, and the search itself.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError, TryLockError};

use crate::Session;
use crate::candidates::CandidateSet;
use crate::lifecycle::index_again;
use crate::readers::ReadGuard;
use crate::registry::REGISTRY;
use crate::state::{ScanContext, State};
use crate::{Index, Key, LOCK_POLL_INTERVAL, forget, indexer, path_of, verify};
use filewright_fs::search::grep::{Freshness, GrepOptions};
use filewright_fs::search::searcher::Search;
use filewright_fs::walk::{StopSignal, WalkRoot};

/// What an index-driven search saw, beyond what it found.
pub(crate) struct QueryStats {
    pub unreadable: u64,
    pub ignored: u64,
    pub stopped_at: Option<Box<[u8]>>,
    pub fresh: Freshness,
}

/// Searches by an index; `None` where there is none that knows the tree.
pub(crate) fn search(
    session: &Arc<Session>,
    ground: &WalkRoot<'_>,
    options: &GrepOptions,
    stop: &StopSignal<'_>,
    search: &Search<'_>,
) -> Option<QueryStats> {
    let names = options.walk.ignore.as_deref();
    let (index, opened) = find(session, ground, names)?;
    // Candidates are looked up one after another: until the last of them nothing may be emptied.
    let _lease = ReadGuard::of(&index)?;
    let base = opened.as_ref().unwrap_or(ground);
    let query = options.query.key();
    let ruled_out = index.ruled_out().of(query);
    let below = &ground.real[base.real.len()..];
    let (mut from, mut begins) = (options.walk.from.clone(), search.has_limit());
    loop {
        let (work, next, cut, seen) = {
            let (mut state, fresh) = refreshed(session, &index, base, names, options.strict, stop)?;
            let start = state.tree.find_dir(below)?;
            state.tree.arrange();
            let mut views = index.views.lock().unwrap_or_else(PoisonError::into_inner);
            let view = views.get(&state.tree, start, search);
            // Where some matches will do and most files have one, it takes longer to find out
            // which have than to read the first.
            begins = begins && state.tree.slices.is_unselective(options.query.plan());
            let (work, next) = if begins {
                CandidateSet::first(&state.tree, view, options, &from)
            } else {
                (CandidateSet::of(&state.tree, view, options, &from, &ruled_out), None)
            };
            let (unreadable, ignored) = (view.unreadable, view.ignored);
            let cut = state.tree.dirs[start as usize].shown.len();
            if state.tree.dirty.len() >= indexer::MIN_DIRTY_FILES {
                index_again(session, &index);
            }
            (work, next, cut, QueryStats { unreadable, ignored, stopped_at: None, fresh })
        };
        let verified = verify::verify(&index, base, cut, &work, search, stop);
        index.ruled_out().add(query, verified.ruled_out);
        let stopped_at = verified.stopped_at;
        let all = !verified.bounded && stopped_at.is_none();
        if all {
            search.passed(work.passed.texts, work.passed.binaries, work.passed.large);
        }
        match next.filter(|_| all) {
            Some(next) => (from, begins) = (next, false),
            None => return Some(QueryStats { stopped_at, ..seen }),
        }
    }
}

/// The state of an index as the disk is now; `None` where it cannot be had.
pub(crate) fn refreshed<'i>(
    session: &Session,
    index: &'i Arc<Index>,
    base: &WalkRoot<'_>,
    names: Option<&[String]>,
    strict: bool,
    stop: &StopSignal<'_>,
) -> Option<(MutexGuard<'i, State>, Freshness)> {
    let mut state = loop {
        match index.state.try_lock() {
            Ok(state) => break state,
            Err(TryLockError::Poisoned(state)) => break state.into_inner(),
            // Somebody takes in many changes; who is cancelled meanwhile need not wait.
            Err(TryLockError::WouldBlock) if stop.now() => return None,
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_POLL_INTERVAL),
        }
    };
    // It may have been closed while this waited.
    if !index.listed.load(Ordering::Acquire) {
        return None;
    }
    match state.refresh(&ScanContext { ground: base, names, stop }, strict) {
        Ok(fresh) if state.is_settled() => Some((state, fresh)),
        Ok(_) => None,
        Err(_) => {
            drop(state);
            forget(session, index);
            None
        }
    }
}

/// The index that knows the start of a search, and its own start where that is
/// another.
pub(crate) fn find<'r>(
    session: &'r Session,
    ground: &WalkRoot<'_>,
    names: Option<&[String]>,
) -> Option<(Arc<Index>, Option<WalkRoot<'r>>)> {
    let index = {
        let indexes = session.indexes.lock();
        let knows = |index: &&Arc<Index>| {
            let key = &index.key;
            key.names.as_deref() == names
                && key.top == ground.top
                && ground.real.starts_with(&key.real)
        };
        Arc::clone(indexes.iter().filter(knows).max_by_key(|index| index.key.real.len())?)
    };
    if index.is_closed() {
        forget(session, &index);
        return None;
    }
    if !index.listed.load(Ordering::Acquire) {
        return None;
    }
    let opened = if ground.real == index.key.real {
        None
    } else {
        Some(WalkRoot::open(&session.roots, path_of(&index.key.real), names).ok()?)
    };
    if Key::of(opened.as_ref().unwrap_or(ground), names).as_ref() != Some(&index.key) {
        // Another directory by now, or under other rules.
        forget(session, &index);
        return None;
    }
    REGISTRY.mark_used(&index);
    Some((index, opened))
}
