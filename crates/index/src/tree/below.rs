//! The directories of a tree that a walk with certain options enters.

use filewright_core::walk::{WalkOptions, sees};

use crate::tree::{IndexedDir, NO_NUMBER, Tree};
use filewright_fs::dir::stat::Kind;

/// The part of a tree below the directory in which a search starts.
#[derive(Clone, Copy)]
pub(crate) struct Below<'a> {
    pub tree: &'a Tree,
    /// The number of the directory.
    pub start: u32,
    pub options: &'a WalkOptions,
}

impl<'a> Below<'a> {
    /// Returns the path of a directory relative to the start in the form for display, with a final
    /// slash; empty for the start itself.
    pub fn shown(&self, dir: &'a IndexedDir) -> &'a [u8] {
        dir.shown.get(self.tree.dirs[self.start as usize].shown.len()..).unwrap_or_default()
    }

    /// Reports whether the globs let a walk enter a directory with this path relative to the start.
    pub fn enters_path(&self, path: &[u8]) -> bool {
        self.options.globs.may_contain(path) && !self.options.globs.excluded(path, true)
    }

    /// Returns the directories that the walk enters, each before those below it.
    pub fn dirs(&self) -> Vec<u32> {
        let mut dirs = vec![self.start];
        let mut at = 0;
        while let Some(&id) = dirs.get(at) {
            at += 1;
            let entries = &self.tree.dirs[id as usize].entries;
            let below = entries.iter().filter(|entry| entry.kind == Kind::Dir);
            dirs.extend(below.map(|entry| entry.below).filter(|&id| self.enters(id)));
        }
        dirs
    }

    /// Reports whether the walk enters a directory of the tree.
    pub fn is_entered(&self, id: u32) -> bool {
        let mut at = id;
        while at != self.start {
            if !self.enters(at) {
                return false;
            }
            at = self.tree.dirs[at as usize].parent;
        }
        self.tree.dirs[at as usize].alive
    }

    /// Reports whether the walk enters a directory if it enters the one above it.
    fn enters(&self, id: u32) -> bool {
        let Some(dir) = self.tree.dirs.get(id as usize).filter(|dir| dir.alive) else {
            return false;
        };
        let shown = self.shown(dir);
        let path = shown.strip_suffix(b"/").unwrap_or(shown);
        let name = memchr::memrchr(b'/', path).map_or(path, |cut| &path[cut + 1..]);
        sees(self.options, name) && self.enters_path(path)
    }
}

impl IndexedDir {
    /// Reports whether a search for links, or a count of what is not searched, has to look at it: not
    /// all of its entries are files and directories of the tree, or it cannot be read.
    pub fn is_special(&self) -> bool {
        self.unreadable || self.entries.iter().any(|entry| entry.below == NO_NUMBER)
    }
}
