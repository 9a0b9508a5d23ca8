//! Tests the printed format with a table of cases, and the algorithms with properties.

use proptest::prelude::*;

use super::unified::{
    DiffHeader, DisplayLimits, Format, LineEndings, Unified, diff, diff_with_margins,
};
use super::{Algorithm, Change, DiffOptions, SharedMargins, compare};

fn format(context: u32) -> Format<'static> {
    Format {
        header: DiffHeader { before: Some(b"f"), after: Some(b"f") },
        context,
        line_ends: LineEndings::Shown,
        limits: DisplayLimits::default(),
    }
}

fn show(before: &str, after: &str) -> Unified {
    diff(Some(before.as_bytes()), Some(after.as_bytes()), &DiffOptions::default(), &format(3))
}

fn body(before: &str, after: &str) -> String {
    let text = show(before, after).text;
    text.strip_prefix("--- a/f\n+++ b/f\n").map(str::to_owned).unwrap_or(text)
}

#[test]
fn hunks_read_as_git_prints_them() {
    let numbered = |skip: &[u32]| {
        (1..=20).filter(|n| !skip.contains(n)).map(|n| format!("{n}\n")).collect::<String>()
    };
    for (name, before, after, shown) in [
        ("replace", "a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"),
        ("one line", "x\n", "x\ny\n", "@@ -1 +1,2 @@\n x\n+y\n"),
        ("from empty", "", "1\n2\n", "@@ -0,0 +1,2 @@\n+1\n+2\n"),
        ("to empty", "o\n", "", "@@ -1 +0,0 @@\n-o\n"),
        (
            "no newline",
            "a\nb",
            "a\nB",
            "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n",
        ),
        ("newline added", "a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"),
        ("crlf on both sides", "a\r\nb\r\n", "a\r\nB\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n"),
        ("only line ends", "a\n", "a\r\n", "@@ -1 +1 @@\n-a\n+a\r\n"),
        ("a lone CR stays", "a\rb\n", "a\rc\n", "@@ -1 +1 @@\n-a\rb\n+a\rc\n"),
        ("line separators are text", "a\u{2028}b\n", "", "@@ -1 +0,0 @@\n-a\u{2028}b\n"),
    ] {
        assert_eq!(body(before, after), shown, "{name}");
    }
    assert_eq!(
        body(&numbered(&[]), &numbered(&[1, 20])),
        "@@ -1,4 +1,3 @@\n-1\n 2\n 3\n 4\n@@ -17,4 +16,3 @@\n 17\n 18\n 19\n-20\n"
    );
}

#[test]
fn absent_is_not_empty() {
    let options = DiffOptions::default();
    let created = diff(None, Some(b""), &options, &format(3));
    assert_eq!(
        (created.is_identical(), created.text.as_str()),
        (false, "--- /dev/null\n+++ b/f\n")
    );
    let deleted = diff(Some(b"o\n"), None, &options, &format(3));
    assert_eq!(deleted.text, "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-o\n");
    assert!(diff(Some(b""), Some(b""), &options, &format(3)).is_identical());
}

#[test]
fn whitespace_can_be_ignored() {
    let options = DiffOptions { ignore_whitespace: true, ..DiffOptions::default() };
    for (before, after, identical) in [
        ("a\nb\n", "a\r\nb\r\n", true),
        ("a b\n", "ab", true),
        ("\tif x:\n", "  if x :\n", true),
        ("a\n\nb\n", "a\nb\n", false),
        ("a\n", "b\n", false),
    ] {
        let made = diff(Some(before.as_bytes()), Some(after.as_bytes()), &options, &format(3));
        assert_eq!(made.is_identical(), identical, "{before:?} {after:?}");
    }
}

#[test]
fn the_totals_count_lines() {
    assert_eq!(show("a\nb\nc\n", "a\nB\nC\nc\n").totals(), [0, 2, 1]);
}

#[test]
fn a_long_line_is_cut_around_its_difference() {
    let line = |word: &str| format!("{}{word}{}\n", "x".repeat(50_000), "y".repeat(50_000));
    let limits = DisplayLimits { line: 400, bytes: 0 };
    let format = Format { limits, ..format(3) };
    let (old, new) = (line("NEEDLE"), line("PIN"));
    let made = diff(Some(old.as_bytes()), Some(new.as_bytes()), &DiffOptions::default(), &format);
    assert!(made.truncated && made.text.len() < 1_200, "{}", made.text.len());
    assert!(made.text.contains("xNEEDLEy") && made.text.contains("xPINy"));
}

#[test]
fn a_long_line_whose_end_alone_differs_is_cut() {
    for (before, after) in [("日本\r\n", "日本\n"), ("aaaaaaaa\n", "aaaaaaaa")] {
        for line in 1..6 {
            let limits = DisplayLimits { line, bytes: 0 };
            let format = Format { limits, line_ends: LineEndings::Raw, ..format(3) };
            let made = diff(
                Some(before.as_bytes()),
                Some(after.as_bytes()),
                &DiffOptions::default(),
                &format,
            );
            assert!(made.text.contains("\n-") && made.text.contains("\n+"), "{before:?} {line}");
        }
    }
}

#[test]
fn a_long_diff_is_cut_and_says_so() {
    let text = |word: &str| (0..5_000).map(|n| format!("{word}{n}\n")).collect::<String>();
    let format = Format { limits: DisplayLimits { line: 0, bytes: 2_000 }, ..format(3) };
    let (old, new) = (text("a"), text("b"));
    let made = diff(Some(old.as_bytes()), Some(new.as_bytes()), &DiffOptions::default(), &format);
    assert_eq!((made.added, made.removed), (5_000, 5_000));
    assert!(made.truncated && made.text.len() < 2_100);
    assert!(made.text.ends_with(" more changed lines]\n"));
}

