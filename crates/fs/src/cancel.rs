//! Cooperative cancellation and deadlines for work that takes long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use filewright_core::{Code, Error, Result};

/// A flag that work checks between files and blocks. Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A token that nobody has cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`Cancel::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// `CANCELLED` once [`Cancel::cancel`] was called.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            return Err(Error::new(Code::Cancelled, "the call was cancelled"));
        }
        Ok(())
    }
}

/// A point in time after which partial results are returned.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// A deadline `millis` milliseconds from now; `None` never passes.
    pub fn after(millis: Option<u64>) -> Self {
        Self(millis.and_then(|m| Instant::now().checked_add(std::time::Duration::from_millis(m))))
    }

    /// Whether there is one.
    pub fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// Whether the deadline has passed.
    pub fn passed(&self) -> bool {
        self.0.is_some_and(|at| Instant::now() >= at)
    }
}
