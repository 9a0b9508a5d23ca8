//! The places that a hunk of a refused patch can mean.
//!
//! A hunk gets another place: anywhere in the file, at each of several places, below the context
//! that stands alone before it, or where its lines are most similar. Of a hunk that is applied in
//! part, the rest is applied. If all of that finds nothing, the change itself says the place
//! ([`by_change`](super::by_change)).

use super::above::{ContextAbove, is_below_context, splice_at};
use super::by_change::places_by_change;
use super::partial::{Rest, rest_of};
use crate::edit::{self, MAX_RETRIES, Splice, WorkBudget};
use crate::patch::anchors::AnchorPlaces;
use crate::patch::attempt::HunkOptions;
use crate::patch::file::{TargetFile, eq_ignore_indent};
use crate::patch::locate::place_hunk;
use crate::patch::mismatch::HunkMismatch;
use crate::patch::{Hunk, PatchLine};

/// A place of a hunk, or `None` for a hunk that has nothing to do.
pub(super) type HunkPlace = Option<Splice>;

/// The places of a hunk.
pub(super) struct HunkPlaces {
    pub all: Vec<HunkPlace>,
    /// True if there is one place, and no context above the hunk that may say another one.
    pub is_proved: bool,
}

/// Returns the text of lines without white space.
pub(super) fn words<'l>(lines: impl Iterator<Item = &'l PatchLine>) -> String {
    lines.flat_map(|line| line.text.split_whitespace()).collect()
}

/// A search for the places of hunks in a file.
pub(super) struct PlaceSearch<'s> {
    pub target: &'s TargetFile<'s>,
    pub options: HunkOptions,
    pub work: &'s WorkBudget,
}

