//! Tests patches as people and models write them, and the guarantees as properties.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::set::{PatchOptions, apply_to_files};
use super::{FileOperation, parse, reverse};
use crate::diff::unified::{DiffHeader, DisplayLimits, Format, LineEndings, diff};
use crate::error::Error;

fn run(files: &[(&str, &str)], patch: &str) -> Result<BTreeMap<String, String>, Error> {
    let files: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(path, text)| (path.to_string(), text.as_bytes().to_vec())).collect();
    let patch = parse(patch, None)?;
    let changes = apply_to_files(&patch, &files, &PatchOptions::default())?;
    let mut after = files;
    for change in changes {
        if change.operation == FileOperation::Rename {
            after.remove(&change.from.unwrap_or_default());
        }
        match change.bytes {
            Some(bytes) => after.insert(change.path, bytes),
            None => after.remove(&change.path),
        };
    }
    Ok(after.into_iter().map(|(path, bytes)| (path, String::from_utf8(bytes).unwrap())).collect())
}

fn reason(files: &[(&str, &str)], patch: &str) -> String {
    match run(files, patch) {
        Ok(files) => format!("applied: {files:?}"),
        Err(error) => error
            .details
            .get("reason")
            .and_then(|reason| reason.as_str())
            .map_or(error.message, str::to_owned),
    }
}

const FILE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

#[test]
fn a_byte_order_mark_that_the_patch_shows_is_text() {
    let mark = "\u{feff}";
    for (before, body, after) in [
        (format!("{mark}\nb\n"), format!("-{mark}\n-b\n+c\n"), "c\n".to_owned()),
        (format!("{mark}a\nb\n"), format!(" {mark}a\n-b\n+c\n"), format!("{mark}a\nc\n")),
        ("a\nb\n".to_owned(), format!("-a\n+{mark}a\n b\n"), format!("{mark}a\nb\n")),
        (format!("{mark}a\nb\n"), " a\n-b\n+c\n".to_owned(), format!("{mark}a\nc\n")),
    ] {
        let patch = format!("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n{body}");
        assert_eq!(run(&[("f", &before)], &patch).unwrap()["f"], after, "{patch}");
    }
    let gone = format!("--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-{mark}\n");
    assert!(run(&[("f", &format!("{mark}\n"))], &gone).unwrap().is_empty());
}

#[test]
fn the_time_0_of_an_empty_side_means_that_there_is_no_file() {
    let time = "1970-01-01 01:00:00.000000000 +0100";
    let gone = format!("--- a/f\t2024-01-01 00:00:00 +0000\n+++ b/f\t{time}\n@@ -1 +0,0 @@\n-x\n");
    assert!(run(&[("f", "x\n")], &gone).unwrap().is_empty());
    let made = format!("--- a/f\t{time}\n+++ b/f\t2024-01-01 00:00:00 +0000\n@@ -0,0 +1 @@\n+x\n");
    assert_eq!(run(&[], &made).unwrap()["f"], "x\n");
    let old = format!("--- a/f\t{time}\n+++ b/f\t{time}\n@@ -1 +1 @@\n-x\n+y\n");
    assert_eq!(run(&[("f", "x\n")], &old).unwrap()["f"], "y\n");
}

#[test]
fn modes_are_reversed_too() {
    let modes = |header: &str| {
        let patch = parse(&format!("diff --git a/f b/f\n{header}"), None).unwrap();
        let back = reverse(&patch).unwrap();
        assert_eq!(reverse(&back).unwrap(), patch, "{header}");
        (patch.files[0].mode, back.files[0].mode)
    };
    let (plain, executable) = (Some(0o100_644), Some(0o100_755));
    assert_eq!(modes("old mode 100644\nnew mode 100755\n"), (executable, plain));
    assert_eq!(modes("new file mode 100755\n"), (executable, None));
    assert_eq!(
        modes("deleted file mode 100755\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"),
        (None, executable)
    );
    let link = "diff --git a/f b/f\nnew file mode 120000\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n";
    let back = reverse(&parse(link, None).unwrap()).unwrap();
    let files = BTreeMap::from([("f".to_owned(), b"x".to_vec())]);
    assert!(apply_to_files(&back, &files, &PatchOptions::default()).is_err());
}

