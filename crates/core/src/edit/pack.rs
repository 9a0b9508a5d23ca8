//! Decodes edits from JavaScript and encodes plans for JavaScript.
//!
//! The edits cross as one JSON text, because they are small, and because unpaired surrogates arrive
//! as escapes that the parser refuses, not as replacement characters.

use serde_json::{Map, Value};

use super::{Anchor, Anchors, Edit, EditOptions, Insert, OnMultiple, Strictness, plan};
use crate::diff::{DisplayLimits, append};
use crate::encoding::Encoding;
use crate::error::{Code, Error, Result};
use crate::pack::Packed;
use crate::wire::Wire;

/// An encoded plan: the new text and the facts about it.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The complete new text.
    pub bytes: Vec<u8>,
    /// A lower bound of the number of unchanged bytes at the beginning.
    pub head: usize,
    /// The data described at [`plan_packed`].
    pub facts: Packed,
}

/// Plans edits given as JSON (`{edits: [{old | from, to?, insert?, new,
/// replaceAll?, expected?, nearLine?}], match?, onMultiple?, label?, encoding?,
/// threshold?, lineLimit?, byteLimit?}`). Gives
/// the new text and, packed: replacements, what each edit did, then the diff.
///
/// # Errors
/// As [`plan`]; `INVALID_ARGUMENT` where the JSON is not of this form.
pub fn plan_packed(text: &[u8], call: &str) -> Result<Planned> {
    let (edits, options) = parse(call)?;
    let plan = plan(text, &edits, &options)?;
    let mut packed = Packed::new();
    packed.num(plan.replacements);
    plan.edits.put(&mut packed);
    append(&mut packed, &plan.diff);
    Ok(Planned { bytes: plan.bytes, head: plan.head, facts: packed })
}

fn parse(call: &str) -> Result<(Vec<Edit>, EditOptions)> {
    let value: Value = serde_json::from_str(call)
        .map_err(|error| invalid("edits", format!("the edits are not valid text: {error}")))?;
    let Value::Object(call) = value else {
        return Err(invalid("edits", "the edits are not an object"));
    };
    let edits = match call.get("edits") {
        Some(Value::Array(edits)) => edits.iter().map(edit).collect::<Result<Vec<_>>>()?,
        _ => return Err(invalid("edits", "edits must be a list")),
    };
    let strictness = match string(&call, "match")?.as_deref() {
        None | Some("whitespace") => Strictness::Whitespace,
        Some("exact") => Strictness::Exact,
        Some("fuzzy") => Strictness::Fuzzy,
        Some(_) => return Err(invalid("match", "match must be exact, whitespace or fuzzy")),
    };
    let on_multiple = match string(&call, "onMultiple")?.as_deref() {
        None | Some("error") => OnMultiple::Error,
        Some("first") => OnMultiple::First,
        Some(_) => return Err(invalid("on_multiple", "on_multiple must be error or first")),
    };
    let limit = |key| Ok::<_, Error>(number(&call, key)?.unwrap_or(0) as usize);
    let limits = DisplayLimits { line: limit("lineLimit")?, bytes: limit("byteLimit")? };
    let label = string(&call, "label")?.unwrap_or_else(|| "file".to_owned());
    let encoding = match string(&call, "encoding")? {
        Some(label) => Encoding::for_label(&label)?,
        None => Encoding::UTF_8,
    };
    let threshold = match call.get("threshold") {
        None | Some(Value::Null) => 0.0,
        Some(value) => value
            .as_f64()
            .filter(|share| (0.0..=1.0).contains(share))
            .ok_or_else(|| invalid("threshold", "threshold must be a number from 0 to 1"))?,
    };
    Ok((edits, EditOptions { strictness, on_multiple, label, encoding, limits, threshold }))
}

fn edit(value: &Value) -> Result<Edit> {
    let Value::Object(edit) = value else {
        return Err(invalid("edits", "an edit is not an object"));
    };
    let anchors = anchors(edit)?;
    let old = string(edit, "old")?;
    if old.is_some() && anchors.is_some() {
        return Err(invalid("from", "give old_text or from, not both"));
    }
    if old.is_none() && anchors.is_none() {
        return Err(invalid("old_text", "old_text is missing"));
    }
    Ok(Edit {
        old: old.unwrap_or_default(),
        anchors,
        new: string(edit, "new")?.unwrap_or_default(),
        replace_all: matches!(edit.get("replaceAll"), Some(Value::Bool(true))),
        expected: number(edit, "expected")?,
        near_line: number(edit, "nearLine")?,
    })
}

fn anchors(edit: &Map<String, Value>) -> Result<Option<Anchors>> {
    let (from, to) = (string(edit, "from")?, string(edit, "to")?);
    let insert = match string(edit, "insert")?.as_deref() {
        None => None,
        Some("before") => Some(Insert::Before),
        Some("after") => Some(Insert::After),
        Some(_) => return Err(invalid("insert", "insert must be before or after")),
    };
    let Some(from) = from else {
        return match (to, insert) {
            (None, None) => Ok(None),
            (Some(_), _) => Err(invalid("to", "to needs from")),
            (None, Some(_)) => {
                Err(invalid("insert", "insert needs from, the line to insert beside"))
            }
        };
    };
    if insert.is_some() && to.is_some() {
        return Err(invalid("to", "insert takes from alone"));
    }
    let from = Anchor::parse("from", &from)?;
    let to = to.map(|to| Anchor::parse("to", &to)).transpose()?.unwrap_or(from);
    let unchanged = matches!(edit.get("unchanged"), Some(Value::Bool(true)));
    Ok(Some(Anchors { from, to, insert, unchanged }))
}

fn string(object: &Map<String, Value>, key: &str) -> Result<Option<String>> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(invalid(key, format!("{key} must be text"))),
    }
}

fn number(object: &Map<String, Value>, key: &str) -> Result<Option<u64>> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value
            .as_u64()
            .map(Some)
            .ok_or_else(|| invalid(key, format!("{key} must be a whole number of at least 0"))),
    }
}

fn invalid(argument: &str, message: impl Into<String>) -> Error {
    Error::new(Code::InvalidArgument, message).detail("argument", argument)
}

#[cfg(test)]
mod tests;
