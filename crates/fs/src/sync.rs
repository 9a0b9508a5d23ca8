//! The means of synchronisation of the state machines that are also run on a model
//! of all the orders in which threads can meet: `crates/fs/loom` compiles the same
//! files with the model's means instead of these.

pub(crate) use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(target_os = "linux")]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
