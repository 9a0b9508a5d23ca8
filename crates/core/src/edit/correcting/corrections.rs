//! Corrects a text that stands nowhere in the file as it was sent: the lines of the file that are
//! most similar become the old text, and the change from the sent old text to the new one is
//! applied to them.
//!
//! A line that the edit keeps is taken from the file, whatever the old text says. For a line that
//! the edit changes, the change is applied word by word to the line of the file; if the file
//! differs in the changed words themselves, there is no correction. Lines that the old text
//! invented or left out are corrected where the edit keeps both neighbours.

use std::ops::Range;

use super::MAX_RETRIES;
use super::part::change_beside_drift;
use crate::diff::{Change, changes_between_lines};
use crate::edit::Splice;
use crate::edit::applying::merge::{BlankEdges, merge_edit};
use crate::edit::applying::tokens::merge_words_strictly;
use crate::edit::lines::{indentation_of, trim};
use crate::edit::matching::alignment::{Alignment, AlignmentStep, Cut};
use crate::edit::matching::candidates::{Candidate, NoMatch};
use crate::edit::matching::haystack::Haystack;
use crate::edit::matching::locate::{locate, locate_approximate};
use crate::edit::matching::needle::Needle;

/// The minimum fraction of the old text, 0 to 1, that must be found at a place to correct it there.
/// Below, the lines share little more than their form.
const MIN_CORRECTED_FRACTION: f64 = 0.5;
/// The minimum fraction of the old text's lines, 0 to 1 by weight, that the file has as they are.
const MIN_EQUAL_FRACTION: f64 = 0.5;
/// The minimum similarity, 0 to 1, of a line that stands alone or whose removal is meant.
const MIN_LINE_SIMILARITY: f64 = 0.8;
/// The maximum number of places that are corrected, before those that fit worse are left out.
const MAX_CORRECTED_PLACES: usize = 40;

type EditLines<'e> = &'e [&'e [u8]];

/// Returns the splices that apply the edit at the places that it can mean; none if no place is
/// similar enough, or if there are more than [`MAX_RETRIES`]. A splice changes nothing where the file has
/// the change already.
pub(in crate::edit) fn corrections(
    hay: &Haystack<'_>,
    old: EditLines<'_>,
    new: EditLines<'_>,
) -> Vec<Splice> {
    let mut found = corrections_of_any_kind(hay, old, new);
    // An edit that changes more than white space does not mean to change the indentation of others.
    if !is_same_but_for_blanks(&old.concat(), &new.concat()) {
        found.retain(|Splice { range, with }| {
            let there = &hay.text[range.clone()];
            there == with || !is_same_but_for_blanks(there, with)
        });
    }
    found
}

/// Returns true if two texts differ in white space only.
pub(crate) fn is_same_but_for_blanks(a: &[u8], b: &[u8]) -> bool {
    let bytes = |text: &'_ [u8]| -> Vec<u8> {
        text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
    };
    bytes(a) == bytes(b)
}

fn corrections_of_any_kind(
    hay: &Haystack<'_>,
    old: EditLines<'_>,
    new: EditLines<'_>,
) -> Vec<Splice> {
    let needle = Needle::new(old, new);
    if let Ok(places) = locate(hay, &needle) {
        let all = (0..places.len().min(MAX_RETRIES + 1)).map(|at| places.get(at));
        let merged = all.filter_map(|place| {
            merge_edit(hay, &place.alignment, old, new, BlankEdges::default()).ok()
        });
        let merged: Vec<Splice> = merged.collect();
        if !merged.is_empty() {
            return unless_too_many(merged);
        }
    }
    let found = meant_places(hay, &needle)
        .iter()
        .filter_map(|place| CorrectedLines::new(hay, place, old, new)?.splice())
        .take(MAX_RETRIES + 1)
        .collect();
    let found = unless_too_many(found);
    match (old, new) {
        ([old], [new]) if found.is_empty() => {
            change_beside_drift(hay.text, old, new, hay.work).into_iter().collect()
        }
        _ => found,
    }
}

/// Returns the splices, or none if there are more than [`MAX_RETRIES`]: a list of some of the places
/// can lack the one that is meant.
fn unless_too_many(splices: Vec<Splice>) -> Vec<Splice> {
    if splices.len() > MAX_RETRIES { Vec::new() } else { splices }
}

