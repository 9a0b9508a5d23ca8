//! Tests of the patches to send instead of refused ones.

use proptest::prelude::*;

use crate::patch::PatchRequest;

/// Applies a patch to the file `f`; returns the content, or the retries of the refusal.
fn send(text: &str, patch: &str) -> Result<String, Vec<String>> {
    let request = PatchRequest::parse(patch, "{}").unwrap();
    match request.apply(&["f".to_owned()], vec![Some(text.as_bytes().into())]) {
        Ok(files) => Ok(String::from_utf8_lossy(&files.contents[0]).into_owned()),
        Err(error) => {
            let patch = |retry: &serde_json::Value| retry["patch"].as_str().unwrap().to_owned();
            let one = error.details.get("retry").map(patch);
            let several = error.details.get("retries").and_then(|all| all.as_array());
            Err(one.into_iter().chain(several.into_iter().flatten().map(patch)).collect())
        }
    }
}

fn envelope(body: &str) -> String {
    format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n")
}

const FILE: &str = "fn first() {\n    one();\n    two();\n    three();\n}\n\nfn second(a: u8, b: u8) {\n    four(a);\n    two();\n    five(b);\n}\n";

#[test]
fn a_refused_patch_has_the_patch_to_send_instead() {
    let made = |pairs: &[(&str, &str)]| {
        pairs.iter().fold(FILE.to_owned(), |text, (from, to)| text.replacen(from, to, 1))
    };
    for (name, body, result) in [
        (
            "hunks out of order",
            "@@\n-    five(b);\n+    six(b);\n@@\n-    one();\n+    zero();\n",
            made(&[("five(b)", "six(b)"), ("one()", "zero()")]),
        ),
        (
            "a hunk that is there already",
            "@@\n-    zero();\n+    one();\n@@\n-    three();\n+    tree();\n",
            made(&[("three()", "tree()")]),
        ),
        (
            "a hunk without a change",
            "@@\n-    nowhere();\n+    nowhere();\n@@\n-    three();\n+    tree();\n",
            made(&[("three()", "tree()")]),
        ),
        (
            "line numbers of a listing",
            "@@\n 7|fn second(a: u8, b: u8) {\n-8|    four(a);\n+8|    for(a);\n 9|    two();\n",
            made(&[("four(a)", "for(a)")]),
        ),
        (
            "a context line that is not there",
            "@@\n fn first() {\n     one();\n     absolutely_other();\n-    two();\n+    2;\n     three();\n }\n",
            made(&[("two()", "2")]),
        ),
        (
            "a changed line with another argument",
            "@@\n-fn second(a: u8) {\n+pub fn second(a: u8) {\n     four(a);\n     two();\n     five(b);\n",
            made(&[("fn second", "pub fn second")]),
        ),
    ] {
        let retries = send(FILE, &envelope(body)).unwrap_err();
        let [retry] = retries.as_slice() else { panic!("{name}: {retries:?}") };
        assert_eq!(send(FILE, retry), Ok(result), "{name}: {retry}");
    }
}

const CALLS: &str = "fn take(\n  width,\n  height,\n) {\n  if pooled {\n    fill(\n      width,\n      height,\n    );\n    return one;\n  }\n  return make(\n    width,\n    height,\n  );\n}\n";

/// Returns a file with some of its lines (1-based) replaced.
fn with_lines(file: &str, changes: &[(usize, &str)]) -> String {
    let line = |(at, line): (usize, &str)| {
        let change = changes.iter().find(|(changed, _)| *changed == at + 1);
        format!("{}\n", change.map_or(line, |(_, made)| made))
    };
    file.lines().enumerate().map(line).collect()
}

