//! Looking at directories that are new to the tree: several threads open, watch
//! and read them, and find out what their listings say.
//!
//! As for one directory, each is watched before it is listed, and whether it
//! changed a moment ago is asked when it was listed, not when it is taken in.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::io::Errno;

use crate::list::Contents;
use crate::state::Sight;
use crate::sweep::is_racy;
use crate::tree::{NONE, Tree};
use crate::watch::{Watch, tells};
use filewright_fs::dir::stat::Stat;
use filewright_fs::walk::{Listing, Opener, threads};

/// Fewer directories than this are done before another thread has started.
pub(crate) const WORTH_IT: usize = 32;
/// Directories that are looked at before they are taken in: bounds what waits.
pub(crate) const MOST: usize = 1024;
/// Directories that a thread takes at a time: neighbours, since those are opened from each other.
const CHUNK: usize = 16;

/// What became of a directory that was looked at.
pub(crate) struct Looked {
    pub id: u32,
    /// `None`: it was not looked at, time was up.
    pub found: Option<Result<Found, Errno>>,
}

/// What was found.
pub(crate) struct Found {
    pub stat: Stat,
    pub racy: bool,
    /// Whether its file system tells of changes.
    pub tells: bool,
    pub watch: Option<i32>,
    pub contents: Contents,
}

/// Looks at directories that were never listed, whose parents are in the tree.
pub(crate) fn look(
    tree: &Tree,
    watch: Option<&Watch>,
    dirs: &[u32],
    sight: &Sight<'_>,
) -> Vec<Looked> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(dirs.len())));
    let run = || {
        let mut looker = Looker {
            tree,
            watch,
            sight,
            opener: Opener::new(sight.ground, sight.stop),
            listing: Listing::default(),
            devices: HashMap::new(),
        };
        loop {
            let begin = next.fetch_add(CHUNK, Ordering::Relaxed);
            let end = (begin + CHUNK).min(dirs.len());
            if begin >= end {
                return;
            }
            let looked: Vec<Looked> = dirs[begin..end].iter().map(|&id| looker.at(id)).collect();
            done.lock().unwrap_or_else(PoisonError::into_inner).extend(looked);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads().min(dirs.len() / CHUNK) {
            // Without another thread this one does it all.
            let _ = std::thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    // The same numbers for the same tree, whoever was faster.
    done.sort_unstable_by_key(|looked: &Looked| looked.id);
    done
}

struct Looker<'a> {
    tree: &'a Tree,
    watch: Option<&'a Watch>,
    sight: &'a Sight<'a>,
    opener: Opener<'a>,
    listing: Listing,
    /// Whether the file systems tell of changes, by device.
    devices: HashMap<u64, bool>,
}

impl Looker<'_> {
    fn at(&mut self, id: u32) -> Looked {
        let found = (!self.sight.stop.now()).then(|| self.found(id));
        Looked { id, found }
    }

    fn found(&mut self, id: u32) -> Result<Found, Errno> {
        let (dir, sight) = (&self.tree.dirs[id as usize], self.sight);
        let fd = self.opener.open(&dir.raw)?;
        let stat = Stat::of(fd)?;
        let tells = *self.devices.entry(stat.dev).or_insert_with(|| tells(fd));
        let watch = self.watch.filter(|_| tells).and_then(|watch| watch.add(fd));
        let listed = self.listing.read(fd);
        if let Err(errno) = listed {
            if let (Some(queue), Some(watch)) = (self.watch, watch) {
                queue.remove(watch);
            }
            return Err(errno);
        }
        let racy = is_racy(&stat, tells);
        let above = match dir.parent {
            NONE => &sight.ground.stack,
            parent => &self.tree.dirs[parent as usize].stack,
        };
        let contents = Contents::of(dir, above, fd, &self.listing, sight);
        Ok(Found { stat, racy, tells, watch, contents })
    }
}
