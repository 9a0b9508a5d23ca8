//! A position in a tree, held by the descriptors of a directory and of those above it.
//!
//! A cursor keeps a bounded number of descriptors open at any depth. On the way up it reopens a
//! directory by `..` and compares its identity with the one it left, so that another process that
//! moves directories cannot redirect it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use filewright_core::{Code, Error, Result};

use crate::dir::errno::os;
use crate::dir::stat::Stat;
use crate::dir::{open_directory, open_entries};

/// The maximum number of open descriptors of a cursor.
const MAX_OPEN_LEVELS: usize = 24;

/// A position in a tree.
#[derive(Debug)]
pub(crate) struct Cursor {
    levels: Vec<Level>,
    up: ParentAccess,
}

/// The access that a cursor needs to a directory when it returns to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParentAccess {
    /// Changes the entries.
    Stand,
    /// Changes the directory itself as well, such as its permission bits.
    Change,
}

#[derive(Debug)]
struct Level {
    /// `None` while the cursor is far below.
    fd: Option<OwnedFd>,
    id: (u64, u64),
}

impl Cursor {
    /// Starts at the top of a tree, given a directory open for reading.
    pub(crate) fn new(top: OwnedFd, up: ParentAccess) -> Self {
        Self { levels: vec![Level { fd: Some(top), id: (0, 0) }], up }
    }

    /// Returns the current directory.
    pub(crate) fn current_dir(&self) -> Result<BorrowedFd<'_>> {
        let level = self.levels.last().and_then(|level| level.fd.as_ref());
        level
            .map(AsFd::as_fd)
            .ok_or_else(|| Error::new(Code::Internal, "the walk has no directory"))
    }

    /// Enters a directory. Returns false if it is no directory, or no longer exists.
    pub(crate) fn enter(&mut self, name: &[u8]) -> Result<bool> {
        let fd = match open_entries(self.current_dir()?, name) {
            Ok(Some(fd)) => fd,
            Ok(None) => return Ok(false),
            Err(error) if error.code == Code::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        // The top is never closed, so that a walk ends where it began.
        let far = self.levels.len().checked_sub(MAX_OPEN_LEVELS).filter(|far| *far > 0);
        if let Some(level) = far.and_then(|far| self.levels.get_mut(far))
            && let Some(fd) = level.fd.take()
        {
            let stat = Stat::of(fd).map_err(os)?;
            level.id = (stat.dev, stat.ino);
        }
        self.levels.push(Level { fd: Some(fd), id: (0, 0) });
        Ok(true)
    }

    /// Returns to the parent directory.
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
                ParentAccess::Stand => open_directory(below.as_fd(), b"..").map_err(os)?,
                ParentAccess::Change => open_entries(&below, b"..")?.ok_or_else(moved)?,
            };
            let stat = Stat::of(&fd).map_err(os)?;
            if (stat.dev, stat.ino) != level.id {
                return Err(moved());
            }
            level.fd = Some(fd);
        }
        Ok(())
    }
}
