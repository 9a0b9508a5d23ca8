//! Finds the position of the old text line by line.
//!
//! Positions at which every line has the same match key come first, and of those the ones whose
//! white space is most similar. Next, a single old line may be part of a file line. If there is
//! neither, the most similar lines are searched for ([`super::similarity`]).

use super::candidates::{Candidates, NoMatch};
use super::haystack::Haystack;
use super::kmp;
use super::needle::{LineKind, Needle};
use super::normalize::without_whitespace;
use super::similarity::find_similar;
use super::within::positions_within_lines;
use crate::edit::lines::{trim, trim_end};

/// The minimum of [`Needle::word_bytes`] for a search by parts of lines or by similarity; a shorter
/// text is found only where all lines have the same match key.
const MIN_SEARCHED_WORD_BYTES: usize = 6;
/// The maximum number of lines, of all positions together, that are compared to prefer positions
/// with similar white space. Beyond it, all positions count as equal.
const MAX_RANKED_LINES: usize = 500_000;

/// Finds the positions of the old text: one, or several that match equally well.
pub(in crate::edit) fn locate(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
) -> Result<Candidates, NoMatch> {
    let whole = locate_by_keys(hay, needle)?;
    if whole.is_empty() { locate_approximate(hay, needle) } else { Ok(whole) }
}

/// Finds a position for an old text that matches nowhere in every line: a part of a line, or the
/// most similar lines.
///
/// # Errors
/// Returns the reason if there is no position or the choice is ambiguous.
pub(in crate::edit) fn locate_approximate(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
) -> Result<Candidates, NoMatch> {
    if needle.word_bytes < MIN_SEARCHED_WORD_BYTES {
        return Err(NoMatch::Nowhere);
    }
    if let [line] = needle.lines.as_slice() {
        let within = positions_within_lines(hay, &line.key).ok_or(NoMatch::TooLarge)?;
        if !within.is_empty() {
            return Ok(within);
        }
    }
    find_similar(hay, needle).map(|place| Candidates::Aligned(vec![place]))
}

/// Returns the positions at which every line has the same match key, and of those the ones with the
/// most similar white space.
///
/// # Errors
/// `TooLarge` if the work exceeds the budget.
pub(in crate::edit) fn locate_by_keys(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
) -> Result<Candidates, NoMatch> {
    if !hay.work.try_spend(2 * hay.len() + 20 * needle.len()) {
        return Err(NoMatch::TooLarge);
    }
    let lines = needle.len();
    let mut places = Candidates::Whole { firsts: Vec::new(), lines, cost: 0 };
    if needle.lines.iter().all(|line| line.kind == LineKind::Blank) {
        return Ok(places);
    }
    let wanted: Vec<u64> = needle.lines.iter().map(|line| line.hash).collect();
    let mut firsts = kmp::find_all(hay.hashes, &wanted);
    let mut cost = 0;
    // With more positions, ranking them by white space would cost too much.
    if firsts.len().saturating_mul(lines) <= MAX_RANKED_LINES {
        if !hay.work.try_spend_times(firsts.len(), 50 * lines) {
            return Err(NoMatch::TooLarge);
        }
        let rank = |first: usize| {
            let lines = needle.lines.iter().zip(first..);
            lines.map(|(line, at)| whitespace_distance(line.text, hay.line(at))).max().unwrap_or(0)
        };
        let ranks: Vec<u8> = firsts.iter().map(|&first| rank(first)).collect();
        let best = ranks.iter().copied().min().unwrap_or(0);
        let mut ranks = ranks.into_iter();
        firsts.retain(|_| ranks.next() == Some(best));
        cost = i32::from(best);
    }
    if !firsts.is_empty() {
        places = Candidates::Whole { firsts, lines, cost };
    }
    Ok(places)
}

/// Returns a rank for the difference in white space between two lines with equal match keys: 0 none
/// except at the end, 1 only at the ends, 2 also within, 3 other characters.
fn whitespace_distance(old: &[u8], file: &[u8]) -> u8 {
    if trim_end(old) == trim_end(file) {
        0
    } else if trim(old) == trim(file) {
        1
    } else if without_whitespace(old) == without_whitespace(file) {
        2
    } else {
        3
    }
}
