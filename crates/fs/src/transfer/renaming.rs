//! The renames of a move: to a name that does not exist, or to an existing entry that is kept under
//! another name until the move has succeeded.

use std::os::fd::AsFd;

use filewright_core::Result;
use rustix::fs::RenameFlags;
use rustix::io::Errno;

use crate::dir::errno::os_error;
use crate::dir::renaming::{is_renamed_entry, move_unless_exists};
use crate::dir::stat::{Kind, Stat};
use crate::dir::unlink;
use crate::root::ResolvedEntry;
use crate::write::aside::{AsideOutcome, check_dir_is_empty, link_aside, set_aside};

/// Returns the metadata of the moved entry, which was `moved`; `None` if another program has replaced
/// it at its new name.
pub(super) fn stat_after_move(
    target: &ResolvedEntry<'_>,
    name: &[u8],
    moved: &Stat,
) -> Option<Stat> {
    let now = Stat::at(&target.dir, name).ok()?;
    is_renamed_entry(&target.dir, &now, moved).then_some(now)
}

/// Keeps the entry that a move will replace under the name `aside`: a directory, which must be
/// empty, is renamed; a file gets a second hard link, so that its name exists at every moment.
pub(super) fn keep_target_aside(
    target: &ResolvedEntry<'_>,
    name: &[u8],
    old: &Stat,
    aside: &[u8],
) -> Result<AsideOutcome> {
    if old.kind != Kind::Dir {
        return link_aside(&target.dir, name, old, aside);
    }
    check_dir_is_empty(&target.dir, name)?;
    set_aside(&target.dir, name, old, aside)
}

/// Reverts [`keep_target_aside`] after the move has failed.
pub(super) fn restore_target(
    target: &ResolvedEntry<'_>,
    name: &[u8],
    old: &Stat,
    aside: &[u8],
) -> Result<()> {
    if old.kind == Kind::Dir {
        return move_unless_exists(&target.dir, aside, name).map_err(os_error);
    }
    unlink(&target.dir, aside).map_err(os_error)
}

/// Renames an entry; fails with `EXIST` if the new name exists.
pub(super) fn rename_unless_exists(
    from: impl AsFd,
    name: &[u8],
    to: impl AsFd,
    new_name: &[u8],
) -> rustix::io::Result<()> {
    match rustix::fs::renameat_with(&from, name, &to, new_name, RenameFlags::NOREPLACE) {
        // Old file systems return these errors for every flag, so the rename is done without one
        // below. On those file systems, moving a directory into itself fails with `INVAL` again.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        result => return result,
    }
    match Stat::at(&to, new_name) {
        Ok(_) => Err(Errno::EXIST),
        Err(Errno::NOENT) => rustix::fs::renameat(&from, name, &to, new_name),
        Err(errno) => Err(errno),
    }
}
