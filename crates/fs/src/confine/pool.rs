//! The threads that access files: up to eight for each policy, which restrict themselves before
//! they run jobs, or up to eight shared ones for all policies without restriction.
//!
//! They are separate from the runtime's threads, so that a hanging file system blocks only some of
//! them, and because a restriction must apply to them only. User code never runs on them.
//!
//! A pool has two lanes with separate threads, so that a read never waits for a search. Roots with
//! equal restrictions share one pool; its threads are released when the last of these roots is
//! closed. A pool has no descriptor but those of the roots: each thread makes the ruleset with which
//! it restricts itself, and closes it.

use std::collections::HashMap;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use filewright_core::{Code, Error, Result};

use super::Lane;
use super::landlock::Ruleset;
use super::queue::{AfterPut, JobQueue};
use crate::after_job::run_job;

type BoxedJob = Box<dyn FnOnce() + Send>;

/// The maximum number of threads for calls that access one file or directory.
const MAX_QUICK_THREADS: usize = 4;
/// The maximum number of threads for calls that walk a tree: enough to keep a disk busy.
const MAX_SCAN_THREADS: usize = 4;

/// A file that threads may access: device, inode and rights.
type AllowedInode = (u64, u64, u64);

/// A directory that threads may access, as it is now. The pool holds its descriptor, so the number
/// of the inode is not reused while a pool with this restriction exists.
#[derive(Clone, Debug)]
pub(super) struct AllowedPlace {
    pub directory: Arc<OwnedFd>,
    pub dev: u64,
    pub ino: u64,
    pub rights: u64,
}

/// The restricted pools in use, keyed by the sorted grants of their threads.
static RESTRICTED_POOLS: OnceLock<Mutex<HashMap<Vec<AllowedInode>, Weak<Pool>>>> = OnceLock::new();

/// A pool of threads with a queue of jobs for each [`Lane`].
#[derive(Debug)]
pub struct Pool {
    shared: Arc<PoolState>,
}

#[derive(Debug)]
struct PoolState {
    quick: JobQueue<BoxedJob>,
    scans: JobQueue<BoxedJob>,
    /// The places to which each thread restricts itself; `None` for a pool without restriction.
    allowed: Option<Vec<AllowedPlace>>,
}

impl Pool {
    /// Returns the shared pool without restrictions.
    pub fn unrestricted() -> Arc<Self> {
        static UNRESTRICTED_POOL: OnceLock<Arc<Pool>> = OnceLock::new();
        Arc::clone(UNRESTRICTED_POOL.get_or_init(|| Arc::new(Self::over(None))))
    }

    /// Returns the pool whose threads may access only these files: an existing one with equal
    /// restrictions, or a new one.
    ///
    /// # Errors
    /// `SANDBOX_SETUP_FAILED`.
    pub(super) fn shared(allowed: Vec<AllowedPlace>) -> Result<Arc<Self>> {
        let grant = |place: &AllowedPlace| (place.dev, place.ino, place.rights);
        let mut places: Vec<AllowedInode> = allowed.iter().map(grant).collect();
        places.sort_unstable();
        places.dedup();
        let pools = RESTRICTED_POOLS.get_or_init(Mutex::default);
        // The lock is held while a pool is created, so that two callers do not create two pools.
        let mut pools = pools.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = pools.get(&places).and_then(Weak::upgrade) {
            return Ok(pool);
        }
        let pool = Self::restricted(allowed)?;
        pools.retain(|_, pool| pool.strong_count() > 0);
        pools.insert(places, Arc::downgrade(&pool));
        Ok(pool)
    }

    /// Creates a pool whose threads restrict themselves. Starts the first thread at once, so that a
    /// failure is known.
    fn restricted(allowed: Vec<AllowedPlace>) -> Result<Arc<Self>> {
        let pool = Self::over(Some(allowed));
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

    /// Returns a pool without threads, whose threads will restrict themselves to `allowed`.
    fn over(allowed: Option<Vec<AllowedPlace>>) -> Self {
        let (quick, scans) = (JobQueue::new(MAX_QUICK_THREADS), JobQueue::new(MAX_SCAN_THREADS));
        Self { shared: Arc::new(PoolState { quick, scans, allowed }) }
    }

    /// Runs a job on one of the threads of a lane, later; does not wait for it.
    pub fn submit(&self, lane: Lane, work: impl FnOnce() + Send + 'static) {
        self.submit_boxed(lane, Box::new(work));
    }

    fn submit_boxed(&self, lane: Lane, work: BoxedJob) {
        if self.shared.queue(lane).put(work) == AfterPut::Nothing {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let started = std::thread::Builder::new().name("filewright".to_owned()).spawn(move || {
            match shared.restrict() {
                Ok(()) => shared.serve(lane),
                // A thread that could not restrict itself runs nothing; the first thread of the
                // pool takes over its jobs.
                Err(_) => shared.hand_over(shared.queue(lane).give_up()),
            }
        });
        if started.is_err() {
            let left = self.shared.queue(lane).give_up();
            if self.shared.allowed.is_none() {
                // No thread can run the jobs, so the calling thread does.
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

impl PoolState {
    fn queue(&self, lane: Lane) -> &JobQueue<BoxedJob> {
        match lane {
            Lane::Quick => &self.quick,
            Lane::Scan => &self.scans,
        }
    }

    /// Moves jobs of a lane that has no thread to the quick lane, which in a restricted pool has a
    /// thread from the start.
    fn hand_over(&self, left: impl IntoIterator<Item = BoxedJob>) {
        for work in left {
            if self.quick.put(work) == AfterPut::Start {
                // Another thread is not started: the existing ones run the job.
                drop(self.quick.give_up());
            }
        }
    }

    /// Restricts the calling thread, if the pool is restricted.
    fn restrict(&self) -> Result<()> {
        let Some(allowed) = &self.allowed else { return Ok(()) };
        let ruleset = Ruleset::new(false)?;
        for place in allowed {
            ruleset.allow(place.directory.as_fd(), place.rights)?;
        }
        ruleset.restrict_self()
    }

    /// Runs jobs of a lane on the calling thread until the pool is dropped.
    fn serve(&self, lane: Lane) {
        self.queue(lane).serve(run_job);
    }
}
