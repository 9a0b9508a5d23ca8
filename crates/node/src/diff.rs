//! Bindings for line diffs.

use filewright_core::diff::words::compare_tokens_packed;
use filewright_core::diff::{DiffCall, diff_called, diff_packed};
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::convert::{PackedResult, Text, guard};
use crate::task::Promise;

/// An alias, because napi would treat a literal `&mut` type as a class.
type Totals<'a> = &'a mut [u32];

/// Returns the text of a line diff. Writes its numbers into `totals`, which the caller reuses,
/// because allocating an object for them would take a good part of the time of a small diff.
#[napi(ts_return_type = "string")]
#[allow(clippy::too_many_arguments)] // an options object costs more than the diff
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
    let call = DiffCall { flags, context, name_before, name_after, line_limit, byte_limit };
    let made = guard(|| diff_called(before, after, &call))?;
    for (place, number) in totals.iter_mut().zip(made.totals()) {
        *place = number;
    }
    Ok(made.text.into())
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
) -> Promise<PackedResult> {
    let call = DiffCall { flags, context, name_before, name_after, line_limit, byte_limit };
    Promise::on_node_thread(move || diff_packed(&before, &after, &call))
}

#[napi]
pub fn diff_parts(before: String, after: String, chars: bool) -> napi::Result<PackedResult> {
    guard(|| Ok(compare_tokens_packed(&before, &after, chars))).map(PackedResult::from)
}
