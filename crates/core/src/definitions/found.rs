//! Collects definitions by offsets and turns them into lines and parents.

use std::collections::HashMap;
use std::ops::Range;

use super::{Definition, Kind};

/// A definition by offsets of bytes.
#[derive(Debug)]
pub(super) struct Found {
    /// The kind.
    pub kind: Kind,
    /// The name.
    pub name: Range<usize>,
    /// The name of the type that it says to be of: the receiver of a method of Go.
    pub owner: Option<Range<usize>>,
    /// The first decorator or attribute, or the definition itself.
    pub lead: usize,
    /// The first byte of the definition.
    pub start: usize,
    /// The last byte of the definition.
    pub last: usize,
}

/// Returns the definitions in order. `comments` are the first and last byte of each comment that
/// begins its line, in order.
pub(super) fn finish(
    text: &[u8],
    mut found: Vec<Found>,
    comments: &[(u32, u32)],
) -> Vec<Definition> {
    found.retain(|one| !one.name.is_empty());
    found.sort_by_key(|one| (one.start, std::cmp::Reverse(one.last), one.name.start));
    let breaks: Vec<u32> = memchr::memchr_iter(b'\n', text).map(|at| at as u32).collect();
    let line_of = |at: usize| breaks.partition_point(|&end| (end as usize) < at) as u32 + 1;
    let comments =
        comments.iter().map(|&(first, last)| (line_of(first as usize), line_of(last as usize)));
    let comments = runs(comments);
    let mut around: Vec<(u32, usize)> = Vec::new();
    let mut types: HashMap<&[u8], u32> = HashMap::new();
    let mut list: Vec<Definition> = Vec::with_capacity(found.len());
    for one in found {
        while around.last().is_some_and(|&(_, last)| last < one.start) {
            around.pop();
        }
        let start_line = line_of(one.start);
        let last = one.last.max(one.name.end.saturating_sub(1));
        let end_line = line_of(last);
        let first = if line_of(one.lead) == start_line { one.lead } else { one.start };
        let first = first.min(one.start);
        let line_start = match line_of(first) {
            1 => 0,
            line => breaks[line as usize - 2] as usize + 1,
        };
        let owns_lines = begins_line(text, line_start, first) && ends_line(text, last);
        let lead_line = lead(&comments, line_of(one.lead));
        let owner = one.owner.and_then(|name| types.get(&text[name]).copied());
        let parent = around.last().map(|&(index, _)| index);
        let parent = owner.or(parent);
        if matches!(
            one.kind,
            Kind::Class | Kind::Struct | Kind::Interface | Kind::Type | Kind::Enum
        ) {
            types.entry(&text[one.name.clone()]).or_insert(list.len() as u32);
        }
        around.push((list.len() as u32, one.last));
        list.push(Definition {
            kind: one.kind,
            name: one.name,
            start_line,
            end_line,
            lead_line,
            owns_lines,
            parent,
        });
    }
    list
}

/// Returns whether only blanks are between the start of a line and an offset on it.
fn begins_line(text: &[u8], line_start: usize, at: usize) -> bool {
    let before = &text[line_start..at];
    before.strip_prefix("\u{feff}".as_bytes()).unwrap_or(before).iter().all(u8::is_ascii_whitespace)
}

/// Returns whether only blanks, `;`, `,` and a comment to the end of the line are after an offset.
fn ends_line(text: &[u8], last: usize) -> bool {
    let rest = text.get(last + 1..).unwrap_or_default();
    let code = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b';' | b','));
    code.is_none_or(|at| matches!(rest[at], b'\n' | b'#') || rest[at..].starts_with(b"//"))
}

/// A comment by its lines, and the first line of those that end directly above each other.
struct Run {
    first: u32,
    last: u32,
    lead: u32,
}

/// Joins the comments, given by their first and last lines in order, that are directly below others.
fn runs(comments: impl Iterator<Item = (u32, u32)>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (first, last) in comments {
        let above = runs.last().filter(|above| above.last + 1 >= first && above.first < first);
        let lead = above.map_or(first, |above| above.lead);
        runs.push(Run { first, last, lead });
    }
    runs
}

/// Returns the first line of the comments that end directly above a line.
fn lead(runs: &[Run], line: u32) -> u32 {
    let above = runs[..runs.partition_point(|run| run.first < line)].last();
    above.filter(|run| run.last + 1 >= line).map_or(line, |run| run.lead)
}
