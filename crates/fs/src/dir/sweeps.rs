//! Records when each directory was last swept, that is, searched for temporary files of ended
//! processes, so that this is not done at every change.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The time after a sweep for which the directory is not swept again.
const MIN_SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// The maximum number of recorded directories. At the limit all records are dropped, which only
/// costs another sweep of each.
const MAX_RECORDED_DIRECTORIES: usize = 4096;

/// The time of the last sweep of each directory, by its real path.
#[derive(Debug, Default)]
pub(crate) struct SweepTimes(Mutex<HashMap<Vec<u8>, Instant>>);

impl SweepTimes {
    /// Records that the directory with this path is swept now, and returns true. Returns false if it
    /// was swept less than [`MIN_SWEEP_INTERVAL`] ago.
    pub(crate) fn begin(&self, directory: &[u8]) -> bool {
        let mut times = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if times.get(directory).is_some_and(|at| at.elapsed() < MIN_SWEEP_INTERVAL) {
            return false;
        }
        if times.len() >= MAX_RECORDED_DIRECTORIES {
            times.clear();
        }
        times.insert(directory.to_vec(), Instant::now());
        true
    }
}
