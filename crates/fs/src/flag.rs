//! A flag that is set once; all threads see it eventually.

use crate::sync::{AtomicBool, Ordering};

/// A boolean that is initially false and can only become true.
#[derive(Debug, Default)]
pub(crate) struct Flag(AtomicBool);

impl Flag {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
