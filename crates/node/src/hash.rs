//! Bindings for content hashes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, ScopedJoinHandle, scope};

use filewright_core::hash::{HashCheckpoints, Hasher};
use napi::bindgen_prelude::{AsyncTask, External, Task, Uint8Array};
use napi_derive::napi;

use crate::convert::guard;

#[napi]
pub fn sha256(bytes: &[u8]) -> napi::Result<String> {
    guard(|| Ok(filewright_core::hash::sha256(bytes)))
}

/// The state of a started hash, and the number of bytes that it covers.
pub type HashState = (Hasher, usize);

/// Runs work that reads a text, and hashes the text on another thread until the work is done.
/// Returns no checkpoints if the thread cannot be started.
pub fn hash_while<T>(text: &[u8], work: impl FnOnce() -> T) -> (T, Option<HashCheckpoints>) {
    let done = AtomicBool::new(false);
    scope(|scope| {
        let hashing = || {
            let mut trail = HashCheckpoints::new();
            let mut more = true;
            while more && !done.load(Ordering::Relaxed) {
                more = trail.step(text);
            }
            trail
        };
        let thread = Builder::new().spawn_scoped(scope, hashing).ok();
        let result = work();
        done.store(true, Ordering::Relaxed);
        (result, thread.map(ScopedJoinHandle::join).and_then(Result::ok))
    })
}

pub struct HashTask {
    bytes: Uint8Array,
    begun: HashState,
}

impl Task for HashTask {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> napi::Result<String> {
        guard(|| {
            let (mut hasher, hashed) = std::mem::take(&mut self.begun);
            hasher.update(self.bytes.get(hashed..).unwrap_or_default());
            Ok(hasher.finish())
        })
    }

    fn resolve(&mut self, _env: napi::Env, hash: String) -> napi::Result<String> {
        Ok(hash)
    }
}

/// For large contents: hashing a gigabyte takes a second.
#[napi]
pub fn sha256_async(bytes: Uint8Array) -> AsyncTask<HashTask> {
    AsyncTask::new(HashTask { bytes, begun: HashState::default() })
}

/// The same, continuing a hash that a plan started.
#[napi]
pub fn sha256_from(
    bytes: Uint8Array,
    #[napi(ts_arg_type = "object")] begun: &External<HashState>,
) -> AsyncTask<HashTask> {
    AsyncTask::new(HashTask { bytes, begun: (**begun).clone() })
}
