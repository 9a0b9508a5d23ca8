//! Preconditions of a change, and moving replaced or deleted entries aside.
//!
//! A change that may have to be rolled back does not destroy what it replaces or deletes: the old
//! entry is renamed, in its own directory, to a name that listings hide ([`aside_name`]). Renaming
//! it back restores the same file, with owner, times, attributes and hard links. The caller that
//! chose the name removes the entry when the change is final.

use std::os::fd::AsFd;

use filewright_core::{Code, Error, Result};
use rustix::fs::{Access, AtFlags, RenameFlags};
use rustix::io::Errno;

use crate::cancel::CancelToken;
use crate::dir::errno::{changing_path_error, os_error};
use crate::dir::for_each_name;
use crate::dir::open_entries;
use crate::dir::renaming::{is_renamed_entry, move_unless_exists};
use crate::dir::stat::{Kind, Stat, Version, is_mount_point};
use crate::dir::temp_name::{is_own_aside_name, is_temp_name, new_temp_name};
use crate::dir::unlink;
use crate::root::{ResolvedEntry, Roots};

/// The preconditions for removing or replacing an entry, and the name under which the old entry is
/// kept.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// `CONFLICT` unless the deleted, moved or copied entry has this version.
    pub if_version: Option<Version>,
    /// `CONFLICT` unless the replaced file has this version.
    pub if_target: Option<Version>,
    /// The name from [`aside_name`] to which the deleted or replaced entry is renamed; `None`
    /// destroys it.
    pub aside: Option<Vec<u8>>,
}

/// Returns a new name for an entry that is moved aside: a temporary name that sweeping ignores
/// until a week after its process has ended.
pub fn aside_name() -> Vec<u8> {
    [&new_temp_name()[..], b"-kept"].concat()
}

/// Returns the error for an entry that cannot be renamed to be kept, because of its file system or
/// directory. The caller has changed nothing.
pub(crate) fn no_aside_error() -> Error {
    Error::new(Code::UnsupportedOperation, "the old entry cannot be set aside here")
        .detail("reason", "aside")
}

/// Reports whether a file can be replaced so that the old one stays in its directory, as far as this
/// is known before. A file of another owner counts as one that cannot, unless this is root.
pub(crate) fn can_set_aside(place: &ResolvedEntry<'_>, found: &Stat) -> bool {
    let Some(name) = &place.name else { return false };
    let user = rustix::process::geteuid();
    if !user.is_root() {
        let access = Access::WRITE_OK | Access::EXEC_OK;
        let may_write = rustix::fs::accessat(&place.dir, &b"."[..], access, AtFlags::EACCESS);
        if user.as_raw() != found.uid || may_write.is_err() {
            return false;
        }
    }
    !is_mount_point(&place.dir, name)
}

/// Returns a `CONFLICT` with a hint to read the file again.
pub(crate) fn conflict_error(message: &str) -> Error {
    Error::new(Code::Conflict, message).hint("read the file again")
}

/// Returns an error unless the name, if there is one, is from [`aside_name`] in this process.
pub(crate) fn check_aside_name(aside: Option<&[u8]>) -> Result<()> {
    match aside {
        Some(name) if !is_own_aside_name(name) => {
            Err(Error::new(Code::InvalidArgument, "the name was not given out for setting aside"))
        }
        _ => Ok(()),
    }
}

impl Roots {
    /// Returns `CONFLICT` unless the entry has the expected version, if there is one.
    pub(crate) fn check_version(
        &self,
        place: &ResolvedEntry<'_>,
        stat: &Stat,
        version: Option<&Version>,
        cancel: &CancelToken,
    ) -> Result<()> {
        match version {
            Some(version) if !self.is_version(place, stat, version, cancel)? => {
                Err(conflict_error("it has changed since it was looked at"))
            }
            _ => Ok(()),
        }
    }
}

/// The result of removing an entry from its directory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AsideOutcome {
    Done,
    /// The entry was not removed, because another one has the name now: the caller resolves the
    /// path again.
    Again,
}

