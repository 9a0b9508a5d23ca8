//! Putting a complete temporary file in place: a rename, or for a conditional
//! write an exchange whose outcome is looked at.

use std::os::fd::{AsFd, OwnedFd};

use filewright_core::{Code, Result};
use rustix::fs::{AtFlags, FlockOperation, RenameFlags};
use rustix::io::Errno;

use super::Durability;
use super::replacement::Replacement;
use super::temp::Temp;
use crate::dir::errno::os;
use crate::dir::open_entries;
use crate::dir::stat::{Kind, Stat};
use crate::dir::unlink;
use crate::root::ResolvedEntry;
use crate::write::aside::no_aside;

/// How putting into place ended.
pub(super) enum CommitOutcome {
    Done,
    /// The path changed meanwhile: look again.
    Again,
    /// A rename is not allowed here.
    InPlace,
}

impl Replacement<'_> {
    /// Puts the temporary file in place.
    pub fn put(&self, temp: Temp<'_>, fd: &OwnedFd) -> Result<CommitOutcome> {
        let Some(old) = self.old else {
            return match place_new(&self.place.dir, &temp.name, self.name) {
                Ok(()) => {
                    temp.placed();
                    Ok(CommitOutcome::Done)
                }
                Err(Errno::EXIST) if self.options.if_absent => Err(os(Errno::EXIST)),
                Err(Errno::EXIST) => Ok(CommitOutcome::Again),
                Err(errno) => Err(os(errno)),
            };
        };
        // Among ourselves one conditional writer at a time: exchanges that are
        // put back must not meet each other.
        let _turn = if self.compare { lock_dir(&self.place.dir) } else { None };
        let now = Stat::find(&self.place.dir, self.name)?;
        if !now.is_some_and(|now| now.kind == Kind::File && self.still(old, &now)) {
            return Ok(CommitOutcome::Again);
        }
        if (self.compare || self.aside().is_some() || self.options.durability == Durability::None)
            && let Some(placed) = self.exchange(old, &temp, fd)?
        {
            if matches!(placed, CommitOutcome::Done) {
                temp.placed();
            }
            return Ok(placed);
        }
        if self.aside().is_some() {
            return Err(no_aside());
        }
        match rustix::fs::renameat(&self.place.dir, &temp.name[..], &self.place.dir, self.name) {
            Ok(()) => {
                temp.placed();
                Ok(CommitOutcome::Done)
            }
            // A sticky directory, a file that something is mounted on.
            Err(Errno::PERM | Errno::ACCESS | Errno::BUSY) => Ok(CommitOutcome::InPlace),
            Err(Errno::ISDIR) => Ok(CommitOutcome::Again),
            Err(errno) => Err(os(errno)),
        }
    }

    fn still(&self, old: &Stat, now: &Stat) -> bool {
        !self.compare || old.version().same_facts(now)
    }

    /// Exchanges the two names and looks at what came out. `None` where the
    /// file system cannot exchange.
    fn exchange(&self, old: &Stat, temp: &Temp<'_>, fd: &OwnedFd) -> Result<Option<CommitOutcome>> {
        if self.options.durability == Durability::Atomic {
            start_writing(fd);
        }
        match swap(&self.place.dir, &temp.name, self.name) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(Some(CommitOutcome::Again)),
            Err(_) => return Ok(None),
        }
        let out = Stat::at(&self.place.dir, &temp.name);
        // The exchange itself touches the time of change, nothing else.
        let expected = out.is_ok_and(|out| {
            out.kind == Kind::File
                && (!self.compare
                    || (out.same_file(old) && out.size == old.size && out.mtime == old.mtime))
        });
        if expected {
            if self.aside().is_none() {
                // Already out of sight: what cannot be removed now is swept later.
                let _ = unlink(&self.place.dir, &temp.name);
            }
            return Ok(Some(CommitOutcome::Done));
        }
        self.put_back(temp, fd)?;
        Ok(Some(CommitOutcome::Again))
    }

    /// Undoes an exchange that brought out something unexpected. If somebody
    /// replaced our file in that very moment, theirs is the newest and stays.
    fn put_back(&self, temp: &Temp<'_>, fd: &OwnedFd) -> Result<()> {
        swap(&self.place.dir, &temp.name, self.name).map_err(os)?;
        let own = Stat::of(fd).map_err(os)?;
        let out = Stat::at(&self.place.dir, &temp.name).map_err(os)?;
        if !out.same_file(&own) {
            swap(&self.place.dir, &temp.name, self.name).map_err(os)?;
        }
        Ok(())
    }
}

/// Waits for its turn in a directory: a lock on the directory itself, held for
/// the few system calls of a comparison. `None` where the directory cannot be
/// locked, or somebody sits on the lock: then the exchange alone must do.
fn lock_dir(dir: impl AsFd) -> Option<OwnedFd> {
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

fn swap(dir: impl AsFd, a: &[u8], b: &[u8]) -> rustix::io::Result<()> {
    rustix::fs::renameat_with(&dir, a, &dir, b, RenameFlags::EXCHANGE)
}

/// Gives an entry its name, unless that is taken: `EXIST`.
pub(crate) fn place_new(dir: impl AsFd, from: &[u8], to: &[u8]) -> rustix::io::Result<()> {
    match rustix::fs::renameat_with(&dir, from, &dir, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        result => return result,
    }
    // Old file systems: a second name is exclusive as well, for files.
    match rustix::fs::linkat(&dir, from, &dir, to, AtFlags::empty()) {
        Ok(()) => return unlink(&dir, from),
        Err(errno @ (Errno::EXIST | Errno::NOENT | Errno::NOSPC | Errno::DQUOT)) => {
            return Err(errno);
        }
        Err(_) => {}
    }
    // No file system with neither has users who race; directories end here too.
    match Stat::at(&dir, to) {
        Ok(_) => Err(Errno::EXIST),
        Err(Errno::NOENT) => rustix::fs::renameat(&dir, from, &dir, to),
        Err(errno) => Err(errno),
    }
}

/// Has the kernel start to write a file out, without waiting: what ext4 does by
/// itself on a replacing rename, and not on an exchange.
fn start_writing(fd: &OwnedFd) {
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::fadvise(fd, 0, None, rustix::fs::Advice::DontNeed);
    #[cfg(not(target_os = "linux"))]
    let _ = fd;
}

/// Waits for the names in a directory to be on the disk.
pub(crate) fn sync_directory(place: &ResolvedEntry<'_>, with_parents: bool) -> Result<()> {
    // A directory that may be written and not read cannot be opened for this.
    let dir = match open_entries(&place.dir, b".") {
        Ok(Some(dir)) => dir,
        Ok(None) => return Ok(()),
        Err(error) if error.code == Code::PermissionDenied => return Ok(()),
        Err(error) => return Err(error),
    };
    #[cfg(target_os = "linux")]
    if with_parents {
        return rustix::fs::syncfs(&dir).map_err(os);
    }
    let _ = with_parents;
    rustix::fs::fsync(&dir).map_err(os)
}
