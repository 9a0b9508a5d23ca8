//! The edit as a three-way merge: base is the old text as sent, ours the lines
//! of the file, theirs the new text.
//!
//! A line that the edit does not change keeps the file's bytes, whatever the
//! model made of its blanks; only what differs between old and new is written.

use super::Splice;
use super::indent::IndentMap;
use super::lines::{FileLines, trim, trim_end};
use crate::diff::changes_between;
use crate::text::Line;

/// Where the lines of the old text stand in the file: for each its line
/// (0-based), in order, without gaps.
pub(super) struct Placed<'e> {
    /// The old text.
    pub old: &'e [&'e [u8]],
    /// The new text.
    pub new: &'e [&'e [u8]],
    /// The file line of `old[0]`.
    pub first: usize,
}

/// One line of the result.
enum Out<'a> {
    /// A line of the file.
    Keep(usize),
    /// A new line, taking the place of the file line named, if there is one.
    New(&'a [u8], Option<usize>),
}

/// The splice that makes the edit at its place.
pub(super) fn merge(file: &FileLines<'_>, placed: &Placed<'_>) -> Splice {
    let at = |old: u32| placed.first + old as usize;
    let changes = changes(placed);

    let mut indents = IndentMap::default();
    let mut out = Vec::new();
    let mut next = (0, 0);
    for change in changes.iter().chain([&crate::diff::Change {
        before: placed.old.len() as u32..placed.old.len() as u32,
        after: placed.new.len() as u32..placed.new.len() as u32,
    }]) {
        for (old, new) in (next.0..change.before.start).zip(next.1..change.after.start) {
            indents.learn(placed.new[new as usize], file.lines[at(old)].text);
            out.push(Out::Keep(at(old)));
        }
        for (index, new) in change.after.clone().enumerate() {
            let old = change.before.start + index as u32;
            let instead = change.before.contains(&old).then(|| at(old));
            out.push(Out::New(placed.new[new as usize], instead));
        }
        next = (change.before.end, change.after.end);
    }
    let mut from_old = IndentMap::default();
    for (index, old) in placed.old.iter().enumerate() {
        from_old.learn(old, file.lines[placed.first + index].text);
    }
    indents.complete(&from_old);
    write(file, placed.first..placed.first + placed.old.len(), &out, &indents)
}

/// The lines that differ between old and new. Where the two are indented in
/// different ways throughout, indentation does not count.
fn changes(placed: &Placed<'_>) -> Vec<crate::diff::Change> {
    let by = |view: fn(&[u8]) -> &[u8]| {
        let old: Vec<&[u8]> = placed.old.iter().map(|line| view(line)).collect();
        let new: Vec<&[u8]> = placed.new.iter().map(|line| view(line)).collect();
        changes_between(&old, &new)
    };
    let kept = |changes: &[crate::diff::Change]| {
        let gone: usize = changes.iter().map(|change| change.before.len()).sum();
        placed.old.len() - gone
    };
    let (strict, loose) = (by(trim_end), by(trim));
    if kept(&strict) * 2 < kept(&loose) { loose } else { strict }
}

/// Writes the lines that take the place of the file's lines `range`.
fn write(
    file: &FileLines<'_>,
    range: std::ops::Range<usize>,
    out: &[Out<'_>],
    indents: &IndentMap,
) -> Splice {
    let line = |at: usize| file.lines.get(at);
    let end_of = |at: usize| line(at).map(|line| line.end).filter(|end| !end.is_empty());
    let usual = file.lines.iter().map(|line| line.end).find(|end| !end.is_empty());
    let mut end = range
        .start
        .checked_sub(1)
        .and_then(end_of)
        .or_else(|| end_of(range.start))
        .or(usual)
        .unwrap_or(b"\n");
    let mut with = Vec::new();
    let open = file.lines.len() == range.end
        && file.lines.last().is_some_and(|last: &Line<'_>| last.end.is_empty());
    for (index, item) in out.iter().enumerate() {
        let own = match item {
            Out::Keep(at) => {
                with.extend_from_slice(file.lines[*at].text);
                end_of(*at)
            }
            Out::New(text, instead) => {
                with.extend_from_slice(&indents.apply(text));
                instead.and_then(end_of)
            }
        };
        end = own.unwrap_or(end);
        if !(open && index + 1 == out.len()) {
            with.extend_from_slice(end);
        }
    }
    Splice { range: file.start(range.start)..file.start(range.end), with }
}
