//! Bindings for locks between processes.

use filewright_core::error::{Code, Error};
use filewright_core::text::path::decode_name;
use filewright_fs::lock::{Lock, Locks};
use napi_derive::napi;

use crate::convert::guard;

/// The locks in one directory of lock files. Its descriptor is closed by `close`, or when it is
/// garbage-collected.
#[napi]
pub struct NativeLocks(Option<Locks>);

/// A held lock; released by `release`, or when it is garbage-collected.
#[napi]
pub struct NativeLock(Option<Lock>);

#[napi]
impl NativeLocks {
    #[napi(constructor)]
    pub fn new(state_dir: String) -> napi::Result<Self> {
        guard(|| Locks::open(&decode_name(&state_dir))).map(|locks| Self(Some(locks)))
    }

    /// Returns the lock of a real path, or null if another holder has it. Does not wait, because a
    /// waiting thread of the pool could be the one that the holder needs to release it.
    #[napi]
    pub fn try_lock(&self, real: String) -> napi::Result<Option<NativeLock>> {
        let closed = || Error::new(Code::InvalidArgument, "the directory of locks is closed");
        guard(|| self.0.as_ref().ok_or_else(closed)?.try_lock(&decode_name(&real)))
            .map(|lock| lock.map(|lock| NativeLock(Some(lock))))
    }

    /// Closes the directory. Held locks stay held.
    #[napi]
    pub fn close(&mut self) {
        self.0 = None;
    }
}

#[napi]
impl NativeLock {
    #[napi]
    pub fn release(&mut self) {
        self.0 = None;
    }
}
