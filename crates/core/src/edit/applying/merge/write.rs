//! Converts the lines of the result to the bytes that replace those of the file.

use std::ops::Range;

use super::{BlankEdges, Conflict, OutputLine};
use crate::edit::Splice;
use crate::edit::lines::trim;
use crate::edit::matching::haystack::Haystack;
use crate::edit::matching::normalize::{has_word, match_key};

/// The minimum length in bytes of the lines with a word among some lines, from which their equality
/// with lines of the file is no chance.
const MIN_SIGNIFICANT_BYTES: usize = 6;
/// The maximum number of lines that an old text is assumed to have forgotten before its first or
/// after its last line.
const MAX_FORGOTTEN_LINES: usize = 3;
/// The maximum number of new lines at either edge that are checked for duplicates in the file.
const MAX_CHECKED_EDGE_LINES: usize = 200;

/// Drops new lines that are in the file already, because the old text forgot them at its edges and
/// the new text begins or ends with them. Equal lines further inside are not dropped, because
/// functions often end alike, unless a blank line at that edge of the old text shows that it forgot
/// lines: then the file's lines stay at their position. Returns the range of file lines (0-based)
/// that `out` replaces now.
///
/// # Errors
/// Refuses if the new text has lines that the old text forgot beyond lines that stay: they move.
pub(super) fn drop_existing_insertions(
    hay: &Haystack<'_>,
    file: &Range<usize>,
    edges: BlankEdges,
    out: &mut Vec<OutputLine>,
) -> Result<Range<usize>, Conflict> {
    let made = |item: &&OutputLine| matches!(item, OutputLine::New(..));
    let mut lines = file.clone();
    let head = out.iter().take(MAX_CHECKED_EDGE_LINES).take_while(made).count();
    let most = head.min(file.start);
    let whole =
        (1..=most).rev().find(|&count| equals_file_lines(hay, &out[..count], file.start - count));
    out.drain(..whole.unwrap_or(0));
    if whole.is_none() && edges.before > 0 {
        let count = count_lines_to_blank((0..file.start).rev().map(|line| hay.line(line)));
        if let Some(at) = unique_index_of(hay, &out[..head], file.start - count..file.start) {
            lines.start -= count;
            out.splice(at..at + count, (lines.start..file.start).map(OutputLine::Keep));
        } else if head > 0 && contains_file_lines(hay, &out[head..], file.start - count..file.start)
        {
            return Err(Conflict::Unmentioned(file.start - 1));
        }
    }
    let tail = out.iter().rev().take(MAX_CHECKED_EDGE_LINES).take_while(made).count();
    let most = tail.min(hay.len() - file.end);
    let whole =
        (1..=most).rev().find(|&count| equals_file_lines(hay, &out[out.len() - count..], file.end));
    out.truncate(out.len() - whole.unwrap_or(0));
    if whole.is_none() && edges.after > 0 {
        let (start, count) = (
            out.len() - tail,
            count_lines_to_blank((file.end..hay.len()).map(|line| hay.line(line))),
        );
        if let Some(at) = unique_index_of(hay, &out[start..], file.end..file.end + count) {
            lines.end += count;
            out.splice(start + at..start + at + count, (file.end..lines.end).map(OutputLine::Keep));
        } else if tail > 0 && contains_file_lines(hay, &out[..start], file.end..file.end + count) {
            return Err(Conflict::Unmentioned(file.end));
        }
    }
    Ok(lines)
}

/// Returns true if consecutive new lines equal the lines `there` of the file.
fn contains_file_lines(hay: &Haystack<'_>, items: &[OutputLine], there: Range<usize>) -> bool {
    !there.is_empty()
        && items.windows(there.len()).take(MAX_CHECKED_EDGE_LINES).any(|items| {
            items.iter().all(|item| matches!(item, OutputLine::New(..)))
                && equals_file_lines(hay, items, there.start)
        })
}

/// Returns the number of lines before the first blank one, or 0 if more than
/// [`MAX_FORGOTTEN_LINES`] lines precede it.
fn count_lines_to_blank<'l>(lines: impl Iterator<Item = &'l [u8]>) -> usize {
    lines.take(MAX_FORGOTTEN_LINES + 1).position(|line| trim(line).is_empty()).unwrap_or(0)
}

/// Returns the index at which the new lines contain the lines `there` of the file, if there is
/// exactly one.
fn unique_index_of(hay: &Haystack<'_>, items: &[OutputLine], there: Range<usize>) -> Option<usize> {
    let mut found = (0..(items.len() + 1).saturating_sub(there.len())).filter(|&at| {
        !there.is_empty() && equals_file_lines(hay, &items[at..at + there.len()], there.start)
    });
    found.next().filter(|_| found.next().is_none())
}

/// Returns true if the lines equal the file's lines from `from` on and have at least
/// [`MIN_SIGNIFICANT_BYTES`].
fn equals_file_lines(hay: &Haystack<'_>, items: &[OutputLine], from: usize) -> bool {
    let keys = items.iter().map(|item| match item {
        OutputLine::New(text, _) => match_key(text),
        OutputLine::Keep(line) => match_key(hay.line(*line)),
    });
    let keys: Vec<Vec<u8>> = keys.collect();
    let significant_bytes: usize = keys.iter().filter(|key| has_word(key)).map(Vec::len).sum();
    significant_bytes >= MIN_SIGNIFICANT_BYTES
        && keys.iter().zip(from..).all(|(own, line)| *own == match_key(hay.line(line)))
}

/// Returns the splice that writes `out` in place of the file's lines `range`. A line without a line
/// ending of its own takes that of the previous line.
pub(super) fn splice_lines(hay: &Haystack<'_>, range: Range<usize>, out: &[OutputLine]) -> Splice {
    let lines = hay.len();
    let end_of =
        |at: usize| (at < lines).then(|| hay.file.split_line(at).1).filter(|end| !end.is_empty());
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
