//! Where the old text stands, line by line.
//!
//! Places where every line says the same come first: of those, the ones dressed
//! most alike. Then a single line may be part of one. Only where there is none,
//! a place is looked for by likeness ([`super::likeness`]).

use super::candidates::{Candidates, NoMatch};
use super::haystack::Haystack;
use super::kmp;
use super::lines::{trim, trim_end};
use super::needle::{Kind, Needle};
use super::normalize::collapse_whitespace;
use super::similarity::find_similar;
use super::within::within_a_line;

/// A text of fewer bytes with a word is not looked for by likeness.
const TOO_SHORT: usize = 6;
/// Lines that are looked at to tell places apart by their blanks.
const COMPARED: usize = 500_000;

/// Finds the places of the old text: one, or several that fit equally well and
/// word by word.
pub(super) fn locate(hay: &Haystack<'_>, needle: &Needle<'_>) -> Result<Candidates, NoMatch> {
    let whole = word_by_word(hay, needle)?;
    if whole.is_empty() { locate_approximate(hay, needle) } else { Ok(whole) }
}

/// The same where no place has every line: one place, or a line within others.
///
/// # Errors
/// Where there is none, or no telling which.
pub(super) fn locate_approximate(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
) -> Result<Candidates, NoMatch> {
    if needle.words < TOO_SHORT {
        return Err(NoMatch::Nowhere);
    }
    if let [line] = needle.lines.as_slice() {
        let within = within_a_line(hay, &line.key).ok_or(NoMatch::TooLarge)?;
        if !within.is_empty() {
            return Ok(within);
        }
    }
    find_similar(hay, needle).map(|place| Candidates::Aligned(vec![place]))
}

/// Places where every line says the same, dressed equally well.
///
/// # Errors
/// Where the work is too much.
pub(super) fn word_by_word(hay: &Haystack<'_>, needle: &Needle<'_>) -> Result<Candidates, NoMatch> {
    if !hay.work.try_spend(2 * hay.len() + 20 * needle.len()) {
        return Err(NoMatch::TooLarge);
    }
    let lines = needle.len();
    let mut places = Candidates::Whole { firsts: Vec::new(), lines, cost: 0 };
    if needle.lines.iter().all(|line| line.kind == Kind::Blank) {
        return Ok(places);
    }
    let wanted: Vec<u64> = needle.lines.iter().map(|line| line.hash).collect();
    let mut firsts = kmp::find_all(hay.hashes, &wanted);
    let mut cost = 0;
    // Of more, nobody is going to see which are indented alike.
    if firsts.len().saturating_mul(lines) <= COMPARED {
        if !hay.work.pay_for(firsts.len(), 50 * lines) {
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

/// How differently two lines that say the same are dressed.
fn whitespace_distance(old: &[u8], file: &[u8]) -> u8 {
    if trim_end(old) == trim_end(file) {
        0
    } else if trim(old) == trim(file) {
        1
    } else if collapse_whitespace(old) == collapse_whitespace(file) {
        2
    } else {
        3
    }
}
