//! Roots that were deleted while they were open, and made again.
//!
//! A root is pinned by a descriptor, which outlives the name of the directory. Where the old
//! directory has no name left, nobody can reach it any more, and a directory that stands at its
//! path by now is what callers mean: a worktree that was removed and checked out again. A root
//! that was moved has a name, and stays what it is.

use filewright_core::{Code, Error, Result};

use super::{Root, Roots};
use crate::dir::stat::Stat;

/// What became of the roots since they were opened.
#[derive(Debug)]
pub enum Renewed {
    /// They are what they were, or nothing stands in the place of those that are gone.
    Unchanged,
    /// Some of them were made again; these take the place of all.
    Anew(Box<Roots>),
}

impl Root {
    /// Whether the directory of this root was deleted.
    pub(super) fn is_gone(&self) -> bool {
        self.anchor_path == self.path && Stat::of(&self.anchor).is_ok_and(|stat| stat.nlink == 0)
    }

    /// The directory that stands at the path of a deleted root by now: reached by no link, and of
    /// the owner of the old one.
    fn made_again(&self, everything: &Roots) -> Option<Self> {
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
    /// Opens roots anew that were deleted and made again.
    ///
    /// # Errors
    /// Where the descriptors of the other roots cannot be doubled.
    pub fn renewed(&self) -> Result<Renewed> {
        if !self.roots.iter().any(Root::is_gone) {
            return Ok(Renewed::Unchanged);
        }
        let everything = Self::bootstrap(self.resolver)?;
        let mut is_anew = false;
        let mut roots = Vec::with_capacity(self.roots.len());
        for root in &self.roots {
            let made = if root.is_gone() { root.made_again(&everything) } else { None };
            is_anew |= made.is_some();
            roots.push(made.map_or_else(|| root.duplicate(), Ok)?);
        }
        if !is_anew {
            return Ok(Renewed::Unchanged);
        }
        let anew = self.with_roots(roots, self.rules.clone());
        anew.grant_secrets(
            self.granted.read().unwrap_or_else(|poisoned| poisoned.into_inner()).clone(),
        );
        Ok(Renewed::Anew(Box::new(anew)))
    }
}

/// What calls get whose root was deleted, while nothing stands in its place.
pub(super) fn gone() -> Error {
    Error::new(Code::NotFound, "the root of the workspace is gone: its directory was deleted")
        .detail("reason", "root_gone")
}
