//! Creates indexes, in the background or while a caller waits, and releases them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::Session;
use crate::lookup::find_index;
use crate::registry::REGISTRY;
use crate::{
    Index, IndexKey, IndexStatus, IndexStore, MAX_INDEX_BYTES, build::indexer, close_and_remove,
    without_final_slash,
};
use filewright_fs::cancel::{CancelToken, Deadline};
use filewright_fs::root::is_within;
use filewright_fs::walk::{StopSignal, WalkRoot};

/// Starts building an index in the background, for the root around the directory of a search; with
/// `contents` also of the contents of files. Does nothing for a directory that
/// [`may_index_unasked`] excludes, unless `anywhere` is true.
pub(crate) fn build_in_background(
    session: &Arc<Session>,
    walk_root: &WalkRoot<'_>,
    names: Option<&[String]>,
    anywhere: bool,
    contents: bool,
) {
    let root = session.roots.index_root(without_final_slash(&walk_root.real), |path| {
        anywhere || may_index_unasked(path)
    });
    let Some(root) = root else { return };
    let Some(index) = register_new_index(session, root, names) else { return };
    index.is_indexing.store(true, Ordering::Release);
    let (session, root) = (Arc::clone(session), root.to_vec());
    start_background_thread(&index, move |index| {
        if let Ok(walk_root) = WalkRoot::open(&session.roots, &root, index.key.names.as_deref()) {
            let cancel = CancelToken::new();
            let stop = StopSignal { cancel: &cancel, deadline: Deadline::default() };
            index.build(&walk_root, contents, &stop);
        }
    });
}

/// Builds an index of a directory with the contents of its files, and returns its status once it is
/// complete; that of the existing one, if there is one. If cancelled, discards the index.
///
/// # Errors
/// Like [`Roots::open_dir`](filewright_fs::root::Roots::open_dir); `CANCELLED`.
pub fn warm(
    session: &Arc<Session>,
    path: &[u8],
    respect_ignore: bool,
    cancel: &CancelToken,
) -> filewright_core::Result<IndexStatus> {
    cancel.check()?;
    let names: Vec<String> = filewright_core::pattern::ignore::IGNORE_FILE_NAMES
        .map(str::to_owned)
        .into_iter()
        .collect();
    let names = respect_ignore.then_some(&names[..]);
    let walk_root = WalkRoot::open(&session.roots, path, names)?;
    if let Some((index, _)) = find_index(session, &walk_root, names) {
        return Ok(index.status());
    }
    let Some(index) = register_new_index(session, without_final_slash(&walk_root.real), names)
    else {
        return Ok(IndexStatus::default());
    };
    index.is_indexing.store(true, Ordering::Release);
    index.requested.store(true, Ordering::Relaxed);
    let stop = StopSignal { cancel, deadline: Deadline::default() };
    index.build(&walk_root, true, &stop);
    index.is_indexing.store(false, Ordering::Release);
    if cancel.is_cancelled() {
        close_and_remove(session, &index);
        cancel.check()?;
    }
    index.update_memory_use(&index.lock());
    REGISTRY.mark_used(&index);
    Ok(index.status())
}

/// Sets the state directory in which the indexes of a session are saved for later processes. Must
/// be called by a thread that is not restricted by Landlock.
pub fn set_state_dir(session: &Session, state: &[u8]) {
    if let Some(index_store) = IndexStore::new(state) {
        // Only the first call has an effect.
        let _ = session.index_store.set(index_store);
    }
}

/// Closes all indexes of a session. A later search may create new ones.
pub fn dispose(session: &Session) {
    let indexes = std::mem::take(&mut *session.indexes.lock());
    indexes.iter().for_each(|index| index.close());
}

/// Returns the status of the index that contains a directory, or `None` if there is none.
///
/// # Errors
/// Like [`Roots::open_dir`](filewright_fs::root::Roots::open_dir).
pub fn status(session: &Session, path: &[u8]) -> filewright_core::Result<Option<IndexStatus>> {
    let real = session.roots.open_dir(path)?.real;
    let indexes: Vec<Arc<Index>> = session.indexes.lock().clone();
    let of = indexes.iter().find(|index| is_within(&real, without_final_slash(&index.key.real)));
    Ok(of.map(|index| index.status()))
}

/// Registers a new, empty index of a directory; returns `None` if there is one already, or the
/// directory cannot be opened.
pub(crate) fn register_new_index(
    session: &Session,
    root: &[u8],
    names: Option<&[String]>,
) -> Option<Arc<Index>> {
    let walk_root = WalkRoot::open(&session.roots, root, names).ok()?;
    let key = IndexKey::of(&walk_root, names)?;
    let index = {
        let mut indexes = session.indexes.lock();
        indexes.retain(|index| !index.is_closed());
        if indexes.iter().any(|index| index.key == key) {
            return None;
        }
        let index = Index::new(key, &session.index_store);
        indexes.push(Arc::clone(&index));
        index
    };
    REGISTRY.mark_used(&index);
    Some(index)
}

/// Starts indexing the changed files of an index in the background, unless that is already running
/// or the index uses too much memory.
pub(crate) fn index_dirty_in_background(session: &Arc<Session>, index: &Arc<Index>) {
    if index.is_over_budget() || index.is_indexing.swap(true, Ordering::AcqRel) {
        return;
    }
    let session = Arc::clone(session);
    start_background_thread(index, move |index| {
        let names = index.key.names.as_deref();
        if let Ok(walk_root) =
            WalkRoot::open(&session.roots, without_final_slash(&index.key.real), names)
        {
            let cancel = CancelToken::new();
            indexer::index_files(
                index,
                &walk_root,
                &StopSignal { cancel: &cancel, deadline: Deadline::default() },
            );
        }
    });
}

/// Starts a thread of low priority that works on an index. It inherits the Landlock restrictions of
/// the calling thread.
fn start_background_thread(index: &Arc<Index>, work: impl FnOnce(&Index) + Send + 'static) {
    let worked = Arc::clone(index);
    let started =
        std::thread::Builder::new().name("filewright-index".to_owned()).spawn(move || {
            indexer::lower_thread_priority();
            // A panic discards the index but fails no search.
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&worked)));
            worked.is_indexing.store(false, Ordering::Release);
            if done.is_err() {
                worked.close();
            } else {
                let bytes = worked.lock().tree.bytes();
                worked.full.store(bytes > MAX_INDEX_BYTES, Ordering::Relaxed);
                worked.memory_bytes.store(bytes, Ordering::Relaxed);
                if !worked.is_closed() {
                    REGISTRY.mark_used(&worked);
                }
            }
        });
    if started.is_err() {
        index.is_indexing.store(false, Ordering::Release);
    }
}

/// Reports whether a directory may be indexed without being asked for: not `/`, and not the home
/// directory or a directory above it.
pub(crate) fn may_index_unasked(path: &[u8]) -> bool {
    use std::os::unix::ffi::OsStrExt as _;
    let home = std::env::var_os("HOME");
    let home = home.as_ref().map(|home| without_final_slash(home.as_bytes()));
    path != b"/" && !home.is_some_and(|home| home != b"/" && is_within(home, path))
}
