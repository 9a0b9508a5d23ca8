//! Moves a complete temporary file into place: by a rename, or for a conditional write by an
//! exchange that is checked afterwards.

use std::os::fd::{AsFd, OwnedFd};

use filewright_core::{Code, Error, Result};
use rustix::fs::{FlockOperation, RenameFlags};
use rustix::io::Errno;

use super::Durability;
use super::flush::sync_content;
use super::replacement::{CommitOutcome, FileReplacement};
use super::temp::TempEntry;
use crate::dir::errno::{os_error, sync_error};
use crate::dir::open_entries;
use crate::dir::renaming::{is_renamed_entry, move_unless_exists};
use crate::dir::stat::{Kind, Stat};
use crate::dir::unlink;
use crate::root::ResolvedEntry;
use crate::write::aside::no_aside_error;

impl FileReplacement<'_> {
    /// Moves the complete temporary file to the name of the target.
    pub fn move_into_place(&self, temp: TempEntry<'_>, fd: &OwnedFd) -> Result<CommitOutcome> {
        let Some(old) = self.old else {
            return match move_unless_exists(&self.place.dir, &temp.name, self.name) {
                Ok(()) => {
                    temp.moved_into_place();
                    Ok(CommitOutcome::Done)
                }
                Err(Errno::EXIST) if self.options.if_absent => Err(os_error(Errno::EXIST)),
                Err(Errno::EXIST) => Ok(CommitOutcome::Again),
                Err(errno) => Err(os_error(errno)),
            };
        };
        // Only one conditional write of Filewright's processes at a time may run in a directory,
        // because exchanges that are reverted must not interleave.
        let _turn = if self.compare { lock_dir_for_exchange(&self.place.dir) } else { None };
        let now = Stat::find(&self.place.dir, self.name)?;
        if !now.is_some_and(|now| now.kind == Kind::File && self.is_unchanged(old, &now)) {
            return Ok(CommitOutcome::Again);
        }
        if (self.compare || self.aside().is_some() || self.options.durability == Durability::None)
            && let Some(moved_into_place) = self.exchange(old, &temp, fd)?
        {
            if matches!(moved_into_place, CommitOutcome::Done) {
                temp.moved_into_place();
            }
            return Ok(moved_into_place);
        }
        if self.aside().is_some() {
            return Err(no_aside_error());
        }
        match rustix::fs::renameat(&self.place.dir, &temp.name[..], &self.place.dir, self.name) {
            Ok(()) => {
                temp.moved_into_place();
                Ok(CommitOutcome::Done)
            }
            // The directory is sticky, or the file is a mount point.
            Err(Errno::PERM | Errno::ACCESS | Errno::BUSY) => Ok(CommitOutcome::InPlace),
            Err(Errno::ISDIR) => Ok(CommitOutcome::Again),
            Err(errno) => Err(os_error(errno)),
        }
    }

    /// Reports whether `now` is still the state `old`; for an unconditional write whether owner and
    /// mode are still those that the new file got.
    fn is_unchanged(&self, old: &Stat, now: &Stat) -> bool {
        self.has_same_access(old, now) && (!self.compare || old.version().same_facts(now))
    }

    /// Reports whether the replaced file has still the owner and mode that were copied from it.
    /// Otherwise another program has changed them while the content was written.
    fn has_same_access(&self, old: &Stat, now: &Stat) -> bool {
        (old.uid, old.gid) == (now.uid, now.gid)
            && (self.options.mode.is_some() || old.mode == now.mode)
    }

    /// Exchanges the two names and checks the removed file. Returns `None` if the file system
    /// cannot exchange.
    fn exchange(
        &self,
        old: &Stat,
        temp: &TempEntry<'_>,
        fd: &OwnedFd,
    ) -> Result<Option<CommitOutcome>> {
        if self.options.durability == Durability::Atomic {
            start_writeback(fd);
        }
        match exchange_names(&self.place.dir, &temp.name, self.name) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(Some(CommitOutcome::Again)),
            Err(_) => return Ok(None),
        }
        let out = Stat::at(&self.place.dir, &temp.name);
        // The exchange itself changes only ctime.
        let expected = out.is_ok_and(|out| {
            out.kind == Kind::File
                && self.has_same_access(old, &out)
                && (!self.compare || is_renamed_entry(&self.place.dir, &out, old))
        });
        if expected {
            if self.aside().is_none() {
                // The name is hidden; if the file cannot be removed now, a sweep removes it later.
                let _ = unlink(&self.place.dir, &temp.name);
            }
            return Ok(Some(CommitOutcome::Done));
        }
        self.revert_exchange(temp, fd)?;
        Ok(Some(CommitOutcome::Again))
    }

    /// Exchanges the two names again, because the first exchange removed an unexpected file. If
    /// another process has replaced our file meanwhile, its file is the newest and stays.
    fn revert_exchange(&self, temp: &TempEntry<'_>, fd: &OwnedFd) -> Result<()> {
        exchange_names(&self.place.dir, &temp.name, self.name).map_err(os_error)?;
        let own = Stat::of(fd).map_err(os_error)?;
        let out = Stat::at(&self.place.dir, &temp.name).map_err(os_error)?;
        if !out.same_file(&own) {
            exchange_names(&self.place.dir, &temp.name, self.name).map_err(os_error)?;
        }
        Ok(())
    }
}

