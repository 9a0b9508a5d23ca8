//! Reports the outcome of each edit of a call in which one was refused.
//!
//! All edits are applied or none. To save the caller one attempt per mistake, the edits after the
//! refused one are tried as well, as if the refused one did not exist.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::edit::applying::content::EditContent;
use crate::edit::applying::offsets::LineOffsets;
use crate::edit::budget::WorkBudget;
use crate::edit::{Applied, AppliedEdit, Edit, EditOptions, apply_edit};
use crate::error::Error;

/// The maximum number of edits that are reported; the outcomes of later ones are left out.
const MAX_REPORTED_EDITS: usize = 20;

/// The edits of a call with the text after those that were applied before one was refused.
pub(in crate::edit) struct EditOutcomes<'v, 'c> {
    pub content: EditContent<'c>,
    /// The text before the first edit.
    pub original: Cow<'c, [u8]>,
    pub shifts: LineOffsets,
    pub edits: &'v [Edit],
    pub options: &'v EditOptions,
    pub work: &'v WorkBudget,
}

impl EditOutcomes<'_, '_> {
    /// Adds the outcome of every edit to the error of the refused one, as the detail `edits`. Does
    /// nothing for a single edit.
    pub(in crate::edit) fn add_to_error(mut self, error: Error, applied: &[Applied]) -> Error {
        if self.edits.len() < 2 {
            return error;
        }
        let mut told: Vec<Value> =
            applied.iter().take(MAX_REPORTED_EDITS).map(applied_outcome_json).collect();
        let refused = applied.len();
        if told.len() < MAX_REPORTED_EDITS {
            told.push(refused_outcome_json(&error));
        }
        for (index, edit) in
            self.edits.iter().enumerate().take(MAX_REPORTED_EDITS).skip(refused + 1)
        {
            if self.work.is_spent() {
                break;
            }
            let place = (index, self.edits.len());
            let Self { content, original, shifts, options, work, .. } = &mut self;
            told.push(match apply_edit(content, original, shifts, edit, options, place, work) {
                Ok(AppliedEdit { facts, .. }) => applied_outcome_json(&facts),
                Err(error) => refused_outcome_json(&error),
            });
        }
        for (index, verdict) in told.iter_mut().enumerate() {
            if let Value::Object(verdict) = verdict {
                verdict.insert("index".into(), index.into());
            }
        }
        error.detail("edits", told)
    }
}

fn applied_outcome_json(facts: &Applied) -> Value {
    json!({ "ok": true, "tier": facts.tier.as_str(), "start_line": facts.start_line, "end_line": facts.end_line })
}

/// The outcome of a refused edit: code and reason.
fn refused_outcome_json(error: &Error) -> Value {
    let mut verdict = Map::new();
    verdict.insert("ok".into(), false.into());
    verdict.insert("code".into(), error.code.as_str().into());
    if let Some(reason) = error.details.get("reason") {
        verdict.insert("reason".into(), reason.clone());
    }
    Value::Object(verdict)
}
