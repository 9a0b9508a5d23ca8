//! Model-checks with loom the pool's queue, the cancel flag, and a lock file that each holder
//! removes, in every interleaving of their threads.
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

/// Runs a body in every interleaving with a limited number of preemptions. Two suffice to show all
/// known errors of such code.
fn model(body: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(body);
}
