//! A merge as it crosses to JavaScript.

use super::{MergeOptions, Style, merge3};
use crate::pack::Packed;

/// What a binding hands over besides the three texts.
#[derive(Clone, Debug, Default)]
pub struct MergeCall {
    /// The style (0 merge, 1 diff3, 2 zdiff3), plus 4 to take changes of
    /// neighbouring lines.
    pub flags: u32,
    /// Names for ours, base and theirs; missing ones are empty.
    pub labels: Vec<String>,
}

/// [`merge3`], with its conflicts packed: their number, and for each the ranges
/// of base, ours, theirs and the merged text.
pub fn merge3_packed(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
    call: &MergeCall,
) -> (Vec<u8>, Packed) {
    let style = match call.flags & 3 {
        1 => Style::Diff3,
        2 => Style::Zdiff3,
        _ => Style::Merge,
    };
    let label = |at: usize| call.labels.get(at).cloned().unwrap_or_default();
    let labels = [label(0), label(1), label(2)];
    let options = MergeOptions { style, adjacent: call.flags & 4 != 0, labels };
    let merged = merge3(base, ours, theirs, &options);
    let mut packed = Packed::new();
    packed.num(merged.conflicts.len() as u64);
    for conflict in &merged.conflicts {
        for range in [&conflict.base, &conflict.ours, &conflict.theirs, &conflict.merged] {
            packed.num(u64::from(range.start));
            packed.num(u64::from(range.end));
        }
    }
    (merged.bytes, packed)
}
