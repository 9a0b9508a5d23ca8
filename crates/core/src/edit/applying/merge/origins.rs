//! Finds the old line from which each new line was derived, and writes new lines in the style of
//! the file.

use std::ops::Range;

use super::super::tokens;
use super::{BaseLine, EditMerge, MatchedLines, OutputLine};
use crate::edit::lines::{indentation_of, trim, trim_end};
use crate::edit::matching::alignment::Cut;
use crate::edit::matching::levenshtein::similarity;
use crate::edit::matching::normalize::{match_key, without_whitespace};

/// The minimum similarity, 0 to 1, at which a new line counts as derived from an old one.
const MIN_ORIGIN_SIMILARITY: f64 = 0.5;
/// The minimum similarity, 0 to 1, of a new line to the old one at which it also takes the white
/// space within the file's line.
const MIN_RETAINED_SIMILARITY: f64 = 0.75;

/// The maximum length in bytes of an old line and its file line together for a merge word by word;
/// longer ones become the new line in the file's style.
const MAX_WORD_MERGE_BYTES: usize = 1 << 15;

impl EditMerge<'_, '_> {
    /// Returns for each new line of the range the index of the line of the base that it was derived
    /// from, among those in `gone`. Lines are paired in order so that the total similarity is
    /// highest; all are `None` if that exceeds the budget.
    pub(super) fn line_origins(&self, gone: &[usize], new: Range<usize>) -> Vec<Option<usize>> {
        let old = |at: usize| match self.base[at] {
            BaseLine::Old(line) => self.old[line],
            BaseLine::FileOnly(line) => self.hay.line(line),
        };
        if gone.len() * new.len() > 10_000 {
            return vec![None; new.len()];
        }
        let olds: Vec<Vec<u8>> = gone.iter().map(|&at| match_key(old(at))).collect();
        let news: Vec<Vec<u8>> = new.clone().map(|line| match_key(self.new[line])).collect();
        let bytes = |keys: &[Vec<u8>]| keys.iter().map(Vec::len).sum::<usize>();
        if !self.hay.work.try_spend_times(bytes(&olds), 40 * news.len() + bytes(&news) / 20) {
            return vec![None; new.len()];
        }
        // Finds the most similar pairs in order by dynamic programming.
        let wide = news.len() + 1;
        let mut best = vec![0.0f64; (olds.len() + 1) * wide];
        let like: Vec<f64> = olds
            .iter()
            .flat_map(|a| {
                news.iter().map(move |b| {
                    if a.is_empty() || b.is_empty() {
                        0.0
                    } else {
                        similarity(a, b, MIN_ORIGIN_SIMILARITY)
                    }
                })
            })
            .collect();
        for i in (0..olds.len()).rev() {
            for j in (0..news.len()).rev() {
                let pair = best[(i + 1) * wide + j + 1] + like[i * news.len() + j];
                best[i * wide + j] = pair.max(best[(i + 1) * wide + j]).max(best[i * wide + j + 1]);
            }
        }
        let mut line_origins = vec![None; news.len()];
        let (mut i, mut j) = (0, 0);
        while i < olds.len() && j < news.len() {
            let likeness = like[i * news.len() + j];
            if likeness > 0.0 && best[i * wide + j] == best[(i + 1) * wide + j + 1] + likeness {
                line_origins[j] = Some(gone[i]);
                (i, j) = (i + 1, j + 1);
            } else if best[i * wide + j] == best[(i + 1) * wide + j] {
                i += 1;
            } else {
                j += 1;
            }
        }
        line_origins
    }

    /// Returns a line of the new text with indentation and quotes translated to those of the file.
    pub(super) fn in_file_style(&self, line: usize) -> Vec<u8> {
        self.quotes.translate_line(self.indents.translate_line(self.new[line]))
    }

    /// Returns the file's line with the change that the edit makes to its old line, so that the
    /// file's own spelling stays elsewhere.
    pub(super) fn with_file_spelling(&self, unit: &MatchedLines, new: usize) -> Vec<u8> {
        let in_file_style = self.in_file_style(new);
        let (base, ours) = (trim(self.old[unit.old.start]), trim(self.hay.line(unit.file.start)));
        if base == ours
            || unit.cut != Cut::default()
            || base.len() + ours.len() > MAX_WORD_MERGE_BYTES
        {
            return in_file_style;
        }
        let theirs = trim(self.new[new]);
        // If the edit changes much of the line, the file's white space within it fits no longer.
        if without_whitespace(base) == without_whitespace(ours)
            && similarity(base, theirs, MIN_RETAINED_SIMILARITY) == 0.0
        {
            return in_file_style;
        }
        let merged = tokens::merge_words(base, ours, theirs);
        let trailing = &in_file_style[trim_end(&in_file_style).len()..];
        self.quotes.translate_line([indentation_of(&in_file_style), &merged, trailing].concat())
    }

    /// Returns true if the file already has the new line, because the edit only corrects a mistake
    /// of the old text.
    pub(super) fn is_already_correct(&self, unit: &MatchedLines, new: usize, text: &[u8]) -> bool {
        let whole = unit.old.len() == 1 && unit.file.len() == 1 && unit.cut == Cut::default();
        let meant = trim_end(self.old[unit.old.start]) != trim_end(self.new[new]);
        whole && meant && trim_end(text) == trim_end(self.hay.line(unit.file.start))
    }

    /// Adds to the first and last new line the parts of the file's lines that precede and follow an
    /// old text which begins or ends in the middle of a line.
    pub(super) fn add_uncovered_ends(&self, gone: &[usize], lines: &mut Vec<OutputLine>) {
        let ends = gone.first().zip(gone.last());
        let units = ends.and_then(|(&a, &b)| self.line_group_at(a).zip(self.line_group_at(b)));
        let Some((first, last)) = units else { return };
        let (head, tail) = (first.cut.head, last.cut.tail);
        if head + tail > 0 && lines.is_empty() {
            lines.push(OutputLine::New(Vec::new(), Some(first.file.start)));
        }
        if head > 0
            && let Some(OutputLine::New(text, _)) = lines.first_mut()
        {
            let before = &self.hay.line(first.file.start)[..head];
            *text = [before, without_indentation(text)].concat();
        }
        if tail > 0
            && let Some(OutputLine::New(text, _)) = lines.last_mut()
        {
            let line = self.hay.line(last.file.start);
            let kept = trim_end(text).len();
            text.truncate(kept);
            text.extend_from_slice(&line[line.len() - tail..]);
        }
    }
}

fn without_indentation(line: &[u8]) -> &[u8] {
    &line[indentation_of(line).len()..]
}
