//! Bindings for edits.

use filewright_core::edit::{Planned, plan_packed};
use filewright_core::pack::Packed;
use napi::bindgen_prelude::{Buffer, Uint8Array};
use napi_derive::napi;

use crate::convert::{Numbers, guard};
use crate::hash::{StartedHash, hash_while};
use crate::task::Promise;

/// The result of edits that are not written yet: the new content, and the packed facts about it.
#[napi(object, object_from_js = false)]
pub struct PlanResult {
    pub bytes: Buffer,
    #[napi(ts_type = "Float64Array")]
    pub nums: Numbers,
    pub text: String,
    /// The state of a hash of the first part of `bytes`, which `sha256_from` continues.
    #[napi(ts_type = "object")]
    pub hashing: Option<StartedHash>,
}

impl From<Planned> for PlanResult {
    fn from(planned: Planned) -> Self {
        let Packed { nums, text } = planned.facts;
        Self { bytes: planned.bytes.into(), nums: nums.into(), text, hashing: None }
    }
}

#[napi]
pub fn plan_edits(text: &[u8], call: String) -> napi::Result<PlanResult> {
    guard(|| plan_packed(text, &call)).map(PlanResult::from)
}

#[napi]
pub fn plan_edits_async(text: Uint8Array, call: String) -> Promise<PlanResult> {
    Promise::on_node_thread(move || plan_packed(&text, &call))
}

/// Like `plan_edits_async`, and hashes the part of the result that equals the old text meanwhile.
#[napi]
pub fn plan_edits_hashed(text: Uint8Array, call: String) -> Promise<PlanResult> {
    Promise::on_node_thread(move || {
        let (planned, trail) = hash_while(&text, || plan_packed(&text, &call));
        let planned = planned?;
        let hashing = trail.map(|trail| trail.shared_prefix(planned.head)).map(StartedHash);
        Ok(PlanResult { hashing, ..planned.into() })
    })
}
