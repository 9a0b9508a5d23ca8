// Written by `npm run wire` from crates/core/src/exports/texts.rs; not to be edited.

#![allow(clippy::too_many_arguments, clippy::new_without_default)] // as declared

use crate::convert::*;
use filewright_core::exports::texts as exports;
use wasm_bindgen::prelude::*;

/// Returns the SHA-256 of a content.
#[wasm_bindgen(js_name = sha256)]
pub fn sha256(bytes: &[u8]) -> Result<String, JsValue> {
    js(exports::sha256(bytes))
}

/// Returns the text of a line diff. Writes its numbers into `totals`, which the caller reuses,
/// because allocating an object for them would take a good part of the time of a small diff.
#[wasm_bindgen(js_name = diff)]
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
    js(exports::diff(
        before,
        after,
        totals,
        flags,
        context,
        name_before.as_deref(),
        name_after.as_deref(),
        line_limit,
        byte_limit,
    ))
}

/// Finds the hunks between two contents in an encoding. The result is a list of `HunkRange`.
#[wasm_bindgen(js_name = hunksBetween)]
pub fn hunks_between(before: &[u8], after: &[u8], encoding: &str) -> PackedResult {
    exports::hunks_between(before, after, encoding).into()
}

/// Returns the content after some hunks of the change between two contents. `chosen` has the number
/// of each chosen hunk, the number of its chosen rows, and these rows, in ascending order; no rows
/// stand for the whole hunk.
#[wasm_bindgen(js_name = composeHunks)]
pub fn compose_hunks(
    before: &[u8],
    after: &[u8],
    encoding: &str,
    chosen: Vec<u32>,
) -> Result<Vec<u8>, JsValue> {
    js(exports::compose_hunks(before, after, encoding, &chosen))
}

/// Compares two texts within their lines: by characters, or by words.
#[wasm_bindgen(js_name = diffParts)]
pub fn diff_parts(before: &str, after: &str, chars: bool) -> PackedResult {
    exports::diff_parts(before, after, chars).into()
}

/// Applies the edits of a call to a text. `call` is JSON. The facts are a `PlanFacts`.
#[wasm_bindgen(js_name = planEdits)]
pub fn plan_edits(text: &[u8], call: &str) -> Result<PlanResult, JsValue> {
    js(exports::plan_edits(text, call))
}

/// Parses a patch. Returns JSON, and `call` is JSON.
#[wasm_bindgen(js_name = parsePatch)]
pub fn parse_patch(text: &str, call: &str) -> Result<String, JsValue> {
    js(exports::parse_patch(text, call))
}

/// Applies a patch to files. `names` and `contents` are in the same order; `call` is JSON.
#[wasm_bindgen(js_name = applyPatch)]
pub fn apply_patch(
    names: Vec<String>,
    contents: Vec<JsValue>,
    text: &str,
    call: &str,
) -> Result<PatchResult, JsValue> {
    js(exports::apply_patch(&names, optional_bytes(&contents), text, call))
}

/// Merges two texts that were both made from `base`. The facts are a list of `MergeConflict`.
#[wasm_bindgen(js_name = merge3)]
pub fn merge3(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
    flags: u32,
    labels: Vec<String>,
) -> Result<PlanResult, JsValue> {
    js(exports::merge3(base, ours, theirs, flags, &labels))
}
