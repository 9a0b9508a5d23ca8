//! Decides which of several places a hunk means by its anchors (`@@ text`), where the line number
//! in its header, which comes first (`locate.rs`), does not say.
//!
//! An anchor is a hint: a line of the file, a part of one, or the function header that git writes
//! behind the numbers of a hunk, also cut between two words. It never moves a hunk whose old lines stand
//! once. Of several places it chooses one only with a proof: the place is the only one in the block
//! that an occurrence of the anchor begins, or the only one that touches an occurrence. An anchor
//! that stands several times with the old lines below each proves nothing.

use std::ops::Range;

use super::Hunk;
use super::file::{
    LineComparison, TargetFile, eq_exact, eq_ignore_eol, eq_ignore_indent, eq_ignore_trailing_space,
};
use crate::edit::{self, WorkBudget};

/// The minimum length in bytes of an anchor that may be a part of a line; a shorter one must be a
/// whole line.
const MIN_PARTIAL_ANCHOR_BYTES: usize = 3;

/// The maximum number of lines that an anchor may stand on; one that stands on more proves nothing.
const MAX_ANCHOR_LINES: usize = 256;

/// The lines of the file that a hunk's last anchor can mean.
pub(super) struct AnchorPlaces {
    /// The anchored blocks: the line (0-based) of the anchor, and the line after its block.
    blocks: Vec<Range<usize>>,
    /// True if the last anchor was found as a whole line.
    pub whole: bool,
    /// The first anchor that the file does not have, or not below the previous one.
    pub missing: Option<String>,
}

impl AnchorPlaces {
    /// Finds the anchors of a hunk, each in the block of the previous one if it stands there.
    /// Returns `None` for a hunk without anchors.
    #[inline(never)]
    pub(super) fn of(file: &TargetFile<'_>, hunk: &Hunk, work: &WorkBudget) -> Option<Self> {
        if hunk.anchors.is_empty() {
            return None;
        }
        let mut found = Self { blocks: Vec::new(), whole: false, missing: None };
        for (index, anchor) in hunk.anchors.iter().enumerate() {
            let (mut lines, mut whole) = lines_with(file, anchor);
            // A line of a listing, with its number.
            let plain = edit::without_line_number(anchor);
            if lines.is_empty() && plain != anchor {
                (lines, whole) = lines_with(file, plain);
            }
            let outer = std::mem::take(&mut found.blocks);
            let inside = |&line: &usize| {
                outer.iter().any(|block| block.contains(&line) && line > block.start)
            };
            let nested: Vec<usize> = lines.iter().copied().filter(inside).collect();
            let after = |line: &usize| outer.first().is_none_or(|block| *line > block.start);
            let lines: Vec<usize> = match nested.is_empty() {
                true if index > 0 => lines.into_iter().filter(after).collect(),
                true => lines,
                false => nested,
            };
            if lines.is_empty() {
                found.missing = Some(anchor.clone());
                return Some(found);
            }
            found.whole = whole;
            let count = lines.len();
            if count > MAX_ANCHOR_LINES || !work.try_spend_times(count, file.lines.len()) {
                found.whole = false;
                return Some(found);
            }
            found.blocks = lines.into_iter().map(|line| line..block_end(file, line)).collect();
        }
        Some(found)
    }

    /// Returns the one of several places (0-based first lines of `count` old lines) that the anchor
    /// proves, or the places among which it does not decide.
    #[inline(never)]
    pub(super) fn choose(&self, places: &[usize], count: usize) -> Result<usize, Vec<usize>> {
        let lies_in = |place: usize, block: &Range<usize>| {
            let below = place > block.start && place < block.end;
            below || (place..place + count).contains(&block.start)
        };
        let inside: Vec<usize> = places
            .iter()
            .copied()
            .filter(|&place| self.blocks.iter().any(|block| lies_in(place, block)))
            .collect();
        if let [only] = inside.as_slice() {
            return Ok(*only);
        }
        let touches = |place: usize, block: &Range<usize>| {
            place <= block.start + 1 && block.start < place + count
        };
        let mut touching = inside
            .iter()
            .copied()
            .filter(|&place| self.blocks.iter().any(|block| touches(place, block)));
        match (touching.next(), touching.next()) {
            (Some(only), None) => Ok(only),
            _ if inside.is_empty() => Err(places.to_vec()),
            _ => Err(inside),
        }
    }

