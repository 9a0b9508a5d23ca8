//! Cuts a text into words, signs, strings and paired brackets, without its comments.
//!
//! One loop over the bytes; what is special about the strings of a language is in [`literals`].

use std::collections::HashMap;

use super::literals::{self, Literal};
use super::tokens::{Sort, Token, Tokens, UNPAIRED};

/// More tokens than this are not kept: a text of brackets would otherwise need 12 times its size.
const MAX_TOKENS: usize = 6 << 20;

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

/// For each byte, whether it is in words, and what can begin with it: nothing else is looked for there.
struct Bytes {
    in_word: [bool; 256],
    begins_comment: [bool; 256],
    begins_literal: [bool; 256],
}

impl Bytes {
    fn of(lexicon: &Lexicon) -> Self {
        let mut bytes = Self {
            in_word: [false; 256],
            begins_comment: [false; 256],
            begins_literal: [false; 256],
        };
        for (byte, is_in) in (0..=u8::MAX).zip(&mut bytes.in_word) {
            *is_in = byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        }
        lexicon.word.iter().for_each(|&byte| bytes.in_word[usize::from(byte)] = true);
        let lines = lexicon.line.iter().map(|mark| mark.trim_start_matches(' '));
        for mark in lines.chain(lexicon.block.map(|(open, ..)| open)).chain(lexicon.long_comment())
        {
            bytes.begins_comment[usize::from(mark.as_bytes()[0])] = true;
        }
        for literal in lexicon.literals {
            literal.first_bytes(|byte| bytes.begins_literal[usize::from(byte)] = true);
        }
        bytes
    }
}

impl Lexicon {
    /// Returns what begins a long comment of Lua, where there are any.
    fn long_comment(&self) -> Option<&'static str> {
        self.literals.iter().any(|one| matches!(one, Literal::LuaLong)).then_some("--[")
    }
}

/// Cuts a text.
pub(super) fn cut<'a>(text: &'a [u8], lexicon: &Lexicon) -> Tokens<'a> {
    let has_heredocs = lexicon.literals.iter().any(|one| matches!(one, Literal::Heredoc(_)))
        && memchr::memmem::find(text, b"<<").is_some();
    let labels = if has_heredocs { literals::labels(text) } else { HashMap::new() };
    let mut lexer = Lexer {
        tokens: Tokens::none(text, labels),
        lexicon,
        bytes: Bytes::of(lexicon),
        at: 0,
        first: true,
        column: 0,
        open: Vec::new(),
        conditions: Vec::new(),
    };
    lexer.run();
    lexer.tokens
}

/// The state of the loop.
struct Lexer<'a, 'l> {
    tokens: Tokens<'a>,
    lexicon: &'l Lexicon,
    bytes: Bytes,
    at: usize,
    first: bool,
    /// The column after the spaces and tabs that were just read.
    column: u16,
    open: Vec<u32>,
    /// The number of open brackets at each `#if` around.
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
                _ if self.comment(byte) || self.directive() => {}
                _ => self.token(byte, column),
            }
            if self.tokens.list.len() >= MAX_TOKENS {
                break;
            }
        }
    }

    /// Steps over a comment, if one is here.
    fn comment(&mut self, byte: u8) -> bool {
        if !self.bytes.begins_comment[usize::from(byte)] {
            return false;
        }
        let rest = &self.tokens.text[self.at..];
        let length =
            if let Some(length) = self.lexicon.block.and_then(|form| block_length(rest, form)) {
                length
            } else if let Some(length) = self.long_comment(rest) {
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

    /// Returns the length of `--[==[ … ]==]`, a comment of Lua.
    fn long_comment(&self, rest: &[u8]) -> Option<usize> {
        let text = rest.strip_prefix(self.lexicon.long_comment()?.as_bytes())?;
        literals::lua_long(&rest[rest.len() - text.len() - 1..]).map(|length| length + 2)
    }

    /// Returns whether a comment to the end of the line begins here. One that begins with a space in
    /// the table needs one before it: `$#` of a shell is no comment. `#[` of PHP is an attribute.
    fn is_comment(&self, rest: &[u8], mark: &str) -> bool {
        let before = self.at.checked_sub(1).map_or(b'\n', |at| self.tokens.text[at]);
        match mark.strip_prefix(' ') {
            Some(mark) => {
                literals::begins(rest, mark)
                    && (before.is_ascii_whitespace()
                        || matches!(before, b';' | b'(' | b'&' | b'|' | b'{' | b'}' | b')'))
            }
            None => {
                literals::begins(rest, mark)
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
        let here = literals::Here { text, at: start, tokens: &self.tokens, before };
        let is_literal = self.bytes.begins_literal[usize::from(byte)];
        let literals = self.lexicon.literals.iter().filter(|_| is_literal);
        let literal = literals.filter_map(|literal| literal.length(here)).next();
        let (sort, end) = if let Some(length) = literal {
            (Sort::Literal, start + length.max(1))
        } else if self.bytes.in_word[usize::from(byte)] {
            let in_word = &self.bytes.in_word;
            let rest = text[start..].iter().position(|&byte| !in_word[usize::from(byte)]);
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
    let mut at = literals::begins(text, open).then_some(open.len())?;
    if !nested {
        let end = memchr::memmem::find(&text[at..], close.as_bytes());
        return Some(end.map_or(text.len(), |end| at + end + close.len()));
    }
    let (first_open, first_close) = (open.as_bytes()[0], close.as_bytes()[0]);
    let mut depth = 1_u32;
    while let Some(next) = memchr::memchr2(first_open, first_close, &text[at..]) {
        at += next;
        if literals::begins(&text[at..], close) {
            at += close.len();
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        } else if literals::begins(&text[at..], open) {
            at += open.len();
            depth += 1;
        } else {
            at += 1;
        }
    }
    Some(text.len())
}
