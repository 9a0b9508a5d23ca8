//! A file as blocks of lines, with the terms of each.
//!
//! A block begins with the comment above a definition, or with the definition, and ends before the
//! next; a longer one is cut. The lines before the first definition are a block, and a file without
//! definitions is cut every [`MAX_BLOCK_LINES`] lines.

use std::borrow::Cow;

use super::found::RankLimits;
use super::runs::{Numbers, Run, TermRuns};
use super::tokens::{Term, Tokenizer, hash};
use crate::definitions::{Definition, Kind, definitions, language_of};
use crate::encoding::{Encoding, encoding_from_bom};
use crate::search::is_binary_head;

/// The maximum number of lines of a block.
pub const MAX_BLOCK_LINES: u32 = 60;
/// The maximum number of definitions around one whose names count for its blocks, so that the time is
/// linear in the text.
const MAX_PARENTS: usize = 8;
/// The bytes of a name that count, for the same reason: a heading can be as long as its file.
const MAX_NAME_BYTES: usize = 200;

/// The definition with which a block begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heading {
    /// The line with its name, from 1.
    pub line: u32,
    pub kind: Kind,
    /// The term of its whole name.
    pub name: Term,
    /// The hash of its name as written.
    pub spelling: Term,
}

/// Some consecutive lines of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// The first line, from 1.
    pub first: u32,
    /// The last line, inclusive.
    pub last: u32,
    pub heading: Option<Heading>,
    /// The number of terms.
    pub terms: u32,
}

/// How often a term is in a block, each count at most 255.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occurrence {
    /// The index of the block.
    pub block: u32,
    pub body: u8,
    /// In the name of its definition.
    pub name: u8,
    /// In the names of the definitions around that.
    pub parent: u8,
}

impl Occurrence {
    /// Adds it to those of its term. `next` is the block after that of the one before. One number says
    /// how many blocks are between, and whether it is once in the text, as most are; otherwise a second
    /// one has the counts.
    fn write(self, next: u32, run: &mut Run) {
        let is_once = (self.body, self.name, self.parent) == (1, 0, 0);
        run.push((self.block - next) << 1 | u32::from(is_once));
        if !is_once {
            let [body, name, parent] = [self.body, self.name, self.parent].map(u32::from);
            run.push(body | name << 8 | parent << 16);
        }
    }

    /// Reads what [`Occurrence::write`] has written.
    fn read(numbers: &mut Numbers<'_>, next: u32) -> Option<Self> {
        let first = numbers.next()?;
        let counts = if first & 1 == 1 { 1 } else { numbers.next()? };
        let [body, name, parent] = [counts, counts >> 8, counts >> 16].map(|count| count as u8);
        Some(Self { block: next + (first >> 1), body, name, parent })
    }
}

/// The blocks of a file and their terms.
#[derive(Clone, Debug, Default)]
pub struct FileBlocks {
    pub(super) blocks: Vec<Block>,
    /// The occurrences of each term, by block.
    occurrences: TermRuns,
    /// The terms of the path, without the ending.
    pub(super) path: Vec<Term>,
}

/// The places in which a term is counted.
#[derive(Clone, Copy)]
enum Field {
    Body,
    Name,
    Parent,
}

/// The occurrences of terms so far, one number each: term, block and field.
#[derive(Default)]
struct Counting(Vec<u64>);

impl Counting {
    fn add(&mut self, term: Term, block: usize, field: Field) {
        self.0.push(u64::from(term) << 32 | (block as u64) << 2 | field as u64);
    }

    fn occurrences(mut self) -> TermRuns {
        self.0.sort_unstable();
        let (mut occurrences, mut run) = (TermRuns::default(), Run::default());
        for of_term in self.0.chunk_by(|a, b| a >> 32 == b >> 32) {
            let mut next = 0;
            for of_block in of_term.chunk_by(|a, b| a >> 2 == b >> 2) {
                let of = |field: Field| {
                    of_block.iter().filter(|one| **one & 3 == field as u64).count().min(255) as u8
                };
                let block = of_block[0] as u32 >> 2;
                let [body, name, parent] = [Field::Body, Field::Name, Field::Parent].map(of);
                Occurrence { block, body, name, parent }.write(next, &mut run);
                next = block + 1;
            }
            occurrences.push((of_term[0] >> 32) as u32, &mut run);
        }
        occurrences.shrink_to_fit();
        occurrences
    }
}

