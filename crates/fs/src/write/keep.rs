//! Moves files that a change has set aside to a private directory outside the roots, and back.
//!
//! A large file that is deleted or replaced is kept for an undo by a rename: its content is neither
//! read nor copied. Landlock does not let a restricted thread move a file out of the roots, so an
//! unrestricted thread (`helper.rs`) renames it. That thread is given the descriptor of a directory
//! that was opened below the roots, one name in it, and the absolute path in the state directory.
//! Only a file that was set aside leaves the roots, and it comes back by the rules for any written
//! path.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use filewright_core::pattern::policy::Intent;
use filewright_core::{Code, Error, Result};
use rustix::fs::{CWD, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::aside::{AsideOutcome, check_aside_name, conflict_error, link_aside, no_aside_error};
use super::flush::sync_content;
use crate::dir::errno::{changing_path_error, not_regular_error, os_error, protected_error};
use crate::dir::stat::{Kind, Stat, Version};
use crate::dir::temp_name::is_aside_name;
use crate::dir::unlink;
use crate::helper::KEPT_FILE_MOVER;
use crate::root::{FinalSymlink, MAX_PATH_ATTEMPTS, MissingPolicy, Roots, parent_of};

/// The maximum time to wait for a rename, which may still be made after it.
const MAX_MOVE_WAIT: Duration = Duration::from_secs(30);

impl Roots {
    /// Moves a file that was set aside at `path`, or is in a directory that was, to the absolute path
    /// `kept`, whose directory is made if it is missing. With `durable`, that directory is flushed before
    /// the call returns; the content of the file and the directory that it left are not.
    ///
    /// # Errors
    /// `UNSUPPORTED_OPERATION` with the reason `aside` for another file system; `NOT_FOUND`,
    /// `NOT_REGULAR_FILE`, `ALREADY_EXISTS`, `INVALID_ARGUMENT` where nothing is set aside,
    /// and the system's errors.
    pub fn put_away(&self, path: &[u8], kept: &[u8], durable: bool) -> Result<()> {
        let place = self.locate(path, Intent::Write, FinalSymlink::Keep, MissingPolicy::Fail)?;
        if !place.real.split(|&byte| byte == b'/').any(is_aside_name) {
            let message = "nothing is set aside under this path";
            return Err(Error::new(Code::InvalidArgument, message));
        }
        let (name, found) = match (&place.name, &place.found) {
            (Some(name), Some(stat)) if stat.kind == Kind::File => (name.clone(), *stat),
            (_, None) => return Err(os_error(Errno::NOENT)),
            _ => return Err(not_regular_error()),
        };
        let dir = rustix::io::fcntl_dupfd_cloexec(&place.dir, 0).map_err(os_error)?;
        let kept = kept.to_vec();
        let put_away = KEPT_FILE_MOVER.run_within(MAX_MOVE_WAIT, move || {
            let moved = rename_new(&dir, &name, CWD, &kept).or_else(|errno| match errno {
                Errno::NOENT => {
                    // Makes only this directory: the whole state directory may have been removed.
                    match rustix::fs::mkdir(parent_of(&kept), Mode::from_raw_mode(0o700)) {
                        Ok(()) | Err(Errno::EXIST) => rename_new(&dir, &name, CWD, &kept),
                        Err(errno) => Err(errno),
                    }
                }
                // If a process ends in `move_to` between the exchange and the removal, the replaced
                // file stays here. It has a second name where it was set aside.
                Errno::EXIST if is_another_file(&kept, &found) => {
                    rustix::fs::renameat(&dir, name.as_slice(), CWD, kept.as_slice())
                }
                errno => Err(errno),
            });
            moved.map_err(|errno| match errno {
                Errno::XDEV => no_aside_error(),
                errno => os_error(errno),
            })?;
            if durable { flush_directory(parent_of(&kept)) } else { Ok(()) }
        });
        put_away.unwrap_or_else(|| Err(not_in_time_error()))
    }

    /// Moves a file back from the absolute path `kept` to `path`, and keeps the file that is there
    /// under the name `aside` in the same directory; without `aside` none may be there. `version` is
    /// the one that the file had before it was set aside.
    ///
    /// # Errors
    /// `CONFLICT` if the file has changed since, as by another of its names; `NOT_FOUND`,
    /// `ALREADY_EXISTS`, `PROTECTED_PATH`, `OUTSIDE_ALLOWED`, `INVALID_ARGUMENT` for a name that is
    /// not from [`super::aside::aside_name`], `UNSUPPORTED_OPERATION` where a file cannot have two
    /// names, and the system's errors. After `IO_ERROR` the file may still come back.
    pub fn bring_back(
        &self,
        kept: &[u8],
        path: &[u8],
        version: &Version,
        aside: Option<&[u8]>,
    ) -> Result<()> {
        check_aside_name(aside)?;
        for _ in 0..MAX_PATH_ATTEMPTS {
            let place =
                self.locate(path, Intent::Write, FinalSymlink::Keep, MissingPolicy::Fail)?;
            let Some(name) = place.name.clone() else { return Err(os_error(Errno::EXIST)) };
            if self.rules().is_or_contains_protected(&place.real) {
                return Err(protected_error());
            }
            let old = place.found;
            match (&old, aside) {
                (None, _) => {}
                (Some(old), Some(aside)) if old.kind == Kind::File => {
                    if link_aside(&place.dir, &name, old, aside)? == AsideOutcome::Again {
                        continue;
                    }
                }
                (Some(_), _) => return Err(os_error(Errno::EXIST)),
            }
            let dir = rustix::io::fcntl_dupfd_cloexec(&place.dir, 0).map_err(os_error)?;
            let kept = KeptFile { path: kept.to_vec(), version: version.clone() };
            let job = move || kept.move_to(&dir, &name, old);
            // The move may still be made, so the file at the path keeps its second name.
            let Some(moved) = KEPT_FILE_MOVER.run_within(MAX_MOVE_WAIT, job) else {
                return Err(not_in_time_error());
            };
            if !matches!(moved, Ok(AsideOutcome::Done)) && old.is_some() {
                unlink(&place.dir, aside.unwrap_or_default()).map_err(os_error)?;
            }
            if moved? == AsideOutcome::Done {
                return Ok(());
            }
        }
        Err(changing_path_error())
    }
}

/// A kept file that is moved back.
struct KeptFile {
    path: Vec<u8>,
    /// The version that it had before it was set aside.
    version: Version,
}

impl KeptFile {
    /// Moves the file, if it still is as it was, to a name in a directory. `old` is the file that has
    /// the name now, and a second one where it is set aside. Returns `Again` if another file has taken
    /// the name since.
    fn move_to(&self, dir: &OwnedFd, name: &[u8], old: Option<Stat>) -> Result<AsideOutcome> {
        let now = Stat::at(CWD, &self.path).map_err(os_error)?;
        if now.kind != Kind::File || !self.version.same_content_facts(&now) {
            return Err(conflict_error("the kept file has changed since it was set aside"));
        }
        let Some(old) = old else {
            rename_new(CWD, &self.path, dir, name).map_err(os_error)?;
            return Ok(AsideOutcome::Done);
        };
        match self.exchange(dir, name) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(AsideOutcome::Again),
            // Old file systems cannot exchange two names. A file that has taken the name in this
            // moment is replaced.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                rustix::fs::renameat(CWD, self.path.as_slice(), dir, name).map_err(os_error)?;
                return Ok(AsideOutcome::Done);
            }
            Err(errno) => return Err(os_error(errno)),
        }
        if Stat::at(CWD, &self.path).is_ok_and(|replaced| replaced.same_file(&old)) {
            // If it cannot be removed, the next file that is kept under this name replaces it.
            let _ = unlink(CWD, &self.path);
            return Ok(AsideOutcome::Done);
        }
        self.exchange(dir, name).map_err(os_error)?;
        Ok(AsideOutcome::Again)
    }

    fn exchange(&self, dir: &OwnedFd, name: &[u8]) -> rustix::io::Result<()> {
        rustix::fs::renameat_with(CWD, self.path.as_slice(), dir, name, RenameFlags::EXCHANGE)
    }
}

/// Returns the error of a move that was not made in [`MAX_MOVE_WAIT`], or that no thread could take.
fn not_in_time_error() -> Error {
    Error::new(Code::IoError, "the file could not be moved in time from or to the state directory")
}

/// Reports whether there is a file at a path that is not the one with this metadata.
fn is_another_file(path: &[u8], found: &Stat) -> bool {
    Stat::at(CWD, path).is_ok_and(|stat| !stat.same_file(found))
}

/// Renames a file unless the new name exists (`EXIST`).
fn rename_new(
    from_dir: impl AsFd,
    from: &[u8],
    to_dir: impl AsFd,
    to: &[u8],
) -> rustix::io::Result<()> {
    match rustix::fs::renameat_with(&from_dir, from, &to_dir, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        result => return result,
    }
    // Old file systems do not support the flag. One of the two names was made for this move alone.
    match Stat::at(&to_dir, to) {
        Ok(_) => Err(Errno::EXIST),
        Err(Errno::NOENT) => rustix::fs::renameat(from_dir, from, to_dir, to),
        Err(errno) => Err(errno),
    }
}

fn flush_directory(path: &[u8]) -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = rustix::fs::open(path, flags, Mode::empty()).map_err(os_error)?;
    sync_content(dir)
}
