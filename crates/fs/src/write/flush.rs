//! Detects write errors that a file system reports only on close.
//!
//! Network file systems and FUSE accept bytes and find out later that there is no space for them:
//! an exceeded quota or a full disk is reported when a descriptor of the file is closed. Dropping a
//! descriptor discards that error. So a duplicate is closed first, while the old content still
//! exists.

use std::os::fd::{AsFd, IntoRawFd, OwnedFd};

use filewright_core::Result;
use rustix::io::Errno;

use crate::dir::errno::{os_error, sync_error};
use crate::dir::stat::Stat;

/// The number of retries for a close that a signal interrupted.
const MAX_CLOSE_RETRIES: u32 = 8;

/// Closes a duplicate of the descriptor, at which a network file system reports that it could not
/// store written bytes, and returns that error. Does nothing for a file on a device, whose metadata
/// is `stat`.
pub(crate) fn check_close_errors(fd: impl AsFd, stat: &Stat) -> Result<()> {
    if is_on_device(stat) {
        return Ok(());
    }
    for _ in 0..MAX_CLOSE_RETRIES {
        match try_close(rustix::io::fcntl_dupfd_cloexec(&fd, 0).map_err(os_error)?) {
            Ok(()) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(os_error(errno)),
        }
    }
    Err(os_error(Errno::INTR))
}

/// Reports whether the file system of a file is on a device. A network file system and FUSE are not:
/// they may report errors late, and keep an open file without a name under a visible one.
pub(super) fn is_on_device(stat: &Stat) -> bool {
    #[cfg(target_os = "linux")]
    return rustix::fs::major(stat.dev) != 0;
    #[cfg(not(target_os = "linux"))]
    {
        let _ = stat;
        false
    }
}

/// Waits until the content of a file, or the names in a directory, are on disk.
pub(crate) fn sync_content(fd: impl AsFd) -> Result<()> {
    rustix::io::retry_on_intr(|| rustix::fs::fsync(&fd)).map_err(sync_error)
}

/// Closes a descriptor, and returns the error that a network file system reports only then.
pub(super) fn close_with_errors(fd: OwnedFd) -> Result<()> {
    try_close(fd).map_err(os_error)
}

fn try_close(fd: OwnedFd) -> rustix::io::Result<()> {
    // SAFETY: nothing else owns the descriptor; it is closed once and never used again, whatever the
    // result.
    unsafe { rustix::io::try_close(fd.into_raw_fd()) }
}
