//! How a text is cut into blocks at its definitions.
//!
//! A block begins with the comment above a definition, or with the definition, and ends before the
//! next; a longer one is cut. The lines before the first definition are a block, and a file without
//! definitions is cut every [`MAX_BLOCK_LINES`] lines.
//!
//! Finding the definitions takes longer than looking for a few words, so that a cut is kept for each
//! file of a tree, in some ten bytes a block ([`PackedCut`]).

use std::ops::Range;
use std::sync::Arc;

use super::runs::{Numbers, Run};
use super::tokens::Tokenizer;
use crate::definitions::{Definition, Kind, definitions, language_of};

/// The maximum number of lines of a block.
pub const MAX_BLOCK_LINES: u32 = 60;
/// The maximum number of definitions around one whose names count for its blocks, so that the time is
/// linear in the text.
const MAX_PARENTS: usize = 8;
/// The bytes of a name that count, for the same reason: a heading can be as long as its file.
const MAX_NAME_BYTES: usize = 200;

/// A definition that begins a block, or is around one that does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub kind: Kind,
    /// The line with its name, from 1.
    pub line: u32,
    /// Its name, as bytes of the text.
    pub name: Range<u32>,
    /// The index of the definition around it, which is smaller than its own.
    parent: Option<u32>,
}

impl Named {
    /// Returns its name in the text.
    pub fn name_in<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        text.get(self.name.start as usize..self.name.end as usize).unwrap_or_default()
    }
}

/// Some consecutive lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The first line, from 1.
    pub first: u32,
    /// The last line, inclusive.
    pub last: u32,
    /// The index of the definition with which it begins, or of which it is a further part.
    pub definition: Option<u32>,
    /// The number of terms, once they are counted.
    pub terms: u32,
}

/// A text as the blocks into which it is cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    pub(super) parts: Vec<Part>,
    pub(super) definitions: Vec<Named>,
}

/// Where the blocks of a text end, and the last one that was asked for.
pub(super) struct BlockOffsets {
    ends: Vec<usize>,
    block: usize,
}

impl BlockOffsets {
    /// Returns the index of the block at an offset in the text, which is not less than that before. In a
    /// text that is longer than the one that was cut, the last block has the rest.
    pub fn at(&mut self, offset: usize) -> usize {
        while offset >= self.ends[self.block] && self.block + 1 < self.ends.len() {
            self.block += 1;
        }
        self.block
    }
}

/// A [`Cut`] in little memory, which clones share: numbers in the code LEB128.
#[derive(Clone, Debug, Default)]
pub struct PackedCut(Arc<[u8]>);

impl Cut {
    /// Cuts a text. `path` says the language.
    pub fn of(path: &str, text: &[u8]) -> Self {
        let found = language_of(path).map_or(Vec::new(), |language| definitions(language, text));
        let mut cut = Self::default();
        let mut numbers: Vec<Option<u32>> = vec![None; found.len()];
        let mut starts: Vec<(u32, Option<usize>)> = vec![(1, None)];
        for (at, one) in found.iter().enumerate().filter(|(_, one)| one.kind != Kind::Key) {
            match starts.last_mut() {
                Some((line, first)) if one.lead_line <= *line => {
                    first.get_or_insert(at);
                }
                _ => starts.push((one.lead_line, Some(at))),
            }
        }
        // No line begins after a final newline.
        let begun = text.strip_suffix(b"\n").unwrap_or(text);
        let lines = memchr::memchr_iter(b'\n', begun).count() as u32 + 1;
        let ends = starts.iter().skip(1).map(|(at, _)| at - 1).chain([lines]);
        for (&(mut first, definition), end) in starts.iter().zip(ends) {
            let definition = definition.map(|at| cut.name(&found, &mut numbers, at));
            loop {
                let last = end.min(first + MAX_BLOCK_LINES - 1);
                cut.parts.push(Part { first, last, definition, terms: 0 });
                if last >= end {
                    break;
                }
                first = last + 1;
            }
        }
        cut
    }

    /// Adds a definition with those around it, and returns its index. `numbers` has the indexes of those
    /// that were added.
    fn name(&mut self, found: &[Definition], numbers: &mut [Option<u32>], at: usize) -> u32 {
        let mut missing = Vec::new();
        let mut next = Some(at);
        while let Some(at) = next.filter(|&at| numbers[at].is_none()) {
            missing.push(at);
            next = found[at].parent.map(|parent| parent as usize);
        }
        let mut last = next.and_then(|at| numbers[at]);
        for at in missing.into_iter().rev() {
            let Definition { kind, ref name, start_line: line, .. } = found[at];
            let end = name.end.min(name.start + MAX_NAME_BYTES);
            let name = name.start as u32..end as u32;
            let number = self.definitions.len() as u32;
            self.definitions.push(Named { kind, line, name, parent: last });
            numbers[at] = Some(number);
            last = Some(number);
        }
        last.unwrap_or_default()
    }

