//! Decides which lines of the file stay unchanged by an edit.

use std::collections::HashMap;

use super::{BaseLine, EditMerge, OutputLine};
use crate::diff::changes_between_lines;
use crate::edit::lines::{indentation_of, trim, trim_end};
use crate::edit::matching::alignment::Cut;
use crate::edit::matching::needle::LineKind;
use crate::edit::matching::normalize::{has_word, match_key, with_plain_chars, without_whitespace};

/// The minimum length in bytes from which equal lines of punctuation are taken for the same line;
/// shorter ones may be equal by chance.
const MIN_SIGNIFICANT_PUNCTUATION_BYTES: usize = 8;

/// A mistake of the old text in a line, apart from indentation.
enum OldLineMistake {
    /// The line has other quotes or white space than the file, or a typo.
    Punctuation,
    /// The file has the line joined to the previous one.
    LineBreak,
}

impl EditMerge<'_, '_> {
    /// Finds the lines that the edit keeps, that is, those that old and new text share. A line with
    /// changed indentation is not kept, unless only the old text had its indentation wrong.
    pub(super) fn find_kept_lines(&mut self) {
        let count = |kept: &[Option<usize>]| {
            let counts = |base: &BaseLine| match base {
                BaseLine::Old(line) => !trim(self.old[*line]).is_empty(),
                BaseLine::FileOnly(_) => false,
            };
            self.base.iter().zip(kept).filter(|(base, kept)| kept.is_some() && counts(base)).count()
        };
        let loose = self.same_lines(|_, text| trim(text).to_vec());
        self.only_old_misindented = self.is_only_old_misindented(&loose);
        let as_sent = self.same_lines(|_, text| text.to_vec());
        let strict = self.same_lines(|_, text| trim_end(text).to_vec());
        let kept = if self.only_old_misindented {
            // Only the old text has wrong indentation, so its lines are compared with the
            // indentation of the file.
            let mended = self.same_lines(|old, text| {
                let unit = old.and_then(|old| self.unit_of[old]).map(|unit| &self.units[unit]);
                let Some(unit) = unit.filter(|unit| unit.cut.head == 0) else {
                    return [indentation_of(text), trim(text)].concat();
                };
                let blanks = indentation_of(self.hay.line(unit.file.start));
                // A line of the file that the old text broke in several: the later parts are
                // indented like the first.
                let deeper =
                    indentation_of(text).strip_prefix(indentation_of(self.old[unit.old.start]));
                [blanks, deeper.unwrap_or_default(), trim(text)].concat()
            });
            let is_mended = self.is_old_flattened() || count(&mended) >= count(&strict);
            if is_mended { mended } else { strict }
        } else if count(&as_sent) == count(&strict) {
            as_sent
        } else {
            strict
        };
        self.kept = self.without_torn_groups(kept);
        self.keep_present_blank_lines();
        self.slide_blank_lines();
    }

    /// Changes which blank lines are paired where the old text has more of them than the file: those
    /// that the file has are kept first, so that an edit which drops a superfluous one leaves the
    /// file's alone.
    fn keep_present_blank_lines(&mut self) {
        let is_blank = |base: &BaseLine| match base {
            BaseLine::Old(line) => trim(self.old[*line]).is_empty(),
            BaseLine::FileOnly(_) => false,
        };
        let mut at = 0;
        while at < self.base.len() {
            let run = self.base[at..].iter().take_while(|base| is_blank(base)).count();
            let (lost, present): (Vec<usize>, Vec<usize>) =
                (at..at + run).partition(|line| self.lost.contains(line));
            at += run + 1;
            if lost.is_empty() || present.is_empty() {
                continue;
            }
            let kept: Vec<usize> =
                (at - run - 1..at - 1).filter_map(|line| self.kept[line].take()).collect();
            let mut chosen: Vec<usize> = present.into_iter().chain(lost).take(kept.len()).collect();
            chosen.sort_unstable();
            for (line, new) in chosen.into_iter().zip(kept) {
                self.kept[line] = Some(new);
            }
        }
    }

