//! The threads that touch files where single threads cannot be restricted: the
//! same pool without a ruleset.
//!
//! Kept apart from `pool.rs` so that neither needs a flag.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};

type Work = Box<dyn FnOnce() + Send>;

/// A few threads and their queue.
#[derive(Debug)]
pub struct Pool {
    queue: Mutex<Sender<Work>>,
}

impl Pool {
    /// The pool of those that are not restricted.
    pub fn free() -> Arc<Self> {
        static FREE: OnceLock<Arc<Pool>> = OnceLock::new();
        Arc::clone(FREE.get_or_init(|| {
            let (queue, work) = channel::<Work>();
            let work = Arc::new(Mutex::new(work));
            for _ in 0..4 {
                let work = Arc::clone(&work);
                std::thread::spawn(move || {
                    loop {
                        let next = work.lock().unwrap_or_else(|bad| bad.into_inner()).recv();
                        let Ok(next) = next else { return };
                        // Work that panics has told so itself; the thread goes on.
                        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(next));
                    }
                });
            }
            Arc::new(Pool { queue: Mutex::new(queue) })
        }))
    }

    /// Has one of the threads do something.
    pub fn submit(&self, work: impl FnOnce() + Send + 'static) {
        let queue = self.queue.lock().unwrap_or_else(|bad| bad.into_inner());
        // The threads live as long as the process.
        let _ = queue.send(Box::new(work));
    }
}
