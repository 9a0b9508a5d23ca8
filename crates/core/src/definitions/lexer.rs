//! Cuts a text into words, signs, strings and paired brackets, without its comments.
//!
//! One loop over the bytes; what is special about the strings of a language is in [`literals`].

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

use super::literals::{self, Literal};

/// More tokens than this are not kept: a text of brackets would otherwise need 12 times its size.
const MAX_TOKENS: usize = 6 << 20;

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
    end: u32,
    /// What it is.
    pub sort: Sort,
    /// Whether it is the first of its line.
    pub first: bool,
    /// The column after the spaces and tabs before it, where a tab goes to the next eighth.
    pub column: u16,
}

/// The partner of a bracket without one.
const UNPAIRED: u32 = u32::MAX;

/// How strings and comments of a language are written.
#[derive(Debug)]
pub(super) struct Lexicon {
    /// What begins a comment to the end of the line.
    pub line: &'static [&'static str],
    /// What encloses a comment, and whether they nest.
    pub block: Option<(&'static str, &'static str, bool)>,
    /// The strings and other literals, the first that fits.
    pub literals: &'static [Literal],
    /// Bytes that belong to words besides letters, digits, `_` and those beyond ASCII.
    pub word: &'static [u8],
    /// Whether lines that begin with `#` are for the C preprocessor.
    pub preprocessor: bool,
    /// Whether `#[` is no comment.
    pub attributes: bool,
}