/// Returns the places that the old text can mean: the most similar ones, and all whose lines say the
/// same; none if these are too many to list.
fn meant_places(hay: &Haystack<'_>, needle: &Needle<'_>) -> Vec<Candidate> {
    let mut places = approximate_places(hay, needle);
    places.truncate(MAX_CORRECTED_PLACES);
    places.retain(|place| is_justified(needle, place));
    let [only] = places.as_slice() else { return places };
    let rivals = rivals_of(hay, only).filter(|rivals| rivals.len() < MAX_RETRIES);
    let Some(rivals) = rivals else { return Vec::new() };
    places.extend(rivals);
    places.sort_by_key(|place| place.alignment.file.start);
    places
}

/// Returns the other places that have every line of the file that says the place: each that is equal
/// to its old line or nearly so. The other old lines, which are alike by chance, do not decide.
/// Returns `None` if there are too many to compare.
fn rivals_of(hay: &Haystack<'_>, place: &Candidate) -> Option<Vec<Candidate>> {
    let steps = place.alignment.steps.iter();
    let telling = steps.filter_map(|step| match step {
        AlignmentStep::Pair { file, likeness, .. } if *likeness >= MIN_LINE_SIMILARITY => {
            Some(file.clone())
        }
        _ => None,
    });
    let telling: Vec<usize> = telling.flatten().filter(|&line| hay.lens[line] > 0).collect();
    let Some(&first) = telling.first() else { return Some(Vec::new()) };
    if !hay.work.try_spend(8 * hay.len()) {
        return None;
    }
    let is_start = |at: &usize| *at != first && hay.hashes[*at] == hay.hashes[first];
    let starts: Vec<usize> = (0..hay.len()).filter(is_start).collect();
    if !hay.work.try_spend_times(8 * telling.len(), starts.len()) {
        return None;
    }
    let is_same = |line: &usize, start: usize| {
        let there = (line + start).checked_sub(first).and_then(|at| hay.hashes.get(at));
        there == Some(&hay.hashes[*line])
    };
    let rivals =
        starts.into_iter().filter(|&start| telling.iter().all(|line| is_same(line, start)));
    let moved = rivals.filter_map(|start| moved_place(hay, place, start, first));
    Some(moved.take(MAX_RETRIES).collect())
}

/// Returns a place moved by as many lines as `start` is after `first`; `None` if it is not in the
/// file there.
fn moved_place(
    hay: &Haystack<'_>,
    place: &Candidate,
    start: usize,
    first: usize,
) -> Option<Candidate> {
    let moved = |lines: &Range<usize>| {
        let start_line = (lines.start + start).checked_sub(first)?;
        Some(start_line..start_line + lines.len())
    };
    let file = moved(&place.alignment.file).filter(|file| file.end <= hay.len())?;
    let step = |step: &AlignmentStep| match step {
        AlignmentStep::Pair { old, file, likeness, cut } => Some(AlignmentStep::Pair {
            old: old.clone(),
            file: moved(file)?,
            likeness: *likeness,
            cut: *cut,
        }),
        AlignmentStep::FileOnly(line) => {
            Some(AlignmentStep::FileOnly(moved(&(*line..line + 1))?.start))
        }
        AlignmentStep::OldOnly(line) => Some(AlignmentStep::OldOnly(*line)),
    };
    let steps = place.alignment.steps.iter().map(step).collect::<Option<_>>()?;
    let alignment = Alignment { steps, file, cost: place.alignment.cost };
    Some(Candidate { alignment, score: place.score })
}

/// Returns the places that are most similar to the old text, whatever differs there.
fn approximate_places(hay: &Haystack<'_>, needle: &Needle<'_>) -> Vec<Candidate> {
    match locate_approximate(hay, needle) {
        Err(NoMatch::Different { place, .. }) => vec![place],
        Err(NoMatch::Several(places)) => places,
        Ok(places) => (0..places.len().min(MAX_RETRIES)).map(|at| places.get(at)).collect(),
        Err(NoMatch::Nowhere | NoMatch::TooLarge) => Vec::new(),
    }
}

/// Returns the lines of the file (0-based) that lines without a change mean; `None` unless there is
/// one such place.
pub(super) fn justified_place(hay: &Haystack<'_>, lines: EditLines<'_>) -> Option<Range<usize>> {
    let needle = Needle::new(lines, lines);
    let places = match locate(hay, &needle) {
        Ok(places) => (0..places.len().min(MAX_RETRIES)).map(|at| places.get(at)).collect(),
        Err(_) => meant_places(hay, &needle),
    };
    let mut meant = places.iter().filter(|place| is_justified(&needle, place));
    match (meant.next(), meant.next()) {
        (Some(only), None) => Some(only.alignment.file.clone()),
        _ => None,
    }
}

