//! The log of the changes of a tree. What is computed from the tree (`QueryView`, `PathColumns`) is
//! brought up to date from it.

use std::sync::atomic::{AtomicU64, Ordering};

/// The changes of a tree since the log was last emptied. Each emptying begins an epoch.
pub(crate) struct ChangeLog {
    /// A number that no other epoch of any tree in the process has.
    epoch: u64,
    /// The directories whose entries changed, or became readable or unreadable, or that were removed.
    pub dirs: Vec<u32>,
    /// The files whose state changed, or that were removed, some several times. A file that was added
    /// has a number of those that the tree did not have before, and its directory is in `dirs`.
    pub files: Vec<u32>,
}

/// The number of changes that the log of even an empty tree may hold. Smaller in tests, whose trees are small.
const MIN_EPOCH_CHANGES: usize = if cfg!(test) { 16 } else { 4096 };

impl Default for ChangeLog {
    fn default() -> Self {
        static EPOCHS: AtomicU64 = AtomicU64::new(0);
        let epoch = EPOCHS.fetch_add(1, Ordering::Relaxed);
        Self { epoch, dirs: Vec::new(), files: Vec::new() }
    }
}

impl ChangeLog {
    /// Begins a new epoch if the log is so long that computing from the whole tree of `files` files
    /// is about as fast as following it.
    pub fn limit(&mut self, files: usize) {
        if self.dirs.len() + self.files.len() > files / 4 + MIN_EPOCH_CHANGES {
            *self = Self::default();
        }
    }
}

/// The part of a log that a follower has applied.
#[derive(Clone, Copy)]
pub(crate) struct SeenChanges {
    epoch: u64,
    dirs: usize,
    files: usize,
}

impl SeenChanges {
    /// Returns the position at the end of a log.
    pub fn of(log: &ChangeLog) -> Self {
        Self { epoch: log.epoch, dirs: log.dirs.len(), files: log.files.len() }
    }

    /// Reports whether the log still has the later changes. Otherwise the follower starts again from the whole tree.
    pub fn is_kept_by(&self, log: &ChangeLog) -> bool {
        self.epoch == log.epoch
    }

    /// Returns the later changes of directories.
    pub fn dirs_of<'l>(&self, log: &'l ChangeLog) -> &'l [u32] {
        log.dirs.get(self.dirs..).unwrap_or_default()
    }

    /// Returns the later changes of files.
    pub fn files_of<'l>(&self, log: &'l ChangeLog) -> &'l [u32] {
        log.files.get(self.files..).unwrap_or_default()
    }
}
