//! Bindings for SHA-256 hashes of contents.

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
pub fn sha256(bytes: &[u8]) -> String {
    filewright_core::hash::sha256(bytes)
}
