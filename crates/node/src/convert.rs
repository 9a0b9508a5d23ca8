//! Conversions shared by every binding function.

use filewright_core::pack::Packed;
use napi::bindgen_prelude::Float64Array;
use napi_derive::napi;

/// `Packed` as JavaScript sees it: `{ nums, text }`.
#[napi(object)]
pub struct PackedResult {
    pub nums: Float64Array,
    pub text: String,
}

impl From<Packed> for PackedResult {
    fn from(packed: Packed) -> Self {
        Self { nums: packed.nums.into(), text: packed.text }
    }
}

/// Turns a core error into a napi error whose message is its JSON form. An
/// async task can only reject with a status of napi's own, so the code travels
/// in the message on both paths and `js/engine/errors.ts` takes it apart.
pub fn to_napi(error: filewright_core::Error) -> napi::Error {
    napi::Error::from_reason(error.to_json())
}

/// Runs a synchronous binding so that a panic becomes an `INTERNAL` error.
pub fn guard<T>(f: impl FnOnce() -> filewright_core::Result<T>) -> napi::Result<T> {
    use filewright_core::{Code, Error};
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)) {
        Ok(result) => result.map_err(to_napi),
        Err(_) => Err(to_napi(Error::new(Code::Internal, "the engine panicked"))),
    }
}
