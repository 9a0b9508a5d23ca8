//! Saves indexes for later processes: one file each, in the state directory, which only its owner
//! may access.
//!
//! Landlock may restrict search threads to the roots of a policy, and the state directory is
//! outside them. So one thread, started before any restriction, reads and writes all saved indexes.

pub(crate) mod restore;
pub(crate) mod snapshot;
#[cfg(test)]
mod snapshot_tests;

use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, OnceLock};

use filewright_core::hash::sha256;
use rustix::fs::{AtFlags, Mode, OFlags};

use crate::IndexKey;
use crate::store::snapshot::{SavedIndex, Snapshot};
use filewright_fs::dir::stat::{Kind, Stat};
use filewright_fs::lock::open_private_dir;

/// The maximum number of saved indexes in a state directory. Beyond it, the oldest are deleted.
const MAX_SAVED_INDEXES: usize = 16;
/// The subdirectory of the state directory that contains the saved indexes.
const SAVED_INDEXES_DIR: &[u8] = b"indexes";
/// The end of the name of a file that is being written.
const UNFINISHED_SUFFIX: &str = ".new";

type StoreJob = Box<dyn FnOnce() + Send>;

/// The saved indexes of one state directory.
pub(crate) struct IndexStore {
    state: Vec<u8>,
    thread: Sender<StoreJob>,
}

impl std::fmt::Debug for IndexStore {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("an index store")
    }
}

impl IndexStore {
    /// Returns the store of a state directory, which is created on the first save. Must be called
    /// by a thread that Landlock does not restrict. Returns `None` if the thread of the stores
    /// cannot be started.
    pub fn new(state: &[u8]) -> Option<Arc<Self>> {
        static THREAD: OnceLock<Option<Sender<StoreJob>>> = OnceLock::new();
        let thread = THREAD.get_or_init(start_store_thread).clone()?;
        Some(Arc::new(Self { state: state.into(), thread }))
    }

    /// Requests the saved index of a tree. The channel receives it, or `None` if there is no valid
    /// one.
    pub(crate) fn load(self: &Arc<Self>, key: &IndexKey) -> Option<Receiver<Option<SavedIndex>>> {
        let name = key.file_name();
        let (index_store, (told, tell)) = (Arc::clone(self), sync_channel(1));
        let job = move || drop(told.send(index_store.read(&name)));
        self.thread.send(Box::new(job)).ok().map(|()| tell)
    }

    /// Saves an index in the background. Ignores a failure, after which a later process builds the
    /// index again.
    pub(crate) fn save(self: &Arc<Self>, key: &IndexKey, snapshot: Snapshot) {
        let (index_store, name) = (Arc::clone(self), key.file_name());
        // Sending the job fails only if the thread of the stores has ended.
        let _ = self.thread.send(Box::new(move || index_store.write(&name, &snapshot)));
    }

    /// Reads a saved index; `None` if there is no valid one.
    fn read(&self, name: &str) -> Option<SavedIndex> {
        // Loading does not create the directory, because the state directory may have been deleted
        // since the request.
        let dir = open_private_dir(&self.state, SAVED_INDEXES_DIR, false).ok()?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&dir, name, flags, Mode::empty()).ok()?;
        let stat = Stat::of(&file).ok()?;
        // Accepts only a file that no other user can have written.
        let ours = stat.uid == rustix::process::geteuid().as_raw() && stat.mode & 0o022 == 0;
        if stat.kind != Kind::File || !ours {
            return None;
        }
        SavedIndex::read(&file, stat.size)
    }

    /// Writes an index to a new file, renames it to its name, and deletes the oldest ones.
    fn write(&self, name: &str, snapshot: &Snapshot) {
        let Ok(dir) = open_private_dir(&self.state, SAVED_INDEXES_DIR, true) else { return };
        let unfinished = format!("{name}.{}{UNFINISHED_SUFFIX}", std::process::id());
        let flags = OFlags::WRONLY
            | OFlags::CREATE
            | OFlags::TRUNC
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o600);
        let Ok(file) = rustix::fs::openat(&dir, &unfinished, flags, mode) else { return };
        let written = snapshot.write(&file);
        drop(file);
        let renamed =
            written.is_ok() && rustix::fs::renameat(&dir, &unfinished, &dir, name).is_ok();
        if !renamed {
            let _ = rustix::fs::unlinkat(&dir, &unfinished, AtFlags::empty());
        }
        prune(&dir);
    }
}

/// Deletes the oldest files of a directory beyond [`MAX_SAVED_INDEXES`].
fn prune(dir: &OwnedFd) {
    let Ok(entries) = rustix::fs::Dir::read_from(dir) else { return };
    let mut kept: Vec<(i64, Vec<u8>)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().to_bytes();
            let stat = Stat::at(dir, name).ok().filter(|stat| stat.kind == Kind::File)?;
            Some((stat.mtime, name.to_vec()))
        })
        .collect();
    kept.sort_unstable();
    let surplus = kept.len().saturating_sub(MAX_SAVED_INDEXES);
    for (_, name) in &kept[..surplus] {
        let _ = rustix::fs::unlinkat(dir, &name[..], AtFlags::empty());
    }
}

impl IndexKey {
    /// Returns the name of the file in which the index of this tree is saved.
    fn file_name(&self) -> String {
        let Self { real, names, top, rules, .. } = self;
        let names = names.as_ref().map(|names| names.join("/"));
        let text = format!("{} {names:?} {top} {rules}", String::from_utf8_lossy(real));
        // Two paths that are not UTF-8 may get the same name. That is harmless, because a restored
        // index is compared with the disk.
        sha256(text.as_bytes())[7..].to_owned()
    }
}

fn start_store_thread() -> Option<Sender<StoreJob>> {
    let (told, jobs) = channel::<StoreJob>();
    let serve = move || {
        for job in jobs {
            // A panic discards one index but does not end the thread.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
        }
    };
    std::thread::Builder::new().name("filewright-store".to_owned()).spawn(serve).ok()?;
    Some(told)
}
