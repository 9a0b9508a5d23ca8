//! Merges a complete copy into an existing directory.

use std::os::fd::{BorrowedFd, OwnedFd};

use filewright_core::{Code, Error, Result};
use rustix::io::Errno;

use crate::cancel::CancelToken;
use crate::dir::cursor::{Cursor, ParentAccess};
use crate::dir::errno::{os, unsettled};
use crate::dir::open_entries;
use crate::dir::stat::{Kind, Stat};
use crate::dir::tree::{Next, Visit, walk_tree};
use crate::write::Preserve;

/// The purpose of a walk over a complete copy.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Purpose {
    /// Finds conflicts before anything is changed.
    Look,
    /// Moves everything into place.
    Move,
}

/// Merges a complete copy into a directory: existing entries with other names stay.
pub(super) fn merge(
    stage: &OwnedFd,
    target: BorrowedFd<'_>,
    purpose: Purpose,
    preserve: Preserve,
    cancel: &CancelToken,
) -> Result<()> {
    let top = rustix::io::fcntl_dupfd_cloexec(stage, 0).map_err(os)?;
    let Some(own) = open_entries(target, b".")? else { return Err(unsettled()) };
    let mut cursor = Cursor::new(own, ParentAccess::Stand);
    walk_tree(top, cancel, |met, dir, name| {
        match met {
            Visit::Enter => {
                return if cursor.enter(name)? { Ok(Next::Go) } else { Err(unsettled()) };
            }
            Visit::Leave => {
                cursor.leave()?;
                return Ok(Next::Go);
            }
            Visit::Before | Visit::Entry(_) => {}
        }
        let current_dir = cursor.current_dir()?;
        let found = Stat::find(current_dir, name)?;
        match (met == Visit::Before, found.map(|stat| stat.kind)) {
            (true, Some(Kind::Dir)) => return Ok(Next::Go),
            (true, Some(_)) => return Err(os(Errno::NOTDIR)),
            (false, Some(Kind::Dir)) => return Err(os(Errno::ISDIR)),
            (false, Some(Kind::File)) if found.is_some_and(|stat| stat.mode & 0o222 == 0) => {
                return Err(Error::new(
                    Code::PermissionDenied,
                    "a file in the way is write-protected",
                ));
            }
            (false, Some(Kind::File)) => {
                found.map_or(Ok(()), |stat| preserve.may_replace(&stat))?;
            }
            _ => {}
        }
        if purpose == Purpose::Move {
            rustix::fs::renameat(dir, name, current_dir, name).map_err(os)?;
        }
        Ok(Next::Skip)
    })
}