    /// Changes which blank lines are paired: a kept blank line before a forgotten line is paired
    /// with the first possible blank line of the new text, so that insertions come after both.
    pub(super) fn slide_blank_lines(&mut self) {
        let blank = |line: &[u8]| trim(line).is_empty();
        let mut first = 0;
        for at in 0..self.base.len().saturating_sub(1) {
            let Some(new) = self.kept[at] else { continue };
            let forgotten = match (self.base[at], self.base[at + 1]) {
                (BaseLine::Old(_), BaseLine::FileOnly(line)) => blank(self.hay.line(line)),
                _ => false,
            };
            if forgotten && first < new && blank(self.new[first]) && blank(self.new[new]) {
                self.kept[at] = Some(first);
            }
            first = self.kept[at].map_or(first, |new| new + 1);
        }
        self.move_insertions_off_forgotten();
    }

    /// Moves an insertion behind the kept line that follows it, if that line equals the insertion's
    /// first line and a line that the old text forgot precedes it. The result is the same text.
    fn move_insertions_off_forgotten(&mut self) {
        let mut first = 0;
        let mut forgotten = false;
        for at in 0..self.base.len() {
            let Some(new) = self.kept[at] else {
                forgotten = matches!(self.base[at], BaseLine::FileOnly(_));
                continue;
            };
            if forgotten && first < new && self.new[first] == self.new[new] {
                self.kept[at] = Some(first);
            }
            first = self.kept[at].map_or(first, |new| new + 1);
            forgotten = false;
        }
    }

    /// Returns true if the new text has the indentation of the file and the old text has not,
    /// decided by [`Self::indentation_score`].
    pub(super) fn is_only_old_misindented(&self, kept: &[Option<usize>]) -> bool {
        self.indentation_score(kept) > 0
    }

    /// Returns [`Self::indentation_score`] of the lines that old and new text share apart from
    /// indentation; 0 or less if the old text is indented as well as the new one.
    pub(super) fn new_indentation_score(&self) -> isize {
        let kept = self.same_lines(|_, text| trim(text).to_vec());
        self.indentation_score(&kept)
    }

    /// Returns how many lines the new text indents as the file does, minus those that the old text
    /// does, over the kept lines or, if there are none, the lines derived from old ones. A line
    /// that both indent alike, but not as the file, counts four times against the new text, because
    /// it hardly occurs where only the old text is shifted.
    pub(super) fn indentation_score(&self, kept: &[Option<usize>]) -> isize {
        let mut pairs: Vec<(usize, usize)> = self
            .base
            .iter()
            .zip(kept)
            .filter_map(|(base, kept)| match (base, kept) {
                (BaseLine::Old(old), Some(new)) => Some((*old, *new)),
                _ => None,
            })
            .filter(|(old, _)| self.unit_of[*old].is_none_or(|unit| self.units[unit].cut.head == 0))
            .collect();
        let is_flattened = self.is_old_flattened();
        if is_flattened {
            if self.is_new_at_file_depth(is_flattened) {
                return 1;
            }
            pairs.clear();
        }
        if pairs.iter().all(|(old, _)| trim(self.old[*old]).is_empty()) {
            let all: Vec<usize> = (0..self.base.len()).collect();
            let line_origins = self.line_origins(&all, 0..self.new.len());
            pairs.extend(line_origins.iter().enumerate().filter_map(|(new, at)| {
                match self.base[(*at)?] {
                    BaseLine::Old(old) => Some((old, new)),
                    BaseLine::FileOnly(_) => None,
                }
            }));
        }
        let (mut new_right, mut old_right, mut alike) = (0, 0, 0);
        for (old, new) in pairs {
            let Some(unit) = self.unit_of[old].map(|unit| &self.units[unit]) else { continue };
            if trim(self.old[old]).is_empty() || unit.cut.head > 0 {
                continue;
            }
            if unit.old.start != old {
                continue;
            }
            let file = indentation_of(self.hay.line(unit.file.start));
            let is_significant = has_word(self.old[old]);
            let (new, old) = (indentation_of(self.new[new]), indentation_of(self.old[old]));
            new_right += isize::from(new == file);
            old_right += isize::from(old == file);
            // A brace may be paired with another brace than the one that is meant, so it does not
            // count.
            alike += isize::from(new == old && new != file && is_significant);
        }
        if (new_right, old_right, alike) == (0, 0, 0) {
            return isize::from(self.is_new_at_file_depth(is_flattened));
        }
        new_right - old_right.max(4 * alike)
    }

