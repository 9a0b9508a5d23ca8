//! A position in a tree, held by the descriptors of a directory and of those above it.
//!
//! A cursor keeps a bounded number of descriptors open at any depth. On the way up it reopens a
//! directory by `..` and compares its identity with the one it left, so that another process that
//! moves directories cannot redirect it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use filewright_core::{Code, Error, Result};

use crate::dir::errno::os_error;
use crate::dir::stat::Stat;
use crate::dir::{open_directory, open_entries};

/// The maximum number of descriptors that a cursor keeps open besides that of the top. Below that
/// depth, the outermost directories are closed and reopened on the way back.
const MAX_OPEN_LEVELS: usize = 24;

/// A position in a tree: the directories from the top to the current one.
#[derive(Debug)]
pub(crate) struct DirCursor {
    levels: Vec<DirLevel>,
    up: ParentAccess,
}

/// How a cursor reopens a directory on the way up, if it had closed the descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParentAccess {
    /// The directory is opened as a base for calls on its entries, without the right to read it.
    Stand,
    /// The directory is opened for reading, so that it can be changed itself, for example its
    /// permission bits.
    Change,
}

#[derive(Debug)]
struct DirLevel {
    /// The descriptor of the directory; `None` while it is closed because the cursor is too far
    /// below.
    fd: Option<OwnedFd>,
    id: (u64, u64),
}

impl DirCursor {
    /// Creates a cursor at the top of a tree. `top` is that directory, open for reading.
    pub(crate) fn new(top: OwnedFd, up: ParentAccess) -> Self {
        Self { levels: vec![DirLevel { fd: Some(top), id: (0, 0) }], up }
    }

    /// Returns the descriptor of the current directory.
    pub(crate) fn current_dir(&self) -> Result<BorrowedFd<'_>> {
        let level = self.levels.last().and_then(|level| level.fd.as_ref());
        level
            .map(AsFd::as_fd)
            .ok_or_else(|| Error::new(Code::Internal, "the walk has no directory"))
    }

    /// Enters the subdirectory `name`. Returns false, and stays, if it is no directory or no longer
    /// exists.
    pub(crate) fn enter(&mut self, name: &[u8]) -> Result<bool> {
        let fd = match open_entries(self.current_dir()?, name) {
            Ok(Some(fd)) => fd,
            Ok(None) => return Ok(false),
            Err(error) if error.code == Code::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        // The top (level 0) is never closed, so that a walk ends where it began.
        let far = self.levels.len().checked_sub(MAX_OPEN_LEVELS).filter(|far| *far > 0);
        if let Some(level) = far.and_then(|far| self.levels.get_mut(far))
            && let Some(fd) = level.fd.take()
        {
            let stat = Stat::of(fd).map_err(os_error)?;
            level.id = (stat.dev, stat.ino);
        }
        self.levels.push(DirLevel { fd: Some(fd), id: (0, 0) });
        Ok(true)
    }

    /// Returns to the parent directory. Returns `CONFLICT` if `..` no longer leads to the directory
    /// that the cursor came from.
    pub(crate) fn leave(&mut self) -> Result<()> {
        let below = self.levels.pop().and_then(|level| level.fd);
        let Some(level) = self.levels.last_mut() else {
            return Err(Error::new(Code::Internal, "the walk left its top"));
        };
        if level.fd.is_none()
            && let Some(below) = below
        {
            let moved =
                || Error::new(Code::Conflict, "the tree is being changed by another program");
            let fd = match self.up {
                ParentAccess::Stand => open_directory(below.as_fd(), b"..").map_err(os_error)?,
                ParentAccess::Change => open_entries(&below, b"..")?.ok_or_else(moved)?,
            };
            let stat = Stat::of(&fd).map_err(os_error)?;
            if (stat.dev, stat.ino) != level.id {
                return Err(moved());
            }
            level.fd = Some(fd);
        }
        Ok(())
    }
}
