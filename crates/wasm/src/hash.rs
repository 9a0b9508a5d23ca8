//! Bindings for content hashes.

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
pub fn sha256(bytes: &[u8]) -> String {
    filewright_core::hash::sha256(bytes)
}
