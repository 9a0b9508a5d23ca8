//! Finds and applies an edit whose old text does not occur exactly.
//!
//! Each hypothesis about the intended edit (the text as sent, and the text with a repair) is
//! searched for, a repaired one first exactly, then line by line. The match with the lowest cost is
//! applied. The text as sent comes first and wins ties, so that a file that really contains `&lt;`
//! stays correct.

use std::ops::Range;

use super::alignment::AlignmentStep;
use super::candidates::{Candidate, Candidates};
use super::elision;
use super::exact;
use super::haystack::{Haystack, LineKeys};
use super::kmp;
use super::locate::{locate, locate_approximate, locate_by_keys};
use super::needle::{LineKind, Needle};
use super::normalize::{match_key, without_whitespace};
use super::repair::{Hypothesis, hypotheses};
use super::sanity::{self, Suspicion};
use crate::edit::applying::merge::{BlankEdges, merge_edit};
use crate::edit::budget::WorkBudget;
use crate::edit::explaining::refusal::Refusal;
use crate::edit::lines::{
    has_countable_lines, indentation_of, split_edit_lines, to_lf_without_bom, trim,
};
use crate::edit::{Edit, OldTextMatch, OnMultiple, Splice, Tier, choose_positions};
use crate::encoding::trim_unchanged_ends;

/// The cost below which a match differs only in white space and quotes, so that no other hypothesis
/// can be better. In units of [`LINE_COST`](super::needle::LINE_COST).
const MIN_NONLITERAL_COST: i32 = 100;
/// The cost by which a later hypothesis must be cheaper than an earlier one to be preferred.
const MIN_HYPOTHESIS_MARGIN: i32 = 200;

/// Finds the old text line by line.
///
/// # Errors
/// Refuses if no position, or several positions, match, or if the best one differs too much.
pub(in crate::edit) fn find_fuzzy(
    text: &[u8],
    edit: &Edit,
    on_multiple: OnMultiple,
    work: &WorkBudget,
) -> Result<OldTextMatch, Refusal> {
    if !has_countable_lines(text) || !work.try_spend(20 * (edit.old.len() + edit.new.len())) {
        return Err(Refusal::TooLarge);
    }
    let index = LineKeys::new(text, work).ok_or(Refusal::TooLarge)?;
    let hay = Haystack::new(text, &index, work);
    let mut best: Option<(i32, OldTextMatch)> = None;
    let mut first = None;
    for hypothesis in hypotheses(&edit.old, &edit.new) {
        match find_hypothesis(&hay, &hypothesis, edit, on_multiple) {
            Ok((cost, found)) => {
                if best.as_ref().is_none_or(|(least, _)| cost + MIN_HYPOTHESIS_MARGIN < *least) {
                    best = Some((cost, OldTextMatch { repairs: hypothesis.repairs, ..found }));
                }
                if cost < MIN_NONLITERAL_COST {
                    break;
                }
            }
            Err(Refusal::TooLarge) => return Err(Refusal::TooLarge),
            // A repair must not turn an ambiguous text into a match.
            Err(refusal) if hypothesis.repairs.is_empty() && refusal.is_ambiguous() => {
                return Err(refusal);
            }
            Err(refusal) => {
                first.get_or_insert(refusal);
            }
        }
    }
    best.map(|(_, found)| found).ok_or(first.unwrap_or(Refusal::NotFound))
}

