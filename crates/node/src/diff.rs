//! Bindings for line diffs.

use filewright_core::diff::words::parts_packed;
use filewright_core::diff::{DiffCall, diff_called, diff_packed};
use filewright_core::pack::Packed;
use napi::bindgen_prelude::{AsyncTask, Task, Uint8Array};
use napi_derive::napi;

use crate::convert::{PackedResult, Text, guard, to_napi};

/// An alias, because napi would treat a literal `&mut` type as a class.
type Totals<'a> = &'a mut [u32];

/// Returns the text. The numbers go into memory that the caller reuses, because allocating objects
/// for them would cost a good part of a small diff.
#[napi]
#[allow(clippy::too_many_arguments)] // an options object costs more than the diff
pub fn diff(
    before: &[u8],
    after: &[u8],
    totals: Totals<'_>,
    flags: u32,
    context: u32,
    name_before: Option<String>,
    name_after: Option<String>,
    line_limit: u32,
    byte_limit: u32,
) -> napi::Result<Text> {
    let call = DiffCall { flags, context, name_before, name_after, line_limit, byte_limit };
    let made = guard(|| diff_called(before, after, &call))?;
    for (place, number) in totals.iter_mut().zip(made.totals()) {
        *place = number;
    }
    Ok(made.text.into())
}

pub struct DiffTask {
    before: Uint8Array,
    after: Uint8Array,
    call: DiffCall,
}

impl Task for DiffTask {
    type Output = Packed;
    type JsValue = PackedResult;

    fn compute(&mut self) -> napi::Result<Packed> {
        diff_packed(&self.before, &self.after, &self.call).map_err(to_napi)
    }

    fn resolve(&mut self, _env: napi::Env, packed: Packed) -> napi::Result<PackedResult> {
        Ok(packed.into())
    }
}

#[napi]
#[allow(clippy::too_many_arguments)]
pub fn diff_async(
    before: Uint8Array,
    after: Uint8Array,
    flags: u32,
    context: u32,
    name_before: Option<String>,
    name_after: Option<String>,
    line_limit: u32,
    byte_limit: u32,
) -> AsyncTask<DiffTask> {
    let call = DiffCall { flags, context, name_before, name_after, line_limit, byte_limit };
    AsyncTask::new(DiffTask { before, after, call })
}

#[napi]
pub fn diff_parts(before: String, after: String, chars: bool) -> napi::Result<PackedResult> {
    guard(|| Ok(parts_packed(&before, &after, chars))).map(PackedResult::from)
}
