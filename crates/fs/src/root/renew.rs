//! Reopens roots that were deleted and created again.
//!
//! A root is pinned by a descriptor, which stays valid after the directory is deleted. Nothing can
//! reach a deleted directory, so a new directory at its path is the one that callers mean: for
//! example a worktree that was removed and checked out again. A root that was moved still has a
//! name, and stays pinned.

use filewright_core::{Code, Error, Result};

use super::{Root, Roots};
use crate::dir::stat::Stat;

/// The result of [`Roots::renewed`].
#[derive(Debug)]
pub enum RenewedRoots {
    /// No root was deleted, or nothing exists at the paths of the deleted ones.
    Unchanged,
    /// Some roots were created again; these roots replace all.
    Anew(Box<Roots>),
}

impl Root {
    /// Reports whether the directory of this root was deleted: its number of links is 0. False for
    /// a root that is a file or was missing, which is pinned by a parent.
    pub(super) fn is_gone(&self) -> bool {
        self.anchor_path == self.path && Stat::of(&self.anchor).is_ok_and(|stat| stat.nlink == 0)
    }

    /// Returns a root for the directory that now exists at the path of this deleted one. `None` if
    /// nothing exists there, if the path contains a link, or if the directory has another owner.
    fn recreated(&self, everything: &Roots) -> Option<Self> {
        let made = everything.pin(&self.path).ok()?;
        let is_plain = made.alias.is_none() && made.anchor_path == made.path;
        let owner = |root: &Self| Stat::of(&root.anchor).map(|stat| stat.uid);
        let is_same_owner = matches!((owner(self), owner(&made)), (Ok(old), Ok(new)) if old == new);
        (is_plain && is_same_owner).then(|| Self {
            alias: self.alias.clone(),
            read: self.read,
            write: self.write,
            ..made
        })
    }
}

impl Roots {
    /// Returns these roots with those reopened whose directory was deleted and created again.
    ///
    /// # Errors
    /// `IO_ERROR` if no descriptors are left.
    pub fn renewed(&self) -> Result<RenewedRoots> {
        if !self.roots.iter().any(Root::is_gone) {
            return Ok(RenewedRoots::Unchanged);
        }
        let everything = Self::whole_file_system(self.resolver)?;
        let mut is_anew = false;
        let mut roots = Vec::with_capacity(self.roots.len());
        for root in &self.roots {
            let made = if root.is_gone() { root.recreated(&everything) } else { None };
            is_anew |= made.is_some();
            roots.push(made.unwrap_or_else(|| root.clone()));
        }
        if !is_anew {
            return Ok(RenewedRoots::Unchanged);
        }
        let anew = self.with_roots(roots, self.rules.clone());
        anew.grant_secrets(
            self.granted.read().unwrap_or_else(|poisoned| poisoned.into_inner()).clone(),
        );
        Ok(RenewedRoots::Anew(Box::new(anew)))
    }
}

/// Returns the error for calls whose root was deleted and not created again.
pub(super) fn root_gone_error() -> Error {
    Error::new(Code::NotFound, "the root of the workspace is gone: its directory was deleted")
        .detail("reason", "root_gone")
}