/// Searches for one hypothesis; returns the match and its cost.
fn find_hypothesis(
    hay: &Haystack<'_>,
    hypothesis: &Hypothesis,
    edit: &Edit,
    on_multiple: OnMultiple,
) -> Result<(i32, OldTextMatch), Refusal> {
    let repaired = !hypothesis.repairs.is_empty();
    if repaired {
        let (old, new) = (hypothesis.old.clone(), hypothesis.new.clone());
        if old.is_empty() || old == new {
            return Err(Refusal::NotFound);
        }
        let plain = Edit { old, new, ..edit.clone() };
        if let Some(found) = exact::find_exact(hay.text, &plain, on_multiple, hay.work)? {
            match sanity::suspected_mistake(hay.text, &plain, &found) {
                Some(Suspicion::AlreadyApplied) => return Err(Refusal::AlreadyApplied),
                Some(Suspicion::DuplicatesLines(found)) => return Ok((0, found)),
                // The exact match would split a line, so the search continues line by line.
                Some(Suspicion::SplitsLine(_)) => {}
                None => {
                    return Ok((0, OldTextMatch { tier: tier_of_repairs(hypothesis), ..found }));
                }
            }
        }
    }
    let old = to_lf_without_bom(hypothesis.old.as_bytes());
    let new = to_lf_without_bom(hypothesis.new.as_bytes());
    let (old, new) = (split_edit_lines(&old), split_edit_lines(&new));
    let (old, new, edges) = without_blank_edges(&old, &new).ok_or(Refusal::NotFound)?;
    let old = without_superfluous_edges(hay, old, edges);
    let indented = with_old_indentation(old, new);
    let indented = indented.as_ref().map(|line| [line.as_slice()]);
    let new = indented.as_ref().map_or(new, |line| line.as_slice());
    if elision::is_elided(hay, old) {
        return elision::find_elided(hay, old, new);
    }
    let least = tier_of_repairs(hypothesis);
    let found = find_and_merge(hay, (old, new, edges), least, edit, on_multiple);
    // The file has lines that look like elisions; those of the old text may be elisions
    // nevertheless.
    found.or_else(|refusal| match refusal {
        Refusal::TooLarge => Err(refusal),
        refusal => elision::find_elided(hay, old, new).map_err(|_| refusal),
    })
}

/// Returns the strictest tier that a hypothesis with its repairs can have.
fn tier_of_repairs(hypothesis: &Hypothesis) -> Tier {
    let literal = hypothesis.repairs.iter().all(|repair| repair.is_literal());
    if literal { Tier::Whitespace } else { Tier::Fuzzy }
}

/// Returns the single new line with the indentation of the single old line if it has none. A model
/// that sends an indentation other than the file's, and then none, has forgotten it; it does not
/// mean to move the line to the margin.
fn with_old_indentation(old: EditLines<'_>, new: EditLines<'_>) -> Option<Vec<u8>> {
    let ([old], [new]) = (old, new) else { return None };
    let forgotten =
        !trim(new).is_empty() && indentation_of(new).is_empty() && !indentation_of(old).is_empty();
    forgotten.then(|| [indentation_of(old), new].concat())
}

/// Finds the old lines and merges the edit at each chosen position; returns the match and its cost.
fn find_and_merge(
    hay: &Haystack<'_>,
    (old, new, edges): (EditLines<'_>, EditLines<'_>, BlankEdges),
    least: Tier,
    edit: &Edit,
    on_multiple: OnMultiple,
) -> Result<(i32, OldTextMatch), Refusal> {
    let (old, needle, mut places) = locate_old_lines(hay, old, new)?;
    if edit.replace_all || edit.expected.is_some() {
        places.remove_overlaps();
    }
    let chosen = choose_positions(&places.first_lines(), edit, on_multiple)?;
    let mut splices: Vec<Splice> = Vec::new();
    let (mut cost, mut score) = (0, 1.0f64);
    let mut tier = least;
    if !hay.work.try_spend_times(chosen.len(), 1_000 + 400 * (old.len() + new.len())) {
        return Err(Refusal::TooLarge);
    }
    for place in chosen.map(|at| places.get(at)) {
        tier = tier.max(tier_of(hay, &needle, &place));
        cost = cost.max(place.alignment.cost);
        score = score.min(place.score);
        if is_new_text_at(hay, &needle, &place.alignment.file, new) {
            return Err(Refusal::AlreadyApplied);
        }
        let splice = merge_edit(hay, &place.alignment, old, new, edges)?;
        let splice = make_disjoint(hay.text, &mut splices, splice)?;
        splices.push(splice);
    }
    Ok((cost, OldTextMatch { splices, places: places.len(), tier, repairs: Vec::new(), score }))
}