    /// Returns true if the shallowest line of the new text is indented as the shallowest of the
    /// file's lines, and not as that of the old text. If the old text is flattened, its indentation
    /// does not matter.
    fn is_new_at_file_depth(&self, is_flattened: bool) -> bool {
        let shallowest = |lines: &mut dyn Iterator<Item = &[u8]>| {
            let depths = lines.filter(|line| !trim(line).is_empty()).map(indentation_of);
            depths.min_by_key(|depth| depth.len()).map(<[u8]>::to_vec)
        };
        // A line that begins inside a line of the file has no indentation.
        let cut = usize::from(self.units.first().is_some_and(|unit| unit.cut.head > 0));
        let old = shallowest(&mut self.old.iter().skip(cut).copied());
        let new = shallowest(&mut self.new.iter().skip(cut).copied());
        let units = self.units.iter().filter(|unit| unit.cut.head == 0);
        let file = shallowest(&mut units.map(|unit| self.hay.line(unit.file.start)));
        let says = |depth: &Vec<u8>| is_flattened || !depth.is_empty();
        new.as_ref().is_some_and(says) && new == file && (is_flattened || new != old)
    }

    /// Returns true if the old text has no indentation while the file's lines have different
    /// indentations and the new text has some. Kept lines then do not show where they belong,
    /// because a brace can be at any depth.
    fn is_old_flattened(&self) -> bool {
        let says = |line: &[u8]| !trim(line).is_empty();
        let is_flat = |line: &&[u8]| !says(line) || indentation_of(line).is_empty();
        let mut there = self
            .units
            .iter()
            .filter(|unit| says(self.old[unit.old.start]) && unit.cut.head == 0)
            .map(|unit| indentation_of(self.hay.line(unit.file.start)));
        let first = there.next();
        self.old.iter().all(is_flat)
            && !self.new.iter().all(is_flat)
            && there.any(|indent| Some(indent) != first)
    }

