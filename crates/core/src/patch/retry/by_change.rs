//! The last search for the places of a refused hunk: by the lines that it changes. The results
//! become suggested patches (`retry`); no file is changed.
//!
//! Five searches run in order until one succeeds: the changed lines with two context lines on each
//! side, with one, as a part of a line of the file, alone, and as words that change inside the
//! context. A search for whole lines can return several places. All but the last search reject a
//! place if an unused context line stands in the file, but only far from that place.

use std::ops::Range;

use super::partial::{has_word, is_changed};
use crate::edit::{self, MAX_RETRIES, Splice, WorkBudget};
use crate::patch::attempt::{HunkLocation, HunkMatchMethod, HunkOptions};
use crate::patch::file::{TargetFile, eq_ignore_indent};
use crate::patch::locate::place_hunk;
use crate::patch::mismatch::HunkMismatch;
use crate::patch::{Hunk, LineMark, PatchLine};

/// The minimum number of letters and digits in the old lines of a search, its context lines included.
const MIN_BARE_WORD_CHARS: usize = 12;
/// The maximum number of places among which the rest of the context decides.
const MAX_PLACES: usize = 32;
/// The maximum distance of a context line from a place, in lines, is the length of the hunk plus this.
const MAX_DRIFT_LINES: usize = 8;

/// Returns the splices of a hunk at the places that its change says.
pub(super) fn places_by_change(
    target: &TargetFile<'_>,
    hunk: &Hunk,
    work: &WorkBudget,
) -> Vec<Splice> {
    let first = hunk.lines.iter().position(is_changed);
    let last = hunk.lines.iter().rposition(is_changed);
    let is_searched = work.try_spend_times(3 * hunk.lines.len(), target.text.len());
    let (Some(first), Some(last), true) = (first, last, is_searched) else { return Vec::new() };
    let search = ChangeSearch { target, hunk, changed: first..last + 1, work };
    let ways: [&dyn Fn() -> Vec<Splice>; 5] = [
        &|| search.places_of_core(2),
        &|| search.places_of_core(1),
        &|| search.place_of_part().into_iter().collect(),
        &|| search.places_of_core(0),
        &|| search.place_of_words().into_iter().collect(),
    ];
    ways.into_iter().map(|way| way()).find(|found| !found.is_empty()).unwrap_or_default()
}

/// A search for the place of a hunk by its change.
struct ChangeSearch<'s> {
    target: &'s TargetFile<'s>,
    hunk: &'s Hunk,
    /// The lines of the hunk from the first that it changes to the last.
    changed: Range<usize>,
    work: &'s WorkBudget,
}

