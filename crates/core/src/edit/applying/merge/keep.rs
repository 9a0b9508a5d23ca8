//! Decides which lines of the file an edit keeps.

use std::collections::HashMap;

use super::{Base, Merge, OutputLine};
use crate::diff::changes_between;
use crate::edit::lines::{indent, trim, trim_end};
use crate::edit::matching::alignment::Cut;
use crate::edit::matching::needle::LineKind;
use crate::edit::matching::normalize::{collapse_whitespace, has_word, match_key, plain};

/// This many bytes of punctuation are not equal by chance.
const MIN_SIGNIFICANT_PUNCTUATION: usize = 8;

/// A mistake of the old text in a line.
enum Damage {
    /// Other quotes or unusual white space where the file has plain characters.
    Signs,
    /// The file has this line joined to the previous one.
    Break,
}

impl Merge<'_, '_> {
    /// Finds the lines that the edit keeps. Changed indentation counts as a change unless only the
    /// old text has it wrong.
    pub(super) fn keep(&mut self) {
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
            // If only the old text has it wrong, the old text is compared with the file's
            // indentation.
            let mended = self.same_lines(|old, text| {
                let unit = old.and_then(|old| self.unit_of[old]).map(|unit| &self.units[unit]);
                let Some(unit) = unit.filter(|unit| unit.cut.head == 0) else {
                    return [indent(text), trim(text)].concat();
                };
                let blanks = indent(self.hay.line(unit.file.start));
                // The rest of a line that was broken is indented like its first part.
                let deeper = indent(text).strip_prefix(indent(self.old[unit.old.start]));
                [blanks, deeper.unwrap_or_default(), trim(text)].concat()
            });
            let is_mended = self.is_flattened() || count(&mended) >= count(&strict);
            if is_mended { mended } else { strict }
        } else if count(&as_sent) == count(&strict) {
            as_sent
        } else {
            strict
        };
        self.kept = self.whole_units(kept);
        self.slide();
    }

    /// Moves blank lines: a kept blank line before a forgotten line is paired with the first
    /// possible blank line of the new text, so that insertions come after both.
    pub(super) fn slide(&mut self) {
        let blank = |line: &[u8]| trim(line).is_empty();
        let mut first = 0;
        for at in 0..self.base.len().saturating_sub(1) {
            let Some(new) = self.kept[at] else { continue };
            let forgotten = match (self.base[at], self.base[at + 1]) {
                (Base::Old(_), Base::FileOnly(line)) => blank(self.hay.line(line)),
                _ => false,
            };
            if forgotten && first < new && blank(self.new[first]) && blank(self.new[new]) {
                self.kept[at] = Some(first);
            }
            first = self.kept[at].map_or(first, |new| new + 1);
        }
        self.insert_away_from_forgotten();
    }

    /// Moves an insertion behind the following line if that equals the insertion's first line and a
    /// forgotten line precedes it. The result is the same text.
    fn insert_away_from_forgotten(&mut self) {
        let mut first = 0;
        let mut forgotten = false;
        for at in 0..self.base.len() {
            let Some(new) = self.kept[at] else {
                forgotten = matches!(self.base[at], Base::FileOnly(_));
                continue;
            };
            if forgotten && first < new && self.new[first] == self.new[new] {
                self.kept[at] = Some(first);
            }
            first = self.kept[at].map_or(first, |new| new + 1);
            forgotten = false;
        }
    }

    /// Reports whether the new text has the indentation of the file and the old text has not,
    /// decided by kept lines or, if there are none, by lines derived from old ones.
    pub(super) fn old_alone_is_shifted(&self, kept: &[Option<usize>]) -> bool {
        self.rightly_indented(kept) > 0
    }

    /// Returns in how many lines only the new text has the indentation of the file; 0 or less if
    /// the old text is as good.
    pub(super) fn new_alone_is_right(&self) -> isize {
        let kept = self.same_lines(|_, text| trim(text).to_vec());
        self.rightly_indented(&kept)
    }

    /// For kept lines or, if there are none, for lines derived from old ones: counts the lines that
    /// the new text indents as the file does, minus those of the old text. A line that both indent
    /// in the same way, but not as the file, counts four times against, because it hardly occurs
    /// where only the old text is shifted.
    pub(super) fn rightly_indented(&self, kept: &[Option<usize>]) -> isize {
        let mut pairs: Vec<(usize, usize)> = self
            .base
            .iter()
            .zip(kept)
            .filter_map(|(base, kept)| match (base, kept) {
                (Base::Old(old), Some(new)) => Some((*old, *new)),
                _ => None,
            })
            .filter(|(old, _)| self.unit_of[*old].is_none_or(|unit| self.units[unit].cut.head == 0))
            .collect();
        let is_flattened = self.is_flattened();
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
                    Base::Old(old) => Some((old, new)),
                    Base::FileOnly(_) => None,
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
            let file = indent(self.hay.line(unit.file.start));
            let is_significant = has_word(self.old[old]);
            let (new, old) = (indent(self.new[new]), indent(self.old[old]));
            new_right += isize::from(new == file);
            old_right += isize::from(old == file);
            // For a brace, it is unknown which of several is meant.
            alike += isize::from(new == old && new != file && is_significant);
        }
        if (new_right, old_right, alike) == (0, 0, 0) {
            return isize::from(self.is_new_at_file_depth(is_flattened));
        }
        new_right - old_right.max(4 * alike)
    }

    /// Reports whether the shallowest line of the new text is indented as that of the file, and not
    /// as that of the old text, whose indentation says nothing if it is flattened.
    fn is_new_at_file_depth(&self, is_flattened: bool) -> bool {
        let shallowest = |lines: &mut dyn Iterator<Item = &[u8]>| {
            let depths = lines.filter(|line| !trim(line).is_empty()).map(indent);
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

    /// Reports whether the old text has no indentation while the file's lines have different
    /// indentations and the new text has some. Kept lines then prove nothing, because a brace can
    /// be at any depth.
    fn is_flattened(&self) -> bool {
        let says = |line: &[u8]| !trim(line).is_empty();
        let is_flat = |line: &&[u8]| !says(line) || indent(line).is_empty();
        let mut there = self
            .units
            .iter()
            .filter(|unit| says(self.old[unit.old.start]) && unit.cut.head == 0)
            .map(|unit| indent(self.hay.line(unit.file.start)));
        let first = there.next();
        self.old.iter().all(is_flat)
            && !self.new.iter().all(is_flat)
            && there.any(|indent| Some(indent) != first)
    }

    /// Pairs the lines that old and new text have in common after mapping both with `view`, which
    /// receives the index of an old line.
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
                Base::Old(line) => {
                    let seen = view(Some(*line), self.old[*line]);
                    let mended = |at: &&usize| match self.damage_of(*line) {
                        Some(Damage::Signs) => {
                            indent(&new[**at]) == indent(&seen) && !self.is_spaced_out(*line, **at)
                        }
                        Some(Damage::Break) => true,
                        None => false,
                    };
                    let found = by_key.get(&match_key(self.old[*line]));
                    let found = found.filter(|places| places.iter().all(|at| new[*at] != seen));
                    match found.and_then(|places| places.iter().find(mended)) {
                        Some(&at) => new[at].clone(),
                        None => seen,
                    }
                }
                // A line that the old text forgot but the new text has.
                Base::FileOnly(line) => {
                    let key = match_key(self.hay.line(*line));
                    let is_significant = has_word(&key)
                        || key.len() >= MIN_SIGNIFICANT_PUNCTUATION
                        || is_marked(self.hay.line(*line));
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
        for change in changes_between(&base, &new).iter().chain([&end]) {
            for (at, line) in (next.0..change.before.start).zip(next.1..change.after.start) {
                kept[at as usize] = Some(line as usize);
            }
            next = (change.before.end, change.after.end);
        }
        kept
    }

    /// Returns a kept line of code that the old text forgot and that the result would contain more
    /// often than the new text: it is unknown whether it should move or be duplicated.
    pub(super) fn doubled(&self, out: &[OutputLine]) -> Option<usize> {
        let telling = |line: usize| {
            let key = match_key(self.hay.line(line));
            let is_significant = has_word(&key) && key.len() >= MIN_SIGNIFICANT_PUNCTUATION;
            (is_significant && LineKind::of(self.hay.line(line)) == LineKind::Code)
                .then_some((line, key))
        };
        let forgotten: Vec<(usize, Vec<u8>)> =
            self.forgotten(0..self.base.len()).filter_map(|(_, line)| telling(line)).collect();
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

    /// Returns the mistake of the old text in a line, apart from indentation. A new line with the
    /// same words corrects it and changes nothing.
    fn damage_of(&self, old: usize) -> Option<Damage> {
        let unit = self.unit_of[old].map(|unit| &self.units[unit])?;
        if unit.cut != Cut::default() || trim(self.old[old]).is_empty() {
            return None;
        }
        if unit.old.start != old {
            return Some(Damage::Break);
        }
        let joined = |lines: &mut dyn Iterator<Item = &[u8]>| -> Vec<u8> {
            lines.flat_map(|line| collapse_whitespace(line).into_owned()).collect()
        };
        let sent = joined(&mut self.old[unit.old.clone()].iter().copied());
        let there = joined(&mut unit.file.clone().map(|line| self.hay.line(line)));
        let (words, words_there) = (match_key(&sent), match_key(&there));
        // Besides such punctuation, the old text may have a typo, which is no change either.
        let odd = words != sent && words_there == there;
        (sent != there && (odd || words == words_there)).then_some(Damage::Signs)
    }

    /// Reports whether the edit changes the white space within a line that the old text has as the
    /// file does, apart from punctuation.
    fn is_spaced_out(&self, old: usize, new: usize) -> bool {
        let Some(unit) = self.unit_of[old].map(|unit| &self.units[unit]) else { return false };
        let there = trim(self.hay.line(unit.file.start));
        let whole = unit.old.len() == 1 && unit.file.len() == 1;
        whole && plain(trim(self.old[old])) == there && plain(trim(self.new[new])) != there
    }

    /// Keeps or removes as a whole a file line that several old lines correspond to.
    pub(super) fn whole_units(&self, mut kept: Vec<Option<usize>>) -> Vec<Option<usize>> {
        let unit_of = |base: &Base| match base {
            Base::Old(line) => self.unit_of[*line].filter(|&at| self.units[at].old.len() > 1),
            Base::FileOnly(_) => None,
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

/// Reports whether a comment has punctuation besides its comment markers.
fn is_marked(line: &[u8]) -> bool {
    let marks = |byte: &u8| b"/*#-!<> \t".contains(byte);
    LineKind::of(line) == LineKind::Comment && !line.iter().all(marks)
}
