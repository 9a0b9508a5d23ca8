//! Three-way merge: two texts that grew from one.
//!
//! What only one side changed is taken, what both changed alike is taken once,
//! and where they changed the same lines differently there is a conflict: an
//! object with three texts, and git's markers in the merged text. Line ends are
//! compared apart from lines, so that a side which only converted them conflicts
//! with nothing.

use std::ops::Range;

use crate::diff::{self, Change, Options, split};
use crate::pack::Packed;

/// How conflicts are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Ours and theirs.
    #[default]
    Merge,
    /// Ours, base and theirs.
    Diff3,
    /// As [`Style::Diff3`], without what both sides begin and end with.
    Zdiff3,
}

/// How texts are merged.
#[derive(Clone, Debug, Default)]
pub struct MergeOptions {
    /// How conflicts are written.
    pub style: Style,
    /// Whether changes of neighbouring lines are both taken instead of being a
    /// conflict, as git has it.
    pub adjacent: bool,
    /// Names for ours, base and theirs after the markers.
    pub labels: [String; 3],
}

/// Lines that both sides changed differently. Ranges are lines from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Lines of the base.
    pub base: Range<u32>,
    /// Lines of ours.
    pub ours: Range<u32>,
    /// Lines of theirs.
    pub theirs: Range<u32>,
    /// Lines of the merged text, markers included.
    pub merged: Range<u32>,
}

/// A merged text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// The text, with markers where there are conflicts.
    pub bytes: Vec<u8>,
    /// The conflicts, in order.
    pub conflicts: Vec<Conflict>,
}

/// Merges what `ours` and `theirs` made of `base`.
pub fn merge3(base: &[u8], ours: &[u8], theirs: &[u8], options: &MergeOptions) -> Merged {
    let sides = Sides { base: split(base), ours: split(ours), theirs: split(theirs) };
    let own = changes(&sides.base, &sides.ours);
    let other = changes(&sides.base, &sides.theirs);
    let own_end = own_end(&sides);
    let merged = Merged::default();
    let mut out = Output { sides: &sides, options, own_end, merged, lines: 0 };
    let (mut own, mut other) = (Track::new(&own), Track::new(&other));
    let mut next = 0;
    while let Some(region) = region(&mut own, &mut other, options.adjacent) {
        out.common(next..region.base.start, &region);
        out.region(&region);
        next = region.base.end;
    }
    let rest = Region::after(&own, &other, sides.base.len() as u32);
    out.common(next..sides.base.len() as u32, &rest);
    out.merged
}

/// The lines that differ in more than their line ends.
fn changes(before: &[&[u8]], after: &[&[u8]]) -> Vec<Change> {
    let plain = |lines: &[&[u8]]| -> Vec<u8> {
        lines.iter().flat_map(|line| [without_end(line), b"\n"].concat()).collect()
    };
    let (before, after) = (plain(before), plain(after));
    diff::compare(&before, &after, 0, &Options::default()).changes
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

struct Sides<'a> {
    base: Vec<&'a [u8]>,
    ours: Vec<&'a [u8]>,
    theirs: Vec<&'a [u8]>,
}

/// The changes of one side, and how far its lines are from the base's.
struct Track<'c> {
    changes: &'c [Change],
    at: usize,
    /// Line of the side minus line of the base, after the changes passed.
    shift: i64,
}

impl<'c> Track<'c> {
    const fn new(changes: &'c [Change]) -> Self {
        Self { changes, at: 0, shift: 0 }
    }

    fn next(&self) -> Option<&'c Change> {
        self.changes.get(self.at)
    }

    fn pass(&mut self) {
        if let Some(change) = self.next() {
            self.shift = i64::from(change.after.end) - i64::from(change.before.end);
            self.at += 1;
        }
    }
}

/// A stretch of the base that a side or both changed, and what they made of it.
struct Region {
    base: Range<u32>,
    ours: Range<u32>,
    theirs: Range<u32>,
    by_us: bool,
    by_them: bool,
}