impl ChangeSearch<'_> {
    /// Returns the splices of the change with a number of lines on each side, where the old ones of
    /// them stand and the rest of the context does not say another place. New lines alone need the
    /// lines on both sides.
    fn places_of_core(&self, context: usize) -> Vec<Splice> {
        let end = (self.changed.end + context).min(self.hunk.lines.len());
        let core = self.changed.start.saturating_sub(context)..end;
        let lines = &self.hunk.lines[core.clone()];
        let bare = Hunk { anchors: Vec::new(), lines: lines.to_vec(), ..self.hunk.clone() };
        let old: String = bare.before().map(|line| line.text.as_str()).collect();
        let is_insertion = lines.iter().all(|line| line.mark != LineMark::Removed);
        let is_between = || {
            let has_telling_line = |lines: &[PatchLine]| lines.iter().any(has_word);
            let changed = self.changed.start - core.start..self.changed.end - core.start;
            has_telling_line(&lines[..changed.start]) && has_telling_line(&lines[changed.end..])
        };
        if alphanumeric_count(&old) < MIN_BARE_WORD_CHARS || is_insertion && !is_between() {
            return Vec::new();
        }
        let mut found = places_at_any_line(self.target, &bare, self.work);
        found.retain(|(_, at)| at.placed.how != HunkMatchMethod::Fuzz);
        if found.is_empty() {
            return Vec::new();
        }
        let agrees = self.agreement(&core);
        let meant =
            found.into_iter().filter(|(_, at)| agrees(&(at.placed.line as usize - 1..at.end)));
        let meant: Vec<Splice> = meant.map(|(splice, _)| splice).collect();
        if meant.len() > MAX_RETRIES { Vec::new() } else { meant }
    }

    /// Returns the splice of a change whose old lines are a part of one line of the file, or are
    /// broken otherwise than those of the file.
    fn place_of_part(&self) -> Option<Splice> {
        let lines = &self.hunk.lines[self.changed.clone()];
        let joined = |without: LineMark| -> String {
            let lines = lines.iter().filter(|line| line.mark != without);
            lines.map(|line| line.text.trim_end_matches('\r')).collect::<Vec<_>>().join("\n")
        };
        let (old, new) = (joined(LineMark::Added), joined(LineMark::Removed));
        // A part of a line has no indentation to change.
        let indent = |text: &str| text.len() - text.trim_start().len();
        if indent(&old) != indent(&new) {
            return None;
        }
        let (text, work) = (self.target.text, self.work);
        let splice = edit::change_of_part(text, old.as_bytes(), new.as_bytes(), work)?;
        let place = self.lines_of(&splice.range);
        self.agreement(&self.changed)(&place).then_some(splice)
    }

    /// Returns the splice of a change of words that stand once in the lines of the file that the
    /// context means: in a line that the hunk shows as context, or in one that it leaves out.
    fn place_of_words(&self) -> Option<Splice> {
        let [old, new] = &self.hunk.lines[self.changed.clone()] else { return None };
        let context = self.hunk.lines.iter().filter(|line| !is_changed(line));
        let context: Vec<&str> = context.map(|line| line.text.as_str()).collect();
        let is_replaced = (old.mark, new.mark) == (LineMark::Removed, LineMark::Added);
        let (old, new) = (old.text.as_bytes(), new.text.as_bytes());
        if !is_replaced || !self.target.find(&[old], 0, false, eq_ignore_indent).is_empty() {
            return None;
        }
        let place = edit::similar_lines(self.target.text, &context, self.work)?;
        let start = self.target.start(place.start);
        let lines = &self.target.text[start..self.target.start(place.end)];
        let Splice { range, with } = edit::change_of_words(lines, old, new)?;
        let range = start + range.start..start + range.end;
        let there = self.target.lines[self.target.line_at(range.start)];
        let is_context = |line: &&str| eq_ignore_indent(line.as_bytes(), there);
        let is_shown = edit::change_of_words(context.join("\n").as_bytes(), old, new).is_some();
        let is_left_out = !context.iter().any(is_context);
        (is_shown || is_left_out).then_some(Splice { range, with })
    }

    /// Returns the lines of the file (0-based) that a range of its bytes touches.
    fn lines_of(&self, range: &Range<usize>) -> Range<usize> {
        let last = range.end.saturating_sub(1).max(range.start);
        self.target.line_at(range.start)..self.target.line_at(last) + 1
    }

    /// Returns a test of a place (0-based lines of the file). It passes if each context line outside
    /// `core` that stands in the file also stands near the place, on the same side as in the hunk.
    fn agreement(&self, core: &Range<usize>) -> impl Fn(&Range<usize>) -> bool {
        let drift = self.hunk.lines.len() + MAX_DRIFT_LINES;
        let places_of = |lines: &[PatchLine]| -> Vec<Vec<usize>> {
            let context = lines.iter().filter(|line| !is_changed(line) && has_word(line));
            let places = context
                .map(|line| self.target.find(&[line.text.as_bytes()], 0, false, eq_ignore_indent));
            places.filter(|places| !places.is_empty()).collect()
        };
        let above = places_of(&self.hunk.lines[..core.start]);
        let below = places_of(&self.hunk.lines[core.end..]);
        move |place| {
            let agrees = |context: &[Vec<usize>], near: Range<usize>| {
                context.iter().all(|places| places.iter().any(|line| near.contains(line)))
            };
            agrees(&above, place.start.saturating_sub(drift)..place.end)
                && agrees(&below, place.start..place.end + drift)
        }
    }
}

/// Returns the places at which a hunk fits, whatever its line numbers are; none if there are more than
/// [`MAX_PLACES`].
fn places_at_any_line(
    target: &TargetFile<'_>,
    hunk: &Hunk,
    work: &WorkBudget,
) -> Vec<(Splice, HunkLocation)> {
    let options = HunkOptions { fuzz: 1 };
    let at_line = |old_start: Option<u64>| {
        let hunk = Hunk { old_start, ..hunk.clone() };
        place_hunk(target, &hunk, 0, 0, options, work)
    };
    match at_line(None) {
        Ok(place) => vec![place],
        // A line that has two of the places does not name one of them.
        Err(HunkMismatch::Several(lines))
            if lines.len() <= MAX_PLACES && lines.is_sorted_by(|a, b| a < b) =>
        {
            let all = lines.into_iter().map(|line| at_line(Some(line)).ok());
            all.collect::<Option<_>>().unwrap_or_default()
        }
        Err(_) => Vec::new(),
    }
}

fn alphanumeric_count(text: &str) -> usize {
    text.chars().filter(|mark| mark.is_alphanumeric()).count()
}