/// Renames the entry `name` to `aside` in its directory. If the renamed entry turns out not to be
/// `expected`, renames it back and returns [`AsideOutcome::Again`].
pub(crate) fn set_aside(
    dir: impl AsFd,
    name: &[u8],
    expected: &Stat,
    aside: &[u8],
) -> Result<AsideOutcome> {
    match move_unless_exists(&dir, name, aside) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Ok(AsideOutcome::Again),
        Err(errno) => return Err(os_error(errno)),
    }
    if Stat::at(&dir, aside).is_ok_and(|now| is_renamed_entry(&dir, &now, expected)) {
        return Ok(AsideOutcome::Done);
    }
    match move_unless_exists(&dir, aside, name) {
        Ok(()) => {}
        // A newer entry has the name and stays, as if it had replaced the entry that was set aside.
        Err(Errno::EXIST) => unlink(&dir, aside).map_err(os_error)?,
        Err(errno) => return Err(os_error(errno)),
    }
    Ok(AsideOutcome::Again)
}

/// Deletes a file or link if it is still `expected`, otherwise returns [`AsideOutcome::Again`]. It
/// is renamed first and checked then, so that an entry that another program puts under the name
/// meanwhile is not deleted.
pub(crate) fn delete_if_unchanged(
    dir: impl AsFd,
    name: &[u8],
    expected: &Stat,
) -> Result<AsideOutcome> {
    let temp = new_temp_name();
    if let AsideOutcome::Again = set_aside(&dir, name, expected, &temp)? {
        return Ok(AsideOutcome::Again);
    }
    match unlink(&dir, &temp) {
        // One that can neither be removed nor get its name back is hidden, and removed by a sweep.
        Err(errno) if move_unless_exists(&dir, &temp, name).is_ok() => Err(os_error(errno)),
        _ => Ok(AsideOutcome::Done),
    }
}

/// Returns `NOT_EMPTY` if a directory contains anything except our temporary files.
pub(crate) fn check_dir_is_empty(dir: impl AsFd, name: &[u8]) -> Result<()> {
    let Some(entries) = open_entries(dir, name)? else { return Err(changing_path_error()) };
    for_each_name(&entries, |name, _| {
        if is_temp_name(name) { Ok(()) } else { Err(os_error(Errno::NOTEMPTY)) }
    })
}

/// Creates a second hard link `aside` to a file that is about to be replaced, so that it survives
/// the replacement. Returns [`AsideOutcome::Again`] if the file is no longer `expected`.
pub(crate) fn link_aside(
    dir: impl AsFd,
    name: &[u8],
    expected: &Stat,
    aside: &[u8],
) -> Result<AsideOutcome> {
    match rustix::fs::linkat(&dir, name, &dir, aside, AtFlags::empty()) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Ok(AsideOutcome::Again),
        Err(Errno::NOSPC) => return Err(os_error(Errno::NOSPC)),
        Err(Errno::DQUOT) => return Err(os_error(Errno::DQUOT)),
        // The file system has no hard links, this process may not create one, or the file has too
        // many.
        Err(_) => return Err(no_aside_error()),
    }
    if Stat::at(&dir, aside).is_ok_and(|now| is_renamed_entry(&dir, &now, expected)) {
        return Ok(AsideOutcome::Done);
    }
    unlink(&dir, aside).map_err(os_error)?;
    Ok(AsideOutcome::Again)
}

/// Replaces the file `to`, which must have the version `wanted`, by the entry `from`, and deletes
/// the old file. The two names are exchanged and the removed file is checked afterwards, so that no
/// other version is ever lost.
pub(crate) fn replace_if_version(
    from_dir: impl AsFd,
    from: &[u8],
    to_dir: impl AsFd,
    to: &[u8],
    wanted: &Version,
) -> Result<()> {
    let changed = || conflict_error("the file to be replaced has changed");
    let exchange = || {
        rustix::fs::renameat_with(&from_dir, from, &to_dir, to, RenameFlags::EXCHANGE)
            .map_err(os_error)
    };
    let now = Stat::find(&to_dir, to)?.ok_or_else(changed)?;
    if now.kind == Kind::Dir || !wanted.same_facts(&now) {
        return Err(changed());
    }
    exchange()?;
    if Stat::at(&from_dir, from).is_ok_and(|out| is_renamed_entry(&from_dir, &out, &now)) {
        // The file is replaced; if it cannot be removed now, a sweep removes it later.
        let _ = unlink(&from_dir, from);
        return Ok(());
    }
    exchange()?;
    Err(changed())
}
