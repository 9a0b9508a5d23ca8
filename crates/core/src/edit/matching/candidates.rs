//! Candidate positions for an old text, and the reasons why there may be none.

use std::ops::Range;

use super::alignment::{Alignment, AlignmentStep, Cut};

/// A position for the old text in the file.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::edit) struct Candidate {
    pub alignment: Alignment,
    /// The fraction of the old text that was found, 0 to 1.
    pub score: f64,
}

impl Candidate {
    /// Returns the first line of the position in the file, 1-based.
    pub(in crate::edit) fn line(&self) -> u64 {
        self.alignment.file.start as u64 + 1
    }
}

/// Positions at which the old text matches equally well. There may be very many, and few are used;
/// so positions at which every line is equal are stored by their first lines only.
#[derive(Debug)]
pub(in crate::edit) enum Candidates {
    /// Positions at which every line is equal: the first line (0-based) of each, the number of
    /// lines of each, and the cost of each.
    Whole { firsts: Vec<usize>, lines: usize, cost: i32 },
    /// Positions with their alignments.
    Aligned(Vec<Candidate>),
}

impl Candidates {
    pub(in crate::edit) fn len(&self) -> usize {
        match self {
            Self::Whole { firsts, .. } => firsts.len(),
            Self::Aligned(places) => places.len(),
        }
    }

    pub(in crate::edit) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the lines of the file (0-based) that the position with this index covers.
    pub(in crate::edit) fn lines_of(&self, at: usize) -> Range<usize> {
        match self {
            Self::Whole { firsts, lines, .. } => firsts[at]..firsts[at] + lines,
            Self::Aligned(places) => places[at].alignment.file.clone(),
        }
    }

    /// Returns the first line of each position, 1-based.
    pub(in crate::edit) fn first_lines(&self) -> Vec<u64> {
        (0..self.len()).map(|at| self.lines_of(at).start as u64 + 1).collect()
    }

    pub(in crate::edit) fn get(&self, at: usize) -> Candidate {
        match self {
            Self::Whole { firsts, lines, cost } => {
                position_of_equal_lines(firsts[at], *lines, *cost)
            }
            Self::Aligned(places) => places[at].clone(),
        }
    }

    /// Removes the positions for whose file lines `keep` returns false.
    pub(in crate::edit) fn retain(&mut self, keep: impl Fn(Range<usize>) -> bool) {
        match self {
            Self::Whole { firsts, lines, .. } => {
                firsts.retain(|&first| keep(first..first + *lines))
            }
            Self::Aligned(places) => places.retain(|place| keep(place.alignment.file.clone())),
        }
    }

    /// Removes positions that overlap an earlier one. Only positions at which every line is equal
    /// can be so many; others are left as they are.
    pub(in crate::edit) fn remove_overlaps(&mut self) {
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

/// Returns the position at which `lines` old lines equal the file's lines from `first` on.
fn position_of_equal_lines(first: usize, lines: usize, cost: i32) -> Candidate {
    let steps = (0..lines).map(|at| AlignmentStep::Pair {
        old: at..at + 1,
        file: first + at..first + at + 1,
        likeness: 1.0,
        cut: Cut::default(),
    });
    let alignment = Alignment { steps: steps.collect(), file: first..first + lines, cost };
    Candidate { alignment, score: 1.0 }
}

/// The reason why no position was found.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::edit) enum NoMatch {
    /// Nothing in the file is similar.
    Nowhere,
    /// The best position would match except for this line (0-based) of the old text.
    Different { place: Candidate, line: usize },
    /// Several positions match equally well.
    Several(Vec<Candidate>),
    /// The search would exceed the budget of the call.
    TooLarge,
}
