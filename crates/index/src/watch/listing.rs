//! Lists new and changed directories. Each is watched before it is listed, so that no later change
//! is missed: therefore this is not the walk of `filewright_fs::walk`, whose rules it shares
//! (`list.rs`).

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use crate::tree::{NO_NUMBER, stamp_of};
use crate::watch::dir_scan::{self, ScanResult, ScannedDir};
use crate::watch::list::{DirContents, apply_listing};
use crate::watch::reports_all_changes;
use crate::watch::state::{IndexState, ScanContext};
use filewright_fs::dir::stat::{Kind, Stat};
use filewright_fs::walk::Opener;

impl IndexState {
    /// Lists all directories that are marked as stale, until the call must end.
    pub(crate) fn list_stale(&mut self, context: &ScanContext<'_>) {
        if !self.begun {
            self.list_at_first(context);
        }
        let mut opener = Opener::new(context.walk_root, context.stop);
        while let Some((depth, id)) = self.stale.pop_first() {
            if context.stop.now() {
                self.stale.insert((depth, id));
                return;
            }
            self.list(id, context, &mut opener);
        }
    }

    /// Lists the directories of a new tree, those of one depth in parallel.
    pub(crate) fn list_at_first(&mut self, context: &ScanContext<'_>) {
        while let Some(&(depth, _)) = self.stale.first() {
            let level =
                self.stale.range((depth, 0)..=(depth, NO_NUMBER)).take(dir_scan::MAX_PENDING_DIRS);
            let dirs: Vec<u32> = level.map(|&(_, id)| id).collect();
            let known = |&id: &u32| self.tree.dirs[id as usize].id != (0, 0);
            if dirs.iter().any(known) {
                return;
            }
            if dirs.len() < dir_scan::MIN_DIRS_FOR_THREADS {
                let mut opener = Opener::new(context.walk_root, context.stop);
                for id in dirs {
                    if context.stop.now() {
                        return;
                    }
                    self.stale.remove(&(depth, id));
                    self.list(id, context, &mut opener);
                }
                continue;
            }
            let mut ended = false;
            for ScanResult { id, found } in
                dir_scan::scan_directories(&self.tree, self.watch.as_ref(), &dirs, context)
            {
                let Some(found) = found else {
                    ended = true;
                    continue;
                };
                self.stale.remove(&(depth, id));
                match found {
                    Ok(found) => {
                        let ScannedDir { stat, racy, tells, watch, contents } = found;
                        self.devices.insert(stat.dev, tells);
                        self.tree.dirs[id as usize].id = (stat.dev, stat.ino);
                        self.is_watched(id, watch);
                        self.take(id, &stat, racy, contents, None);
                    }
                    Err(_) => self.mark_unreadable(id),
                }
            }
            if ended {
                return;
            }
        }
    }

    /// Lists a directory again and applies the result.
    pub(crate) fn list(&mut self, id: u32, context: &ScanContext<'_>, opener: &mut Opener<'_>) {
        let dir = &self.tree.dirs[id as usize];
        if !dir.alive {
            return;
        }
        let raw = Arc::clone(&dir.raw);
        let mut listing = std::mem::take(&mut self.listing);
        let listed = opener.open(&raw).and_then(|fd| {
            let stat = Stat::of(fd)?;
            self.ensure_watched(id, fd, &stat);
            listing.read(fd)?;
            Ok((fd, stat))
        });
        match listed {
            Ok((fd, stat)) => {
                let racy = self.changed_too_recently(&stat);
                let dir = &self.tree.dirs[id as usize];
                let above = self.tree.dirs.get(dir.parent as usize).map(|parent| &parent.stack);
                let above = above.unwrap_or(&context.walk_root.stack);
                let contents = DirContents::of(dir, above, fd, &listing, context);
                self.take(id, &stat, racy, contents, Some(fd));
            }
            Err(_) => self.mark_unreadable(id),
        }
        self.listing = listing;
    }

    /// Applies the listing of a directory.
    pub(crate) fn take(
        &mut self,
        id: u32,
        stat: &Stat,
        racy: bool,
        contents: DirContents,
        fd: Option<BorrowedFd<'_>>,
    ) {
        let dir = &mut self.tree.dirs[id as usize];
        (dir.stamp, dir.racy) = (stamp_of(stat), racy);
        if std::mem::take(&mut dir.unreadable) {
            self.unreadable.remove(&id);
            self.tree.log_dir(id);
        }
        apply_listing(self, id, contents, fd);
    }

    /// Records that a directory cannot be read, and removes its entries from the tree.
    pub(crate) fn mark_unreadable(&mut self, id: u32) {
        self.forget_entries(id);
        let dir = &mut self.tree.dirs[id as usize];
        if !std::mem::replace(&mut dir.unreadable, true) {
            self.tree.log_dir(id);
        }
        self.unreadable.insert(id);
    }

    /// Watches a directory that is about to be listed, if it is not watched yet.
    pub(crate) fn ensure_watched(&mut self, id: u32, fd: BorrowedFd<'_>, stat: &Stat) {
        let dir = &mut self.tree.dirs[id as usize];
        let now = (stat.dev, stat.ino);
        if dir.id != now {
            let known = std::mem::replace(&mut dir.id, now) != (0, 0);
            let entries = dir.entries.iter().filter(|entry| entry.kind == Kind::Dir);
            if known {
                // Another directory has this path now, so all directories below it are other ones
                // too.
                let names: Vec<Box<[u8]>> = entries.map(|entry| dir.name(entry).into()).collect();
                self.replaced.extend(names.into_iter().map(|name| (id, name)));
                self.ignore(id);
            }
        }
        if self.tree.dirs[id as usize].watch.is_some() {
            return;
        }
        let tells = *self.devices.entry(stat.dev).or_insert_with(|| reports_all_changes(fd));
        let watch = self.watch.as_ref().filter(|_| tells).and_then(|watch| watch.add(fd));
        self.is_watched(id, watch);
    }

    /// Records the watch of a directory. Without one, the directory is checked by its metadata at
    /// each query.
    pub(crate) fn is_watched(&mut self, id: u32, watch: Option<i32>) {
        match watch {
            Some(watch) => {
                if let Some(moved) = self.watches.insert(watch, id)
                    && moved != id
                {
                    // Two paths lead to one directory, because it was moved or is mounted twice:
                    // its only watch is now that of the later path.
                    let other = &mut self.tree.dirs[moved as usize];
                    other.watch = None;
                    if other.alive {
                        self.unwatched.insert(moved);
                    }
                }
                self.tree.dirs[id as usize].watch = Some(watch);
                self.unwatched.remove(&id);
            }
            None => drop(self.unwatched.insert(id)),
        }
    }

    /// Stops watching a directory.
    pub(crate) fn ignore(&mut self, id: u32) {
        if let Some(old) = self.tree.dirs[id as usize].watch.take()
            && self.watches.get(&old) == Some(&id)
        {
            self.watches.remove(&old);
            if let Some(watch) = &self.watch {
                watch.remove(old);
            }
        }
    }

    /// Removes the entries of a directory, and everything below it, from the tree.
    pub(crate) fn forget_entries(&mut self, id: u32) {
        let dir = &mut self.tree.dirs[id as usize];
        dir.stamp = 0;
        (dir.ignored, dir.too_deep) = (0, 0);
        for below in self.take_entries(id) {
            self.remove_dir(below);
        }
        self.tree.log_dir(id);
    }
}
