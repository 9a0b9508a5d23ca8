//! Counts of a running search, to show while it runs.

use std::sync::atomic::{AtomicU64, Ordering};

/// The counts of a search so far. Any thread may read it while the search runs.
#[derive(Debug, Default)]
pub struct Progress {
    files: AtomicU64,
    matches: AtomicU64,
}

impl Progress {
    /// Adds files that were searched, and the matches in them.
    pub(super) fn add(&self, files: u64, matches: u64) {
        self.files.fetch_add(files, Ordering::Relaxed);
        self.matches.fetch_add(matches, Ordering::Relaxed);
    }

    /// Returns the number of files that were searched, binary ones included.
    pub fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }

    /// Returns the number of matches found.
    pub fn matches(&self) -> u64 {
        self.matches.load(Ordering::Relaxed)
    }
}