#[test]
fn a_diff_may_be_about_a_text_that_shows_an_envelope() {
    let text = "*** Begin Patch\n*** Add File: x\n+y\n*** End Patch\n1\n";
    let body = " *** Begin Patch\n *** Add File: x\n +y\n *** End Patch\n-1\n+2\n";
    for header in ["diff --git a/f b/f\n", "", "A word.\n"] {
        let patch = format!("{header}--- a/f\n+++ b/f\n@@ -1,5 +1,5 @@\n{body}");
        assert_eq!(run(&[("f", text)], &patch).unwrap()["f"], text.replace('1', "2"), "{patch}");
    }
}

#[test]
fn one_file_is_patched() {
    let body = " 3\n 4\n-5\n+five\n 6\n 7\n";
    let changed = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
    for (name, patch) in [
        ("right numbers", format!("--- a/f\n+++ b/f\n@@ -3,5 +3,5 @@\n{body}")),
        ("wrong numbers", format!("--- a/f\n+++ b/f\n@@ -400,5 +400,5 @@\n{body}")),
        ("counts too small", format!("--- a/f\n+++ b/f\n@@ -3,2 +3,2 @@\n{body}")),
        ("counts too big", format!("--- a/f\n+++ b/f\n@@ -3,9 +3,9 @@\n{body}")),
        ("no numbers", format!("--- a/f\n+++ b/f\n@@\n{body}")),
        (
            "hunks that share a line of context",
            "--- a/f\n+++ b/f\n@@ -4,2 +4,2 @@\n 4\n-5\n+FIVE\n 6\n@@ -6,2 +6,3 @@\n 6\n-7\n+7\n 8\n".replace("FIVE", "five"),
        ),
        ("dots for numbers", format!("--- a/f\n+++ b/f\n@@ ... @@\n{body}")),
        ("no file header", format!("@@ -3,5 +3,5 @@\n{body}")),
        ("no prefixes", format!("--- f\n+++ f\n@@ -3,5 +3,5 @@\n{body}")),
        ("time stamps", format!("--- f\t2024-01-01\n+++ f\t2024-01-02\n@@ -3,5 +3,5 @@\n{body}")),
        (
            "prose around",
            format!("Here it is:\n\n--- a/f\n+++ b/f\n@@ -3,5 +3,5 @@\n{body}\nDone.\n"),
        ),
        ("prose, no numbers", format!("So:\n--- a/f\n+++ b/f\n@@ @@\n{body}\nDone.\n")),
        ("fenced", format!("```diff\n--- a/f\n+++ b/f\n@@ -3,5 +3,5 @@\n{body}```\n")),
        (
            "git header",
            format!(
                "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -3,5 +3,5 @@\n{body}-- \n2.4\n"
            ),
        ),
        (
            "CRLF transport",
            format!("--- a/f\n+++ b/f\n@@ -3,5 +3,5 @@\n{body}").replace('\n', "\r\n"),
        ),
        (
            "blank context",
            format!("--- a/f\n+++ b/f\n@@ -3,5 +3,5 @@\n{}", body.replace(" 3\n", " 3  \n")),
        ),
        (
            "wrong outer context",
            format!("--- a/f\n+++ b/f\n@@ -3,5 +3,5 @@\n{}", body.replace(" 3\n", " three\n")),
        ),
        ("no context", "--- a/f\n+++ b/f\n@@ -5 +5 @@\n-5\n+five\n".to_owned()),
        ("envelope", format!("*** Begin Patch\n*** Update File: f\n@@\n{body}*** End Patch\n")),
        (
            "envelope, anchored",
            "*** Begin Patch\n*** Update File: f\n@@ 4\n-5\n+five\n*** End Patch".to_owned(),
        ),
    ] {
        assert_eq!(
            run(&[("f", FILE)], &patch).map(|files| files["f"].clone()),
            Ok(changed.to_owned()),
            "{name}"
        );
    }
}

