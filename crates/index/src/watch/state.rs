//! The state of an index, and how it is kept up to date: events are applied, and changed
//! directories are listed.
//!
//! A directory is watched before it is listed, so no later change is missed; a change in between is
//! seen twice. Where no watch reports changes (no inotify, too many directories, network file
//! systems, files with several hard links) the metadata is checked instead.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::os::fd::AsFd as _;

use crate::tree::{IndexedDir, NO_NUMBER, TOP_DIR, Tree};
use crate::watch::Watcher;
use crate::watch::event::WatchEvent;
use filewright_fs::dir::stat::{Kind, Stat};
use filewright_fs::dir::temp_name::is_temp_name;
use filewright_fs::search::grep::Freshness;
use filewright_fs::walk::{Listing, StopSignal, WalkRoot};

/// The parameters of an access to the disk: the start of the index, the names of ignore files, and
/// when to stop.
pub(crate) struct ScanContext<'a> {
    pub walk_root: &'a WalkRoot<'a>,
    pub names: Option<&'a [String]>,
    pub stop: &'a StopSignal<'a>,
}

/// The error for an index that must be discarded: its start was moved or deleted, a file system was
/// unmounted, or most of its data belongs to deleted files.
pub(crate) struct IndexInvalidated;

/// The state of an index: the tree, and what is known about changes on the disk.
#[derive(Default)]
pub(crate) struct IndexState {
    pub tree: Tree,
    pub(crate) watch: Option<Watcher>,
    /// The directory of each watch.
    pub(crate) watches: HashMap<i32, u32>,
    /// The directories to list, for the first time or again, by depth.
    pub(crate) stale: BTreeSet<(usize, u32)>,
    /// The entries (directory and name) at which there may now be another directory of the same
    /// name.
    pub(crate) replaced: HashSet<(u32, Box<[u8]>)>,
    /// The directories without a watch, which are checked by their metadata.
    pub(crate) unwatched: HashSet<u32>,
    /// The directories still to be checked by their metadata, because the previous call ended
    /// first.
    pub(crate) pending_checks: Vec<u32>,
    pub(crate) unreadable: HashSet<u32>,
    pub(crate) borders: HashSet<u32>,
    /// For each device, whether its file system reports changes.
    pub(crate) devices: HashMap<u64, bool>,
    /// True once the whole tree was listed for the first time.
    pub begun: bool,
    /// True if a new name in the tree may be another hard link to a file that is in it.
    pub hard_link_added: bool,
    /// The number of times that this has happened.
    pub(crate) added_links: u32,
    /// The number of times that reports of changes may have been lost.
    pub(crate) lost_changes: u32,
    pub(crate) listing: Listing,
}

impl IndexState {
    /// Creates the state of a tree whose top is not listed yet.
    pub fn new() -> Self {
        let mut state = Self { watch: Watcher::new(), ..Self::default() };
        let empty = std::sync::Arc::from(&b""[..]);
        let top = IndexedDir::new(NO_NUMBER, 0, std::sync::Arc::clone(&empty), empty, false);
        state.tree.dirs.push(top);
        state.stale.insert((0, TOP_DIR));
        state
    }

    /// Returns the number of watched directories.
    pub fn watched(&self) -> usize {
        self.watch.as_ref().map_or(0, Watcher::len)
    }

