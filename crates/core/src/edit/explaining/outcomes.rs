//! Reports the outcome of each edit in a list that contains a refused one.
//!
//! All edits are applied or none. To save the caller one attempt per mistake, the edits after the
//! refused one are tried as well, as if the refused one did not exist.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::edit::applying::content::EditContent;
use crate::edit::applying::offsets::LineOffsets;
use crate::edit::budget::WorkBudget;
use crate::edit::{Applied, AppliedEdit, Edit, EditOptions, apply};
use crate::error::Error;

/// The maximum number of edits that are reported.
const MAX_REPORTED: usize = 20;

/// A list of edits and the text after the applied ones.
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
    /// Adds the outcome of every edit to the error of the refused one.
    pub(in crate::edit) fn added_to(mut self, error: Error, applied: &[Applied]) -> Error {
        if self.edits.len() < 2 {
            return error;
        }
        let mut told: Vec<Value> = applied.iter().take(MAX_REPORTED).map(made).collect();
        let refused = applied.len();
        if told.len() < MAX_REPORTED {
            told.push(not_made(&error));
        }
        for (index, edit) in self.edits.iter().enumerate().take(MAX_REPORTED).skip(refused + 1) {
            if self.work.is_spent() {
                break;
            }
            let place = (index, self.edits.len());
            let Self { content, original, shifts, options, work, .. } = &mut self;
            told.push(match apply(content, original, shifts, edit, options, place, work) {
                Ok(AppliedEdit { facts, .. }) => made(&facts),
                Err(error) => not_made(&error),
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

fn made(facts: &Applied) -> Value {
    json!({ "ok": true, "tier": facts.tier.as_str(), "start_line": facts.start_line, "end_line": facts.end_line })
}

fn not_made(error: &Error) -> Value {
    let mut verdict = Map::new();
    verdict.insert("ok".into(), false.into());
    verdict.insert("code".into(), error.code.as_str().into());
    if let Some(reason) = error.details.get("reason") {
        verdict.insert("reason".into(), reason.clone());
    }
    Value::Object(verdict)
}
