//! Finds possible positions of an old text: the diagonals (file line minus old line) that its lines
//! vote for.
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
use super::similarity::MAX_ALIGNMENTS;

/// Lines with more occurrences do not vote.
const MAX_VOTING_OCCURRENCES: usize = 400;
/// The maximum number of counted votes; the rarest lines vote first.
const MAX_VOTES: usize = 200_000;
/// The maximum number of lines compared with the longest old line.
const MAX_COMPARED_WITH_LONGEST: usize = 256;

/// A fast hash for numbers; the map lives for one search, so that collisions do little harm.
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

type ByHash<V> = HashMap<u64, V, BuildHasherDefault<FastU64Hasher>>;

/// A diagonal that the search should try.
#[derive(Clone, Copy, Debug)]
pub(in crate::edit) struct Diagonal {
    /// Line of the file minus line of the old text.
    pub at: isize,
    /// The weight of the votes for it.
    pub votes: f64,
}

/// The diagonals to try.
#[derive(Debug)]
pub(in crate::edit) struct Diagonals {
    /// The best first; contains one more than will be tried, if there is one.
    pub list: Vec<Diagonal>,
    /// True if other diagonals as good as the best were left out.
    pub crowded: bool,
}

/// Returns the diagonals with the most votes, preceded by those of similar lines if few lines vote.
/// Returns `None` if the work exceeds the budget.
pub(in crate::edit) fn diagonals(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
    pattern: &mut BitPattern,
) -> Option<Diagonals> {
    let mut list = votes(hay, needle)?;
    list.sort_by(|a, b| b.votes.total_cmp(&a.votes).then(a.at.cmp(&b.at)));
    list.truncate(MAX_ALIGNMENTS + 1);
    let mut diagonals = Diagonals { list, crowded: false };
    if needle.len() <= 3 {
        // With so few lines, what they share with other positions may mean little.
        let mut alike = like_the_longest(hay, needle, pattern)?;
        alike.list.append(&mut diagonals.list);
        diagonals = alike;
    } else if diagonals.list.len() < 2 {
        let alike = like_the_longest(hay, needle, pattern)?;
        diagonals.list.extend(alike.list);
        diagonals.crowded = alike.crowded;
    }
    Some(diagonals)
}

fn votes(hay: &Haystack<'_>, needle: &Needle<'_>) -> Option<Vec<Diagonal>> {
    if !hay.work.try_spend(4 * hay.len() + 50 * needle.len()) {
        return None;
    }
    let mut places: ByHash<Vec<u32>> = ByHash::default();
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
    let mut votes: ByHash<f64> = ByHash::default();
    let mut left = MAX_VOTES;
    for (old, vote, places) in voters {
        let Some(rest) = left.checked_sub(places.len()) else { break };
        left = rest;
        for &at in places {
            *votes.entry((at as isize - old as isize) as u64).or_default() += vote;
        }
    }
    hay.work
        .try_spend(20 * (MAX_VOTES - left))
        .then(|| votes.into_iter().map(|(at, votes)| Diagonal { at: at as isize, votes }).collect())
}

/// Returns the diagonals on which the longest old line is at a similar line.
fn like_the_longest(
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
    let mut glances: Vec<(usize, u32)> = Vec::new();
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
        let shared = pairs.shared_words(text).min(most);
        // A typo removes two or three pairs.
        if 5 * shared >= most {
            glances.push(((most - shared) * 1_000 / most, at as u32));
        }
    }
    let mut crowded = false;
    if glances.len() > MAX_COMPARED_WITH_LONGEST {
        let (kept, left_out, _) = glances.select_nth_unstable(MAX_COMPARED_WITH_LONGEST);
        crowded = kept.iter().all(|(check_disjoint, _)| *check_disjoint == left_out.0);
        glances.truncate(MAX_COMPARED_WITH_LONGEST);
    }
    pattern.set(&line.key);
    let mut alike: Vec<(f64, usize)> = Vec::new();
    for (_, at) in glances {
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
    // These precede all diagonals with votes.
    let diagonal = |(likeness, at): (f64, usize)| Diagonal {
        at: at as isize - old as isize,
        votes: likeness * 1e12,
    };
    let list = alike.into_iter().take(MAX_ALIGNMENTS + 1).map(diagonal).collect();
    Some(Diagonals { list, crowded })
}
