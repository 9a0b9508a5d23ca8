//! The threads that touch files: a few for each policy, restricted before they
//! serve, or a few for everything where there is nothing to restrict.
//!
//! They are ours and not the runtime's: a file system that hangs takes some of
//! them and stops nothing else, and a restriction holds for these alone. Code of
//! users never runs on them.
//!
//! A pool has two lanes with threads of their own, so that a read never waits for
//! a search. Roots that restrict their threads alike share one pool: its threads
//! and its descriptor go when the last of these roots is closed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use filewright_core::{Code, Error, Result};

use super::Lane;
use super::landlock::Ruleset;
use super::queue::{Queue, Submitted};

type Work = Box<dyn FnOnce() + Send>;

/// Threads for calls that look at one file or directory.
const MAX_QUICK_THREADS: usize = 4;
/// Threads for calls that walk a tree: enough to keep a disk busy, few enough to cost nothing.
const MAX_SCAN_THREADS: usize = 4;

/// A place that threads may reach: device, inode and rights. A ruleset holds the
/// inode, so the number is not given out again while a pool restricted to it lives.
pub(super) type Grant = (u64, u64, u64);

/// The pools in use, by what their threads may reach.
static RESTRICTED: OnceLock<Mutex<HashMap<Vec<Grant>, Weak<Pool>>>> = OnceLock::new();

/// A few threads and their queues.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    quick: Queue<Work>,
    scans: Queue<Work>,
    ruleset: Option<Ruleset>,
}

impl Pool {
    /// The pool of those that are not restricted.
    pub fn unrestricted() -> Arc<Self> {
        static FREE: OnceLock<Arc<Pool>> = OnceLock::new();
        Arc::clone(FREE.get_or_init(|| Arc::new(Self::over(None))))
    }

    /// The pool whose threads may reach these places and no others: the one in use
    /// for equal places, or a new one restricted by the ruleset that `make` gives.
    ///
    /// # Errors
    /// `SANDBOX_SETUP_FAILED`.
    pub(super) fn shared(
        mut places: Vec<Grant>,
        make: impl FnOnce() -> Result<Ruleset>,
    ) -> Result<Arc<Self>> {
        places.sort_unstable();
        places.dedup();
        let pools = RESTRICTED.get_or_init(Mutex::default);
        // Held while a pool is made, so that two openings at once make one.
        let mut pools = pools.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = pools.get(&places).and_then(Weak::upgrade) {
            return Ok(pool);
        }
        let pool = Self::restricted(make()?)?;
        pools.retain(|_, pool| pool.strong_count() > 0);
        pools.insert(places, Arc::downgrade(&pool));
        Ok(pool)
    }

    /// A pool whose threads restrict themselves. The first is started at once,
    /// so that what the kernel refuses is known.
    fn restricted(ruleset: Ruleset) -> Result<Arc<Self>> {
        let pool = Self::over(Some(ruleset));
        let (told, tell) = std::sync::mpsc::sync_channel(1);
        let shared = Arc::clone(&pool.shared);
        pool.shared.quick.count();
        let first = std::thread::Builder::new().name("filewright".to_owned()).spawn(move || {
            let restricted = shared.restrict();
            let fine = restricted.is_ok();
            let _ = told.send(restricted);
            if fine {
                shared.serve(Lane::Quick);
            }
        });
        let gone = |_| Error::new(Code::SandboxSetupFailed, "a thread could not be started");
        first.map_err(|_| gone(()))?;
        tell.recv().map_err(|_| gone(()))??;
        Ok(Arc::new(pool))
    }

    fn over(ruleset: Option<Ruleset>) -> Self {
        let (quick, scans) = (Queue::new(MAX_QUICK_THREADS), Queue::new(MAX_SCAN_THREADS));
        Self { shared: Arc::new(Shared { quick, scans, ruleset }) }
    }

    /// Has one of the threads of a lane do something.
    pub fn submit(&self, lane: Lane, work: impl FnOnce() + Send + 'static) {
        self.submit_boxed(lane, Box::new(work));
    }

    fn submit_boxed(&self, lane: Lane, work: Work) {
        if self.shared.queue(lane).put(work) == Submitted::Nothing {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let started = std::thread::Builder::new().name("filewright".to_owned()).spawn(move || {
            match shared.restrict() {
                Ok(()) => shared.serve(lane),
                // It does not serve; the first one of the pool does.
                Err(_) => shared.hand_over(shared.queue(lane).give_up()),
            }
        });
        if started.is_err() {
            let left = self.shared.queue(lane).give_up();
            if self.shared.ruleset.is_none() {
                // No thread is there to do it: the caller's thread does.
                left.into_iter().for_each(|work| work());
            } else {
                self.shared.hand_over(left);
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.quick.close();
        self.shared.scans.close();
    }
}

impl Shared {
    fn queue(&self, lane: Lane) -> &Queue<Work> {
        match lane {
            Lane::Quick => &self.quick,
            Lane::Scan => &self.scans,
        }
    }

    /// Gives what no thread of a lane is there for to the quick lane, of which a
    /// restricted pool has a thread from the beginning.
    fn hand_over(&self, left: impl IntoIterator<Item = Work>) {
        for work in left {
            if self.quick.put(work) == Submitted::Start {
                // The thread that was counted is not started: the others do the work.
                drop(self.quick.give_up());
            }
        }
    }

    fn restrict(&self) -> Result<()> {
        self.ruleset.as_ref().map_or(Ok(()), Ruleset::restrict_self)
    }

    fn serve(&self, lane: Lane) {
        self.queue(lane).serve(|work| {
            // Work that panics has told so itself; the thread goes on.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        });
    }
}