    /// Returns the line (0-based) after the anchor if it stands once as a whole line at or after
    /// `from`, for a hunk that has new lines only; otherwise the lines after each occurrence.
    pub(super) fn line_after(&self, from: usize) -> Result<usize, Vec<usize>> {
        let after: Vec<usize> =
            self.blocks.iter().map(|block| block.start + 1).filter(|&line| line >= from).collect();
        match after.as_slice() {
            [only] if self.whole => Ok(*only),
            _ => Err(after),
        }
    }
}

/// Returns the lines (0-based) that equal an anchor or, if there are none, that have it as a part;
/// also true if they equal it.
fn lines_with(file: &TargetFile<'_>, anchor: &str) -> (Vec<usize>, bool) {
    let wanted = [anchor.as_bytes()];
    let equal: [LineComparison; 4] =
        [eq_exact, eq_ignore_eol, eq_ignore_trailing_space, eq_ignore_indent];
    for same in equal {
        let lines = file.find(&wanted, 0, false, same);
        if !lines.is_empty() {
            return (lines, true);
        }
    }
    let part = anchor.trim().as_bytes();
    if part.len() < MIN_PARTIAL_ANCHOR_BYTES {
        return (Vec::new(), false);
    }
    let finder = memchr::memmem::Finder::new(part);
    let has_part = |line: &[u8]| {
        finder.find_iter(line).any(|at| {
            !continues_word(part.first(), line[..at].last())
                && !continues_word(part.last(), line.get(at + part.len()))
        })
    };
    let lines = (0..file.lines.len()).filter(|&line| has_part(file.lines[line]));
    (lines.collect(), false)
}

/// Returns true if two neighbouring bytes are of one word.
fn continues_word(inner: Option<&u8>, outer: Option<&u8>) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    inner.is_some_and(is_word) && outer.is_some_and(is_word)
}

/// Returns the line (0-based) after the block that a line begins: after the deeper lines below it,
/// or in flat text before the next blank line or the next line with the same mark (`#`, `[`, `=`).
fn block_end(file: &TargetFile<'_>, first: usize) -> usize {
    let depth = |line: &[u8]| line.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let is_blank = |line: &[u8]| line.iter().all(u8::is_ascii_whitespace);
    let own = depth(file.lines[first]);
    let rest = || (first + 1..file.lines.len()).map(|at| (at, file.lines[at]));
    let is_deeper = |line: &[u8]| depth(line) > own;
    let is_nested = rest().find(|(_, line)| !is_blank(line)).is_some_and(|(_, line)| {
        is_deeper(line) || depth(line) == own && line[own..].starts_with(b"{")
    });
    let mark = file.lines[first].get(own).copied().filter(|byte| b"#[=".contains(byte));
    let ends = |line: &[u8]| {
        if is_nested {
            !is_blank(line) && !is_deeper(line) && !continues_block(&line[depth(line)..])
        } else {
            match mark {
                Some(_) => depth(line) == own && line.get(own).copied() == mark,
                None => is_blank(line),
            }
        }
    };
    rest().find(|(_, line)| ends(line)).map_or(file.lines.len(), |(at, _)| at)
}

