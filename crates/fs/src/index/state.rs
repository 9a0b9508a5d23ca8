//! Keeping the tree as the disk is: hearing what changed, and looking again.
//!
//! A directory is watched before it is listed, so nothing that happens to it
//! afterwards is missed; what happened in between is seen twice. Where no watch
//! tells (no inotify, too many directories, foreign file systems, files with
//! other names) the facts are asked for instead: a sweep.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{SystemTime, UNIX_EPOCH};

use super::event::Event;
use super::list::Contents;
use super::look::{self, Found, Looked};
use super::tree::{Dir, NONE, State as FileState, TOP, Tree, stamp_of};
use super::watch::{Watch, tells};
use crate::grep::Fresh;
use crate::stat::{Kind, Stat};
use crate::walk::{Ground, Listing, Opener, Stop, rules};
use crate::write::is_temp_name;

/// What is needed to look at the disk.
pub(super) struct Sight<'a> {
    pub ground: &'a Ground<'a>,
    pub names: Option<&'a [String]>,
    pub stop: &'a Stop<'a>,
}

/// The index is of no use any more: its start moved, or too much of it is gone.
pub(super) struct Broken;

#[derive(Default)]
pub(super) struct State {
    pub tree: Tree,
    watch: Option<Watch>,
    /// The directories of watches.
    watches: HashMap<i32, u32>,
    /// Directories to be listed (again), the upper ones first.
    stale: BTreeSet<(usize, u32)>,
    /// Entries that are another directory of the same name.
    replaced: HashSet<(u32, Box<[u8]>)>,
    /// Directories that no watch tells of.
    swept: HashSet<u32>,
    /// Directories that were to be asked and were not: time was up, or nobody waited any more.
    owed: Vec<u32>,
    unreadable: HashSet<u32>,
    borders: HashSet<u32>,
    /// Whether the file systems tell of changes, by device.
    devices: HashMap<u64, bool>,
    /// The first listing is done.
    pub begun: bool,
    /// A new name came up for a file that has others.
    pub links_came: bool,
    listing: Listing,
}

impl State {
    /// The state of a tree that is not listed yet.
    pub fn new() -> Self {
        let mut state = Self { watch: Watch::new(), ..Self::default() };
        let empty = std::sync::Arc::from(&b""[..]);
        let top = Dir::new(NONE, 0, std::sync::Arc::clone(&empty), empty, false);
        state.tree.dirs.push(top);
        state.stale.insert((0, TOP));
        state
    }

    /// How many directories are watched.
    pub fn watched(&self) -> usize {
        self.watch.as_ref().map_or(0, Watch::len)
    }

    /// Takes in everything that was done until now. With `strict` every file
    /// and directory is asked whether it changed.
    pub fn refresh(&mut self, sight: &Sight<'_>, strict: bool) -> Result<Fresh, Broken> {
        let overflow = self.hear()?;
        let mut dirs = std::mem::take(&mut self.owed);
        if overflow || strict {
            dirs = (0..self.tree.dirs.len() as u32).collect();
        } else {
            dirs.extend(&self.swept);
        }
        self.sweep(sight, dirs);
        if !strict {
            self.ask_linked(sight);
        }
        self.ask_borders(sight);
        let depth = |state: &Self, id: u32| (state.tree.dirs[id as usize].depth, id);
        let again: Vec<_> = self.unreadable.iter().map(|&id| depth(self, id)).collect();
        self.stale.extend(again);
        self.list_stale(sight);
        if std::mem::take(&mut self.links_came) {
            // The other names changed when this one came; from now on they are asked each time.
            self.sweep(sight, (0..self.tree.dirs.len() as u32).collect());
            self.list_stale(sight);
        }
        self.replaced.clear();
        if self.tree.is_worn() {
            return Err(Broken);
        }
        let asked = strict || !self.swept.is_empty() || !self.tree.linked.is_empty();
        Ok(if asked { Fresh::Sweep } else { Fresh::Watch })
    }

    fn list_stale(&mut self, sight: &Sight<'_>) {
        if !self.begun {
            self.list_at_first(sight);
        }
        let mut opener = Opener::new(sight.ground, sight.stop);
        while let Some((depth, id)) = self.stale.pop_first() {
            if sight.stop.now() {
                self.stale.insert((depth, id));
                return;
            }
            self.list(id, sight, &mut opener);
        }
    }

