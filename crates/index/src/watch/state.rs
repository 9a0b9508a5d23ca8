//! Keeps the tree up to date: processes events and lists changed directories.
//!
//! A directory is watched before it is listed, so no later change is missed; a change in between is
//! seen twice. Where no watch reports changes (no inotify, too many directories, network file
//! systems, files with several hard links) the metadata is checked instead.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::os::fd::AsFd as _;

use crate::tree::{Dir, NO_NUMBER, TOP, Tree};
use crate::watch::Watch;
use crate::watch::event::Event;
use filewright_fs::dir::stat::{Kind, Stat};
use filewright_fs::dir::temp_name::is_temp_name;
use filewright_fs::search::grep::Freshness;
use filewright_fs::walk::{Listing, StopSignal, WalkRoot};

/// The directory and the limits for accessing the disk.
pub(crate) struct ScanContext<'a> {
    pub walk_root: &'a WalkRoot<'a>,
    pub names: Option<&'a [String]>,
    pub stop: &'a StopSignal<'a>,
}

/// The index is invalid: its start was moved, or too much of it is gone.
pub(crate) struct Invalidated;

#[derive(Default)]
pub(crate) struct State {
    pub tree: Tree,
    pub(crate) watch: Option<Watch>,
    /// The directories of watches.
    pub(crate) watches: HashMap<i32, u32>,
    /// The directories to list (again), by depth.
    pub(crate) stale: BTreeSet<(usize, u32)>,
    /// Entries that are another directory with the same name.
    pub(crate) replaced: HashSet<(u32, Box<[u8]>)>,
    /// Directories that no watch covers.
    pub(crate) unwatched: HashSet<u32>,
    /// Directories whose check is pending, because time ran out or the call was cancelled.
    pub(crate) pending_checks: Vec<u32>,
    pub(crate) unreadable: HashSet<u32>,
    pub(crate) borders: HashSet<u32>,
    /// For each device, whether its file system reports changes.
    pub(crate) devices: HashMap<u64, bool>,
    /// True once the first listing is done.
    pub begun: bool,
    /// True if a file got an additional hard link.
    pub hard_link_added: bool,
    pub(crate) listing: Listing,
}

impl State {
    /// Creates the state of a tree that is not listed yet.
    pub fn new() -> Self {
        let mut state = Self { watch: Watch::new(), ..Self::default() };
        let empty = std::sync::Arc::from(&b""[..]);
        let top = Dir::new(NO_NUMBER, 0, std::sync::Arc::clone(&empty), empty, false);
        state.tree.dirs.push(top);
        state.stale.insert((0, TOP));
        state
    }

    /// Returns the number of watched directories.
    pub fn watched(&self) -> usize {
        self.watch.as_ref().map_or(0, Watch::len)
    }

    /// Applies all changes up to now. With `strict`, checks the metadata of every file and
    /// directory.
    pub fn refresh(
        &mut self,
        context: &ScanContext<'_>,
        strict: bool,
    ) -> Result<Freshness, Invalidated> {
        let overflow = self.drain_events()?;
        let mut dirs = std::mem::take(&mut self.pending_checks);
        if overflow || strict {
            dirs = (0..self.tree.dirs.len() as u32).collect();
        } else {
            dirs.extend(&self.unwatched);
        }
        self.sweep(context, dirs);
        if !strict {
            self.revalidate_hard_links(context);
        }
        self.revalidate_repo_roots(context);
        let depth = |state: &Self, id: u32| (state.tree.dirs[id as usize].depth, id);
        let again: Vec<_> = self.unreadable.iter().map(|&id| depth(self, id)).collect();
        self.stale.extend(again);
        self.list_stale(context);
        if std::mem::take(&mut self.hard_link_added) {
            // The change of the other names was not reported; from now on they are checked each
            // time.
            self.sweep(context, (0..self.tree.dirs.len() as u32).collect());
            self.list_stale(context);
        }
        self.replaced.clear();
        if self.tree.is_worn() {
            return Err(Invalidated);
        }
        let load_started = strict || !self.unwatched.is_empty() || !self.tree.linked.is_empty();
        Ok(if load_started { Freshness::Sweep } else { Freshness::Watch })
    }

    /// Reports whether all events are applied; a deadline may have interrupted that.
    pub fn is_settled(&self) -> bool {
        self.stale.is_empty() && self.pending_checks.is_empty()
    }