impl Region {
    /// The empty region behind the last change.
    fn after(own: &Track<'_>, other: &Track<'_>, end: u32) -> Self {
        let at = |shift: i64| {
            let line = (i64::from(end) + shift) as u32;
            line..line
        };
        Self {
            base: end..end,
            ours: at(own.shift),
            theirs: at(other.shift),
            by_us: false,
            by_them: false,
        }
    }
}

/// The next region that changed, with all changes that meet in it.
fn region<'c>(own: &mut Track<'c>, other: &mut Track<'c>, adjacent: bool) -> Option<Region> {
    let first = [own.next(), other.next()].into_iter().flatten().map(|change| change.before.start);
    let start = first.min()?;
    let mut end = start;
    let before = (own.shift, other.shift);
    let (mut by_us, mut by_them) = (false, false);
    loop {
        let empty = !by_us && !by_them;
        let joins = |change: &&Change| {
            let at = change.before.start;
            let touch = !adjacent || (start == end && change.before.is_empty());
            if empty { at == start } else { at < end || (at == end && touch) }
        };
        let (track, by, change) = match (own.next().filter(joins), other.next().filter(joins)) {
            (Some(change), _) => (&mut *own, &mut by_us, change),
            (None, Some(change)) => (&mut *other, &mut by_them, change),
            (None, None) => break,
        };
        end = end.max(change.before.end);
        *by = true;
        track.pass();
    }
    let side = |before: i64, after: i64| {
        (i64::from(start) + before) as u32..(i64::from(end) + after) as u32
    };
    Some(Region {
        base: start..end,
        ours: side(before.0, own.shift),
        theirs: side(before.1, other.shift),
        by_us,
        by_them,
    })
}

/// Our line end, where we converted all of the base's.
fn own_end(sides: &Sides<'_>) -> Option<&'static [u8]> {
    let kind = |lines: &[&[u8]]| {
        let crlf = lines.iter().filter(|line| line.ends_with(b"\r\n")).count();
        let ended = lines.iter().filter(|line| line.ends_with(b"\n")).count();
        match crlf {
            _ if ended == 0 => None,
            0 => Some(false),
            _ if crlf == ended => Some(true),
            _ => None,
        }
    };
    match (kind(&sides.base), kind(&sides.ours)) {
        (Some(false), Some(true)) => Some(b"\r\n"),
        (Some(true), Some(false)) => Some(b"\n"),
        _ => None,
    }
}

struct Output<'o> {
    sides: &'o Sides<'o>,
    options: &'o MergeOptions,
    own_end: Option<&'static [u8]>,
    merged: Merged,
    lines: u32,
}

