//! Reads the modification times of the entries of a name search, if its order needs them.

use std::sync::Arc;

use filewright_core::text::path::decode_name;

use super::find::{DirMatches, read_mtime_millis};
use crate::walk::{Opener, StopSignal, WalkRoot, threads};

/// The minimum number of directories for more than one thread. The times in fewer are read before
/// another thread has started.
const MIN_DIRECTORIES_FOR_THREADS: usize = 64;

/// Reads the modification times of all entries into `times` of their groups. If `stop` ends it
/// early, the remaining times are 0.
pub fn read_mtimes(walk_root: &WalkRoot<'_>, groups: &mut [DirMatches], stop: &StopSignal<'_>) {
    let threads = if groups.len() < MIN_DIRECTORIES_FOR_THREADS { 1 } else { threads() };
    std::thread::scope(|scope| {
        let mut parts = groups.chunks_mut(groups.len().div_ceil(threads).max(1));
        let first = parts.next();
        for part in parts {
            // If a thread cannot be started, the calling thread reads the times of its part at the
            // end.
            let _ = std::thread::Builder::new()
                .spawn_scoped(scope, move || read_missing_mtimes(walk_root, part, stop));
        }
        if let Some(part) = first {
            read_missing_mtimes(walk_root, part, stop);
        }
    });
    read_missing_mtimes(walk_root, groups, stop);
    groups.iter_mut().for_each(|group| group.times.resize(group.ends.len(), 0.0));
}

/// Reads the missing modification times of some groups on the calling thread.
fn read_missing_mtimes(walk_root: &WalkRoot<'_>, groups: &mut [DirMatches], stop: &StopSignal<'_>) {
    let mut opener = Opener::new(walk_root, stop);
    for group in groups {
        if stop.now() || !group.times.is_empty() {
            continue;
        }
        let shown = |bytes| decode_name(std::str::from_utf8(bytes).unwrap_or_default());
        let dir: Arc<[u8]> = Arc::from(&*shown(&group.prefix));
        let fd = opener.open(&dir).ok();
        let times = (0..group.ends.len())
            .map(|index| fd.map_or(0.0, |fd| read_mtime_millis(fd, &shown(group.name(index)))))
            .collect();
        group.times = times;
    }
}
