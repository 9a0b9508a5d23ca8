//! The work that is left, ordered by path.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering as Memory};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use filewright_core::ignore::Stack;

/// A piece of work.
pub(super) struct Task {
    /// Nothing that comes of the work sorts before this path.
    pub key: Box<[u8]>,
    pub directory: DirPath,
    pub work: Work,
}

/// A directory below the start, with a final slash; empty for the start.
#[derive(Clone)]
pub struct DirPath {
    /// As it is opened.
    pub raw: Arc<[u8]>,
    /// As it is shown.
    pub shown: Arc<[u8]>,
}

pub(super) enum Work {
    /// List the directory.
    List {
        stack: Stack,
        depth: usize,
        /// It lies in an ignored directory: only counting is left to do.
        ignored: bool,
    },
    /// Work on these files: their names, each ended by a NUL, in path order.
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
    /// The heap gives the greatest first, and the smallest path is wanted.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

/// The queue that the threads of a walk share.
pub(super) struct Queue {
    state: Mutex<State>,
    ready: Condvar,
    stopped: AtomicBool,
    /// There is a bound, so that asking for it is worth the lock.
    bounded: AtomicBool,
}

struct State {
    tasks: BinaryHeap<Task>,
    /// Done when all else is: the insides of ignored directories.
    later: Vec<Task>,
    /// Tasks that a thread is at.
    running: usize,
    /// What sorts behind this path is not wanted.
    bound: Option<Box<[u8]>>,
    /// The smallest path of the work that was left undone.
    undone: Option<Box<[u8]>>,
}

impl Queue {
    /// A queue that holds the start of a walk.
    pub fn new(stack: Stack) -> Self {
        let empty: Arc<[u8]> = Arc::from(&b""[..]);
        let start = Task {
            key: Box::default(),
            directory: DirPath { raw: empty.clone(), shown: empty },
            work: Work::List { stack, depth: 0, ignored: false },
        };
        Self::holding(BinaryHeap::from([start]), Vec::new())
    }

    /// A queue that holds ignored directories alone.
    pub fn of_ignored(places: Vec<DirPath>) -> Self {
        let task = |directory: DirPath| Task {
            key: directory.shown[..].into(),
            directory,
            work: Work::List { stack: Stack::new(), depth: 0, ignored: true },
        };
        Self::holding(BinaryHeap::new(), places.into_iter().map(task).collect())
    }

    fn holding(tasks: BinaryHeap<Task>, later: Vec<Task>) -> Self {
        let state = State { tasks, later, running: 0, bound: None, undone: None };
        Self {
            state: Mutex::new(state),
            ready: Condvar::new(),
            stopped: AtomicBool::new(false),
            bounded: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A thread that panicked ends the whole walk; the state stays sound.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next piece of work, or `None` when none will come. Whoever takes one
    /// calls [`Queue::done`].
    pub fn next(&self) -> Option<Task> {
        let mut state = self.lock();
        loop {
            if self.is_stopped() {
                return None;
            }
            if let Some(task) = state.tasks.pop() {
                if state.bound.as_ref().is_some_and(|bound| task.key > *bound) {
                    // All others sort behind it.
                    state.tasks.clear();
                    continue;
                }
                state.running += 1;
                return Some(task);
            }
            if state.running == 0 || !state.later.is_empty() {
                match state.later.pop() {
                    Some(task) if state.bound.is_none() => {
                        state.running += 1;
                        return Some(task);
                    }
                    _ if state.running == 0 => {
                        self.ready.notify_all();
                        return None;
                    }
                    _ => {}
                }
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A piece of work is done and this came of it. Says how much there is to do.
    pub fn done(&self, tasks: &mut Vec<Task>) -> usize {
        let mut state = self.lock();
        state.running -= 1;
        for task in tasks.drain(..) {
            match task.work {
                Work::List { ignored: true, .. } => state.later.push(task),
                _ => state.tasks.push(task),
            }
        }
        let left = state.tasks.len() + state.later.len();
        if left > 0 || state.running == 0 {
            self.ready.notify_all();
        }
        left
    }

    /// What sorts behind `path` is no longer wanted.
    pub fn bound(&self, path: Box<[u8]>) {
        let mut state = self.lock();
        if state.bound.as_ref().is_none_or(|bound| path < *bound) {
            state.bound = Some(path);
        }
        self.bounded.store(true, Memory::Relaxed);
    }

    /// Whether `path` is still wanted.
    pub fn wants(&self, path: &[u8]) -> bool {
        !self.bounded.load(Memory::Relaxed)
            || self.lock().bound.as_ref().is_none_or(|bound| *path <= **bound)
    }

    /// Ends the walk; `path` is the smallest one not done by this thread.
    pub fn stop(&self, path: &[u8]) {
        self.lock().leave(path);
        self.stopped.store(true, Memory::Relaxed);
        self.ready.notify_all();
    }

    /// Whether the walk was ended.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Memory::Relaxed)
    }

    /// The smallest path that was not done because the walk was ended.
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

impl State {
    fn leave(&mut self, path: &[u8]) {
        if self.undone.as_ref().is_none_or(|undone| *path < **undone) {
            self.undone = Some(path.into());
        }
    }
}