#[test]
fn context_that_is_a_hunk_of_its_own_says_the_place_of_the_next_one() {
    let change = "@@\n-  height,\n+  depth,\n";
    let call = (8, "      depth,");
    let make = (14, "    depth,");
    for (name, body, changes) in [
        ("the lines touch", format!("@@\n fill(\n width,\n{change}"), vec![call]),
        (
            "the context has the lines",
            format!("@@\n fill(\n width,\n height,\n{change}"),
            vec![call],
        ),
        ("the lines are in its block", format!("@@ if pooled {{\n fill(\n{change}"), vec![call]),
        (
            "two of them",
            format!("@@\n fill(\n width,\n{change}@@\n return make(\n width,\n{change}"),
            vec![call, make],
        ),
        (
            "with an anchor",
            format!("@@ fill(\n width,\n{change}@@ return make(\n width,\n{change}"),
            vec![call, make],
        ),
        (
            "a context that is not quite there",
            format!(
                "@@\n fill(\n width,\n{change}@@\n   return one;\n }} else {{\n return make(\n width,\n{change}"
            ),
            vec![call, make],
        ),
        (
            "the same change twice",
            format!(
                "@@\n fill(\n width,\n{change}@@\n return make(\n width,\n{change}@@\n make(\n width,\n{change}"
            ),
            vec![call, make],
        ),
    ] {
        let retries = send(CALLS, &envelope(&body)).unwrap_err();
        let [retry] = retries.as_slice() else { panic!("{name}: {retries:?}") };
        assert_eq!(send(CALLS, retry), Ok(with_lines(CALLS, &changes)), "{name}: {retry}");
    }
}

const SWAPPED: &str = "if late {\n    let listener = || {\n        abort(reason);\n        remove(listener);\n    };\n    listen(listener);\n} else {\nlet signal = options.signal;\nif signal.aborted {\n    stop();\n}\n}\nclose();\n";
const SWAPPED_BACK: &str = "if late {\nlet signal = options.signal;\nif signal.aborted {\n    stop();\n} else {\n    let listener = || {\n        abort(reason);\n        remove(listener);\n    };\n    listen(listener);\n}\n}\nclose();\n";

#[test]
fn a_hunk_that_is_applied_in_part_is_completed() {
    for (name, file, body, made) in [
        (
            "one change is made, the other is not",
            FILE.replace("one()", "zero()"),
            "@@\n fn first() {\n-    one();\n+    zero();\n     two();\n-    three();\n+    tree();\n",
            FILE.replace("one()", "zero()").replace("three", "tree"),
        ),
        (
            "the new lines stand below the old ones",
            format!("{SWAPPED}{}", SWAPPED_BACK.replace("close", "finish")),
            "@@\n if late {\n-    let listener = || {\n-        abort(reason);\n-        remove(listener);\n-    };\n-    listen(listener);\n-} else {\n+let signal = options.signal;\n+if signal.aborted {\n     stop();\n+} else {\n+    let listener = || {\n+        abort(reason);\n+        remove(listener);\n+    };\n+    listen(listener);\n }\n+}\n close();\n",
            format!("{SWAPPED_BACK}{}", SWAPPED_BACK.replace("close", "finish")),
        ),
        (
            "a line to remove is gone already",
            FILE.to_owned(),
            "@@\n fn first() {\n+    zero();\n     one();\n     two();\n-    extra();\n     three();\n",
            FILE.replace("    one", "    zero();\n    one"),
        ),
        (
            "a blank line of the hunk is not there",
            FILE.to_owned(),
            "@@\n fn first() {\n+    zero();\n     one();\n \n     two();\n-    extra();\n     three();\n",
            FILE.replace("    one", "    zero();\n    one"),
        ),
        (
            "with CRLF",
            FILE.replace("one()", "zero()").replace('\n', "\r\n"),
            "@@\n fn first() {\n-    one();\n+    zero();\n     two();\n-    three();\n+    tree();\n",
            FILE.replace("one()", "zero()").replace("three", "tree").replace('\n', "\r\n"),
        ),
    ] {
        let retries = send(&file, &envelope(body)).unwrap_err();
        let [retry] = retries.as_slice() else { panic!("{name}: {retries:?}") };
        assert_eq!(send(&file, retry), Ok(made), "{name}: {retry}");
    }
}

