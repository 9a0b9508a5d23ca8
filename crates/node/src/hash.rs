//! Bindings for SHA-256 hashes of contents.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, ScopedJoinHandle, scope};

use filewright_core::hash::{HashCheckpoints, Hasher};
use napi::bindgen_prelude::{External, ToNapiValue, TypeName, Uint8Array};
use napi::{ValueType, sys};
use napi_derive::napi;

use crate::convert::guard;
use crate::task::Promise;

#[napi]
pub fn sha256(bytes: &[u8]) -> napi::Result<String> {
    guard(|| Ok(filewright_core::hash::sha256(bytes)))
}

/// The state of a hash, and the number of bytes that it covers so far.
pub type HashState = (Hasher, usize);

/// Runs `work`, and hashes `text` on another thread until the work is done. Returns the result of
/// the work, and the states of the hash; `None` if the thread cannot be started.
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

/// A [`HashState`] that JavaScript can only pass on.
pub struct StartedHash(pub HashState);

impl TypeName for StartedHash {
    fn type_name() -> &'static str {
        "External"
    }

    fn value_type() -> ValueType {
        ValueType::External
    }
}

impl ToNapiValue for StartedHash {
    /// # Safety
    /// As for the trait: `raw` must be the environment of the current call.
    unsafe fn to_napi_value(raw: sys::napi_env, begun: Self) -> napi::Result<sys::napi_value> {
        // SAFETY: `raw` is guaranteed by the caller.
        unsafe { External::to_napi_value(raw, External::new(begun.0)) }
    }
}

/// Hashes the bytes that `begun` does not cover, on a thread of Node.
fn finish(bytes: Uint8Array, begun: HashState) -> Promise<String> {
    Promise::on_node_thread(move || {
        let (mut hasher, hashed) = begun.clone();
        hasher.update(bytes.get(hashed..).unwrap_or_default());
        Ok(hasher.finish())
    })
}

/// Hashes a content on another thread, because a gigabyte takes about a second.
#[napi]
pub fn sha256_async(bytes: Uint8Array) -> Promise<String> {
    finish(bytes, HashState::default())
}

/// Like `sha256_async`, continuing a hash that `plan_edits_hashed` started.
#[napi]
pub fn sha256_from(
    bytes: Uint8Array,
    #[napi(ts_arg_type = "object")] begun: &External<HashState>,
) -> Promise<String> {
    finish(bytes, (**begun).clone())
}
