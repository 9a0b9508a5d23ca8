//! Model-checks the cancel flag.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use crate::flag::Flag;
use crate::model;
use crate::queue::JobQueue;

#[test]
fn a_set_flag_stays_set_for_all_threads() {
    model(|| {
        let flag = Arc::new(Flag::default());
        let setters = [(); 2].map(|()| {
            let flag = Arc::clone(&flag);
            thread::spawn(move || flag.set())
        });
        let worker = {
            let flag = Arc::clone(&flag);
            // A flag that was seen set stays set.
            thread::spawn(move || assert!(!flag.is_set() || flag.is_set()))
        };
        for thread in setters {
            thread.join().unwrap();
        }
        assert!(flag.is_set());
        worker.join().unwrap();
    });
}

#[test]
fn a_job_cancelled_before_it_was_submitted_does_not_start() {
    model(|| {
        let queue = Arc::new(JobQueue::new(1));
        let begun = Arc::new(AtomicUsize::new(0));
        queue.count();
        let server = {
            let (queue, begun) = (Arc::clone(&queue), Arc::clone(&begun));
            thread::spawn(move || {
                queue.serve(|flag: Arc<Flag>| {
                    if !flag.is_set() {
                        begun.fetch_add(1, Ordering::SeqCst);
                    }
                });
            })
        };
        let flag = Arc::new(Flag::default());
        flag.set();
        queue.put(flag);
        queue.close();
        server.join().unwrap();
        assert_eq!(begun.load(Ordering::SeqCst), 0);
    });
}
