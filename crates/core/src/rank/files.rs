//! The counts of the terms of many files, and the files that fit a query best.
//!
//! The score is BM25F (Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted
//! fields", 2004) over three fields of a file: its text, its path, and the names of its definitions.
//! It depends on the searched files alone, and not on others in the index nor on the order in which
//! they were added.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::blocks::FileBlocks;
use super::numbers::ln;
use super::query::{Kind, RankQuery};
use super::tokens::Term;

/// The maximum number of files of an index; postings have 24 bits for the number of a file.
const MAX_FILES: u32 = 1 << 24;

/// The counts of one term in one file, each clipped to its bits, with the number of the file.
#[derive(Clone, Copy, Debug)]
struct Posting(u32);

impl Posting {
    fn new(file: u32, Fields { body, name, path }: Fields) -> Self {
        Self(file << 8 | body.min(15) << 4 | name.min(3) << 2 | path.min(3))
    }

    fn file(self) -> u32 {
        self.0 >> 8
    }

    fn fields(self) -> Fields {
        Fields { body: self.0 >> 4 & 15, name: self.0 >> 2 & 3, path: self.0 & 3 }
    }
}

/// How often a term is in the text of a file, in the names that it defines, and in its path.
#[derive(Clone, Copy, Debug, Default)]
struct Fields {
    body: u32,
    name: u32,
    path: u32,
}

/// A hasher for terms, which are hashes already.
#[derive(Default)]
pub(super) struct TermHasher(u64);

impl Hasher for TermHasher {
    fn finish(&self) -> u64 {
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(u32::from(byte)));
    }

    fn write_u32(&mut self, term: u32) {
        self.0 = self.0 << 32 | u64::from(term);
    }
}

/// The terms of files, each identified by a number. Files are only added.
#[derive(Debug, Default)]
pub struct RankIndex {
    postings: HashMap<Term, Vec<Posting>, BuildHasherDefault<TermHasher>>,
    lengths: Vec<Lengths>,
    posted: usize,
}

/// The numbers of terms in the text and in the path of a file.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    body: u32,
    path: u32,
}

/// The files that fit a query best.
#[derive(Clone, Debug, Default)]
pub struct FileRanking {
    /// Their numbers and scores, best first; equal scores by number.
    pub files: Vec<(u32, f64)>,
    /// For each term of the query, how rare it is in the searched files.
    pub rarity: Vec<f64>,
}

impl RankIndex {
    /// Adds a file and returns its number, from 0 on; `None` if the index is full.
    pub fn push(&mut self, file: &FileBlocks) -> Option<u32> {
        let number = self.lengths.len() as u32;
        if number == MAX_FILES {
            return None;
        }
        self.lengths.push(Lengths { body: file.terms(), path: file.path.len() as u32 });
        for (term, body, name) in file.sums() {
            let path = file.path.iter().filter(|&&other| other == term).count() as u32;
            self.post(term, Posting::new(number, Fields { body, name, path }));
        }
        for (at, &term) in file.path.iter().enumerate() {
            if file.occurrences(term).is_empty() && !file.path[..at].contains(&term) {
                let path = file.path.iter().filter(|&&other| other == term).count() as u32;
                self.post(term, Posting::new(number, Fields { path, ..Fields::default() }));
            }
        }
        Some(number)
    }

    fn post(&mut self, term: Term, posting: Posting) {
        self.postings.entry(term).or_default().push(posting);
        self.posted += 1;
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Reports whether the index has no file.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Returns the memory use in bytes, about.
    pub fn bytes(&self) -> usize {
        self.posted * size_of::<Posting>() * 3 / 2
            + self.postings.len() * (size_of::<(Term, Vec<Posting>)>() + 16)
            + self.lengths.len() * size_of::<Lengths>()
    }

    /// Returns the files that fit a query best, of those for which `is_searched` is true.
    pub fn rank(&self, query: &RankQuery, is_searched: impl Fn(u32) -> bool) -> FileRanking {
        let weights = &query.weights;
        let seen: Vec<bool> = (0..self.lengths.len() as u32).map(is_searched).collect();
        let (mut files, mut body, mut path) = (0_u64, 0_u64, 0_u64);
        for (lengths, _) in self.lengths.iter().zip(&seen).filter(|(_, seen)| **seen) {
            files += 1;
            body += u64::from(lengths.body);
            path += u64::from(lengths.path);
        }
        let mean = |sum: u64| (sum as f64 / files.max(1) as f64).max(1.0);
        let (mean_body, mean_path) = (mean(body), mean(path));
        let mut scores = vec![0.0; self.lengths.len()];
        let (mut covered, mut whole) = (vec![0.0; self.lengths.len()], 0.0);
        let mut defines = vec![query.kind != Kind::Definition; self.lengths.len()];
        let mut rarity: Vec<f64> = Vec::new();
        for term in &query.terms {
            let all = self.postings.get(&term.term).map_or(&[][..], |list| list);
            let searched = || all.iter().filter(|posting| seen[posting.file() as usize]);
            let with = searched().count() as f64;
            let own = ln(1.0 + (files as f64 - with + 0.5) / (with + 0.5));
            // Another word for one of the query counts no more than that one.
            let rare = term.instead_of.map_or(own, |word| own.min(rarity[word]));
            rarity.push(rare);
            let own_worth = if term.instead_of.is_none() { term.weight * rare } else { 0.0 };
            whole += own_worth;
            for posting in searched() {
                let (file, fields) = (posting.file() as usize, posting.fields());
                let lengths = self.lengths[file];
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
        let mut best: Vec<(u32, f64)> = scores
            .into_iter()
            .enumerate()
            .filter(|&(file, score)| score > 0.0 && defines[file])
            .map(|(file, score)| {
                let coverage = covered[file] / whole;
                (file as u32, score * (1.0 - weights.coverage * (1.0 - coverage)))
            })
            .collect();
        best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        best.truncate(weights.pool);
        FileRanking { files: best, rarity }
    }
}

/// The part of BM25 by which each further occurrence counts less: from 0 to `k1 + 1`.
pub(super) fn saturated(count: f64, k1: f64) -> f64 {
    count * (k1 + 1.0) / (count + k1)
}
