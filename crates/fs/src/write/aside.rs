//! Preconditions of a change, and moving replaced or deleted entries aside.
//!
//! A change that may have to be rolled back does not destroy what it replaces or deletes: the old
//! entry is renamed, in its own directory, to a name that listings hide ([`aside_name`]). Renaming
//! it back restores the same file, with owner, times, attributes and hard links. The caller that
//! chose the name removes the entry when the change is final.

use std::os::fd::AsFd;

use filewright_core::{Code, Error, Result};
use rustix::fs::{AtFlags, RenameFlags};
use rustix::io::Errno;

use crate::cancel::CancelToken;
use crate::dir::errno::{os, unsettled};
use crate::dir::for_each_name;
use crate::dir::open_entries;
use crate::dir::stat::{Kind, Stat, Version};
use crate::dir::temp_name::{fresh_name, is_own_aside_name, is_temp_name};
use crate::dir::unlink;
use crate::root::{ResolvedEntry, Roots};
use crate::write::place_new;

/// The preconditions for removing or replacing an entry, and the name for moving it aside.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// `CONFLICT` unless the deleted, moved or copied entry has this version.
    pub if_version: Option<Version>,
    /// `CONFLICT` unless the replaced file has this version.
    pub if_target: Option<Version>,
    /// The name from [`aside_name`] for the deleted or replaced entry.
    pub aside: Option<Vec<u8>>,
}

/// Returns a new name for an entry that is moved aside: a temporary name that sweeping ignores
/// until a week after its process has ended.
pub fn aside_name() -> Vec<u8> {
    [&fresh_name()[..], b"-kept"].concat()
}

/// Returns the error for a file system or directory in which an entry cannot be moved aside.
/// Nothing was changed.
pub(crate) fn no_aside() -> Error {
    Error::new(Code::UnsupportedOperation, "the old entry cannot be set aside here")
        .detail("reason", "aside")
}

pub(crate) fn conflict(message: &str) -> Error {
    Error::new(Code::Conflict, message).hint("read the file again")
}

/// Checks a name passed by a caller: only names created by this process are accepted.
pub(crate) fn check_aside(aside: Option<&[u8]>) -> Result<()> {
    match aside {
        Some(name) if !is_own_aside_name(name) => {
            Err(Error::new(Code::InvalidArgument, "the name was not given out for setting aside"))
        }
        _ => Ok(()),
    }
}

/// Reports whether both describe the same file with the same content. A rename changes only ctime.
pub(crate) fn same_content(a: &Stat, b: &Stat) -> bool {
    a.same_file(b)
        && a.kind == b.kind
        && (a.kind == Kind::Dir || (a.size, a.mtime) == (b.size, b.mtime))
}

impl Roots {
    /// Compares an entry with the expected version.
    pub(crate) fn check_version(
        &self,
        place: &ResolvedEntry<'_>,
        stat: &Stat,
        version: Option<&Version>,
        cancel: &CancelToken,
    ) -> Result<()> {
        match version {
            Some(version) if !self.is_version(place, stat, version, cancel)? => {
                Err(conflict("it has changed since it was looked at"))
            }
            _ => Ok(()),
        }
    }
}

/// The result of removing an entry from its directory.
pub(crate) enum Taken {
    Done,
    /// Another entry has the name now: resolve it again.
    Again,
}

/// Renames an entry to `aside` in its directory if it is still `expected`. A different entry gets
/// its name back.
pub(crate) fn set_aside(
    dir: impl AsFd,
    name: &[u8],
    expected: &Stat,
    aside: &[u8],
) -> Result<Taken> {
    match place_new(&dir, name, aside) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Ok(Taken::Again),
        Err(errno) => return Err(os(errno)),
    }
    if Stat::at(&dir, aside).is_ok_and(|now| same_content(&now, expected)) {
        return Ok(Taken::Done);
    }
    match place_new(&dir, aside, name) {
        Ok(()) => {}
        // A newer entry has the name: it stays, as if it had replaced this one.
        Err(Errno::EXIST) => unlink(&dir, aside).map_err(os)?,
        Err(errno) => return Err(os(errno)),
    }
    Ok(Taken::Again)
}

/// Deletes a file or link if it is still `expected`. Renames it first, so that an entry that
/// another program put under the name meanwhile is not deleted.
pub(crate) fn delete_exact(dir: impl AsFd, name: &[u8], expected: &Stat) -> Result<Taken> {
    let temp = fresh_name();
    if let Taken::Again = set_aside(&dir, name, expected, &temp)? {
        return Ok(Taken::Again);
    }
    unlink(&dir, &temp).map_err(os)?;
    Ok(Taken::Done)
}

/// Refuses a directory that contains more than our temporary files.
pub(crate) fn check_empty(dir: impl AsFd, name: &[u8]) -> Result<()> {
    let Some(entries) = open_entries(dir, name)? else { return Err(unsettled()) };
    for_each_name(
        &entries,
        |name, _| {
            if is_temp_name(name) { Ok(()) } else { Err(os(Errno::NOTEMPTY)) }
        },
    )
}

/// Links a file that will be replaced to the name `aside` as well, so that it survives the
/// replacement.
pub(crate) fn link_aside(
    dir: impl AsFd,
    name: &[u8],
    expected: &Stat,
    aside: &[u8],
) -> Result<Taken> {
    match rustix::fs::linkat(&dir, name, &dir, aside, AtFlags::empty()) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Ok(Taken::Again),
        Err(Errno::NOSPC) => return Err(os(Errno::NOSPC)),
        Err(Errno::DQUOT) => return Err(os(Errno::DQUOT)),
        // The file system has no links, we may not create one, or there are too many.
        Err(_) => return Err(no_aside()),
    }
    if Stat::at(&dir, aside).is_ok_and(|now| same_content(&now, expected)) {
        return Ok(Taken::Done);
    }
    unlink(&dir, aside).map_err(os)?;
    Ok(Taken::Again)
}

/// Replaces the file `to`, which must have the version `wanted`, by the entry `from`, and deletes
/// the old file. The two names are exchanged and the removed file is checked afterwards, so that no
/// other version is ever lost.
pub(crate) fn replace_exact(
    from_dir: impl AsFd,
    from: &[u8],
    to_dir: impl AsFd,
    to: &[u8],
    wanted: &Version,
) -> Result<()> {
    let changed = || conflict("the file to be replaced has changed");
    let exchange = || {
        rustix::fs::renameat_with(&from_dir, from, &to_dir, to, RenameFlags::EXCHANGE).map_err(os)
    };
    let now = Stat::find(&to_dir, to)?.ok_or_else(changed)?;
    if now.kind == Kind::Dir || !wanted.same_facts(&now) {
        return Err(changed());
    }
    exchange()?;
    if Stat::at(&from_dir, from).is_ok_and(|out| same_content(&out, &now)) {
        // The file is replaced; if it cannot be removed now, a sweep removes it later.
        let _ = unlink(&from_dir, from);
        return Ok(());
    }
    exchange()?;
    Err(changed())
}
