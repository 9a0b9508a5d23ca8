//! Refuses changes that would make or modify a directory that git treats as a repository.

use std::os::fd::{AsFd, BorrowedFd};

use filewright_core::Result;
use filewright_core::pattern::policy::{PossibleRepositories, REPOSITORY_MARKS, RepositoryMarks};

use super::Roots;
use crate::dir::errno::repository_error;
use crate::dir::stat::Stat;

impl Roots {
    /// Returns an error if creating an entry at a resolved path would make a directory above it
    /// look like a repository to git, or if the path lies in such a directory and git obeys it.
    /// Directories above the roots are not examined.
    pub(crate) fn check_repository(&self, real: &[u8]) -> Result<()> {
        if !self.rules.protects() {
            return Ok(());
        }
        for (end, name) in PossibleRepositories::new(real) {
            let mut marks = self.repository_marks_at(&real[..end]);
            marks.add(name);
            if marks.is_repository() {
                return Err(repository_error());
            }
        }
        Ok(())
    }

    /// Returns which of the entries by which git recognises a repository (`HEAD`, `objects`,
    /// `refs`, `commondir`) exist in a directory; none if it is outside the roots or cannot be
    /// read.
    pub(crate) fn repository_marks_at(&self, directory: &[u8]) -> RepositoryMarks {
        let Some(index) = self.nearest_anchor(if directory.is_empty() { b"/" } else { directory })
        else {
            return RepositoryMarks::default();
        };
        let root = &self.roots[index];
        let rest = directory.get(root.anchor_path.len()..).unwrap_or_default();
        let rest = if root.anchor_path == b"/" { directory } else { rest };
        let rest = rest.strip_prefix(b"/").unwrap_or(rest);
        repository_marks_in(root.anchor.as_fd(), rest)
    }
}

/// Does the same as [`Roots::repository_marks_at`], for the directory at `path` relative to an open
/// one.
pub(crate) fn repository_marks_in(dir: BorrowedFd<'_>, path: &[u8]) -> RepositoryMarks {
    let mut marks = RepositoryMarks::default();
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
