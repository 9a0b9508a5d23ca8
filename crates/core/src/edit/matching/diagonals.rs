//! Finds possible positions of an old text. A position is a diagonal: the number of the file line
//! minus that of the old line which corresponds to it.
//!
//! A line that also occurs in the file votes for the diagonals of its occurrences, with more weight
//! the rarer it is. If few lines occur exactly, the file lines similar to the longest old line vote
//! as well.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::bigrams::Bigrams;
use super::haystack::Haystack;
use super::levenshtein::{BitPattern, MAX_SIMILAR_BYTES};
use super::needle::{LineKind, Needle};
use super::normalize::match_key;

/// The maximum number of occurrences in the file of an old line that votes; a more frequent line
/// does not vote.
const MAX_VOTING_OCCURRENCES: usize = 400;
/// The maximum number of votes that are counted. The rarest lines vote first.
const MAX_VOTES: usize = 200_000;
/// The maximum number of file lines that are compared with the longest old line: the most similar
/// ones by a fast estimate.
const MAX_COMPARED_WITH_LONGEST: usize = 256;
/// The maximum number of alignments that are tried if no diagonal has more votes than another.
pub(in crate::edit) const MAX_ALIGNMENTS: usize = 100;

/// A fast hasher for numbers without a secret key. A map exists for one search only, so numbers
/// crafted to collide do little harm.
#[derive(Default)]
struct FastU64Hasher(u64);

impl Hasher for FastU64Hasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// A map from hashes or diagonals, for which [`FastU64Hasher`] suffices.
type FastU64Map<V> = HashMap<u64, V, BuildHasherDefault<FastU64Hasher>>;

/// An offset between old text and file at which the fuzzy search aligns them, with the votes of the
/// lines that match there.
#[derive(Clone, Copy, Debug)]
pub(in crate::edit) struct VotedDiagonal {
    /// The number of the file line minus that of the corresponding old line.
    pub at: isize,
    /// The sum of the votes for it; higher is better.
    pub votes: f64,
}

/// The diagonals at which the fuzzy search aligns, best first.
#[derive(Debug)]
pub(in crate::edit) struct Diagonals {
    /// The diagonals, best first: at most one more than the search will try, so that it knows
    /// whether it tried all.
    pub list: Vec<VotedDiagonal>,
    /// True if diagonals that are as good as the best were left out.
    pub crowded: bool,
}

/// Returns the diagonals with the most votes, preceded by those of similar lines if few lines vote.
/// Returns `None` if the work exceeds the budget.
pub(in crate::edit) fn diagonals(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
    pattern: &mut BitPattern,
) -> Option<Diagonals> {
    let mut list = count_votes(hay, needle)?;
    list.sort_by(|a, b| b.votes.total_cmp(&a.votes).then(a.at.cmp(&b.at)));
    list.truncate(MAX_ALIGNMENTS + 1);
    let mut diagonals = Diagonals { list, crowded: false };
    if needle.len() <= 3 {
        // In an old text of so few lines, a line that the file has too may be a common one, so
        // diagonals of similar lines come first.
        let mut alike = diagonals_of_longest_line(hay, needle, pattern)?;
        alike.list.append(&mut diagonals.list);
        diagonals = alike;
    } else if diagonals.list.len() < 2 {
        let alike = diagonals_of_longest_line(hay, needle, pattern)?;
        diagonals.list.extend(alike.list);
        diagonals.crowded = alike.crowded;
    }
    Some(diagonals)
}

