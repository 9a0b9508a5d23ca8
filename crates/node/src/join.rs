//! Two contents as one.

use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

/// `a` and then `b`, in memory of the addon's.
#[napi]
pub fn concat(a: &[u8], b: &[u8]) -> Buffer {
    [a, b].concat().into()
}
