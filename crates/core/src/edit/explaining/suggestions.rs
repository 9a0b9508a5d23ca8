//! Builds the `candidates` detail of a refusal: positions in the file with their anchors, their
//! differing lines, and the text to send if it is short.

use std::ops::Range;

use serde_json::{Value, json};

use super::excerpt::displayed_line;
use crate::anchor::RepeatedLines;
use crate::diff::changes_between_lines;
use crate::edit::lines::FileLines;
use crate::text::prefix_of_chars;

/// The maximum number of candidates; further positions are left out.
const MAX_CANDIDATES: usize = 3;
/// The maximum length in bytes of a candidate's text; a longer one is left out, so that the caller
/// names it by its anchors.
const MAX_CANDIDATE_TEXT_BYTES: usize = 800;
/// The maximum number of differing lines of a candidate; further ones are left out.
const MAX_DIFFERING_LINES: usize = 6;
/// The maximum product of sent lines and file lines for which differences are listed.
const MAX_COMPARED_LINE_PAIRS: usize = 1_000_000;
/// The maximum length of a differing line in code points; the rest is cut.
const MAX_DIFFERENCE_CHARS: usize = 100;

/// Returns the candidates for positions of the file (ranges of 0-based lines), in their order. With
/// `sent`, each has its difference from these lines and, if it is short, its text.
pub(in crate::edit) fn candidates(
    file: &FileLines<'_>,
    ranges: &[Range<usize>],
    sent: Option<&[&[u8]]>,
) -> Value {
    let hashes = file.hashes();
    let repeated = RepeatedLines::among(&hashes);
    let mark = |at: usize| {
        let anchor: String = repeated.digits_at(&hashes, at).iter().collect();
        format!("{}#{anchor}", at + 1)
    };
    ranges
        .iter()
        .take(MAX_CANDIDATES)
        .filter_map(|range| candidate_json(file, range, sent, mark))
        .collect()
}

/// Returns one candidate; `None` if the range is empty or beyond the end of the file.
fn candidate_json(
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
        candidate["differs"] = differing_lines(&lines, range.start, sent).into();
        let end = file.start(last) + file.text(last).len();
        let text: Option<Vec<&str>> =
            lines.iter().map(|line| std::str::from_utf8(line).ok()).collect();
        if let Some(text) =
            text.filter(|_| end - file.start(range.start) <= MAX_CANDIDATE_TEXT_BYTES)
        {
            candidate["old_text"] = text.join("\n").into();
        }
    }
    Some(candidate)
}

/// Returns the differing lines in the form `- sent line` and `+ 131: text of line 131`.
fn differing_lines(lines: &[&[u8]], first: usize, sent: &[&[u8]]) -> Vec<String> {
    let mut told = Vec::new();
    if sent.len().saturating_mul(lines.len()) > MAX_COMPARED_LINE_PAIRS {
        return told;
    }
    for change in changes_between_lines(sent, lines) {
        let there = change.after.clone().map(|at| at as usize);
        let line = |mark: String, text: &[u8]| {
            mark + prefix_of_chars(&displayed_line(text), MAX_DIFFERENCE_CHARS)
        };
        told.extend(change.before.map(|at| line("- ".to_owned(), sent[at as usize])));
        told.extend(there.map(|at| line(format!("+ {}: ", first + at + 1), lines[at])));
        if told.len() > MAX_DIFFERING_LINES {
            told.truncate(MAX_DIFFERING_LINES);
            break;
        }
    }
    told
}
