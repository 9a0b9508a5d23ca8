//! Bindings for patches and merges.

use filewright_core::merge3::{MergeCall, merge3_packed};
use filewright_core::patch::{PatchedFiles, apply_packed, parse_packed};
use napi::bindgen_prelude::{Buffer, Uint8Array};
use napi_derive::napi;

use crate::convert::guard;
use crate::edit::PlanResult;
use crate::task::Promise;

#[napi]
pub fn parse_patch(text: String, call: String) -> napi::Result<String> {
    guard(|| parse_packed(&text, &call))
}

#[napi(object, object_from_js = false)]
pub struct PatchResult {
    pub facts: String,
    pub contents: Vec<Buffer>,
}

impl From<PatchedFiles> for PatchResult {
    fn from(patched: PatchedFiles) -> Self {
        let contents = patched.contents.into_iter().map(Buffer::from).collect();
        Self { facts: patched.facts, contents }
    }
}

/// Copies contents out of JavaScript's memory.
fn owned(contents: &[Option<Uint8Array>]) -> Vec<Option<Vec<u8>>> {
    contents.iter().map(|content| content.as_ref().map(|content| content.to_vec())).collect()
}

#[napi]
pub fn apply_patch(
    names: Vec<String>,
    contents: Vec<Option<Uint8Array>>,
    text: String,
    call: String,
) -> napi::Result<PatchResult> {
    guard(|| apply_packed(names, owned(&contents), &text, &call)).map(PatchResult::from)
}

#[napi]
pub fn apply_patch_async(
    names: Vec<String>,
    contents: Vec<Option<Uint8Array>>,
    text: String,
    call: String,
) -> Promise<PatchResult> {
    // The closure runs only once, so it may take the arguments.
    let mut arguments = (names, owned(&contents));
    Promise::on_node_thread(move || {
        let (names, contents) = std::mem::take(&mut arguments);
        apply_packed(names, contents, &text, &call)
    })
}

#[napi]
pub fn merge3(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
    flags: u32,
    labels: Vec<String>,
) -> napi::Result<PlanResult> {
    let (bytes, packed) =
        guard(|| Ok(merge3_packed(base, ours, theirs, &MergeCall { flags, labels })))?;
    Ok(PlanResult {
        bytes: bytes.into(),
        nums: packed.nums.into(),
        text: packed.text,
        hashing: None,
    })
}