/// Returns true if a line as deep as the first of a block does not end the block: the end of a
/// signature over several lines, or `} else {`.
fn continues_block(text: &[u8]) -> bool {
    match text.trim_ascii_end() {
        [b')' | b']' | b'{', ..] => true,
        [b'}', .., last] => b"{(:[".contains(last),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::patch::PatchRequest;

    fn run(text: &str, anchors: &str, body: &str) -> Result<String, String> {
        let patch =
            format!("*** Begin Patch\n*** Update File: f\n{anchors}\n{body}*** End Patch\n");
        let request = PatchRequest::parse(&patch, "{}").map_err(|error| error.message)?;
        let contents = vec![Some(text.as_bytes().into())];
        match request.apply(&["f".to_owned()], contents) {
            Ok(files) => Ok(String::from_utf8_lossy(&files.contents[0]).into_owned()),
            Err(error) => Err(error.details["reason"].as_str().unwrap_or_default().to_owned()),
        }
    }

    const FILE: &str = "class A:\n    def f(self):\n        x = 1\n        return x\n\n    def g(self):\n        x = 1\n        return x\n\nclass B:\n    def f(self):\n        x = 1\n        return x\n";

    #[test]
    fn an_anchor_decides_only_with_a_proof() {
        let body = "-        x = 1\n+        x = 2\n";
        let nth = |n: usize| {
            let mut parts: Vec<&str> = FILE.split("x = 1").collect();
            let rest = parts.split_off(n);
            Ok(format!("{}x = 2{}", parts.join("x = 1"), rest.join("x = 1")))
        };
        let ambiguous = || Err("ambiguous".to_owned());
        for (name, anchors, result) in [
            ("once", "@@     def g(self):", nth(2)),
            ("a part of a line", "@@ def g(self)", nth(2)),
            ("git's header, cut", "@@ def g(se", ambiguous()),
            ("twice", "@@     def f(self):", ambiguous()),
            ("nested", "@@ class B:\n@@     def f(self):", nth(3)),
            ("nested, in parts", "@@ class A\n@@ def f", nth(1)),
            ("a block with several places", "@@ class A:", ambiguous()),
            ("a block with one", "@@ class B:", nth(3)),
            ("missing", "@@ def h(self):", ambiguous()),
        ] {
            assert_eq!(run(FILE, anchors, body), result, "{name}");
        }
    }

    #[test]
    fn old_lines_that_stand_once_decide() {
        let file = "fn f() {\n    one();\n}\nfn g() {\n    two();\n}\n";
        let body = "-    two();\n+    three();\n";
        let made = Ok(file.replace("two", "three"));
        for anchors in ["@@ fn g() {", "@@ fn f() {", "@@ fn missing() {", "@@ the second function"]
        {
            assert_eq!(run(file, anchors, body), made, "{anchors}");
        }
    }

    #[test]
    fn an_insertion_needs_an_anchor_that_stands_once() {
        let file = "fn f(\n    a: u8,\n) {\n}\nfn g() {\n}\nfn g() {\n}\n";
        let body = "+    new();\n";
        assert_eq!(run(file, "@@ fn g() {", body), Err("ambiguous".to_owned()));
        assert_eq!(run(file, "@@ fn f", body), Err("anchor_missing".to_owned()));
        assert_eq!(run(file, "@@ fn h() {", body), Err("anchor_missing".to_owned()));
        let made = file.replacen(") {\n", ") {\n    new();\n", 1);
        assert_eq!(run(file, "@@ ) {", body), Ok(made));
    }

    proptest! {
        /// Two equal blocks under equal anchors are never told apart, whatever is in them.
        #[test]
        fn equal_anchors_over_equal_lines_are_ambiguous(
            lines in proptest::collection::vec("[a-c]{1,3}", 1..5),
            at: prop::sample::Index,
        ) {
            let block: String = lines.iter().map(|line| format!("  {line}\n")).collect();
            let file = format!("head {{\n{block}}}\nhead {{\n{block}}}\n");
            let old = &lines[at.index(lines.len())];
            let body = format!("-  {old}\n+  {old}{old}{old}{old}\n");
            prop_assert_eq!(run(&file, "@@ head {", &body), Err("ambiguous".to_owned()));
        }
    }
}
