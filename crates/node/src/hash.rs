//! Content hashes.

use napi_derive::napi;

use crate::convert::guard;

#[napi]
pub fn sha256(bytes: &[u8]) -> napi::Result<String> {
    guard(|| Ok(filewright_core::hash::sha256(bytes)))
}