#[test]
fn marks_of_a_listing_and_of_the_model_are_taken_off() {
    let made = FILE.replace("one()", "zero()");
    for (name, body, results) in [
        (
            "context without its blank",
            "@@\nfn first() {\n-    one();\n+    zero();\n    two();\n    three();\n}\n",
            vec![made.clone()],
        ),
        (
            "numbers and tabs, with the marks behind the blank",
            "@@\n 1\tfn first() {\n -\t    one();\n +\t    zero();\n 3\t    two();\n",
            vec![made.clone()],
        ),
        (
            "hashes without a blank before them",
            "@@\n1:k3x| fn first() {\n-2:9ab|     one();\n+2:9ab|     zero();\n3:0cd|     two();\n",
            vec![made.clone()],
        ),
        (
            "anchors of a listing, twice",
            "@@ @@ 1:k3x| fn first() {\n@@ @@ 1:k3x| fn first() {\n+    zero();\n",
            vec![FILE.replace("    one", "    zero();\n    one")],
        ),
        (
            "an anchor that is the line to replace",
            "@@ LINE:8:k3x|     four(a);\n+    four(b);\n",
            vec![
                FILE.replace("four(a);", "four(a);\n    four(b);"),
                FILE.replace("four(a)", "four(b)"),
            ],
        ),
        (
            "the anchor of a line that stands in other places too",
            "@@ fn second(a: u8, b: u8) {\n+zero();\n four(a);\n@@ fn first() {\n one();\n-two();\n+2;\n",
            vec![FILE.replacen("two()", "2", 1).replace("    four", "    zero();\n    four")],
        ),
        (
            "a hunk that is sent twice",
            "@@ fn second(a: u8, b: u8) {\n     four(a);\n-    two();\n+    2;\n@@ fn second(a: u8, b: u8) {\n     four(a);\n-    two();\n+    2;\n",
            vec![FILE.replace("four(a);\n    two()", "four(a);\n    2")],
        ),
        (
            "context that is nowhere around a line that stands once",
            "@@\n nothing_like_this;\n not_this;\n nor_this;\n-fn second(a: u8, b: u8) {\n+fn third(a: u8, b: u8) {\n nor_like_this;\n or_this;\n at_all;\n",
            vec![FILE.replace("fn second", "fn third")],
        ),
    ] {
        let retries = send(FILE, &envelope(body)).unwrap_err();
        let made: Vec<String> = retries.iter().map(|retry| send(FILE, retry).unwrap()).collect();
        assert_eq!(made, results, "{name}: {retries:?}");
    }
}

#[test]
fn an_ambiguous_patch_has_a_retry_for_each_place() {
    let first = FILE.replacen("two()", "2", 1);
    let both = FILE.replace("two()", "2");
    let second = both.replacen("    2;", "    two();", 1);
    for (name, body, results) in [
        ("no context", "@@\n-    two();\n+    2;\n", [&first, &second]),
        (
            "context that is nowhere",
            "@@\n one_line\n another_line\n-    two();\n+    2;\n yet_another\n",
            [&first, &second],
        ),
        (
            "new lines at the number of a line",
            "@@ 8\n+    zero();\n",
            [
                &FILE.replace("    four(a);", "    zero();\n    four(a);"),
                &FILE.replace("four(a);", "four(a);\n    zero();"),
            ],
        ),
    ] {
        let retries = send(FILE, &envelope(body)).unwrap_err();
        let made: Vec<String> = retries.iter().map(|retry| send(FILE, retry).unwrap()).collect();
        assert_eq!(made.iter().collect::<Vec<_>>(), results, "{name}: {retries:?}");
    }
}