/// Locks a directory (`flock`) for the few system calls of a conditional replacement. Returns
/// `None` if it cannot be locked, or if another process holds the lock for more than about 150 ms.
/// The replacement then runs without it and is still checked by the exchange.
fn lock_dir_for_exchange(dir: impl AsFd) -> Option<OwnedFd> {
    let dir = open_entries(dir, b".").ok().flatten()?;
    for turn in 0..400 {
        match rustix::fs::flock(&dir, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Some(dir),
            Err(Errno::WOULDBLOCK | Errno::INTR) if turn < 100 => std::thread::yield_now(),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                std::thread::sleep(std::time::Duration::from_micros(500));
            }
            Err(_) => return None,
        }
    }
    None
}

/// Exchanges two names of a directory in one step.
fn exchange_names(dir: impl AsFd, a: &[u8], b: &[u8]) -> rustix::io::Result<()> {
    rustix::fs::renameat_with(&dir, a, &dir, b, RenameFlags::EXCHANGE)
}

/// Asks the kernel to start writing a file to disk, without waiting. ext4 does so itself on a
/// replacing rename, but not on an exchange.
fn start_writeback(fd: &OwnedFd) {
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::fadvise(fd, 0, None, rustix::fs::Advice::DontNeed);
    #[cfg(not(target_os = "linux"))]
    let _ = fd;
}

/// Waits until the names in the directory of `place` are on disk; `with_parents` also those in the
/// directories above it (on Linux, of the whole file system). Does nothing if the directory may not
/// be read.
///
/// # Errors
/// With the reason `flush`: the change of a name is made, and a crash of the system may lose it.
pub(crate) fn sync_directory(place: &ResolvedEntry<'_>, with_parents: bool) -> Result<()> {
    flush_names(place, with_parents).map_err(|error| {
        let message = format!("the disk did not confirm the change: {}", error.message);
        // Any other code says that nothing was changed.
        Error { code: Code::IoError, message, ..error }.detail("reason", "flush")
    })
}

fn flush_names(place: &ResolvedEntry<'_>, with_parents: bool) -> Result<()> {
    // A directory that is writable but not readable cannot be opened for this.
    let dir = match open_entries(&place.dir, b".") {
        Ok(Some(dir)) => dir,
        Ok(None) => return Ok(()),
        Err(error) if error.code == Code::PermissionDenied => return Ok(()),
        Err(error) => return Err(error),
    };
    #[cfg(target_os = "linux")]
    if with_parents {
        return rustix::io::retry_on_intr(|| rustix::fs::syncfs(&dir)).map_err(sync_error);
    }
    let _ = with_parents;
    sync_content(&dir)
}
