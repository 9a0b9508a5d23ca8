//! Encodes a merge for JavaScript.

use super::{ConflictStyle, MergeOptions, merge3};
use crate::pack::Packed;

/// The arguments that a binding passes besides the three texts.
#[derive(Clone, Debug, Default)]
pub struct MergeCall {
    /// The style of conflict markers (0 merge, 1 diff3, 2 zdiff3), plus 4 to apply changes of
    /// adjacent lines from both sides.
    pub flags: u32,
    /// The labels for ours, base and theirs; missing ones are empty.
    pub labels: Vec<String>,
}

/// Does the same as [`merge3`]. Returns the merged text and the encoded conflicts: their number,
/// and for each the ranges of lines (0-based start and end) of base, ours, theirs and the merged
/// text.
pub fn merge3_packed(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
    call: &MergeCall,
) -> (Vec<u8>, Packed) {
    let style = match call.flags & 3 {
        1 => ConflictStyle::Diff3,
        2 => ConflictStyle::Zdiff3,
        _ => ConflictStyle::Merge,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(base: &str, ours: &str, theirs: &str, flags: u32) -> (String, Vec<f64>) {
        let labels = vec!["mine".into(), "base".into()];
        let call = MergeCall { flags, labels };
        let (bytes, packed) =
            merge3_packed(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), &call);
        (String::from_utf8(bytes).unwrap(), packed.nums)
    }

    #[test]
    fn styles_and_labels() {
        let (base, ours, theirs) = ("a\nb\n", "a\nx\n", "a\ny\n");
        for (flags, text) in [
            (0, "a\n<<<<<<< mine\nx\n=======\ny\n>>>>>>>"),
            (1, "a\n<<<<<<< mine\nx\n||||||| base\nb\n=======\ny\n>>>>>>>"),
            (2, "a\n<<<<<<< mine\nx\n||||||| base\nb\n=======\ny\n>>>>>>>"),
        ] {
            let (merged, nums) = merged(base, ours, theirs, flags);
            assert!(merged.starts_with(text), "{flags}: {merged}");
            // One conflict: ranges of base, ours and theirs, then of the merged text.
            assert_eq!(nums[..7], [1., 1., 2., 1., 2., 1., 2.], "{flags}");
            assert_eq!(nums.len(), 9);
        }
    }

    #[test]
    fn adjacent_changes_are_taken_if_requested() {
        let (base, ours, theirs) = ("a\nb\n", "x\nb\n", "a\ny\n");
        assert_eq!(merged(base, ours, theirs, 0).1[0], 1.0);
        assert_eq!(merged(base, ours, theirs, 4), ("x\ny\n".to_owned(), vec![0.0]));
    }
}
