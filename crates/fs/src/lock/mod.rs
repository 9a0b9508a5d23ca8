//! Locks between processes: one lock file per locked path, in the state directory and never next to
//! the user's file.
//!
//! The kernel ties the lock to the open lock file (`flock`), so that it is released when the holder
//! ends for any reason. The holder unlinks the file on release; a process that locked an unlinked
//! file retries (see `acquire`).
//!
//! One released file stays, still locked, under a name that is no lock: the next lock is that file
//! renamed, which fails where a lock has the name. A call that creates and unlinks a file instead
//! costs ext4 half of the processor time when many follow each other, because it looks for an
//! inode that was not deleted within the last seconds (`recently_deleted`).
//!
//! A lock excludes only users of the same state directory.

use std::os::fd::OwnedFd;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use filewright_core::hash::sha256;
use filewright_core::pattern::policy::Intent;
use filewright_core::{Code, Error, Result};
use rustix::fs::{FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

mod acquire;

use acquire::{LockFile, try_acquire};

use crate::cancel::CancelToken;
use crate::dir::errno::os_error;
use crate::dir::stat::{Kind, Stat};
use crate::dir::sweeps::SweepTimes;
use crate::dir::temp_name::new_temp_name;
use crate::dir::unlink;
use crate::root::{CreatedDirs, FinalSymlink, MissingPolicy, Policy, Roots};
use crate::write::sweep_stale_temp_files;

/// The directory that contains the lock files.
#[derive(Debug)]
pub struct Locks {
    dir: Arc<LockDirectory>,
}

/// A held lock. Dropping it releases the lock.
#[derive(Debug)]
pub struct Lock {
    dir: Arc<LockDirectory>,
    name: String,
    /// `None` once it is released.
    file: Option<LockedFile>,
}

/// A locked file, which has a name as long as no other program removes it.
#[derive(Debug)]
struct LockedFile {
    /// Holds the lock until it is closed.
    _fd: OwnedFd,
    facts: Stat,
}

/// An open directory of lock files, with the locked file that the next lock renames.
#[derive(Debug)]
struct LockDirectory {
    fd: OwnedFd,
    spare_name: Vec<u8>,
    spare: Mutex<Option<LockedFile>>,
}

impl LockDirectory {
    fn spare(&self) -> MutexGuard<'_, Option<LockedFile>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the spare file the lock `name`, and returns it. `None` without one, or if a lock has
    /// the name.
    fn take_spare(&self, name: &str) -> Option<LockedFile> {
        let mut spare = self.spare();
        let file = spare.take()?;
        match self.rename(&self.spare_name, name.as_bytes()) {
            Ok(()) => return self.is_named(name, &file).then_some(file),
            Err(Errno::EXIST) => *spare = Some(file),
            // The file is gone, with the whole directory.
            Err(_) => {}
        }
        None
    }

    /// Reports whether `name` refers to this open file. It does not after another program has deleted the
    /// file of a held lock and another process has made a new one, which the release then kept in
    /// its place: that one is the lock file `name` now, and it is locked by its holder, or not at all.
    fn is_named(&self, name: &str, file: &LockedFile) -> bool {
        Stat::at(&self.fd, name.as_bytes()).is_ok_and(|named| named.same_file(&file.facts))
    }

    /// Releases the lock `name`.
    fn release(&self, name: &str, file: LockedFile) {
        let mut spare = self.spare();
        if spare.is_none() && self.rename(name.as_bytes(), &self.spare_name).is_ok() {
            *spare = Some(file);
        } else {
            // The file is still locked, so no other process can acquire it under this name.
            let _ = unlink(&self.fd, name.as_bytes());
        }
    }

    /// Renames in one step that replaces nothing. Where the system has no such step, there is no
    /// spare file.
    fn rename(&self, from: &[u8], to: &[u8]) -> rustix::io::Result<()> {
        rustix::fs::renameat_with(&self.fd, from, &self.fd, to, RenameFlags::NOREPLACE)
    }
}

impl Drop for LockDirectory {
    fn drop(&mut self) {
        if self.spare().is_some() {
            let _ = unlink(&self.fd, &self.spare_name);
        }
    }
}

/// The times at which directories of locks were swept.
static SWEEPS: LazyLock<SweepTimes> = LazyLock::new(SweepTimes::default);

/// Opens the subdirectory `name` of the state directory. With `make`, creates missing ones of both
/// with the mode 0700.
///
/// # Errors
/// Like [`Locks::open`]; `NOT_FOUND` without `make`.
pub fn open_private_dir(state: &[u8], name: &[u8], make: bool) -> Result<OwnedFd> {
    let everything = Roots::new(&Policy::unconfined())?;
    let mut made = CreatedDirs::private();
    // Resolves a name inside the directory, so that the directory itself is created as a parent.
    let path = [state, b"/", name, b"/any"].concat();
    let missing = if make { MissingPolicy::Make(&mut made) } else { MissingPolicy::Fail };
    let place = everything.locate(&path, Intent::Write, FinalSymlink::Keep, missing)?;
    let dir = place.dir.duplicate().map_err(os_error)?;
    made.keep();
    let stat = Stat::of(&dir).map_err(os_error)?;
    let own = rustix::process::geteuid().as_raw();
    let ours = stat.uid == own || own == 0;
    if !ours || stat.mode & 0o022 != 0 {
        return Err(Error::new(
            Code::InvalidArgument,
            "the state directory is not ours, or others may write in it",
        ));
    }
    Ok(dir)
}

impl Locks {
    /// Opens the directory `locks` in the state directory. Creates missing ones of both with the
    /// mode 0700.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if another user could create or remove lock files; the system's errors.
    pub fn open(state: &[u8]) -> Result<Self> {
        let fd = open_private_dir(state, b"locks", true)?;
        // A process that was killed has left its spare file.
        if SWEEPS.begin(state) {
            sweep_stale_temp_files(&fd);
        }
        let (spare_name, spare) = (new_temp_name(), Mutex::default());
        Ok(Self { dir: Arc::new(LockDirectory { fd, spare_name, spare }) })
    }

    /// Acquires the lock of a real path without waiting; returns `None` if another process holds
    /// it.
    ///
    /// # Errors
    /// The system's errors.
    pub fn try_lock(&self, real: &[u8]) -> Result<Option<Lock>> {
        let name = sha256(real)[7..].to_owned();
        let taken = match self.dir.take_spare(&name) {
            Some(file) => Some(file),
            None => match try_acquire(&NamedLockFile { dir: &self.dir.fd, name: &name })? {
                Some(fd) => Some(LockedFile { facts: Stat::of(&fd).map_err(os_error)?, _fd: fd }),
                None => None,
            },
        };
        Ok(taken.map(|file| Lock { dir: Arc::clone(&self.dir), name, file: Some(file) }))
    }

    /// Acquires the lock of a real path, waiting at most `timeout`.
    ///
    /// # Errors
    /// `LOCK_TIMEOUT`, `CANCELLED` and the system's errors.
    pub fn lock(&self, real: &[u8], timeout: Duration, cancel: &CancelToken) -> Result<Lock> {
        let started = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            cancel.check()?;
            if let Some(lock) = self.try_lock(real)? {
                return Ok(lock);
            }
            let left = timeout.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Err(Error::new(Code::LockTimeout, "another process holds the lock"));
            }
            std::thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            self.dir.release(&self.name, file);
        }
    }
}

