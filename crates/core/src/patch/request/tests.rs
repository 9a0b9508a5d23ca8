//! Tests requests of patches: parsed patches are complete, and files are returned in order.

use serde_json::{Value, json};

use crate::error::{Code, Error};
use crate::exports::texts::{apply_patch, parse_patch};

const PATCH: &str = "--- a/src/f.txt\n+++ b/src/f.txt\n@@ -1,2 +1,2 @@ fn\n one\n-two\n+2\n\\ No newline at end of file\n";

fn parsed(text: &str, call: &Value) -> Result<Value, Error> {
    parse_patch(text, &call.to_string()).map(|said| serde_json::from_str(&said).unwrap())
}

/// Applies a patch to the named files; returns facts and contents.
fn applied(
    files: &[(&str, Option<&str>)],
    text: &str,
    call: &Value,
) -> Result<(Value, Vec<String>), Error> {
    let names: Vec<_> = files.iter().map(|(name, _)| (*name).to_owned()).collect();
    let contents = files.iter().map(|(_, content)| content.map(|text| text.as_bytes().into()));
    let patched = apply_patch(&names, contents.collect(), text, &call.to_string())?;
    let texts =
        patched.contents.into_iter().map(|bytes| String::from_utf8(bytes).unwrap()).collect();
    Ok((serde_json::from_str(&patched.facts).unwrap(), texts))
}

#[test]
fn parsed_patches_are_reported() {
    let said = parsed(PATCH, &json!({})).unwrap();
    assert_eq!(said["paths"], json!(["src/f.txt"]));
    let file = &said["files"][0];
    assert_eq!(
        (&file["operation"], &file["added"], &file["removed"]),
        (&json!("update"), &json!(1), &json!(1))
    );
    let hunk = &file["hunks"][0];
    assert_eq!(hunk["lines"], json!([" one", "-two", "+2", "\\ No newline at end of file"]));
    assert_eq!([&hunk["oldStart"], &hunk["oldLines"], &hunk["newLines"]], [1, 2, 2]);
}

#[test]
fn every_operation_has_its_name() {
    for (operation, text) in [
        ("create", "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n"),
        ("delete", "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"),
        ("rename", "diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n"),
        ("copy", "diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n"),
    ] {
        let said = parsed(text, &json!({})).unwrap();
        assert_eq!(said["files"][0]["operation"], operation, "{text}");
    }
}

#[test]
fn names_that_a_patch_may_mean() {
    let two = |old: &str, new: &str| format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-x\n+y\n");
    for (name, text, call, paths) in [
        ("one name twice is one", two("a/f", "b/f"), json!({}), json!(["f"])),
        (
            "two names, and what both have below their tops",
            two("old/src/f", "new/src/f"),
            json!({"strip": 0}),
            json!(["old/src/f", "new/src/f", "src/f"]),
        ),
        ("a backup", two("f.orig", "f"), json!({"strip": 0}), json!(["f.orig", "f"])),
        ("no name at all", "@@ -1 +1 @@\n-x\n+y\n".into(), json!({"path": "g"}), json!(["g"])),
        ("another name", two("a/f", "b/f"), json!({"path": "g"}), json!(["g"])),
        ("the same file", two("a/f", "b/f"), json!({"same": {"f": "real"}}), json!(["real"])),
    ] {
        assert_eq!(parsed(&text, &call).unwrap()["paths"], paths, "{name}");
    }
    let renamed = "diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n";
    let said = parsed(renamed, &json!({"path": "x"})).unwrap();
    assert_eq!(said["paths"], json!(["x", "g"]), "a rename goes on to where it goes");
}

#[test]
fn files_come_back_in_the_order_of_the_patch() {
    let (facts, contents) =
        applied(&[("src/f.txt", Some("zero\none\ntwo\n"))], PATCH, &json!({"fuzz": 1})).unwrap();
    assert_eq!(contents, ["zero\none\n2"]);
    let fact = &facts[0];
    assert_eq!((&fact["path"], &fact["operation"]), (&json!("src/f.txt"), &json!("update")));
    assert_eq!([&fact["added"], &fact["removed"], &fact["offset"]], [1, 1, 1]);
    assert_eq!(fact["hunks"][0], json!({"line": 2, "offset": 1, "how": "exact"}));

    let several = "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+y\n";
    let (facts, contents) =
        applied(&[("gone", Some("x\n")), ("new", None)], several, &json!({})).unwrap();
    assert_eq!(contents, ["", "y\n"]);
    assert_eq!(
        (&facts[0]["operation"], &facts[1]["operation"]),
        (&json!("delete"), &json!("create"))
    );
}

