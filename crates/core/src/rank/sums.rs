//! Counts how often each term is in a file as a whole.

use super::blocks::path_terms;
use super::cut::Cut;
use super::tokens::{Term, Tokenizer};

/// The least number of slots of a table; always a power of two.
const MIN_SLOTS: usize = 1024;

/// How often a term is in the text of a file, and in the names of the definitions of its blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub term: Term,
    pub body: u32,
    pub name: u32,
}

/// The sums of a file, in a hash table with linear probing that is used again for the next one. A term
/// is a hash already.
#[derive(Debug, Default)]
pub(super) struct FileSums {
    tokenizer: Tokenizer,
    table: Table,
    /// The terms of the path, without the ending.
    pub path: Vec<Term>,
    /// The number of terms in the text.
    pub body: u32,
}

#[derive(Debug, Default)]
struct Table {
    /// A slot that counts nothing is free.
    slots: Vec<Sum>,
    /// The indexes of the others.
    used: Vec<u32>,
}

impl FileSums {
    /// Counts the terms of a text and of its blocks, instead of those of the text before.
    pub fn count(&mut self, cut: &mut Cut, path: &str, text: &[u8]) {
        let Self { tokenizer, table, .. } = self;
        table.clear();
        self.path = path_terms(path, tokenizer);
        self.body = 0;
        let mut blocks = cut.blocks(text);
        tokenizer.terms(text, |term, offset| {
            self.body += 1;
            cut.parts[blocks.at(offset)].terms += 1;
            table.sum(term).body += 1;
        });
        for number in cut.parts.iter().filter_map(|part| part.definition) {
            let name = cut.definitions[number as usize].name_in(text);
            tokenizer.terms(name, |term, _| table.sum(term).name += 1);
        }
    }

    /// Returns the sums, in no order.
    pub fn all(&self) -> impl Iterator<Item = Sum> {
        self.table.used.iter().map(|&at| self.table.slots[at as usize])
    }

    /// Reports whether a term is in the text or a name.
    pub fn has(&self, term: Term) -> bool {
        let slots = &self.table.slots;
        !slots.is_empty() && is_used(&slots[place(slots, term)])
    }
}

impl Table {
    fn clear(&mut self) {
        for at in self.used.drain(..) {
            self.slots[at as usize] = Sum::default();
        }
    }

    /// Returns the sum of a term. The caller adds to it.
    fn sum(&mut self, term: Term) -> &mut Sum {
        if 2 * self.used.len() >= self.slots.len() {
            self.grow();
        }
        let at = place(&self.slots, term);
        if !is_used(&self.slots[at]) {
            self.used.push(at as u32);
            self.slots[at].term = term;
        }
        &mut self.slots[at]
    }

    fn grow(&mut self) {
        let size = (2 * self.slots.len()).max(MIN_SLOTS);
        let before = std::mem::replace(&mut self.slots, vec![Sum::default(); size]);
        for at in &mut self.used {
            let sum = before[*at as usize];
            *at = place(&self.slots, sum.term) as u32;
            self.slots[*at as usize] = sum;
        }
    }
}

fn is_used(sum: &Sum) -> bool {
    sum.body | sum.name > 0
}

/// Returns the slot of a term: its own, or the free one for it.
fn place(slots: &[Sum], term: Term) -> usize {
    let mask = slots.len() - 1;
    let mut at = term as usize & mask;
    while is_used(&slots[at]) && slots[at].term != term {
        at = (at + 1) & mask;
    }
    at
}