impl PlaceSearch<'_> {
    /// Returns the places of the hunk at `index`: below the hunk of context before it, where such a
    /// hunk says the place and the hunk itself stands nowhere after it; otherwise those of its own
    /// lines.
    pub(super) fn places_in_order(&self, hunks: &[Hunk], index: usize) -> HunkPlaces {
        let (target, hunk) = (self.target, &hunks[index]);
        let all = self.places_of(hunk);
        let above = index.checked_sub(1).map(|before| &hunks[before]);
        let Some(above) = above.filter(|above| is_below_context(above, hunk)) else {
            return HunkPlaces { is_proved: all.len() == 1, all };
        };
        let own = HunkPlaces { all, is_proved: false };
        let Some(above) = ContextAbove::find(target, above, self.work) else { return own };
        match own.all.as_slice() {
            [Some(only)] if target.line_at(only.range.start) >= above.start() => own,
            _ => match above.place_of(target, hunk, self.work) {
                Some(splice) => {
                    let place = narrowed_splice(target.text, splice);
                    HunkPlaces { all: vec![place], is_proved: true }
                }
                None => own,
            },
        }
    }

    /// Returns the places of a hunk, reduced to the lines that it changes; none if no place is
    /// justified.
    fn places_of(&self, hunk: &Hunk) -> Vec<HunkPlace> {
        let text = |line: &'_ PatchLine| line.text.trim_end().to_owned();
        if hunk.before().map(text).eq(hunk.after().map(text)) {
            return vec![None];
        }
        match place_hunk(self.target, hunk, 0, 0, self.options, self.work) {
            Ok((splice, _)) => self.narrowed(hunk, vec![splice]),
            Err(HunkMismatch::Already(_)) => vec![None],
            Err(HunkMismatch::Several(lines)) => self.places_among(hunk, &lines),
            Err(HunkMismatch::NoContext | HunkMismatch::TooMuch) => Vec::new(),
            Err(HunkMismatch::NoAnchor(anchor)) if hunk.before().next().is_none() => {
                self.places_at_number(hunk, &anchor)
            }
            Err(_) => self.other_places(hunk),
        }
    }

    /// Returns the places of new lines at a line number (`@@ 12`): before that line and after it.
    fn places_at_number(&self, hunk: &Hunk, anchor: &str) -> Vec<HunkPlace> {
        let count = self.target.lines.len();
        let line = anchor.trim().parse().ok().filter(|line| (1..=count).contains(line));
        let at = |line: usize| {
            let lines = 0..hunk.lines.len();
            self.target.splice(hunk, lines, line..line, false)
        };
        let splices = line.map(|line| vec![at(line - 1), at(line)]).unwrap_or_default();
        self.narrowed(hunk, splices)
    }

    /// Returns the place of a hunk that fits at several lines (1-based) if its anchor proves one,
    /// otherwise all of them. If there are too many, or one cannot be named alone, the lines that
    /// the hunk changes decide.
    fn places_among(&self, hunk: &Hunk, lines: &[u64]) -> Vec<HunkPlace> {
        if let Some(splice) = anchored_place(self.target, hunk, self.work) {
            return self.narrowed(hunk, vec![splice]);
        }
        if lines.len() > MAX_RETRIES {
            return self.places_by_its_change(hunk);
        }
        let at = |line: &u64| {
            let mut ways = (0..=self.options.fuzz as u64).filter_map(|left_out| {
                // The line may be that of the hunk without its first lines.
                let old_start = Some(line.checked_sub(left_out)?);
                let hunk = Hunk { old_start, anchors: Vec::new(), ..hunk.clone() };
                place_hunk(self.target, &hunk, 0, 0, self.options, self.work).ok()
            });
            ways.find(|(_, at)| at.placed.line == *line).map(|(splice, _)| splice)
        };
        // A line that has two of the places does not name one of them.
        let are_apart = lines.is_sorted_by(|a, b| a < b);
        let all = if are_apart { lines.iter().map(at).collect::<Option<Vec<_>>>() } else { None };
        let meant = self.narrowed(hunk, all.unwrap_or_default());
        match meant.len() == lines.len() {
            true => meant,
            false => self.places_by_its_change(hunk),
        }
    }

    /// Returns the places of a hunk by the lines that it changes.
    fn places_by_its_change(&self, hunk: &Hunk) -> Vec<HunkPlace> {
        self.narrowed(hunk, places_by_change(self.target, hunk, self.work))
    }

    /// Returns the places of a hunk that fits nowhere as it is.
    fn other_places(&self, hunk: &Hunk) -> Vec<HunkPlace> {
        let (target, work) = (self.target, self.work);
        match rest_of(target, hunk, work) {
            Some(Rest::Nothing) => return vec![None],
            Some(Rest::Splice(splice)) => return self.narrowed(hunk, vec![splice]),
            None => {}
        }
        let corrected = self.narrowed(hunk, corrected_places(target, hunk, work));
        let places = without_known_insertions(target, corrected);
        match places.is_empty() {
            true => self.places_by_its_change(hunk),
            false => places,
        }
    }

    /// Returns the splices of a hunk that it can mean, reduced to the lines that they change.
    fn narrowed(&self, hunk: &Hunk, splices: Vec<Splice>) -> Vec<HunkPlace> {
        // A hunk that changes more than white space does not mean to change the indentation of
        // others.
        let means_blanks = words(hunk.before()) == words(hunk.after());
        let is_meant = |splice: &Splice| {
            let there = &self.target.text[splice.range.clone()];
            means_blanks
                || there == splice.with
                || !edit::is_same_but_for_blanks(there, &splice.with)
        };
        let meant = splices.into_iter().filter(is_meant);
        meant.map(|splice| narrowed_splice(self.target.text, splice)).collect()
    }
}

