//! Finds the index of a tree and brings its state up to date.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use filewright_core::Error;
use filewright_fs::dir::errno::os_error;
use filewright_fs::search::grep::Freshness;
use filewright_fs::walk::{StopSignal, WalkRoot};
use rustix::io::Errno;

use crate::registry::REGISTRY;
use crate::watch::state::{IndexState, ScanContext};
use crate::{Index, IndexKey, LOCK_POLL_INTERVAL, Session, close_and_remove, without_final_slash};

/// Locks what another thread may hold for long; `None` if `stop` ends the call first.
pub(crate) fn lock_unless_stopped<'m, T>(
    mutex: &'m Mutex<T>,
    stop: &StopSignal<'_>,
) -> Option<MutexGuard<'m, T>> {
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(error)) => return Some(error.into_inner()),
            Err(TryLockError::WouldBlock) if stop.now() => return None,
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_POLL_INTERVAL),
        }
    }
}

/// Returns the error for a directory that was deleted during the call.
pub(crate) fn directory_gone_error() -> Error {
    os_error(Errno::NOENT)
}

/// Applies all changes up to now to an index and returns its locked state, with how it was brought
/// up to date. `None` if the index was closed, is invalid, or `stop` ends the call first. `base` is
/// the start of the index.
pub(crate) fn lock_refreshed_state<'i>(
    session: &Session,
    index: &'i Arc<Index>,
    base: &WalkRoot<'_>,
    names: Option<&[String]>,
    strict: bool,
    stop: &StopSignal<'_>,
) -> Option<(MutexGuard<'i, IndexState>, Freshness)> {
    // Another thread may be applying changes, perhaps many.
    let mut state = lock_unless_stopped(&index.state, stop)?;
    // The index may have been closed while this call waited.
    if !index.listed.load(Ordering::Acquire) {
        return None;
    }
    match state.refresh(&ScanContext { walk_root: base, names, stop }, strict) {
        Ok(fresh) if state.is_settled() => Some((state, fresh)),
        Ok(_) => None,
        Err(_) => {
            drop(state);
            close_and_remove(session, index);
            None
        }
    }
}

/// Returns the index that contains the start of a search, and the start of the index if it is
/// another directory. `None` if there is no such index or it is not listed yet.
pub(crate) fn find_index<'r>(
    session: &'r Session,
    walk_root: &WalkRoot<'_>,
    names: Option<&[String]>,
) -> Option<(Arc<Index>, Option<WalkRoot<'r>>)> {
    // An index leaves out what is denied by real paths only, not by the path that the caller named.
    if walk_root.asked.differs() {
        return None;
    }
    let index = {
        let indexes = session.indexes.lock();
        let knows = |index: &&Arc<Index>| {
            let key = &index.key;
            key.names.as_deref() == names
                && key.top == walk_root.top
                && walk_root.real.starts_with(&key.real)
        };
        Arc::clone(indexes.iter().filter(knows).max_by_key(|index| index.key.real.len())?)
    };
    if index.is_closed() {
        close_and_remove(session, &index);
        return None;
    }
    if !index.listed.load(Ordering::Acquire) {
        return None;
    }
    let opened = if walk_root.real == index.key.real {
        None
    } else {
        Some(WalkRoot::open(&session.roots, without_final_slash(&index.key.real), names).ok()?)
    };
    if IndexKey::of(opened.as_ref().unwrap_or(walk_root), names).as_ref() != Some(&index.key) {
        // Another directory has this path now, or ignore rules above it or mounts below it have
        // changed.
        close_and_remove(session, &index);
        return None;
    }
    REGISTRY.mark_used(&index);
    Some((index, opened))
}
