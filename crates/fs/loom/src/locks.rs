//! Model-checks the lock between processes on a model of a directory: a name that refers to a file
//! or to none, and files that one process at a time can lock, as with `flock`.

use std::convert::Infallible;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

use crate::model;
use crate::acquire::{LockFile, try_acquire};

/// A file: true if it is locked.
type Node = Arc<Mutex<bool>>;

/// A directory with one name.
#[derive(Default)]
struct Directory(Mutex<Option<Node>>);

/// An open file. Closing it releases its lock, as in the kernel.
struct Open {
    node: Node,
    held: std::cell::Cell<bool>,
}

impl Drop for Open {
    fn drop(&mut self) {
        if self.held.get() {
            *self.node.lock().unwrap() = false;
        }
    }
}

impl LockFile for Directory {
    type File = Open;
    type Error = Infallible;

    fn open(&self) -> Result<Open, Infallible> {
        let mut name = self.0.lock().unwrap();
        let node = name.get_or_insert_with(|| Arc::new(Mutex::new(false)));
        Ok(Open { node: Arc::clone(node), held: false.into() })
    }

    fn hold(&self, file: &Open) -> Result<bool, Infallible> {
        let mut held = file.node.lock().unwrap();
        file.held.set(!*held);
        *held = true;
        Ok(file.held.get())
    }

    fn is_named(&self, file: &Open) -> Result<bool, Infallible> {
        let name = self.0.lock().unwrap();
        Ok(name.as_ref().is_some_and(|node| Arc::ptr_eq(node, &file.node)))
    }
}

/// Takes the lock, works, removes the name while holding the lock, and releases it. With `killed`,
/// stops before removing the name.
fn turn(directory: &Directory, inside: &AtomicUsize, killed: bool) -> bool {
    let Ok(taken) = try_acquire(directory);
    let Some(file) = taken else { return false };
    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two have it");
    inside.fetch_sub(1, Ordering::SeqCst);
    if !killed {
        *directory.0.lock().unwrap() = None;
    }
    drop(file);
    true
}

/// Takes the lock as [`turn`] does, but keeps the file, still locked, without the name; then takes
/// the lock again by giving the file the name, if that is free.
fn two_turns_with_one_file(directory: &Directory, inside: &AtomicUsize) {
    let Ok(taken) = try_acquire(directory);
    let Some(file) = taken else { return };
    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two have it");
    inside.fetch_sub(1, Ordering::SeqCst);
    *directory.0.lock().unwrap() = None;
    {
        let mut name = directory.0.lock().unwrap();
        if name.is_some() {
            return;
        }
        *name = Some(Arc::clone(&file.node));
    }
    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two have it");
    inside.fetch_sub(1, Ordering::SeqCst);
    *directory.0.lock().unwrap() = None;
}

#[test]
fn a_file_that_its_holder_kept_is_never_a_second_lock() {
    model(|| {
        let directory = Arc::new(Directory::default());
        let inside = Arc::new(AtomicUsize::new(0));
        let other = {
            let (directory, inside) = (Arc::clone(&directory), Arc::clone(&inside));
            thread::spawn(move || turn(&directory, &inside, false))
        };
        two_turns_with_one_file(&directory, &inside);
        other.join().unwrap();
        assert!(turn(&directory, &inside, false), "nobody has it, and nobody can");
    });
}

fn never_two(killed: bool) {
    model(move || {
        let directory = Arc::new(Directory::default());
        let inside = Arc::new(AtomicUsize::new(0));
        let others = [killed, false].map(|killed| {
            let (directory, inside) = (Arc::clone(&directory), Arc::clone(&inside));
            thread::spawn(move || turn(&directory, &inside, killed))
        });
        turn(&directory, &inside, false);
        for other in others {
            other.join().unwrap();
        }
        // The next process can take the lock, whatever was left behind.
        assert!(turn(&directory, &inside, false), "nobody has it, and nobody can");
    });
}

#[test]
fn three_processes_never_hold_the_lock_together() {
    never_two(false);
}

#[test]
fn a_killed_holder_leaves_the_lock_to_the_next() {
    never_two(true);
}
