//! The queue of the remaining tasks of a walk, ordered by path.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering as Memory};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use filewright_core::pattern::ignore::Stack;

/// A part of a walk that one thread processes: one directory, or some files of one.
pub(super) struct Task {
    /// The smallest path that the task can produce: all of its results sort at or after it.
    pub key: Box<[u8]>,
    pub directory: DirPath,
    pub work: TaskKind,
}

/// The path of a directory relative to the start of a walk, with a final slash; empty for the
/// start.
#[derive(Clone, Debug)]
pub struct DirPath {
    /// The path in the bytes of the file system, for opening.
    pub raw: Arc<[u8]>,
    /// The path for display.
    pub shown: Arc<[u8]>,
}

pub(super) enum TaskKind {
    /// List the directory.
    List { stack: Stack, depth: usize },
    /// Process these files: their names, each terminated by a NUL, in path order.
    Files { names: Vec<u8> },
}

impl PartialEq for Task {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Task {}

impl PartialOrd for Task {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Task {
    /// Inverted, because the heap returns the greatest first and the smallest path is needed.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

/// The queue that the threads of a walk share.
pub(super) struct WalkQueue {
    state: Mutex<WalkQueueState>,
    ready: Condvar,
    stopped: AtomicBool,
    /// True if there is a bound, to avoid locking if there is none.
    bounded: AtomicBool,
}

struct WalkQueueState {
    tasks: BinaryHeap<Task>,
    /// The number of tasks being processed.
    running: usize,
    /// The number of threads that wait for a task.
    waiting: usize,
    /// Paths that sort after this one are not needed.
    bound: Option<Box<[u8]>>,
    /// The smallest path that was not processed because the walk was stopped.
    undone: Option<Box<[u8]>>,
}

impl WalkQueue {
    /// Creates a queue with one task, the start of a walk. `stack` has the ignore rules from above
    /// it.
    pub fn new(stack: Stack) -> Self {
        let empty: Arc<[u8]> = Arc::from(&b""[..]);
        let start = Task {
            key: Box::default(),
            directory: DirPath { raw: empty.clone(), shown: empty },
            work: TaskKind::List { stack, depth: 0 },
        };
        let tasks = BinaryHeap::from([start]);
        let state = WalkQueueState { tasks, running: 0, waiting: 0, bound: None, undone: None };
        Self {
            state: Mutex::new(state),
            ready: Condvar::new(),
            stopped: AtomicBool::new(false),
            bounded: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, WalkQueueState> {
        // A panic of a thread ends the whole walk, and the state stays consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the task with the smallest path, waiting for one while other tasks are running. The
    /// caller must call [`WalkQueue::done`] afterwards. Returns `None` if the walk is finished or
    /// stopped.
    pub fn next(&self) -> Option<Task> {
        let mut state = self.lock();
        loop {
            if self.is_stopped() {
                return None;
            }
            if let Some(task) = state.tasks.pop() {
                if state.bound.as_ref().is_some_and(|bound| task.key > *bound) {
                    // All other tasks sort after the bound too.
                    state.tasks.clear();
                    continue;
                }
                state.running += 1;
                return Some(task);
            }
            if state.running == 0 {
                self.ready.notify_all();
                return None;
            }
            state.waiting += 1;
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
    }

    /// Marks a running task as done and adds the tasks that it produced. Returns the number of
    /// waiting tasks.
    pub fn done(&self, tasks: &mut Vec<Task>) -> usize {
        let mut state = self.lock();
        state.running -= 1;
        state.tasks.extend(tasks.drain(..));
        let left = state.tasks.len();
        // Waking is a system call, also where no thread waits.
        if state.waiting > 0 && (left > 0 || state.running == 0) {
            self.ready.notify_all();
        }
        left
    }

    /// Declares that paths that sort after `path` are not needed.
    pub fn bound(&self, path: Box<[u8]>) {
        let mut state = self.lock();
        if state.bound.as_ref().is_none_or(|bound| path < *bound) {
            state.bound = Some(path);
        }
        self.bounded.store(true, Memory::Relaxed);
    }

    /// Reports whether `path` is needed: it does not sort after the bound.
    pub fn wants(&self, path: &[u8]) -> bool {
        !self.bounded.load(Memory::Relaxed)
            || self.lock().bound.as_ref().is_none_or(|bound| *path <= **bound)
    }

    /// Stops the walk early. `path` is the smallest one that the calling thread did not process.
    pub fn stop(&self, path: &[u8]) {
        self.lock().leave(path);
        self.stopped.store(true, Memory::Relaxed);
        self.ready.notify_all();
    }

    /// Reports whether the walk was stopped early.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Memory::Relaxed)
    }

    /// Returns the smallest path that was not processed because the walk was stopped; `None` if it
    /// was not.
    pub fn stopped_at(&self) -> Option<Box<[u8]>> {
        let mut state = self.lock();
        if let Some(task) = state.tasks.pop()
            && self.is_stopped()
        {
            state.leave(&task.key);
        }
        state.undone.clone()
    }
}

impl WalkQueueState {
    /// Records a path that was not processed.
    fn leave(&mut self, path: &[u8]) {
        if self.undone.as_ref().is_none_or(|undone| *path < **undone) {
            self.undone = Some(path.into());
        }
    }
}