#[test]
fn line_ends_and_last_lines() {
    let patch = |body: &str| format!("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n{body}");
    for (name, before, body, after) in [
        ("LF patch, CRLF file", "a\r\nb\r\n", " a\n-b\n+B\n", "a\r\nB\r\n"),
        ("mixed file", "a\r\nb\nc\r\n", " a\n-b\n+B\n", "a\r\nB\nc\r\n"),
        ("line ends changed", "a\nb\n", " a\n-b\n+b\r\n", "a\nb\r\n"),
        (
            "marked",
            "a\nb",
            " a\n-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n",
            "a\nB",
        ),
        ("not marked", "a\nb", " a\n-b\n+B\n", "a\nB"),
        ("newline added", "a\nb", " a\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n"),
        ("newline removed", "a\nb\n", " a\n-b\n+b\n\\ No newline at end of file\n", "a\nb"),
        ("byte order mark", "\u{feff}a\nb\n", " a\n-b\n+B\n", "\u{feff}a\nB\n"),
        (
            "tabs for spaces",
            "\ta(1);\n\tb(2);\n",
            "     a(1);\n-    b(2);\n+    b(3);\n",
            "\ta(1);\n\tb(3);\n",
        ),
    ] {
        let got = run(&[("f", before)], &patch(body)).map(|files| files["f"].clone());
        assert_eq!(got, Ok(after.to_owned()), "{name}");
    }
}

#[test]
fn many_files_or_none() {
    let files = [("a", "1\n"), ("b", "x\n")];
    let both = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n--- a/b\n+++ b/b\n@@ -1 +1,2 @@\n x\n+y\n";
    let after = run(&files, both).unwrap();
    assert_eq!((after["a"].as_str(), after["b"].as_str()), ("2\n", "x\ny\n"));

    let made = "--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+1\n+2\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n";
    let after = run(&files, made).unwrap();
    assert_eq!((after.get("a"), after["n"].as_str()), (None, "1\n2\n"));

    let renamed = "diff --git a/a b/c\nsimilarity index 100%\nrename from a\nrename to c\n";
    let after = run(&files, renamed).unwrap();
    assert_eq!((after.get("a"), after["c"].as_str()), (None, "1\n"));

    let twice = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-2\n+3\n";
    assert_eq!(run(&files, twice).unwrap()["a"], "3\n");

    let envelope = "*** Begin Patch\n*** Update File: a\n*** Move to: d\n@@\n-1\n+2\n*** Add File: n\n+hello\n\n*** Delete File: b\n*** End Patch\n";
    let after = run(&files, envelope).unwrap();
    assert_eq!(
        after.into_iter().collect::<Vec<_>>(),
        [("d".into(), "2\n".into()), ("n".into(), "hello\n".into())]
    );
}

#[test]
fn refusals() {
    let files = [("f", FILE), ("g", "a\nb\na\nb\n")];
    let f = |body: &str| format!("--- a/f\n+++ b/f\n{body}");
    let g = |body: &str| format!("--- a/g\n+++ b/g\n{body}");
    for (name, patch, refused) in [
        ("nothing to read", "hello\n".to_owned(), "there is no patch in the text"),
        ("another text", f("@@ -1,2 +1,2 @@\n x\n-y\n+z\n"), "lines_differ"),
        ("two places", g("@@ -2,2 +2,2 @@\n a\n-b\n+B\n"), "ambiguous"),
        ("done before", f("@@ -1,2 +1,2 @@\n 1\n-two\n+2\n 3\n"), "already_applied"),
        ("the same lines", f("@@ -1,2 +1,2 @@\n x\n-y\n+y\n"), "no_change"),
        ("second of two", f("@@ -1 +1 @@\n-1\n+one\n@@ -9 +9 @@\n-x\n+y\n"), "lines_differ"),
        ("no such file", "--- a/n\n+++ b/n\n@@ -1 +1 @@\n-1\n+2\n".to_owned(), "not_found"),
        ("made already", "--- /dev/null\n+++ b/g\n@@ -0,0 +1 @@\n+x\n".to_owned(), "exists"),
        (
            "other content",
            "--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n".to_owned(),
            "content_differs",
        ),
        ("name taken", "diff --git a/f b/g\nrename from f\nrename to g\n".to_owned(), "exists"),
        (
            "binary",
            "diff --git a/f b/f\nGIT binary patch\nliteral 1\n".to_owned(),
            "unsupported_binary_patch",
        ),
        (
            "a link",
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+x\n"
                .to_owned(),
            "unsupported_mode",
        ),
        ("additions nowhere", f("@@\n+x\n"), "no_context"),
        (
            "anchor missing",
            "*** Begin Patch\n*** Update File: f\n@@ class A\n-x\n+y\n*** End Patch\n".to_owned(),
            "anchor_missing",
        ),
    ] {
        assert_eq!(reason(&files, &patch), refused, "{name}");
    }
    let error = run(&files, &f("@@ -1,2 +1,2 @@\n 1\n?2\n-3\n")).unwrap_err();
    assert_eq!(error.message, "line 5 of the patch begins with none of space, + and -");
    let error = run(&files, &f("@@ -4,2 +4,2 @@\n 4\n-six\n+6\n")).unwrap_err();
    assert_eq!(
        error.message,
        "hunk 1 of 1 does not apply to f: line 5 is \"5\", the patch has \"six\""
    );
}