impl Output<'_> {
    fn push(&mut self, line: &[u8]) {
        self.merged.bytes.extend_from_slice(line);
        self.lines += 1;
    }

    /// Lines that neither side changed, ending as the side that converted them has it.
    fn common(&mut self, base: Range<u32>, next: &Region) {
        let length = base.end - base.start;
        let (ours, theirs) = (next.ours.start - length, next.theirs.start - length);
        for at in 0..length {
            let of = |lines: &[&'_ [u8]], from: u32| {
                lines.get((from + at) as usize).map(|line| line.to_vec())
            };
            let original = of(&self.sides.base, base.start).unwrap_or_default();
            let own = of(&self.sides.ours, ours).unwrap_or_default();
            let other = of(&self.sides.theirs, theirs).unwrap_or_default();
            self.push(if own == original { &other } else { &own });
        }
    }

    fn region(&mut self, region: &Region) {
        let text = |lines: &[&[u8]], range: &Range<u32>| {
            lines[range.start as usize..range.end as usize]
                .iter()
                .map(|line| without_end(line).to_vec())
                .collect::<Vec<_>>()
        };
        let ours = text(&self.sides.ours, &region.ours);
        let theirs = text(&self.sides.theirs, &region.theirs);
        match (region.by_us, region.by_them) {
            (true, true) if ours != theirs => self.conflict(region, &ours, &theirs),
            (false, true) => self.copy(Side::Theirs, region.theirs.clone()),
            _ => self.copy(Side::Ours, region.ours.clone()),
        }
    }

    fn copy(&mut self, side: Side, range: Range<u32>) {
        let lines = match side {
            Side::Ours => &self.sides.ours,
            Side::Base => &self.sides.base,
            Side::Theirs => &self.sides.theirs,
        };
        let lines: Vec<Vec<u8>> = lines[range.start as usize..range.end as usize]
            .iter()
            .map(|line| line.to_vec())
            .collect();
        // Where we converted the line ends, what they add takes ours.
        for line in lines {
            match (side, self.own_end) {
                (Side::Theirs, Some(end)) if line.ends_with(b"\n") => {
                    let line = [without_end(&line), end].concat();
                    self.push(&line);
                }
                _ => self.push(&line),
            }
        }
    }

    fn conflict(&mut self, region: &Region, ours: &[Vec<u8>], theirs: &[Vec<u8>]) {
        let (mut head, mut tail) = (0, 0);
        if self.options.style != Style::Diff3 {
            head = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count() as u32;
            let left = (ours.len().min(theirs.len())) - head as usize;
            tail = ours
                .iter()
                .rev()
                .zip(theirs.iter().rev())
                .take_while(|(a, b)| a == b)
                .count()
                .min(left) as u32;
        }
        let own = region.ours.start + head..region.ours.end - tail;
        let other = region.theirs.start + head..region.theirs.end - tail;
        self.copy(Side::Ours, region.ours.start..own.start);
        let from = self.lines;
        self.marker('<', 0);
        self.closed(Side::Ours, own.clone());
        if self.options.style != Style::Merge {
            self.marker('|', 1);
            self.closed(Side::Base, region.base.clone());
        }
        self.merged_line(b"=======");
        self.closed(Side::Theirs, other.clone());
        self.marker('>', 2);
        self.merged.conflicts.push(Conflict {
            base: region.base.clone(),
            ours: own.clone(),
            theirs: other,
            merged: from..self.lines,
        });
        self.copy(Side::Ours, own.end..region.ours.end);
    }

    /// Lines of a conflict: each ended, since a marker follows.
    fn closed(&mut self, side: Side, range: Range<u32>) {
        self.copy(side, range);
        if !self.merged.bytes.is_empty() && !self.merged.bytes.ends_with(b"\n") {
            self.merged.bytes.push(b'\n');
        }
    }

    fn marker(&mut self, mark: char, label: usize) {
        let mut line = mark.to_string().repeat(7);
        let label = &self.options.labels[label];
        if !label.is_empty() {
            line.push(' ');
            line.push_str(label);
        }
        self.merged_line(line.as_bytes());
    }

    fn merged_line(&mut self, line: &[u8]) {
        let crlf = self.sides.ours.first().is_some_and(|line| line.ends_with(b"\r\n"));
        let line = [line, if crlf { b"\r\n" } else { &b"\n"[..] }].concat();
        self.push(&line);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Ours,
    Base,
    Theirs,
}

/// What a binding hands over besides the three texts.
#[derive(Clone, Debug, Default)]
pub struct MergeCall {
    /// The style (0 merge, 1 diff3, 2 zdiff3), plus 4 to take changes of
    /// neighbouring lines.
    pub flags: u32,
    /// Names for ours, base and theirs; missing ones are empty.
    pub labels: Vec<String>,
}

/// [`merge3`], with its conflicts packed: their number, and for each the ranges
/// of base, ours, theirs and the merged text.
pub fn merge3_packed(
    base: &[u8],
    ours: &[u8],
    theirs: &[u8],
    call: &MergeCall,
) -> (Vec<u8>, Packed) {
    let style = match call.flags & 3 {
        1 => Style::Diff3,
        2 => Style::Zdiff3,
        _ => Style::Merge,
    };
    let label = |at: usize| call.labels.get(at).cloned().unwrap_or_default();
    let labels = [label(0), label(1), label(2)];
    let options = MergeOptions { style, adjacent: call.flags & 4 != 0, labels };
    let merged = merge3(base, ours, theirs, &options);
    let mut packed = Packed::new();
    packed.num(merged.conflicts.len() as u64);
    for conflict in &merged.conflicts {
        for range in [&conflict.base, &conflict.ours, &conflict.theirs, &conflict.merged] {
            packed.num(u64::from(range.start));
            packed.num(u64::from(range.end));
        }
    }
    (merged.bytes, packed)
}

