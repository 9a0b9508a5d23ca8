//! Temporary files, created next to their target and always removed.
//!
//! They are created exclusively, so that a planted file or link is never opened. One that is not
//! renamed into place is removed when dropped; those of killed processes are swept by the next
//! change in the directory. `dir::temp_name` creates and parses their names.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, SystemTime};

use filewright_core::{Code, Error, Result};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::cancel::CancelToken;
use crate::dir::errno::os_error;
use crate::dir::stat::Stat;
use crate::dir::temp_name::{creator_of_temp_file, is_aside_name, new_temp_name};
use crate::dir::tree::remove_temp_entry;
use crate::dir::{for_each_name, open_entries};
use crate::process::ProcessName;
use crate::root::{ResolvedEntry, Roots, parent_of};

/// The age after which a temporary file is removed if its process cannot be checked, because it ran
/// in another boot, machine or container.
const MIN_FOREIGN_TEMP_AGE: Duration = Duration::from_secs(3600);

/// The age before which an entry that was moved aside is not removed although its process has
/// ended, because the journal may still need it to roll an unfinished change back.
const MIN_ASIDE_AGE: Duration = Duration::from_secs(7 * 24 * 3600);

/// A temporary file or directory. Removed when dropped, unless it was renamed into place.
#[derive(Debug)]
pub(crate) struct TempEntry<'d> {
    dir: BorrowedFd<'d>,
    pub name: Vec<u8>,
    moved_into_place: bool,
}

impl<'d> TempEntry<'d> {
    /// Creates an empty file with a new temporary name in a directory, open for writing. The umask
    /// applies to `mode`.
    pub(crate) fn file(dir: BorrowedFd<'d>, mode: u32) -> rustix::io::Result<(Self, OwnedFd)> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Self::make(dir, |name| rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(mode as _)))
    }

