//! Applies an edit as a three-way merge: base is the old text as sent, ours the lines of the file
//! at its position, theirs the new text.
//!
//! A line that the edit does not change keeps the file's bytes, even if the old text differs in
//! white space or words. For a changed line, the model's change is applied to the file's line.
//! Lines of the file that the old text leaves out (here: forgotten lines) stay. If one is between
//! replaced lines, its new position is unknown and the edit is refused.

mod keep;
mod origins;
mod reindent;
mod replace;
mod write;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::indent::IndentMap;
use super::quote_style::QuoteMap;
use crate::edit::Splice;
use crate::edit::lines::{indentation_of, trim_end};
use crate::edit::matching::alignment::{Alignment, AlignmentStep, Cut};
use crate::edit::matching::haystack::Haystack;
use crate::edit::matching::normalize::match_key;
use reindent::reindent_new_text;
use replace::run_around;
use write::{drop_existing_insertions, splice_lines};

/// The reason why the edit cannot be applied at its position.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::edit) enum Conflict {
    /// The file's line with this index (0-based) is between replaced lines, and the old text does
    /// not have it.
    Unmentioned(usize),
}

/// A step of the alignment that pairs old lines with the file lines that they correspond to.
#[derive(Clone, Debug)]
struct MatchedLines {
    old: Range<usize>,
    file: Range<usize>,
    cut: Cut,
}

/// A line of the base of the merge: a line of the old text, or a line of the file that the old text
/// forgot. Indexes are 0-based.
#[derive(Clone, Copy, Debug, PartialEq)]
enum BaseLine {
    Old(usize),
    FileOnly(usize),
}

/// One line of the text that replaces the file's lines.
#[derive(Debug)]
enum OutputLine {
    /// The line of the file with this index, unchanged.
    Keep(usize),
    /// A new line, and the index of the file line whose line ending it takes.
    New(Vec<u8>, Option<usize>),
}

/// Returns the splice that applies the edit at the position of `alignment`.
pub(in crate::edit) fn merge_edit(
    hay: &Haystack<'_>,
    alignment: &Alignment,
    old: &[&[u8]],
    new: &[&[u8]],
    edges: BlankEdges,
) -> Result<Splice, Conflict> {
    merge_with_style(hay, alignment, old, new, edges, &LearnedStyle::default())
}

/// How many blank lines old and new text, as sent, both had at each end. These lines are removed
/// before the search.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::edit) struct BlankEdges {
    pub before: usize,
    pub after: usize,
}

/// How the indentation and the quotes of an edit translate to those of the file, learned from lines
/// that occur on both sides.
#[derive(Clone, Debug, Default)]
pub(in crate::edit) struct LearnedStyle {
    indents: IndentMap,
    quotes: QuoteMap,
}

impl LearnedStyle {
    /// Learns from the lines of an alignment.
    pub(in crate::edit) fn learn(
        &mut self,
        hay: &Haystack<'_>,
        alignment: &Alignment,
        old: &[&[u8]],
        new: &[&[u8]],
    ) {
        let mut merge = EditMerge::new(hay, alignment, old, new);
        merge.learn(&Self::default());
        self.indents.add_missing_pairs(&merge.indents);
        self.quotes.add_missing_pairs(&merge.quotes);
    }
}

/// Does the same as [`merge_edit`], with what was learned at other positions of the same edit.
pub(in crate::edit) fn merge_with_style(
    hay: &Haystack<'_>,
    alignment: &Alignment,
    old: &[&[u8]],
    new: &[&[u8]],
    edges: BlankEdges,
    elsewhere: &LearnedStyle,
) -> Result<Splice, Conflict> {
    let without = without_unmatched_blank_lines(alignment, old, new);
    let (alignment, new) = match &without {
        Some((alignment, new)) => (alignment, new.as_slice()),
        None => (alignment, new),
    };
    let translated = reindent_new_text(hay, alignment, old, new);
    let lines: Vec<&[u8]>;
    let new = match &translated {
        Some(translated) => {
            lines = translated.iter().map(Vec::as_slice).collect();
            &lines
        }
        None => new,
    };
    let mut merge = EditMerge::new(hay, alignment, old, new);
    merge.learn(elsewhere);
    let mut out = merge.output_lines()?;
    let lines = drop_existing_insertions(hay, &alignment.file, edges, &mut out)?;
    if let Some(line) = merge.duplicated_line(&out) {
        return Err(Conflict::Unmentioned(line));
    }
    Ok(splice_lines(hay, lines, &out))
}

