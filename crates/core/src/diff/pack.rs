//! A diff as it crosses to JavaScript.

use std::borrow::Cow;

use super::unified::{Format, Header, Limits, LineEndings, Unified, diff};
use super::{Algorithm, Options};
use crate::error::{Code, Error, Result};
use crate::pack::Packed;
use crate::path::decode_name;

/// What a binding hands over besides the two texts.
#[derive(Clone, Debug, Default)]
pub struct DiffCall {
    /// The algorithm (0 histogram, 1 Myers, 2 minimal), plus 4 to ignore white
    /// space, 8 to print line ends as they are, 16 where there is no old file
    /// and 32 where there is no new one.
    pub flags: u32,
    /// Unchanged lines around each change.
    pub context: u32,
    /// The name in the `---` line in the `encode_name` form, without `a/`;
    /// `None` for `file`.
    pub name_before: Option<String>,
    /// The name in the `+++` line, likewise; `None` for the same name.
    pub name_after: Option<String>,
    /// Code points of a line for display; 0 for no limit.
    pub line_limit: u32,
    /// Bytes of the text for display; 0 for no limit.
    pub byte_limit: u32,
}

/// Compares two texts as a binding's arguments say.
///
/// # Errors
/// `INVALID_ARGUMENT` for an unknown algorithm.
pub fn diff_called(before: &[u8], after: &[u8], call: &DiffCall) -> Result<Unified> {
    let options =
        Options { algorithm: algorithm(call.flags & 3)?, ignore_whitespace: call.flags & 4 != 0 };
    let name_before =
        call.name_before.as_deref().map_or(Cow::Borrowed("file".as_bytes()), decode_name);
    let name_after = call.name_after.as_deref().map_or(Cow::Borrowed(&*name_before), decode_name);
    let format = Format {
        header: Header { before: Some(&name_before), after: Some(&name_after) },
        context: call.context,
        line_ends: if call.flags & 8 != 0 { LineEndings::Raw } else { LineEndings::Shown },
        limits: Limits { line: call.line_limit as usize, bytes: call.byte_limit as usize },
    };
    let before = (call.flags & 16 == 0).then_some(before);
    let after = (call.flags & 32 == 0).then_some(after);
    Ok(diff(before, after, &options, &format))
}

/// [`diff_called`], packed: truncated, added, removed, the text.
///
/// # Errors
/// As [`diff_called`].
pub fn diff_packed(before: &[u8], after: &[u8], call: &DiffCall) -> Result<Packed> {
    let mut packed = Packed::new();
    append(&mut packed, &diff_called(before, after, call)?);
    Ok(packed)
}

/// Appends a printed diff to a packed result, in the order told at
/// [`diff_packed`].
pub(crate) fn append(packed: &mut Packed, unified: &Unified) {
    for number in unified.totals() {
        packed.num(number.into());
    }
    packed.str(&unified.text);
}

fn algorithm(number: u32) -> Result<Algorithm> {
    match number {
        0 => Ok(Algorithm::Histogram),
        1 => Ok(Algorithm::Myers),
        2 => Ok(Algorithm::Minimal),
        _ => Err(Error::new(Code::InvalidArgument, "unknown diff algorithm")
            .hint("use histogram, myers or minimal")
            .detail("argument", "algorithm")),
    }
}
