//! Bindings for edits.

use filewright_core::edit::plan_packed;
use filewright_core::pack::Packed;
use wasm_bindgen::prelude::*;

use crate::convert::to_js;

/// The result of edits that are not written yet: the new content, and the packed facts about it.
#[wasm_bindgen(getter_with_clone)]
pub struct PlanResult {
    #[wasm_bindgen(readonly)]
    pub bytes: Vec<u8>,
    #[wasm_bindgen(readonly)]
    pub nums: Vec<f64>,
    #[wasm_bindgen(readonly)]
    pub text: String,
}

#[wasm_bindgen(js_name = planEdits)]
pub fn plan_edits(text: &[u8], call: &str) -> Result<PlanResult, JsValue> {
    crate::normal::prepare();
    let planned = plan_packed(text, call).map_err(to_js)?;
    let Packed { nums, text } = planned.facts;
    Ok(PlanResult { bytes: planned.bytes, nums, text })
}
