//! Bindings for locks between processes.

use filewright_core::text::path::decode_name;
use filewright_fs::lock::{Lock, Locks};
use napi_derive::napi;

use crate::convert::guard;

/// The locks in one directory of lock files.
#[napi]
pub struct NativeLocks(Locks);

/// A held lock; released by `release`, or when it is garbage-collected.
#[napi]
pub struct NativeLock(Option<Lock>);

#[napi]
impl NativeLocks {
    #[napi(constructor)]
    pub fn new(state_dir: String) -> napi::Result<Self> {
        guard(|| Locks::open(&decode_name(&state_dir))).map(Self)
    }

    /// Returns the lock of a real path, or null if another holder has it. Does not wait, because a
    /// waiting thread of the pool could be the one that the holder needs to release it.
    #[napi]
    pub fn try_lock(&self, real: String) -> napi::Result<Option<NativeLock>> {
        guard(|| self.0.try_lock(&decode_name(&real)))
            .map(|lock| lock.map(|lock| NativeLock(Some(lock))))
    }
}

#[napi]
impl NativeLock {
    #[napi]
    pub fn release(&mut self) {
        self.0 = None;
    }
}
