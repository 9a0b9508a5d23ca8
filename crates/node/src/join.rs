//! The binding that concatenates two contents.

use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

/// Returns `a` followed by `b`, in memory that the addon has allocated.
#[napi]
pub fn concat(a: &[u8], b: &[u8]) -> Buffer {
    [a, b].concat().into()
}