    /// Lists the directories of a new tree, those of one depth at once.
    fn list_at_first(&mut self, sight: &Sight<'_>) {
        while let Some(&(depth, _)) = self.stale.first() {
            let level = self.stale.range((depth, 0)..=(depth, NONE)).take(look::MOST);
            let dirs: Vec<u32> = level.map(|&(_, id)| id).collect();
            let known = |&id: &u32| self.tree.dirs[id as usize].id != (0, 0);
            if dirs.iter().any(known) {
                return;
            }
            if dirs.len() < look::WORTH_IT {
                let mut opener = Opener::new(sight.ground, sight.stop);
                for id in dirs {
                    if sight.stop.now() {
                        return;
                    }
                    self.stale.remove(&(depth, id));
                    self.list(id, sight, &mut opener);
                }
                continue;
            }
            let mut ended = false;
            for Looked { id, found } in look::look(&self.tree, self.watch.as_ref(), &dirs, sight) {
                let Some(found) = found else {
                    ended = true;
                    continue;
                };
                self.stale.remove(&(depth, id));
                match found {
                    Ok(found) => {
                        let Found { stat, racy, tells, watch, contents } = found;
                        self.devices.insert(stat.dev, tells);
                        self.tree.dirs[id as usize].id = (stat.dev, stat.ino);
                        self.is_watched(id, watch);
                        self.take(id, &stat, racy, contents, None);
                    }
                    Err(_) => self.give_up(id),
                }
            }
            if ended {
                return;
            }
        }
    }

    /// Whether all that was heard is taken in: a deadline may have come first.
    pub fn is_settled(&self) -> bool {
        self.stale.is_empty() && self.owed.is_empty()
    }

    /// Empties the queue of events; true where some were lost.
    fn hear(&mut self) -> Result<bool, Broken> {
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
        if broken { Err(Broken) } else { Ok(overflow) }
    }

    fn content(&mut self, id: u32, name: &[u8], is_dir: bool) {
        if is_dir {
            let below = self.tree.dirs[id as usize].find(name).map(|entry| entry.below);
            if let Some(below) = below.filter(|below| *below != NONE) {
                self.look_at(below);
            }
        } else if !self.touched(id, name) || name.first() == Some(&b'.') {
            // It may be a file of ignore rules, or one that is not known yet.
            self.look_at(id);
        }
    }

    fn touched(&mut self, id: u32, name: &[u8]) -> bool {
        let entry = self.tree.dirs[id as usize].find(name).copied();
        match entry {
            Some(entry) if entry.kind == Kind::File && entry.below != NONE => {
                self.tree.touch(entry.below);
                true
            }
            Some(entry) => entry.ignored,
            None => false,
        }
    }

    /// The directory is to be listed again.
    fn look_at(&mut self, id: u32) {
        if let Some(dir) = self.tree.dirs.get(id as usize)
            && dir.alive
        {
            self.stale.insert((dir.depth, id));
        }
    }

    /// Asks directories and their files whether they changed.
    fn sweep(&mut self, sight: &Sight<'_>, mut dirs: Vec<u32>) {
        // In order of their making neighbours follow each other.
        dirs.sort_unstable();
        dirs.dedup();
        let mut opener = Opener::new(sight.ground, sight.stop);
        for (done, &id) in dirs.iter().enumerate() {
            if sight.stop.now() {
                self.owed.extend(&dirs[done..]);
                return;
            }
            let dir = &self.tree.dirs[id as usize];
            if !dir.alive {
                continue;
            }
            let (parent, raw) = (dir.parent, std::sync::Arc::clone(&dir.raw));
            let fd = match opener.open(&raw) {
                Ok(fd) => fd,
                Err(_) => {
                    self.look_at(parent);
                    self.look_at(id);
                    continue;
                }
            };
            match Stat::of(fd) {
                Ok(stat) if stamp_of(&stat) == dir.stamp && !dir.racy && !dir.has_rules => {}
                _ => drop(self.stale.insert((dir.depth, id))),
            }
            let changed: Vec<u32> = dir
                .entries
                .iter()
                .filter(|entry| entry.kind == Kind::File && entry.below != NONE)
                .filter(|entry| {
                    let file = &self.tree.files[entry.below as usize];
                    !matches!(file.state, FileState::Dirty | FileState::Kept)
                        && !Stat::at(fd, dir.name(entry))
                            .is_ok_and(|stat| stamp_of(&stat) == file.stamp)
                })
                .map(|entry| entry.below)
                .collect();
            changed.into_iter().for_each(|file| self.tree.touch(file));
        }
    }

