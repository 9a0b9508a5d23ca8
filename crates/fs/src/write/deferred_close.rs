//! Giving back a large file that was replaced, beside the answer.
//!
//! When the last name and the last descriptor of a file go, the kernel gives back
//! every page of it that is cached before the call returns: for a file of 100 MB as
//! long as writing its successor takes. So one descriptor of a large file outlives
//! its name, and a thread of its own closes it.
//!
//! Its room on the disk is free a moment later for that, so this is not done on a
//! full disk, whoever meets a quota waits for it ([`wait_for_pending`]), and at most one file
//! is held: nothing heaps up. Network file systems and those that run as programs
//! keep what is open under a name that is seen: they get it back at once.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, MutexGuard};
use std::thread::JoinHandle;

use crate::dir::stat::Stat;

/// From this size on a thread costs less than it spares. Bytes.
const MIN_DEFERRED_BYTES: u64 = 8 << 20;

/// What is being given back.
static PENDING: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// Whether [`close`] should give back the file `old`, which `new` replaces.
pub(super) fn applies_to(new: impl AsFd, old: &Stat) -> bool {
    old.size >= MIN_DEFERRED_BYTES && is_local_and_roomy(new, old.size)
}

/// Whether the kernel itself keeps the files, and there is room for two more of this
/// size.
#[cfg(target_os = "linux")]
fn is_local_and_roomy(fd: impl AsFd, size: u64) -> bool {
    /// ext2 to ext4, XFS, Btrfs, F2FS, tmpfs, overlayfs.
    const LOCAL: [u64; 6] =
        [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994, 0x794c_7630];
    rustix::fs::fstatfs(fd).is_ok_and(|system| {
        #[allow(clippy::unnecessary_cast)] // the types depend on the architecture
        let (kind, block) = (system.f_type as u64 & 0xffff_ffff, system.f_bsize as u64);
        LOCAL.contains(&kind) && system.f_bavail.saturating_mul(block) / 2 >= size
    })
}

#[cfg(not(target_os = "linux"))]
fn is_local_and_roomy(_: impl AsFd, _: u64) -> bool {
    false
}

/// Closes what may be the last descriptor of a large file, soon.
pub(super) fn close(fd: OwnedFd) {
    let mut going = going();
    wait(&mut going);
    // Where there is no thread to be had, the descriptor goes with the closure.
    *going = std::thread::Builder::new().spawn(move || drop(fd)).ok();
}

/// Waits for what is being given back. Whether there was any.
pub(super) fn wait_for_pending() -> bool {
    wait(&mut going())
}

fn going() -> MutexGuard<'static, Option<JoinHandle<()>>> {
    PENDING.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn wait(going: &mut Option<JoinHandle<()>>) -> bool {
    going.take().map(JoinHandle::join).is_some()
}
