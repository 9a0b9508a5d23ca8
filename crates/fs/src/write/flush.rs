//! What a file system tells only when a file is closed.
//!
//! Network file systems, and those that run as programs, take bytes and find out
//! later that there is no room for them: the quota or the disk is told when a
//! descriptor of the file is closed. A descriptor that is dropped tells nobody. So
//! a copy of it is closed first, while the old content still stands.

use std::os::fd::{AsFd, IntoRawFd};

use filewright_core::Result;
use rustix::io::Errno;

use crate::dir::errno::os;

/// How often a close that a signal interrupted is asked again.
const TRIES: u32 = 8;

/// Closes a copy of the descriptor: what was written is taken by the file system,
/// or the error is told.
pub(crate) fn flush(fd: impl AsFd) -> Result<()> {
    for _ in 0..TRIES {
        let copy = rustix::io::fcntl_dupfd_cloexec(&fd, 0).map_err(os)?.into_raw_fd();
        // SAFETY: the descriptor was made the line above and is nobody else's; it is
        // closed once and never used again, whatever the answer.
        match unsafe { rustix::io::try_close(copy) } {
            Ok(()) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(os(errno)),
        }
    }
    Err(os(Errno::INTR))
}
