//! Places replaced and inserted lines among lines that the old text forgot.

use std::ops::Range;

use super::{BaseLine, Conflict, EditMerge, MatchedLines, OutputLine};
use crate::diff::changes_between_lines;
use crate::edit::lines::trim;
use crate::edit::matching::levenshtein::similarity;
use crate::edit::matching::needle::LineKind;
use crate::edit::matching::normalize::match_key;

impl EditMerge<'_, '_> {
    /// Appends to `out` the new lines that replace a range of the base, and the lines that the old
    /// text forgot there.
    pub(super) fn append_replacement(
        &self,
        base: Range<usize>,
        new: Range<usize>,
        out: &mut Vec<OutputLine>,
    ) -> Result<(), Conflict> {
        let gone: Vec<usize> =
            base.clone().filter(|&at| matches!(self.base[at], BaseLine::Old(_))).collect();
        let new = self.without_lost_blank_lines(&base, new);
        let (Some(&first), Some(&last)) = (gone.first(), gone.last()) else {
            return self.append_insertion(base, new, out);
        };
        out.extend(self.forgotten_lines(base.start..first).map(|(_, line)| OutputLine::Keep(line)));
        let line_origins = self.line_origins(&gone, new.clone());
        let mut lines: Vec<OutputLine> = Vec::new();
        for (index, line) in new.clone().enumerate() {
            let source = line_origins[index].and_then(|at| self.line_group_at(at));
            let instead = source.or_else(|| gone.get(index).and_then(|&at| self.line_group_at(at)));
            let text = match source {
                Some(unit) if unit.old.len() == 1 && unit.file.len() == 1 => {
                    self.with_file_spelling(unit, line)
                }
                _ => self.in_file_style(line),
            };
            match source.filter(|unit| self.is_already_correct(unit, line, &text)) {
                Some(unit) => lines.push(OutputLine::Keep(unit.file.start)),
                None => lines.push(OutputLine::New(text, instead.map(|unit| unit.file.start))),
            }
        }
        self.add_uncovered_ends(&gone, &mut lines);
        // Blank lines and comments that the old text forgot between replaced lines stay next to the
        // lines derived from their neighbours.
        for (at, line) in self.forgotten_lines(first..last).rev() {
            let place = |goes: &dyn Fn(usize) -> bool| {
                line_origins.iter().position(|source| source.is_some_and(goes))
            };
            let next = gone.iter().copied().find(|&other| other > at);
            let before = gone.iter().copied().rfind(|&other| other < at);
            let index = place(&|source| Some(source) == next)
                .or_else(|| place(&|source| Some(source) == before).map(|index| index + 1));
            match (index, LineKind::of(self.hay.line(line))) {
                (_, LineKind::Code) | (None, LineKind::Comment) => {
                    return Err(Conflict::Unmentioned(line));
                }
                (Some(index), _) => lines.insert(index.min(lines.len()), OutputLine::Keep(line)),
                (None, LineKind::Blank) => {}
            }
        }
        out.extend(lines);
        out.extend(
            self.forgotten_lines(last + 1..base.end).map(|(_, line)| OutputLine::Keep(line)),
        );
        Ok(())
    }

    /// Appends to `out` new lines that are inserted between kept lines. They are compared again
    /// with the lines of the file that the old text forgot there.
    pub(super) fn append_insertion(
        &self,
        base: Range<usize>,
        new: Range<usize>,
        out: &mut Vec<OutputLine>,
    ) -> Result<(), Conflict> {
        let forgotten: Vec<usize> =
            self.forgotten_lines(base.clone()).map(|(_, line)| line).collect();
        let keys =
            |lines: &mut dyn Iterator<Item = &[u8]>| lines.map(match_key).collect::<Vec<_>>();
        let there = keys(&mut forgotten.iter().map(|&line| self.hay.line(line)));
        let comes = keys(&mut self.new[new.clone()].iter().copied());
        let there: Vec<&[u8]> = there.iter().map(Vec::as_slice).collect();
        let comes: Vec<&[u8]> = comes.iter().map(Vec::as_slice).collect();
        let end = crate::diff::Change {
            before: there.len() as u32..there.len() as u32,
            after: comes.len() as u32..comes.len() as u32,
        };
        let mut next = 0;
        for change in changes_between_lines(&there, &comes).iter().chain([&end]) {
            out.extend(
                forgotten[next..change.before.start as usize]
                    .iter()
                    .map(|&line| OutputLine::Keep(line)),
            );
            let stays = &forgotten[change.before.start as usize..change.before.end as usize];
            let added =
                new.start + change.after.start as usize..new.start + change.after.end as usize;
            next = change.before.end as usize;
            if added.is_empty() {
                out.extend(stays.iter().map(|&line| OutputLine::Keep(line)));
                continue;
            }
            if let Some(&line) =
                stays.iter().find(|&&line| LineKind::of(self.hay.line(line)) == LineKind::Code)
            {
                return Err(Conflict::Unmentioned(line));
            }
            // A comment belongs to the line after it, a blank line to neither side.
            let blank = |line: usize| trim(self.new[line]).is_empty();
            let spaced = blank(added.end - 1) && !blank(added.start);
            let follows =
                stays.iter().all(|&line| LineKind::of(self.hay.line(line)) == LineKind::Blank)
                    && (spaced || self.is_nearer_to_next(&base, &added));
            let new = added.map(|line| OutputLine::New(self.in_file_style(line), None));
            if follows {
                out.extend(stays.iter().map(|&line| OutputLine::Keep(line)));
                out.extend(new);
            } else {
                out.extend(new);
                out.extend(stays.iter().map(|&line| OutputLine::Keep(line)));
            }
        }
        Ok(())
    }