    /// Returns the definition with a number and the next ones around it, the innermost first.
    pub(super) fn around(&self, number: u32) -> impl Iterator<Item = (usize, &Named)> {
        let named = |number: u32| Some((number as usize, self.definitions.get(number as usize)?));
        let outer = move |one: &(usize, &Named)| named(one.1.parent?);
        std::iter::successors(named(number), outer).take(MAX_PARENTS + 1)
    }

    /// Returns for each block the offset of the byte after it.
    fn ends(&self, text: &[u8]) -> Vec<usize> {
        let mut newlines = memchr::memchr_iter(b'\n', text);
        let end = |part: &Part| {
            let newline = newlines.nth((part.last - part.first) as usize);
            newline.map_or(text.len(), |at| at + 1)
        };
        self.parts.iter().map(end).collect()
    }

    /// Counts the terms of each block of the text.
    pub fn count(&mut self, text: &[u8], tokenizer: &mut Tokenizer) {
        let mut blocks = self.blocks(text);
        tokenizer.count(text, |offset| self.parts[blocks.at(offset)].terms += 1);
    }

    /// Returns the blocks by their offsets in the text.
    pub(super) fn blocks(&self, text: &[u8]) -> BlockOffsets {
        BlockOffsets { ends: self.ends(text), block: 0 }
    }

    /// Packs it.
    pub fn packed(&self) -> PackedCut {
        let mut run = Run::default();
        run.push(self.definitions.len() as u32);
        let (mut line, mut offset) = (0, 0);
        for (number, one) in (0..).zip(&self.definitions) {
            run.push(one.parent.map_or(0, |parent| number - parent));
            run.push(one.kind as u32);
            run.push(signed(one.line, line));
            run.push(signed(one.name.start, offset));
            run.push(one.name.end - one.name.start);
            (line, offset) = (one.line, one.name.end);
        }
        let mut next = 0;
        for part in &self.parts {
            run.push(part.last - part.first);
            run.push(part.terms);
            run.push(part.definition.map_or(0, |number| 1 + signed(number, next)));
            next = part.definition.map_or(next, |number| number + 1);
        }
        PackedCut(run.into_bytes().into())
    }
}

impl PackedCut {
    /// Unpacks it.
    pub fn unpacked(&self) -> Cut {
        let mut numbers = Numbers::of(&self.0);
        let mut read = || numbers.next().unwrap_or_default();
        let mut cut = Cut::default();
        let (mut line, mut offset) = (0, 0);
        for number in 0..read() {
            let parent = number.checked_sub(read()).filter(|&parent| parent < number);
            let kind = Kind::ALL.get(read() as usize).copied().unwrap_or(Kind::Key);
            line = unsigned(read(), line);
            let begin = unsigned(read(), offset);
            offset = begin + read();
            cut.definitions.push(Named { kind, line, name: begin..offset, parent });
        }
        let (mut first, mut next) = (1, 0);
        while let Some(more) = numbers.next() {
            let terms = numbers.next().unwrap_or_default();
            let definition = numbers.next().unwrap_or_default();
            let definition = definition.checked_sub(1).map(|number| unsigned(number, next));
            next = definition.map_or(next, |number| number + 1);
            cut.parts.push(Part { first, last: first + more, definition, terms });
            first += more + 1;
        }
        cut
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.0.len()
    }
}

/// Returns the distance from a number to another, so that small ones of both signs are small.
fn signed(number: u32, from: u32) -> u32 {
    let distance = number.wrapping_sub(from).cast_signed();
    (distance << 1 ^ distance >> 31).cast_unsigned()
}

/// Returns the number of which [`signed`] has returned the distance.
fn unsigned(distance: u32, from: u32) -> u32 {
    from.wrapping_add(distance >> 1 ^ (distance & 1).wrapping_neg())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A cut comes back as it was, and its blocks are all lines, each once.
        #[test]
        fn a_cut_comes_back(
            text in "((class|def|  def|    if) [a-c]{1,250}[:(]?\n|#.*\n|\n{1,99}){0,20}",
            path in "a\\.(py|ts|md|txt)",
        ) {
            let mut cut = Cut::of(&path, text.as_bytes());
            cut.count(text.as_bytes(), &mut Tokenizer::default());
            prop_assert_eq!(&cut.packed().unpacked(), &cut);
            let mut next = 1;
            for part in &cut.parts {
                prop_assert!(part.first == next && part.last >= part.first);
                next = part.last + 1;
            }
            // No line begins after a final newline; a file without bytes has one.
            let lines = text.split_inclusive('\n').count().max(1);
            prop_assert_eq!(next as usize - 1, lines);
        }

        #[test]
        fn distances_come_back(number: u32, from: u32) {
            prop_assert_eq!(unsigned(signed(number, from), from), number);
        }
    }
}