    /// Asks the files with other names whether they changed.
    fn ask_linked(&mut self, sight: &Sight<'_>) {
        let mut linked: Vec<(u32, u32)> = self
            .tree
            .linked
            .iter()
            .map(|&file| (self.tree.files[file as usize].dir, file))
            .collect();
        linked.sort_unstable();
        let mut opener = Opener::new(sight.ground, sight.stop);
        for (dir, id) in linked {
            let (dir, file) = (&self.tree.dirs[dir as usize], &self.tree.files[id as usize]);
            let name = dir.name(&dir.entries[file.entry as usize]);
            let same = opener.open(&dir.raw).and_then(|fd| Stat::at(fd, name));
            if !same.is_ok_and(|stat| stamp_of(&stat) == file.stamp) {
                self.tree.touch(id);
            }
        }
    }

    /// Looks whether the excludes of repositories changed: nobody watches in `.git`.
    fn ask_borders(&mut self, sight: &Sight<'_>) {
        let mut opener = Opener::new(sight.ground, sight.stop);
        let borders: Vec<u32> = self.borders.iter().copied().collect();
        for id in borders {
            let dir = &self.tree.dirs[id as usize];
            let top = sight.ground.fd.as_fd();
            let fd = if dir.raw.is_empty() { Ok(top) } else { opener.open(&dir.raw) };
            // Asked before the content: what changes in between shows the next time.
            let stat = fd.and_then(exclude_stat);
            let stamp = stat.as_ref().map_or(0, stamp_of);
            if stamp != 0 && stamp == dir.exclude_stamp {
                continue;
            }
            let now = fd.map(rules::exclude_content);
            let same = now == Ok(dir.exclude);
            let lasting = same && stat.is_ok_and(|stat| !self.is_racy(&stat));
            self.tree.dirs[id as usize].exclude_stamp = if lasting { stamp } else { 0 };
            if !same {
                self.look_at(id);
            }
        }
    }

    fn list(&mut self, id: u32, sight: &Sight<'_>, opener: &mut Opener<'_>) {
        let dir = &self.tree.dirs[id as usize];
        if !dir.alive {
            return;
        }
        let raw = std::sync::Arc::clone(&dir.raw);
        let mut listing = std::mem::take(&mut self.listing);
        let listed = opener.open(&raw).and_then(|fd| {
            let stat = Stat::of(fd)?;
            self.attend(id, fd, &stat);
            listing.read(fd)?;
            Ok((fd, stat))
        });
        match listed {
            Ok((fd, stat)) => {
                let racy = self.is_racy(&stat);
                let dir = &self.tree.dirs[id as usize];
                let above = self.tree.dirs.get(dir.parent as usize).map(|parent| &parent.stack);
                let above = above.unwrap_or(&sight.ground.stack);
                let contents = Contents::of(dir, above, fd, &listing, sight);
                self.take(id, &stat, racy, contents, Some(fd));
            }
            Err(_) => self.give_up(id),
        }
        self.listing = listing;
    }

    /// Takes in what a directory's listing says.
    fn take(
        &mut self,
        id: u32,
        stat: &Stat,
        racy: bool,
        contents: Contents,
        fd: Option<BorrowedFd<'_>>,
    ) {
        let dir = &mut self.tree.dirs[id as usize];
        (dir.stamp, dir.racy) = (stamp_of(stat), racy);
        if std::mem::take(&mut dir.unreadable) {
            self.unreadable.remove(&id);
            self.tree.shape += 1;
        }
        super::list::take_in(self, id, contents, fd);
    }

    /// A directory cannot be looked into.
    fn give_up(&mut self, id: u32) {
        self.forget_entries(id);
        let dir = &mut self.tree.dirs[id as usize];
        if !std::mem::replace(&mut dir.unreadable, true) {
            self.tree.shape += 1;
        }
        self.unreadable.insert(id);
    }

    /// Sees to it that a directory is watched, before it is listed.
    fn attend(&mut self, id: u32, fd: BorrowedFd<'_>, stat: &Stat) {
        let dir = &mut self.tree.dirs[id as usize];
        let now = (stat.dev, stat.ino);
        if dir.id != now {
            let known = std::mem::replace(&mut dir.id, now) != (0, 0);
            let entries = dir.entries.iter().filter(|entry| entry.kind == Kind::Dir);
            if known {
                // Another directory of the same path: so are those below it.
                let names: Vec<Box<[u8]>> = entries.map(|entry| dir.name(entry).into()).collect();
                self.replaced.extend(names.into_iter().map(|name| (id, name)));
                self.ignore(id);
            }
        }
        if self.tree.dirs[id as usize].watch.is_some() {
            return;
        }
        let tells = *self.devices.entry(stat.dev).or_insert_with(|| tells(fd));
        let watch = self.watch.as_ref().filter(|_| tells).and_then(|watch| watch.add(fd));
        self.is_watched(id, watch);
    }