#[test]
fn a_change_says_its_place_where_the_context_is_not_that_of_the_file() {
    let third = FILE.replace("fn second", "fn third");
    for (name, body, made) in [
        (
            "a line that stands once, near a line of its context",
            "@@\n nothing_like_this;\n not_this;\n nor_this;\n-fn second(a: u8, b: u8) {\n+fn third(a: u8, b: u8) {\n nor_like_this;\n or_this;\n     five(b);\n",
            third.clone(),
        ),
        (
            "lines below a line of their context",
            "@@\n fn second(a: u8, b: u8) {\n not_this;\n nor_this;\n nor_like_this;\n-    four(a);\n-    two();\n-    five(b);\n+    2;\n or_this;\n at_all;\n of_it;\n",
            FILE.replace("    four(a);\n    two();\n    five(b)", "    2"),
        ),
        (
            "new lines between lines that stand once",
            "@@\n nothing_like_this;\n not_this;\n nor_this;\n fn second(a: u8, b: u8) {\n     four(a);\n+    zero();\n     two();\n     five(b);\n nor_like_this;\n or_this;\n at_all;\n",
            FILE.replace("four(a);", "four(a);\n    zero();"),
        ),
        (
            "a part of a line",
            "@@\n nothing_like_this;\n-  second(a: u8, b: u8)\n+  third(a: u8, b: u8)\n",
            third.clone(),
        ),
        (
            "a part of the context, sent as a line of its own",
            "@@\n fn second(a: u8, b: u8) {\n-    b: u8;\n+    b: u16;\n",
            FILE.replace("b: u8)", "b: u16)"),
        ),
        (
            "a part of a line that the context leaves out",
            "@@\n     two();\n     three();\n }\n \n-    (a: u8\n+    (c: u8\n     four(a);\n     two();\n     five(b);\n",
            FILE.replace("(a: u8", "(c: u8"),
        ),
        (
            "the header of a diff inside the envelope",
            "@@\n--- a/f\n+++ b/f\n@@ 7,2 +7,2 @@\n-fn second(a: u8, b: u8) {\n+fn third(a: u8, b: u8) {\n     four(a);\n",
            third.clone(),
        ),
        (
            "a header that is not well formed",
            "@@ 7,2 @@ fn second(a: u8, b: u8) {\n+    zero();\n",
            FILE.replace("    four", "    zero();\n    four"),
        ),
        (
            "a line of a listing that has kept its hash",
            "@@\n 7:k3x|fn second(a: u8, b: u8) {\n 8:9ab|    four(a);\n+    zero();\n+0cd|    two();\n",
            FILE.replace("four(a);", "four(a);\n    zero();"),
        ),
    ] {
        let retries = send(FILE, &envelope(body)).unwrap_err();
        let [retry] = retries.as_slice() else { panic!("{name}: {retries:?}") };
        assert_eq!(send(FILE, retry), Ok(made), "{name}: {retry}");
    }
    let text = "let wide =\n    width != none && is_wide(width);\n";
    let body = "@@\n invented();\n-let wide = width != none && is_wide(width);\n+let wide = width != none || is_wide(width);\n";
    let retries = send(text, &envelope(body)).unwrap_err();
    assert_eq!(send(text, &retries[0]), Ok(text.replace("&&", "||")));
    let twice = "if style_is_ready {\n    self.style_is_ready = style_is_ready;\n    go();\n}\n";
    let body = "@@\n if style_is_ready {\n     self.style_is_ready = style_is_ready;\n-    style_is_ready\n+    other\n";
    assert_eq!(send(twice, &envelope(body)), Err(Vec::new()), "a line that has it twice");
    let far = format!("{FILE}{}fn late() {{\n}}\n", "x;\n".repeat(30));
    let body = "@@\n fn late() {\n not_this;\n nor_this;\n-fn second(a: u8, b: u8) {\n+fn third(a: u8, b: u8) {\n";
    assert_eq!(send(&far, &envelope(body)), Err(Vec::new()), "its context stands elsewhere");
}

#[test]
fn nothing_is_guessed() {
    for body in [
        "@@\n-    nine();\n+    ten();\n",
        "@@\n-    four(c);\n+    four(d);\n",
        "@@ fn third() {\n+    two();\n",
        // A line of the context stands above the line to replace, and not below.
        "@@\n nothing_like_this;\n not_this;\n-fn second(a: u8, b: u8) {\n+fn third(a: u8, b: u8) {\n nor_this;\n or_this;\n     one();\n",
        // The changed words stand twice in the context.
        "@@\n fn second(a: u8, b: u8) {\n-    : u8;\n+    : u16;\n",
        // Beside the word that changes stands another one than in the file.
        "@@\n }\n \n-    (a: u16\n+    (c: u16\n     four(a);\n     two();\n     five(b);\n",
        // No such line.
        "@@ 12\n+    zero();\n",
        // The context below which the lines stand is not clear, or has two of them.
        "@@\n     two();\n@@\n-    one()\n+    zero()\n",
        // A line to replace is neither there nor replaced.
        "@@\n fn first() {\n     one();\n-    nine();\n+    ten();\n     two();\n+    more();\n",
        // A line of the patch that is torn in two.
        "@@\n-fn fir\nst() {\n-    one();\n+fn first() {\n+    zero();\n",
        // A listing that only has other numbers.
        "@@\n 2|    one();\n-3|    two();\n 4|    three();\n+3|    three();\n",
        // Nothing is left to do.
        "@@\nfn first() {\n-    one();\n+    one();\n",
        // The lines move: without the first hunk they would be gone.
        "@@\n fn first() {\n+    one();\n     one();\n     two();\n@@\n     four(a);\n-    one();\n     two();\n",
    ] {
        assert_eq!(send(FILE, &envelope(body)), Err(Vec::new()), "{body}");
    }
}

