//! Model-checks the queue of the threads that access files.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use crate::model;
use crate::queue::{JobQueue, AfterPut};

/// Submits one job, and starts a thread if the queue requests one. The thread serves, or simulates
/// a failed start.
fn put(
    queue: &Arc<JobQueue<()>>,
    done: &Arc<AtomicUsize>,
    starts: bool,
) -> Option<thread::JoinHandle<()>> {
    if queue.put(()) == AfterPut::Nothing {
        return None;
    }
    if !starts {
        for () in queue.give_up() {
            done.fetch_add(1, Ordering::SeqCst);
        }
        return None;
    }
    Some(serving(queue, done))
}

fn serving(queue: &Arc<JobQueue<()>>, done: &Arc<AtomicUsize>) -> thread::JoinHandle<()> {
    let (queue, done) = (Arc::clone(queue), Arc::clone(done));
    thread::spawn(move || {
        queue.serve(|()| {
            done.fetch_add(1, Ordering::SeqCst);
        });
    })
}

/// Two callers submit at once; then the queue is closed and all threads end.
fn all_is_done(most: usize, first: bool, starts: [bool; 2]) {
    model(move || {
        let queue = Arc::new(JobQueue::new(most));
        let done = Arc::new(AtomicUsize::new(0));
        let mut threads = Vec::new();
        if first {
            queue.count();
            threads.push(serving(&queue, &done));
        }
        let other = {
            let (queue, done) = (Arc::clone(&queue), Arc::clone(&done));
            thread::spawn(move || put(&queue, &done, starts[0]))
        };
        threads.extend(put(&queue, &done, starts[1]));
        threads.extend(other.join().unwrap());
        queue.close();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(done.load(Ordering::SeqCst), 2, "something that was put was not done");
    });
}

#[test]
fn every_submitted_job_runs_once() {
    all_is_done(1, false, [true, true]);
    all_is_done(2, false, [true, true]);
}

#[test]
fn a_failed_thread_start_loses_no_job() {
    all_is_done(2, false, [false, true]);
    all_is_done(2, false, [false, false]);
    all_is_done(2, true, [false, true]);
}

#[test]
fn closing_wakes_all_waiting_threads() {
    model(|| {
        let queue = Arc::new(JobQueue::new(2));
        let done = Arc::new(AtomicUsize::new(0));
        queue.count();
        queue.count();
        let threads = [serving(&queue, &done), serving(&queue, &done)];
        queue.close();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(done.load(Ordering::SeqCst), 0);
    });
}
