//! Functions that compare, change and hash texts in memory.

use super::{AlsoAsync, OnlyAsync};
use crate::diff::{DiffCall, words};
use crate::edit::{self, EditRequest, Plan, PlanFacts};
use crate::error::Result;
use crate::merge3::{self, MergeOptions, MergedText};
use crate::pack::Packed;
use crate::patch::compose::{LineForm, compose};
use crate::patch::{Contents, PatchRequest, PatchedFiles};
use crate::wire::Wire;

/// Returns the SHA-256 of a content.
pub fn sha256(bytes: &[u8]) -> AlsoAsync<String> {
    Ok(crate::hash::sha256(bytes))
}

/// Returns the text of a line diff. Writes its numbers into `totals`, which the caller reuses,
/// because allocating an object for them would take a good part of the time of a small diff.
#[allow(clippy::too_many_arguments)] // an options object costs more than the diff
pub fn diff(
    before: &[u8],
    after: &[u8],
    totals: &mut [u32],
    flags: u32,
    context: u32,
    name_before: Option<&str>,
    name_after: Option<&str>,
    line_limit: u32,
    byte_limit: u32,
) -> Result<String> {
    let call = DiffCall { flags, context, name_before, name_after, line_limit, byte_limit };
    let made = call.run(before, after)?;
    for (place, number) in totals.iter_mut().zip(made.totals()) {
        *place = number;
    }
    Ok(made.text)
}

/// Resolves to the numbers and the text of a line diff.
#[allow(clippy::too_many_arguments)] // as for `diff`
pub fn diff_async(
    before: &[u8],
    after: &[u8],
    flags: u32,
    context: u32,
    name_before: Option<&str>,
    name_after: Option<&str>,
    line_limit: u32,
    byte_limit: u32,
) -> OnlyAsync<Packed> {
    let call = DiffCall { flags, context, name_before, name_after, line_limit, byte_limit };
    Ok(call.run(before, after)?.packed())
}

/// Finds the hunks between two contents in an encoding. The result is a list of `HunkRange`.
pub fn hunks_between(before: &[u8], after: &[u8], encoding: &str) -> Packed {
    LineForm::of(encoding).hunks(before, after).packed()
}

/// Returns the content after some hunks of the change between two contents. `chosen` has the number
/// of each chosen hunk, the number of its chosen rows, and these rows, in ascending order; no rows
/// stand for the whole hunk.
pub fn compose_hunks(
    before: &[u8],
    after: &[u8],
    encoding: &str,
    chosen: &[u32],
) -> AlsoAsync<Vec<u8>> {
    compose(before, after, LineForm::of(encoding), chosen)
}

/// Compares two texts within their lines: by characters, or by words.
pub fn diff_parts(before: &str, after: &str, chars: bool) -> Packed {
    words::compare_tokens_packed(before, after, chars)
}

/// A new text, and the packed facts about it.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The complete new text.
    pub bytes: Vec<u8>,
    /// A lower bound of the number of unchanged bytes at the beginning.
    pub head: usize,
    /// The packed facts.
    pub facts: Packed,
}

/// Applies the edits of a call to a text. `call` is JSON. The facts are a `PlanFacts`.
pub fn plan_edits(text: &[u8], call: &str) -> AlsoAsync<Planned> {
    let EditRequest { edits, options } = EditRequest::from_json(call)?;
    let Plan { bytes, head, replacements, edits, diff } = edit::plan(text, &edits, &options)?;
    Ok(Planned { bytes, head, facts: PlanFacts { replacements, edits, diff }.packed() })
}

/// Parses a patch. Returns JSON, and `call` is JSON.
pub fn parse_patch(text: &str, call: &str) -> AlsoAsync<String> {
    PatchRequest::parse(text, call)?.to_json()
}

/// Applies a patch to files. `names` and `contents` are in the same order; `call` is JSON.
pub fn apply_patch(
    names: &[String],
    contents: Contents<'_>,
    text: &str,
    call: &str,
) -> AlsoAsync<PatchedFiles> {
    PatchRequest::parse(text, call)?.apply(names, contents)
}

/// Merges two texts that were both made from `base`. The facts are a list of `MergeConflict`.
pub fn merge3(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
    flags: u32,
    labels: &[String],
) -> AlsoAsync<Planned> {
    let options = MergeOptions::from_flags(flags, labels);
    let MergedText { bytes, conflicts } = merge3::merge3(base, ours, theirs, &options);
    Ok(Planned { bytes, head: 0, facts: conflicts.packed() })
}