#[test]
fn the_other_files_of_a_patch_stay_as_they_were_sent() {
    let diff = "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n--- a/f\n+++ b/f\n@@ -8 +8 @@\n-    five(b);\n+    six(b);\n@@ -2 +2 @@\n-    one();\n+    zero();\n";
    let request = PatchRequest::parse(diff, "{}").unwrap();
    let names = ["g".to_owned(), "f".to_owned()];
    let contents = || vec![Some(b"x\n"[..].into()), Some(FILE.as_bytes().into())];
    let error = request.apply(&names, contents()).unwrap_err();
    let retry = error.details["retry"]["patch"].as_str().unwrap();
    assert!(retry.starts_with("--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n--- a/f\n"), "{retry}");
    let again = PatchRequest::parse(retry, "{}").unwrap().apply(&names, contents()).unwrap();
    let made = FILE.replace("five", "six").replace("one", "zero");
    assert_eq!(again.contents, [b"y\n".to_vec(), made.into_bytes()]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A retry works when it is sent as it stands, and changes only the line that the patch
    /// changes.
    #[test]
    fn a_retry_works_and_changes_only_the_meant_line(
        lines in proptest::collection::vec("[ab]{1,2}( [cd]{1,4}){0,3}", 3..14),
        from: prop::sample::Index,
        count in 1..5usize,
        mistake in prop_oneof!["[a-d ]{0,6}", "\\PC{0,12}"],
        at: prop::sample::Index,
        indent in " {0,2}",
    ) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let from = from.index(lines.len());
        let part = &lines[from..(from + count).min(lines.len())];
        let wrong = at.index(part.len());
        let context = part.iter().enumerate().map(|(index, line)| {
            let extra = if index == wrong { &mistake } else { "" };
            format!(" {indent}{line}{extra}\n")
        });
        let body = format!("@@\n{}+{indent}zzzz\n", context.collect::<String>());
        if let Err(retries) = send(&text, &envelope(&body)) {
            for retry in retries {
                let made = send(&text, &retry).unwrap();
                let kept: String =
                    made.lines().filter(|line| line.trim() != "zzzz").map(|line| format!("{line}\n")).collect();
                prop_assert_eq!(&kept, &text);
            }
        }
    }

    /// Whatever the hunks are, the lines that a retry adds are lines that the patch adds, and the
    /// lines that it removes are lines that the patch removes, but for their indentation.
    #[test]
    fn a_retry_adds_and_removes_only_lines_of_the_patch(
        file in proptest::collection::vec(" {0,2}[ab]{1,2}[cd]", 4..16),
        hunks in proptest::collection::vec(
            proptest::collection::vec((0..4usize, " {0,2}([ab]{1,2}[cd]|zz)"), 1..5),
            1..5,
        ),
        unmarked in proptest::bool::weighted(0.2),
    ) {
        let text: String = file.iter().map(|line| format!("{line}\n")).collect();
        let mark = |kind: usize| match (kind, unmarked) {
            (0, _) => "-",
            (1, _) => "+",
            (_, true) => "",
            (_, false) => " ",
        };
        let body: String = hunks
            .iter()
            .map(|hunk| {
                let lines = hunk.iter().map(|(kind, line)| format!("{}{line}\n", mark(*kind)));
                format!("@@\n{}", lines.collect::<String>())
            })
            .collect();
        let lines_of = |wanted: usize| -> Vec<&str> {
            let lines = hunks.iter().flatten().filter(|(kind, _)| *kind == wanted);
            lines.map(|(_, line)| line.trim()).collect()
        };
        let count = |text: &str, line: &str| text.lines().filter(|one| one.trim() == line).count();
        let (removed, added) = (lines_of(0), lines_of(1));
        if let Err(retries) = send(&text, &envelope(&body)) {
            for retry in retries {
                let made = send(&text, &retry).unwrap();
                for line in made.lines().map(str::trim) {
                    prop_assert!(
                        count(&made, line) <= count(&text, line) || added.contains(&line),
                        "{line} is new in {made:?}"
                    );
                }
                for line in text.lines().map(str::trim) {
                    prop_assert!(
                        count(&made, line) >= count(&text, line) || removed.contains(&line),
                        "{line} is gone in {made:?}"
                    );
                }
            }
        }
    }
}