    /// A directory is watched from now on, or swept where it is not.
    fn is_watched(&mut self, id: u32, watch: Option<i32>) {
        match watch {
            Some(watch) => {
                if let Some(moved) = self.watches.insert(watch, id)
                    && moved != id
                {
                    self.tree.dirs[moved as usize].watch = None;
                }
                self.tree.dirs[id as usize].watch = Some(watch);
                self.swept.remove(&id);
            }
            None => drop(self.swept.insert(id)),
        }
    }

    /// Watches a directory no longer.
    fn ignore(&mut self, id: u32) {
        if let Some(old) = self.tree.dirs[id as usize].watch.take()
            && self.watches.get(&old) == Some(&id)
        {
            self.watches.remove(&old);
            if let Some(watch) = &self.watch {
                watch.remove(old);
            }
        }
    }

    /// Whether an entry became another directory under the same name.
    pub fn was_replaced(&self, dir: u32, name: &[u8]) -> bool {
        !self.replaced.is_empty() && self.replaced.contains(&(dir, name.into()))
    }

    /// A directory that was not known.
    pub fn add_dir(&mut self, dir: Dir) -> u32 {
        let id = self.tree.dirs.len() as u32;
        self.stale.insert((dir.depth, id));
        self.tree.dirs.push(dir);
        id
    }

    /// The rules above a directory changed.
    pub fn inherit_anew(&mut self, id: u32) {
        self.tree.dirs[id as usize].inherits_anew = true;
        self.look_at(id);
    }

    /// Whether a directory is one with excludes of its own.
    pub fn mark_border(&mut self, id: u32, border: bool, exclude: u64) {
        let dir = &mut self.tree.dirs[id as usize];
        (dir.border, dir.exclude) = (border, exclude);
        if border {
            self.borders.insert(id);
        } else {
            self.borders.remove(&id);
        }
    }

    pub fn remove_dir(&mut self, id: u32) {
        let mut gone = vec![id];
        while let Some(id) = gone.pop() {
            self.ignore(id);
            for set in [&mut self.swept, &mut self.unreadable, &mut self.borders] {
                set.remove(&id);
            }
            let dir = &mut self.tree.dirs[id as usize];
            dir.alive = false;
            dir.names = Vec::new();
            for entry in std::mem::take(&mut dir.entries) {
                match entry.kind {
                    _ if entry.below == NONE => {}
                    Kind::Dir => gone.push(entry.below),
                    _ => self.tree.remove_file(entry.below),
                }
            }
        }
        self.tree.shape += 1;
    }

    fn forget_entries(&mut self, id: u32) {
        let dir = &mut self.tree.dirs[id as usize];
        dir.names = Vec::new();
        dir.stamp = 0;
        (dir.ignored, dir.too_deep) = (0, 0);
        for entry in std::mem::take(&mut dir.entries) {
            match entry.kind {
                _ if entry.below == NONE => {}
                Kind::Dir => self.remove_dir(entry.below),
                _ => self.tree.remove_file(entry.below),
            }
        }
        self.tree.shape += 1;
    }

    /// Whether a file changed so lately that its next change may not show in its facts.
    pub fn is_racy(&self, stat: &Stat) -> bool {
        is_racy(stat, self.devices.get(&stat.dev) == Some(&true))
    }
}

/// Whether something changed so lately that the next change may not show in
/// its facts: within a tick of the kernel's clock, or what other machines keep.
pub(super) fn is_racy(stat: &Stat, tells: bool) -> bool {
    const TICK: i64 = 100_000_000;
    const COARSE: i64 = 2_100_000_000;
    let nanos = if tells { TICK } else { COARSE };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos());
    stat.ctime.max(stat.mtime) > i64::try_from(now).unwrap_or(i64::MAX) - nanos
}

/// The facts of a repository's excludes, where no link leads to them.
fn exclude_stat(dir: BorrowedFd<'_>) -> rustix::io::Result<Stat> {
    match Stat::at(dir, b".git/info")?.kind {
        Kind::Dir => Stat::at(dir, b".git/info/exclude"),
        _ => Err(rustix::io::Errno::LOOP),
    }
}

/// Which directory a search starts in.
pub(super) fn id_of(ground: &Ground<'_>) -> Option<(u64, u64)> {
    Stat::of(ground.fd.as_fd()).ok().map(|stat| (stat.dev, stat.ino))
}
