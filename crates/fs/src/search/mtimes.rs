//! Reads the modification times of the entries that need them.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use filewright_core::text::path::decode_name;

use super::find::DirMatches;
use crate::dir::stat::Stat;
use crate::walk::{Opener, StopSignal, WalkRoot, threads};

/// Fewer groups are done before another thread has started.
const MIN_GROUPS_FOR_THREADS: usize = 64;

/// Reads the modification times of all entries. If it is stopped early, some are missing.
pub fn ask(walk_root: &WalkRoot<'_>, groups: &mut [DirMatches], stop: &StopSignal<'_>) {
    let threads = if groups.len() < MIN_GROUPS_FOR_THREADS { 1 } else { threads() };
    std::thread::scope(|scope| {
        let mut parts = groups.chunks_mut(groups.len().div_ceil(threads).max(1));
        let first = parts.next();
        for part in parts {
            // If the thread cannot be started, the part is done below.
            let _ = std::thread::Builder::new()
                .spawn_scoped(scope, move || ask_part(walk_root, part, stop));
        }
        if let Some(part) = first {
            ask_part(walk_root, part, stop);
        }
    });
    ask_part(walk_root, groups, stop);
    groups.iter_mut().for_each(|group| group.times.resize(group.ends.len(), 0.0));
}

fn ask_part(walk_root: &WalkRoot<'_>, groups: &mut [DirMatches], stop: &StopSignal<'_>) {
    let mut opener = Opener::new(walk_root, stop);
    for group in groups {
        if stop.now() || !group.times.is_empty() {
            continue;
        }
        let shown = |bytes| decode_name(std::str::from_utf8(bytes).unwrap_or_default());
        let dir: Arc<[u8]> = Arc::from(&*shown(&group.prefix));
        let fd = opener.open(&dir).ok();
        let times = (0..group.ends.len())
            .map(|index| fd.map_or(0.0, |fd| of(fd, &shown(group.name(index)))))
            .collect();
        group.times = times;
    }
}

/// Returns the modification time of an entry in whole milliseconds since 1970, so that JavaScript
/// can return it unchanged; 0 if it is gone.
pub(super) fn of(dir: BorrowedFd<'_>, name: &[u8]) -> f64 {
    Stat::at(dir, name).map_or(0.0, |stat| stat.mtime.div_euclid(1_000_000) as f64)
}
