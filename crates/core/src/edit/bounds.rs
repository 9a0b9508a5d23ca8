//! Tests hostile edits: every cost is charged to the budget, and a call that exceeds it is refused
//! with an error that says so.

use super::budget::WorkBudget;
use super::{Anchor, AnchoredLines, Edit, EditOptions, InsertSide, Plan, Strictness, plan_within};
use crate::anchor::{ANCHOR_LENGTH, anchors};
use crate::error::Error;

fn edit(old: impl Into<String>, new: impl Into<String>) -> Edit {
    Edit { old: old.into(), new: new.into(), ..Edit::default() }
}

fn plan_fuzzy(text: &str, edits: &[Edit], work: &WorkBudget) -> Result<Plan, Error> {
    let options =
        EditOptions { strictness: Strictness::Fuzzy, label: "f".into(), ..EditOptions::default() };
    plan_within(text.as_bytes(), edits, &options, work)
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

/// Returns edits of lines (1-based) of `read`, for a file that may have changed since.
fn anchored(read: &str, lines: impl Iterator<Item = (usize, usize)>) -> Vec<Edit> {
    let digits: Vec<char> = anchors(read).chars().collect();
    let at = |line: usize| Anchor {
        line: line as u64,
        hash: digits[ANCHOR_LENGTH * (line - 1)..ANCHOR_LENGTH * line].try_into().unwrap(),
    };
    let edit = |(from, to)| {
        let insert = (from == to).then_some(InsertSide::After);
        let anchors = AnchoredLines { from: at(from), to: at(to), insert, unchanged: false };
        Edit { anchors: Some(anchors), new: "x".into(), ..Edit::default() }
    };
    lines.map(edit).collect()
}

/// Test cases of edits that name lines: name, file, edits.
fn hostile_anchors() -> Vec<(&'static str, String, Vec<Edit>)> {
    let equal = "}\n".repeat(2_000);
    // In the file as it was read each end was unique, by its neighbours; now it is among equals.
    let read = |at: usize| format!("    value[{at}] = x;\n}}\n");
    let unique = lines(1_000, read);
    let shifted = |text: &str| format!("one\nmore\n{text}");
    let all = |step: usize| (1..=2_000).step_by(step);
    let long = "abcdefg ".repeat(2_000) + "\n";
    vec![
        ("anchors of equal lines", equal.clone(), anchored(&equal, all(40).map(|at| (at, at)))),
        ("anchors that moved", shifted(&unique), anchored(&unique, all(40).map(|at| (at, at)))),
        ("anchors that are gone", equal, anchored(&unique, all(40).map(|at| (at, at)))),
        ("moved ranges", shifted(&unique), anchored(&unique, all(40).map(|at| (at, at + 39)))),
        (
            "anchors of long lines",
            shifted(&long.repeat(20)),
            anchored(&long.repeat(20), (1..=20).map(|at| (at, at))),
        ),
    ]
}

/// Test cases: name, file, edits.
fn hostile_edits() -> Vec<(&'static str, String, Vec<Edit>)> {
    let same = |count: usize| "    value.handler = request;\n".repeat(count);
    let near = |count| lines(count, |at| format!("    value.handler[{at:06}] = option(abcdef);\n"));
    let misspelt =
        |count| lines(count, |at| format!("    value.handler[{at:06}] = optoin(abcdef);\n"));
    let elided = |to: &str| format!("    value.{to} = request;\n...\n").repeat(40);
    let many = |old: fn(usize) -> String| (0..60).map(|at| edit(old(at), "x")).collect();
    vec![
        ("equal lines", same(1_200), vec![edit(same(120) + "zz", "x")]),
        (
            "equal lines, a slip",
            same(1_200),
            vec![edit(same(120).replacen("handler", "hadnler", 1), "x")],
        ),
        (
            "equal lines, other blanks",
            same(1_200),
            vec![edit(same(120).replace("    ", "  "), "x")],
        ),
        ("lines nearly equal", near(1_200), vec![edit(misspelt(80), "x")]),
        ("a line nearly all others", near(1_200), vec![edit(misspelt(1).trim(), "x")]),
        ("one long line", "abcdefg ".repeat(50_000), vec![edit("abcdefg abcdefg  abcdefg", "x")]),
        (
            "long lines",
            lines(100, |at| format!("{}{at:05}\n", "ab".repeat(1_500))),
            vec![edit("ab".repeat(1_499) + "x00005", "x")],
        ),
        ("elisions", same(1_200), vec![edit(elided("handler"), elided("other"))]),
        ("braces", "}\n\n".repeat(2_000), vec![edit("}\n\n".repeat(300) + "return thing;\n", "x")]),
        ("a word in every line", "  go  on\n".repeat(2_000), vec![edit("go on", "x")]),
        (
            "many edits",
            near(2_000),
            many(|at| format!("    value.handler[{at:06}] = option(abcdef);\n")),
        ),
        (
            "many edits, other blanks",
            near(2_000),
            many(|at| format!(" value.handler[{at:06}] = option(abcdef);\n")),
        ),
        ("much that is there already", near(10), vec![edit("abcdef);\n", "x\n".repeat(5_000))]),
        (
            "lines turned round",
            near(500),
            vec![edit(
                lines(500, |at| format!("    value.handler[{:06}] = option(abcdef);\n", 499 - at)),
                "x",
            )],
        ),
    ]
}

#[test]
fn work_is_linear_in_file_and_edits() {
    const PLENTY: u64 = u64::MAX;
    for (name, text, edits) in hostile_edits().into_iter().chain(hostile_anchors()) {
        let work = WorkBudget::of(PLENTY);
        let answer = plan_fuzzy(&text, &edits, &work);
        let sent: usize = edits.iter().map(|edit| edit.old.len() + edit.new.len()).sum();
        let most = 4_000 * (text.len() + sent) as u64;
        let most = if edits.len() > 1 { 40 * (text.len() * edits.len()) as u64 } else { most };
        let spent = PLENTY - work.left();
        assert!(spent <= most, "{name}: {spent} units for {} and {sent} bytes", text.len());
        assert!(spent >= text.len() as u64 / 8, "{name}: only {spent} units are counted");
        if let Err(error) = answer {
            assert!(error.hint.is_some(), "{name}: {error}");
        }
    }
}

#[test]
fn each_edit_that_looks_for_its_lines_is_charged_for_the_file() {
    const PLENTY: u64 = u64::MAX;
    for (name, text, edits) in hostile_anchors() {
        let work = WorkBudget::of(PLENTY);
        let _ = plan_fuzzy(&text, &edits, &work);
        let tried = edits.len().min(20) as u64;
        let spent = PLENTY - work.left();
        assert!(spent >= tried * text.len() as u64, "{name}: only {spent} units are counted");
    }
}

#[test]
fn a_smaller_budget_gives_the_same_answer_or_a_refusal() {
    for (name, text, edits) in hostile_edits().into_iter().chain(hostile_anchors()) {
        let full = plan_fuzzy(&text, &edits, &WorkBudget::of(u64::MAX)).map(|plan| plan.bytes);
        for units in [0, 200_000, 5_000_000] {
            match plan_fuzzy(&text, &edits, &WorkBudget::of(units)) {
                Ok(plan) => assert_eq!(Some(&plan.bytes), full.as_ref().ok(), "{name}: {units}"),
                Err(error) => {
                    let spent = {
                        let reason = error.details.get("reason").and_then(|reason| reason.as_str());
                        matches!(reason, Some("too_large" | "too_much"))
                    };
                    let same = full.as_ref().is_err_and(|full| full.code == error.code);
                    assert!(spent || same, "{name}: {units}: {error}");
                }
            }
        }
    }
}

#[test]
fn places_that_overlap_are_not_replaced_twice() {
    for (name, text, old, new, result) in [
        ("lines", "\ta b\n\ta b\n\ta b\n", "  a b\n  a b\n", "  c\n", "\tc\n\ta b\n"),
        (
            "words of a line",
            "x = foo  bar; y = foo  bar;\n",
            "foo bar",
            "baz",
            "x = baz; y = baz;\n",
        ),
    ] {
        let all = Edit { replace_all: true, ..edit(old, new) };
        let plan = plan_fuzzy(text, &[all], &WorkBudget::default()).unwrap();
        assert_eq!(String::from_utf8_lossy(&plan.bytes), result, "{name}");
    }
    let alike = "value.handler = request;\n".repeat(2_000);
    let old = alike[..25 * 200].replacen("handler", "hadnler", 1);
    assert!(
        plan_fuzzy(&alike, &[edit(old, "x")], &WorkBudget::default()).is_err(),
        "anywhere is nowhere"
    );
}
