//! Every order in which threads can meet at the pool's queue, at the flag that
//! cancels, and at a lock file that each holder removes: tried one after the other
//! by loom, instead of hoped to be met.
#![cfg(test)]

#[path = "../../src/flag.rs"]
mod flag;
#[path = "../../src/confine/queue.rs"]
mod queue;
#[path = "../../src/lock/acquire.rs"]
mod acquire;

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, Ordering};
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
}

mod cancel;
mod locks;
mod pool;

/// Runs a body in every order of its threads with so many switches that no thread
/// asked for. All errors known of such code show with two.
fn model(body: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(body);
}
