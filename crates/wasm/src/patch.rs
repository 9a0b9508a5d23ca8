//! Bindings for patches and merges.

use filewright_core::merge3::{MergeCall, merge3_packed};
use filewright_core::patch::{apply_packed, parse_packed};
use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::convert::to_js;
use crate::edit::PlanResult;

#[wasm_bindgen(js_name = parsePatch)]
pub fn parse_patch(text: &str, call: &str) -> Result<String, JsValue> {
    parse_packed(text, call).map_err(to_js)
}

#[wasm_bindgen(getter_with_clone)]
pub struct PatchResult {
    #[wasm_bindgen(readonly)]
    pub facts: String,
    #[wasm_bindgen(readonly)]
    pub contents: Array,
}

#[wasm_bindgen(js_name = applyPatch)]
pub fn apply_patch(
    names: Vec<String>,
    contents: Array,
    text: &str,
    call: &str,
) -> Result<PatchResult, JsValue> {
    crate::normal::prepare();
    let contents = contents
        .iter()
        .map(|content| content.dyn_into::<Uint8Array>().ok().map(|bytes| bytes.to_vec()))
        .collect();
    let patched = apply_packed(names, contents, text, call).map_err(to_js)?;
    let contents =
        patched.contents.iter().map(|bytes| Uint8Array::from(bytes.as_slice())).collect();
    Ok(PatchResult { facts: patched.facts, contents })
}

#[wasm_bindgen]
pub fn merge3(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
    flags: u32,
    labels: Vec<String>,
) -> PlanResult {
    let (bytes, packed) = merge3_packed(base, ours, theirs, &MergeCall { flags, labels });
    PlanResult { bytes, nums: packed.nums, text: packed.text }
}
