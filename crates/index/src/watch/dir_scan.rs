//! Scans directories that were never listed, on several threads: each is opened, watched, read and
//! interpreted. The results are applied to the tree elsewhere, on one thread.
//!
//! Each is watched before it is listed. Whether it changed too recently for its metadata to show
//! another change is determined when it is listed, not when the result is applied.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::io::Errno;

use crate::tree::{NO_NUMBER, Tree};
use crate::watch::list::DirContents;
use crate::watch::revalidate::changed_too_recently;
use crate::watch::state::ScanContext;
use crate::watch::{Watcher, reports_all_changes};
use filewright_fs::dir::stat::Stat;
use filewright_fs::walk::{Listing, Opener, threads};

/// The minimum number of directories for several threads. Fewer are scanned before another thread
/// has started.
pub(crate) const MIN_DIRS_FOR_THREADS: usize = 32;
/// The maximum number of directories that are scanned before their results are applied, which
/// bounds memory.
pub(crate) const MAX_PENDING_DIRS: usize = 1024;
/// The number of directories that a thread takes at a time. They are neighbours in the tree, so
/// that each can be opened relative to the previous one.
const DIRS_PER_BATCH: usize = 16;

/// The result of scanning a directory.
pub(crate) struct ScanResult {
    pub id: u32,
    /// The contents of the directory; `None` if the call ended before it was scanned.
    pub found: Option<Result<ScannedDir, Errno>>,
}

/// The contents of a scanned directory.
pub(crate) struct ScannedDir {
    pub stat: Stat,
    pub racy: bool,
    /// True if its file system reports changes.
    pub tells: bool,
    pub watch: Option<i32>,
    pub contents: DirContents,
}

/// Scans directories that were never listed and whose parents are in the tree. Returns the results
/// in the order of the ids.
pub(crate) fn scan_directories(
    tree: &Tree,
    watch: Option<&Watcher>,
    dirs: &[u32],
    context: &ScanContext<'_>,
) -> Vec<ScanResult> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(dirs.len())));
    let run = || {
        let mut looker = DirScanner {
            tree,
            watch,
            context,
            opener: Opener::new(context.walk_root, context.stop),
            listing: Listing::default(),
            devices: HashMap::new(),
        };
        loop {
            let begin = next.fetch_add(DIRS_PER_BATCH, Ordering::Relaxed);
            let end = (begin + DIRS_PER_BATCH).min(dirs.len());
            if begin >= end {
                return;
            }
            let looked: Vec<ScanResult> =
                dirs[begin..end].iter().map(|&id| looker.at(id)).collect();
            done.lock().unwrap_or_else(PoisonError::into_inner).extend(looked);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads().min(dirs.len() / DIRS_PER_BATCH) {
            // If no thread can be started, the calling thread does everything.
            let _ = std::thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    // The results are sorted, so that the numbers assigned when they are applied do not depend on
    // the timing of threads.
    done.sort_unstable_by_key(|looked: &ScanResult| looked.id);
    done
}

struct DirScanner<'a> {
    tree: &'a Tree,
    watch: Option<&'a Watcher>,
    context: &'a ScanContext<'a>,
    opener: Opener<'a>,
    listing: Listing,
    /// For each device, whether its file system reports changes.
    devices: HashMap<u64, bool>,
}

impl DirScanner<'_> {
    /// Scans a directory, unless the call must end.
    fn at(&mut self, id: u32) -> ScanResult {
        let found = (!self.context.stop.now()).then(|| self.found(id));
        ScanResult { id, found }
    }

    /// Opens, watches and reads a directory.
    fn found(&mut self, id: u32) -> Result<ScannedDir, Errno> {
        let (dir, context) = (&self.tree.dirs[id as usize], self.context);
        let fd = self.opener.open(&dir.raw)?;
        let stat = Stat::of(fd)?;
        let tells = *self.devices.entry(stat.dev).or_insert_with(|| reports_all_changes(fd));
        let watch = self.watch.filter(|_| tells).and_then(|watch| watch.add(fd));
        let listed = self.listing.read(fd);
        if let Err(errno) = listed {
            if let (Some(queue), Some(watch)) = (self.watch, watch) {
                queue.remove(watch);
            }
            return Err(errno);
        }
        let racy = changed_too_recently(&stat, tells);
        let above = match dir.parent {
            NO_NUMBER => &context.walk_root.stack,
            parent => &self.tree.dirs[parent as usize].stack,
        };
        let contents = DirContents::of(dir, above, fd, &self.listing, context);
        Ok(ScannedDir { stat, racy, tells, watch, contents })
    }
}