/// The tokens of a text, and where its comments are.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    /// The text.
    pub text: &'a [u8],
    list: Vec<Token>,
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
    /// Cuts a text.
    pub fn new(text: &'a [u8], lexicon: &Lexicon) -> Self {
        let heredocs = lexicon.literals.iter().any(|one| matches!(one, Literal::Heredoc(_)))
            && memchr::memmem::find(text, b"<<").is_some();
        let tokens = Self {
            text,
            list: Vec::new(),
            comments: Vec::new(),
            defines: Vec::new(),
            wasted: Cell::new(0),
            steps: Cell::new(0),
            heredocs: Cell::new(None),
            labels: if heredocs { literals::labels(text) } else { HashMap::new() },
        };
        let mut lexer = Lexer {
            tokens,
            lexicon,
            at: 0,
            first: true,
            column: 0,
            open: Vec::new(),
            conditions: Vec::new(),
        };
        lexer.run();
        lexer.tokens
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
        self.of(index) == text.as_bytes()
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

/// The state of the loop.
struct Lexer<'a, 'l> {
    tokens: Tokens<'a>,
    lexicon: &'l Lexicon,
    at: usize,
    first: bool,
    /// The column after the spaces and tabs that were just read.
    column: u16,
    open: Vec<u32>,
    /// The open brackets at each `#if` around, and whether its branch is left out.
    conditions: Vec<usize>,
}

impl Lexer<'_, '_> {
    fn run(&mut self) {
        let text = self.tokens.text;
        while let Some(&byte) = text.get(self.at) {
            let column = std::mem::take(&mut self.column);
            match byte {
                b'\n' => {
                    self.first = true;
                    let end = self.tokens.heredocs.take().map_or(self.at, |end| end.max(self.at));
                    self.at = end + 1;
                }
                b' ' | b'\t' => {
                    let width = if byte == b' ' { 1 } else { 8 - column % 8 };
                    self.column = column.saturating_add(width);
                    self.at += 1;
                }
                b'\r' | 0x0c => self.at += 1,
                _ if self.comment() || self.directive() => {}
                _ => self.token(byte, column),
            }
            if self.tokens.list.len() >= MAX_TOKENS {
                break;
            }
        }
    }

    /// Steps over a comment, if one is here.
    fn comment(&mut self) -> bool {
        let rest = &self.tokens.text[self.at..];
        let length =
            if let Some(length) = self.lexicon.block.and_then(|form| block_length(rest, form)) {
                length
            } else if self.lexicon.line.iter().any(|mark| self.is_comment(rest, mark)) {
                memchr::memchr(b'\n', rest).unwrap_or(rest.len())
            } else {
                return false;
            };
        if self.first {
            self.tokens.comments.push((self.at as u32, (self.at + length.max(1) - 1) as u32));
        }
        self.at += length;
        true
    }

    /// Returns whether a comment to the end of the line begins here. One that begins with a space in
    /// the table needs one before it: `$#` of a shell is no comment. `#[` of PHP is an attribute.
    fn is_comment(&self, rest: &[u8], mark: &str) -> bool {
        let before = self.at.checked_sub(1).map_or(b'\n', |at| self.tokens.text[at]);
        match mark.strip_prefix(' ') {
            Some(mark) => {
                rest.starts_with(mark.as_bytes())
                    && (before.is_ascii_whitespace()
                        || matches!(before, b';' | b'(' | b'&' | b'|' | b'{' | b'}' | b')'))
            }
            None => {
                rest.starts_with(mark.as_bytes())
                    && !(self.lexicon.attributes && rest.starts_with(b"#["))
            }
        }
    }

    /// Steps over a line of the C preprocessor, if one is here, and over branches whose brackets
    /// were opened by the branch before.
    fn directive(&mut self) -> bool {
        if !(self.lexicon.preprocessor && self.first && self.tokens.text[self.at] == b'#') {
            return false;
        }
        let line = literals::logical_line(&self.tokens.text[self.at..]);
        let word = literals::directive_of(line);
        match word {
            b"if" | b"ifdef" | b"ifndef" => self.conditions.push(self.open.len()),
            b"endif" => {
                self.conditions.pop();
            }
            b"define" => self.tokens.defines.push(self.at as u32),
            _ => {}
        }
        let length = line.len();
        let other = matches!(word, b"else" | b"elif" | b"elifdef" | b"elifndef");
        self.at += length;
        if other && self.conditions.last().is_some_and(|&depth| depth != self.open.len()) {
            self.at += literals::branch_length(&self.tokens.text[self.at..]);
        }
        true
    }

    /// Takes one token.
    fn token(&mut self, byte: u8, column: u16) {
        let text = self.tokens.text;
        let start = self.at;
        let before = self.tokens.len().checked_sub(1);
        let literal = self.lexicon.literals.iter().find_map(|literal| {
            literal.length(literals::Here { text, at: start, tokens: &self.tokens, before })
        });
        let (sort, end) = if let Some(length) = literal {
            (Sort::Literal, start + length.max(1))
        } else if self.in_word(byte) {
            let rest = text[start..].iter().position(|&byte| !self.in_word(byte));
            (Sort::Word, rest.map_or(text.len(), |length| start + length))
        } else {
            let sort = match byte {
                b'(' | b'[' | b'{' => Sort::Open,
                b')' | b']' | b'}' => Sort::Close,
                _ => Sort::Sign,
            };
            (sort, start + 1)
        };
        self.at = end.min(text.len());
        let first = std::mem::take(&mut self.first);
        let (start, end) = (start as u32, self.at as u32);
        self.tokens.list.push(Token { start, end, sort, first, column });
        match sort {
            Sort::Open => self.opened(),
            Sort::Close => self.closed(byte),
            _ => {}
        }
    }

    fn in_word(&self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric()
            || byte == b'_'
            || byte >= 0x80
            || self.lexicon.word.contains(&byte)
    }

    fn opened(&mut self) {
        let index = self.tokens.len() - 1;
        self.tokens.list[index].end = UNPAIRED;
        self.open.push(index as u32);
    }

    /// Pairs a closing bracket. A brace ends what was left open inside it; another bracket that
    /// does not fit is passed over, since braces carry the structure.
    fn closed(&mut self, byte: u8) {
        let index = self.tokens.len() - 1;
        self.tokens.list[index].end = UNPAIRED;
        let wanted = match byte {
            b')' => b'(',
            b']' => b'[',
            _ => b'{',
        };
        while let Some(&top) = self.open.last() {
            let opening = self.tokens.text[self.tokens.list[top as usize].start as usize];
            if opening == wanted {
                self.open.pop();
                self.tokens.list[top as usize].end = index as u32;
                self.tokens.list[index].end = top;
                return;
            }
            if wanted != b'{' || opening == b'{' {
                return;
            }
            self.open.pop();
            self.tokens.list[top as usize].end = index as u32;
        }
    }
}

/// Returns the length of the block comment at the beginning of a text.
fn block_length(text: &[u8], (open, close, nested): (&str, &str, bool)) -> Option<usize> {
    let mut at = text.starts_with(open.as_bytes()).then_some(open.len())?;
    let mut depth = 1_u32;
    while at < text.len() {
        if text[at..].starts_with(close.as_bytes()) {
            at += close.len();
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        } else if nested && text[at..].starts_with(open.as_bytes()) {
            at += open.len();
            depth += 1;
        } else {
            at += 1;
        }
    }
    Some(text.len())
}