/// Removes from alignment and new text the blank lines that the file lacks and that old and new
/// text have, once each, between the same lines: such a blank line is a mistake of the model.
/// Returns `None` if there are none.
fn without_unmatched_blank_lines<'e>(
    alignment: &Alignment,
    old: &[&[u8]],
    new: &[&'e [u8]],
) -> Option<(Alignment, Vec<&'e [u8]>)> {
    let lost = |step: &AlignmentStep| match step {
        AlignmentStep::OldOnly(line) => Some(*line),
        _ => None,
    };
    alignment.steps.iter().find_map(lost)?;
    let between = |lines: &[&[u8]]| {
        let keys: Vec<Vec<u8>> = lines.iter().map(|line| match_key(line)).collect();
        let mut found: HashMap<(Vec<u8>, Vec<u8>), Option<usize>> = HashMap::new();
        for (at, around) in keys.windows(3).enumerate() {
            if let [before, blank, after] = around
                && blank.is_empty()
                && !before.is_empty()
                && !after.is_empty()
            {
                found
                    .entry((before.clone(), after.clone()))
                    .and_modify(|line| *line = None)
                    .or_insert(Some(at + 1));
            }
        }
        found
    };
    let (olds, news) = (between(old), between(new));
    let twins: HashMap<usize, usize> = olds
        .into_iter()
        .filter_map(|(around, line)| Some((line?, (*news.get(&around)?)?)))
        .collect();
    let mut gone = HashSet::new();
    let mut without = alignment.clone();
    without.steps.retain(|step| match lost(step).and_then(|line| twins.get(&line)) {
        Some(twin) => !gone.insert(*twin),
        None => true,
    });
    let lines = new.iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, line)| *line);
    (!gone.is_empty()).then(|| (without, lines.collect()))
}

/// Returns true if old and new text differ in more than white space at line ends.
pub(in crate::edit) fn changes_any_line(old: &[&[u8]], new: &[&[u8]]) -> bool {
    old.len() != new.len() || old.iter().zip(new).any(|(old, new)| trim_end(old) != trim_end(new))
}

/// The state while one edit is merged with the file's lines at one position.
struct EditMerge<'m, 'e> {
    hay: &'m Haystack<'m>,
    old: &'m [&'e [u8]],
    new: &'m [&'e [u8]],
    units: Vec<MatchedLines>,
    /// For each line of the old text, the index of its group in `units`; `None` if the file lacks
    /// the line.
    unit_of: Vec<Option<usize>>,
    base: Vec<BaseLine>,
    /// The indexes in `base` of blank lines of the old text that the file lacks.
    lost: Vec<usize>,
    /// For each line of `base`, the index of the equal line of the new text; `None` if the edit
    /// replaces it.
    kept: Vec<Option<usize>>,
    /// True if the new text has the indentation of the file and only the old text had not.
    only_old_misindented: bool,
    indents: IndentMap,
    quotes: QuoteMap,
}