    /// Does the same as [`TempEntry::file`], with a name that the caller chose, which must not
    /// exist.
    pub(crate) fn named_file(
        dir: BorrowedFd<'d>,
        name: &[u8],
        mode: u32,
    ) -> rustix::io::Result<(Self, OwnedFd)> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(mode as _))?;
        Ok((Self { dir, name: name.to_vec(), moved_into_place: false }, fd))
    }

    /// Creates an empty directory with a new temporary name and the mode 0700.
    pub(crate) fn directory(dir: BorrowedFd<'d>) -> rustix::io::Result<Self> {
        Self::make(dir, |name| rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(0o700)))
            .map(|(temp, ())| temp)
    }

    /// Calls `make` with new names until one does not exist yet, at most nine times.
    fn make<T>(
        dir: BorrowedFd<'d>,
        make: impl Fn(&[u8]) -> rustix::io::Result<T>,
    ) -> rustix::io::Result<(Self, T)> {
        let mut tries = 0;
        loop {
            let name = new_temp_name();
            match make(&name) {
                Ok(made) => return Ok((Self { dir, name, moved_into_place: false }, made)),
                // The random part of the name has 64 bits, so another process probably creates such
                // names on purpose.
                Err(Errno::EXIST) if tries < 8 => tries += 1,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    /// Records that the file was renamed or exchanged, so that it is not removed on drop.
    pub(crate) fn moved_into_place(mut self) {
        self.moved_into_place = true;
    }
}

impl Drop for TempEntry<'_> {
    fn drop(&mut self) {
        if !self.moved_into_place {
            // An error of the removal is ignored, because the failure that caused it is reported.
            let _ = remove_temp_entry(self.dir, &self.name);
        }
    }
}

impl Roots {
    /// Removes the temporary files of ended processes from the directory of an entry, unless that was
    /// done within the last minute. Ignores files that cannot be removed.
    pub(crate) fn sweep_temp_files(&self, place: &ResolvedEntry<'_>) {
        if self.sweeps.begin(parent_of(&place.real)) {
            sweep_stale_temp_files(&place.dir);
        }
    }
}

/// Removes the temporary files of ended processes from a directory, and returns their number.
pub(crate) fn sweep_stale_temp_files(dir: impl AsFd) -> usize {
    let Ok(Some(entries)) = open_entries(&dir, b".") else { return 0 };
    let mut stale: Vec<Vec<u8>> = Vec::new();
    let _ = for_each_name(&entries, |name, _| {
        if let Some(creator) = creator_of_temp_file(name)
            && is_stale_temp_file(&entries, name, &creator)
        {
            stale.push(name.to_vec());
        }
        Ok(())
    });
    stale.iter().filter(|name| remove_temp_entry(entries.as_fd(), name).is_ok()).count()
}

/// Reports whether a temporary file of the process `creator` may be removed: it belongs to the user
/// of this process, and `creator` has ended, or cannot be checked and the file is older than
/// [`MIN_FOREIGN_TEMP_AGE`]. An entry that was moved aside must be older than [`MIN_ASIDE_AGE`] in
/// both cases.
fn is_stale_temp_file(dir: &OwnedFd, name: &[u8], creator: &ProcessName) -> bool {
    let ended = creator.has_ended();
    if ended == Some(false) {
        return false;
    }
    let Ok(stat) = Stat::at(dir, name) else { return false };
    if !is_swept_by(rustix::process::geteuid().as_raw(), stat.uid) {
        return false;
    }
    if ended == Some(true) && !is_aside_name(name) {
        return true;
    }
    let age = if is_aside_name(name) { MIN_ASIDE_AGE } else { MIN_FOREIGN_TEMP_AGE };
    let Ok(changed) = u64::try_from(stat.ctime) else { return true };
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .is_ok_and(|now| now.saturating_sub(Duration::from_nanos(changed)) > age)
}

/// Reports whether a process of the user `own` removes stale temporary files of the user `owner`.
/// Others remove theirs themselves. Root removes all, because it gives the files that it writes to
/// the owners of those that they replace.
fn is_swept_by(own: u32, owner: u32) -> bool {
    own == owner || own == 0
}

/// Writes all bytes at the offset `at` of a file, in blocks of
/// [`BYTES_PER_READ`](crate::read::BYTES_PER_READ), and checks the cancel token before each.
pub(crate) fn write_all_at(
    fd: impl AsFd,
    mut bytes: &[u8],
    mut at: u64,
    cancel: &CancelToken,
) -> Result<()> {
    while !bytes.is_empty() {
        cancel.check()?;
        let block = &bytes[..bytes.len().min(crate::read::BYTES_PER_READ)];
        match rustix::io::pwrite(&fd, block, at) {
            // A write that succeeds without writing anything would make the loop endless.
            Ok(0) => return Err(Error::new(Code::NoSpace, "nothing more could be written")),
            Ok(count) => {
                bytes = &bytes[count..];
                at += count as u64;
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(os_error(errno)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_name_is_not_used() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = rustix::fs::open(tmp.path(), OFlags::PATH, Mode::empty()).unwrap();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let target = tmp.path().join("target");
        for (planted, works) in [(1, true), (8, true), (9, false)] {
            let tried = std::cell::Cell::new(0);
            let made = TempEntry::make(dir.as_fd(), |name| {
                tried.set(tried.get() + 1);
                if tried.get() <= planted {
                    rustix::fs::symlinkat(&target, &dir, name).unwrap();
                }
                rustix::fs::openat(&dir, name, flags, Mode::from_raw_mode(0o600))
            });
            assert_eq!(made.is_ok(), works, "{planted}");
            assert!(!target.exists());
        }
    }

    #[test]
    fn only_temp_files_of_ended_processes_are_swept() {
        let tmp = tempfile::tempdir().unwrap();
        let own = ProcessName::own();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let dead = child.id();
        child.wait().unwrap();
        let name = |realm: &str, pid: u32, started: u64| {
            format!(".filewright-{realm}-{pid:x}-{started:x}-0123456789abcdef")
        };
        let keep = [
            name(&own.realm, own.pid, own.started),
            // The entry was moved aside: the journal of its process may still need it.
            format!("{}-kept", name(&own.realm, dead, 5)),
            // The name of a recent file of another container or boot.
            name("00000000", dead, 5),
            ".filewright-notes".to_owned(),
            "file".to_owned(),
        ];
        for name in &keep {
            std::fs::write(tmp.path().join(name), "x").unwrap();
        }
        std::fs::write(tmp.path().join(name(&own.realm, dead, 5)), "x").unwrap();
        let tree = tmp.path().join(name(&own.realm, dead, 6));
        std::fs::create_dir_all(tree.join("a/b")).unwrap();
        std::fs::write(tree.join("a/f"), "x").unwrap();
        let dir = std::fs::File::open(tmp.path()).unwrap();
        assert_eq!(sweep_stale_temp_files(&dir), 2);
        let mut left: Vec<String> = std::fs::read_dir(tmp.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let mut keep = keep.to_vec();
        keep.sort();
        assert_eq!(left, keep);
    }

    #[test]
    fn files_of_other_users_are_swept_only_by_root() {
        for (own, owner, swept) in [(7, 7, true), (0, 7, true), (7, 0, false), (7, 8, false)] {
            assert_eq!(is_swept_by(own, owner), swept, "{own} {owner}");
        }
    }
}
