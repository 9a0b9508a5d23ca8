//! Checks by their metadata the directories and files whose changes no watch reports.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::tree::{FileState, NO_NUMBER, stamp_of};
use crate::watch::state::{IndexState, ScanContext};
use filewright_fs::dir::stat::{Kind, Stat};
use filewright_fs::walk::{Opener, RepoTop};

impl IndexState {
    /// Compares the metadata of directories and their files with the index. Marks changed
    /// directories to be listed again, and changed files as dirty.
    pub(crate) fn sweep(&mut self, context: &ScanContext<'_>, mut dirs: Vec<u32>) {
        // Ascending numbers, in which neighbours in the tree are adjacent.
        dirs.sort_unstable();
        dirs.dedup();
        let mut opener = Opener::new(context.walk_root, context.stop);
        for (done, &id) in dirs.iter().enumerate() {
            if context.stop.now() {
                self.pending_checks.extend(&dirs[done..]);
                return;
            }
            let dir = &self.tree.dirs[id as usize];
            if !dir.alive {
                continue;
            }
            let (parent, raw) = (dir.parent, Arc::clone(&dir.raw));
            let fd = match opener.open(&raw) {
                Ok(fd) => fd,
                Err(_) => {
                    self.mark_stale(parent);
                    self.mark_stale(id);
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
                .filter(|entry| entry.kind == Kind::File && entry.below != NO_NUMBER)
                .filter(|entry| {
                    let file = &self.tree.files[entry.below as usize];
                    !matches!(file.state, FileState::Dirty | FileState::Secret)
                        && !Stat::at(fd, dir.name(entry))
                            .is_ok_and(|stat| stamp_of(&stat) == file.stamp)
                })
                .map(|entry| entry.below)
                .collect();
            changed.into_iter().for_each(|file| self.tree.mark_used(file));
        }
    }

    /// Compares the metadata of the files with several hard links with the index, because changes
    /// through another name are not reported.
    pub(crate) fn revalidate_hard_links(&mut self, context: &ScanContext<'_>) {
        let mut linked: Vec<(u32, u32)> = self
            .tree
            .linked
            .iter()
            .map(|&file| (self.tree.files[file as usize].dir, file))
            .collect();
        linked.sort_unstable();
        let mut opener = Opener::new(context.walk_root, context.stop);
        for (dir, id) in linked {
            let (dir, file) = (&self.tree.dirs[dir as usize], &self.tree.files[id as usize]);
            let name = dir.name(&dir.entries[file.entry as usize]);
            let same = opener.open(&dir.raw).and_then(|fd| Stat::at(fd, name));
            if !same.is_ok_and(|stat| stamp_of(&stat) == file.stamp) {
                self.tree.mark_used(id);
            }
        }
    }

    /// Checks whether a file `info/exclude` of git has changed, because repositories are not watched. If so,
    /// its directory is listed again.
    pub(crate) fn revalidate_repo_roots(&mut self, context: &ScanContext<'_>) {
        let mut opener = Opener::new(context.walk_root, context.stop);
        let borders: Vec<u32> = self.borders.iter().copied().collect();
        for id in borders {
            let dir = &self.tree.dirs[id as usize];
            let top = context.walk_root.fd.as_fd();
            let fd = if dir.raw.is_empty() { Ok(top) } else { opener.open(&dir.raw) };
            // The metadata is read before the content, so that a change in between is detected the
            // next time.
            let walk_root = context.walk_root;
            let real = [&walk_root.real[..], &dir.raw].concat();
            let repo = fd.map(|fd| RepoTop { roots: walk_root.roots, fd, real: &real });
            let stat = repo.as_ref().ok().and_then(RepoTop::exclude_stat);
            let stamp = stat.as_ref().map_or(0, stamp_of);
            if stamp != 0 && stamp == dir.exclude_stamp {
                continue;
            }
            let same = repo.is_ok_and(|repo| repo.exclude_hash() == dir.exclude);
            let lasting = same && stat.is_some_and(|stat| !self.changed_too_recently(&stat));
            self.tree.dirs[id as usize].exclude_stamp = if lasting { stamp } else { 0 };
            if !same {
                self.mark_stale(id);
            }
        }
    }

    /// Does the same as the function `changed_too_recently`, with what is known about the file
    /// system of the entry.
    pub fn changed_too_recently(&self, stat: &Stat) -> bool {
        changed_too_recently(stat, self.devices.get(&stat.dev) == Some(&true))
    }
}

/// Reports whether an entry changed so recently that another change might leave its times equal:
/// within the last 100 ms, or 2.1 s on a file system whose changes inotify does not report (`tells`
/// is false).
pub(crate) fn changed_too_recently(stat: &Stat, tells: bool) -> bool {
    const TICK: i64 = 100_000_000;
    const COARSE: i64 = 2_100_000_000;
    let nanos = if tells { TICK } else { COARSE };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos());
    stat.ctime.max(stat.mtime) > i64::try_from(now).unwrap_or(i64::MAX) - nanos
}