    /// Reads the queue of events; returns true if some were lost.
    fn drain_events(&mut self) -> Result<bool, Invalidated> {
        let Some(watch) = self.watch.take() else { return Ok(false) };
        let (mut overflow, mut broken) = (false, false);
        watch.drain(&mut |event| match event {
            Event::Overflow => overflow = true,
            Event::Unmounted => broken = true,
            Event::Moved(watch) => broken |= self.watches.get(&watch) == Some(&TOP),
            Event::Ended(watch) => {
                if let Some(id) = self.watches.remove(&watch) {
                    let dir = &mut self.tree.dirs[id as usize];
                    dir.watch = None;
                    let parent = dir.parent;
                    broken |= id == TOP;
                    self.look_at(id);
                    self.look_at(parent);
                }
            }
            Event::Itself(watch) => {
                if let Some(&id) = self.watches.get(&watch) {
                    self.look_at(id);
                }
            }
            Event::Entry { watch, name, is_dir } => {
                let name = name.to_bytes();
                if let Some(&id) = self.watches.get(&watch)
                    && !is_temp_name(name)
                {
                    self.look_at(id);
                    if is_dir {
                        self.replaced.insert((id, name.into()));
                    } else {
                        self.touched(id, name);
                    }
                }
            }
            Event::Content { watch, name, is_dir } => {
                if let Some(&id) = self.watches.get(&watch) {
                    self.content(id, name.to_bytes(), is_dir);
                }
            }
        });
        self.watch = Some(watch);
        if broken { Err(Invalidated) } else { Ok(overflow) }
    }

    fn content(&mut self, id: u32, name: &[u8], is_dir: bool) {
        if is_dir {
            let below = self.tree.dirs[id as usize].find(name).map(|entry| entry.below);
            if let Some(below) = below.filter(|below| *below != NO_NUMBER) {
                self.look_at(below);
            }
        } else if !self.touched(id, name) || name.first() == Some(&b'.') {
            // It may be an ignore file, or a file that is not in the tree yet.
            self.look_at(id);
        }
    }

    fn touched(&mut self, id: u32, name: &[u8]) -> bool {
        let entry = self.tree.dirs[id as usize].find(name).copied();
        match entry {
            Some(entry) if entry.kind == Kind::File && entry.below != NO_NUMBER => {
                self.tree.mark_used(entry.below);
                true
            }
            Some(entry) => entry.ignored,
            None => false,
        }
    }

    /// Marks a directory to be listed again.
    pub(crate) fn look_at(&mut self, id: u32) {
        if let Some(dir) = self.tree.dirs.get(id as usize)
            && dir.alive
        {
            self.stale.insert((dir.depth, id));
        }
    }

    /// Reports whether an entry became another directory with the same name.
    pub fn was_replaced(&self, dir: u32, name: &[u8]) -> bool {
        !self.replaced.is_empty() && self.replaced.contains(&(dir, name.into()))
    }

    /// Adds a directory.
    pub fn add_dir(&mut self, dir: Dir) -> u32 {
        let id = self.tree.dirs.len() as u32;
        self.stale.insert((dir.depth, id));
        self.tree.dirs.push(dir);
        id
    }

    /// Records that the rules above a directory changed.
    pub fn mark_rules_changed(&mut self, id: u32) {
        self.tree.dirs[id as usize].rules_changed_above = true;
        self.look_at(id);
    }

    /// Records whether a directory is a repository root, and the hash of its excludes.
    pub fn mark_repo_root(&mut self, id: u32, is_repo_root: bool, exclude: u64) {
        let dir = &mut self.tree.dirs[id as usize];
        (dir.is_repo_root, dir.exclude) = (is_repo_root, exclude);
        if is_repo_root {
            self.borders.insert(id);
        } else {
            self.borders.remove(&id);
        }
    }

    pub fn remove_dir(&mut self, id: u32) {
        let mut gone = vec![id];
        while let Some(id) = gone.pop() {
            self.ignore(id);
            for set in [&mut self.unwatched, &mut self.unreadable, &mut self.borders] {
                set.remove(&id);
            }
            self.tree.dirs[id as usize].alive = false;
            gone.extend(self.take_entries(id));
        }
        self.tree.shape += 1;
    }

    /// Removes the entries of a directory; returns its subdirectories, which the caller must
    /// remove.
    pub(crate) fn take_entries(&mut self, id: u32) -> Vec<u32> {
        let dir = &mut self.tree.dirs[id as usize];
        dir.names = Vec::new();
        let mut dirs = Vec::new();
        for entry in std::mem::take(&mut dir.entries) {
            match entry.kind {
                _ if entry.below == NO_NUMBER => {}
                Kind::Dir => dirs.push(entry.below),
                _ => self.tree.remove_file(entry.below),
            }
        }
        dirs
    }
}

/// Returns the device and inode of the directory in which a search starts.
pub(crate) fn id_of(walk_root: &WalkRoot<'_>) -> Option<(u64, u64)> {
    Stat::of(walk_root.fd.as_fd()).ok().map(|stat| (stat.dev, stat.ino))
}
