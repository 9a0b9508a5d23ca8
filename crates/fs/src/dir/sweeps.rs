//! A record of the directories that were cleaned of temporary files lately.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The time for which a directory is not swept again.
const MIN_INTERVAL: Duration = Duration::from_secs(60);

/// The number of directories that are remembered; forgetting one only costs another sweep.
const MAX_DIRECTORIES: usize = 4096;

/// When each directory, by device and inode, was last swept.
#[derive(Debug, Default)]
pub(crate) struct SweepTimes(Mutex<HashMap<(u64, u64), Instant>>);

impl SweepTimes {
    /// Notes a sweep of a directory; false where the last one is too recent for another.
    pub(crate) fn begin(&self, id: (u64, u64)) -> bool {
        let mut times = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if times.get(&id).is_some_and(|at| at.elapsed() < MIN_INTERVAL) {
            return false;
        }
        if times.len() >= MAX_DIRECTORIES {
            times.clear();
        }
        times.insert(id, Instant::now());
        true
    }
}