#[test]
fn match_method_of_a_hunk_is_reported() {
    let hunk = "--- a/f\n+++ b/f\n@@ -1,5 +1,5 @@\n a\n b\n-c\n+C\n d\n e\n";
    for (how, file) in [
        ("exact", "a\nb\nc\nd\ne\n"),
        ("whitespace", "a\nb  \nc\t\nd\ne\n"),
        ("fuzzy", "a\n  b\n  c\n  d\ne\n"),
        ("fuzz", "A\nb\nc\nd\nE\n"),
    ] {
        match applied(&[("f", Some(file))], hunk, &json!({})) {
            Ok((facts, _)) => assert_eq!(facts[0]["hunks"][0]["how"], how, "{file:?}"),
            Err(error) => panic!("{how}: {error}"),
        }
    }
}

#[test]
fn a_patch_is_reversed() {
    let (_, contents) =
        applied(&[("src/f.txt", Some("one\n2"))], PATCH, &json!({"reverse": true})).unwrap();
    assert_eq!(contents, ["one\ntwo\n"]);
    let created = "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n";
    let (facts, _) = applied(&[("f", Some("x\n"))], created, &json!({"reverse": true})).unwrap();
    assert_eq!(facts[0]["operation"], "delete");
    let deleted = "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
    let (facts, contents) = applied(&[("f", None)], deleted, &json!({"reverse": true})).unwrap();
    assert_eq!((&facts[0]["operation"], contents[0].as_str()), (&json!("create"), "x\n"));
    let renamed = "diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n";
    let (facts, _) =
        applied(&[("f", None), ("g", Some("x\n"))], renamed, &json!({"reverse": true})).unwrap();
    assert_eq!((&facts[0]["from"], &facts[0]["path"]), (&json!("g"), &json!("f")));
}

#[test]
fn irreversible_patches_are_refused() {
    let copied = "diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n";
    let unchecked = "*** Begin Patch\n*** Delete File: f\n*** End Patch\n";
    for text in [copied, unchecked] {
        let error = parsed(text, &json!({"reverse": true})).unwrap_err();
        assert_eq!(error.code, Code::PatchFailed, "{text}");
        assert!(error.message.contains("cannot be reversed"), "{error}");
    }
}

#[test]
fn a_malformed_call_is_refused() {
    for (call, argument) in [
        (json!({"strip": -1}), Some("strip")),
        (json!({"fuzz": "2"}), Some("fuzz")),
        (json!([]), None),
    ] {
        let error = parsed(PATCH, &call).unwrap_err();
        assert_eq!(error.code, Code::InvalidArgument, "{call}");
        assert_eq!(error.details.get("argument").and_then(Value::as_str), argument, "{call}");
    }
    let several = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n";
    let error = parsed(several, &json!({"path": "f"})).unwrap_err();
    assert_eq!(error.code, Code::InvalidArgument);
    assert!(error.message.contains("one file"), "{error}");
}

#[test]
fn a_hunk_without_a_file_needs_one() {
    let hunk = "@@ -1 +1 @@\n-x\n+y\n";
    let two = [("f", Some("x\n")), ("g", Some("x\n"))];
    let error = applied(&two, hunk, &json!({})).unwrap_err();
    assert_eq!(error.details.get("reason").and_then(Value::as_str), Some("no_path"), "{error}");
    let (facts, contents) = applied(&two[..1], hunk, &json!({})).unwrap();
    assert_eq!((&facts[0]["path"], contents[0].as_str()), (&json!("f"), "y\n"));
}

#[test]
fn lines_added_to_a_file_that_is_not_there_make_it() {
    let text = "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+x\n";
    let (facts, contents) = applied(&[("f", None)], text, &json!({})).unwrap();
    assert_eq!((&facts[0]["operation"], contents[0].as_str()), (&json!("create"), "x\n"));
}
