//! Tests edits with a table of cases, and their guarantees with properties.

use proptest::prelude::*;

use super::{Edit, EditOptions, OnMultiple, Plan, Strictness, Tier, plan};
use crate::error::{Code, Error};

fn edit(old: &str, new: &str) -> Edit {
    Edit { old: old.into(), new: new.into(), ..Edit::default() }
}

fn options() -> EditOptions {
    EditOptions { label: "f.txt".into(), ..EditOptions::default() }
}

fn run(text: &str, edits: &[Edit]) -> Result<Plan, Error> {
    plan(text.as_bytes(), edits, &options())
}

#[test]
fn edits_are_applied_at_the_right_position() {
    for (name, text, old, new, result) in [
        ("a word", "a\nb\nc\n", "b", "B", "a\nB\nc\n"),
        ("a line away", "a\nb\nc\n", "a\n", "", "b\nc\n"),
        ("mid-line", "let x = 1;\n", "x = 1", "y = 2", "let y = 2;\n"),
        ("LF text in a CRLF file", "a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n"),
        ("CRLF text in an LF file", "a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
        ("mixed ends elsewhere", "a\r\nb\nc\r\n", "b", "B", "a\r\nB\nc\r\n"),
        ("mixed ends within", "a\r\nb\nc\r\nd\n", "a\nb\nc", "a\nB\nc", "a\r\nB\nc\r\nd\n"),
        ("lines for a part of one in mixed ends", "a\r\nb\nc\n", "b", "x\ny", "a\r\nx\ny\nc\n"),
        ("as before, the other way round", "a\nb\r\nc\n", "b", "x\ny", "a\nx\r\ny\r\nc\n"),
        ("added line in mixed ends", "a\r\nb\r\nc\n", "a\nb\n", "a\nx\nb\n", "a\r\nx\r\nb\r\nc\n"),
        ("a byte order mark", "\u{feff}a\nb\n", "a", "A", "\u{feff}A\nb\n"),
        ("a mark in old_text too", "\u{feff}a\nb\n", "\u{feff}a", "A", "\u{feff}A\nb\n"),
        ("no newline at the end", "a\nb", "b", "B", "a\nB"),
        ("a lone CR is text", "a\rb\n", "a\rb", "x", "x\n"),
        ("the end of a CRLF line", "a\r\nb\r\n", "a\n", "", "b\r\n"),
        (
            "tabs for spaces",
            "\tif x:\n\t\ty()\n",
            "if x:\n    y()",
            "if x:\n    z()\n    w()",
            "\tif x:\n\t\tz()\n\t\tw()\n",
        ),
        ("trailing blanks of others stay", "a  \nb\t\nc\n", "a\nb\nc", "a\nB\nc", "a  \nB\nc\n"),
        ("blank edges", "a\nb\nc\n", "\n\nb\n\n", "\n\nB\n\n", "a\nB\nc\n"),
        (
            "a shifted block",
            "    f(\n      1,\n    )\n",
            "f(\n  1,\n)",
            "f(\n  1,\n  2,\n)",
            "    f(\n      1,\n      2,\n    )\n",
        ),
        ("last line open", "\ta\n\tb", "  a\n  b", "  a\n  b\n  c", "\ta\n\tb\n\tc"),
    ] {
        match run(text, &[edit(old, new)]) {
            Ok(plan) => assert_eq!(String::from_utf8_lossy(&plan.bytes), result, "{name}"),
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

#[test]
fn refusals_say_why() {
    let all = |edit: Edit| Edit { replace_all: true, ..edit };
    let expected = |edit: Edit, count| Edit { expected: Some(count), ..edit };
    for (name, text, edits, code, says) in [
        (
            "twice",
            "x\ny\nx\ny\nx\n",
            vec![edit("x", "z")],
            Code::MatchNotUnique,
            "3 times in f.txt: lines 1, 3, 5",
        ),
        ("overlapping", "aaa\n", vec![edit("aa", "b")], Code::MatchNotUnique, "2 times"),
        (
            "twice by white space",
            "  go()\n    go()\n",
            vec![edit("\tgo()", "stop()")],
            Code::MatchNotUnique,
            "lines 1, 2",
        ),
        (
            "count",
            "x\nx\n",
            vec![expected(edit("x", "y"), 3)],
            Code::MatchCountMismatch,
            "Expected 3",
        ),
        ("same", "a\n", vec![edit("a", "a")], Code::NoChange, "different"),
        ("back again", "b\n", vec![edit("b", "x"), edit("x", "b")], Code::NoChange, "different"),
        (
            "second of two",
            "a\n",
            vec![edit("a", "A"), edit("zzz", "Z")],
            Code::MatchNotFound,
            "edits[1]",
        ),
        ("blank", "a\n\nb\n", vec![edit("    ", "x")], Code::MatchNotFound, "blank"),
        ("empty", "a\n", vec![edit("", "x")], Code::InvalidArgument, "empty"),
        ("empty file", "", vec![edit("a", "x")], Code::MatchNotFound, "empty"),
        ("nothing to do", "a\n", vec![], Code::InvalidArgument, "empty"),
        (
            "numbers pasted",
            "one\ntwo\n",
            vec![edit("1\tone\n2\ttwo", "x")],
            Code::MatchNotFound,
            "line number",
        ),
        (
            "applied before",
            "let total = 2;\n",
            vec![edit("let total = 1;", "let total = 2;")],
            Code::MatchNotFound,
            "already",
        ),
        (
            "a short one applied before",
            "a\nB\nc\n",
            vec![edit("b", "B")],
            Code::MatchNotFound,
            "already",
        ),
        (
            "lines left out",
            "fn a() {\n  one();\n  two();\n  three();\n}\n",
            vec![edit("fn a() {\n  one();\n}", "x")],
            Code::MatchNotFound,
            "leaves out lines 3-4",
        ),
        (
            "a short line that stands elsewhere",
            "one();\nreturn x;\n}\n",
            vec![edit("completely.other(thing)", "return x;")],
            Code::MatchNotFound,
            "nothing there is like it",
        ),
        (
            "nearest",
            "alpha\nlet value = 1;\n",
            vec![edit("let valeu = 1;", "x")],
            Code::MatchNotFound,
            "line 2",
        ),
        ("all of none", "a\n", vec![all(edit("q", "r"))], Code::MatchNotFound, "not found"),
    ] {
        let error = run(text, &edits).unwrap_err();
        assert_eq!(error.code, code, "{name}: {error}");
        assert!(error.message.contains(says), "{name}: {}", error.message);
        let first = error.message.lines().next().unwrap_or_default();
        assert!(first.chars().count() <= 200, "{name}: {first}");
        assert!(
            code == Code::InvalidArgument && edits.is_empty()
                || error.details.contains_key("edit_index"),
            "{name}"
        );
    }
}

#[test]
fn a_byte_order_mark_alone_is_found_nowhere() {
    for text in ["", "a\n", "\u{feff}a\n"] {
        for strictness in [Strictness::Exact, Strictness::Whitespace, Strictness::Fuzzy] {
            let options = EditOptions { strictness, ..options() };
            assert!(plan(text.as_bytes(), &[edit("\u{feff}", "")], &options).is_err(), "{text:?}");
        }
    }
}

#[test]
fn several_positions_can_be_requested() {
    let text = "x\ny\nx\ny\nx\n";
    for (name, edit, on_multiple, result) in [
        ("all", Edit { replace_all: true, ..edit("x", "z") }, OnMultiple::Error, "z\ny\nz\ny\nz\n"),
        (
            "count",
            Edit { expected: Some(3), ..edit("x", "z") },
            OnMultiple::Error,
            "z\ny\nz\ny\nz\n",
        ),
        ("first", edit("x", "z"), OnMultiple::First, "z\ny\nx\ny\nx\n"),
        (
            "near",
            Edit { near_line: Some(4), ..edit("x\n", "z\n") },
            OnMultiple::First,
            "z\ny\nx\ny\nx\n",
        ),
        (
            "nearest",
            Edit { near_line: Some(9), ..edit("x", "z") },
            OnMultiple::Error,
            "x\ny\nx\ny\nz\n",
        ),
    ] {
        let plan =
            plan(text.as_bytes(), &[edit], &EditOptions { on_multiple, ..options() }).unwrap();
        assert_eq!(String::from_utf8_lossy(&plan.bytes), result, "{name}");
    }
}

#[test]
fn facts_name_the_lines_before_the_edit() {
    let plan = run("a\nb\nc\nd\n", &[edit("b\nc\n", "x\n"), edit("d", "D")]).unwrap();
    let lines: Vec<_> = plan.edits.iter().map(|e| (e.start_line, e.end_line)).collect();
    assert_eq!((plan.replacements, lines), (2, vec![(2, 3), (3, 3)]));
    assert_eq!(
        plan.diff.text,
        "--- a/f.txt\n+++ b/f.txt\n@@ -1,4 +1,3 @@\n a\n-b\n-c\n-d\n+x\n+D\n"
    );
}

#[test]
fn strictness_is_a_ceiling() {
    let strict = EditOptions { strictness: Strictness::Exact, ..options() };
    let error = plan(b"\ta b\n", &[edit("  a b\n", "x")], &strict).unwrap_err();
    assert_eq!(error.code, Code::MatchNotFound);
    assert!(error.message.contains("whitespace (indentation: tabs against spaces)"), "{error}");
    assert_eq!(run("\ta b\n", &[edit("  a b\n", "x")]).unwrap().edits[0].tier, Tier::Whitespace);
}

proptest! {
    #[test]
    fn nothing_panics(
        text in proptest::collection::vec(any::<u8>(), 0..80),
        old in "[ab\\n\\r\\t 1→é]{0,8}",
        new in "[ab\\n\\r\\t ]{0,8}",
        replace_all: bool,
    ) {
        let edit = Edit { replace_all, ..edit(&old, &new) };
        let _ = plan(&text, &[edit], &options());
    }

    #[test]
    fn an_edit_changes_only_its_lines(
        head in "([ab]{0,2}(\n|\r\n)){0,4}",
        body in "[ \t]{0,2}X[cd]{1,3}(\n|\r\n)",
        tail in "([ab]{0,2}(\n|\r\n)){0,4}[ab]{0,2}",
        new in "[cd]{1,3}",
    ) {
        let text = format!("{head}{body}{tail}");
        let old = body.trim();
        if let Ok(plan) = run(&text, &[edit(&format!("   {old}"), &format!("   {new}"))]) {
            prop_assert!(plan.bytes.starts_with(head.as_bytes()));
            prop_assert!(plan.bytes.ends_with(tail.as_bytes()));
        }
    }
}

fn fuzzy(text: &str, old: &str, new: &str) -> String {
    let options = EditOptions { strictness: Strictness::Fuzzy, ..options() };
    match plan(text.as_bytes(), &[edit(old, new)], &options) {
        Ok(plan) => String::from_utf8(plan.bytes).unwrap(),
        Err(error) => format!("refused: {}", error.details["reason"]),
    }
}

/// Regression cases: each combines two mistakes, or has another text nearby that is similar to the
/// intended one.
#[test]
fn combined_mistakes_are_corrected_together() {
    let code = "\tfn go(a) {\n\t\tfirst_thing(a);\n\t\tsecond_thing(a);\n\t}\n";
    for (name, text, old, new, result) in [
        (
            "trailing blanks stay where a slip is undone",
            "  let alpha = 1;  \n  let beta = 2;\n",
            "  let alhpa = 1;\n  let beta = 2;",
            "  let alpha = 1;\n  let beta = 3;",
            "  let alpha = 1;  \n  let beta = 3;\n",
        ),
        (
            "spaces for tabs, and the old text alone dedented",
            code,
            "fn go(a) {\n    first_thing(a);\n    second_thing(a);\n}",
            "    fn go(a) {\n        first_thing(a);\n        third_thing(a);\n    }",
            "\tfn go(a) {\n\t\tfirst_thing(a);\n\t\tthird_thing(a);\n\t}\n",
        ),
        (
            "a broken line, and the old text alone dedented",
            "    call(alpha, beta);\n    done_with_it();\n",
            "call(alpha,\n    beta);\ndone_with_it();",
            "    call(alpha,\n        beta);\n    all_done();",
            "    call(alpha, beta);\n    all_done();\n",
        ),
        (
            "escaped quotes in a text without its indentation",
            "  say(\"hello there\");\n",
            "say(\\\"hello there\\\");",
            "  say(\\\"hello there\\\");\n  say(\\\"again\\\");",
            "  say(\"hello there\");\n  say(\"again\");\n",
        ),
        (
            "both dedented, and a block put into another",
            "        one_thing();\n    def other_thing():\n        body_of_it(1);\n        return_it('\\n')\n",
            "    one_thing();\ndef other_thing():\n    body_of_it(1);\n    return_it('\\\\n')",
            "    one_thing();\ndef other_thing():\n    if so:\n        body_of_it(1);\n        return_it('\\\\n')",
            "        one_thing();\n    def other_thing():\n        if so:\n            body_of_it(1);\n            return_it('\\n')\n",
        ),
        (
            "lines forgotten at the edge are not doubled",
            "\nclass FrameSummary:\n    one_thing = 1\n    other = 2\n",
            "\n\n    one_thnig = 1\n    other = 2",
            "\n\nclass FrameSummary:\n    one_thing = 1\n    other = 3",
            "\nclass FrameSummary:\n    one_thing = 1\n    other = 3\n",
        ),
        (
            "quotes of the old text alone, in a line broken otherwise",
            "    one = \"first\",\n    two = \"second\",\n    three(a);\n",
            "    one = \u{201c}first\u{201d}, two = \u{201c}second\u{201d},\n    three(a);",
            "    one = \"first\", two = \"second\",\n    four(a);",
            "    one = \"first\",\n    two = \"second\",\n    four(a);\n",
        ),
        (
            "a forgotten line that the new text has twice is not doubled",
            "try {\n  try {\n    flush_it();\n  } catch {}\n  all_of_it();\n} catch {}\nawait_it();\n",
            "  try {\n    flush_it();\n  } catch {}\n  all_of_it();\nawait_it();",
            "  try {\n    flush_it();\n  } catch {}\n  all_that();\n} catch {}\nawait_it();",
            "try {\n  try {\n    flush_it();\n  } catch {}\n  all_that();\n} catch {}\nawait_it();\n",
        ),
        (
            "what is inserted before a forgotten line goes before it",
            "{\n    type It = Some;\n\n    fn into_it(self) -> It {\n        It::new(self.all())\n    }\n}\n",
            "\n        It::new(self.all())\n    }\n}",
            "\n    use crate::{One, Other};\n    fn into_it(self) -> It {\n        It::new(self.all())\n    }\n}",
            "{\n    type It = Some;\n\n    use crate::{One, Other};\n    fn into_it(self) -> It {\n        It::new(self.all())\n    }\n}\n",
        ),
        (
            "what was inserted before, but for its place",
            "  user?: true;\n  approval?: MetaApproval;\n}\n\nnext();\n",
            "  user?: true;\n}",
            "  user?: true;\n  approval?: MetaApproval;\n}",
            "refused: \"already_applied\"",
        ),
    ] {
        assert_eq!(fuzzy(text, old, new), result, "{name}");
    }
}

#[test]
fn code_similar_to_two_positions_is_ambiguous() {
    let text = "def a():\n    value_a1 = compute(10)\n    value_a2 = compute(10)\n";
    let (old, new) = ("    value_a3 = compute(10)", "    value_a3 = compute(11)");
    let options = EditOptions { strictness: Strictness::Fuzzy, ..options() };
    let error = plan(text.as_bytes(), &[edit(old, new)], &options).unwrap_err();
    assert_eq!(error.code, crate::error::Code::MatchNotUnique);
    assert_eq!(error.details["lines"], serde_json::json!([2, 3]));
    assert_eq!(
        error.details["candidates"][1]["differs"],
        serde_json::json!(["-     value_a3 = compute(10)", "+ 3:     value_a2 = compute(10)"])
    );
    // A single such position is different code, and is shown.
    let error = plan(text.replace("a2", "b2").as_bytes(), &[edit(old, new)], &options).unwrap_err();
    assert_eq!(error.code, crate::error::Code::MatchNotFound);
}

#[test]
fn a_line_without_indentation_gets_that_of_the_file() {
    let options = EditOptions { strictness: Strictness::Whitespace, ..options() };
    let run = |text: &str, old: &str, new: &str| {
        let plan = plan(text.as_bytes(), &[edit(old, new)], &options).unwrap();
        String::from_utf8(plan.bytes).unwrap()
    };
    assert_eq!(run("  go()\n", "\tgo()", "stop()"), "  stop()\n");
    assert_eq!(run("\tgo()\nx\n", "    go()\n", "stop()\n"), "\tstop()\nx\n");
    // An exact match is replaced exactly.
    assert_eq!(run("  go()\n", "  go()", "stop()"), "stop()\n");
    // The other lines of a block show where the first one belongs.
    assert_eq!(run("\tif a:\n\t\tgo()\n", "    if a:\n        go()", "go()"), "go()\n");
}
