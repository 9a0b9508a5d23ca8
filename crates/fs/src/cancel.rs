//! Cooperative cancellation and deadlines for long operations.

use std::sync::Arc;
use std::time::Instant;

use filewright_core::{Code, Error, Result};

use crate::flag::Flag;

/// A flag that operations check between files and blocks. Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<SharedFlag>);

#[derive(Debug, Default)]
struct SharedFlag {
    cancelled: Flag,
    /// For tests: measures the time between two checks of the flag, and can set it at a chosen
    /// check.
    #[cfg(any(test, feature = "testing"))]
    watched: watched::Watched,
}

impl CancelToken {
    /// Creates a token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests the operation to stop.
    pub fn cancel(&self) {
        self.0.cancelled.set();
    }

    /// Reports whether [`CancelToken::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        #[cfg(any(test, feature = "testing"))]
        self.0.watched.look(&self.0.cancelled);
        self.0.cancelled.is_set()
    }

    /// Returns `CANCELLED` once [`CancelToken::cancel`] was called.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            return Err(Error::new(Code::Cancelled, "the call was cancelled"));
        }
        Ok(())
    }
}

/// The point in time after which an operation ends with what it has found so far, or none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// Returns a deadline `millis` milliseconds from now; with `None`, one that never passes.
    pub fn after(millis: Option<u64>) -> Self {
        Self(millis.and_then(|m| Instant::now().checked_add(std::time::Duration::from_millis(m))))
    }

    /// Reports whether there is a deadline.
    pub fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the time until the deadline, zero once it has passed; `None` without a deadline.
    pub fn left(&self) -> Option<std::time::Duration> {
        self.0.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// Reports whether the deadline has passed.
    pub fn passed(&self) -> bool {
        self.0.is_some_and(|at| Instant::now() >= at)
    }
}

/// Measures how promptly operations check the flag, in processor time of each thread, so that other
/// load on the machine does not count.
#[cfg(any(test, feature = "testing"))]
mod watched {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use super::CancelToken;
    use crate::flag::Flag;

    thread_local! {
        /// The processor time of this thread at its last check of the flag.
        static LOOKED: Cell<Option<Duration>> = const { Cell::new(None) };
    }

    #[derive(Debug)]
    pub(super) struct Watched {
        left: AtomicU64,
        looks: AtomicU64,
        most_nanos: AtomicU64,
    }

    impl Default for Watched {
        fn default() -> Self {
            let zero = AtomicU64::default;
            Self { left: AtomicU64::new(u64::MAX), looks: zero(), most_nanos: zero() }
        }
    }

    impl Watched {
        /// Records a check of the flag, and sets the flag at the check that
        /// [`CancelToken::at_look`] chose.
        pub fn look(&self, cancelled: &Flag) {
            let now = processor_time();
            let before = LOOKED.replace(Some(now)).unwrap_or(now);
            let worked = now.saturating_sub(before).as_nanos() as u64;
            self.most_nanos.fetch_max(worked, Ordering::Relaxed);
            self.looks.fetch_add(1, Ordering::Relaxed);
            if self.left.fetch_sub(1, Ordering::Relaxed) == 0 {
                cancelled.set();
            }
        }
    }

    fn processor_time() -> Duration {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }

    impl CancelToken {
        /// Returns a token that becomes cancelled at the check number `looks`, counted from 0.
        pub fn at_look(looks: u64) -> Self {
            let cancel = Self::default();
            cancel.0.watched.left.store(looks, Ordering::Relaxed);
            LOOKED.set(Some(processor_time()));
            cancel
        }

        /// Returns the longest processor time of a thread between two checks, including the time
        /// after this thread's last check, and the number of checks.
        pub fn seen(&self) -> (Duration, u64) {
            let watched = &self.0.watched;
            let last = processor_time().saturating_sub(LOOKED.get().unwrap_or_default());
            let most = Duration::from_nanos(watched.most_nanos.load(Ordering::Relaxed));
            (most.max(last), watched.looks.load(Ordering::Relaxed))
        }
    }
}
