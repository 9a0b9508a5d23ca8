//! Restores the index of an earlier process: one metadata check per file shows whether it is
//! unchanged.
//!
//! The tree is listed and watched before, so later changes are reported, and earlier ones show in
//! the metadata. Files that had changed so recently that another change might leave the metadata
//! equal are not in a saved index.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::Index;
use crate::store::snapshot::SavedIndex;
use crate::tree::{FileState, IndexedDir, Tree, UnchangedFile, stamp_of};
use filewright_fs::dir::stat::Stat;
use filewright_fs::walk::{Opener, StopSignal, WalkRoot, threads};

/// The number of directories that a thread takes at a time.
const DIRS_PER_BATCH: usize = 64;

/// Restores the unchanged files of a saved index. Does nothing if a file was indexed already.
pub(crate) fn restore_unchanged(
    index: &Index,
    walk_root: &WalkRoot<'_>,
    kept: SavedIndex,
    stop: &StopSignal<'_>,
) {
    let mut state = index.lock();
    let same = unchanged_files(&state.tree, &kept, walk_root, stop);
    let bytes = same.iter().map(|same| u64::from(same.size)).sum();
    if state.tree.restore(kept, &same) > 0 {
        index.count_bytes(bytes);
        index.update_memory_use(&state);
    }
}

/// Returns the files of the tree whose metadata equals that in the saved index.
fn unchanged_files(
    tree: &Tree,
    kept: &SavedIndex,
    walk_root: &WalkRoot<'_>,
    stop: &StopSignal<'_>,
) -> Vec<UnchangedFile> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let run = || {
        let (mut opener, mut mine) = (Opener::new(walk_root, stop), Vec::new());
        loop {
            let begin = next.fetch_add(DIRS_PER_BATCH, Ordering::Relaxed);
            let end = (begin + DIRS_PER_BATCH).min(tree.dirs.len());
            if begin >= end || stop.now() {
                break;
            }
            for dir in tree.dirs[begin..end].iter().filter(|dir| dir.alive) {
                add_unchanged_files(tree, dir, kept, &mut opener, &mut mine);
            }
        }
        found.lock().unwrap_or_else(PoisonError::into_inner).append(&mut mine);
    };
    std::thread::scope(|scope| {
        for _ in 1..threads().min(tree.dirs.len().div_ceil(DIRS_PER_BATCH)) {
            // If no thread can be started, the calling thread does everything.
            let _ = std::thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Adds the unchanged files of one directory to `found`.
fn add_unchanged_files(
    tree: &Tree,
    dir: &IndexedDir,
    kept: &SavedIndex,
    opener: &mut Opener<'_>,
    found: &mut Vec<UnchangedFile>,
) {
    let Some(known) = kept.dirs.get(&dir.raw[..]) else { return };
    let Ok(fd) = opener.open(&dir.raw) else { return };
    for entry in dir.entries.iter().filter(|entry| entry.is_file()) {
        let is_dirty = |file: &crate::tree::FileRecord| file.state == FileState::Dirty;
        if !tree.files.get(entry.below as usize).is_some_and(is_dirty) {
            continue;
        }
        let name = dir.name(entry);
        let Ok(place) = known.binary_search_by(|known| (*known.name).cmp(name)) else { continue };
        let known = &known[place];
        let Ok(stat) = Stat::at(fd, name) else { continue };
        if stamp_of(&stat) == known.stamp {
            found.push(UnchangedFile {
                file: entry.below,
                state: known.state,
                stamp: known.stamp,
                size: known.size,
                owner: known.owner,
                linked: stat.nlink > 1,
            });
        }
    }
}
