//! The renames of a move: onto a name that is free, or onto an entry that is kept aside until the
//! move has succeeded.

use std::os::fd::AsFd;

use filewright_core::Result;
use rustix::fs::RenameFlags;
use rustix::io::Errno;

use crate::dir::errno::os;
use crate::dir::stat::{Kind, Stat, Version};
use crate::dir::unlink;
use crate::root::ResolvedEntry;
use crate::write::aside::{Taken, check_empty, link_aside, same_content, set_aside};
use crate::write::place_new;

/// Returns the version of the moved entry, if it is still the entry at its new name.
pub(super) fn moved_version(
    target: &ResolvedEntry<'_>,
    name: &[u8],
    moved: &Stat,
) -> Option<Version> {
    let now = Stat::at(&target.dir, name).ok()?;
    same_content(&now, moved).then(|| now.version())
}

/// Moves aside the entry that a move will replace. A file keeps its name until it is replaced.
pub(super) fn take_target(
    target: &ResolvedEntry<'_>,
    name: &[u8],
    old: &Stat,
    aside: &[u8],
) -> Result<Taken> {
    if old.kind != Kind::Dir {
        return link_aside(&target.dir, name, old, aside);
    }
    check_empty(&target.dir, name)?;
    set_aside(&target.dir, name, old, aside)
}

/// Reverts [`take_target`] for a move that failed.
pub(super) fn give_target_back(
    target: &ResolvedEntry<'_>,
    name: &[u8],
    old: &Stat,
    aside: &[u8],
) -> Result<()> {
    if old.kind == Kind::Dir {
        return place_new(&target.dir, aside, name).map_err(os);
    }
    unlink(&target.dir, aside).map_err(os)
}

/// Renames unless the new name exists (`EXIST`).
pub(super) fn rename_new(
    from: impl AsFd,
    name: &[u8],
    to: impl AsFd,
    new_name: &[u8],
) -> rustix::io::Result<()> {
    match rustix::fs::renameat_with(&from, name, &to, new_name, RenameFlags::NOREPLACE) {
        // Old file systems return these errors for every flag. For a directory into itself, the
        // plain call returns the error too.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        result => return result,
    }
    match Stat::at(&to, new_name) {
        Ok(_) => Err(Errno::EXIST),
        Err(Errno::NOENT) => rustix::fs::renameat(&from, name, &to, new_name),
        Err(errno) => Err(errno),
    }
}
