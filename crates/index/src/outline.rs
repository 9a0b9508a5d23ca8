//! Lists the entries of directories from the tree of an index.

use std::sync::Arc;

use filewright_core::Result;
use filewright_core::error::{Code, Error};
use filewright_core::walk::sees;

use crate::Session;
use crate::lookup::{find_index, lock_refreshed_state};
use crate::tree::{NO_NUMBER, Tree};
use filewright_fs::dir::stat::Kind;
use filewright_fs::walk::list_tree::{Entries, EntrySource, TreeOptions, TreeOutline};
use filewright_fs::walk::{DirPath, StopSignal, WalkRoot};

/// Returns a page of a tree listing to which ignore files apply, or `None` if no index contains all
/// of its entries.
pub(crate) fn outline_from_index(
    session: &Arc<Session>,
    walk_root: &WalkRoot<'_>,
    options: &TreeOptions,
    stop: &StopSignal<'_>,
) -> Option<TreeOutline> {
    let names = options.walk.ignore.as_deref();
    let (index, opened) = find_index(session, walk_root, names)?;
    let base = opened.as_ref().unwrap_or(walk_root);
    let (state, _) = lock_refreshed_state(session, &index, base, names, false, stop)?;
    let start = state.tree.find_dir(&walk_root.real[base.real.len()..])?;
    let mut known = IndexEntrySource { tree: &state.tree, start, options, is_short: false };
    let outline = filewright_fs::walk::list_tree::outline(&mut known, options, stop).ok()?;
    (!known.is_short).then_some(outline)
}

struct IndexEntrySource<'a> {
    tree: &'a Tree,
    start: u32,
    options: &'a TreeOptions,
    /// True once an entry was asked for that the index does not contain.
    is_short: bool,
}

impl EntrySource for IndexEntrySource<'_> {
    type Id = u32;

    fn start(&self) -> u32 {
        self.start
    }

    fn entries(&mut self, id: u32, place: &DirPath, into: &mut Entries<u32>) -> Result<()> {
        let dir = self.tree.dirs.get(id as usize).filter(|dir| !dir.special);
        let Some(dir) = dir.filter(|dir| id != self.start || !dir.unreadable) else {
            self.is_short = true;
            return Err(Error::new(Code::NotFound, "the tree does not know the directory"));
        };
        let mut path = place.shown.to_vec();
        for entry in dir.entries.iter().filter(|entry| !entry.ignored) {
            let name = dir.name(entry);
            if !sees(&self.options.walk, name) {
                continue;
            }
            path.truncate(place.shown.len());
            dir.push_shown(entry, &mut path);
            if self.options.lists(&path, entry.kind) {
                // The tree has no contents for a directory that is too deep.
                self.is_short |= entry.kind == Kind::Dir && entry.below == NO_NUMBER;
                into.push(name, entry.kind, entry.plain, entry.below);
            }
        }
        Ok(())
    }
}
