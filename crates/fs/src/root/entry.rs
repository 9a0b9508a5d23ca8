//! A resolved path, and the ways to resolve one.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::{CreatedDirs, push_path_name};
use crate::dir::open_directory;
use crate::dir::stat::{Kind, Stat};

/// The handling of a symbolic link that is the last name of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FinalSymlink {
    /// Resolve its target.
    Follow,
    /// The link itself is the resolved entry.
    Keep,
}

/// The handling of a missing directory of a path, other than its last name.
pub(crate) enum MissingPolicy<'m> {
    /// Fail with `NOT_FOUND`.
    Fail,
    /// The first missing name is the resolved entry, and the names after it are in `missing`.
    Stop,
    /// Create it and record it.
    Make(&'m mut CreatedDirs),
}

/// A directory descriptor: the borrowed one of a root, or one that was opened for this call.
#[derive(Debug)]
pub(crate) enum DirFd<'r> {
    Root(BorrowedFd<'r>),
    Opened(OwnedFd),
}

impl DirFd<'_> {
    /// Duplicates the descriptor.
    pub(crate) fn duplicate(&self) -> rustix::io::Result<OwnedFd> {
        rustix::io::fcntl_dupfd_cloexec(self, 0)
    }
}

impl AsFd for DirFd<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            DirFd::Root(fd) => *fd,
            DirFd::Opened(fd) => fd.as_fd(),
        }
    }
}

/// The result of resolving a path: one name in a directory.
#[derive(Debug)]
pub(crate) struct ResolvedEntry<'r> {
    /// The directory that contains the entry.
    pub dir: DirFd<'r>,
    /// The name of the entry in the directory; `None` if the entry is the directory itself.
    pub name: Option<Vec<u8>>,
    /// The absolute real path of the entry.
    pub real: Vec<u8>,
    /// The metadata of the entry when it was resolved; `None` if it did not exist. May be outdated.
    pub found: Option<Stat>,
    /// With [`MissingPolicy::Stop`], the names after `name`.
    pub missing: Vec<Vec<u8>>,
    /// True if the path can only name a directory, because it ends in `/`, `.` or `..`, or the
    /// target of its last link ends in `/`.
    pub directory: bool,
}

impl ResolvedEntry<'_> {
    /// Returns the real path with the missing names.
    pub(crate) fn real_with_missing(&self) -> Vec<u8> {
        let mut path = self.real.clone();
        for name in &self.missing {
            push_path_name(&mut path, name);
        }
        path
    }

    /// Returns the type that the entry had when it was resolved; `None` if it did not exist.
    pub(crate) fn kind(&self) -> Option<Kind> {
        self.found.map(|stat| stat.kind)
    }

    /// Opens the entry as a base for other calls; `None` if it was no directory when it was
    /// resolved.
    pub(crate) fn open_directory(&self) -> Option<rustix::io::Result<OwnedFd>> {
        match &self.name {
            None => Some(self.dir.duplicate()),
            Some(name) if self.kind() == Some(Kind::Dir) => {
                Some(open_directory(self.dir.as_fd(), name))
            }
            Some(_) => None,
        }
    }
}
