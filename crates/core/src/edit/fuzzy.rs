//! Finding and making an edit whose old text is not there literally.
//!
//! Each hypothesis about what was meant is looked for, literally if something
//! was repaired, then line by line; the one that fits best is made. The text as
//! sent goes first and wins ties, so a file that truly holds `&lt;` is safe.

use std::ops::Range;

use super::alignment::Step;
use super::budget::Budget;
use super::candidates::{Candidate, Candidates};
use super::haystack::{Haystack, Index};
use super::kmp;
use super::lines::{edit_lines, fold_ends, has_countable_lines, indent, trim};
use super::locate::{locate, locate_approximate, word_by_word};
use super::merge::merge;
use super::needle::{Kind, Needle};
use super::normalize::{collapse_whitespace, match_key};
use super::refusal::Refusal;
use super::repair::{Hypothesis, hypotheses};
use super::sanity::{self, Suspicion};
use super::{Edit, Match, OnMultiple, Splice, Tier, choose, elision, exact};
use crate::encoding::trim as trim_splice;

/// Costs below this are blanks and quotes: no other hypothesis can do better.
const MIN_LITERAL_COST: i32 = 100;
/// Another hypothesis must be this much better than an earlier one.
const MIN_MARGIN: i32 = 200;

/// Finds the old text by its words.
///
/// # Errors
/// Refuses where it is nowhere, in several places, or not quite there.
pub(super) fn find(
    text: &[u8],
    edit: &Edit,
    on_multiple: OnMultiple,
    work: &Budget,
) -> Result<Match, Refusal> {
    if !has_countable_lines(text) || !work.try_spend(20 * (edit.old.len() + edit.new.len())) {
        return Err(Refusal::TooLarge);
    }
    let index = Index::new(text, work).ok_or(Refusal::TooLarge)?;
    let hay = Haystack::new(text, &index, work);
    let mut best: Option<(i32, Match)> = None;
    let mut first = None;
    for hypothesis in hypotheses(&edit.old, &edit.new) {
        match attempt(&hay, &hypothesis, edit, on_multiple) {
            Ok((cost, found)) => {
                if best.as_ref().is_none_or(|(least, _)| cost + MIN_MARGIN < *least) {
                    best = Some((cost, Match { repairs: hypothesis.repairs, ..found }));
                }
                if cost < MIN_LITERAL_COST {
                    break;
                }
            }
            Err(Refusal::TooLarge) => return Err(Refusal::TooLarge),
            // What is ambiguous as sent does not become clear by being changed.
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

fn attempt(
    hay: &Haystack<'_>,
    hypothesis: &Hypothesis,
    edit: &Edit,
    on_multiple: OnMultiple,
) -> Result<(i32, Match), Refusal> {
    let repaired = !hypothesis.repairs.is_empty();
    if repaired {
        let (old, new) = (hypothesis.old.clone(), hypothesis.new.clone());
        if old.is_empty() || old == new {
            return Err(Refusal::NotFound);
        }
        let plain = Edit { old, new, ..edit.clone() };
        if let Some(found) = exact::find(hay.text, &plain, on_multiple, hay.work)? {
            match sanity::inspect(hay.text, &plain, &found) {
                Some(Suspicion::AlreadyApplied) => return Err(Refusal::AlreadyApplied),
                Some(Suspicion::DuplicatesLines(found)) => return Ok((0, found)),
                // Better line by line, where the lines can be found so.
                Some(Suspicion::SplitsLine(_)) => {}
                None => return Ok((0, Match { tier: Tier::Fuzzy, ..found })),
            }
        }
    }
    let old = fold_ends(hypothesis.old.as_bytes());
    let new = fold_ends(hypothesis.new.as_bytes());
    let (old, new) = (edit_lines(&old), edit_lines(&new));
    let (old, new) = without_edges(&old, &new).ok_or(Refusal::NotFound)?;
    let indented = with_indentation_of(old, new);
    let indented = indented.as_ref().map(|line| [line.as_slice()]);
    let new = indented.as_ref().map_or(new, |line| line.as_slice());
    if elision::is_elided(hay, old) {
        return elision::find(hay, old, new);
    }
    let found = in_place(hay, old, new, repaired, edit, on_multiple);
    // The file has such lines itself; they may be elisions all the same.
    found.or_else(|refusal| match refusal {
        Refusal::TooLarge => Err(refusal),
        refusal => elision::find(hay, old, new).map_err(|_| refusal),
    })
}

/// The one line of the new text with the indentation of the one old line, where it has none: who sends other blanks
/// than the file has, and then none, has forgotten them rather than moved the line to the margin.
fn with_indentation_of(old: Lines<'_>, new: Lines<'_>) -> Option<Vec<u8>> {
    let ([old], [new]) = (old, new) else { return None };
    let forgotten = !trim(new).is_empty() && indent(new).is_empty() && !indent(old).is_empty();
    forgotten.then(|| [indent(old), new].concat())
}

fn in_place(
    hay: &Haystack<'_>,
    old: Lines<'_>,
    new: Lines<'_>,
    repaired: bool,
    edit: &Edit,
    on_multiple: OnMultiple,
) -> Result<(i32, Match), Refusal> {
    let (old, needle, mut places) = located(hay, old, new)?;
    if edit.replace_all || edit.expected.is_some() {
        places.without_overlaps();
    }
    let chosen = choose(&places.first_lines(), edit, on_multiple)?;
    let mut splices: Vec<Splice> = Vec::new();
    let (mut cost, mut score) = (0, 1.0f64);
    let mut tier = if repaired { Tier::Fuzzy } else { Tier::Whitespace };
    if !hay.work.pay_for(chosen.len(), 1_000 + 400 * (old.len() + new.len())) {
        return Err(Refusal::TooLarge);
    }
    for place in chosen.map(|at| places.get(at)) {
        tier = tier.max(tier_of(hay, &needle, &place));
        cost = cost.max(place.alignment.cost);
        score = score.min(place.score);
        if matches_at(hay, &needle, &place.alignment.file, new) {
            return Err(Refusal::AlreadyApplied);
        }
        let splice = merge(hay, &place.alignment, old, new)?;
        let splice = check_disjoint(hay.text, &mut splices, splice)?;
        splices.push(splice);
    }
    Ok((cost, Match { splices, places: places.len(), tier, repairs: Vec::new(), score }))
}

/// Whether the whole new text stands at the place, or beside it, with lines that
/// the old text does not have.
fn matches_at(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
    file: &Range<usize>,
    new: Lines<'_>,
) -> bool {
    let new: Vec<u64> = new
        .iter()
        .map(|line| match_key(line))
        .filter(|key| !key.is_empty())
        .map(|key| crate::diff::hash(&key))
        .collect();
    if !new.iter().any(|hash| needle.offered.contains(hash)) {
        return false;
    }
    // Blank lines do not count, so as many lines more may be looked at.
    let reach = 2 * new.len();
    let around = file.start.saturating_sub(reach)..(file.end + reach).min(hay.len());
    let lines: Vec<usize> = around.filter(|&line| hay.lens[line] > 0).collect();
    let hashes: Vec<u64> = lines.iter().map(|&line| hay.hashes[line]).collect();
    kmp::find_all(&hashes, &new).into_iter().any(|at| {
        let (first, last) = (lines[at], lines[at + new.len() - 1]);
        // Where the old text has lines before or behind those of the new text, and none is added, it is to lose them.
        let shorter =
            lines.iter().any(|line| file.contains(line) && !(first..=last).contains(line));
        let within = first >= file.start && last < file.end;
        first <= file.end && last + 1 >= file.start && !(within && shorter)
    })
}

/// A splice that begins after those before it: places within one line are made
/// one beside the other, each of the bytes that it changes.
fn check_disjoint(text: &[u8], splices: &mut [Splice], splice: Splice) -> Result<Splice, Refusal> {
    let Some(last) = splices.last_mut().filter(|last| last.range.end > splice.range.start) else {
        return Ok(splice);
    };
    let narrow = |splice: &Splice| {
        let (range, with) = trim_splice(text, splice.range.clone(), &splice.with);
        Splice { range, with: with.to_vec() }
    };
    let (before, splice) = (narrow(last), narrow(&splice));
    if before.range.end > splice.range.start {
        return Err(Refusal::TooLarge);
    }
    *last = before;
    Ok(splice)
}

type Located<'e> = (Lines<'e>, Needle<'e>, Candidates);

/// Finds the old lines, with the blank ones at their edges or without. What is
/// there word by word goes before what is merely alike.
fn located<'e>(hay: &Haystack<'_>, old: Lines<'e>, new: Lines<'_>) -> Result<Located<'e>, Refusal> {
    let blank = |line: &&&[u8]| trim(line).is_empty();
    let lead = old.iter().take_while(blank).count();
    let trail = old.iter().rev().take_while(blank).count();
    let bare = &old[lead..old.len() - trail];
    let mut forms = vec![(old, Needle::new(old, new))];
    if bare.len() < old.len() {
        forms.push((bare, Needle::new(bare, new)));
    }
    let mut last = None;
    for search in [word_by_word, locate_approximate] {
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

/// A place for lines, and the splice that replaces them there.
pub(crate) struct LinePlace {
    /// Lines of the file (0-based).
    pub lines: Range<usize>,
    /// What is written.
    pub splice: Splice,
}

/// The places for lines that are to be replaced: one, or several that fit
/// equally well.
/// `None` where they are nowhere, or not quite there.
pub(crate) fn place_lines(
    text: &[u8],
    old: &[&[u8]],
    new: &[&[u8]],
    work: &Budget,
) -> Option<Vec<LinePlace>> {
    let index = Index::new(text, work).filter(|_| has_countable_lines(text))?;
    let hay = Haystack::new(text, &index, work);
    let places = locate(&hay, &Needle::new(old, new)).ok()?;
    if !hay.work.pay_for(places.len(), 1_000 + 400 * (old.len() + new.len())) {
        return None;
    }
    (0..places.len())
        .map(|at| {
            let place = places.get(at);
            let splice = merge(&hay, &place.alignment, old, new).ok()?;
            Some(LinePlace { lines: place.alignment.file.clone(), splice })
        })
        .collect()
}

/// Whether a place was matched by white space alone.
fn tier_of(hay: &Haystack<'_>, needle: &Needle<'_>, place: &Candidate) -> Tier {
    let blank = place.alignment.steps.iter().all(|step| match step {
        Step::Pair { old, file, likeness, cut } => {
            let sent: Vec<u8> = old
                .clone()
                .flat_map(|line| collapse_whitespace(needle.lines[line].text).into_owned())
                .collect();
            let there: Vec<u8> = file
                .clone()
                .flat_map(|line| {
                    let text = hay.line(line);
                    collapse_whitespace(&text[cut.head..text.len() - cut.tail]).into_owned()
                })
                .collect();
            *likeness == 1.0 && sent == there
        }
        Step::OldOnly(line) => needle.lines[*line].kind == Kind::Blank,
        Step::FileOnly(line) => Kind::of(hay.line(*line)) == Kind::Blank,
    });
    if blank { Tier::Whitespace } else { Tier::Fuzzy }
}

type Lines<'e> = &'e [&'e [u8]];

/// Both texts without the blank lines that they share at their edges. `None`
/// where the old text is blank.
fn without_edges<'e>(old: &'e [&'e [u8]], new: &'e [&'e [u8]]) -> Option<(Lines<'e>, Lines<'e>)> {
    let blank = |line: &&&[u8]| trim(line).is_empty();
    if old.iter().all(|line| trim(line).is_empty()) {
        return None;
    }
    let lead = old.iter().take_while(blank).count().min(new.iter().take_while(blank).count());
    let (old, new) = (&old[lead..], &new[lead..]);
    let trail =
        old.iter().rev().take_while(blank).count().min(new.iter().rev().take_while(blank).count());
    Some((&old[..old.len() - trail], &new[..new.len() - trail]))
}
