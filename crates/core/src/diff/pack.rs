//! A diff as it crosses to JavaScript.

use super::unified::{Format, Header, Limits, LineEndings, Unified, diff};
use super::{Algorithm, Options};
use crate::error::{Code, Error, Result};
use crate::pack::{Packed, utf16_len};
use crate::path::decode_name;

/// What a binding hands over besides the two texts.
#[derive(Clone, Debug, Default)]
pub struct DiffCall {
    /// The algorithm (0 histogram, 1 Myers, 2 minimal), plus 4 to ignore white
    /// space, plus 8 to print line ends as they are.
    pub flags: u32,
    /// Unchanged lines around each change.
    pub context: u32,
    /// The name in the `---` line in the `encode_name` form, without `a/`;
    /// `None` for an absent file.
    pub name_before: Option<String>,
    /// The name in the `+++` line, likewise.
    pub name_after: Option<String>,
    /// Code points of a line for display; 0 for no limit.
    pub line_limit: u32,
    /// Bytes of the text for display; 0 for no limit.
    pub byte_limit: u32,
}

/// Compares two texts and packs [`Unified`]: identical, truncated, added,
/// removed, the number of hunks, and for each hunk `old_start`, `old_lines`,
/// `new_start`, `new_lines` and the UTF-16 range of its lines in the text; then
/// the text.
///
/// # Errors
/// `INVALID_ARGUMENT` for an unknown algorithm.
pub fn diff_packed(before: &[u8], after: &[u8], call: &DiffCall) -> Result<Packed> {
    let options =
        Options { algorithm: algorithm(call.flags & 3)?, ignore_whitespace: call.flags & 4 != 0 };
    let name_before = call.name_before.as_deref().map(decode_name);
    let name_after = call.name_after.as_deref().map(decode_name);
    let format = Format {
        header: Header { before: name_before.as_deref(), after: name_after.as_deref() },
        context: call.context,
        line_ends: if call.flags & 8 != 0 { LineEndings::Raw } else { LineEndings::Shown },
        limits: Limits { line: call.line_limit as usize, bytes: call.byte_limit as usize },
    };
    let before = name_before.as_ref().map(|_| before);
    let after = name_after.as_ref().map(|_| after);
    let mut packed = Packed::new();
    append(&mut packed, &diff(before, after, &options, &format));
    Ok(packed)
}

/// Appends a printed diff to a packed result, in the order told at
/// [`diff_packed`].
pub(crate) fn append(packed: &mut Packed, unified: &Unified) {
    packed.nums.reserve_exact(6 + 6 * unified.hunks.len());
    packed.flag(unified.identical);
    packed.flag(unified.truncated);
    packed.num(unified.added);
    packed.num(unified.removed);
    packed.num(unified.hunks.len() as u64);
    let mut at = 0;
    let mut units = 0;
    let mut advance = |to: usize| {
        units += utf16_len(&unified.text[at..to]);
        at = to;
        units as u64
    };
    for hunk in &unified.hunks {
        for number in [hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines] {
            packed.num(u64::from(number));
        }
        packed.num(advance(hunk.body.start));
        packed.num(advance(hunk.body.end));
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
