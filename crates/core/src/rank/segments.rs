//! The terms of some files, sorted: what an index of many files consists of.
//!
//! A [`RankBatch`] collects the terms of files one after the other, on any thread. Sorted once, it
//! is a [`Segment`], which is not changed any more: each term with the list of its files. Small neighbours are merged, as in a log-structured merge tree (O'Neil and
//! others, 1996), so that a query looks into few.

use super::blocks::FileBlocks;
use super::cut::Cut;
use super::query::{QueryTerm, RankQuery};
use super::runs::{Numbers, Run, TermRuns};
use super::sums::{FileSums, Sum};
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

    /// Adds it to those of its term, of which `next` is the first that can follow. One number says how
    /// many files are between, and whether the term is once in the text, as most are; otherwise a second
    /// one has the counts.
    fn write(self, next: u32, run: &mut Run) {
        let is_once = self.0 as u8 == ONCE;
        run.push((self.file() - next) << 1 | u32::from(is_once));
        if !is_once {
            run.push(self.0 & 0xff);
        }
    }

    /// Reads what [`Posting::write`] has written.
    fn read(numbers: &mut Numbers<'_>, next: u32) -> Option<Self> {
        let first = numbers.next()?;
        let counts = if first & 1 == 1 { u32::from(ONCE) } else { numbers.next()? };
        Some(Self((next + (first >> 1)) << 8 | counts))
    }
}

/// The counts of a term that is once in the text.
const ONCE: u8 = 1 << 4;

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
    sums: FileSums,
}

impl RankBatch {
    /// Adds a file, whose text is cut into blocks, and counts the terms of these. Returns its number in the
    /// batch, from 0 on; `None` if the batch is full.
    pub fn push(&mut self, cut: &mut Cut, path: &str, text: &[u8]) -> Option<u32> {
        let mut sums = std::mem::take(&mut self.sums);
        sums.count(cut, path, text);
        let number = self.number(Lengths { body: sums.body, path: sums.path.len() as u32 })?;
        let in_path = |term| sums.path.iter().filter(|&&other| other == term).count() as u32;
        for Sum { term, body, name } in sums.all() {
            self.post(term, Posting::new(number, Fields { body, name, path: in_path(term) }));
        }
        for (at, &term) in sums.path.iter().enumerate() {
            if !sums.has(term) && !sums.path[..at].contains(&term) {
                let fields = Fields { path: in_path(term), ..Fields::default() };
                self.post(term, Posting::new(number, fields));
            }
        }
        self.sums = sums;
        Some(number)
    }

    /// Does the same with the terms of a query alone, of blocks that are counted.
    pub(super) fn push_asked(&mut self, file: &FileBlocks, query: &RankQuery) -> Option<u32> {
        let number = self.number(Lengths { body: file.terms(), path: file.path.len() as u32 })?;
        for QueryTerm { term, .. } in &query.terms {
            let (body, name) = file.sum_of(*term);
            let path = file.path.iter().filter(|&other| other == term).count() as u32;
            if body + name + path > 0 {
                self.post(*term, Posting::new(number, Fields { body, name, path }));
            }
        }
        Some(number)
    }

    /// Returns the number of the next file, and takes it.
    fn number(&mut self, lengths: Lengths) -> Option<u32> {
        let number = self.lengths.len();
        if number == MAX_FILES {
            return None;
        }
        self.lengths.push(lengths);
        u32::try_from(number).ok()
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
        Segment::of(&self.postings, self.lengths)
    }
}

/// The terms of files, each with its files in the order of their numbers.
#[derive(Debug, Default)]
pub struct Segment {
    postings: TermRuns,
    pub(super) lengths: Vec<Lengths>,
}

impl Segment {
    /// `sorted` has each term in the upper half and its posting in the lower.
    fn of(sorted: &[u64], lengths: Vec<Lengths>) -> Self {
        let (mut postings, mut run) = (TermRuns::default(), Run::default());
        for of_term in sorted.chunk_by(|a, b| a >> 32 == b >> 32) {
            let mut next = 0;
            for &one in of_term {
                let posting = Posting(one as u32);
                posting.write(next, &mut run);
                next = posting.file() + 1;
            }
            postings.push((of_term[0] >> 32) as u32, &mut run);
        }
        postings.shrink_to_fit();
        Self { postings, lengths }
    }

    /// Returns the files with a term.
    pub(super) fn postings(&self, term: Term) -> impl Iterator<Item = Posting> {
        postings(self.postings.get(term))
    }

    /// Returns every term with its postings, each in one number, in order. `add` is added to the
    /// numbers of the files.
    fn pairs(&self, add: u32) -> impl Iterator<Item = u64> {
        self.postings.iter().flat_map(move |(term, numbers)| {
            postings(numbers).map(move |one| u64::from(term) << 32 | u64::from(one.0 + (add << 8)))
        })
    }

    /// Returns one segment with the files of both, those of `after` behind its own. Together they have
    /// less than 2^24 files, beyond which a number would reach into the term.
    pub(super) fn merged(self, after: &Self) -> Self {
        let count = self.lengths.len() as u32;
        let mut pairs: Vec<u64> = Vec::new();
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
        let mut lengths = self.lengths.clone();
        lengths.extend(&after.lengths);
        Self::of(&pairs, lengths)
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
        self.postings.bytes() + self.lengths.capacity() * size_of::<Lengths>()
    }
}

fn postings(mut numbers: Numbers<'_>) -> impl Iterator<Item = Posting> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let one = Posting::read(&mut numbers, next)?;
        next = one.file() + 1;
        Some(one)
    })
}