    /// Applies all changes up to now, and returns how they were detected. With `strict`, checks the
    /// metadata of every file and directory. If the call ends first, [`IndexState::is_settled`] is
    /// false afterwards.
    pub fn refresh(
        &mut self,
        context: &ScanContext<'_>,
        strict: bool,
    ) -> Result<Freshness, IndexInvalidated> {
        let overflow = self.drain_events()?;
        let mut dirs = std::mem::take(&mut self.pending_checks);
        self.lost_changes = self.lost_changes.wrapping_add(u32::from(overflow || strict));
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
            // A change through the new name is not reported for the old name. Files with several
            // names are checked at each query from now on.
            self.added_links = self.added_links.wrapping_add(1);
            self.sweep(context, (0..self.tree.dirs.len() as u32).collect());
            self.list_stale(context);
        }
        self.replaced.clear();
        if self.tree.is_worn() {
            return Err(IndexInvalidated);
        }
        let load_started = strict || !self.unwatched.is_empty() || !self.tree.linked.is_empty();
        Ok(if load_started { Freshness::Sweep } else { Freshness::Watch })
    }

    /// Reports whether all changes are applied. False if [`IndexState::refresh`] was cancelled or
    /// out of time.
    pub fn is_settled(&self) -> bool {
        self.stale.is_empty() && self.pending_checks.is_empty()
    }

    /// Reads the queue of events and marks what must be listed or read again. Returns true if
    /// events were lost.
    fn drain_events(&mut self) -> Result<bool, IndexInvalidated> {
        let Some(watch) = self.watch.take() else { return Ok(false) };
        let (mut overflow, mut broken) = (false, false);
        watch.drain(&mut |event| match event {
            WatchEvent::Overflow => overflow = true,
            WatchEvent::Unmounted => broken = true,
            WatchEvent::Moved(watch) => broken |= self.watches.get(&watch) == Some(&TOP_DIR),
            WatchEvent::Ended(watch) => {
                if let Some(id) = self.watches.remove(&watch) {
                    self.lost_changes = self.lost_changes.wrapping_add(1);
                    let dir = &mut self.tree.dirs[id as usize];
                    dir.watch = None;
                    let parent = dir.parent;
                    broken |= id == TOP_DIR;
                    self.mark_stale(id);
                    self.mark_stale(parent);
                }
            }
            WatchEvent::Itself(watch) => {
                if let Some(&id) = self.watches.get(&watch) {
                    self.mark_stale(id);
                }
            }
            WatchEvent::Entry { watch, name, is_dir } => {
                let name = name.to_bytes();
                if let Some(&id) = self.watches.get(&watch)
                    && !is_temp_name(name)
                {
                    self.mark_stale(id);
                    if is_dir {
                        self.replaced.insert((id, name.into()));
                    } else {
                        self.mark_file_dirty(id, name);
                    }
                }
            }
            WatchEvent::Content { watch, name, is_dir } => {
                if let Some(&id) = self.watches.get(&watch) {
                    self.content(id, name.to_bytes(), is_dir);
                }
            }
        });
        self.watch = Some(watch);
        if broken { Err(IndexInvalidated) } else { Ok(overflow) }
    }

    /// Applies the report that the content or metadata of an entry changed.
    fn content(&mut self, id: u32, name: &[u8], is_dir: bool) {
        if is_dir {
            let below = self.tree.dirs[id as usize].find(name).map(|entry| entry.below);
            if let Some(below) = below.filter(|below| *below != NO_NUMBER) {
                self.mark_stale(below);
            }
        } else if !self.mark_file_dirty(id, name) || name.first() == Some(&b'.') {
            // The file may be an ignore file, or not be in the tree yet.
            self.mark_stale(id);
        }
    }

    /// Marks a file as dirty after a change. Returns false if the tree has no file or ignored entry
    /// of that name.
    fn mark_file_dirty(&mut self, id: u32, name: &[u8]) -> bool {
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
    pub(crate) fn mark_stale(&mut self, id: u32) {
        if let Some(dir) = self.tree.dirs.get(id as usize)
            && dir.alive
        {
            self.stale.insert((dir.depth, id));
        }
    }

    /// Reports whether an entry may be another directory of the same name than before.
    pub fn was_replaced(&self, dir: u32, name: &[u8]) -> bool {
        !self.replaced.is_empty() && self.replaced.contains(&(dir, name.into()))
    }

    /// Adds a directory, to be listed, and returns its number.
    pub fn add_dir(&mut self, dir: IndexedDir) -> u32 {
        let id = self.tree.dirs.len() as u32;
        self.stale.insert((dir.depth, id));
        self.tree.dirs.push(dir);
        id
    }

    /// Records that the ignore rules above a directory changed, so that it is listed again.
    pub fn mark_rules_changed(&mut self, id: u32) {
        self.tree.dirs[id as usize].rules_changed_above = true;
        self.mark_stale(id);
    }

    /// Records whether a directory contains `.git`, and the hash of its `.git/info/exclude`.
    pub fn mark_repo_root(&mut self, id: u32, is_repo_root: bool, exclude: u64) {
        let dir = &mut self.tree.dirs[id as usize];
        (dir.is_repo_root, dir.exclude) = (is_repo_root, exclude);
        if is_repo_root {
            self.borders.insert(id);
        } else {
            self.borders.remove(&id);
        }
    }

    /// Removes a directory and everything below it from the tree.
    pub fn remove_dir(&mut self, id: u32) {
        let mut gone = vec![id];
        while let Some(id) = gone.pop() {
            self.ignore(id);
            for set in [&mut self.unwatched, &mut self.unreadable, &mut self.borders] {
                set.remove(&id);
            }
            self.tree.dirs[id as usize].alive = false;
            gone.extend(self.take_entries(id));
            self.tree.log_dir(id);
        }
    }

    /// Removes the entries of a directory from the tree, and returns the numbers of its
    /// subdirectories, which the caller must remove.
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

/// Returns the device and inode of the start of a walk; `None` if they cannot be read.
pub(crate) fn device_and_inode_of(walk_root: &WalkRoot<'_>) -> Option<(u64, u64)> {
    Stat::of(walk_root.fd.as_fd()).ok().map(|stat| (stat.dev, stat.ino))
}