/// Counts the votes of all lines. Returns `None` if the work exceeds the budget.
fn count_votes(hay: &Haystack<'_>, needle: &Needle<'_>) -> Option<Vec<VotedDiagonal>> {
    if !hay.work.try_spend(4 * hay.len() + 50 * needle.len()) {
        return None;
    }
    let mut places: FastU64Map<Vec<u32>> = FastU64Map::default();
    for line in needle.lines.iter().filter(|line| line.kind != LineKind::Blank) {
        places.insert(line.hash, Vec::new());
    }
    for (at, hash) in hay.hashes.iter().enumerate() {
        if let Some(places) = places.get_mut(hash)
            && places.len() <= MAX_VOTING_OCCURRENCES
        {
            places.push(at as u32);
        }
    }
    let standing = |(old, line)| -> Option<(usize, f64, &Vec<u32>)> {
        let line: &super::needle::NeedleLine<'_> = line;
        let places = places.get(&line.hash)?;
        let votes = (1..=MAX_VOTING_OCCURRENCES).contains(&places.len());
        votes.then(|| (old, f64::from(line.weight) / (places.len() as f64).sqrt(), places))
    };
    let mut voters: Vec<_> = needle.lines.iter().enumerate().filter_map(standing).collect();
    voters.sort_by_key(|(old, _, places)| (places.len(), *old));
    let mut votes: FastU64Map<f64> = FastU64Map::default();
    let mut left = MAX_VOTES;
    for (old, vote, places) in voters {
        let Some(rest) = left.checked_sub(places.len()) else { break };
        left = rest;
        for &at in places {
            *votes.entry((at as isize - old as isize) as u64).or_default() += vote;
        }
    }
    hay.work.try_spend(20 * (MAX_VOTES - left)).then(|| {
        votes.into_iter().map(|(at, votes)| VotedDiagonal { at: at as isize, votes }).collect()
    })
}

/// Returns the diagonals on which the longest old line is paired with a similar file line. There
/// are none for a line of less than 8 or more than [`MAX_SIMILAR_BYTES`] bytes. Returns `None` if
/// the work exceeds the budget.
fn diagonals_of_longest_line(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
    pattern: &mut BitPattern,
) -> Option<Diagonals> {
    let longest = needle.lines.iter().enumerate().rev().max_by_key(|(_, line)| line.key.len());
    let Some((old, line)) =
        longest.filter(|(_, line)| (8..=MAX_SIMILAR_BYTES).contains(&line.key.len()))
    else {
        return Some(Diagonals { list: Vec::new(), crowded: false });
    };
    let len = line.key.len();
    let pairs = Bigrams::new(&line.key);
    let mut estimates: Vec<(usize, u32)> = Vec::new();
    for at in 0..hay.len() {
        let other = hay.lens[at] as usize;
        if other.abs_diff(len) * 10 > len * 3 {
            continue;
        }
        let text = hay.line(at);
        if !hay.work.try_spend(2 * text.len()) {
            return None;
        }
        let most = len.max(other);
        let shared = pairs.shared_without_whitespace(text).min(most);
        // A typo changes two or three pairs of adjacent bytes, so a line that shares a fifth of the
        // pairs may still be similar enough.
        if 5 * shared >= most {
            estimates.push(((most - shared) * 1_000 / most, at as u32));
        }
    }
    let mut crowded = false;
    if estimates.len() > MAX_COMPARED_WITH_LONGEST {
        let (kept, left_out, _) = estimates.select_nth_unstable(MAX_COMPARED_WITH_LONGEST);
        crowded = kept.iter().all(|(missing, _)| *missing == left_out.0);
        estimates.truncate(MAX_COMPARED_WITH_LONGEST);
    }
    pattern.set_pattern(&line.key);
    let mut alike: Vec<(f64, usize)> = Vec::new();
    for (_, at) in estimates {
        let at = at as usize;
        let other = hay.lens[at] as usize;
        if !hay.work.try_spend(6 * other * len.div_ceil(64)) {
            return None;
        }
        let likeness = pattern.similarity(&match_key(hay.line(at)), 0.7);
        if likeness > 0.7 {
            alike.push((likeness, at));
        }
    }
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // The factor puts these diagonals before all that have votes of lines.
    let diagonal = |(likeness, at): (f64, usize)| VotedDiagonal {
        at: at as isize - old as isize,
        votes: likeness * 1e12,
    };
    let list = alike.into_iter().take(MAX_ALIGNMENTS + 1).map(diagonal).collect();
    Some(Diagonals { list, crowded })
}
