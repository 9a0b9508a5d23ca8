//! Hashes a content while edits are applied to it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, ScopedJoinHandle, scope};

use filewright_core::exports::texts::plan_edits;
use filewright_core::hash::HashCheckpoints;
use napi::bindgen_prelude::{External, Uint8Array};
use napi_derive::napi;

use crate::results::{HashState, PlanResult, StartedHash};
use crate::task::Promise;

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

/// Like `plan_edits_async`, and hashes the part of the result that equals the old text meanwhile.
#[napi]
pub fn plan_edits_hashed(text: Uint8Array, call: String) -> Promise<PlanResult> {
    Promise::on_node_thread(move || {
        let (planned, checkpoints) = hash_while(&text, || plan_edits(&text, &call));
        let planned = planned?;
        let hashing = checkpoints.map(|states| states.shared_prefix(planned.head)).map(StartedHash);
        Ok(PlanResult { hashing, ..planned.into() })
    })
}

/// Hashes the bytes that `begun` does not cover: a hash that `plan_edits_hashed` started.
#[napi]
pub fn sha256_from(
    bytes: Uint8Array,
    #[napi(ts_arg_type = "object")] begun: &External<HashState>,
) -> Promise<String> {
    let begun = (**begun).clone();
    Promise::on_node_thread(move || {
        let (mut hasher, hashed) = begun.clone();
        hasher.update(bytes.get(hashed..).unwrap_or_default());
        Ok(hasher.finish())
    })
}
