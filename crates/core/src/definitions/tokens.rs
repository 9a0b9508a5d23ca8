//! The words, signs, strings and paired brackets of a text.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// Letters, digits and `_`, also a number.
    Word,
    /// A string, character, regular expression or template.
    Literal,
    /// `(`, `[` or `{`.
    Open,
    /// `)`, `]` or `}`.
    Close,
    /// Any other single byte.
    Sign,
}

/// A token. It has the size of three `u32`, as there can be millions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte; of a bracket the index of its partner, or [`UNPAIRED`].
    pub end: u32,
    /// What it is.
    pub sort: Sort,
    /// Whether it is the first of its line.
    pub first: bool,
    /// The column after the spaces and tabs before it, where a tab goes to the next eighth.
    pub column: u16,
}

/// The partner of a bracket without one.
pub(super) const UNPAIRED: u32 = u32::MAX;

/// The tokens of a text, and where its comments are.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    /// The text.
    pub text: &'a [u8],
    /// All of them, in their order.
    pub list: Vec<Token>,
    /// The first and the last byte of each comment that begins its line.
    pub comments: Vec<(u32, u32)>,
    /// The offset of each `#define` of the preprocessor.
    pub defines: Vec<u32>,
    /// The bytes that were read for literals that turned out to be none or shorter.
    wasted: Cell<usize>,
    /// The tokens that were looked at ahead of a walk.
    steps: Cell<usize>,
    /// The line break or the end of the text after the heredocs that begin on the present line.
    pub heredocs: Cell<Option<usize>>,
    /// The offsets after each word that can end a heredoc.
    labels: HashMap<&'a [u8], Vec<u32>>,
}

impl<'a> Tokens<'a> {
    /// Returns a text without tokens. `labels` are the offsets after each word that can end a heredoc.
    pub fn none(text: &'a [u8], labels: HashMap<&'a [u8], Vec<u32>>) -> Self {
        Self {
            text,
            list: Vec::new(),
            comments: Vec::new(),
            defines: Vec::new(),
            wasted: Cell::new(0),
            steps: Cell::new(0),
            heredocs: Cell::new(None),
            labels,
        }
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns a token.
    pub fn get(&self, index: usize) -> Option<&Token> {
        self.list.get(index)
    }

    /// Returns the text of a token; that of a bracket is its byte.
    pub fn of(&self, index: usize) -> &'a [u8] {
        let Some(token) = self.list.get(index) else { return b"" };
        let end = match token.sort {
            Sort::Open | Sort::Close => token.start + 1,
            _ => token.end,
        };
        &self.text[token.start as usize..end as usize]
    }

    /// Returns whether a token is this text.
    pub fn is(&self, index: usize, text: &str) -> bool {
        let (own, text) = (self.of(index), text.as_bytes());
        // Most differ in the first byte, which costs no call.
        own.first() == text.first() && own == text
    }

    /// Returns whether a token is a word.
    pub fn is_word(&self, index: usize) -> bool {
        self.get(index).is_some_and(|token| token.sort == Sort::Word)
    }

    /// Returns whether a token is a word that can be a name.
    pub fn is_name(&self, index: usize) -> bool {
        self.is_word(index) && !self.of(index).first().is_some_and(u8::is_ascii_digit)
    }

    /// Returns whether a token is the first of its line.
    pub fn is_first(&self, index: usize) -> bool {
        self.get(index).is_some_and(|token| token.first)
    }

    /// Returns the index of the bracket that closes this one; that of the last token if none does.
    pub fn partner(&self, index: usize) -> usize {
        match self.get(index) {
            Some(Token { sort: Sort::Open | Sort::Close, end, .. }) if *end != UNPAIRED => {
                *end as usize
            }
            Some(Token { sort: Sort::Close, .. }) => index,
            _ => self.len().saturating_sub(1).max(index),
        }
    }

    /// Returns the index after a token and what it encloses.
    pub fn after(&self, index: usize) -> usize {
        match self.get(index) {
            Some(Token { sort: Sort::Open, .. }) => self.partner(index) + 1,
            _ => index + 1,
        }
    }

    /// Returns the index [`after`](Tokens::after) a token, for a look ahead.
    pub fn skip(&self, index: usize) -> usize {
        if self.step() { self.after(index) } else { self.len() }
    }

    /// Returns the next index, for a look ahead.
    pub fn next(&self, index: usize) -> usize {
        if self.step() { index + 1 } else { self.len() }
    }

    /// Returns the first of at most `count` tokens from an index for which a condition holds.
    pub fn find(
        &self,
        from: usize,
        count: usize,
        condition: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        (from..from + count).take_while(|_| self.step()).find(|&at| condition(at))
    }

    /// Counts a step of a look ahead; returns whether there may be one.
    fn step(&self) -> bool {
        self.steps.set(self.steps.get() + 1);
        !self.is_tired()
    }

    /// Returns whether so many tokens were looked at again and again that no more is looked for: a
    /// look ahead finds the end of the text. Ordinary code takes fewer than three steps for each
    /// token.
    pub fn is_tired(&self) -> bool {
        self.steps.get() > 24 * self.list.len() + (1 << 16)
    }

    /// Notes bytes that were read in vain.
    pub fn waste(&self, bytes: usize) {
        self.wasted.set(self.wasted.get() + bytes);
    }

    /// Returns whether so many bytes were read in vain that literals are no more looked for which
    /// are read far before they turn out to be none.
    pub fn is_wasteful(&self) -> bool {
        self.wasted.get() > 4 * self.text.len()
    }

    /// Returns the offset after the first line with a label of a heredoc that begins after an offset.
    pub fn label_after(&self, label: &[u8], from: usize) -> Option<usize> {
        let ends = self.labels.get(label)?;
        ends.get(ends.partition_point(|&end| end as usize <= from)).map(|&end| end as usize)
    }

    /// Returns the column of a token that is the first of its line.
    pub fn column(&self, index: usize) -> u16 {
        self.get(index).map_or(0, |token| token.column)
    }

    /// Returns the range of bytes of a token.
    pub fn range(&self, index: usize) -> Range<usize> {
        let start = self.get(index).map_or(self.text.len(), |token| token.start as usize);
        start..start + self.of(index).len()
    }

    /// Returns whether two tokens follow each other without a space.
    pub fn joined(&self, index: usize) -> bool {
        self.get(index + 1).is_some_and(|next| self.range(index).end == next.start as usize)
    }
}
