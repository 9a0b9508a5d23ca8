//! The edit as a three-way merge: base is the old text as sent, ours the lines
//! of the file where it stands, theirs the new text.
//!
//! A line that the edit does not change keeps the file's bytes, whatever the
//! model made of its blanks or words. A line that it does change is the file's
//! line with the model's change. Lines of the file that the model forgot stay;
//! where they stand amid what is replaced, nobody knows where they belong, and
//! the edit is refused.

use std::collections::HashMap;
use std::ops::Range;

use super::Splice;
use super::align::{Alignment, Cut, Step};
use super::indent::IndentMap;
use super::key::{Haystack, has_word, key, squeezed};
use super::lines::{indent, trim, trim_end};
use super::needle::Kind;
use super::quotes::QuoteMap;
use super::similar::similarity;
use super::tokens;
use crate::diff::changes_between;

/// A new line counts as made of an old one when they are this much alike.
const MADE_OF: f64 = 0.5;
/// And takes over the file's blanks when they are this much alike.
const STILL_LIKE: f64 = 0.75;

/// Why the edit cannot be made at its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Conflict {
    /// This line of the file (0-based) stands amid the replaced lines, and the
    /// old text does not have it.
    Unmentioned(usize),
}

/// Old lines and file lines that belong together.
#[derive(Clone, Debug)]
struct Unit {
    old: Range<usize>,
    file: Range<usize>,
    cut: Cut,
}

/// What the new text is compared with: the old text, and the lines of the file
/// that it forgot.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Base {
    Old(usize),
    FileOnly(usize),
}

/// One line of the result.
#[derive(Debug)]
enum Out {
    /// A line of the file.
    Keep(usize),
    /// A new line, ending as the file's line named does.
    New(Vec<u8>, Option<usize>),
}

/// The splice that makes the edit where its old text was found.
pub(super) fn merge(
    hay: &Haystack<'_>,
    alignment: &Alignment,
    old: &[&[u8]],
    new: &[&[u8]],
) -> Result<Splice, Conflict> {
    let mut merge = Merge::new(hay, alignment, old, new);
    merge.learn();
    let out = merge.out()?;
    Ok(write(hay, alignment.file.clone(), &out))
}

/// Whether the edit changes any line of a text.
pub(super) fn changes_any(old: &[&[u8]], new: &[&[u8]]) -> bool {
    old.len() != new.len() || old.iter().zip(new).any(|(old, new)| trim_end(old) != trim_end(new))
}

struct Merge<'m, 'e> {
    hay: &'m Haystack<'m>,
    old: &'m [&'e [u8]],
    new: &'m [&'e [u8]],
    units: Vec<Unit>,
    /// By line of the old text: its unit.
    unit_of: Vec<Option<usize>>,
    base: Vec<Base>,
    /// Before which elements of `base` the old text has a blank line that the
    /// file has not.
    lost: Vec<usize>,
    /// By element of `base`: the new line that is the same.
    kept: Vec<Option<usize>>,
    /// Whether the new text is indented as the file is, and the old text alone
    /// was not.
    new_is_right: bool,
    indents: IndentMap,
    quotes: QuoteMap,
}

