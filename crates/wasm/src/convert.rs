//! Conversions that all binding functions use.

use filewright_core::pack::Packed;
use wasm_bindgen::prelude::*;

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

/// Converts a core error to a JavaScript `Error` whose message is its JSON form, as in the Node
/// binding.
pub fn to_js(error: filewright_core::Error) -> JsValue {
    js_sys::Error::new(&error.to_json()).into()
}
