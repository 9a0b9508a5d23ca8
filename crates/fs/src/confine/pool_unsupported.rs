//! The pool of threads for platforms that cannot restrict single threads: the same two lanes,
//! always without restriction.
//!
//! Separate from `pool.rs`, so that neither needs conditional code.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};

use super::Lane;
use crate::after_job::run_job;

type BoxedJob = Box<dyn FnOnce() + Send>;

const THREADS_PER_LANE: usize = 4;

/// A pool of threads with a queue of jobs for each [`Lane`].
#[derive(Debug)]
pub struct Pool {
    quick: Mutex<Sender<BoxedJob>>,
    scans: Mutex<Sender<BoxedJob>>,
}

impl Pool {
    /// Returns the shared pool without restrictions.
    pub fn unrestricted() -> Arc<Self> {
        static UNRESTRICTED_POOL: OnceLock<Arc<Pool>> = OnceLock::new();
        Arc::clone(
            UNRESTRICTED_POOL
                .get_or_init(|| Arc::new(Pool { quick: start_lane(), scans: start_lane() })),
        )
    }

    /// Runs a job on one of the threads of a lane, later; does not wait for it.
    pub fn submit(&self, lane: Lane, work: impl FnOnce() + Send + 'static) {
        let queue = match lane {
            Lane::Quick => &self.quick,
            Lane::Scan => &self.scans,
        };
        let queue = queue.lock().unwrap_or_else(|bad| bad.into_inner());
        // The threads live as long as the process, so sending cannot fail.
        let _ = queue.send(Box::new(work));
    }
}

fn start_lane() -> Mutex<Sender<BoxedJob>> {
    let (queue, work) = channel::<BoxedJob>();
    let work = Arc::new(Mutex::new(work));
    for _ in 0..THREADS_PER_LANE {
        let work = Arc::clone(&work);
        std::thread::spawn(move || {
            loop {
                let next = work.lock().unwrap_or_else(|bad| bad.into_inner()).recv();
                let Ok(next) = next else { return };
                run_job(next);
            }
        });
    }
    Mutex::new(queue)
}
