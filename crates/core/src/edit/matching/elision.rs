//! Finds an old text with elisions: lines such as `...` or `// ... existing code ...` that stand
//! for lines which both texts of an edit leave out.
//!
//! The texts are split at their elisions. The parts must occur in the file in order. A part that
//! the edit changes must have a unique position; an unchanged part may be at any position that fits
//! the others. Lines between the parts stay unchanged.

use std::ops::Range;

use super::candidates::Candidates;
use super::haystack::Haystack;
use super::locate::locate;
use super::needle::Needle;
use super::normalize::match_key;
use crate::edit::applying::merge::{BlankEdges, LearnedStyle, changes_any_line, merge_with_style};
use crate::edit::lines::{is_elision, trim};
use crate::edit::{OldTextMatch, Refusal, Tier};

/// The maximum number of file lines that one elision may stand for; parts further apart do not
/// match.
const MAX_ELIDED_LINES: usize = 2_000;

type EditLines<'l, 'e> = &'l [&'e [u8]];

/// Returns true if the text has elisions that are not lines of the file itself.
pub(in crate::edit) fn is_elided(hay: &Haystack<'_>, old: &[&[u8]]) -> bool {
    let unknown = |line: &&[u8]| {
        !hay.work.try_spend(hay.len())
            || !hay.hashes.contains(&crate::diff::hash_line(&match_key(line)))
    };
    old.iter().filter(|line| is_elision(line)).any(unknown) && split_at_elisions(old).len() > 1
}

/// Finds an old text with elisions and returns the cost of the match with it.
///
/// # Errors
/// Refuses if a part that the edit changes has no unique position.
pub(in crate::edit) fn find_elided(
    hay: &Haystack<'_>,
    old: &[&[u8]],
    new: &[&[u8]],
) -> Result<(i32, OldTextMatch), Refusal> {
    let (olds, news) = (split_at_elisions(old), split_at_elisions(new));
    let blank = |piece: &EditLines<'_, '_>| piece.iter().all(|line| trim(line).is_empty());
    if olds.len() < 2 || olds.len() != news.len() || olds.iter().any(blank) {
        return Err(Refusal::Elided);
    }
    let mut places = Vec::with_capacity(olds.len());
    for (old, new) in olds.iter().zip(&news) {
        let needle = Needle::new(old, new);
        places.push(locate(hay, &needle).map_err(|miss| Refusal::of(miss, &needle))?);
    }
    let all: usize = places.iter().map(Candidates::len).sum();
    if !hay.work.try_spend(20 * all) {
        return Err(Refusal::TooLarge);
    }
    remove_unordered_positions(&mut places);
    let mut taught = LearnedStyle::default();
    for ((old, new), places) in olds.iter().zip(&news).zip(&places) {
        if places.len() == 1 {
            taught.learn(hay, &places.get(0).alignment, old, new);
        }
    }
    let (mut splices, mut cost, mut score) = (Vec::new(), 0, 1.0f64);
    for ((old, new), places) in olds.iter().zip(&news).zip(&places) {
        if places.is_empty() {
            return Err(Refusal::NotFound);
        }
        if !changes_any_line(old, new) {
            continue;
        }
        if places.len() > 1 {
            return Err(Refusal::NotUnique { lines: places.first_lines(), alike: false });
        }
        let place = places.get(0);
        cost += place.alignment.cost;
        score = score.min(place.score);
        splices.push(merge_with_style(
            hay,
            &place.alignment,
            old,
            new,
            BlankEdges::default(),
            &taught,
        )?);
    }
    if splices.is_empty() {
        return Err(Refusal::NotFound);
    }
    Ok((cost, OldTextMatch { splices, places: 1, tier: Tier::Fuzzy, repairs: Vec::new(), score }))
}

/// Removes the positions of each part after which no position of the next part follows within
/// [`MAX_ELIDED_LINES`], and those that no position of the previous part precedes.
fn remove_unordered_positions(places: &mut [Candidates]) {
    // The positions of each part are in ascending order.
    let ranges = |places: &Candidates| -> Vec<Range<usize>> {
        (0..places.len()).map(|at| places.lines_of(at)).collect()
    };
    for at in 1..places.len() {
        let before = ranges(&places[at - 1]);
        places[at].retain(|place| {
            let last = before.partition_point(|one| one.end <= place.start).checked_sub(1);
            last.is_some_and(|last| place.start - before[last].end <= MAX_ELIDED_LINES)
        });
    }
    for at in (1..places.len()).rev() {
        let after = ranges(&places[at]);
        places[at - 1].retain(|place| {
            let next = after.get(after.partition_point(|next| next.start < place.end));
            next.is_some_and(|next| next.start - place.end <= MAX_ELIDED_LINES)
        });
    }
}

/// Returns the parts of a text between its elisions; an elision at either end separates nothing.
fn split_at_elisions<'l, 'e>(lines: EditLines<'l, 'e>) -> Vec<EditLines<'l, 'e>> {
    let mut pieces: Vec<EditLines<'l, 'e>> = lines.split(|line| is_elision(line)).collect();
    if pieces.len() > 1 && pieces.first().is_some_and(|piece| piece.is_empty()) {
        pieces.remove(0);
    }
    if pieces.len() > 1 && pieces.last().is_some_and(|piece| piece.is_empty()) {
        pieces.pop();
    }
    pieces
}
