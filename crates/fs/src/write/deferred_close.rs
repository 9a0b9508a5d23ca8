//! Closes the last descriptor of a large file that was replaced on a background thread, so that the
//! call need not wait until the kernel has freed the file's cached pages.
//!
//! When the last name and the last descriptor of a file are gone, the kernel frees all its cached
//! pages before the call returns: for a file of 100 MB that takes as long as writing the new one.
//! So one descriptor of a large file outlives its name, and a separate thread closes it.
//!
//! The disk space is therefore freed a moment later. So this is not done on a nearly full disk, a
//! call that meets a quota waits for it ([`wait_for_pending_close`]), and at most one file is
//! pending. Network file systems and FUSE keep an open file under a visible name, so there the file
//! is closed at once.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, MutexGuard};
use std::thread::JoinHandle;

use crate::dir::stat::Stat;

/// The minimum size of a file to close in the background, in bytes. Below it, the thread costs more
/// than it saves.
const MIN_DEFERRED_BYTES: u64 = 8 << 20;

/// The thread that is closing a file, or has closed it; `None` without one.
static PENDING_CLOSE: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// Reports whether the file `old`, which `new` replaces, is to be closed by
/// [`close_in_background`]: it is large, on a local file system with enough free space.
pub(super) fn should_defer_close(new: impl AsFd, old: &Stat) -> bool {
    old.size >= MIN_DEFERRED_BYTES && is_local_and_roomy(new, old.size)
}

/// Reports whether the file system of `fd` is local and has free space for two more files of `size`
/// bytes.
#[cfg(target_os = "linux")]
fn is_local_and_roomy(fd: impl AsFd, size: u64) -> bool {
    /// The magic numbers of ext2 to ext4, XFS, Btrfs, F2FS, tmpfs and overlayfs.
    const LOCAL_FILE_SYSTEMS: [u64; 6] =
        [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994, 0x794c_7630];
    rustix::fs::fstatfs(fd).is_ok_and(|system| {
        #[allow(clippy::unnecessary_cast)] // the types depend on the architecture
        let (kind, block) = (system.f_type as u64 & 0xffff_ffff, system.f_bsize as u64);
        LOCAL_FILE_SYSTEMS.contains(&kind) && system.f_bavail.saturating_mul(block) / 2 >= size
    })
}

#[cfg(not(target_os = "linux"))]
fn is_local_and_roomy(_: impl AsFd, _: u64) -> bool {
    false
}

/// Closes a descriptor on a background thread, after waiting for the previous one.
pub(super) fn close_in_background(fd: OwnedFd) {
    let mut pending_close = pending_close();
    wait_for_close(&mut pending_close);
    // If no thread can be started, dropping the closure closes the descriptor.
    *pending_close = std::thread::Builder::new().spawn(move || drop(fd)).ok();
}

/// Waits until the background thread has closed its file, so that its disk space is free. Returns
/// false if there was none.
pub(super) fn wait_for_pending_close() -> bool {
    wait_for_close(&mut pending_close())
}

fn pending_close() -> MutexGuard<'static, Option<JoinHandle<()>>> {
    PENDING_CLOSE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Waits for the thread that is closing a file. Returns false if there is none.
fn wait_for_close(pending_close: &mut Option<JoinHandle<()>>) -> bool {
    pending_close.take().map(JoinHandle::join).is_some()
}