#[test]
fn a_patch_can_be_undone() {
    let patch = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n";
    let undo = reverse(&parse(patch, None).unwrap()).unwrap();
    let files = BTreeMap::from([("f".to_owned(), b"1\ntwo\n3\n".to_vec())]);
    let changes = apply_to_files(&undo, &files, &PatchOptions::default()).unwrap();
    assert_eq!(changes[0].bytes.as_deref(), Some(&b"1\n2\n3\n"[..]));
}

fn texts() -> impl Strategy<Value = String> {
    let line = prop_oneof!["[abc]{0,2}\n", "[abc]{1,2}\r\n", "\t? ?x\n"];
    (proptest::collection::vec(line, 0..25), "[ab]{0,1}")
        .prop_map(|(lines, last)| lines.concat() + &last)
}

proptest! {
    #[test]
    fn every_diff_applies(before in texts(), after in texts(), context in 1u32..5) {
        prop_assume!(before != after);
        let format = Format {
            header: DiffHeader { before: Some(b"f"), after: Some(b"f") },
            context,
            line_ends: LineEndings::Raw,
            limits: DisplayLimits::default(),
        };
        let text = diff(Some(before.as_bytes()), Some(after.as_bytes()), &Default::default(), &format).text;
        let files = BTreeMap::from([("f".to_owned(), before.clone().into_bytes())]);
        let patch = parse(&text, None).unwrap();
        let changes = apply_to_files(&patch, &files, &PatchOptions::default()).unwrap();
        prop_assert_eq!(String::from_utf8_lossy(changes[0].bytes.as_deref().unwrap_or_default()), after.as_str(), "{}", text);
        let undone = apply_to_files(
            &reverse(&patch).unwrap(),
            &BTreeMap::from([("f".to_owned(), after.into_bytes())]),
            &PatchOptions::default(),
        ).unwrap();
        prop_assert_eq!(String::from_utf8_lossy(undone[0].bytes.as_deref().unwrap_or_default()), before.as_str(), "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused(
        patch in "((---|\\+\\+\\+|@@|diff --git|\\*\\*\\* (Begin Patch|Update File: f|Add File: n|End Patch))?[ +\\-@a-f0-9,/\\\\]{0,12}\r?\n){0,12}",
        file in "[a-f\n\r ]{0,20}",
    ) {
        let _ = run(&[("f", &file)], &patch);
    }
}

#[test]
fn every_malformed_envelope_says_what_is_wrong() {
    let envelope = |body: &str| format!("*** Begin Patch\n{body}*** End Patch\n");
    for (name, body, says) in [
        ("nothing in it", "", "names no file"),
        ("an update of nothing", "*** Update File: f\n", "has no hunk"),
        ("an added line without its mark", "*** Add File: f\nx\n", "does not begin with +"),
        ("a line without a mark", "*** Update File: f\n@@\n-1\n?2\n", "begins with none of"),
    ] {
        let error = parse(&envelope(body), None).unwrap_err();
        assert!(error.message.contains(says), "{name}: {error}");
    }
    let context = "*** f.old\n--- f\n***************\n*** 1,2 ****\n! a\n--- 1,2 ----\n! b\n";
    assert!(parse(context, None).unwrap_err().message.contains("context diff"));
}

#[test]
fn envelopes_say_where_and_what() {
    let at_end =
        "*** Begin Patch\n*** Update File: f\n@@\n-9\n+nine\n*** End of File\n*** End Patch\n";
    assert_eq!(run(&[("f", "9\n1\n9\n")], at_end).unwrap()["f"], "9\n1\nnine\n");
    let empty = "*** Begin Patch\n*** Add File: f\n*** End Patch\n";
    assert_eq!(run(&[], empty).unwrap()["f"], "");
    let moved =
        "*** Begin Patch\n*** Update File: f\n*** Move to: d/g\n@@\n-1\n+one\n*** End Patch\n";
    assert_eq!(run(&[("f", FILE)], moved).unwrap()["d/g"], FILE.replacen('1', "one", 1));
}

#[test]
fn names_in_quotes_are_those_of_c() {
    let patch = "diff --git \"a/\\a\\b\\n\\v\\f\\r\\t\\303\\251\\\\\\\"\" \"b/\\a\\b\\n\\v\\f\\r\\t\\303\\251\\\\\\\"\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/\\a\\b\\n\\v\\f\\r\\t\\303\\251\\\\\\\"\"\n@@ -0,0 +1 @@\n+x\n";
    let parsed = parse(patch, None).unwrap();
    let name = parsed.files[0].new.as_deref().unwrap();
    let bytes = crate::text::path::decode_name(name);
    assert_eq!(*bytes, *b"\x07\x08\n\x0b\x0c\r\t\xc3\xa9\\\"");
}

#[test]
fn git_deletes_a_file_in_its_own_form() {
    let body = "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n";
    for header in ["", "index 814f4a4..0000000\n", "index 814f4a4..0000000 100644\n"] {
        let patch = format!("diff --git a/f b/f\ndeleted file mode 100644\n{header}{body}");
        assert_eq!(run(&[("f", "one\ntwo\n")], &patch).unwrap().len(), 0, "{header}");
        assert_eq!(reason(&[("f", "one\nother\n")], &patch), "lines_differ", "{header}");
        assert_eq!(parse(&patch, None).unwrap().files.len(), 1);
    }
}

#[test]
fn names_keep_a_blank_at_their_end() {
    let changed =
        run(&[("sp ", "1\n")], "--- a/sp \t\n+++ b/sp \t\n@@ -1 +1 @@\n-1\n+2\n").unwrap();
    assert_eq!(changed.into_iter().collect::<Vec<_>>(), [("sp ".to_owned(), "2\n".to_owned())]);
    let patch = "diff --git a/x b/sp \nsimilarity index 100%\nrename from x\nrename to sp \n";
    assert_eq!(run(&[("x", "1\n")], patch).unwrap().into_keys().collect::<Vec<_>>(), ["sp "]);
}

#[test]
fn insertions_make_a_file_only_where_the_header_says_that_there_was_none() {
    let patch = |header: &str| format!("--- a/f\n+++ b/f\n{header}\n+x\n");
    assert_eq!(run(&[], &patch("@@ -0,0 +1 @@")).unwrap()["f"], "x\n");
    for header in ["@@ -5,0 +6 @@", "@@ -1,0 +2 @@", "@@"] {
        assert_eq!(reason(&[], &patch(header)), "not_found", "{header}");
    }
}

#[test]
fn the_last_line_of_a_crlf_file_ends_as_the_patch_says() {
    let crlf = |hunk: &str| format!("--- a/f\n+++ b/f\n{hunk}");
    let cases = [
        // An added last line without a line ending leaves no CR.
        (
            "a\r\nx\r\n",
            "@@ -1,2 +1,3 @@\n a\n x\n+b\n\\ No newline at end of file\n",
            "a\r\nx\r\nb",
        ),
        ("a\r\nx\r\n", "@@ -2 +2 @@\n-x\n+b\n\\ No newline at end of file\n", "a\r\nb"),
        ("a\r\nx\r\n", "@@ -2,0 +3 @@\n+b\n\\ No newline at end of file\n", "a\r\nx\r\nb"),
        // Lines added after a last line without a line ending get that of the previous lines.
        (
            "a\r\nx",
            "@@ -2 +2,2 @@\n-x\n\\ No newline at end of file\n+x\n+b\n\\ No newline at end of file\n",
            "a\r\nx\r\nb",
        ),
        (
            "a\r\nx",
            "@@ -1,2 +1,3 @@\n a\n-x\n\\ No newline at end of file\n+x\n+b\n",
            "a\r\nx\r\nb\r\n",
        ),
        ("a\r\nx", "@@ -2,0 +3 @@\n+b\n\\ No newline at end of file\n", "a\r\nx\r\nb"),
        // A CR that ends no line stays.
        ("a\nx\r", "@@ -1,2 +1,2 @@\n-a\n+b\n x\r\n\\ No newline at end of file\n", "b\nx\r"),
    ];
    for (before, hunk, after) in cases {
        assert_eq!(run(&[("f", before)], &crlf(hunk)).unwrap()["f"], after, "{before:?} {hunk}");
    }
}

#[test]
fn an_insertion_without_numbers_is_not_made_twice() {
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n import a\n+import b\n*** End Patch\n";
    let once = run(&[("f", "import a\ncode\n")], patch).unwrap();
    assert_eq!(once["f"], "import a\nimport b\ncode\n");
    assert_eq!(reason(&[("f", &once["f"])], patch), "already_applied");
    let anchored = "*** Begin Patch\n*** Update File: f\n@@ fn a() {\n+  x();\n*** End Patch\n";
    let once = run(&[("f", "fn a() {\n}\n")], anchored).unwrap();
    assert_eq!(once["f"], "fn a() {\n  x();\n}\n");
    assert_eq!(reason(&[("f", &once["f"])], anchored), "already_applied");
    // Context only before the additions says that nothing followed when the patch was made.
    let at_end = "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n 1\n 2\n+x\n";
    assert_eq!(run(&[("f", "1\n2\n")], at_end).unwrap()["f"], "1\n2\nx\n");
    assert_eq!(reason(&[("f", "1\n2\nx\n")], at_end), "already_applied");
    assert_eq!(run(&[("f", "1\n2\ny\n")], at_end).unwrap()["f"], "1\n2\nx\ny\n");
    // The same holds for a hunk whose lines precede its context.
    let ahead = "*** Begin Patch\n*** Update File: f\n@@\n+import b\n import a\n*** End Patch\n";
    let once = run(&[("f", "import a\ncode\n")], ahead).unwrap();
    assert_eq!(once["f"], "import b\nimport a\ncode\n");
    assert_eq!(reason(&[("f", &once["f"])], ahead), "already_applied");
    let at_top = "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n+x\n 1\n 2\n";
    assert_eq!(run(&[("f", "1\n2\n")], at_top).unwrap()["f"], "x\n1\n2\n");
    assert_eq!(reason(&[("f", "x\n1\n2\n")], at_top), "already_applied");
    // A hunk with only a number is inserted at that line, as git does.
    let numbered = "--- a/f\n+++ b/f\n@@ -1,0 +2 @@\n+x\n";
    assert_eq!(run(&[("f", "x\nx\n")], numbered).unwrap()["f"], "x\nx\nx\n");
}

#[test]
fn a_copy_is_of_what_was_there_before_the_patch() {
    for (source, hunk) in [("", "@@ -0,0 +1 @@\n+two\n"), ("one\n", "@@ -1 +1 @@\n-one\n+two\n")] {
        let update = format!("diff --git a/f b/f\n--- a/f\n+++ b/f\n{hunk}");
        let copy = "diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n".to_owned();
        for patch in [format!("{update}{copy}"), format!("{copy}{update}")] {
            let made = run(&[("f", source)], &patch).unwrap();
            assert_eq!((made["f"].as_str(), made["g"].as_str()), ("two\n", source), "{patch}");
        }
    }
}
