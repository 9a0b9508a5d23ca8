//! Three-way merge of two texts with a common base.
//!
//! A change of one side is applied, an equal change of both sides is applied once, and different
//! changes of the same lines are a conflict: the result lists its lines, and the merged text has
//! both versions between git's conflict markers. Lines are compared without their line endings, so
//! that a side that only converted line endings causes no conflict.

mod output;
mod regions;

use std::ops::Range;

use crate::diff::{self, Change, DiffOptions, split_lines};
use output::{MergeOutput, converted_line_ending};
use regions::{ChangeTrack, ChangedRegion, next_region};

/// The style of conflict markers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConflictStyle {
    /// A conflict shows the lines of ours and of theirs, as git's `merge`.
    #[default]
    Merge,
    /// A conflict shows the lines of ours, base and theirs, as git's `diff3`.
    Diff3,
    /// A conflict is shown as with [`ConflictStyle::Diff3`], without the lines that ours and theirs
    /// have in common at its beginning and end.
    Zdiff3,
}

/// Controls how texts are merged.
#[derive(Clone, Debug, Default)]
pub struct MergeOptions {
    /// The style of conflict markers.
    pub style: ConflictStyle,
    /// True if changes of adjacent lines are both applied; git reports them as a conflict.
    pub adjacent: bool,
    /// The labels for ours, base and theirs that follow their markers; none if empty.
    pub labels: [String; 3],
}

impl MergeOptions {
    /// Returns the options for the arguments of a binding. `flags` is the style of conflict markers
    /// (0 merge, 1 diff3, 2 zdiff3), plus 4 to apply changes of adjacent lines from both sides.
    /// `labels` are those for ours, base and theirs; missing ones are empty.
    pub fn from_flags(flags: u32, labels: &[String]) -> Self {
        let style = match flags & 3 {
            1 => ConflictStyle::Diff3,
            2 => ConflictStyle::Zdiff3,
            _ => ConflictStyle::Merge,
        };
        let labels = [0, 1, 2].map(|at| labels.get(at).cloned().unwrap_or_default());
        Self { style, adjacent: flags & 4 != 0, labels }
    }
}

crate::wire! {
    /// A half-open range of lines, counted from 0.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LineRange {
        /// The first line.
        pub start: u32,
        /// The line after the last.
        pub end: u32,
    }
}

impl From<Range<u32>> for LineRange {
    fn from(Range { start, end }: Range<u32>) -> Self {
        Self { start, end }
    }
}

crate::wire! {
    /// A conflict: lines that both sides changed in different ways.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct MergeConflict {
        /// Lines of the base.
        pub base: LineRange,
        /// Lines of ours.
        pub ours: LineRange,
        /// Lines of theirs.
        pub theirs: LineRange,
        /// Lines of the merged text, including the markers.
        pub merged: LineRange,
    }
}

/// A merged text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergedText {
    /// The text, with markers at the conflicts.
    pub bytes: Vec<u8>,
    /// The conflicts, in order.
    pub conflicts: Vec<MergeConflict>,
}

/// Merges two texts that were both made from `base`.
pub fn merge3(base: &[u8], ours: &[u8], theirs: &[u8], options: &MergeOptions) -> MergedText {
    let sides = ThreeTexts {
        base: split_lines(base),
        ours: split_lines(ours),
        theirs: split_lines(theirs),
    };
    let own = changes_ignoring_line_ends(&sides.base, &sides.ours);
    let other = changes_ignoring_line_ends(&sides.base, &sides.theirs);
    let converted_line_ending = converted_line_ending(&sides);
    let merged = MergedText::default();
    let mut out = MergeOutput { sides: &sides, options, converted_line_ending, merged, lines: 0 };
    let (mut own, mut other) = (ChangeTrack::new(&own), ChangeTrack::new(&other));
    let mut next = 0;
    while let Some(region) = next_region(&mut own, &mut other, options.adjacent) {
        out.write_common(next..region.base.start, &region);
        out.write_region(&region);
        next = region.base.end;
    }
    let rest = ChangedRegion::after(&own, &other, sides.base.len() as u32);
    out.write_common(next..sides.base.len() as u32, &rest);
    out.merged
}

/// Returns the changes from one list of lines to another, ignoring line endings.
fn changes_ignoring_line_ends(before: &[&[u8]], after: &[&[u8]]) -> Vec<Change> {
    let plain = |lines: &[&[u8]]| -> Vec<u8> {
        lines.iter().flat_map(|line| [without_line_ending(line), b"\n"].concat()).collect()
    };
    let (before, after) = (plain(before), plain(after));
    diff::compare(&before, &after, 0, &DiffOptions::default()).changes
}

fn without_line_ending(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
/// The lines of the three texts, with their line endings.
struct ThreeTexts<'a> {
    base: Vec<&'a [u8]>,
    ours: Vec<&'a [u8]>,
    theirs: Vec<&'a [u8]>,
}

#[cfg(test)]
mod tests {
    use super::{ConflictStyle, MergeOptions, merge3};
    use crate::wire::Wire;
    use proptest::prelude::*;