    /// Returns true if the last inserted line is more similar to the line after the insertion than
    /// the first one to the line before it.
    pub(super) fn is_nearer_to_next(&self, base: &Range<usize>, added: &Range<usize>) -> bool {
        let text = |at: Option<usize>| match at.and_then(|at| self.base.get(at)) {
            Some(BaseLine::Old(line)) => match_key(self.old[*line]),
            _ => Vec::new(),
        };
        let (before, after) = (text(base.start.checked_sub(1)), text(Some(base.end)));
        let (first, last) = (match_key(self.new[added.start]), match_key(self.new[added.end - 1]));
        similarity(&last, &after, 0.0) > similarity(&first, &before, 0.0)
    }

    /// Removes from an edge of the range of new lines one blank line for each blank line of the old
    /// text at the same edge that the file lacks, if the new text has as many blank lines there as
    /// the old one. If it has fewer, the edit drops the superfluous ones itself.
    pub(super) fn without_lost_blank_lines(
        &self,
        base: &Range<usize>,
        mut new: Range<usize>,
    ) -> Range<usize> {
        let is_old_blank = |at: usize| match self.base[at] {
            BaseLine::Old(line) => trim(self.old[line]).is_empty(),
            BaseLine::FileOnly(_) => false,
        };
        let is_new_blank = |at: usize| trim(self.new[at]).is_empty();
        let lead = base.clone().take_while(|&at| is_old_blank(at)).count();
        let trail = base.clone().rev().take_while(|&at| is_old_blank(at)).count();
        let trail = if lead == base.len() { 0 } else { trail };
        for (edge, at_start) in
            [(base.start..base.start + lead, true), (base.end - trail..base.end, false)]
        {
            let lost = edge.clone().filter(|at| self.lost.contains(at)).count();
            let place = if at_start { new.start } else { new.end.saturating_sub(1) };
            let old_run = run_around(edge.start, self.base.len(), is_old_blank);
            if lost == 0
                || new.is_empty()
                || run_around(place, self.new.len(), is_new_blank) < old_run
            {
                continue;
            }
            for _ in 0..lost {
                if at_start && !new.is_empty() && is_new_blank(new.start) {
                    new.start += 1;
                } else if !at_start && !new.is_empty() && is_new_blank(new.end - 1) {
                    new.end -= 1;
                }
            }
        }
        new
    }

    /// Returns the lines in a range of the base that the old text forgot, as pairs of the index in
    /// the base and in the file.
    pub(super) fn forgotten_lines(
        &self,
        base: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = (usize, usize)> {
        base.filter_map(|at| match self.base[at] {
            BaseLine::FileOnly(line) => Some((at, line)),
            BaseLine::Old(_) => None,
        })
    }

    /// Returns the group of the old line at this index of the base; `None` for a forgotten line or
    /// one that the file lacks.
    pub(super) fn line_group_at(&self, at: usize) -> Option<&MatchedLines> {
        match self.base[at] {
            BaseLine::Old(line) => self.unit_of[line].map(|unit| &self.units[unit]),
            BaseLine::FileOnly(_) => None,
        }
    }
}

/// Returns the length of the run of items that satisfy `is_in` around the item `at` of `len`.
pub(super) fn run_around(at: usize, len: usize, is_in: impl Fn(usize) -> bool) -> usize {
    let before = (0..at).rev().take_while(|&at| is_in(at)).count();
    let after = (at..len).take_while(|&at| is_in(at)).count();
    if after == 0 { 0 } else { before + after }
}
