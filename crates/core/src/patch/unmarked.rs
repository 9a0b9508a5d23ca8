//! Gives the context lines of a patch the blank that they begin with.
//!
//! Models write context lines as they stand in the file, without the mark, and then also those that
//! begin with a blank of their own. So in a hunk with such a line every line counts as unmarked but
//! for `+` and `-`. The patch is refused nevertheless; its retry has the marks.

use super::headers::{begins_mail_signature, is_hunk_header};
use super::v4a::begins_envelope;

/// Returns a patch with the marks of all context lines; `None` if no line lacks one.
pub(super) fn with_marks(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let is_envelope = lines.iter().any(|line| begins_envelope(line));
    let mut marked = String::with_capacity(text.len() + lines.len());
    let (mut at, mut found) = (0, false);
    while at < lines.len() {
        push_line(&mut marked, "", lines[at]);
        let begins_body = is_hunk_header(lines[at]) || lines[at].starts_with("*** Update File:");
        at += 1;
        if begins_body {
            let end = body_end(&lines, at, is_envelope);
            found |= mark_body(&mut marked, &lines[at..end], is_envelope);
            at = end;
        }
    }
    marked.pop();
    found.then_some(marked)
}

fn push_line(text: &mut String, mark: &str, line: &str) {
    text.push_str(mark);
    text.push_str(line);
    text.push('\n');
}

/// Returns the line (0-based) after the body that begins at line `from`. What follows the last
/// change of a diff may be prose.
fn body_end(lines: &[&str], from: usize, is_envelope: bool) -> usize {
    let is_name = |at: usize, mark: &str| lines.get(at).is_some_and(|line| line.starts_with(mark));
    let ends = |at: usize| {
        is_hunk_header(lines[at])
            || ["*** ", "diff --git ", "```"].iter().any(|mark| lines[at].starts_with(mark))
            || is_name(at, "--- ") && is_name(at + 1, "+++ ")
            || begins_mail_signature(lines[at])
    };
    let end = (from..lines.len()).find(|&at| ends(at)).unwrap_or(lines.len());
    if is_envelope {
        return end;
    }
    let is_changed = |at: &usize| lines[*at].starts_with(['+', '-']);
    (from..end).rev().find(is_changed).map_or(from, |at| at + 1)
}

/// Writes the lines of a body with their marks; returns true if one lacked its own.
fn mark_body(text: &mut String, lines: &[&str], is_envelope: bool) -> bool {
    let is_unmarked =
        |line: &str| !line.is_empty() && !line.starts_with([' ', '+', '-', '\\', '\r']);
    // The envelope has no such line.
    let is_extra = |line: &str| is_envelope && line.starts_with("\\ ");
    let lacks_marks = lines.iter().any(|line| is_unmarked(line));
    for line in lines.iter().filter(|line| !is_extra(line)) {
        let is_context = is_unmarked(line) || line.starts_with(' ');
        push_line(text, if lacks_marks && is_context { " " } else { "" }, line);
    }
    lacks_marks || lines.iter().any(|line| is_extra(line))
}

#[cfg(test)]
mod tests {
    use super::with_marks;

    #[test]
    fn a_hunk_with_an_unmarked_line_is_unmarked_as_a_whole() {
        for (name, sent, marked) in [
            (
                "an envelope",
                "*** Begin Patch\n*** Update File: f\n@@\nfn f() {\n  a\n-  b\n+  c\n\n}\n@@\n d\n-e\n*** End Patch",
                "*** Begin Patch\n*** Update File: f\n@@\n fn f() {\n   a\n-  b\n+  c\n\n }\n@@\n d\n-e\n*** End Patch",
            ),
            (
                "no header of a hunk",
                "*** Begin Patch\n*** Update File: f\nx\n-y\n*** End Patch\n",
                "*** Begin Patch\n*** Update File: f\n x\n-y\n*** End Patch\n",
            ),
            (
                "a note in an envelope",
                "*** Begin Patch\n*** Update File: f\n@@\n-y\n\\ No newline at end of file\n+z\n*** End Patch\n",
                "*** Begin Patch\n*** Update File: f\n@@\n-y\n+z\n*** End Patch\n",
            ),
            (
                "a diff with prose",
                "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\nx\n-y\n+z\nThat is all.\n",
                "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n x\n-y\n+z\nThat is all.\n",
            ),
        ] {
            assert_eq!(with_marks(sent).as_deref(), Some(marked), "{name}");
            assert_eq!(with_marks(marked), None, "{name}");
        }
    }
}