/// A lock file, identified by its directory and its name there.
struct NamedLockFile<'a> {
    dir: &'a OwnedFd,
    name: &'a str,
}

impl LockFile for NamedLockFile<'_> {
    type File = OwnedFd;
    type Error = Error;

    /// Opens or creates the file with the mode 0600.
    fn open(&self) -> Result<OwnedFd> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(self.dir, self.name, flags, Mode::from_raw_mode(0o600)).map_err(os_error)
    }

    fn hold(&self, file: &OwnedFd) -> Result<bool> {
        loop {
            match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(true),
                Err(Errno::WOULDBLOCK) => return Ok(false),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(os_error(errno)),
            }
        }
    }

    fn is_named(&self, file: &OwnedFd) -> Result<bool> {
        let held = Stat::of(file).map_err(os_error)?;
        let named = Stat::find(self.dir, self.name.as_bytes())?;
        Ok(held.kind == Kind::File && named.is_some_and(|named| named.same_file(&held)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> (tempfile::TempDir, Vec<u8>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/state").into_os_string().into_encoded_bytes();
        (dir, path)
    }

    #[test]
    fn one_holder_at_a_time() {
        let (_dir, state) = state();
        let (a, b) = (Locks::open(&state).unwrap(), Locks::open(&state).unwrap());
        let held = a.try_lock(b"/w/f").unwrap().unwrap();
        assert!(b.try_lock(b"/w/f").unwrap().is_none());
        assert!(b.try_lock(b"/w/g").unwrap().is_some());
        let late = b.lock(b"/w/f", Duration::from_millis(5), &CancelToken::new());
        assert_eq!(late.unwrap_err().code, Code::LockTimeout);
        let cancel = CancelToken::new();
        cancel.cancel();
        let cancelled = b.lock(b"/w/f", Duration::from_secs(5), &cancel);
        assert_eq!(cancelled.unwrap_err().code, Code::Cancelled);
        drop(held);
        assert!(b.try_lock(b"/w/f").unwrap().is_some());
    }

    fn names(dir: &tempfile::TempDir) -> Vec<String> {
        let found = std::fs::read_dir(dir.path().join("deep/state/locks")).unwrap();
        found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn released_locks_leave_no_files() {
        let (dir, state) = state();
        let locks = Locks::open(&state).unwrap();
        let (one, two) = (locks.try_lock(b"/w/f").unwrap(), locks.try_lock(b"/w/g").unwrap());
        drop(one);
        // A lock outlives the object that gave it.
        drop(locks);
        assert_eq!(names(&dir).len(), 2);
        drop(two);
        assert_eq!(names(&dir).len(), 0);
    }

    #[test]
    fn one_released_file_is_the_next_lock_of_any_name() {
        let (dir, state) = state();
        let (a, b) = (Locks::open(&state).unwrap(), Locks::open(&state).unwrap());
        let inode = |name: &str| {
            use std::os::unix::fs::MetadataExt;
            std::fs::metadata(dir.path().join("deep/state/locks").join(name)).unwrap().ino()
        };
        drop(a.try_lock(b"/w/f").unwrap());
        let spare = names(&dir);
        assert!(spare.len() == 1 && spare[0].starts_with(".filewright-"), "{spare:?}");
        let kept = inode(&spare[0]);
        // The lock is free.
        drop(b.try_lock(b"/w/f").unwrap().unwrap());
        let held = a.try_lock(b"/w/g").unwrap().unwrap();
        assert_eq!(inode(&held.name), kept);
        assert!(b.try_lock(b"/w/g").unwrap().is_none());
        drop(held);
        // The lock of another holder is not replaced, and not taken.
        let other = b.try_lock(b"/w/f").unwrap().unwrap();
        assert!(a.try_lock(b"/w/f").unwrap().is_none());
        drop(other);
        let (one, two) = (a.try_lock(b"/w/f").unwrap(), a.try_lock(b"/w/g").unwrap());
        assert!(one.is_some() && two.is_some());
    }

    #[test]
    fn a_kept_name_that_leads_to_the_file_of_another_is_no_lock() {
        let (dir, state) = state();
        let (a, b, c) = (
            Locks::open(&state).unwrap(),
            Locks::open(&state).unwrap(),
            Locks::open(&state).unwrap(),
        );
        let held = a.try_lock(b"/w/f").unwrap().unwrap();
        std::fs::remove_file(dir.path().join("deep/state/locks").join(&held.name)).unwrap();
        let other = b.try_lock(b"/w/f").unwrap().unwrap();
        // Keeps the file of the other holder under the name of the spare file.
        drop(held);
        assert!(a.try_lock(b"/w/g").unwrap().is_none());
        drop(other);
        let next = a.try_lock(b"/w/g").unwrap().unwrap();
        assert!(c.try_lock(b"/w/g").unwrap().is_none());
        drop(next);
        assert!(c.try_lock(b"/w/g").unwrap().is_some());
    }

    #[test]
    fn what_a_killed_process_left_is_removed() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let dead = child.id();
        child.wait().unwrap();
        let realm = &crate::process::ProcessName::own().realm;
        let left = format!(".filewright-{realm}-{dead:x}-5-0123456789abcdef");
        // A directory that has the inode of a removed one counts as swept.
        let made: Vec<_> = (0..20).map(|_| state()).collect();
        let swept = made.iter().filter(|(dir, state)| {
            drop(open_private_dir(state, b"locks", true).unwrap());
            std::fs::write(dir.path().join("deep/state/locks").join(&left), "").unwrap();
            drop(Locks::open(state).unwrap());
            names(dir).is_empty()
        });
        assert!(swept.count() > 0);
    }

    #[test]
    fn the_directory_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let (dir, state) = state();
        Locks::open(&state).unwrap();
        let locks = dir.path().join("deep/state/locks");
        assert_eq!(std::fs::metadata(&locks).unwrap().permissions().mode() & 0o777, 0o700);
        std::fs::set_permissions(&locks, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(Locks::open(&state).unwrap_err().code, Code::InvalidArgument);
    }

    #[test]
    fn many_threads_never_hold_it_together() {
        let (_dir, state) = state();
        let inside = std::sync::atomic::AtomicU32::new(0);
        let total = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let locks = Locks::open(&state).unwrap();
                    for _ in 0..100 {
                        let lock = locks
                            .lock(b"/x", Duration::from_secs(30), &CancelToken::new())
                            .unwrap();
                        use std::sync::atomic::Ordering::SeqCst;
                        assert_eq!(inside.fetch_add(1, SeqCst), 0);
                        total.fetch_add(1, SeqCst);
                        inside.fetch_sub(1, SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        assert_eq!(total.into_inner(), 400);
    }
}
