//! Renames an entry, and recognises one after it was renamed.
//!
//! On some file systems (virtiofs, gcsfuse, the shares of Docker Desktop) the inode number belongs
//! to the name, so an entry has another one after a rename. Elsewhere another number means another
//! entry. Which of the two holds is tried with a file of our own, once for each device, when a
//! number has changed and all else is equal.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::{LazyLock, Mutex, PoisonError};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::stat::{Kind, Stat};
use super::temp_name::new_temp_name;
use super::unlink;

/// For each device that was tried, whether a rename changes the number of an entry.
static TRIED: LazyLock<Mutex<BTreeMap<u64, bool>>> = LazyLock::new(Mutex::default);

/// Renames an entry unless the new name exists (`EXIST`).
pub(crate) fn move_unless_exists(dir: impl AsFd, from: &[u8], to: &[u8]) -> rustix::io::Result<()> {
    match rustix::fs::renameat_with(&dir, from, &dir, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        result => return result,
    }
    // Old file systems do not support `RENAME_NOREPLACE`. For files, creating a second hard link
    // also fails if the name exists.
    match rustix::fs::linkat(&dir, from, &dir, to, AtFlags::empty()) {
        Ok(()) => return unlink(&dir, from),
        Err(errno @ (Errno::EXIST | Errno::NOENT | Errno::NOSPC | Errno::DQUOT)) => {
            return Err(errno);
        }
        Err(_) => {}
    }
    // For directories, and on file systems without hard links, which seldom have concurrent users,
    // the name is checked before the rename.
    match Stat::at(&dir, to) {
        Ok(_) => Err(Errno::EXIST),
        Err(Errno::NOENT) => rustix::fs::renameat(&dir, from, &dir, to),
        Err(errno) => Err(errno),
    }
}

/// Reports whether `now`, the metadata of an entry in `dir`, describes the entry that had the
/// metadata `before` under another name, in the same state: equal size and modification time,
/// except for a directory with the same number. `ctime` is not compared, because a rename changes
/// it. May write a file of our own in `dir` for a moment, once for each device.
pub(crate) fn is_renamed_entry(dir: impl AsFd, now: &Stat, before: &Stat) -> bool {
    let is_same_state = now.kind == before.kind
        && (now.kind == Kind::Dir || (now.size, now.mtime) == (before.size, before.mtime));
    is_same_state && (now.same_file(before) || is_renumbered(dir, now, before))
}

/// Reports whether the entry may be the same although its number is another one: the file system
/// gives out new numbers, and everything else that a rename leaves alone is equal.
fn is_renumbered(dir: impl AsFd, now: &Stat, before: &Stat) -> bool {
    now.dev == before.dev
        && (now.mode, now.uid, now.gid, now.mtime)
            == (before.mode, before.uid, before.gid, before.mtime)
        && renumbers(dir, now.dev)
}

/// Reports whether a rename changes the number of an entry in `dir`, which is on the device. The
/// first call for a device writes a file in `dir`.
fn renumbers(dir: impl AsFd, dev: u64) -> bool {
    let tried = || TRIED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&known) = tried().get(&dev) {
        return known;
    }
    // An error says nothing about the device.
    let Some(found) = try_rename(dir) else { return false };
    tried().insert(dev, found);
    found
}

/// Renames an empty file of our own. Returns whether its number has changed; `None` on an error.
fn try_rename(dir: impl AsFd) -> Option<bool> {
    let (name, new_name) = (new_temp_name(), new_temp_name());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    drop(rustix::fs::openat(&dir, name.as_slice(), flags, Mode::from_raw_mode(0o600)).ok()?);
    let before = Stat::at(&dir, &name);
    let renamed = rustix::fs::renameat(&dir, name.as_slice(), &dir, new_name.as_slice());
    let last = if renamed.is_ok() { &new_name } else { &name };
    let now = Stat::at(&dir, last);
    // What cannot be removed now, a sweep removes later.
    let _ = unlink(&dir, last);
    renamed.ok()?;
    Some(!now.ok()?.same_file(&before.ok()?))
}
