//! Cooperative cancellation and deadlines for work that takes long.

use std::sync::Arc;
use std::time::Instant;

use filewright_core::{Code, Error, Result};

use crate::flag::Flag;

/// A flag that work checks between files and blocks. Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    cancelled: Flag,
    /// The most that a thread worked between two looks at the flag, and how often it is looked at
    /// before it counts as set.
    #[cfg(any(test, feature = "testing"))]
    watched: watched::Watched,
}

impl CancelToken {
    /// A token that nobody has cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work to stop.
    pub fn cancel(&self) {
        self.0.cancelled.set();
    }

    /// Whether [`CancelToken::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        #[cfg(any(test, feature = "testing"))]
        self.0.watched.look(&self.0.cancelled);
        self.0.cancelled.is_set()
    }

    /// `CANCELLED` once [`CancelToken::cancel`] was called.
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

    /// The time until it passes; `None` where there is none.
    pub fn left(&self) -> Option<std::time::Duration> {
        self.0.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// Whether the deadline has passed.
    pub fn passed(&self) -> bool {
        self.0.is_some_and(|at| Instant::now() >= at)
    }
}

/// How promptly work looks at its flag, measured where nothing else on the
/// machine counts: in the processor time of each thread.
#[cfg(any(test, feature = "testing"))]
mod watched {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use super::CancelToken;
    use crate::flag::Flag;

    thread_local! {
        /// When this thread looked last.
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
        /// A token that is cancelled when it was looked at so many times.
        pub fn at_look(looks: u64) -> Self {
            let cancel = Self::default();
            cancel.0.watched.left.store(looks, Ordering::Relaxed);
            LOOKED.set(Some(processor_time()));
            cancel
        }

        /// The most processor time a thread spent between two looks, the time after the last
        /// look of this thread included; and how often it was looked at.
        pub fn seen(&self) -> (Duration, u64) {
            let watched = &self.0.watched;
            let last = processor_time().saturating_sub(LOOKED.get().unwrap_or_default());
            let most = Duration::from_nanos(watched.most_nanos.load(Ordering::Relaxed));
            (most.max(last), watched.looks.load(Ordering::Relaxed))
        }
    }
}