impl<'m, 'e> EditMerge<'m, 'e> {
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
                AlignmentStep::Pair { old, file, cut, .. } => {
                    unit_of[old.clone()].fill(Some(units.len()));
                    base.extend(old.clone().map(BaseLine::Old));
                    units.push(MatchedLines { old: old.clone(), file: file.clone(), cut: *cut });
                }
                // The alignment lets only blank lines be missing from the file. If the new text
                // changes one, there is nothing in the file to change.
                AlignmentStep::OldOnly(line) => {
                    lost.push(base.len());
                    base.push(BaseLine::Old(*line));
                }
                AlignmentStep::FileOnly(line) => base.push(BaseLine::FileOnly(*line)),
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
            only_old_misindented: false,
            indents: IndentMap::default(),
            quotes: QuoteMap::default(),
        };
        merge.find_kept_lines();
        merge
    }

    /// Learns how the edit's indentation and quotes translate to the file, from this position and
    /// from `elsewhere`.
    fn learn(&mut self, elsewhere: &LearnedStyle) {
        let mut from_old = IndentMap::default();
        let identity = self.only_old_misindented;
        for (base, kept) in self.base.iter().zip(&self.kept) {
            let BaseLine::Old(old) = base else { continue };
            let Some(unit) = self.unit_of[*old].map(|unit| &self.units[unit]) else { continue };
            let file = self.hay.line(unit.file.start);
            if unit.old.start != *old {
                continue;
            }
            if unit.file.len() == 1 && unit.old.len() == 1 {
                let covered = &file[unit.cut.head..file.len() - unit.cut.tail];
                self.quotes.learn_pairs(self.old[*old], covered);
            } else {
                let there: Vec<&[u8]> = unit.file.clone().map(|line| self.hay.line(line)).collect();
                self.quotes.learn_pairs(&self.old[unit.old.clone()].concat(), &there.concat());
            }
            if unit.cut.head > 0 {
                continue;
            }
            if !identity {
                from_old.learn_pair(self.old[*old], file);
            }
            if let Some(new) = kept {
                self.indents.learn_pair(self.new[*new], file);
            }
        }
        self.indents.add_missing_pairs(&from_old);
        if !identity {
            self.indents.add_missing_pairs(&elsewhere.indents);
        }
        // The new text may contain a line that the old text forgot, with another indentation.
        for (base, kept) in self.base.iter().zip(&self.kept) {
            if let (BaseLine::FileOnly(line), Some(new)) = (base, kept) {
                self.indents.learn_pair(self.new[*new], self.hay.line(*line));
            }
        }
        self.indents.learn_style(self.hay.text, self.new);
        self.quotes.add_missing_pairs(&elsewhere.quotes);
        self.quotes.keep_file_style(self.hay.text);
    }

    /// Returns the lines that replace those of the alignment.
    fn output_lines(&self) -> Result<Vec<OutputLine>, Conflict> {
        let mut out = Vec::new();
        let (mut at, mut next) = (0, 0);
        while at < self.base.len() || next < self.new.len() {
            let from = at;
            while at < self.base.len() && self.kept[at].is_none() {
                at += 1;
            }
            let upto = self.kept.get(at).copied().flatten().unwrap_or(self.new.len());
            self.append_replacement(from..at, next..upto, &mut out)?;
            next = upto;
            if at < self.base.len() {
                self.keep_line(at, &mut out);
                at += 1;
                next += 1;
            }
        }
        Ok(out)
    }

    /// Returns true if the edit changes the white space of a blank line that the old text has
    /// exactly as the file.
    fn changes_blank_line(&self, old: usize, new: Option<usize>) -> bool {
        let (Some(unit), Some(new)) = (self.unit_of[old].map(|unit| &self.units[unit]), new) else {
            return false;
        };
        let sent = self.old[old];
        unit.old.len() == 1
            && unit.file.len() == 1
            && trim_end(sent).is_empty()
            && sent == self.hay.line(unit.file.start)
            && sent != self.new[new]
    }

    /// Returns true if a blank line of the new text is not the superfluous one at `at` of the base:
    /// it stands in a shorter run of blank lines, or alone between other lines.
    fn is_other_blank_line(&self, at: usize, new: usize) -> bool {
        let sent = |at: usize| match self.base[at] {
            BaseLine::Old(line) => match_key(self.old[line]),
            BaseLine::FileOnly(line) => match_key(self.hay.line(line)),
        };
        let made = |at: usize| match_key(self.new[at]);
        let is_blank_base = |at: usize| sent(at).is_empty();
        let is_blank_new = |at: usize| made(at).is_empty();
        let old_run = run_around(at, self.base.len(), is_blank_base);
        let new_run = run_around(new, self.new.len(), is_blank_new);
        let before =
            |at: usize, is_blank: &dyn Fn(usize) -> bool| (0..at).rev().find(|&at| !is_blank(at));
        let after = |at: usize, len: usize, is_blank: &dyn Fn(usize) -> bool| {
            (at..len).find(|&at| !is_blank(at))
        };
        let same_before =
            before(at, &is_blank_base).map(sent) == before(new, &is_blank_new).map(made);
        let same_after = after(at, self.base.len(), &is_blank_base).map(sent)
            == after(new, self.new.len(), &is_blank_new).map(made);
        new_run < old_run || (old_run == 1 && !same_before && !same_after)
    }

    /// Appends a kept line of the base to the result.
    fn keep_line(&self, at: usize, out: &mut Vec<OutputLine>) {
        match self.base[at] {
            BaseLine::FileOnly(line) => {
                let in_file_style = self.kept[at].map(|new| self.in_file_style(new));
                let moved = in_file_style
                    .filter(|text| indentation_of(text) != indentation_of(self.hay.line(line)));
                out.push(
                    moved.map_or(OutputLine::Keep(line), |text| OutputLine::New(text, Some(line))),
                );
            }
            // The edit adds white space to a blank line or removes it.
            BaseLine::Old(old) if self.changes_blank_line(old, self.kept[at]) => {
                let end = self.unit_of[old].map(|unit| self.units[unit].file.start);
                out.extend(self.kept[at].map(|new| OutputLine::New(self.in_file_style(new), end)));
            }
            BaseLine::Old(old) => {
                if let Some(unit) = self.unit_of[old].map(|unit| &self.units[unit])
                    && unit.old.start == old
                {
                    out.extend(unit.file.clone().map(OutputLine::Keep));
                } else if self.unit_of[old].is_none()
                    && let Some(new) = self.kept[at]
                    && self.is_other_blank_line(at, new)
                {
                    out.push(OutputLine::New(self.in_file_style(new), None));
                }
            }
        }
    }
}
