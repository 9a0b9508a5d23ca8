//! A file as blocks of lines, with the terms of each: all of them, or those of a query.

use std::borrow::Cow;

use super::cut::{Cut, Part};
use super::found::RankLimits;
use super::query::RankQuery;
use super::runs::{Numbers, Run, TermRuns};
use super::tokens::{Term, Tokenizer, hash};
use crate::definitions::Kind;
use crate::encoding::{Encoding, encoding_from_bom};
use crate::search::is_binary_head;

/// The definition with which a block begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        let mut cut = Cut::of(path, text);
        let (mut blocks, mut counting) = (cut.blocks(text), Counting::default());
        tokenizer.terms(text, |term, offset| {
            let block = blocks.at(offset);
            cut.parts[block].terms += 1;
            counting.add(term, block, Field::Body);
        });
        Self::named(&cut, (path, text), tokenizer, counting, |_| true)
    }

    /// Counts the terms of a query alone, in a text of which the blocks and the numbers of their terms are
    /// known.
    pub fn asked(
        cut: &Cut,
        (path, text): (&str, &[u8]),
        tokenizer: &mut Tokenizer,
        query: &RankQuery,
    ) -> Self {
        let (mut blocks, mut counting) = (cut.blocks(text), Counting::default());
        tokenizer.find(text, &query.heads, |term, offset| {
            if query.has(term) {
                counting.add(term, blocks.at(offset), Field::Body);
            }
        });
        Self::named(cut, (path, text), tokenizer, counting, |term| query.has(term))
    }

    /// Adds the names of the definitions to the terms of the texts of blocks.
    fn named(
        cut: &Cut,
        (path, text): (&str, &[u8]),
        tokenizer: &mut Tokenizer,
        mut counting: Counting,
        wants: impl Fn(Term) -> bool,
    ) -> Self {
        let mut file = Self { path: path_terms(path, tokenizer), ..Self::default() };
        let names = Names::of(cut, text, tokenizer, wants);
        for (at, part) in cut.parts.iter().enumerate() {
            let heading = part.definition.and_then(|number| {
                for (place, (number, _)) in cut.around(number).enumerate() {
                    let field = if place == 0 { Field::Name } else { Field::Parent };
                    names.terms(number).iter().for_each(|&term| counting.add(term, at, field));
                }
                names.headings.get(number as usize).copied()
            });
            let Part { first, last, terms, .. } = *part;
            file.blocks.push(Block { first, last, heading, terms });
        }
        file.occurrences = counting.occurrences();
        file
    }

    /// Returns the occurrences of a term, by block.
    pub(super) fn occurrences(&self, term: Term) -> impl Iterator<Item = Occurrence> {
        occurrences(self.occurrences.get(term))
    }

    /// Returns how often a term is in the text, and in the names of definitions.
    pub(super) fn sum_of(&self, term: Term) -> (u32, u32) {
        self.occurrences(term).fold((0, 0), |(body, name), one| {
            (body + u32::from(one.body), name + u32::from(one.name))
        })
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

/// The names of the definitions of a text, by the numbers of the definitions.
#[derive(Default)]
struct Names {
    headings: Vec<Heading>,
    /// The wanted terms of all names, one name after the other.
    terms: Vec<Term>,
    /// For each name, the end of its terms.
    ends: Vec<usize>,
}

impl Names {
    fn of(cut: &Cut, text: &[u8], tokenizer: &mut Tokenizer, wants: impl Fn(Term) -> bool) -> Self {
        let mut names = Self::default();
        for one in &cut.definitions {
            let letters = one.name_in(text);
            let mut whole = 0;
            tokenizer.terms(letters, |term, _| {
                names.terms.extend(Some(term).filter(|&term| wants(term)));
                whole = term;
            });
            names.ends.push(names.terms.len());
            let spelling = hash(letters);
            names.headings.push(Heading { line: one.line, kind: one.kind, name: whole, spelling });
        }
        names
    }

    fn terms(&self, number: usize) -> &[Term] {
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.terms[begin..self.ends[number]]
    }
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

/// Returns the terms of a path without the ending of its name.
pub(super) fn path_terms(path: &str, tokenizer: &mut Tokenizer) -> Vec<Term> {
    let words = match path.rsplit_once('.') {
        Some((words, ending)) if !ending.contains('/') && !words.is_empty() => words,
        _ => path,
    };
    let mut terms = Vec::new();
    tokenizer.terms(words.as_bytes(), |term, _| terms.push(term));
    terms
}
