//! Content hashes.

use napi::bindgen_prelude::{AsyncTask, Task, Uint8Array};
use napi_derive::napi;

use crate::convert::guard;

#[napi]
pub fn sha256(bytes: &[u8]) -> napi::Result<String> {
    guard(|| Ok(filewright_core::hash::sha256(bytes)))
}

pub struct HashTask {
    bytes: Uint8Array,
}

impl Task for HashTask {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> napi::Result<String> {
        Ok(filewright_core::hash::sha256(&self.bytes))
    }

    fn resolve(&mut self, _env: napi::Env, hash: String) -> napi::Result<String> {
        Ok(hash)
    }
}

/// For large contents: a hash of them takes a second for a gigabyte.
#[napi]
pub fn sha256_async(bytes: Uint8Array) -> AsyncTask<HashTask> {
    AsyncTask::new(HashTask { bytes })
}
