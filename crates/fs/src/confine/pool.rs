//! The threads that touch files: a few for each policy, restricted before they
//! serve, or a few for everything where there is nothing to restrict.
//!
//! They are ours and not the runtime's: a file system that hangs takes some of
//! them and stops nothing else, and a restriction holds for these alone. Code of
//! users never runs on them.

use std::sync::{Arc, OnceLock};

use filewright_core::{Code, Error, Result};

use super::landlock::Ruleset;
use super::queue::{Queue, Then};

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
    queue: Queue<Work>,
    ruleset: Option<Ruleset>,
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
        pool.shared.queue.count();
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
        Self { shared: Arc::new(Shared { queue: Queue::new(MOST_THREADS), ruleset }) }
    }

    /// Has one of the threads do something.
    pub fn submit(&self, work: impl FnOnce() + Send + 'static) {
        if self.shared.queue.put(Box::new(work)) == Then::Nothing {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let started = std::thread::Builder::new().name("filewright".to_owned()).spawn(move || {
            match shared.restrict() {
                Ok(()) => shared.serve(),
                // It does not serve; the first one does.
                Err(_) => drop(shared.queue.give_up()),
            }
        });
        if started.is_err() {
            let left = self.shared.queue.give_up();
            // Nobody is there to do it: whoever submitted is better served here than
            // never. Of a restricted pool the first thread is always there.
            if self.shared.ruleset.is_none() {
                left.into_iter().for_each(|work| work());
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.queue.close();
    }
}

impl Shared {
    fn restrict(&self) -> Result<()> {
        self.ruleset.as_ref().map_or(Ok(()), Ruleset::restrict_self)
    }

    fn serve(&self) {
        self.queue.serve(|work| {
            // Work that panics has told so itself; the thread goes on.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        });
    }
}