impl FileBlocks {
    /// Cuts a text into blocks and counts their terms. `path` is relative and says the language.
    pub fn of(path: &str, text: &[u8], tokenizer: &mut Tokenizer) -> Self {
        let found = language_of(path).map_or(Vec::new(), |language| definitions(language, text));
        let mut file = Self::default();
        let words = path_words(path);
        tokenizer.terms(words.as_bytes(), |term, _| file.path.push(term));
        let mut counting = Counting::default();
        file.cut(text, &found, &mut |block, definition| {
            let text = |of: &Definition| {
                let name = text.get(of.name.clone()).unwrap_or_default();
                &name[..name.len().min(MAX_NAME_BYTES)]
            };
            let mut whole = 0;
            tokenizer.terms(text(definition), |term, _| {
                counting.add(term, block, Field::Name);
                whole = term;
            });
            let outer = |of: &Definition| of.parent.and_then(|parent| found.get(parent as usize));
            let around = std::iter::successors(outer(definition), |parent| outer(parent));
            for parent in around.take(MAX_PARENTS) {
                tokenizer.terms(text(parent), |term, _| counting.add(term, block, Field::Parent));
            }
            let spelling = hash(text(definition));
            Heading { line: definition.start_line, kind: definition.kind, name: whole, spelling }
        });
        let (ends, mut block) = (file.ends(text), 0);
        tokenizer.terms(text, |term, offset| {
            while offset >= ends[block] {
                block += 1;
            }
            file.blocks[block].terms += 1;
            counting.add(term, block, Field::Body);
        });
        file.occurrences = counting.occurrences();
        file
    }

    /// Sets the blocks. `heading` is called for each that begins with a definition.
    fn cut(
        &mut self,
        text: &[u8],
        found: &[Definition],
        heading: &mut dyn FnMut(usize, &Definition) -> Heading,
    ) {
        let mut starts: Vec<(u32, Option<&Definition>)> = vec![(1, None)];
        for definition in found.iter().filter(|definition| definition.kind != Kind::Key) {
            match starts.last_mut() {
                Some((at, first)) if definition.lead_line <= *at => {
                    first.get_or_insert(definition);
                }
                _ => starts.push((definition.lead_line, Some(definition))),
            }
        }
        // No line begins after a final newline.
        let begun = text.strip_suffix(b"\n").unwrap_or(text);
        let lines = memchr::memchr_iter(b'\n', begun).count() as u32 + 1;
        let ends = starts.iter().skip(1).map(|(at, _)| at - 1).chain([lines]);
        for (&(mut first, definition), end) in starts.iter().zip(ends) {
            loop {
                let last = end.min(first + MAX_BLOCK_LINES - 1);
                let at = self.blocks.len();
                let heading = definition.map(|definition| heading(at, definition));
                self.blocks.push(Block { first, last, heading, terms: 0 });
                if last >= end {
                    break;
                }
                first = last + 1;
            }
        }
    }

    /// Returns for each block the offset of the byte after it.
    fn ends(&self, text: &[u8]) -> Vec<usize> {
        let mut newlines = memchr::memchr_iter(b'\n', text);
        let mut ends: Vec<usize> = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            let newline = newlines.nth((block.last - block.first) as usize);
            ends.push(newline.map_or(text.len(), |at| at + 1));
        }
        ends
    }

    /// Returns the occurrences of a term, by block.
    pub(super) fn occurrences(&self, term: Term) -> impl Iterator<Item = Occurrence> {
        occurrences(self.occurrences.get(term))
    }

    /// Returns each term with how often it is in the text, and in the names of definitions.
    pub(super) fn sums(&self) -> impl Iterator<Item = (Term, u32, u32)> {
        self.occurrences.iter().map(|(term, numbers)| {
            let (body, name) = sum(occurrences(numbers));
            (term, body, name)
        })
    }

    /// Returns how often a term is in the text, and in the names of definitions.
    pub(super) fn sum_of(&self, term: Term) -> (u32, u32) {
        sum(self.occurrences(term))
    }

    /// Returns the number of terms in the text.
    pub(super) fn terms(&self) -> u32 {
        self.blocks.iter().map(|block| block.terms).sum()
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.occurrences.bytes()
            + self.blocks.capacity() * size_of::<Block>()
            + self.path.capacity() * size_of::<Term>()
    }
}

fn occurrences(mut numbers: Numbers<'_>) -> impl Iterator<Item = Occurrence> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let one = Occurrence::read(&mut numbers, next)?;
        next = one.block + 1;
        Some(one)
    })
}

/// Returns how often a term is in a text, and in the names of definitions.
fn sum(all: impl Iterator<Item = Occurrence>) -> (u32, u32) {
    all.fold((0, 0), |(body, name), one| (body + u32::from(one.body), name + u32::from(one.name)))
}

/// Returns the text of a content that is ranked, without a byte order mark and in UTF-8; `None` for
/// a binary or too large one.
pub fn ranked_text(content: &[u8]) -> Option<Cow<'_, [u8]>> {
    if content.len() > RankLimits::MAX_RANKED_BYTES as usize {
        return None;
    }
    let text = match encoding_from_bom(content) {
        None => Cow::Borrowed(content),
        Some(encoding) => match (encoding, &content[encoding.mark().len()..]) {
            (Encoding::UTF_8, body) => Cow::Borrowed(body),
            (_, body) => Cow::Owned(encoding.decode(body).text.into_owned().into_bytes()),
        },
    };
    (!is_binary_head(&text)).then_some(text)
}

/// Returns a path without the ending of its name.
fn path_words(path: &str) -> &str {
    match path.rsplit_once('.') {
        Some((words, ending)) if !ending.contains('/') && !words.is_empty() => words,
        _ => path,
    }
}
