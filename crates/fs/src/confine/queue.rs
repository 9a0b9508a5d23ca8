//! The queue of a pool: who does what is to be done, and when another thread is
//! worth starting. It starts none itself, and knows nothing of what is done.

use std::collections::VecDeque;

use crate::sync::{Condvar, Mutex, MutexGuard};

/// What waits to be done, and how many are there to do it.
pub(crate) struct Queue<W> {
    state: Mutex<State<W>>,
    ready: Condvar,
    /// Threads at most.
    most: usize,
}

struct State<W> {
    work: VecDeque<W>,
    threads: usize,
    idle: usize,
    closed: bool,
}

/// What is to be done once something was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Submitted {
    /// Nothing: somebody will do it.
    Nothing,
    /// Start a thread, which is counted already: it serves, or it is given up.
    Start,
}

impl<W> Queue<W> {
    pub(crate) fn new(most: usize) -> Self {
        let state = State { work: VecDeque::new(), threads: 0, idle: 0, closed: false };
        Self { state: Mutex::new(state), ready: Condvar::new(), most }
    }

    /// Counts a thread that the caller starts.
    pub(crate) fn count(&self) {
        self.lock().threads += 1;
    }

    /// Puts something to do.
    pub(crate) fn put(&self, work: W) -> Submitted {
        let mut state = self.lock();
        state.work.push_back(work);
        if state.idle >= state.work.len() || state.threads >= self.most {
            drop(state);
            self.ready.notify_one();
            return Submitted::Nothing;
        }
        state.threads += 1;
        Submitted::Start
    }

    /// A thread that was counted does not serve. Where nobody else does, all that
    /// waits comes back: others may have put it, trusting in this one.
    pub(crate) fn give_up(&self) -> VecDeque<W> {
        let mut state = self.lock();
        state.threads -= 1;
        if state.threads == 0 { std::mem::take(&mut state.work) } else { VecDeque::new() }
    }

    /// Does what there is to do until the queue is closed and empty.
    pub(crate) fn serve(&self, run: impl Fn(W)) {
        let mut state = self.lock();
        loop {
            if let Some(work) = state.work.pop_front() {
                drop(state);
                run(work);
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

    /// Nothing more will be put; what was is done still.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.ready.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<W> std::fmt::Debug for Queue<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}
