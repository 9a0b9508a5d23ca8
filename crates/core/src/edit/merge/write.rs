//! The lines of the result as bytes of the file.

use std::ops::Range;

use super::super::Splice;
use super::super::haystack::Haystack;
use super::super::key::{has_word, key};
use super::Out;

/// Lines that the old text forgot at its edges, and the new text has: they stand
/// before or after the place already.
pub(super) fn without_doubles(hay: &Haystack<'_>, file: &Range<usize>, out: &mut Vec<Out>) {
    /// Bytes of words that are no coincidence.
    const TELLING: usize = 6;
    /// Lines that are looked at.
    const MOST: usize = 200;
    fn text(item: &Out) -> Option<&[u8]> {
        match item {
            Out::New(text, _) => Some(text),
            Out::Keep(_) => None,
        }
    }
    let same =
        |item: &Out, line: usize| text(item).is_some_and(|text| key(text) == key(hay.line(line)));
    let tells = |items: &[Out]| {
        let keys = items.iter().filter_map(text).map(key).filter(|key| has_word(key));
        keys.map(|key| key.len()).sum::<usize>() >= TELLING
    };
    let made = |item: &&Out| matches!(item, Out::New(..));
    let most = out.iter().take(MOST).take_while(made).count().min(file.start);
    let head = (1..=most).rev().find(|&count| {
        let lines = file.start - count..file.start;
        tells(&out[..count]) && out.iter().zip(lines).all(|(item, line)| same(item, line))
    });
    out.drain(..head.unwrap_or(0));
    let most = out.iter().rev().take(MOST).take_while(made).count().min(hay.len() - file.end);
    let tail = (1..=most).rev().find(|&count| {
        let items = &out[out.len() - count..];
        tells(items) && items.iter().zip(file.end..).all(|(item, line)| same(item, line))
    });
    out.truncate(out.len() - tail.unwrap_or(0));
}

/// Writes the lines that take the place of the file's lines `range`.
pub(super) fn write(hay: &Haystack<'_>, range: Range<usize>, out: &[Out]) -> Splice {
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
            Out::Keep(at) => {
                with.extend_from_slice(hay.line(*at));
                end_of(*at)
            }
            Out::New(text, instead) => {
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
