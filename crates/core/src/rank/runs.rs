//! Sorted terms, each with a run of numbers, in little memory.
//!
//! The numbers are in the code LEB128: seven bits a byte, the lowest first, so that small ones, as
//! distances between neighbours are, take one byte. Where the run of every [`STRIDE`]th term begins is
//! known; from there the lengths of the runs lead to the others.

use super::tokens::Term;

/// The number of terms from one whose place is known to the next.
const STRIDE: usize = 8;

/// Terms in ascending order, each with its numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct TermRuns {
    terms: Vec<Term>,
    /// For every [`STRIDE`]th term, where its run begins in `bytes`.
    places: Vec<u32>,
    /// For each term the length of its run in bytes, and the run.
    bytes: Vec<u8>,
}

/// The numbers of a term that are still to be read.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers<'r>(&'r [u8]);

/// The numbers of one term while they are collected.
#[derive(Debug, Default)]
pub(super) struct Run(Vec<u8>);

impl Run {
    /// Adds a number.
    pub fn push(&mut self, number: u32) {
        write(&mut self.0, number);
    }

    /// Returns the code of the numbers.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

impl TermRuns {
    /// Adds a term, which is greater than all before it, with the numbers of `run`, and empties that.
    pub fn push(&mut self, term: Term, run: &mut Run) {
        if self.terms.len().is_multiple_of(STRIDE) {
            self.places.push(self.bytes.len() as u32);
        }
        self.terms.push(term);
        write(&mut self.bytes, run.0.len() as u32);
        self.bytes.append(&mut run.0);
    }

    /// Returns the numbers of a term; none for an unknown one.
    pub fn get(&self, term: Term) -> Numbers<'_> {
        let Ok(at) = self.terms.binary_search(&term) else { return Numbers::default() };
        let mut rest = Numbers(&self.bytes[self.places[at / STRIDE] as usize..]);
        for _ in 0..at % STRIDE {
            rest.split_run();
        }
        rest.split_run()
    }

    /// Returns every term with its numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Term, Numbers<'_>)> {
        let mut rest = Numbers(&self.bytes);
        self.terms.iter().map(move |&term| (term, rest.split_run()))
    }

    /// Gives back the memory for further terms.
    pub fn shrink_to_fit(&mut self) {
        self.terms.shrink_to_fit();
        self.places.shrink_to_fit();
        self.bytes.shrink_to_fit();
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.terms.capacity() * size_of::<Term>()
            + self.places.capacity() * size_of::<u32>()
            + self.bytes.capacity()
    }
}

impl<'r> Numbers<'r> {
    /// Reads the numbers that [`Run::into_bytes`] has returned.
    pub fn of(code: &'r [u8]) -> Self {
        Self(code)
    }

    /// Takes the run at the beginning of the runs of several terms.
    fn split_run(&mut self) -> Numbers<'r> {
        let length = self.next().unwrap_or_default() as usize;
        let (run, rest) = self.0.split_at(length);
        self.0 = rest;
        Numbers(run)
    }
}

impl Iterator for Numbers<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
        }
    }
}

fn write(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Terms come back with their numbers, whether asked for or listed.
        #[test]
        fn numbers_come_back(
            all in prop::collection::btree_map(any::<u32>(), prop::collection::vec(any::<u32>(), 0..9), 0..40),
            other in any::<u32>(),
        ) {
            let mut runs = TermRuns::default();
            let mut run = Run::default();
            for (&term, numbers) in &all {
                numbers.iter().for_each(|&number| run.push(number));
                runs.push(term, &mut run);
            }
            let listed: BTreeMap<Term, Vec<u32>> =
                runs.iter().map(|(term, numbers)| (term, numbers.collect())).collect();
            prop_assert_eq!(&listed, &all);
            for (&term, numbers) in &all {
                prop_assert_eq!(&runs.get(term).collect::<Vec<u32>>(), numbers);
            }
            prop_assert_eq!(runs.get(other).count(), all.get(&other).map_or(0, Vec::len));
        }
    }
}
