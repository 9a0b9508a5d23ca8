//! Places where an old text stands, and why there may be none.

use std::ops::Range;

use super::alignment::{Alignment, Cut, Step};

/// A place for the old text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    pub alignment: Alignment,
    /// The share of the old text that was found, 0 to 1.
    pub score: f64,
}

impl Candidate {
    /// The first line of the file, 1-based.
    pub(super) fn line(&self) -> u64 {
        self.alignment.file.start as u64 + 1
    }
}

/// Places that fit equally well. There may be very many, and few of them are
/// wanted: those where every line says the same are their first lines alone.
#[derive(Debug)]
pub(super) enum Candidates {
    /// Line for line: the first lines of the file, how many, and what it costs.
    Whole { firsts: Vec<usize>, lines: usize, cost: i32 },
    /// By their alignments.
    Aligned(Vec<Candidate>),
}

impl Candidates {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Whole { firsts, .. } => firsts.len(),
            Self::Aligned(places) => places.len(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The lines of the file that a place takes.
    pub(super) fn lines_of(&self, at: usize) -> Range<usize> {
        match self {
            Self::Whole { firsts, lines, .. } => firsts[at]..firsts[at] + lines,
            Self::Aligned(places) => places[at].alignment.file.clone(),
        }
    }

    /// The first lines of all, 1-based.
    pub(super) fn first_lines(&self) -> Vec<u64> {
        (0..self.len()).map(|at| self.lines_of(at).start as u64 + 1).collect()
    }

    pub(super) fn get(&self, at: usize) -> Candidate {
        match self {
            Self::Whole { firsts, lines, cost } => even(firsts[at], *lines, *cost),
            Self::Aligned(places) => places[at].clone(),
        }
    }

    /// Keeps some.
    pub(super) fn retain(&mut self, keep: impl Fn(Range<usize>) -> bool) {
        match self {
            Self::Whole { firsts, lines, .. } => {
                firsts.retain(|&first| keep(first..first + *lines))
            }
            Self::Aligned(places) => places.retain(|place| keep(place.alignment.file.clone())),
        }
    }

    /// Leaves out places of which a line belongs to one before them already.
    pub(super) fn without_overlaps(&mut self) {
        if let Self::Whole { firsts, lines, .. } = self {
            let mut free = 0;
            firsts.retain(|&first| {
                let keeps = first >= free;
                free = if keeps { first + *lines } else { free };
                keeps
            });
        }
    }
}

/// Line for line from the file's line `first` on.
fn even(first: usize, lines: usize, cost: i32) -> Candidate {
    let steps = (0..lines).map(|at| Step::Pair {
        old: at..at + 1,
        file: first + at..first + at + 1,
        likeness: 1.0,
        cut: Cut::default(),
    });
    let alignment = Alignment { steps: steps.collect(), file: first..first + lines, cost };
    Candidate { alignment, score: 1.0 }
}

/// Why there is no place.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NoMatch {
    /// Nothing is like it.
    Nowhere,
    /// This would be it, but for this line (0-based) of the old text.
    Different { place: Candidate, line: usize },
    /// These places fit equally well.
    Several(Vec<Candidate>),
    /// Looking any further would take too long.
    TooLarge,
}
