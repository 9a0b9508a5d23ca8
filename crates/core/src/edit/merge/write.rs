//! Converts the lines of the result to bytes of the file.

use std::ops::Range;

use super::super::Splice;
use super::super::haystack::Haystack;
use super::super::normalize::{has_word, match_key};
use super::OutputLine;

/// This many bytes of words are not equal by chance.
const MIN_SIGNIFICANT_BYTES: usize = 6;
/// The maximum number of lines that are checked for duplicates.
const MAX_COMPARED_LINES: usize = 200;

/// Drops inserted lines that are in the file already, because the old text forgot them at its
/// edges: they stay, and the other new lines go before or after them. If new lines replace lines
/// there, an equal line is only a coincidence and stays. Returns the lines that remain to be
/// written.
pub(super) fn dedupe_insertions(
    hay: &Haystack<'_>,
    file: &Range<usize>,
    out: &mut Vec<OutputLine>,
) -> Range<usize> {
    let made = |item: &&OutputLine| matches!(item, OutputLine::New(..));
    let head = out.iter().take(MAX_COMPARED_LINES).take_while(made).count();
    let most = head.min(file.start);
    let whole = (1..=most).rev().find(|&count| is_there(hay, &out[..count], file.start - count));
    out.drain(..whole.unwrap_or(0));
    let starts_at =
        |item: Option<&OutputLine>, line| matches!(item, Some(OutputLine::Keep(at)) if *at == line);
    let inserted = whole.is_none() && starts_at(out.get(head), file.start);
    let ends = |count: &usize| is_there(hay, &out[head - count..head], file.start - count);
    let before = (1..=most).rev().filter(|_| inserted).find(ends).unwrap_or(0);
    if before > 0 {
        out.splice(head - before..head, (file.start - before..file.start).map(OutputLine::Keep));
    }
    let tail = out.iter().rev().take(MAX_COMPARED_LINES).take_while(made).count();
    let (start, most) = (out.len() - tail, tail.min(hay.len() - file.end));
    let whole = (1..=most).rev().find(|&count| is_there(hay, &out[out.len() - count..], file.end));
    out.truncate(out.len() - whole.unwrap_or(0));
    let last = file.end.wrapping_sub(1);
    let inserted = whole.is_none() && start > 0 && starts_at(out.get(start - 1), last);
    let begins = |count: &usize| is_there(hay, &out[start..start + count], file.end);
    let after = (1..=most).rev().filter(|_| inserted).find(begins).unwrap_or(0);
    if after > 0 {
        out.splice(start..start + after, (file.end..file.end + after).map(OutputLine::Keep));
    }
    file.start - before..file.end + after
}

/// Reports whether new lines have enough text and occur in the file from a line on.
fn is_there(hay: &Haystack<'_>, items: &[OutputLine], from: usize) -> bool {
    let keys = items.iter().map(|item| match item {
        OutputLine::New(text, _) => match_key(text),
        OutputLine::Keep(line) => match_key(hay.line(*line)),
    });
    let keys: Vec<Vec<u8>> = keys.collect();
    let significant_bytes: usize = keys.iter().filter(|key| has_word(key)).map(Vec::len).sum();
    significant_bytes >= MIN_SIGNIFICANT_BYTES
        && keys.iter().zip(from..).all(|(own, line)| *own == match_key(hay.line(line)))
}

/// Writes the lines that replace the file's lines `range`.
pub(super) fn write(hay: &Haystack<'_>, range: Range<usize>, out: &[OutputLine]) -> Splice {
    let lines = hay.len();
    let end_of =
        |at: usize| (at < lines).then(|| hay.file.split(at).1).filter(|end| !end.is_empty());
    let usual = || (0..lines).find_map(end_of);
    let before = range.start.checked_sub(1).and_then(end_of);
    let mut end = end_of(range.start).or(before).or_else(usual).unwrap_or(b"\n");
    let open = range.end == lines && lines > 0 && !hay.text.ends_with(b"\n");
    let mut with = Vec::new();
    for (index, item) in out.iter().enumerate() {
        let own = match item {
            OutputLine::Keep(at) => {
                with.extend_from_slice(hay.line(*at));
                end_of(*at)
            }
            OutputLine::New(text, instead) => {
                with.extend_from_slice(text);
                instead.and_then(end_of)
            }
        };
        end = own.unwrap_or(end);
        if !(open && index + 1 == out.len()) {
            with.extend_from_slice(end);
        }
    }
    Splice { range: hay.file.start(range.start)..hay.file.start(range.end), with }
}