/// Texts on which an unbounded algorithm is quadratic. The test passes if it ends: without the
/// bounds it takes minutes.
#[test]
fn pathological_texts_are_bounded() {
    let unique = |word: &str| (0..3_000).map(|n| format!("{word}{n}\n")).collect::<String>();
    let every_other =
        |word: &str| (0..3_000).map(|n| format!("same {n}\n{word} {n}\n")).collect::<String>();
    let few = |seed: u64| {
        let mut state = seed;
        (0..3_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                format!("{}\n", (state >> 33) % 5)
            })
            .collect::<String>()
    };
    for (name, before, after) in [
        ("nothing in common", unique("a"), unique("b")),
        ("every other line changed", every_other("x"), every_other("y")),
        ("five distinct lines", few(1), few(2)),
        ("one line repeated", "a\n".repeat(8_000), format!("{}b\n", "a\n".repeat(7_900))),
    ] {
        for algorithm in [Algorithm::Histogram, Algorithm::Myers, Algorithm::Minimal] {
            let options = DiffOptions { algorithm, ignore_whitespace: false };
            let made = compare(before.as_bytes(), after.as_bytes(), 3, &options);
            assert_eq!(rebuilt(&before, &after, &made.changes), after, "{name}");
        }
    }
}

/// Applies the changes to the old text and returns the result.
fn rebuilt(before: &str, after: &str, changes: &[Change]) -> String {
    let old = super::lines::split_lines(before.as_bytes());
    let new = super::lines::split_lines(after.as_bytes());
    let mut bytes: Vec<&[u8]> = Vec::new();
    let mut next = 0;
    for change in changes {
        bytes.extend(&old[next..change.before.start as usize]);
        bytes.extend(&new[change.after.start as usize..change.after.end as usize]);
        next = change.before.end as usize;
    }
    bytes.extend(&old[next..]);
    String::from_utf8(bytes.concat()).unwrap()
}

fn lines() -> impl Strategy<Value = String> {
    let line = prop_oneof!["[ab]{0,2}\n", "[abc]{0,2}\r\n", "\t?x?\n"];
    (proptest::collection::vec(line, 0..30), "[ab]{0,1}")
        .prop_map(|(lines, last)| lines.concat() + &last)
}

fn algorithms() -> impl Strategy<Value = Algorithm> {
    prop_oneof![Just(Algorithm::Histogram), Just(Algorithm::Myers), Just(Algorithm::Minimal)]
}

proptest! {
    #[test]
    fn changes_rebuild_the_new_text(before in lines(), after in lines(), algorithm in algorithms()) {
        let options = DiffOptions { algorithm, ignore_whitespace: false };
        let made = compare(before.as_bytes(), after.as_bytes(), 3, &options);
        prop_assert_eq!(rebuilt(&before, &after, &made.changes), after);
    }

    #[test]
    fn ends_known_to_be_shared_change_nothing(
        head in "[ab\r\n]{0,40}",
        before in "[ab\r\n]{0,20}",
        after in "[ab\r\n]{0,20}",
        tail in "[ab\r\n]{0,40}",
    ) {
        let whole = |middle: &str| [head.as_str(), middle, tail.as_str()].concat().into_bytes();
        let (before, after) = (whole(&before), whole(&after));
        let same = SharedMargins { head: head.len(), tail: tail.len() };
        let (options, format) = (DiffOptions::default(), format(3));
        prop_assert_eq!(
            diff_with_margins(Some(&before), Some(&after), same, &options, &format),
            diff(Some(&before), Some(&after), &options, &format)
        );
    }

    #[test]
    fn any_bytes_give_a_diff(
        before in proptest::collection::vec(any::<u8>(), 0..200),
        after in proptest::collection::vec(any::<u8>(), 0..200),
        context in 0u32..5,
        ignore_whitespace: bool,
        line in 0usize..8,
        bytes in 0usize..50,
    ) {
        let options = DiffOptions { ignore_whitespace, ..DiffOptions::default() };
        let format = Format { limits: DisplayLimits { line, bytes }, ..format(context) };
        let made = diff(Some(&before), Some(&after), &options, &format);
        prop_assert!(!made.is_identical() || before == after || ignore_whitespace);
        prop_assert_eq!(made.is_identical(), made.text.is_empty());
    }

    #[test]
    fn counts_in_headers_are_true(before in lines(), after in lines(), context in 0u32..4) {
        let format = Format { line_ends: LineEndings::Raw, ..format(context) };
        let made = diff(Some(before.as_bytes()), Some(after.as_bytes()), &DiffOptions::default(), &format);
        let mut left = [0; 2];
        for line in made.text.split_terminator('\n').skip(2) {
            if let Some(ranges) = line.strip_prefix("@@ -") {
                prop_assert_eq!(left, [0, 0]);
                let ranges = ranges.strip_suffix(" @@").unwrap().split(" +");
                let counts = ranges.map(|range| {
                    range.split_once(',').map_or(1, |(_, count)| count.parse::<u32>().unwrap())
                });
                left = counts.collect::<Vec<_>>().try_into().unwrap();
            } else {
                left[0] -= u32::from(line.starts_with([' ', '-']));
                left[1] -= u32::from(line.starts_with([' ', '+']));
            }
        }
        prop_assert_eq!(left, [0, 0]);
    }
}
