//! Conversions of arguments and results. The generated functions use them.

use std::borrow::Cow;

use filewright_core::exports::texts::Planned;
use filewright_core::pack::Packed;
use filewright_core::patch::{Contents, PatchedFiles};
use wasm_bindgen::prelude::*;

use crate::objects::Error;
pub use crate::objects::Uint8Array;

/// A `Packed` result as a JavaScript object: `{ nums, text }`.
#[wasm_bindgen(getter_with_clone)]
pub struct PackedResult {
    #[wasm_bindgen(readonly)]
    pub nums: Vec<f64>,
    #[wasm_bindgen(readonly)]
    pub text: String,
}

impl From<Packed> for PackedResult {
    fn from(packed: Packed) -> Self {
        Self { nums: packed.nums, text: packed.text }
    }
}

/// A new text, and the packed facts about it.
#[wasm_bindgen(getter_with_clone)]
pub struct PlanResult {
    #[wasm_bindgen(readonly)]
    pub bytes: Vec<u8>,
    #[wasm_bindgen(readonly)]
    pub nums: Vec<f64>,
    #[wasm_bindgen(readonly)]
    pub text: String,
}

impl From<Planned> for PlanResult {
    fn from(planned: Planned) -> Self {
        let Packed { nums, text } = planned.facts;
        Self { bytes: planned.bytes, nums, text }
    }
}

/// The files that a patch has changed: the facts as JSON, and the new contents.
#[wasm_bindgen(getter_with_clone)]
pub struct PatchResult {
    #[wasm_bindgen(readonly)]
    pub facts: String,
    #[wasm_bindgen(readonly)]
    pub contents: Vec<Uint8Array>,
}

impl From<PatchedFiles> for PatchResult {
    fn from(patched: PatchedFiles) -> Self {
        let contents = patched.contents.iter().map(|bytes| Uint8Array::from(bytes));
        Self { facts: patched.facts, contents: contents.collect() }
    }
}

/// Copies contents out of JavaScript's memory.
#[cfg(feature = "files")]
pub fn all_bytes(contents: &[Uint8Array]) -> Vec<Cow<'static, [u8]>> {
    contents.iter().map(|content| Cow::Owned(content.to_vec())).collect()
}

/// Copies contents, some of which are null, out of JavaScript's memory.
pub fn optional_bytes(contents: &[JsValue]) -> Contents<'static> {
    let bytes = |content: &JsValue| content.dyn_ref::<Uint8Array>().map(Uint8Array::to_vec);
    contents.iter().map(|content| bytes(content).map(Cow::Owned)).collect()
}

/// Converts a result for JavaScript. An error becomes an `Error` whose message is its JSON form, as
/// in the Node binding.
pub fn js<T: Into<J>, J>(result: filewright_core::Result<T>) -> Result<J, JsValue> {
    result.map(Into::into).map_err(|error| Error::new(&error.to_json()).into())
}