/// Returns the places with `None` for those that insert lines beside which the file has the same
/// lines, but for blank ones and indentation.
fn without_known_insertions(target: &TargetFile<'_>, places: Vec<HunkPlace>) -> Vec<HunkPlace> {
    fn words<'t>(lines: impl Iterator<Item = &'t [u8]>) -> Vec<&'t [u8]> {
        lines.map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()).collect()
    }
    let is_known = |splice: &Splice| {
        let new = words(splice.with.split(|byte| *byte == b'\n'));
        let at = target.lines.len().min(match splice.range.start == target.text.len() {
            true => target.lines.len(),
            false => target.line_at(splice.range.start),
        });
        // Blank lines are skipped, so twice as many lines are looked at.
        let around = |lines: std::ops::Range<usize>| words(target.lines[lines].iter().copied());
        splice.range.is_empty()
            && new.iter().any(|line| line.iter().any(u8::is_ascii_alphanumeric))
            && (around(at..target.lines.len().min(at + 2 * new.len())).starts_with(&new)
                || around(at.saturating_sub(2 * new.len())..at).ends_with(&new))
    };
    places.into_iter().map(|place| place.filter(|splice| !is_known(splice))).collect()
}

/// Returns the place that the anchor of a hunk proves if indentation does not count; `None` if it
/// proves none.
fn anchored_place(target: &TargetFile<'_>, hunk: &Hunk, work: &WorkBudget) -> Option<Splice> {
    let anchors = AnchorPlaces::of(target, hunk, work)?;
    let old: Vec<&[u8]> = hunk.before().map(|line| line.text.as_bytes()).collect();
    let places = target.find(&old, 0, hunk.at_end, eq_ignore_indent);
    let first = anchors.choose(&places, old.len()).ok()?;
    splice_at(target, hunk, first, work)
}

/// Returns the places at which the lines of a hunk are most similar to those of the file; one if
/// the anchor proves it.
fn corrected_places(target: &TargetFile<'_>, hunk: &Hunk, work: &WorkBudget) -> Vec<Splice> {
    fn plain(line: &PatchLine) -> &str {
        line.text.strip_suffix('\r').unwrap_or(&line.text)
    }
    let old: Vec<&str> = hunk.before().map(plain).collect();
    let new: Vec<&str> = hunk.after().map(plain).collect();
    let mut found = edit::hunk_corrections(target.text, &old, &new, work);
    if let Some(anchors) = AnchorPlaces::of(target, hunk, work)
        && found.len() > 1
    {
        let line = |splice: &Splice| target.line_at(splice.range.start);
        let lines: Vec<usize> = found.iter().map(line).collect();
        if let Ok(chosen) = anchors.choose(&lines, old.len()) {
            found.retain(|splice| line(splice) == chosen);
        }
    }
    found
}

/// Returns a splice reduced to the lines that it changes, so that hunks whose context overlaps can
/// be applied together; `None` if it changes nothing.
fn narrowed_splice(text: &[u8], splice: Splice) -> HunkPlace {
    let old = &text[splice.range.clone()];
    let line_ends = |text: &[u8]| memchr::memchr_iter(b'\n', text).map(|at| at + 1).collect();
    let (a, b): (Vec<usize>, Vec<usize>) = (line_ends(old), line_ends(&splice.with));
    let mut head = 0;
    for (x, y) in a.iter().zip(&b) {
        if x != y || old[..*x] != splice.with[..*y] {
            break;
        }
        head = *x;
    }
    let (rest, with) = (&old[head..], &splice.with[head..]);
    let mut tail = 0;
    let tails = |text: &[u8]| -> Vec<usize> {
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text).map(|at| at + 1));
        starts.map(|at| text.len() - at).collect()
    };
    for (x, y) in tails(rest).into_iter().rev().zip(tails(with).into_iter().rev()) {
        if x != y || rest[rest.len() - x..] != with[with.len() - y..] {
            break;
        }
        tail = x;
    }
    let range = splice.range.start + head..splice.range.end - tail;
    let with = with[..with.len() - tail].to_vec();
    (text[range.clone()] != with[..]).then_some(Splice { range, with })
}
