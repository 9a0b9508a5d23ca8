//! Refuses changes that would make or modify a directory that git treats as a repository.

use std::os::fd::{AsFd, BorrowedFd};

use filewright_core::Result;
use filewright_core::pattern::policy::{Marks, REPOSITORY_MARKS, RepositoryParts};

use super::Roots;
use crate::dir::errno::repository;
use crate::dir::stat::Stat;

impl Roots {
    /// Refuses a change at a resolved path that would complete a repository, or that concerns a
    /// file that git obeys in one. Directories above the roots are the host's responsibility.
    pub(crate) fn check_repository(&self, real: &[u8]) -> Result<()> {
        if !self.rules.protects() {
            return Ok(());
        }
        for (end, name) in RepositoryParts::new(real) {
            let mut marks = self.marks_at(&real[..end]);
            marks.add(name);
            if marks.is_repository() {
                return Err(repository());
            }
        }
        Ok(())
    }

    /// Returns the repository marks of a directory; none if it is outside or cannot be inspected.
    pub(crate) fn marks_at(&self, directory: &[u8]) -> Marks {
        let Some(index) = self.nearest_anchor(if directory.is_empty() { b"/" } else { directory })
        else {
            return Marks::default();
        };
        let root = &self.roots[index];
        let rest = directory.get(root.anchor_path.len()..).unwrap_or_default();
        let rest = if root.anchor_path == b"/" { directory } else { rest };
        let rest = rest.strip_prefix(b"/").unwrap_or(rest);
        marks_in(root.anchor.as_fd(), rest)
    }
}

/// Returns the repository marks of a directory, given its path relative to an open one.
pub(crate) fn marks_in(dir: BorrowedFd<'_>, path: &[u8]) -> Marks {
    let mut marks = Marks::default();
    for mark in REPOSITORY_MARKS {
        let mut place = path.to_vec();
        if !place.is_empty() {
            place.push(b'/');
        }
        place.extend_from_slice(mark.as_bytes());
        // A link counts without being followed.
        if Stat::at(dir, &place[..]).is_ok() {
            marks.add(mark.as_bytes());
        }
    }
    marks
}
