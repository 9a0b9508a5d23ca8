//! Tests requests of edits: every field has its effect, and invalid text is refused.

use serde_json::json;

use crate::error::Code;
use crate::exports::texts::plan_edits;

#[test]
fn every_field_of_a_call_has_its_effect() {
    let text = "one\ntwo\none\ntwo\n";
    for (name, call, result) in [
        ("a text", json!({"edits": [{"old": "two\none", "new": "x"}]}), "one\nx\ntwo\n"),
        ("nothing new", json!({"edits": [{"old": "two\none\n"}]}), "one\ntwo\n"),
        (
            "all of them",
            json!({"edits": [{"old": "one", "new": "1", "replaceAll": true}]}),
            "1\ntwo\n1\ntwo\n",
        ),
        (
            "so many",
            json!({"edits": [{"old": "two", "new": "2", "expected": 2}]}),
            "one\n2\none\n2\n",
        ),
        (
            "the first",
            json!({"edits": [{"old": "one", "new": "1"}], "onMultiple": "first"}),
            "1\ntwo\none\ntwo\n",
        ),
        (
            "the one near a line",
            json!({"edits": [{"old": "one", "new": "1", "nearLine": 3}], "onMultiple": "error"}),
            "one\ntwo\n1\ntwo\n",
        ),
        (
            "null means absent",
            json!({"edits": [{"old": "two\none", "new": "x", "expected": null, "from": null}],
                   "match": null, "threshold": null}),
            "one\nx\ntwo\n",
        ),
        (
            "white space",
            json!({"edits": [{"old": "  two\n  one", "new": "  x"}], "match": "whitespace"}),
            "one\nx\ntwo\n",
        ),
    ] {
        match plan_edits(text.as_bytes(), &call.to_string()) {
            Ok(planned) => assert_eq!(String::from_utf8_lossy(&planned.bytes), result, "{name}"),
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

#[test]
fn facts_are_in_the_documented_order() {
    let call = json!({
        "edits": [{"old": "b", "new": "B"}, {"old": "d ", "new": "D "}],
        "label": "f.txt",
    });
    let facts = plan_edits(b"a\nb\nc\nd\n", &call.to_string()).unwrap().facts;
    let [replacements, edits, ref first @ .., _] = facts.nums[..8] else { panic!() };
    assert_eq!((replacements, edits), (2.0, 2.0));
    // Matches, tier, start line, end line, score: exact, at line 2.
    assert_eq!(first, [1.0, 0.0, 2.0, 2.0, 1.0]);
    // After the repairs (none): the same for the second edit, matched by white space at line 4.
    assert_eq!(facts.nums[8..12], [1.0, 1.0, 4.0, 4.0]);
    assert!(facts.text.contains("--- a/f.txt\n+++ b/f.txt\n"), "{}", facts.text);
}

#[test]
fn repairs_are_reported() {
    let call = json!({"edits": [{"old": "     2\tb\n     3\tc", "new": "     2\tB\n     3\tc"}],
                      "match": "fuzzy"});
    let planned = plan_edits(b"a\nb\nc\n", &call.to_string()).unwrap();
    assert_eq!(planned.bytes, b"a\nB\nc\n");
    assert!(planned.facts.text.starts_with("line numbers"), "{}", planned.facts.text);
}

#[test]
fn anchors_cross_as_text() {
    let text = b"a\nb\nc\n";
    let all = crate::anchor::anchors("a\nb\nc\n");
    let at = |line: usize| format!("{line}#{}", &all[6 * (line - 1)..6 * line]);
    for (name, edit, result) in [
        ("a line", json!({"from": at(2), "new": "B"}), "a\nB\nc\n"),
        ("lines", json!({"from": at(1), "to": at(2), "new": "x"}), "x\nc\n"),
        ("before", json!({"from": at(2), "insert": "before", "new": "x"}), "a\nx\nb\nc\n"),
        ("after", json!({"from": at(2), "insert": "after", "new": "x"}), "a\nb\nx\nc\n"),
    ] {
        match plan_edits(text, &json!({ "edits": [edit] }).to_string()) {
            Ok(planned) => assert_eq!(String::from_utf8_lossy(&planned.bytes), result, "{name}"),
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

#[test]
fn a_malformed_call_is_refused_with_the_name_of_the_field() {
    let edit = |edit: serde_json::Value| json!({ "edits": [edit] }).to_string();
    let with = |key: &str, value: serde_json::Value| {
        let mut call = json!({"edits": [{"old": "a", "new": "b"}]});
        call[key] = value;
        call.to_string()
    };
    for (call, argument) in [
        ("{".to_owned(), "edits"),
        // An unpaired surrogate is not valid text.
        (r#"{"edits": [{"old": "\ud800", "new": "b"}]}"#.to_owned(), "edits"),
        ("[]".to_owned(), "edits"),
        ("{}".to_owned(), "edits"),
        (r#"{"edits": "a"}"#.to_owned(), "edits"),
        (edit(json!("a")), "edits"),
        (edit(json!({"new": "b"})), "old_text"),
        (edit(json!({"old": 1})), "old"),
        (edit(json!({"old": "a", "new": 1})), "new"),
        (edit(json!({"old": "a", "expected": -1})), "expected"),
        (edit(json!({"old": "a", "expected": "2"})), "expected"),
        (edit(json!({"old": "a", "nearLine": 1.5})), "nearLine"),
        (edit(json!({"old": "a", "from": "1#ab"})), "from"),
        (edit(json!({"to": "1#ab", "new": "b"})), "to"),
        (edit(json!({"insert": "after", "new": "b"})), "insert"),
        (edit(json!({"from": "1#ab", "insert": "beside", "new": "b"})), "insert"),
        (edit(json!({"from": "1#ab", "to": "2#ab", "insert": "after"})), "to"),
        (edit(json!({"from": "first", "new": "b"})), "from"),
        (with("match", json!("nearly")), "match"),
        (with("onMultiple", json!("last")), "on_multiple"),
        (with("threshold", json!(2)), "threshold"),
        (with("threshold", json!("0.9")), "threshold"),
        (with("label", json!(1)), "label"),
        (with("lineLimit", json!(-1)), "lineLimit"),
    ] {
        let error = plan_edits(b"a\n", &call).unwrap_err();
        assert_eq!(error.code, Code::InvalidArgument, "{call}: {error}");
        let named = error.details.get("argument").and_then(|value| value.as_str());
        assert_eq!(named, Some(argument), "{call}: {error}");
    }
}

#[test]
fn a_file_in_another_encoding_is_changed_in_it() {
    let call = json!({"edits": [{"old": "caf\u{e9}", "new": "th\u{e9}"}], "encoding": "latin1"});
    assert_eq!(plan_edits(b"caf\xe9\n", &call.to_string()).unwrap().bytes, b"th\xe9\n");
}
