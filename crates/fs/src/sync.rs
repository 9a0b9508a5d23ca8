//! The synchronisation primitives of the state machines that loom model-checks: `crates/fs/loom`
//! compiles the same files with loom's primitives.

pub(crate) use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(target_os = "linux")]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