/// Returns true if enough of the old text is at a place to say that the edit means it.
fn is_justified(needle: &Needle<'_>, place: &Candidate) -> bool {
    let (mut equal, mut lines) = (0, 0);
    let mut least: f64 = 1.0;
    for step in &place.alignment.steps {
        match step {
            AlignmentStep::Pair { old, likeness, .. } => {
                lines += old.len();
                least = least.min(*likeness);
                if *likeness >= 1.0 {
                    equal += needle.lines[old.clone()].iter().map(|line| line.weight).sum::<i32>();
                }
            }
            AlignmentStep::OldOnly(_) => least = 0.0,
            AlignmentStep::FileOnly(_) => {}
        }
    }
    let share = f64::from(equal) / f64::from(needle.total.max(1));
    let is_close = least >= MIN_LINE_SIMILARITY;
    let score = 1.0 - f64::from(place.alignment.cost) / f64::from(needle.total.max(1));
    lines > 0 && (is_close || share >= MIN_EQUAL_FRACTION && score >= MIN_CORRECTED_FRACTION)
}

/// The place of one line of the old text.
#[derive(Clone)]
enum LinePlace {
    /// The line is the first of a group that corresponds to these lines of the file.
    Group { file: Range<usize>, likeness: f64, cut: Cut, single: bool },
    /// The line belongs to the group of a line before it.
    Within,
    /// The file has no such line.
    Missing,
}

/// The lines of the file at one place, with the change of the edit applied to them.
struct CorrectedLines<'c> {
    hay: &'c Haystack<'c>,
    old: EditLines<'c>,
    new: EditLines<'c>,
    file: Range<usize>,
    places: Vec<LinePlace>,
    /// For each line of the old text, the lines of the file before it that the old text left out.
    left_out: Vec<Vec<usize>>,
    out: Vec<Vec<u8>>,
}

impl<'c> CorrectedLines<'c> {
    fn new(
        hay: &'c Haystack<'c>,
        place: &Candidate,
        old: EditLines<'c>,
        new: EditLines<'c>,
    ) -> Option<Self> {
        let mut places = vec![LinePlace::Missing; old.len()];
        let mut left_out = vec![Vec::new(); old.len() + 1];
        let mut at = 0;
        for step in &place.alignment.steps {
            match step {
                AlignmentStep::Pair { old: lines, file, likeness, cut } => {
                    places.get_mut(lines.clone())?.fill(LinePlace::Within);
                    let single = lines.len() == 1 && file.len() == 1;
                    places[lines.start] = LinePlace::Group {
                        file: file.clone(),
                        likeness: *likeness,
                        cut: *cut,
                        single,
                    };
                    at = lines.end;
                }
                AlignmentStep::OldOnly(line) => at = line + 1,
                AlignmentStep::FileOnly(line) => left_out.get_mut(at)?.push(*line),
            }
        }
        let file = place.alignment.file.clone();
        let mut made = Self { hay, old, new, file, places, left_out, out: Vec::new() };
        made.fill()?;
        Some(made)
    }

    /// Returns the splice that writes the lines. It changes nothing if the file has the change.
    fn splice(self) -> Option<Splice> {
        let Self { hay, file, out, .. } = self;
        let end_of = |line: usize| hay.file.split_line(line).1;
        let usual = (file.start..file.end).map(end_of).find(|end| !end.is_empty());
        let usual = usual.unwrap_or(b"\n");
        let last = end_of(file.end.checked_sub(1)?);
        let mut with = Vec::new();
        for (index, line) in out.iter().enumerate() {
            with.extend_from_slice(line);
            with.extend_from_slice(if index + 1 == out.len() { last } else { usual });
        }
        let range = hay.file.start(file.start)..hay.file.start(file.end);
        Some(Splice { range, with })
    }

    /// Writes the lines of the file with the change; `None` if the change cannot be told from the
    /// difference.
    fn fill(&mut self) -> Option<()> {
        let mut at = 0;
        let changes = changes_between_lines(self.old, self.new);
        for change in &changes {
            for line in at..change.before.start as usize {
                self.push_kept(line);
            }
            self.push_changed(change)?;
            at = change.before.end as usize;
        }
        for line in at..self.old.len() {
            self.push_kept(line);
        }
        Some(())
    }

