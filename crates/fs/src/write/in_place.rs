//! Writes a file in place: only if it cannot be replaced without changing its owner, or if its
//! directory accepts no new names (a file mounted into a container, or a file in another user's
//! directory).
//!
//! The old content is held in memory until the new one is complete, and is restored if anything
//! fails. A process killed in between can leave a mixture, so this is the last resort.

use std::os::fd::{AsFd, OwnedFd};

use filewright_core::{Code, Error, Result};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::flush::check_close_errors;
use super::source::ContentSource;
use crate::cancel::CancelToken;
use crate::dir::errno::{changing_path_error, os_error};
use crate::dir::stat::Stat;
use crate::read::read_at;

/// The maximum size of a file that is written in place, in bytes, because its old content is held
/// in memory. A larger one is refused with `PERMISSION_DENIED`.
const MAX_BACKUP_BYTES: u64 = 64 << 20;

/// Overwrites the file `name` and returns its descriptor. Fails with `CONFLICT` if its metadata
/// differs from `old`.
pub(crate) fn write_in_place(
    dir: impl AsFd,
    name: &[u8],
    old: &Stat,
    source: &ContentSource<'_>,
    cancel: &CancelToken,
) -> Result<OwnedFd> {
    if old.size > MAX_BACKUP_BYTES {
        return Err(Error::new(
            Code::PermissionDenied,
            "the directory does not allow the file to be replaced, and it is too large to be rewritten in place",
        ));
    }
    let flags =
        OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(dir, name, flags, Mode::empty()).map_err(os_error)?;
    let now = Stat::of(&fd).map_err(os_error)?;
    if !old.version().same_facts(&now) {
        return Err(changing_path_error());
    }
    let mut backup = Vec::with_capacity(now.size as usize);
    while (backup.len() as u64) < now.size {
        let done = backup.len() as u64;
        if read_at(&fd, &mut backup, done)? == 0 {
            break;
        }
    }
    reserve_disk_space(&fd, source)?;
    cancel.check()?;
    // From now on the write is not cancelled, because an incomplete file is worse than a late one.
    let whole = CancelToken::new();
    let written = source.write_to(&fd, &whole).and_then(|length| {
        rustix::fs::ftruncate(&fd, length).map_err(os_error)?;
        check_close_errors(&fd)
    });
    if let Err(error) = written {
        restore_backup(&fd, &backup)?;
        return Err(error);
    }
    Ok(fd)
}

/// Allocates disk space for the new content if the file system supports it, so that a full disk is
/// detected before anything is overwritten. Does nothing if the content comes from another file.
fn reserve_disk_space(fd: &OwnedFd, source: &ContentSource<'_>) -> Result<()> {
    // If the file system cannot reserve space, the write itself reports a full disk.
    #[cfg(target_os = "linux")]
    if let ContentSource::Bytes(bytes) = source
        && !bytes.is_empty()
    {
        let keep = rustix::fs::FallocateFlags::KEEP_SIZE;
        if let Err(errno @ (Errno::NOSPC | Errno::DQUOT)) =
            rustix::fs::fallocate(fd, keep, 0, bytes.len() as u64)
        {
            return Err(os_error(errno));
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (fd, source);
    Ok(())
}

/// Restores the old content after a failure.
fn restore_backup(fd: &OwnedFd, backup: &[u8]) -> Result<()> {
    let mut done = 0;
    while done < backup.len() {
        match rustix::io::pwrite(fd, &backup[done..], done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(os_error(errno)),
        }
    }
    rustix::fs::ftruncate(fd, backup.len() as u64).map_err(os_error)
}
