//! Bindings for reading text: kinds of files, encodings, pages.

use filewright_core::encoding::{decode_text as decode, encode_text as encode};
use filewright_core::page::{PageRequest, page};
use filewright_core::sniff;
use filewright_core::wire::Wire;
use wasm_bindgen::prelude::*;

use crate::convert::{PackedResult, to_js};

#[wasm_bindgen]
pub fn inspect(bytes: &[u8], name: &str, complete: bool) -> PackedResult {
    sniff::inspect(bytes, name, complete).packed().into()
}

#[wasm_bindgen(js_name = readPage)]
pub fn read_page(bytes: &[u8], name: &str, request: &str) -> Result<PackedResult, JsValue> {
    let request = PageRequest::from_json(request).map_err(to_js)?;
    Ok(page(bytes, name, &request).map_err(to_js)?.packed().into())
}

// Not named `decodeText`, because the generated JavaScript has a function of that name.
#[wasm_bindgen(js_name = decodeBytes)]
pub fn decode_bytes(bytes: &[u8], label: &str) -> Result<PackedResult, JsValue> {
    Ok(decode(bytes, label).map_err(to_js)?.packed().into())
}

#[wasm_bindgen(js_name = encodeText)]
pub fn encode_text(text: &str, label: &str, bom: bool) -> Result<Vec<u8>, JsValue> {
    encode(text, label, bom).map_err(to_js)
}

#[wasm_bindgen(js_name = lineAnchors)]
pub fn line_anchors(text: &str) -> String {
    filewright_core::anchor::anchors(text)
}