    /// Returns for each line of the base the line of the new text that equals it once both are
    /// mapped by `view`. `view` also receives the index of an old line, or `None` for a new one.
    pub(super) fn same_lines(
        &self,
        view: impl Fn(Option<usize>, &[u8]) -> Vec<u8>,
    ) -> Vec<Option<usize>> {
        let new: Vec<Vec<u8>> = self.new.iter().map(|line| view(None, line)).collect();
        let mut by_key: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
        for (at, line) in self.new.iter().enumerate() {
            by_key.entry(match_key(line)).or_default().push(at);
        }
        // Of several equal lines, prefers the one with the indentation of the file's line.
        let likest = |places: &Vec<usize>, line: usize| {
            let same = |at: &&usize| trim_end(self.new[**at]) == trim_end(self.hay.line(line));
            places.iter().find(same).or(places.first()).copied()
        };
        let base: Vec<Vec<u8>> = self
            .base
            .iter()
            .map(|base| match base {
                BaseLine::Old(line) => {
                    let seen = view(Some(*line), self.old[*line]);
                    let mended = |at: &&usize| match self.mistake_in(*line) {
                        Some(OldLineMistake::Punctuation) => {
                            indentation_of(&new[**at]) == indentation_of(&seen)
                                && !self.changes_inner_whitespace(*line, **at)
                        }
                        Some(OldLineMistake::LineBreak) => true,
                        None => false,
                    };
                    let found = by_key.get(&match_key(self.old[*line]));
                    let found = found.filter(|places| places.iter().all(|at| new[*at] != seen));
                    match found.and_then(|places| places.iter().find(mended)) {
                        Some(&at) => new[at].clone(),
                        None => seen,
                    }
                }
                // A line of the file that the old text forgot, paired with an equal line of the new
                // text if there is one.
                BaseLine::FileOnly(line) => {
                    let key = match_key(self.hay.line(*line));
                    let is_significant = has_word(&key)
                        || key.len() >= MIN_SIGNIFICANT_PUNCTUATION_BYTES
                        || is_comment_with_text(self.hay.line(*line));
                    let found = by_key.get(&key).filter(|_| is_significant);
                    let found = found.and_then(|places| likest(places, *line));
                    found.map_or(b"\n".to_vec(), |at| new[at].clone())
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
        for change in changes_between_lines(&base, &new).iter().chain([&end]) {
            for (at, line) in (next.0..change.before.start).zip(next.1..change.after.start) {
                kept[at as usize] = Some(line as usize);
            }
            next = (change.before.end, change.after.end);
        }
        kept
    }

    /// Returns a line of code that the old text forgot and that the result would contain more often
    /// than the new text. It is then unknown whether the line should move or be duplicated.
    pub(super) fn duplicated_line(&self, out: &[OutputLine]) -> Option<usize> {
        let telling = |line: usize| {
            let key = match_key(self.hay.line(line));
            let is_significant = has_word(&key) && key.len() >= MIN_SIGNIFICANT_PUNCTUATION_BYTES;
            (is_significant && LineKind::of(self.hay.line(line)) == LineKind::Code)
                .then_some((line, key))
        };
        let forgotten: Vec<(usize, Vec<u8>)> = self
            .forgotten_lines(0..self.base.len())
            .filter_map(|(_, line)| telling(line))
            .collect();
        if forgotten.is_empty() {
            return None;
        }
        let made: Vec<(bool, Vec<u8>)> = out
            .iter()
            .map(|item| match item {
                OutputLine::New(text, _) => (true, match_key(text)),
                OutputLine::Keep(line) => (false, match_key(self.hay.line(*line))),
            })
            .collect();
        let sent: Vec<Vec<u8>> = self.new.iter().map(|line| match_key(line)).collect();
        let is_doubled = |(_, key): &(usize, Vec<u8>)| {
            let count = made.iter().filter(|(_, other)| other == key).count();
            let is_added = made.iter().any(|(is_new, other)| *is_new && other == key);
            is_added && count > sent.iter().filter(|other| *other == key).count()
        };
        forgotten.into_iter().find(is_doubled).map(|(line, _)| line)
    }

    /// Returns the mistake of the old text in a line, if any. A new line with the same words as the
    /// file's corrects the mistake and changes nothing.
    fn mistake_in(&self, old: usize) -> Option<OldLineMistake> {
        let unit = self.unit_of[old].map(|unit| &self.units[unit])?;
        if unit.cut != Cut::default() || trim(self.old[old]).is_empty() {
            return None;
        }
        if unit.old.start != old {
            return Some(OldLineMistake::LineBreak);
        }
        let joined = |lines: &mut dyn Iterator<Item = &[u8]>| -> Vec<u8> {
            lines.flat_map(|line| without_whitespace(line).into_owned()).collect()
        };
        let sent = joined(&mut self.old[unit.old.clone()].iter().copied());
        let there = joined(&mut unit.file.clone().map(|line| self.hay.line(line)));
        let (words, words_there) = (match_key(&sent), match_key(&there));
        // The old line may also have a typo, which the edit does not change either.
        let odd = words != sent && words_there == there;
        (sent != there && (odd || words == words_there)).then_some(OldLineMistake::Punctuation)
    }

    /// Returns true if the edit changes the white space within a line that the old text has as the
    /// file does, apart from quotes and the like.
    fn changes_inner_whitespace(&self, old: usize, new: usize) -> bool {
        let Some(unit) = self.unit_of[old].map(|unit| &self.units[unit]) else { return false };
        let there = trim(self.hay.line(unit.file.start));
        let whole = unit.old.len() == 1 && unit.file.len() == 1;
        whole
            && with_plain_chars(trim(self.old[old])) == there
            && with_plain_chars(trim(self.new[new])) != there
    }

    /// Removes from the kept lines those that belong to a file line of which other old lines are
    /// not kept: a file line that several old lines correspond to is kept or replaced as a whole.
    pub(super) fn without_torn_groups(&self, mut kept: Vec<Option<usize>>) -> Vec<Option<usize>> {
        let unit_of = |base: &BaseLine| match base {
            BaseLine::Old(line) => self.unit_of[*line].filter(|&at| self.units[at].old.len() > 1),
            BaseLine::FileOnly(_) => None,
        };
        let mut torn = vec![false; self.units.len()];
        for (base, kept) in self.base.iter().zip(&kept) {
            if let (Some(unit), None) = (unit_of(base), kept) {
                torn[unit] = true;
            }
        }
        for (base, kept) in self.base.iter().zip(&mut kept) {
            if unit_of(base).is_some_and(|unit| torn[unit]) {
                *kept = None;
            }
        }
        kept
    }
}

/// Returns true for a comment line that has more than comment markers and blanks.
fn is_comment_with_text(line: &[u8]) -> bool {
    let marks = |byte: &u8| b"/*#-!<> \t".contains(byte);
    LineKind::of(line) == LineKind::Comment && !line.iter().all(marks)
}
