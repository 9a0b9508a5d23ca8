//! Operations on a whole tree that check the rules at every entry: the check before a tree is moved
//! or removed, and the removal of its contents.

use std::os::fd::OwnedFd;

use filewright_core::Result;
use filewright_core::pattern::policy::{PathCursor, RepositoryMarks};

use crate::cancel::CancelToken;
use crate::dir::errno::{outside_error, protected_error, repository_error};
use crate::dir::tree::{
    TreeCounts, TreeEvent, TreeStep, remove_directory, remove_entry, walk_tree,
};
use crate::root::{Roots, repository_marks_in};

impl Roots {
    /// Returns an error if a tree that is to be moved or removed contains a denied or protected
    /// entry, or if a move would put an entry where the rules forbid it. `real` is the path of its
    /// top, `there` the destination of a move; `None` for a removal.
    pub(crate) fn check_whole_tree(
        &self,
        top: OwnedFd,
        real: &[u8],
        there: Option<&[u8]>,
        cancel: &CancelToken,
    ) -> Result<()> {
        let rules = self.rules();
        let secrets = rules.hides_secrets() && there.is_some();
        if !rules.denies() && !rules.protects() && !secrets {
            return Ok(());
        }
        let mut trails: Vec<PathCursor<'_>> = [Some(real), there]
            .into_iter()
            .flatten()
            .map(|path| PathCursor::new(rules, path))
            .collect();
        walk_tree(top, cancel, |met, dir, name| {
            match met {
                TreeEvent::Leave => {
                    trails.iter_mut().for_each(PathCursor::pop);
                    return Ok(TreeStep::Go);
                }
                TreeEvent::Enter => {
                    trails.iter_mut().for_each(|trail| trail.push(name));
                    return Ok(TreeStep::Go);
                }
                TreeEvent::Before | TreeEvent::Entry(_) => {}
            }
            trails.iter_mut().for_each(|trail| trail.push(name));
            trails.iter().try_for_each(check_tree_entry)?;
            // Only a move can put a repository where git finds it.
            if there.is_some()
                && rules.protects()
                && RepositoryMarks::is_mark(name)
                && repository_marks_in(dir, b"").is_repository()
            {
                return Err(repository_error());
            }
            if let [current_dir, there] = &trails[..] {
                self.check_secret_copy_on(current_dir, there)?;
                if there.protected() && !current_dir.protected() {
                    return Err(protected_error());
                }
            }
            trails.iter_mut().for_each(PathCursor::pop);
            Ok(TreeStep::Go)
        })
    }

    /// Removes everything below a directory, and returns the number of removed entries. `real` is
    /// the path of the directory. Stops with an error at a denied or protected entry.
    pub(crate) fn empty_tree(
        &self,
        top: OwnedFd,
        real: &[u8],
        cancel: &CancelToken,
    ) -> Result<TreeCounts> {
        let mut trail = PathCursor::new(self.rules(), real);
        let checks = self.rules().denies() || self.rules().protects();
        let mut counts = TreeCounts::default();
        let mut refills = 0;
        walk_tree(top, cancel, |met, dir, name| {
            match met {
                TreeEvent::Enter => trail.push(name),
                TreeEvent::Leave => {
                    trail.pop();
                    return remove_directory(dir, name, &mut counts, &mut refills);
                }
                TreeEvent::Before | TreeEvent::Entry(_) if checks => {
                    trail.push(name);
                    check_tree_entry(&trail)?;
                    trail.pop();
                }
                TreeEvent::Before | TreeEvent::Entry(_) => {}
            }
            if let TreeEvent::Entry(_) = met {
                remove_entry(dir, name, &mut counts)?;
            }
            Ok(TreeStep::Go)
        })?;
        Ok(counts)
    }
}

/// Returns an error if an entry of a tree that is to be moved or removed is denied, or is or
/// contains a protected path.
fn check_tree_entry(entry: &PathCursor<'_>) -> Result<()> {
    if entry.denied_entry() {
        let mut error = outside_error();
        error.message = "the directory holds something outside the allowed roots".to_owned();
        return Err(error);
    }
    if entry.holds() {
        let mut error = protected_error();
        error.message = "the directory holds a path that is protected from change".to_owned();
        return Err(error);
    }
    Ok(())
}