impl<'m, 'e> Merge<'m, 'e> {
    fn new(
        hay: &'m Haystack<'m>,
        alignment: &Alignment,
        old: &'m [&'e [u8]],
        new: &'m [&'e [u8]],
    ) -> Self {
        let mut units = Vec::new();
        let mut unit_of = vec![None; old.len()];
        let (mut base, mut lost) = (Vec::new(), Vec::new());
        for step in &alignment.steps {
            match step {
                Step::Pair { old, file, cut, .. } => {
                    unit_of[old.clone()].fill(Some(units.len()));
                    base.extend(old.clone().map(Base::Old));
                    units.push(Unit { old: old.clone(), file: file.clone(), cut: *cut });
                }
                // Only blank lines can be missing from the file.
                Step::OldOnly(_) => lost.push(base.len()),
                Step::FileOnly(line) => base.push(Base::FileOnly(*line)),
            }
        }
        let mut merge = Self {
            hay,
            old,
            new,
            units,
            unit_of,
            kept: vec![None; base.len()],
            base,
            lost,
            new_is_right: false,
            indents: IndentMap::default(),
            quotes: QuoteMap::default(),
        };
        merge.keep();
        merge
    }

    /// Finds which lines the edit keeps. Indentation counts as a change, unless
    /// it was the old text alone that got it wrong.
    fn keep(&mut self) {
        let count = |kept: &[Option<usize>]| {
            let counts = |base: &Base| match base {
                Base::Old(line) => !trim(self.old[*line]).is_empty(),
                Base::FileOnly(_) => false,
            };
            self.base.iter().zip(kept).filter(|(base, kept)| kept.is_some() && counts(base)).count()
        };
        let loose = self.same_lines(|_, text| trim(text).to_vec());
        self.new_is_right = self.old_alone_is_shifted(&loose);
        let as_sent = self.same_lines(|_, text| text.to_vec());
        let strict = self.same_lines(|_, text| trim_end(text).to_vec());
        let kept = if self.new_is_right {
            // Then the old text counts as if it were indented as the file is.
            let mended = self.same_lines(|old, text| {
                let unit = old.and_then(|old| self.unit_of[old]).map(|unit| &self.units[unit]);
                let blanks =
                    unit.map_or(indent(text), |unit| indent(self.hay.line(unit.file.start)));
                [blanks, trim(text)].concat()
            });
            if count(&mended) >= count(&strict) { mended } else { strict }
        } else if count(&as_sent) == count(&strict) {
            as_sent
        } else {
            strict
        };
        self.kept = self.whole_units(kept);
    }

    /// Whether the new text indents lines as the file does where the old text
    /// does not: lines that are kept or, where none are, lines made of old ones.
    fn old_alone_is_shifted(&self, kept: &[Option<usize>]) -> bool {
        let mut pairs: Vec<(usize, usize)> = self
            .base
            .iter()
            .zip(kept)
            .filter_map(|(base, kept)| match (base, kept) {
                (Base::Old(old), Some(new)) => Some((*old, *new)),
                _ => None,
            })
            .collect();
        if pairs.iter().all(|(old, _)| trim(self.old[*old]).is_empty()) {
            let all: Vec<usize> = (0..self.base.len()).collect();
            let made_of = self.made_of(&all, 0..self.new.len());
            pairs.extend(made_of.iter().enumerate().filter_map(|(new, at)| {
                match self.base[(*at)?] {
                    Base::Old(old) => Some((old, new)),
                    Base::FileOnly(_) => None,
                }
            }));
        }
        let (mut new_right, mut old_right) = (0, 0);
        for (old, new) in pairs {
            let Some(unit) = self.unit_of[old].map(|unit| &self.units[unit]) else { continue };
            if trim(self.old[old]).is_empty() || unit.cut.head > 0 {
                continue;
            }
            let file = indent(self.hay.line(unit.file.start));
            new_right += usize::from(indent(self.new[new]) == file);
            old_right += usize::from(indent(self.old[old]) == file);
        }
        new_right > old_right
    }

    /// The lines that old and new text have in common, seen through `view`
    /// (which is told the number of an old line).
    fn same_lines(&self, view: impl Fn(Option<usize>, &[u8]) -> Vec<u8>) -> Vec<Option<usize>> {
        let new: Vec<Vec<u8>> = self.new.iter().map(|line| view(None, line)).collect();
        let mut by_key: HashMap<Vec<u8>, usize> = HashMap::new();
        for (at, line) in self.new.iter().enumerate() {
            by_key.entry(key(line)).or_insert(at);
        }
        let base: Vec<Vec<u8>> = self
            .base
            .iter()
            .map(|base| match base {
                Base::Old(line) => view(Some(*line), self.old[*line]),
                // A forgotten line that the new text has after all.
                Base::FileOnly(line) => {
                    let key = key(self.hay.line(*line));
                    let found = if has_word(&key) { by_key.get(&key) } else { None };
                    found.map_or(b"\n".to_vec(), |&at| new[at].clone())
                }
            })
            .collect();
        let base: Vec<&[u8]> = base.iter().map(Vec::as_slice).collect();
        let new: Vec<&[u8]> = new.iter().map(Vec::as_slice).collect();
        let mut kept = vec![None; base.len()];
        let mut next = (0, 0);
        let end = crate::diff::Change {
            before: base.len() as u32..base.len() as u32,
            after: new.len() as u32..new.len() as u32,
        };
        for change in changes_between(&base, &new).iter().chain([&end]) {
            for (at, line) in (next.0..change.before.start).zip(next.1..change.after.start) {
                kept[at as usize] = Some(line as usize);
            }
            next = (change.before.end, change.after.end);
        }
        kept
    }

    /// A file line that several old lines make up stays whole or goes whole.
    fn whole_units(&self, mut kept: Vec<Option<usize>>) -> Vec<Option<usize>> {
        for unit in self.units.iter().filter(|unit| unit.old.len() > 1) {
            let of_unit = |base: &Base| matches!(base, Base::Old(line) if unit.old.contains(line));
            let whole =
                self.base.iter().zip(&kept).all(|(base, kept)| !of_unit(base) || kept.is_some());
            if !whole {
                for (base, kept) in self.base.iter().zip(&mut kept) {
                    if of_unit(base) {
                        *kept = None;
                    }
                }
            }
        }
        kept
    }

    /// Learns what the model's indentation and quotes stand for in this file.
    fn learn(&mut self) {
        let mut from_old = IndentMap::default();
        let identity = self.new_is_right;
        for (base, kept) in self.base.iter().zip(&self.kept) {
            match (base, kept) {
                (Base::Old(old), kept) => {
                    let Some(unit) = self.unit_of[*old].map(|unit| &self.units[unit]) else {
                        continue;
                    };
                    let file = self.hay.line(unit.file.start);
                    if unit.old.start != *old || unit.cut.head > 0 {
                        continue;
                    }
                    if !identity {
                        from_old.learn(self.old[*old], file);
                    }
                    if let Some(new) = kept {
                        self.indents.learn(self.new[*new], file);
                    }
                    if unit.file.len() == 1 && unit.old.len() == 1 {
                        self.quotes.learn(self.old[*old], file);
                    }
                }
                (Base::FileOnly(line), Some(new)) => {
                    self.indents.learn(self.new[*new], self.hay.line(*line));
                }
                _ => {}
            }
        }
        self.indents.complete(&from_old);
        self.indents.take_style(self.hay.text, self.new);
        self.quotes.settle(self.hay.text);
    }

    /// The lines of the result.
    fn out(&self) -> Result<Vec<Out>, Conflict> {
        let mut out = Vec::new();
        let (mut at, mut next) = (0, 0);
        while at < self.base.len() || next < self.new.len() {
            let from = at;
            while at < self.base.len() && self.kept[at].is_none() {
                at += 1;
            }
            let upto = self.kept.get(at).copied().flatten().unwrap_or(self.new.len());
            self.replaced(from..at, next..upto, &mut out)?;
            next = upto;
            if at < self.base.len() {
                self.keep_line(at, &mut out);
                at += 1;
                next += 1;
            }
        }
        Ok(out)
    }

    fn keep_line(&self, at: usize, out: &mut Vec<Out>) {
        match self.base[at] {
            Base::FileOnly(line) => out.push(Out::Keep(line)),
            Base::Old(old) => {
                if let Some(unit) = self.unit_of[old].map(|unit| &self.units[unit])
                    && unit.old.start == old
                {
                    out.extend(unit.file.clone().map(Out::Keep));
                }
            }
        }
    }

    /// Puts new lines where a stretch of the base was.
    fn replaced(
        &self,
        base: Range<usize>,
        new: Range<usize>,
        out: &mut Vec<Out>,
    ) -> Result<(), Conflict> {
        let gone: Vec<usize> =
            base.clone().filter(|&at| matches!(self.base[at], Base::Old(_))).collect();
        let new = self.without_lost(&base, new);
        let (Some(&first), Some(&last)) = (gone.first(), gone.last()) else {
            return self.inserted(base, new, out);
        };
        out.extend(self.forgotten(base.start..first).map(|(_, line)| Out::Keep(line)));
        let made_of = self.made_of(&gone, new.clone());
        let mut lines: Vec<Out> = Vec::new();
        for (index, line) in new.clone().enumerate() {
            let source = made_of[index].and_then(|at| self.unit_at(at));
            let instead = source.or_else(|| gone.get(index).and_then(|&at| self.unit_at(at)));
            let text = match source {
                Some(unit) if unit.old.len() == 1 && unit.file.len() == 1 => {
                    self.in_the_files_words(unit, line)
                }
                _ => self.placed(line),
            };
            lines.push(Out::New(text, instead.map(|unit| unit.file.start)));
        }
        self.uncut(&gone, &mut lines);
        // Forgotten lines amid what is replaced stay beside what was made of
        // their neighbours.
        for (at, line) in self.forgotten(first..last).rev() {
            let place = |goes: &dyn Fn(usize) -> bool| {
                made_of.iter().position(|source| source.is_some_and(goes))
            };
            let next = gone.iter().copied().find(|&other| other > at);
            let before = gone.iter().copied().rfind(|&other| other < at);
            let index = place(&|source| Some(source) == next)
                .or_else(|| place(&|source| Some(source) == before).map(|index| index + 1));
            match (index, Kind::of(self.hay.line(line))) {
                (_, Kind::Code) | (None, Kind::Comment) => return Err(Conflict::Unmentioned(line)),
                (Some(index), _) => lines.insert(index.min(lines.len()), Out::Keep(line)),
                (None, Kind::Blank) => {}
            }
        }
        out.extend(lines);
        out.extend(self.forgotten(last + 1..base.end).map(|(_, line)| Out::Keep(line)));
        Ok(())
    }

    /// Puts new lines between lines that stay. Lines of the file that the old
    /// text forgot there are compared with them once more.
    fn inserted(
        &self,
        base: Range<usize>,
        new: Range<usize>,
        out: &mut Vec<Out>,
    ) -> Result<(), Conflict> {
        let forgotten: Vec<usize> = self.forgotten(base.clone()).map(|(_, line)| line).collect();
        let keys = |lines: &mut dyn Iterator<Item = &[u8]>| lines.map(key).collect::<Vec<_>>();
        let there = keys(&mut forgotten.iter().map(|&line| self.hay.line(line)));
        let comes = keys(&mut self.new[new.clone()].iter().copied());
        let there: Vec<&[u8]> = there.iter().map(Vec::as_slice).collect();
        let comes: Vec<&[u8]> = comes.iter().map(Vec::as_slice).collect();
        let end = crate::diff::Change {
            before: there.len() as u32..there.len() as u32,
            after: comes.len() as u32..comes.len() as u32,
        };
        let mut next = 0;
        for change in changes_between(&there, &comes).iter().chain([&end]) {
            out.extend(
                forgotten[next..change.before.start as usize].iter().map(|&line| Out::Keep(line)),
            );
            let stays = &forgotten[change.before.start as usize..change.before.end as usize];
            let added =
                new.start + change.after.start as usize..new.start + change.after.end as usize;
            next = change.before.end as usize;
            if added.is_empty() {
                out.extend(stays.iter().map(|&line| Out::Keep(line)));
                continue;
            }
            if let Some(&line) =
                stays.iter().find(|&&line| Kind::of(self.hay.line(line)) == Kind::Code)
            {
                return Err(Conflict::Unmentioned(line));
            }
            // A comment belongs to what follows it, a blank line to neither side.
            let follows = stays.iter().all(|&line| Kind::of(self.hay.line(line)) == Kind::Blank)
                && self.is_nearer_to_next(&base, &added);
            let new = added.map(|line| Out::New(self.placed(line), None));
            if follows {
                out.extend(stays.iter().map(|&line| Out::Keep(line)));
                out.extend(new);
            } else {
                out.extend(new);
                out.extend(stays.iter().map(|&line| Out::Keep(line)));
            }
        }
        Ok(())
    }

    /// Whether new lines are more like the line after them than the one before.
    fn is_nearer_to_next(&self, base: &Range<usize>, added: &Range<usize>) -> bool {
        let text = |at: Option<usize>| match at.and_then(|at| self.base.get(at)) {
            Some(Base::Old(line)) => key(self.old[*line]),
            _ => Vec::new(),
        };
        let (before, after) = (text(base.start.checked_sub(1)), text(Some(base.end)));
        let (first, last) = (key(self.new[added.start]), key(self.new[added.end - 1]));
        similarity(&last, &after, 0.0) > similarity(&first, &before, 0.0)
    }

    /// New lines without the blank one that the old text has there and the file
    /// has not.
    fn without_lost(&self, base: &Range<usize>, mut new: Range<usize>) -> Range<usize> {
        let blank = |line: usize| trim(self.new[line]).is_empty();
        for _ in self.lost.iter().filter(|&&at| (base.start..=base.end).contains(&at)) {
            if new.is_empty() {
                break;
            }
            if blank(new.start) {
                new.start += 1;
            } else if blank(new.end - 1) {
                new.end -= 1;
            }
        }
        new
    }

    /// The lines of the file in a stretch of the base that the old text forgot.
    fn forgotten(&self, base: Range<usize>) -> impl DoubleEndedIterator<Item = (usize, usize)> {
        base.filter_map(|at| match self.base[at] {
            Base::FileOnly(line) => Some((at, line)),
            Base::Old(_) => None,
        })
    }

    fn unit_at(&self, at: usize) -> Option<&Unit> {
        match self.base[at] {
            Base::Old(line) => self.unit_of[line].map(|unit| &self.units[unit]),
            Base::FileOnly(_) => None,
        }
    }

    /// For each new line, the base element that it was made of: pairs in order,
    /// as much alike as possible.
    fn made_of(&self, gone: &[usize], new: Range<usize>) -> Vec<Option<usize>> {
        let old = |at: usize| match self.base[at] {
            Base::Old(line) => self.old[line],
            Base::FileOnly(line) => self.hay.line(line),
        };
        if gone.len() * new.len() > 10_000 {
            return vec![None; new.len()];
        }
        let olds: Vec<Vec<u8>> = gone.iter().map(|&at| key(old(at))).collect();
        let news: Vec<Vec<u8>> = new.clone().map(|line| key(self.new[line])).collect();
        // The likest pairs in order, by the usual table.
        let wide = news.len() + 1;
        let mut best = vec![0.0f64; (olds.len() + 1) * wide];
        let like: Vec<f64> = olds
            .iter()
            .flat_map(|a| {
                news.iter().map(move |b| {
                    if a.is_empty() || b.is_empty() { 0.0 } else { similarity(a, b, MADE_OF) }
                })
            })
            .collect();
        for i in (0..olds.len()).rev() {
            for j in (0..news.len()).rev() {
                let pair = best[(i + 1) * wide + j + 1] + like[i * news.len() + j];
                best[i * wide + j] = pair.max(best[(i + 1) * wide + j]).max(best[i * wide + j + 1]);
            }
        }
        let mut made_of = vec![None; news.len()];
        let (mut i, mut j) = (0, 0);
        while i < olds.len() && j < news.len() {
            let likeness = like[i * news.len() + j];
            if likeness > 0.0 && best[i * wide + j] == best[(i + 1) * wide + j + 1] + likeness {
                made_of[j] = Some(gone[i]);
                (i, j) = (i + 1, j + 1);
            } else if best[i * wide + j] == best[(i + 1) * wide + j] {
                i += 1;
            } else {
                j += 1;
            }
        }
        made_of
    }

    /// A new line with the indentation and the quotes of the file.
    fn placed(&self, line: usize) -> Vec<u8> {
        self.quotes.apply(self.indents.apply(self.new[line]))
    }

    /// The file's line with what the edit changes of it.
    fn in_the_files_words(&self, unit: &Unit, new: usize) -> Vec<u8> {
        let placed = self.placed(new);
        let (base, ours) = (trim(self.old[unit.old.start]), trim(self.hay.line(unit.file.start)));
        if base == ours || unit.cut != Cut::default() {
            return placed;
        }
        let theirs = trim(self.new[new]);
        // Of a line that is hardly the same any more, the old blanks say nothing.
        if squeezed(base) == squeezed(ours) && similarity(base, theirs, STILL_LIKE) == 0.0 {
            return placed;
        }
        let merged = tokens::merge(base, ours, theirs);
        self.quotes.apply([indent(&placed), &merged].concat())
    }

    /// Puts back what the file's lines have before and after an old text that
    /// begins or ends in mid-line.
    fn uncut(&self, gone: &[usize], lines: &mut Vec<Out>) {
        let ends = gone.first().zip(gone.last());
        let units = ends.and_then(|(&a, &b)| self.unit_at(a).zip(self.unit_at(b)));
        let Some((first, last)) = units else { return };
        let (head, tail) = (first.cut.head, last.cut.tail);
        if head + tail > 0 && lines.is_empty() {
            lines.push(Out::New(Vec::new(), Some(first.file.start)));
        }
        if head > 0
            && let Some(Out::New(text, _)) = lines.first_mut()
        {
            let before = &self.hay.line(first.file.start)[..head];
            *text = [before, trim_start(text)].concat();
        }
        if tail > 0
            && let Some(Out::New(text, _)) = lines.last_mut()
        {
            let line = self.hay.line(last.file.start);
            let kept = trim_end(text).len();
            text.truncate(kept);
            text.extend_from_slice(&line[line.len() - tail..]);
        }
    }
}

fn trim_start(line: &[u8]) -> &[u8] {
    &line[indent(line).len()..]
}

/// Writes the lines that take the place of the file's lines `range`.
fn write(hay: &Haystack<'_>, range: Range<usize>, out: &[Out]) -> Splice {
    let lines = &hay.file.lines;
    let end_of = |at: usize| lines.get(at).map(|line| line.end).filter(|end| !end.is_empty());
    let usual = lines.iter().map(|line| line.end).find(|end| !end.is_empty());
    let before = range.start.checked_sub(1).and_then(end_of);
    let mut end = end_of(range.start).or(before).or(usual).unwrap_or(b"\n");
    let open = range.end == lines.len() && lines.last().is_some_and(|last| last.end.is_empty());
    let mut with = Vec::new();
    for (index, item) in out.iter().enumerate() {
        let own = match item {
            Out::Keep(at) => {
                with.extend_from_slice(lines[*at].text);
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
