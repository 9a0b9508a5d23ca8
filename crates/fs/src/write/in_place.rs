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

use super::flush::{check_close_errors, sync_content};
use super::metadata::set_mode;
use super::source::ContentSource;
use crate::cancel::CancelToken;
use crate::dir::errno::{changing_path_error, os_error};
use crate::dir::stat::Stat;
use crate::read::read_at;

/// The maximum size of a file that is written in place, in bytes, because its old content is held
/// in memory. A larger one is refused with `PERMISSION_DENIED`.
const MAX_BACKUP_BYTES: u64 = 64 << 20;

/// Overwrites the file `name` and returns its descriptor. `mode` are the new permission bits; with
/// `flush`, waits until the content is on disk. Fails with `CONFLICT` if its metadata differs from
/// `old`. After any failure the old content and mode are restored; if that fails, too, the error is
/// `IO_ERROR` and says that the content is incomplete.
pub(crate) fn write_in_place(
    dir: impl AsFd,
    name: &[u8],
    old: &Stat,
    source: &ContentSource<'_>,
    (mode, flush): (Option<u32>, bool),
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
        if let Some(mode) = mode {
            set_mode(&fd, mode)?;
        }
        if flush {
            sync_content(&fd)?;
        }
        check_close_errors(&fd, old)
    });
    if let Err(error) = written {
        if mode.is_some() {
            // The error of the write is the one to report.
            let _ = set_mode(&fd, now.mode);
        }
        return Err(restore_after(error, &fd, &backup));
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

/// Restores the old content after the failure `error` of a write, and returns the error to report.
fn restore_after(error: Error, fd: &OwnedFd, backup: &[u8]) -> Error {
    let Err(second) = restore_backup(fd, backup) else { return error };
    if holds(fd, backup) {
        // Only bytes that the write had not reached could not be written.
        return error;
    }
    let message = format!(
        "the content is incomplete: writing it failed ({}), and so did putting the old content back ({})",
        error.message, second.message
    );
    Error::new(Code::IoError, message).hint("write the file again")
}

/// Writes the old content and its length.
fn restore_backup(fd: &OwnedFd, backup: &[u8]) -> Result<()> {
    let mut done = 0;
    while done < backup.len() {
        match rustix::io::pwrite(fd, &backup[done..], done as u64) {
            Ok(0) => return Err(Error::new(Code::NoSpace, "nothing more could be written")),
            Ok(count) => done += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(os_error(errno)),
        }
    }
    rustix::fs::ftruncate(fd, backup.len() as u64).map_err(os_error)
}

/// Reports whether the file has exactly this content.
fn holds(fd: &OwnedFd, content: &[u8]) -> bool {
    let mut now = Vec::with_capacity(content.len() + 1);
    while now.len() <= content.len() {
        let done = now.len() as u64;
        match read_at(fd, &mut now, done) {
            Ok(0) => return now == content,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_restoration_is_reported_unless_the_content_is_whole() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("f");
        let failure = || Error::new(Code::NoSpace, "the disk is full");
        for (now, whole) in [("old", true), ("neo", false), ("ol", false), ("older", false)] {
            std::fs::write(&path, now).unwrap();
            // Nothing can be written to this descriptor.
            let fd = OwnedFd::from(std::fs::File::open(&path).unwrap());
            let error = restore_after(failure(), &fd, b"old");
            if whole {
                assert_eq!(error.code, Code::NoSpace, "{now}");
            } else {
                assert_eq!(error.code, Code::IoError, "{now}");
                let message = &error.message;
                assert!(
                    message.contains("incomplete") && message.contains("disk is full"),
                    "{message}"
                );
            }
        }
    }

    #[test]
    fn the_old_content_is_restored() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("f");
        std::fs::write(&path, "new and longer").unwrap();
        let file = std::fs::File::options().read(true).write(true).open(&path).unwrap();
        let error = restore_after(Error::new(Code::NoSpace, ""), &OwnedFd::from(file), b"old");
        assert_eq!(error.code, Code::NoSpace);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
    }
}
