//! Finds the lines of the file that are most similar to the old text.
//!
//! Lines vote for diagonals ([`super::diagonals`]), and the text is aligned around the best of
//! them. The best alignment is accepted if the lines that differ have only typos, and if no other
//! position is nearly as good.

use super::align::align;
use super::alignment::{Alignment, AlignmentStep};
use super::candidates::{Candidate, NoMatch};
use super::diagonals::{MAX_ALIGNMENTS, diagonals};
use super::haystack::Haystack;
use super::levenshtein::BitPattern;
use super::needle::{LINE_COST, LineKind, Needle};
use super::normalize::is_inside_word;
use super::typo::{has_whole_word, is_typo};
use crate::edit::lines::trim;

/// The maximum number of alignments that are tried if some diagonals have more votes than others.
const MAX_RANKED_ALIGNMENTS: usize = 24;
/// The maximum number of other positions that are compared with the best one to decide whether it
/// is unique.
const MAX_RIVALS: usize = 8;
/// The maximum number of positions that are reported if several are as similar as the best.
const MAX_LISTED_POSITIONS: usize = 40;
/// The minimum fraction of the old text, 0 to 1, that must be found.
const MIN_FOUND_FRACTION: f64 = 0.8;
/// The minimum fraction of the old text, 0 to 1, for showing a position in a refusal.
const MIN_SUGGESTED_FRACTION: f64 = 0.4;

/// Returns the most similar position if it is good enough and clearly better than any other.
pub(in crate::edit) fn find_similar(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
) -> Result<Candidate, NoMatch> {
    let mut pattern = BitPattern::default();
    let mut found: Vec<Alignment> = Vec::new();
    let mut tried: Vec<isize> = Vec::new();
    // The cost above which a position is neither shown nor compared with the best so far.
    let mut most = needle.total - (f64::from(needle.total) * MIN_SUGGESTED_FRACTION) as i32;
    let diagonals = diagonals(hay, needle, &mut pattern).ok_or(NoMatch::TooLarge)?;
    let (mut votes, mut untried) = (0.0f64, diagonals.crowded);
    for diagonal in diagonals.list {
        // If many diagonals are as good as the best, the result is only certain once all of them
        // are tried.
        if tried.len() >= MAX_RANKED_ALIGNMENTS && (found.is_empty() || diagonal.votes < votes) {
            break;
        }
        if tried.len() >= MAX_ALIGNMENTS {
            untried = true;
            break;
        }
        if tried.iter().any(|near| near.abs_diff(diagonal.at) <= 1) {
            continue;
        }
        tried.push(diagonal.at);
        if let Some(alignment) = align(hay, needle, diagonal.at, most, &mut pattern) {
            let cost = alignment.cost;
            if found.iter().all(|other| cost < other.cost) {
                votes = diagonal.votes;
            }
            most = most.min((cost + min_cost_margin(needle)).max(cost.saturating_mul(10) / 7 + 1));
            found.push(alignment);
        }
    }
    if hay.work.is_spent() {
        return Err(NoMatch::TooLarge);
    }
    found.sort_by_key(|alignment| (alignment.cost, alignment.file.start));
    let share = |alignment: &Alignment| 1.0 - f64::from(alignment.cost) / f64::from(needle.total);
    let mut found =
        found.into_iter().map(|alignment| Candidate { score: share(&alignment), alignment });
    let best = found.next().ok_or(NoMatch::Nowhere)?;
    let differs = first_difference(hay, needle, &best.alignment);
    let is_apart = |place: &Candidate| place.alignment.is_apart_from(&best.alignment);
    if best.score < MIN_FOUND_FRACTION {
        return Err(match differs {
            Some(line) if best.score >= MIN_SUGGESTED_FRACTION => {
                NoMatch::Different { place: best, line }
            }
            _ => NoMatch::Nowhere,
        });
    }
    if let Some(line) = differs {
        let cost = best.alignment.cost;
        let as_like = found.take_while(|place| place.alignment.cost == cost);
        let mut alike: Vec<Candidate> =
            as_like.filter(is_apart).take(MAX_LISTED_POSITIONS).collect();
        alike.extend(equally_similar_neighbours(hay, needle, &best.alignment));
        return Err(if alike.is_empty() {
            NoMatch::Different { place: best, line }
        } else {
            NoMatch::Several([vec![best], alike].concat())
        });
    }
    // A position that would be refused on its own does not make the best one ambiguous.
    let cost = best.alignment.cost;
    let is_close = |place: &Candidate| {
        let other = place.alignment.cost;
        other - cost < min_cost_margin(needle) || (cost > LINE_COST / 10 && cost * 10 > other * 7)
    };
    let mut rivals: Vec<Candidate> = found
        .take(MAX_RIVALS)
        .filter(is_apart)
        .filter(|place| first_difference(hay, needle, &place.alignment).is_none())
        .take_while(is_close)
        .collect();
    if !rivals.is_empty() {
        rivals.insert(0, best);
        return Err(NoMatch::Several(rivals));
    }
    if untried || hay.work.is_spent() {
        return Err(NoMatch::TooLarge);
    }
    Ok(best)
}

