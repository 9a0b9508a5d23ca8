//! Bindings for line diffs.

use filewright_core::diff::words::compare_tokens_packed;
use filewright_core::diff::{DiffCall, diff_called};
use wasm_bindgen::prelude::*;

use crate::convert::{PackedResult, to_js};

#[wasm_bindgen]
#[allow(clippy::too_many_arguments)] // as on Node
pub fn diff(
    before: &[u8],
    after: &[u8],
    totals: &mut [u32],
    flags: u32,
    context: u32,
    name_before: Option<String>,
    name_after: Option<String>,
    line_limit: u32,
    byte_limit: u32,
) -> Result<String, JsValue> {
    let call = DiffCall { flags, context, name_before, name_after, line_limit, byte_limit };
    let made = diff_called(before, after, &call).map_err(to_js)?;
    for (place, number) in totals.iter_mut().zip(made.totals()) {
        *place = number;
    }
    Ok(made.text)
}

#[wasm_bindgen(js_name = diffParts)]
pub fn diff_parts(before: &str, after: &str, chars: bool) -> PackedResult {
    compare_tokens_packed(before, after, chars).into()
}
