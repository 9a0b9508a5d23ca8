//! Records the directories from which temporary files were removed recently.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The time for which a directory is not swept again.
const MIN_INTERVAL: Duration = Duration::from_secs(60);

/// The maximum number of recorded directories; dropping one only costs another sweep.
const MAX_DIRECTORIES: usize = 4096;

/// The time of the last sweep of each directory, by device and inode.
#[derive(Debug, Default)]
pub(crate) struct SweepTimes(Mutex<HashMap<(u64, u64), Instant>>);

impl SweepTimes {
    /// Records a sweep of a directory. Returns false if the last one is too recent for another.
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