    fn run(base: &str, ours: &str, theirs: &str, options: &MergeOptions) -> (String, usize) {
        let merged = merge3(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), options);
        (String::from_utf8(merged.bytes).unwrap(), merged.conflicts.len())
    }

    #[test]
    fn merges_read_as_gits() {
        let plain = MergeOptions::default();
        let conflict = "a\n<<<<<<<\nx\n=======\ny\n>>>>>>>\nc\n";
        for (name, base, ours, theirs, merged, conflicts) in [
            ("one side", "a\nb\nc\n", "a\nB\nc\n", "a\nb\nc\n", "a\nB\nc\n", 0),
            ("far apart", "a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n", "A\nb\nc\nD\n", 0),
            ("both alike", "a\nb\n", "a\nx\nb\n", "a\nx\nb\n", "a\nx\nb\n", 0),
            ("both differently", "a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n", conflict, 1),
            (
                "neighbours",
                "a\nb\n",
                "A\nb\n",
                "a\nB\n",
                "<<<<<<<\nA\nb\n=======\na\nB\n>>>>>>>\n",
                1,
            ),
            (
                "delete against edit",
                "a\nb\nc\n",
                "a\nc\n",
                "a\nB\nc\n",
                "a\n<<<<<<<\n=======\nB\n>>>>>>>\nc\n",
                1,
            ),
            (
                "converted line ends",
                "a\nb\nc\n",
                "a\r\nb\r\nc\r\n",
                "a\nB\nc\n",
                "a\r\nB\r\nc\r\n",
                0,
            ),
            ("converted by them", "a\nb\nc\n", "a\nB\nc\n", "a\r\nb\r\nc\r\n", "a\r\nB\nc\r\n", 0),
            ("no newline", "a\nb", "a\nb", "a\nB", "a\nB", 0),
            ("emptied by both", "a\n", "", "", "", 0),
        ] {
            assert_eq!(run(base, ours, theirs, &plain), (merged.to_owned(), conflicts), "{name}");
        }
    }

    #[test]
    fn styles_and_labels() {
        let labels = ["ours".to_owned(), "base".to_owned(), "theirs".to_owned()];
        let with = |style, adjacent| MergeOptions { style, adjacent, labels: labels.clone() };
        let (base, ours, theirs) = ("a\nb\nc\n", "a\n1\nx\nc\n", "a\n1\ny\nc\n");
        let (diff3, _) = run(base, ours, theirs, &with(ConflictStyle::Diff3, false));
        assert_eq!(
            diff3,
            "a\n<<<<<<< ours\n1\nx\n||||||| base\nb\n=======\n1\ny\n>>>>>>> theirs\nc\n"
        );
        let (zdiff3, _) = run(base, ours, theirs, &with(ConflictStyle::Zdiff3, false));
        assert_eq!(
            zdiff3,
            "a\n1\n<<<<<<< ours\nx\n||||||| base\nb\n=======\ny\n>>>>>>> theirs\nc\n"
        );
        let adjacent = run("a\nb\n", "A\nb\n", "a\nB\n", &with(ConflictStyle::Merge, true));
        assert_eq!(adjacent, ("A\nB\n".to_owned(), 0));
    }

    #[test]
    fn flags_choose_style_and_adjacent_changes() {
        let labels = ["mine".to_owned(), "base".to_owned()];
        let with = |flags| MergeOptions::from_flags(flags, &labels);
        let (base, ours, theirs) = ("a\nb\n", "a\nx\n", "a\ny\n");
        let diff3 = "a\n<<<<<<< mine\nx\n||||||| base\nb\n=======\ny\n>>>>>>>";
        for (flags, text) in
            [(0, "a\n<<<<<<< mine\nx\n=======\ny\n>>>>>>>"), (1, diff3), (2, diff3)]
        {
            let (merged, _) = run(base, ours, theirs, &with(flags));
            assert!(merged.starts_with(text), "{flags}: {merged}");
        }
        let neighbours = |flags| run("a\nb\n", "x\nb\n", "a\ny\n", &with(flags));
        assert_eq!(neighbours(0).1, 1);
        assert_eq!(neighbours(4), ("x\ny\n".to_owned(), 0));
    }

    #[test]
    fn conflicts_cross_as_their_ranges() {
        let merged = merge3(b"a\nb\n", b"a\nx\n", b"a\ny\n", &MergeOptions::default());
        // One conflict: ranges of base, ours and theirs, then of the merged text.
        assert_eq!(merged.conflicts.packed().nums, [1., 1., 2., 1., 2., 1., 2., 1., 6.]);
    }

    fn texts() -> impl Strategy<Value = String> {
        proptest::collection::vec("[abc]\n", 0..12).prop_map(|lines| lines.concat())
    }

    proptest! {
        #[test]
        fn a_change_of_one_side_is_the_result(base in texts(), other in texts()) {
            let plain = MergeOptions::default();
            prop_assert_eq!(run(&base, &other, &base, &plain), (other.clone(), 0));
            prop_assert_eq!(run(&base, &base, &other, &plain), (other.clone(), 0));
            prop_assert_eq!(run(&base, &other, &other, &plain), (other, 0));
        }

        #[test]
        fn any_texts_merge(
            base in "[ab\\n\\r]{0,20}", ours in "[ab\\n\\r]{0,20}", theirs in "[ab\\n\\r]{0,20}", adjacent: bool,
        ) {
            let options = MergeOptions { adjacent, ..MergeOptions::default() };
            let _ = merge3(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), &options);
        }
    }
}