    /// Writes the lines of the file for a line that the edit keeps, and those left out before it.
    fn push_kept(&mut self, line: usize) {
        self.push_left_out(line);
        if let LinePlace::Group { file, .. } = &self.places[line] {
            for line in file.clone() {
                self.out.push(self.hay.line(line).to_vec());
            }
        }
    }

    fn push_left_out(&mut self, line: usize) {
        for line in std::mem::take(&mut self.left_out[line]) {
            self.out.push(self.hay.line(line).to_vec());
        }
    }

    /// Writes the lines that a change puts in the place of lines of the file.
    fn push_changed(&mut self, change: &Change) -> Option<()> {
        let before = change.before.start as usize..change.before.end as usize;
        let after = change.after.start as usize..change.after.end as usize;
        // A line of the file inside or at the edge of a change may belong before or after it.
        if before.clone().chain([before.end]).any(|line| !self.left_out[line].is_empty()) {
            return None;
        }
        let groups: Option<Vec<(usize, f64, Cut)>> = before
            .clone()
            .map(|line| match &self.places[line] {
                LinePlace::Group { file, likeness, cut, single: true } => {
                    Some((file.start, *likeness, *cut))
                }
                _ => None,
            })
            .collect();
        let groups = groups?;
        let is_equal =
            groups.iter().all(|(_, likeness, cut)| *likeness >= 1.0 && *cut == Cut::default());
        if before.len() == after.len() {
            for ((old, new), (file, _, cut)) in before.zip(after).zip(groups) {
                let line = self.changed_line(old, new, file, cut)?;
                self.out.push(line);
            }
            return Some(());
        }
        let is_removed = after.is_empty()
            && groups.iter().all(|(_, likeness, cut)| {
                *likeness >= MIN_LINE_SIMILARITY && *cut == Cut::default()
            });
        if !is_equal && !is_removed {
            return None;
        }
        let neighbour = groups.first().map(|(file, ..)| (before.start, *file));
        let shift = neighbour.or_else(|| self.pair_beside(before.start));
        for line in after {
            let line = self.shifted(self.new[line], shift);
            self.out.push(line);
        }
        Some(())
    }

    /// Returns a line of the file with the change from an old line to a new one.
    fn changed_line(&self, old: usize, new: usize, file: usize, cut: Cut) -> Option<Vec<u8>> {
        let line = self.hay.line(file);
        let (head, rest) = line.split_at(cut.head);
        let (covered, tail) = rest.split_at(rest.len() - cut.tail);
        let (sent, made) = (self.old[old], self.new[new]);
        let core = merge_words_strictly(trim(sent), trim(covered), trim(made))?;
        let made_indent = match indentation_of(sent) == indentation_of(made) || !head.is_empty() {
            true => indentation_of(covered).to_vec(),
            false => {
                let shifted = self.shifted(made, Some((old, file)));
                indentation_of(&shifted).to_vec()
            }
        };
        let trail = &covered[covered.len() - (covered.len() - trim_end_len(covered))..];
        Some([head, &made_indent, &core, trail, tail].concat())
    }

    /// Returns the nearest pair of an old line and a file line before a line, otherwise after it.
    fn pair_beside(&self, line: usize) -> Option<(usize, usize)> {
        let pair = |at: usize| match &self.places[at] {
            LinePlace::Group { file, .. } if !trim(self.old[at]).is_empty() => {
                Some((at, file.start))
            }
            _ => None,
        };
        (0..line).rev().find_map(pair).or_else(|| (line..self.old.len()).find_map(pair))
    }

    /// Returns a new line with the indentation of the file, given a pair of an old line and a file
    /// line that show how both correspond.
    fn shifted(&self, line: &[u8], pair: Option<(usize, usize)>) -> Vec<u8> {
        let Some((old, file)) = pair else { return line.to_vec() };
        let (sent, there) = (indentation_of(self.old[old]), indentation_of(self.hay.line(file)));
        if sent == there || trim(line).is_empty() {
            return line.to_vec();
        }
        let own = indentation_of(line);
        let text = &line[own.len()..];
        if let Some(deeper) = own.strip_prefix(sent) {
            return [there, deeper, text].concat();
        }
        // A line less deep than the pair loses as much of the file's indentation.
        let keep = there.len().saturating_sub(sent.len().saturating_sub(own.len()));
        [&there[..keep], text].concat()
    }
}

/// Returns the length of a line without white space at its end.
fn trim_end_len(line: &[u8]) -> usize {
    crate::edit::lines::trim_end(line).len()
}
