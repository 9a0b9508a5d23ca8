//! Conditions on what a change takes away, and entries that are set aside.
//!
//! A change that may have to be rolled back does not destroy what it replaces or
//! deletes: the old entry is renamed, in its own directory, to a name that no
//! listing shows ([`aside_name`]). Renamed back it is the very same file, with
//! owner, times, attributes and other names. Whoever asked for the name removes
//! the entry when the change stands.

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

/// What must still hold when an entry is taken away or replaced, and where the
/// old one goes.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// `CONFLICT` unless the entry that is deleted, moved or copied is this version.
    pub if_version: Option<Version>,
    /// `CONFLICT` unless the file that is replaced is this version.
    pub if_target: Option<Version>,
    /// The name, from [`aside_name`], that the deleted or replaced entry gets.
    pub aside: Option<Vec<u8>>,
}

/// A new name for an entry that is set aside: a temporary name, which the sweep
/// leaves alone for a week after its process has ended.
pub fn aside_name() -> Vec<u8> {
    [&fresh_name()[..], b"-kept"].concat()
}

/// The answer where a file system, or the rights in a directory, do not allow an
/// entry to be set aside. Nothing has been changed.
pub(crate) fn no_aside() -> Error {
    Error::new(Code::UnsupportedOperation, "the old entry cannot be set aside here")
        .detail("reason", "aside")
}

pub(crate) fn conflict(message: &str) -> Error {
    Error::new(Code::Conflict, message).hint("read the file again")
}

/// Checks a name that a caller gave: only names of this process are used.
pub(crate) fn check_aside(aside: Option<&[u8]>) -> Result<()> {
    match aside {
        Some(name) if !is_own_aside_name(name) => {
            Err(Error::new(Code::InvalidArgument, "the name was not given out for setting aside"))
        }
        _ => Ok(()),
    }
}

/// Whether two facts are about the same file with the same content. A rename
/// changes the time of change alone.
pub(crate) fn same_content(a: &Stat, b: &Stat) -> bool {
    a.same_file(b)
        && a.kind == b.kind
        && (a.kind == Kind::Dir || (a.size, a.mtime) == (b.size, b.mtime))
}

impl Roots {
    /// Compares an entry with the version that a caller names.
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

/// How taking an entry out of its directory ended.
pub(crate) enum Taken {
    Done,
    /// Something else has the name now: look again.
    Again,
}

/// Renames an entry that was `expected` a moment ago to `aside` in its directory.
/// An entry that is something else by now gets its name back.
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
        // A newer entry has the name: that one stays, as if it had replaced this one.
        Err(Errno::EXIST) => unlink(&dir, aside).map_err(os)?,
        Err(errno) => return Err(os(errno)),
    }
    Ok(Taken::Again)
}

/// Deletes a file or link that was `expected` a moment ago. It is renamed first, so
/// that what is deleted is what was looked at, and not what another program has
/// put under the name meanwhile.
pub(crate) fn delete_exact(dir: impl AsFd, name: &[u8], expected: &Stat) -> Result<Taken> {
    let temp = fresh_name();
    if let Taken::Again = set_aside(&dir, name, expected, &temp)? {
        return Ok(Taken::Again);
    }
    unlink(&dir, &temp).map_err(os)?;
    Ok(Taken::Done)
}

/// Refuses a directory that holds more than temporary files of ours.
pub(crate) fn check_empty(dir: impl AsFd, name: &[u8]) -> Result<()> {
    let Some(entries) = open_entries(dir, name)? else { return Err(unsettled()) };
    for_each_name(
        &entries,
        |name, _| {
            if is_temp_name(name) { Ok(()) } else { Err(os(Errno::NOTEMPTY)) }
        },
    )
}

/// Gives a file or link that will be replaced the name `aside` as well, so that it
/// outlives the replacement.
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
        // No links on this file system, no right to make one, too many of them.
        Err(_) => return Err(no_aside()),
    }
    if Stat::at(&dir, aside).is_ok_and(|now| same_content(&now, expected)) {
        return Ok(Taken::Done);
    }
    unlink(&dir, aside).map_err(os)?;
    Ok(Taken::Again)
}

/// Puts the entry `from` in the place of the file `to`, which must be the version
/// `wanted`; what was replaced is deleted. The two names are exchanged and what
/// comes out is looked at, so that nothing else is ever replaced.
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
        // Already replaced: what cannot be removed now is swept later.
        let _ = unlink(&from_dir, from);
        return Ok(());
    }
    exchange()?;
    Err(changed())
}