/// Returns the cost by which a position must be cheaper than any other.
fn min_cost_margin(needle: &Needle<'_>) -> i32 {
    (LINE_COST * 12 / 100).max(needle.total / 100 * 3)
}

/// Returns the lines directly before and after the best one that are at least as similar to an old
/// text of one line. They lie within its band, so they have no alignment of their own.
fn equally_similar_neighbours(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
    best: &Alignment,
) -> Vec<Candidate> {
    let ([sent], [AlignmentStep::Pair { file, .. }]) =
        (needle.lines.as_slice(), best.steps.as_slice())
    else {
        return Vec::new();
    };
    if !hay.work.try_spend_times(hay.len(), sent.text.len()) {
        return Vec::new();
    }
    let there = trim(hay.line(file.start));
    let mut pattern = BitPattern::default();
    pattern.set_pattern(trim(sent.text));
    let likeness = pattern.similarity(there, 0.0);
    let is_near = |at: usize| at.abs_diff(file.start) == 1;
    (file.start.saturating_sub(1)..hay.len().min(file.start + 2))
        .filter(|&at| is_near(at) && pattern.similarity(trim(hay.line(at)), 0.0) >= likeness)
        .map(|at| {
            let mut alignment = best.clone();
            alignment.file = at..at + 1;
            if let [AlignmentStep::Pair { file, .. }] = alignment.steps.as_mut_slice() {
                *file = at..at + 1;
            }
            Candidate { alignment, score: 0.0 }
        })
        .collect()
}

/// Returns the first line (0-based) of the old text that the file does not have or has with other
/// words. Typos in at most one line and a quarter of the lines do not count.
fn first_difference(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
    alignment: &Alignment,
) -> Option<usize> {
    let known =
        |word: &[u8]| !hay.work.try_spend(hay.text.len() / 8) || has_whole_word(hay.text, word);
    if let Some(line) = whole_word_difference(hay, needle, alignment) {
        return Some(line);
    }
    let mut differing_lines = 0;
    alignment.steps.iter().find_map(|step| match step {
        AlignmentStep::Pair { old, file, likeness, .. } if *likeness < 1.0 => {
            differing_lines += 1;
            let line = old.start;
            let few = differing_lines <= 1 + needle.len() / 4;
            let slip = is_typo(needle.lines[line].text, hay.line(file.start), &known);
            (!few || !slip).then_some(line)
        }
        AlignmentStep::OldOnly(line) => {
            (needle.lines[*line].kind != LineKind::Blank).then_some(*line)
        }
        AlignmentStep::Pair { .. } | AlignmentStep::FileOnly(_) => None,
    })
}

/// Returns the first or last line (0-based) of the old text if it begins or ends within a word of
/// the file while the other end of the text is the end of a line. `names = {` as a whole line is
/// another line than `new_names = {`; a text that begins and ends inside lines was cut out of the
/// file at any character.
fn whole_word_difference(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
    alignment: &Alignment,
) -> Option<usize> {
    let cut_of = |step: Option<&AlignmentStep>| match step {
        Some(AlignmentStep::Pair { file, cut, .. }) => Some((hay.line(file.start), *cut)),
        _ => None,
    };
    let (first, last) = (cut_of(alignment.steps.first()), cut_of(alignment.steps.last()));
    let is_cut_before = first.is_some_and(|(line, cut)| !trim(&line[..cut.head]).is_empty());
    let is_cut_after =
        last.is_some_and(|(line, cut)| !trim(&line[line.len() - cut.tail..]).is_empty());
    if is_cut_before == is_cut_after {
        return None;
    }
    if first.is_some_and(|(line, cut)| cut.head > 0 && is_inside_word(line, cut.head)) {
        return Some(0);
    }
    let splits_last =
        last.is_some_and(|(line, cut)| cut.tail > 0 && is_inside_word(line, line.len() - cut.tail));
    splits_last.then(|| needle.len() - 1)
}
