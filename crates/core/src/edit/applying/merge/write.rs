//! Converts the lines of the result to bytes of the file.

use std::ops::Range;

use super::{BlankEdges, Conflict, OutputLine};
use crate::edit::Splice;
use crate::edit::lines::trim;
use crate::edit::matching::haystack::Haystack;
use crate::edit::matching::normalize::{has_word, match_key};

/// This many bytes of words are not equal by chance.
const MIN_SIGNIFICANT_BYTES: usize = 6;
/// The maximum number of lines that an old text is assumed to have forgotten at an edge.
const MAX_FORGOTTEN: usize = 3;
/// The maximum number of lines that are checked for duplicates.
const MAX_COMPARED_LINES: usize = 200;

/// Drops new lines that are in the file already, because the old text forgot them at its edges and
/// the new text begins or ends with them. Equal lines beyond other new lines are new as well,
/// because functions often end alike, unless a blank line at that edge of the old text shows that
/// it forgot lines: then they stay at their position. Returns the lines that remain to be written.
///
/// # Errors
/// Refuses if the new text has lines that the old text forgot beyond lines that stay: they move.
pub(super) fn dedupe_insertions(
    hay: &Haystack<'_>,
    file: &Range<usize>,
    edges: BlankEdges,
    out: &mut Vec<OutputLine>,
) -> Result<Range<usize>, Conflict> {
    let made = |item: &&OutputLine| matches!(item, OutputLine::New(..));
    let mut lines = file.clone();
    let head = out.iter().take(MAX_COMPARED_LINES).take_while(made).count();
    let most = head.min(file.start);
    let whole = (1..=most).rev().find(|&count| is_there(hay, &out[..count], file.start - count));
    out.drain(..whole.unwrap_or(0));
    if whole.is_none() && edges.before {
        let count = lines_to_blank((0..file.start).rev().map(|line| hay.line(line)));
        if let Some(at) = only_place(hay, &out[..head], file.start - count..file.start) {
            lines.start -= count;
            out.splice(at..at + count, (lines.start..file.start).map(OutputLine::Keep));
        } else if head > 0 && is_made(hay, &out[head..], file.start - count..file.start) {
            return Err(Conflict::Unmentioned(file.start - 1));
        }
    }
    let tail = out.iter().rev().take(MAX_COMPARED_LINES).take_while(made).count();
    let most = tail.min(hay.len() - file.end);
    let whole = (1..=most).rev().find(|&count| is_there(hay, &out[out.len() - count..], file.end));
    out.truncate(out.len() - whole.unwrap_or(0));
    if whole.is_none() && edges.after {
        let (start, count) =
            (out.len() - tail, lines_to_blank((file.end..hay.len()).map(|line| hay.line(line))));
        if let Some(at) = only_place(hay, &out[start..], file.end..file.end + count) {
            lines.end += count;
            out.splice(start + at..start + at + count, (file.end..lines.end).map(OutputLine::Keep));
        } else if tail > 0 && is_made(hay, &out[..start], file.end..file.end + count) {
            return Err(Conflict::Unmentioned(file.end));
        }
    }
    Ok(lines)
}

/// Reports whether new lines contain the lines `there` of the file.
fn is_made(hay: &Haystack<'_>, items: &[OutputLine], there: Range<usize>) -> bool {
    !there.is_empty()
        && items.windows(there.len()).take(MAX_COMPARED_LINES).any(|items| {
            items.iter().all(|item| matches!(item, OutputLine::New(..)))
                && is_there(hay, items, there.start)
        })
}

/// Returns the number of lines before the first blank one, or 0 if it is more than `MAX_FORGOTTEN`.
fn lines_to_blank<'l>(lines: impl Iterator<Item = &'l [u8]>) -> usize {
    lines.take(MAX_FORGOTTEN + 1).position(|line| trim(line).is_empty()).unwrap_or(0)
}

/// Returns where the new lines contain the lines `there` of the file, if that is one position.
fn only_place(hay: &Haystack<'_>, items: &[OutputLine], there: Range<usize>) -> Option<usize> {
    let mut found = (0..(items.len() + 1).saturating_sub(there.len())).filter(|&at| {
        !there.is_empty() && is_there(hay, &items[at..at + there.len()], there.start)
    });
    found.next().filter(|_| found.next().is_none())
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
