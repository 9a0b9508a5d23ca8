//! The classes of JavaScript that the binding uses. The crate js-sys declares all that there are, and the
//! compiler needs 8 s for it and the crates that it uses.

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[derive(Clone)]
    pub type Uint8Array;

    /// Copies bytes into JavaScript's memory.
    #[wasm_bindgen(constructor)]
    pub fn from(bytes: &[u8]) -> Uint8Array;

    /// Copies the bytes out of JavaScript's memory: a view without arguments is one of the whole.
    #[wasm_bindgen(method, js_name = subarray)]
    pub fn to_vec(this: &Uint8Array) -> Vec<u8>;

    pub type Error;

    #[wasm_bindgen(constructor)]
    pub fn new(message: &str) -> Error;

    #[wasm_bindgen(js_name = String)]
    pub type JsString;

    #[wasm_bindgen(method, js_class = "String")]
    pub fn normalize(this: &JsString, form: &str) -> String;
}
