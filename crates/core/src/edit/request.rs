//! Parses the edits of a call.
//!
//! They cross as one JSON text, because they are small. In JSON, unpaired surrogates are
//! escapes that the parser refuses; as plain strings they would arrive as replacement characters.

use serde_json::{Map, Value};

use super::{Anchor, AnchoredLines, Edit, EditOptions, InsertSide, OnMultiple, Strictness};
use crate::diff::DisplayLimits;
use crate::encoding::Encoding;
use crate::error::{Code, Error, Result};

/// The edits of a call, with its options.
#[derive(Clone, Debug)]
pub struct EditRequest {
    /// The edits, in the order in which they are applied.
    pub edits: Vec<Edit>,
    /// How they are applied.
    pub options: EditOptions,
}

impl EditRequest {
    /// Parses `{edits: [{old | from, to?, insert?, new, replaceAll?, expected?, nearLine?}],
    /// match?, onMultiple?, label?, encoding?, threshold?, lineLimit?, byteLimit?}`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` naming the argument.
    pub fn from_json(call: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(call).map_err(|error| {
            invalid_argument("edits", format!("the edits are not valid text: {error}"))
        })?;
        let Value::Object(call) = value else {
            return Err(invalid_argument("edits", "the edits are not an object"));
        };
        let edits = match call.get("edits") {
            Some(Value::Array(edits)) => {
                edits.iter().map(parse_edit).collect::<Result<Vec<_>>>()?
            }
            _ => return Err(invalid_argument("edits", "edits must be a list")),
        };
        let strictness = match string_field(&call, "match")?.as_deref() {
            None | Some("whitespace") => Strictness::Whitespace,
            Some("exact") => Strictness::Exact,
            Some("fuzzy") => Strictness::Fuzzy,
            Some(_) => {
                return Err(invalid_argument("match", "match must be exact, whitespace or fuzzy"));
            }
        };
        let on_multiple = match string_field(&call, "onMultiple")?.as_deref() {
            None | Some("error") => OnMultiple::Error,
            Some("first") => OnMultiple::First,
            Some(_) => {
                return Err(invalid_argument("on_multiple", "on_multiple must be error or first"));
            }
        };
        let limit = |key| Ok::<_, Error>(number_field(&call, key)?.unwrap_or(0) as usize);
        let limits = DisplayLimits { line: limit("lineLimit")?, bytes: limit("byteLimit")? };
        let label = string_field(&call, "label")?.unwrap_or_else(|| "file".to_owned());
        let encoding = match string_field(&call, "encoding")? {
            Some(label) => Encoding::for_label(&label)?,
            None => Encoding::UTF_8,
        };
        let threshold = match call.get("threshold") {
            None | Some(Value::Null) => 0.0,
            Some(value) => {
                value.as_f64().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| {
                    invalid_argument("threshold", "threshold must be a number from 0 to 1")
                })?
            }
        };
        let options = EditOptions { strictness, on_multiple, label, encoding, limits, threshold };
        Ok(Self { edits, options })
    }
}

fn parse_edit(value: &Value) -> Result<Edit> {
    let Value::Object(edit) = value else {
        return Err(invalid_argument("edits", "an edit is not an object"));
    };
    let anchors = parse_anchors(edit)?;
    let old = string_field(edit, "old")?;
    if old.is_some() && anchors.is_some() {
        return Err(invalid_argument("from", "give old_text or from, not both"));
    }
    if old.is_none() && anchors.is_none() {
        return Err(invalid_argument("old_text", "old_text is missing"));
    }
    Ok(Edit {
        old: old.unwrap_or_default(),
        anchors,
        new: string_field(edit, "new")?.unwrap_or_default(),
        replace_all: matches!(edit.get("replaceAll"), Some(Value::Bool(true))),
        expected: number_field(edit, "expected")?,
        near_line: number_field(edit, "nearLine")?,
    })
}

fn parse_anchors(edit: &Map<String, Value>) -> Result<Option<AnchoredLines>> {
    let (from, to) = (string_field(edit, "from")?, string_field(edit, "to")?);
    let insert = match string_field(edit, "insert")?.as_deref() {
        None => None,
        Some("before") => Some(InsertSide::Before),
        Some("after") => Some(InsertSide::After),
        Some(_) => return Err(invalid_argument("insert", "insert must be before or after")),
    };
    let Some(from) = from else {
        return match (to, insert) {
            (None, None) => Ok(None),
            (Some(_), _) => Err(invalid_argument("to", "to needs from")),
            (None, Some(_)) => {
                Err(invalid_argument("insert", "insert needs from, the line to insert beside"))
            }
        };
    };
    if insert.is_some() && to.is_some() {
        return Err(invalid_argument("to", "insert takes from alone"));
    }
    let from = Anchor::parse("from", &from)?;
    let to = to.map(|to| Anchor::parse("to", &to)).transpose()?.unwrap_or(from);
    let unchanged = matches!(edit.get("unchanged"), Some(Value::Bool(true)));
    Ok(Some(AnchoredLines { from, to, insert, unchanged }))
}

fn string_field(object: &Map<String, Value>, key: &str) -> Result<Option<String>> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(invalid_argument(key, format!("{key} must be text"))),
    }
}

fn number_field(object: &Map<String, Value>, key: &str) -> Result<Option<u64>> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_u64().map(Some).ok_or_else(|| {
            invalid_argument(key, format!("{key} must be a whole number of at least 0"))
        }),
    }
}

fn invalid_argument(argument: &str, message: impl Into<String>) -> Error {
    Error::new(Code::InvalidArgument, message).detail("argument", argument)
}

#[cfg(test)]
mod tests;
