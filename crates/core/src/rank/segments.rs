//! The terms of some files, sorted: what an index of many files consists of.
//!
//! A [`RankBatch`] collects the terms of files one after the other, on any thread. Sorted once, it
//! is a [`Segment`], which is not changed any more: each term with the list of its files, in three
//! arrays without gaps. Small neighbours are merged, as in a log-structured merge tree (O'Neil and
//! others, 1996), so that a query looks into few.

use super::blocks::FileBlocks;
use super::query::{QueryTerm, RankQuery};
use super::tokens::Term;

/// The counts of one term in one file, each clipped to its bits, with the number of the file in its
/// segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting(u32);

/// The maximum number of files of a segment; postings have 24 bits for the number of a file.
const MAX_FILES: usize = 1 << 24;

impl Posting {
    fn new(file: u32, Fields { body, name, path }: Fields) -> Self {
        Self(file << 8 | body.min(15) << 4 | name.min(3) << 2 | path.min(3))
    }

    pub fn file(self) -> u32 {
        self.0 >> 8
    }

    pub fn fields(self) -> Fields {
        Fields { body: self.0 >> 4 & 15, name: self.0 >> 2 & 3, path: self.0 & 3 }
    }
}

/// How often a term is in the text of a file, in the names that it defines, and in its path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fields {
    pub body: u32,
    pub name: u32,
    pub path: u32,
}

/// The numbers of terms in the text and in the path of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    pub body: u32,
    pub path: u32,
}

/// The terms of files that are not sorted yet.
#[derive(Debug, Default)]
pub struct RankBatch {
    /// Each term in the upper half, its posting in the lower.
    postings: Vec<u64>,
    lengths: Vec<Lengths>,
}

impl RankBatch {
    /// Adds a file. Returns its number in the batch, from 0 on; `None` if the batch is full.
    pub fn push(&mut self, file: &FileBlocks) -> Option<u32> {
        let number = u32::try_from(self.lengths.len()).ok()?;
        if self.lengths.len() == MAX_FILES {
            return None;
        }
        self.lengths.push(Lengths { body: file.terms(), path: file.path.len() as u32 });
        let in_path = |term| file.path.iter().filter(|&&other| other == term).count() as u32;
        for (term, body, name) in file.sums() {
            self.post(term, Posting::new(number, Fields { body, name, path: in_path(term) }));
        }
        for (at, &term) in file.path.iter().enumerate() {
            if file.occurrences(term).is_empty() && !file.path[..at].contains(&term) {
                let fields = Fields { path: in_path(term), ..Fields::default() };
                self.post(term, Posting::new(number, fields));
            }
        }
        Some(number)
    }

    /// Does the same as [`RankBatch::push`] with the terms of a query alone.
    pub(super) fn push_asked(&mut self, file: &FileBlocks, query: &RankQuery) -> Option<u32> {
        let number = u32::try_from(self.lengths.len()).ok()?;
        if self.lengths.len() == MAX_FILES {
            return None;
        }
        self.lengths.push(Lengths { body: file.terms(), path: file.path.len() as u32 });
        for QueryTerm { term, .. } in &query.terms {
            let (body, name) = file.sum_of(*term);
            let path = file.path.iter().filter(|&other| other == term).count() as u32;
            if body + name + path > 0 {
                self.post(*term, Posting::new(number, Fields { body, name, path }));
            }
        }
        Some(number)
    }

    fn post(&mut self, term: Term, posting: Posting) {
        self.postings.push(u64::from(term) << 32 | u64::from(posting.0));
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Reports whether it has no file.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Sorts the terms, which takes most of the time that an index costs besides the reading.
    pub fn sorted(mut self) -> Segment {
        self.postings.sort_unstable();
        Segment::of(self.postings.into_iter(), self.lengths)
    }
}

/// The terms of files, each with its files in the order of their numbers.
#[derive(Debug, Default)]
pub struct Segment {
    terms: Vec<Term>,
    /// For each of `terms` where its postings end.
    ends: Vec<u32>,
    postings: Vec<Posting>,
    pub(super) lengths: Vec<Lengths>,
}

impl Segment {
    fn of(sorted: impl ExactSizeIterator<Item = u64>, lengths: Vec<Lengths>) -> Self {
        let mut segment = Self { lengths, ..Self::default() };
        segment.postings.reserve_exact(sorted.len());
        for one in sorted {
            let term = (one >> 32) as u32;
            if segment.terms.last() != Some(&term) {
                segment.terms.push(term);
                segment.ends.push(0);
            }
            segment.postings.push(Posting(one as u32));
            if let Some(end) = segment.ends.last_mut() {
                *end = segment.postings.len() as u32;
            }
        }
        segment.terms.shrink_to_fit();
        segment.ends.shrink_to_fit();
        segment
    }

    /// Returns the files with a term.
    pub(super) fn postings(&self, term: Term) -> &[Posting] {
        match self.terms.binary_search(&term) {
            Ok(at) => {
                let begin = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
                &self.postings[begin..self.ends[at] as usize]
            }
            Err(_) => &[],
        }
    }

    /// Returns every term with its postings, each in one number, in order. `add` is added to the
    /// numbers of the files.
    fn pairs(&self, add: u32) -> impl Iterator<Item = u64> {
        let mut at = 0;
        self.postings.iter().enumerate().map(move |(place, posting)| {
            while self.ends[at] as usize <= place {
                at += 1;
            }
            u64::from(self.terms[at]) << 32 | u64::from(posting.0 + (add << 8))
        })
    }

    /// Returns one segment with the files of both, those of `after` behind its own. Together they have
    /// less than 2^24 files, beyond which a number would reach into the term.
    pub(super) fn merged(self, after: &Self) -> Self {
        let count = self.lengths.len() as u32;
        let mut pairs: Vec<u64> = Vec::with_capacity(self.postings.len() + after.postings.len());
        let (mut own, mut other) = (self.pairs(0).peekable(), after.pairs(count).peekable());
        while let (Some(&a), Some(&b)) = (own.peek(), other.peek()) {
            pairs.push(a.min(b));
            if a < b {
                own.next()
            } else {
                other.next()
            };
        }
        pairs.extend(own.chain(other));
        let mut lengths = self.lengths;
        lengths.extend(&after.lengths);
        Self::of(pairs.into_iter(), lengths)
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Reports whether it has no file.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Returns the memory use in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.postings.capacity() * size_of::<Posting>()
            + self.terms.capacity() * (size_of::<Term>() + size_of::<u32>())
            + self.lengths.capacity() * size_of::<Lengths>()
    }
}
