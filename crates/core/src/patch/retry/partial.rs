//! The rest of a hunk that is applied in part.
//!
//! The file has the context of the hunk, and of each change in it the old lines, the new lines, or
//! both beside each other. Then the file is, or can be made, what the hunk says without a doubt:
//! old lines that are there go, new lines that are missing come, and what is done already stays.
//! A change whose old and new lines are both missing is not understood, but for a removal, which is
//! then done, and for an insertion.

use crate::edit::{Splice, WorkBudget};
use crate::patch::file::{TargetFile, eq_ignore_trailing_space};
use crate::patch::{Hunk, LineMark, PatchLine};

/// The minimum number of lines with a letter or a digit that a place must share with the hunk.
const MIN_SHARED_LINES: usize = 3;
/// The maximum number of pairs of a segment and a line of the file that are looked at.
const MAX_STATES: usize = 1 << 20;

/// The maximum number of places that are compared; a hunk that fits at more means none of them.
const MAX_PLACES: usize = 64;

/// What is left to do of a hunk.
pub(super) enum Rest {
    /// The file is what the hunk says.
    Nothing,
    /// The change that is missing.
    Splice(Splice),
}

/// A context line, or neighbouring changed lines: what the file can have for them, each as the lines
/// that are left to do.
type Forms = Vec<Vec<PatchLine>>;

/// Returns what is left of a hunk that is applied in part at exactly one place; `None` for another
/// one.
pub(super) fn rest_of(target: &TargetFile<'_>, hunk: &Hunk, work: &WorkBudget) -> Option<Rest> {
    // The first context line that has a word tells places apart.
    let is_word = |line: &&PatchLine| line.mark == LineMark::Context && has_word(line);
    let first = hunk.lines.iter().find(is_word)?.text.as_bytes();
    let lines = target.lines.len() + 1;
    let segments: Vec<Forms> =
        hunk.lines.chunk_by(|a, b| is_changed(a) && is_changed(b)).map(forms_of).collect();
    let states = segments.len().saturating_mul(lines);
    let is_affordable = work.try_spend_times(2 * hunk.lines.len(), lines);
    if states > MAX_STATES
        || !is_affordable
        || !target.lines.iter().any(|line| eq_ignore_trailing_space(line, first))
    {
        return None;
    }
    let mut search = Search { target, segments: &segments, failed: vec![false; states] };
    let mut found: Vec<Place> = Vec::new();
    for start in 0..target.lines.len() {
        let mut forms = Vec::new();
        if !search.extend(0, start, &mut forms) {
            continue;
        }
        let chosen = segments.iter().zip(&forms).flat_map(|(forms, at)| &forms[*at]);
        let place = Place { start, lines: chosen.cloned().collect() };
        // The same place may begin with lines that are done already, or after them.
        if found.iter().all(|other| other.line_of(first) != place.line_of(first)) {
            found.push(place);
        }
        if found.len() > MAX_PLACES {
            return None;
        }
    }
    let Place { start, lines } = most_undone(found)?;
    let there = lines.iter().filter(|line| line.mark != LineMark::Added);
    if there.clone().filter(|line| has_word(line)).count() < MIN_SHARED_LINES {
        return None;
    }
    if !lines.iter().any(is_changed) {
        return Some(Rest::Nothing);
    }
    let end = start + there.count();
    let count = lines.len();
    let rest = Hunk { lines, ..hunk.clone() };
    Some(Rest::Splice(target.splice(&rest, 0..count, start..end, false)))
}

/// Returns true for a line with a letter or a digit.
pub(super) fn has_word(line: &PatchLine) -> bool {
    line.text.chars().any(char::is_alphanumeric)
}

/// Returns true for a line that the hunk adds or removes.
pub(super) fn is_changed(line: &PatchLine) -> bool {
    line.mark != LineMark::Context
}

/// A place of a hunk: its first line in the file (0-based), and what is left to do from there on.
struct Place {
    start: usize,
    lines: Vec<PatchLine>,
}

impl Place {
    /// Returns the line of the file (0-based) at which a context line stands.
    fn line_of(&self, text: &[u8]) -> usize {
        let is_there = |line: &&PatchLine| line.mark != LineMark::Added;
        let mut there = self.lines.iter().filter(is_there);
        let same = |line: &PatchLine| eq_ignore_trailing_space(line.text.as_bytes(), text);
        self.start + there.position(same).unwrap_or(0)
    }

    fn undone(&self) -> usize {
        self.lines.iter().filter(|line| line.mark == LineMark::Removed).count()
    }
}

/// Returns the place at which most old lines are there; `None` if several have as many.
fn most_undone(mut places: Vec<Place>) -> Option<Place> {
    let most = places.iter().map(Place::undone).max()?;
    places.retain(|place| place.undone() == most);
    places.pop().filter(|_| places.is_empty())
}

/// A search for the lines of the file that the segments of a hunk describe.
struct Search<'s> {
    target: &'s TargetFile<'s>,
    segments: &'s [Forms],
    /// For each segment and line of the file, true if nothing fits from there on.
    failed: Vec<bool>,
}

impl Search<'_> {
    /// Adds to `chosen` the index of the form of each segment, from a segment and a line (0-based)
    /// of the file on; returns false and adds nothing if they do not fit.
    fn extend(&mut self, at: usize, line: usize, chosen: &mut Vec<usize>) -> bool {
        let Some(forms) = self.segments.get(at) else { return true };
        let state = at * (self.target.lines.len() + 1) + line;
        if self.failed[state] {
            return false;
        }
        for (index, form) in forms.iter().enumerate() {
            let mut next = line;
            let fits = form.iter().filter(|line| line.mark != LineMark::Added).all(|wanted| {
                next += 1;
                let there = self.target.lines.get(next - 1);
                there.is_some_and(|text| eq_ignore_trailing_space(text, wanted.text.as_bytes()))
            });
            if !fits {
                continue;
            }
            chosen.push(index);
            if self.extend(at + 1, next, chosen) {
                return true;
            }
            chosen.pop();
        }
        self.failed[state] = true;
        false
    }
}

/// Returns the forms of a context line or of neighbouring changed lines; those that are done first,
/// so that nothing is done twice.
fn forms_of(lines: &[PatchLine]) -> Forms {
    let marked = |mark: LineMark, becomes: LineMark| -> Vec<PatchLine> {
        let lines = lines.iter().filter(|line| line.mark == mark);
        lines.map(|line| PatchLine { mark: becomes, ..line.clone() }).collect()
    };
    if !lines.iter().any(is_changed) {
        let is_blank = lines.iter().all(|line| line.text.trim().is_empty());
        // A blank line between two others says nothing about the place.
        let left_out = is_blank.then(Vec::new);
        return std::iter::once(lines.to_vec()).chain(left_out).collect();
    }
    let gone = marked(LineMark::Removed, LineMark::Removed);
    let kept = marked(LineMark::Added, LineMark::Context);
    let new = marked(LineMark::Added, LineMark::Added);
    let mut forms = Vec::new();
    if !gone.is_empty() && !kept.is_empty() {
        forms.push([gone.clone(), kept.clone()].concat());
        forms.push([kept.clone(), gone.clone()].concat());
    }
    let is_removal = kept.is_empty();
    if !is_removal {
        forms.push(kept);
    }
    forms.push([gone.clone(), new].concat());
    if is_removal {
        let blank = |line: &PatchLine| line.text.trim().is_empty();
        let last = gone.iter().rposition(|line| !blank(line)).map_or(0, |at| at + 1);
        if last < gone.len() {
            forms.push(gone[..last].to_vec());
        }
        forms.push(Vec::new());
    }
    forms
}
