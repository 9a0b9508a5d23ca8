//! The counts of the terms of many files, and the files that fit a query best.
//!
//! The score is BM25F (Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted
//! fields", 2004) over three fields of a file: its text, its path, and the names of its definitions.
//! It depends on the searched files alone, which may be in several indexes: their sums
//! ([`RankStats`]) are added before any file is scored.

use super::numbers::ln;
use super::query::{Kind, RankQuery};
use super::segments::{Posting, Segment};

/// The maximum number of files of an index.
const MAX_FILES: usize = 1 << 28;
/// The maximum number of files of a segment that is merged with its neighbour. Merging takes a
/// millisecond then, and a query after a change pays it.
const MAX_MERGED_FILES: usize = 1024;

/// The terms of files, each identified by a number. Files are only added.
#[derive(Debug, Default)]
pub struct RankIndex {
    segments: Vec<Segment>,
    files: usize,
}

/// What a query needs to know of all searched files.
#[derive(Clone, Debug, Default)]
pub struct RankStats {
    /// The number of files.
    files: u64,
    /// The numbers of terms in their texts and in their paths.
    body: u64,
    path: u64,
    /// For each term of the query, the number of files with it.
    with: Vec<u64>,
}

impl RankStats {
    /// Adds the sums of other files.
    pub fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.body += other.body;
        self.path += other.path;
        self.with.resize(self.with.len().max(other.with.len()), 0);
        self.with.iter_mut().zip(&other.with).for_each(|(own, other)| *own += other);
    }

    /// Returns for each term of the query how rare it is. Another word for one of the query counts
    /// no more than that one.
    pub fn rarity(&self, query: &RankQuery) -> Vec<f64> {
        let mut rarity: Vec<f64> = Vec::new();
        for (term, &with) in query.terms.iter().zip(&self.with) {
            let (files, with) = (self.files as f64, with as f64);
            let own = ln(1.0 + (files - with + 0.5) / (with + 0.5));
            rarity.push(term.instead_of.map_or(own, |word| own.min(rarity[word])));
        }
        rarity
    }
}

impl RankIndex {
    /// Adds files and returns the number of the first one; `None` if the index is full.
    pub fn append(&mut self, segment: Segment) -> Option<u32> {
        let first = self.files;
        if first + segment.len() > MAX_FILES {
            return None;
        }
        self.files += segment.len();
        let mut last = segment;
        while let Some(before) = self.segments.pop_if(|before| {
            before.len() < 2 * last.len() && before.len() + last.len() <= MAX_MERGED_FILES
        }) {
            last = before.merged(&last);
        }
        self.segments.push(last);
        Some(first as u32)
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.files
    }

    /// Reports whether the index has no file.
    pub fn is_empty(&self) -> bool {
        self.files == 0
    }

    /// Returns the memory use in bytes, about.
    pub fn bytes(&self) -> usize {
        self.segments.iter().map(Segment::bytes).sum()
    }

    /// Returns each segment with the part of `seen` that is about its files, and the number of its
    /// first file.
    fn searched<'s>(&'s self, seen: &'s [bool]) -> impl Iterator<Item = Searched<'s>> {
        let mut next = 0;
        self.segments.iter().map(move |segment| {
            let first = next;
            next += segment.len();
            Searched { segment, seen: &seen[first..next], first: first as u32 }
        })
    }

    /// Returns the sums of the files for which `seen` is true, which has one value for each.
    pub fn stats(&self, query: &RankQuery, seen: &[bool]) -> RankStats {
        let mut stats = RankStats { with: vec![0; query.terms.len()], ..RankStats::default() };
        for part in self.searched(seen) {
            for (lengths, _) in
                part.segment.lengths.iter().zip(part.seen).filter(|(_, seen)| **seen)
            {
                stats.files += 1;
                stats.body += u64::from(lengths.body);
                stats.path += u64::from(lengths.path);
            }
            for (term, with) in query.terms.iter().zip(&mut stats.with) {
                *with += part.postings(term.term).count() as u64;
            }
        }
        stats
    }

    /// Returns the numbers and scores of the files that fit a query best, in no order: as many as
    /// have their blocks scored, and those that are equal to the last of them. `stats` are the sums of
    /// all searched files, of which those of this index are `seen`.
    pub fn rank(&self, query: &RankQuery, stats: &RankStats, seen: &[bool]) -> Vec<(u32, f64)> {
        let rarity = stats.rarity(query);
        let mut best: Vec<(u32, f64)> = Vec::new();
        for part in self.searched(seen) {
            part.score(query, (stats, &rarity), &mut best);
        }
        if let Some(last) = query.weights.pool.checked_sub(1).filter(|&last| last < best.len()) {
            let (_, &mut (_, least), _) =
                best.select_nth_unstable_by(last, |a, b| b.1.total_cmp(&a.1));
            best.retain(|&(_, score)| score >= least);
        }
        best
    }
}

/// A segment, and which of its files are searched.
struct Searched<'s> {
    segment: &'s Segment,
    seen: &'s [bool],
    /// The number of its first file.
    first: u32,
}

impl Searched<'_> {
    fn postings(&self, term: u32) -> impl Iterator<Item = Posting> {
        let all = self.segment.postings(term);
        all.filter(|posting| self.seen[posting.file() as usize])
    }

    /// Adds the files that fit a query to `best`, each with its score.
    fn score(
        &self,
        query: &RankQuery,
        (stats, rarity): (&RankStats, &[f64]),
        best: &mut Vec<(u32, f64)>,
    ) {
        let weights = &query.weights;
        let mean = |sum: u64| (sum as f64 / stats.files.max(1) as f64).max(1.0);
        let (mean_body, mean_path) = (mean(stats.body), mean(stats.path));
        let count = self.segment.len();
        let mut scores = vec![0.0; count];
        let (mut covered, mut whole) = (vec![0.0; count], 0.0);
        let mut defines = vec![query.kind != Kind::Definition; count];
        for (term, rare) in query.terms.iter().zip(rarity) {
            let own_worth = if term.instead_of.is_none() { term.weight * rare } else { 0.0 };
            whole += own_worth;
            for posting in self.postings(term.term) {
                let (file, fields) = (posting.file() as usize, posting.fields());
                let lengths = self.segment.lengths[file];
                let long = |b: f64, len: u32, mean: f64| 1.0 - b + b * f64::from(len) / mean;
                let count = f64::from(fields.body) / long(weights.body_b, lengths.body, mean_body)
                    + weights.path * f64::from(fields.path)
                        / long(weights.path_b, lengths.path, mean_path)
                    + weights.name * f64::from(fields.name);
                scores[file] += term.weight * rare * saturated(count, weights.k1);
                covered[file] += own_worth;
                defines[file] |= fields.name > 0 && query.symbols.contains(&term.term);
            }
        }
        for (file, &score) in scores.iter().enumerate() {
            if score > 0.0 && defines[file] {
                let coverage = covered[file] / whole;
                let score = score * (1.0 - weights.coverage * (1.0 - coverage));
                best.push((self.first + file as u32, score));
            }
        }
    }
}

/// The part of BM25 by which each further occurrence counts less: from 0 to `k1 + 1`.
pub(super) fn saturated(count: f64, k1: f64) -> f64 {
    count * (k1 + 1.0) / (count + k1)
}
