// Written by `npm run wire` from crates/core/src/exports/texts.rs; not to be edited.

#![allow(clippy::too_many_arguments, clippy::new_without_default)] // as declared

use crate::prelude::*;
use filewright_core::exports::texts as exports;
use napi_derive::napi;

/// Returns the SHA-256 of a content.
#[napi]
pub fn sha256(bytes: &[u8]) -> napi::Result<Text> {
    result_of(|| exports::sha256(bytes))
}

/// Like `sha256`, on another thread.
#[napi]
pub fn sha256_async(bytes: Uint8Array) -> Promise<Text> {
    Promise::on_node_thread(move || exports::sha256(&bytes))
}

/// Returns the text of a line diff. Writes its numbers into `totals`, which the caller reuses,
/// because allocating an object for them would take a good part of the time of a small diff.
#[napi]
pub fn diff(
    before: &[u8],
    after: &[u8],
    #[napi(ts_arg_type = "Uint32Array")] totals: Totals<'_>,
    flags: u32,
    context: u32,
    name_before: Option<String>,
    name_after: Option<String>,
    line_limit: u32,
    byte_limit: u32,
) -> napi::Result<Text> {
    result_of(|| {
        exports::diff(
            before,
            after,
            totals,
            flags,
            context,
            name_before.as_deref(),
            name_after.as_deref(),
            line_limit,
            byte_limit,
        )
    })
}

/// Resolves to the numbers and the text of a line diff.
#[napi]
pub fn diff_async(
    before: Uint8Array,
    after: Uint8Array,
    flags: u32,
    context: u32,
    name_before: Option<String>,
    name_after: Option<String>,
    line_limit: u32,
    byte_limit: u32,
) -> Promise<PackedResult> {
    Promise::on_node_thread(move || {
        exports::diff_async(
            &before,
            &after,
            flags,
            context,
            name_before.as_deref(),
            name_after.as_deref(),
            line_limit,
            byte_limit,
        )
    })
}

/// Finds the hunks between two contents in an encoding. The result is a list of `HunkRange`.
#[napi]
pub fn hunks_between(before: &[u8], after: &[u8], encoding: String) -> napi::Result<PackedResult> {
    result_of(|| Ok(exports::hunks_between(before, after, &encoding)))
}

/// Returns the content after some hunks of the change between two contents. `chosen` has the number
/// of each chosen hunk, the number of its chosen rows, and these rows, in ascending order; no rows
/// stand for the whole hunk.
#[napi]
pub fn compose_hunks(
    before: &[u8],
    after: &[u8],
    encoding: String,
    chosen: Vec<u32>,
) -> napi::Result<Buffer> {
    result_of(|| exports::compose_hunks(before, after, &encoding, &chosen))
}

/// Like `compose_hunks`, on another thread.
#[napi]
pub fn compose_hunks_async(
    before: Uint8Array,
    after: Uint8Array,
    encoding: String,
    chosen: Vec<u32>,
) -> Promise<Buffer> {
    Promise::on_node_thread(move || exports::compose_hunks(&before, &after, &encoding, &chosen))
}

/// Compares two texts within their lines: by characters, or by words.
#[napi]
pub fn diff_parts(before: String, after: String, chars: bool) -> napi::Result<PackedResult> {
    result_of(|| Ok(exports::diff_parts(&before, &after, chars)))
}

/// Applies the edits of a call to a text. `call` is JSON. The facts are a `PlanFacts`.
#[napi]
pub fn plan_edits(text: &[u8], call: String) -> napi::Result<PlanResult> {
    result_of(|| exports::plan_edits(text, &call))
}

/// Like `plan_edits`, on another thread.
#[napi]
pub fn plan_edits_async(text: Uint8Array, call: String) -> Promise<PlanResult> {
    Promise::on_node_thread(move || exports::plan_edits(&text, &call))
}

/// Parses a patch. Returns JSON, and `call` is JSON.
#[napi]
pub fn parse_patch(text: String, call: String) -> napi::Result<Text> {
    result_of(|| exports::parse_patch(&text, &call))
}

/// Like `parse_patch`, on another thread.
#[napi]
pub fn parse_patch_async(text: String, call: String) -> Promise<Text> {
    Promise::on_node_thread(move || exports::parse_patch(&text, &call))
}

/// Applies a patch to files. `names` and `contents` are in the same order; `call` is JSON.
#[napi]
pub fn apply_patch(
    names: Vec<String>,
    contents: Vec<Option<Uint8Array>>,
    text: String,
    call: String,
) -> napi::Result<PatchResult> {
    result_of(|| exports::apply_patch(&names, optional_bytes(&contents), &text, &call))
}

/// Like `apply_patch`, on another thread.
#[napi]
pub fn apply_patch_async(
    names: Vec<String>,
    contents: Vec<Option<Uint8Array>>,
    text: String,
    call: String,
) -> Promise<PatchResult> {
    Promise::on_node_thread(move || {
        exports::apply_patch(&names, optional_bytes(&contents), &text, &call)
    })
}

/// Merges two texts that were both made from `base`. The facts are a list of `MergeConflict`.
#[napi]
pub fn merge3(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
    flags: u32,
    labels: Vec<String>,
) -> napi::Result<PlanResult> {
    result_of(|| exports::merge3(base, ours, theirs, flags, &labels))
}

/// Like `merge3`, on another thread.
#[napi]
pub fn merge3_async(
    base: Uint8Array,
    ours: Uint8Array,
    theirs: Uint8Array,
    flags: u32,
    labels: Vec<String>,
) -> Promise<PlanResult> {
    Promise::on_node_thread(move || exports::merge3(&base, &ours, &theirs, flags, &labels))
}