#[cfg(test)]
mod tests {
    use super::{MergeOptions, Style, merge3};
    use proptest::prelude::*;

    fn run(base: &str, ours: &str, theirs: &str, options: &MergeOptions) -> (String, usize) {
        let merged = merge3(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), options);
        (String::from_utf8(merged.bytes).unwrap(), merged.conflicts.len())
    }

    #[test]
    fn merges_read_as_gits() {
        let plain = MergeOptions::default();
        let conflict = "a\n<<<<<<<\nx\n=======\ny\n>>>>>>>\nc\n";
        for (name, base, ours, theirs, merged, conflicts) in [
            ("one side", "a\nb\nc\n", "a\nB\nc\n", "a\nb\nc\n", "a\nB\nc\n", 0),
            ("far apart", "a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n", "A\nb\nc\nD\n", 0),
            ("both alike", "a\nb\n", "a\nx\nb\n", "a\nx\nb\n", "a\nx\nb\n", 0),
            ("both differently", "a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n", conflict, 1),
            (
                "neighbours",
                "a\nb\n",
                "A\nb\n",
                "a\nB\n",
                "<<<<<<<\nA\nb\n=======\na\nB\n>>>>>>>\n",
                1,
            ),
            (
                "delete against edit",
                "a\nb\nc\n",
                "a\nc\n",
                "a\nB\nc\n",
                "a\n<<<<<<<\n=======\nB\n>>>>>>>\nc\n",
                1,
            ),
            (
                "converted line ends",
                "a\nb\nc\n",
                "a\r\nb\r\nc\r\n",
                "a\nB\nc\n",
                "a\r\nB\r\nc\r\n",
                0,
            ),
            ("converted by them", "a\nb\nc\n", "a\nB\nc\n", "a\r\nb\r\nc\r\n", "a\r\nB\nc\r\n", 0),
            ("no newline", "a\nb", "a\nb", "a\nB", "a\nB", 0),
            ("emptied by both", "a\n", "", "", "", 0),
        ] {
            assert_eq!(run(base, ours, theirs, &plain), (merged.to_owned(), conflicts), "{name}");
        }
    }

    #[test]
    fn styles_and_labels() {
        let labels = ["ours".to_owned(), "base".to_owned(), "theirs".to_owned()];
        let with = |style, adjacent| MergeOptions { style, adjacent, labels: labels.clone() };
        let (base, ours, theirs) = ("a\nb\nc\n", "a\n1\nx\nc\n", "a\n1\ny\nc\n");
        let (diff3, _) = run(base, ours, theirs, &with(Style::Diff3, false));
        assert_eq!(
            diff3,
            "a\n<<<<<<< ours\n1\nx\n||||||| base\nb\n=======\n1\ny\n>>>>>>> theirs\nc\n"
        );
        let (zdiff3, _) = run(base, ours, theirs, &with(Style::Zdiff3, false));
        assert_eq!(
            zdiff3,
            "a\n1\n<<<<<<< ours\nx\n||||||| base\nb\n=======\ny\n>>>>>>> theirs\nc\n"
        );
        let adjacent = run("a\nb\n", "A\nb\n", "a\nB\n", &with(Style::Merge, true));
        assert_eq!(adjacent, ("A\nB\n".to_owned(), 0));
    }

    fn texts() -> impl Strategy<Value = String> {
        proptest::collection::vec("[abc]\n", 0..12).prop_map(|lines| lines.concat())
    }

    proptest! {
        #[test]
        fn what_one_side_did_is_what_comes_out(base in texts(), other in texts()) {
            let plain = MergeOptions::default();
            prop_assert_eq!(run(&base, &other, &base, &plain), (other.clone(), 0));
            prop_assert_eq!(run(&base, &base, &other, &plain), (other.clone(), 0));
            prop_assert_eq!(run(&base, &other, &other, &plain), (other, 0));
        }

        #[test]
        fn any_texts_merge(
            base in "[ab\\n\\r]{0,20}", ours in "[ab\\n\\r]{0,20}", theirs in "[ab\\n\\r]{0,20}", adjacent: bool,
        ) {
            let options = MergeOptions { adjacent, ..MergeOptions::default() };
            let _ = merge3(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), &options);
        }
    }
}