/// Returns true if all lines of the new text are already at the position or adjacent to it, and
/// some of them are not in the old text.
fn is_new_text_at(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
    file: &Range<usize>,
    new: EditLines<'_>,
) -> bool {
    let new: Vec<u64> = new
        .iter()
        .map(|line| match_key(line))
        .filter(|key| !key.is_empty())
        .map(|key| crate::diff::hash_line(&key))
        .collect();
    if !new.iter().any(|hash| needle.new_only_hashes.contains(hash)) {
        return false;
    }
    // Blank lines are skipped, so twice as many lines as the new text has are inspected.
    let reach = 2 * new.len();
    let around = file.start.saturating_sub(reach)..(file.end + reach).min(hay.len());
    let lines: Vec<usize> = around.filter(|&line| hay.lens[line] > 0).collect();
    let hashes: Vec<u64> = lines.iter().map(|&line| hay.hashes[line]).collect();
    kmp::find_all(&hashes, &new).into_iter().any(|at| {
        let (first, last) = (lines[at], lines[at + new.len() - 1]);
        // If the old text has further lines around those of the new text and none is added, the
        // edit removes lines and is not applied yet.
        let shorter =
            lines.iter().any(|line| file.contains(line) && !(first..=last).contains(line));
        let within = first >= file.start && last < file.end;
        first <= file.end && last + 1 >= file.start && !(within && shorter)
    })
}

/// Returns the splice if it begins after the preceding ones. If it overlaps the last one, as within
/// one line, both are reduced to the bytes that they change.
fn make_disjoint(text: &[u8], splices: &mut [Splice], splice: Splice) -> Result<Splice, Refusal> {
    let Some(last) = splices.last_mut().filter(|last| last.range.end > splice.range.start) else {
        return Ok(splice);
    };
    let narrow = |splice: &Splice| {
        let (range, with) = trim_unchanged_ends(text, splice.range.clone(), &splice.with);
        Splice { range, with: with.to_vec() }
    };
    let (before, splice) = (narrow(last), narrow(&splice));
    if before.range.end > splice.range.start {
        return Err(Refusal::TooLarge);
    }
    *last = before;
    Ok(splice)
}

/// The old lines as they were found, with or without blank edges, and their positions.
type LocatedOldLines<'e> = (EditLines<'e>, Needle<'e>, Candidates);

/// Finds the old lines, with or without the blank lines at their ends. Positions at which all lines
/// are equal are preferred to similar ones.
fn locate_old_lines<'e>(
    hay: &Haystack<'_>,
    old: EditLines<'e>,
    new: EditLines<'_>,
) -> Result<LocatedOldLines<'e>, Refusal> {
    let blank = |line: &&&[u8]| trim(line).is_empty();
    let lead = old.iter().take_while(blank).count();
    let trail = old.iter().rev().take_while(blank).count();
    let bare = &old[lead..old.len() - trail];
    let mut forms = vec![(old, Needle::new(old, new))];
    if bare.len() < old.len() {
        forms.push((bare, Needle::new(bare, new)));
    }
    let mut last = None;
    for search in [locate_by_keys, locate_approximate] {
        for at in 0..forms.len() {
            match search(hay, &forms[at].1) {
                Ok(places) if !places.is_empty() => {
                    let (old, needle) = forms.swap_remove(at);
                    return Ok((old, needle, places));
                }
                Ok(_) => {}
                Err(miss) => last = Some(Refusal::of(miss, &forms[at].1)),
            }
        }
    }
    Err(last.unwrap_or(Refusal::NotFound))
}

/// A position of old lines in a file and the splice that replaces them by the new ones.
pub(crate) struct LinePosition {
    /// The lines of the file (0-based).
    pub lines: Range<usize>,
    /// The splice to apply.
    pub splice: Splice,
}

/// Finds the old lines of a hunk: returns one position, or several that match equally well. Returns
/// `None` if no position is good enough.
pub(crate) fn find_hunk_positions(
    text: &[u8],
    old: &[&[u8]],
    new: &[&[u8]],
    work: &WorkBudget,
) -> Option<Vec<LinePosition>> {
    let index = LineKeys::new(text, work).filter(|_| has_countable_lines(text))?;
    let hay = Haystack::new(text, &index, work);
    let places = locate(&hay, &Needle::new(old, new)).ok()?;
    if !hay.work.try_spend_times(places.len(), 1_000 + 400 * (old.len() + new.len())) {
        return None;
    }
    (0..places.len())
        .map(|at| {
            let place = places.get(at);
            let splice =
                merge_edit(&hay, &place.alignment, old, new, BlankEdges::default()).ok()?;
            Some(LinePosition { lines: place.alignment.file.clone(), splice })
        })
        .collect()
}

