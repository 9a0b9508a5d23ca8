//! Bindings for edits.

use filewright_core::edit::{Planned, plan_packed};
use filewright_core::pack::Packed;
use napi::bindgen_prelude::{AsyncTask, Buffer, External, Task, Uint8Array};
use napi_derive::napi;

use crate::convert::{Numbers, guard, to_napi};
use crate::hash::{HashState, hash_while};

/// A plan: the new bytes and the `Packed` facts.
#[napi(object, object_from_js = false)]
pub struct PlanResult {
    pub bytes: Buffer,
    #[napi(ts_type = "Float64Array")]
    pub nums: Numbers,
    pub text: String,
    /// The hash state of a prefix of `bytes`, for `sha256_from`.
    #[napi(ts_type = "object")]
    pub hashing: Option<External<HashState>>,
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

pub struct PlanTask {
    text: Uint8Array,
    call: String,
    hash: bool,
}

impl Task for PlanTask {
    type Output = (Planned, Option<HashState>);
    type JsValue = PlanResult;

    fn compute(&mut self) -> napi::Result<Self::Output> {
        let plan = || plan_packed(&self.text, &self.call).map_err(to_napi);
        if !self.hash {
            return Ok((plan()?, None));
        }
        let (planned, trail) = hash_while(&self.text, plan);
        let planned = planned?;
        let hashing = trail.map(|trail| trail.shared_prefix(planned.head));
        Ok((planned, hashing))
    }

    fn resolve(
        &mut self,
        _env: napi::Env,
        (planned, hashing): Self::Output,
    ) -> napi::Result<PlanResult> {
        Ok(PlanResult { hashing: hashing.map(External::new), ..planned.into() })
    }
}

#[napi]
pub fn plan_edits_async(text: Uint8Array, call: String) -> AsyncTask<PlanTask> {
    AsyncTask::new(PlanTask { text, call, hash: false })
}

/// The same, and starts the hash of the result.
#[napi]
pub fn plan_edits_hashed(text: Uint8Array, call: String) -> AsyncTask<PlanTask> {
    AsyncTask::new(PlanTask { text, call, hash: true })
}
