//! What a program can send instead of a refused edit: places of the file with
//! their anchors, their differing lines, and the text to send where it is short.

use std::ops::Range;

use serde_json::{Value, json};

use super::excerpt::show;
use super::lines::FileLines;
use crate::anchor::Repeated;
use crate::diff::changes_between;
use crate::text::cut_chars;

/// Places that are told, at most.
const PLACES: usize = 3;
/// Bytes of a text to send instead, at most; beyond that, anchors must do.
const SENDABLE: usize = 800;
/// Differing lines that are told of a place, at most.
const DIFFERING: usize = 6;
/// Lines sent times lines there that are compared, at most.
const COMPARED: usize = 1_000_000;
/// Characters of such a line, at most.
const SHOWN: usize = 100;

/// Places of the file (lines, 0-based) to send instead, the best first. `sent`
/// is what they are compared with.
pub(super) fn candidates(
    file: &FileLines<'_>,
    ranges: &[Range<usize>],
    sent: Option<&[&[u8]]>,
) -> Value {
    let hashes = file.hashes();
    let repeated = Repeated::among(&hashes);
    let mark = |at: usize| {
        let anchor: String = repeated.digits_at(&hashes, at).iter().collect();
        format!("{}#{anchor}", at + 1)
    };
    ranges.iter().take(PLACES).filter_map(|range| candidate(file, range, sent, mark)).collect()
}

fn candidate(
    file: &FileLines<'_>,
    range: &Range<usize>,
    sent: Option<&[&[u8]]>,
    mark: impl Fn(usize) -> String,
) -> Option<Value> {
    let last = range.end.checked_sub(1).filter(|&last| last < file.len())?;
    let mut candidate = json!({
        "start_line": range.start + 1,
        "end_line": range.end,
        "from": mark(range.start),
        "to": mark(last),
    });
    let lines: Vec<&[u8]> = range.clone().map(|at| file.text(at)).collect();
    if let Some(sent) = sent {
        candidate["differs"] = differing(&lines, range.start, sent).into();
        let end = file.start(last) + file.text(last).len();
        let text: Option<Vec<&str>> =
            lines.iter().map(|line| std::str::from_utf8(line).ok()).collect();
        if let Some(text) = text.filter(|_| end - file.start(range.start) <= SENDABLE) {
            candidate["old_text"] = text.join("\n").into();
        }
    }
    Some(candidate)
}

/// `- what was sent`, `+ 131: what line 131 says`.
fn differing(lines: &[&[u8]], first: usize, sent: &[&[u8]]) -> Vec<String> {
    let mut told = Vec::new();
    if sent.len().saturating_mul(lines.len()) > COMPARED {
        return told;
    }
    for change in changes_between(sent, lines) {
        let there = change.after.clone().map(|at| at as usize);
        let line = |mark: String, text: &[u8]| mark + cut_chars(&show(text), SHOWN);
        told.extend(change.before.map(|at| line("- ".to_owned(), sent[at as usize])));
        told.extend(there.map(|at| line(format!("+ {}: ", first + at + 1), lines[at])));
        if told.len() > DIFFERING {
            told.truncate(DIFFERING);
            break;
        }
    }
    told
}
