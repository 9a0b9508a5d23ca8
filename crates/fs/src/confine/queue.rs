//! The job queue of a pool: assigns jobs to threads and decides when to start another. It does not
//! start threads itself, and does not depend on the kind of job.

use std::collections::VecDeque;

use crate::sync::{Condvar, Mutex, MutexGuard};

/// The waiting jobs and the number of threads that serve them.
pub(crate) struct JobQueue<W> {
    state: Mutex<JobQueueState<W>>,
    ready: Condvar,
    /// The maximum number of threads.
    most: usize,
}

struct JobQueueState<W> {
    work: VecDeque<W>,
    threads: usize,
    idle: usize,
    closed: bool,
}

/// The duty of the caller after [`JobQueue::put`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterPut {
    /// The caller has nothing to do: an existing thread will run the job.
    Nothing,
    /// The caller starts a thread that calls [`JobQueue::serve`], or calls [`JobQueue::give_up`] if
    /// that fails. The thread is counted already.
    Start,
}

impl<W> JobQueue<W> {
    pub(crate) fn new(most: usize) -> Self {
        let state = JobQueueState { work: VecDeque::new(), threads: 0, idle: 0, closed: false };
        Self { state: Mutex::new(state), ready: Condvar::new(), most }
    }

    /// Counts a thread that the caller starts without having been told to by [`JobQueue::put`].
    pub(crate) fn count(&self) {
        self.lock().threads += 1;
    }

    /// Adds a job to the end of the queue.
    pub(crate) fn put(&self, work: W) -> AfterPut {
        let mut state = self.lock();
        state.work.push_back(work);
        if state.idle >= state.work.len() || state.threads >= self.most {
            drop(state);
            self.ready.notify_one();
            return AfterPut::Nothing;
        }
        state.threads += 1;
        AfterPut::Start
    }

    /// Subtracts a thread that could not be started. If there is no other, returns all waiting
    /// jobs, also those of other callers, because nothing else would run them.
    pub(crate) fn give_up(&self) -> VecDeque<W> {
        let mut state = self.lock();
        state.threads -= 1;
        if state.threads == 0 { std::mem::take(&mut state.work) } else { VecDeque::new() }
    }

    /// Runs jobs on the calling thread until the queue is closed and empty.
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

    /// Closes the queue: waiting jobs still run, and no more may be submitted.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.ready.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, JobQueueState<W>> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<W> std::fmt::Debug for JobQueue<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}
