//! Edits.

use filewright_core::edit::{Planned, plan_packed};
use filewright_core::pack::Packed;
use napi::bindgen_prelude::{AsyncTask, Buffer, Task, Uint8Array};
use napi_derive::napi;

use crate::convert::{Numbers, guard, to_napi};

/// A plan: `Packed` facts beside the new bytes.
#[napi(object, object_from_js = false)]
pub struct PlanResult {
    pub bytes: Buffer,
    #[napi(ts_type = "Float64Array")]
    pub nums: Numbers,
    pub text: String,
}

impl From<Planned> for PlanResult {
    fn from(planned: Planned) -> Self {
        let Packed { nums, text } = planned.facts;
        Self { bytes: planned.bytes.into(), nums: nums.into(), text }
    }
}

#[napi]
pub fn plan_edits(text: &[u8], call: String) -> napi::Result<PlanResult> {
    guard(|| plan_packed(text, &call)).map(PlanResult::from)
}

pub struct PlanTask {
    text: Uint8Array,
    call: String,
}

impl Task for PlanTask {
    type Output = Planned;
    type JsValue = PlanResult;

    fn compute(&mut self) -> napi::Result<Planned> {
        plan_packed(&self.text, &self.call).map_err(to_napi)
    }

    fn resolve(&mut self, _env: napi::Env, planned: Planned) -> napi::Result<PlanResult> {
        Ok(planned.into())
    }
}

#[napi]
pub fn plan_edits_async(text: Uint8Array, call: String) -> AsyncTask<PlanTask> {
    AsyncTask::new(PlanTask { text, call })
}
