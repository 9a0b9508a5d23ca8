//! The directories of a tree as an index knows them, for a listing.

use std::sync::Arc;

use filewright_core::Result;
use filewright_core::error::{Code, Error};

use crate::Session;
use crate::lookup::{find, refreshed};
use crate::tree::{NONE, Tree};
use filewright_fs::dir::stat::Kind;
use filewright_fs::walk::list_tree::{Entries, Source, TreeOptions, TreeOutline, VisibilityFilter};
use filewright_fs::walk::{DirPath, StopSignal, WalkRoot};

/// A page of a listing in which ignore files count; `None` where no index knows
/// all of it.
pub(crate) fn outline(
    session: &Arc<Session>,
    ground: &WalkRoot<'_>,
    options: &TreeOptions,
    stop: &StopSignal<'_>,
) -> Option<TreeOutline> {
    let names = options.walk.ignore.as_deref();
    let (index, opened) = find(session, ground, names)?;
    let base = opened.as_ref().unwrap_or(ground);
    let (state, _) = refreshed(session, &index, base, names, false, stop)?;
    let start = state.tree.find_dir(&ground.real[base.real.len()..])?;
    let mut known = Known { tree: &state.tree, start, options, is_short: false };
    let outline = filewright_fs::walk::list_tree::outline(&mut known, options, stop).ok()?;
    (!known.is_short).then_some(outline)
}

struct Known<'a> {
    tree: &'a Tree,
    start: u32,
    options: &'a TreeOptions,
    /// It does not know all that is to be listed.
    is_short: bool,
}

impl Source for Known<'_> {
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
        let sees = VisibilityFilter::new(&self.options.walk, place);
        for entry in dir.entries.iter().filter(|entry| !entry.ignored) {
            let name = dir.name(entry);
            if sees.sees(name, entry.kind, entry.plain) {
                // A directory that lies too deep for the tree is none that is entered.
                self.is_short |= entry.kind == Kind::Dir && entry.below == NONE;
                into.push(name, entry.kind, entry.plain, entry.below);
            }
        }
        Ok(())
    }
}
