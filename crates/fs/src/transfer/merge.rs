//! Merges a complete copy of a tree, the stage, into an existing directory.

use std::os::fd::{BorrowedFd, OwnedFd};

use filewright_core::{Code, Error, Result};
use rustix::io::Errno;

use crate::cancel::CancelToken;
use crate::dir::cursor::{DirCursor, ParentAccess};
use crate::dir::errno::{changing_path_error, os_error};
use crate::dir::open_entries;
use crate::dir::stat::{Kind, Stat};
use crate::dir::tree::{TreeEvent, TreeStep, walk_tree};
use crate::write::Preserve;

/// A phase of [`merge_stage_into`], which is called once for each phase, in this order.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum MergePhase {
    /// Returns an error if an entry of the stage cannot take its place in the target. Changes
    /// nothing.
    Check,
    /// Moves the entries of the stage to their names in the target.
    Move,
}

/// Merges the directory `stage` into `target`: directories of both are merged, files of the stage
/// replace files of the target, and other entries of the target stay. A write-protected file, or an
/// entry of another type, in the target is an error.
pub(super) fn merge_stage_into(
    stage: &OwnedFd,
    target: BorrowedFd<'_>,
    phase: MergePhase,
    preserve: Preserve,
    cancel: &CancelToken,
) -> Result<()> {
    let top = rustix::io::fcntl_dupfd_cloexec(stage, 0).map_err(os_error)?;
    let Some(own) = open_entries(target, b".")? else { return Err(changing_path_error()) };
    let mut cursor = DirCursor::new(own, ParentAccess::Stand);
    walk_tree(top, cancel, |met, dir, name| {
        match met {
            TreeEvent::Enter => {
                return if cursor.enter(name)? {
                    Ok(TreeStep::Go)
                } else {
                    Err(changing_path_error())
                };
            }
            TreeEvent::Leave => {
                cursor.leave()?;
                return Ok(TreeStep::Go);
            }
            TreeEvent::Before | TreeEvent::Entry(_) => {}
        }
        let current_dir = cursor.current_dir()?;
        let found = Stat::find(current_dir, name)?;
        match (met == TreeEvent::Before, found.map(|stat| stat.kind)) {
            (true, Some(Kind::Dir)) => return Ok(TreeStep::Go),
            (true, Some(_)) => return Err(os_error(Errno::NOTDIR)),
            (false, Some(Kind::Dir)) => return Err(os_error(Errno::ISDIR)),
            (false, Some(Kind::File)) if found.is_some_and(|stat| stat.mode & 0o222 == 0) => {
                return Err(Error::new(
                    Code::PermissionDenied,
                    "a file in the way is write-protected",
                ));
            }
            (false, Some(Kind::File)) => {
                found.map_or(Ok(()), |stat| preserve.check_hard_links(&stat))?;
            }
            _ => {}
        }
        if phase == MergePhase::Move {
            rustix::fs::renameat(dir, name, current_dir, name).map_err(os_error)?;
        }
        Ok(TreeStep::Skip)
    })
}
