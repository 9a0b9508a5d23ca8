//! The threads that touch files: a few for each policy, restricted before they
//! serve, or a few for everything where there is nothing to restrict.
//!
//! They are ours and not the runtime's: a file system that hangs takes some of
//! them and stops nothing else, and a restriction holds for these alone. Code of
//! users never runs on them.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};

use filewright_core::{Code, Error, Result};

use super::landlock::Ruleset;

type Work = Box<dyn FnOnce() + Send>;

/// Threads of one pool: enough to keep a disk busy, few enough to cost nothing.
const MOST_THREADS: usize = 4;

/// A few threads and their queue.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    ready: Condvar,
    ruleset: Option<Ruleset>,
}

#[derive(Default)]
struct State {
    work: VecDeque<Work>,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} threads, {} waiting", self.threads, self.work.len())
    }
}

impl Pool {
    /// The pool of those that are not restricted.
    pub fn free() -> Arc<Self> {
        static FREE: OnceLock<Arc<Pool>> = OnceLock::new();
        Arc::clone(FREE.get_or_init(|| Arc::new(Self::over(None))))
    }

    /// A pool whose threads restrict themselves. The first is started at once,
    /// so that what the kernel refuses is known.
    ///
    /// # Errors
    /// `SANDBOX_SETUP_FAILED`.
    pub fn restricted(ruleset: Ruleset) -> Result<Arc<Self>> {
        let pool = Self::over(Some(ruleset));
        let (told, tell) = std::sync::mpsc::sync_channel(1);
        let shared = Arc::clone(&pool.shared);
        pool.shared.lock().threads = 1;
        let first = std::thread::Builder::new().name("filewright".to_owned()).spawn(move || {
            let restricted = shared.restrict();
            let fine = restricted.is_ok();
            let _ = told.send(restricted);
            if fine {
                shared.serve();
            }
        });
        let gone = |_| Error::new(Code::SandboxSetupFailed, "a thread could not be started");
        first.map_err(|_| gone(()))?;
        tell.recv().map_err(|_| gone(()))??;
        Ok(Arc::new(pool))
    }

    fn over(ruleset: Option<Ruleset>) -> Self {
        let (state, ready) = (Mutex::default(), Condvar::new());
        Self { shared: Arc::new(Shared { state, ready, ruleset }) }
    }

    /// Has one of the threads do something.
    pub fn submit(&self, work: impl FnOnce() + Send + 'static) {
        let mut state = self.shared.lock();
        state.work.push_back(Box::new(work));
        if state.idle >= state.work.len() || state.threads >= MOST_THREADS {
            drop(state);
            self.shared.ready.notify_one();
            return;
        }
        state.threads += 1;
        drop(state);
        let shared = Arc::clone(&self.shared);
        let started = std::thread::Builder::new().name("filewright".to_owned()).spawn(move || {
            match shared.restrict() {
                Ok(()) => shared.serve(),
                // It does not serve; the first one does.
                Err(_) => shared.lock().threads -= 1,
            }
        });
        if started.is_err() {
            let mut state = self.shared.lock();
            state.threads -= 1;
            // Nobody left to do it: whoever submitted is better served here than never.
            if state.threads == 0 && self.shared.ruleset.is_none() {
                let work = state.work.pop_back();
                drop(state);
                if let Some(work) = work {
                    work();
                }
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.ready.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn restrict(&self) -> Result<()> {
        self.ruleset.as_ref().map_or(Ok(()), Ruleset::restrict_self)
    }

    fn serve(&self) {
        let mut state = self.lock();
        loop {
            if let Some(work) = state.work.pop_front() {
                drop(state);
                // Work that panics has told so itself; the thread goes on.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
                state = self.lock();
            } else if state.closed {
                state.threads -= 1;
                return;
            } else {
                state.idle += 1;
                state = self.ready.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
                state.idle -= 1;
            }
        }
    }
}