/// Returns the tier of a match: white space if the lines differ in nothing else, otherwise fuzzy.
fn tier_of(hay: &Haystack<'_>, needle: &Needle<'_>, place: &Candidate) -> Tier {
    let blank = place.alignment.steps.iter().all(|step| match step {
        AlignmentStep::Pair { old, file, likeness, cut } => {
            let sent: Vec<u8> = old
                .clone()
                .flat_map(|line| without_whitespace(needle.lines[line].text).into_owned())
                .collect();
            let there: Vec<u8> = file
                .clone()
                .flat_map(|line| {
                    let text = hay.line(line);
                    without_whitespace(&text[cut.head..text.len() - cut.tail]).into_owned()
                })
                .collect();
            *likeness == 1.0 && sent == there
        }
        AlignmentStep::OldOnly(line) => needle.lines[*line].kind == LineKind::Blank,
        AlignmentStep::FileOnly(line) => LineKind::of(hay.line(*line)) == LineKind::Blank,
    });
    if blank { Tier::Whitespace } else { Tier::Fuzzy }
}

type EditLines<'e> = &'e [&'e [u8]];

/// Returns both texts without the blank lines that both have at their ends, and tells at which ends
/// there were any. Returns `None` if the old text is blank.
fn without_blank_edges<'e>(
    old: &'e [&'e [u8]],
    new: &'e [&'e [u8]],
) -> Option<(EditLines<'e>, EditLines<'e>, BlankEdges)> {
    let blank = |line: &&&[u8]| trim(line).is_empty();
    if old.iter().all(|line| trim(line).is_empty()) {
        return None;
    }
    let lead = old.iter().take_while(blank).count().min(new.iter().take_while(blank).count());
    let (old, new) = (&old[lead..], &new[lead..]);
    let trail =
        old.iter().rev().take_while(blank).count().min(new.iter().rev().take_while(blank).count());
    // A single blank line at the end may be only the line ending of the last line.
    let edges = BlankEdges { before: lead, after: trail.saturating_sub(1) };
    Some((&old[..old.len() - trail], &new[..new.len() - trail], edges))
}

/// Returns the old text without the blank lines that it has at an edge where the new text has fewer,
/// if the file nowhere has so many beside the text: the edit does not remove blank lines of the
/// file, it drops superfluous ones. `edges` says how many both texts have.
fn without_superfluous_edges<'e>(
    hay: &Haystack<'_>,
    old: EditLines<'e>,
    edges: BlankEdges,
) -> EditLines<'e> {
    let blank = |line: &&&[u8]| trim(line).is_empty();
    let lead = old.iter().take_while(blank).count();
    let trail = old.iter().rev().take_while(blank).count();
    let bare = &old[lead..old.len() - trail];
    let (Some(first), Some(last)) = (bare.first(), bare.last()) else { return old };
    let is_run = |mut lines: std::ops::Range<usize>, count: usize| {
        lines.len() == count && lines.all(|line| hay.lens[line] == 0)
    };
    let stands = |line: &[u8], run: &dyn Fn(usize) -> bool| {
        let hash = crate::diff::hash_line(&match_key(line));
        !hay.work.try_spend(hay.len()) || (0..hay.len()).any(|at| hay.hashes[at] == hash && run(at))
    };
    let before = edges.before + lead;
    let keeps_lead = lead == 0
        || edges.before == 0
        || stands(first, &|at| is_run(at.saturating_sub(before)..at, before));
    let after = edges.after + trail;
    let keeps_trail = trail == 0
        || edges.after == 0
        || stands(last, &|at| is_run(at + 1..(at + 1 + after).min(hay.len()), after));
    let start = if keeps_lead { 0 } else { lead };
    let end = if keeps_trail { old.len() } else { old.len() - trail };
    &old[start..end]
}
