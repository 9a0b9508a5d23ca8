//! Languages that close with `end`: Ruby, Lua and Elixir.

use super::found::Found;
use super::tokens::{Sort, Tokens};
use super::{Kind, Language};

/// A block that is not closed.
struct Block {
    /// The definition that it is the body of.
    found: Option<usize>,
    /// Of Ruby: whether functions directly in it are methods.
    is_type: bool,
}

/// The walk through the tokens of a text.
struct Walker<'a> {
    language: Language,
    tokens: &'a Tokens<'a>,
    found: Vec<Found>,
    blocks: Vec<Block>,
    /// Whether the next `do` belongs to the loop before it on the line.
    loops: bool,
    /// Of Elixir: the definition whose `do` is to come.
    pending: Option<usize>,
    /// The first token of the present line.
    line: usize,
}

/// Finds the definitions of a text.
pub(super) fn walk(language: Language, tokens: &Tokens<'_>) -> Vec<Found> {
    let mut walker = Walker {
        language,
        tokens,
        found: Vec::new(),
        blocks: Vec::new(),
        loops: false,
        pending: None,
        line: 0,
    };
    let mut at = 0;
    while tokens.get(at).is_some() {
        if tokens.is_first(at) {
            walker.line = at;
            walker.loops = false;
        }
        at = if tokens.is_word(at) && !walker.is_keyword_as_name(at) && !tokens.is_tired() {
            walker.word(at)
        } else {
            at + 1
        };
    }
    let end = tokens.text.trim_ascii_end().len().saturating_sub(1);
    for block in walker.blocks {
        if let Some(found) = block.found {
            walker.found[found].last = end;
        }
    }
    walker.found
}

impl Walker<'_> {
    /// Returns whether a word is a name here, even if it is a keyword: `.class`, `:end`, `end:`.
    fn is_keyword_as_name(&self, at: usize) -> bool {
        let tokens = self.tokens;
        let before = at.checked_sub(1).map_or(&b""[..], |before| tokens.of(before));
        let joined = at > 0 && tokens.joined(at - 1);
        let symbol = before == b":" && joined && self.language != Language::Lua;
        let key = tokens.is(at + 1, ":") && tokens.joined(at) && !tokens.is(at + 2, ":");
        (before == b"." && !tokens.is(at.saturating_sub(2), "."))
            || symbol
            || (key && self.language != Language::Lua)
    }

    /// Takes a word; returns the next token to look at.
    fn word(&mut self, at: usize) -> usize {
        match self.language {
            Language::Lua => self.lua(at),
            Language::Elixir => self.elixir(at),
            _ => self.ruby(at),
        }
    }

    fn open(&mut self, found: Option<usize>, is_type: bool) {
        self.blocks.push(Block { found, is_type });
    }

    fn close(&mut self, at: usize) {
        if let Some(Block { found: Some(found), .. }) = self.blocks.pop() {
            self.found[found].last = self.tokens.range(at).end - 1;
        }
    }

    /// Adds a definition; returns its index.
    fn add(&mut self, kind: Kind, name: std::ops::Range<usize>, start: usize) -> usize {
        let start = self.tokens.range(start).start;
        let last = name.end.saturating_sub(1);
        self.found.push(Found { kind, name, owner: None, lead: start, start, last });
        self.found.len() - 1
    }

    fn function_kind(&self) -> Kind {
        if self.blocks.last().is_some_and(|block| block.is_type) {
            Kind::Method
        } else {
            Kind::Function
        }
    }

    fn lua(&mut self, at: usize) -> usize {
        let tokens = self.tokens;
        match tokens.of(at) {
            b"function" => {
                let (name, next) = self.lua_name(at);
                let local = at > 0 && tokens.is(at - 1, "local");
                // The name before it may be on an earlier line.
                let first = name.unwrap_or(at).min(self.line);
                let start =
                    if local || name.is_none_or(|name| name < at) { first.min(at) } else { at };
                let kind = if name.is_some_and(|name| name > 0 && tokens.is(name - 1, ":")) {
                    Kind::Method
                } else {
                    Kind::Function
                };
                let found = name.map(|name| self.add(kind, tokens.range(name), start));
                self.open(found, false);
                return next;
            }
            b"if" | b"do" | b"repeat" => self.open(None, false),
            b"end" | b"until" => self.close(at),
            _ => {}
        }
        at + 1
    }

    /// Returns the name of a function of Lua, before or after the word, and the next token.
    fn lua_name(&self, at: usize) -> (Option<usize>, usize) {
        let tokens = self.tokens;
        let mut name = at + 1;
        if tokens.is_name(name) {
            while matches!(tokens.of(name + 1), b"." | b":") && tokens.is_name(name + 2) {
                name += 2;
            }
            return (Some(name), name + 1);
        }
        let assigned = at >= 2 && tokens.is(at - 1, "=") && tokens.is_name(at - 2);
        (assigned.then(|| at - 2), at + 1)
    }

    fn elixir(&mut self, at: usize) -> usize {
        let tokens = self.tokens;
        let kind = match tokens.of(at) {
            b"do" => {
                let found = self.pending.take();
                self.open(found, false);
                return at + 1;
            }
            b"fn" => {
                self.open(None, false);
                return at + 1;
            }
            b"end" => {
                self.close(at);
                return at + 1;
            }
            b"defmodule" => Kind::Module,
            b"defprotocol" => Kind::Interface,
            b"defimpl" => Kind::Implementation,
            b"def" | b"defp" | b"defdelegate" | b"defguard" | b"defguardp" => Kind::Function,
            b"defmacro" | b"defmacrop" => Kind::Macro,
            _ => return at + 1,
        };
        let mut name = at + 1;
        if !tokens.is_first(at) || !tokens.is_name(name) {
            return at + 1;
        }
        while tokens.is(name + 1, ".") && tokens.is_name(name + 2) {
            name += 2;
        }
        let found = self.add(kind, tokens.range(name), at);
        let (last, block) = self.statement_end(name + 1);
        self.pending = block.then_some(found);
        self.found[found].last = tokens.range(last).end.saturating_sub(1);
        name + 1
    }

    /// Returns the last token of a statement, or the `do` that opens its block, and which of both.
    fn statement_end(&self, from: usize) -> (usize, bool) {
        let tokens = self.tokens;
        let mut at = from;
        while let Some(token) = tokens.get(at) {
            if token.sort == Sort::Close || (token.first && self.is_left(at)) {
                break;
            }
            if tokens.is(at, "do") && !tokens.is(at + 1, ":") {
                return (at, true);
            }
            at = tokens.skip(at);
        }
        (at.saturating_sub(1), false)
    }

    /// Returns whether a token that begins a line is not further to the right than this line.
    fn is_left(&self, at: usize) -> bool {
        self.tokens.column(at) <= self.tokens.column(self.line)
    }

    fn ruby(&mut self, at: usize) -> usize {
        let tokens = self.tokens;
        match tokens.of(at) {
            b"def" => return self.ruby_method(at),
            b"class" | b"module" => {
                let (name, next) = self.ruby_type(at);
                let kind = if tokens.is(at, "class") { Kind::Class } else { Kind::Module };
                let found = name.map(|name| self.add(kind, tokens.range(name), at));
                self.open(found, true);
                return next;
            }
            b"begin" | b"case" => self.open(None, false),
            b"do" if !std::mem::take(&mut self.loops) => self.open(None, false),
            b"if" | b"unless" if self.begins(at) => self.open(None, false),
            b"while" | b"until" if self.begins(at) => {
                self.loops = true;
                self.open(None, false);
            }
            b"for" => {
                self.loops = true;
                self.open(None, false);
            }
            b"end" => self.close(at),
            word if self.is_constant(at, word) => {
                let found = self.add(Kind::Constant, tokens.range(at), at);
                let (last, block) = self.statement_end(at + 2);
                self.found[found].last = tokens.range(last).end.saturating_sub(1);
                // `Point = Struct.new(:x) do … end`, whose methods are its own.
                if block && tokens.is(at + 3, ".") && !self.opens_block(at + 2, last) {
                    self.open(Some(found), true);
                    return last + 1;
                }
            }
            _ => {}
        }
        at + 1
    }

    /// Returns whether a word that needs an `end` stands between two tokens.
    fn opens_block(&self, from: usize, to: usize) -> bool {
        const OPENING: &[&[u8]] =
            &[b"if", b"unless", b"case", b"begin", b"while", b"until", b"for", b"def", b"class"];
        (from..to).any(|at| self.tokens.is_word(at) && OPENING.contains(&self.tokens.of(at)))
    }

    fn is_constant(&self, at: usize, word: &[u8]) -> bool {
        let tokens = self.tokens;
        let outside = self.blocks.last().is_none_or(|block| block.is_type);
        let assigned = tokens.is(at + 1, "=") && !matches!(tokens.of(at + 2), b"=" | b"~" | b">");
        tokens.is_first(at) && word[0].is_ascii_uppercase() && outside && assigned
    }

    /// Returns whether `if` and such begin an expression here, and do not follow one on its line.
    fn begins(&self, at: usize) -> bool {
        const BEFORE: &[&str] =
            &["then", "else", "do", "and", "or", "not", "begin", "ensure", "when", "in"];
        let tokens = self.tokens;
        if tokens.is_first(at) || at == 0 {
            return true;
        }
        match tokens.get(at - 1).map(|token| token.sort) {
            Some(Sort::Sign | Sort::Open) => true,
            Some(Sort::Word) => BEFORE.iter().any(|word| tokens.is(at - 1, word)),
            _ => false,
        }
    }

    /// Returns the name of a class or module, and the next token.
    fn ruby_type(&self, at: usize) -> (Option<usize>, usize) {
        let tokens = self.tokens;
        let mut name = at + 1;
        while tokens.is(name, ":") {
            name += 1;
        }
        if !tokens.is_name(name) {
            return (None, at + 1);
        }
        while tokens.is(name + 1, ":") && tokens.is(name + 2, ":") && tokens.is_name(name + 3) {
            name += 3;
        }
        (Some(name), name + 1)
    }

    /// Takes a method, also one without `end`: `def name(…) = value`.
    fn ruby_method(&mut self, at: usize) -> usize {
        let tokens = self.tokens;
        let mut name = at + 1;
        while tokens.is(name + 1, ".") && tokens.joined(name) {
            name += 2;
        }
        let mut range = tokens.range(name);
        let mut next = name + 1;
        if tokens.is_word(name) {
            let setter = tokens.is(next, "=")
                && tokens.joined(name)
                && tokens.is(next + 1, "(")
                && tokens.joined(next);
            range.end += usize::from(setter);
            next += usize::from(setter);
        } else {
            while next > name
                && tokens.joined(next - 1)
                && !tokens.is(next, "(")
                && !tokens.is_word(next)
            {
                range.end = tokens.range(next).end;
                next += 1;
            }
        }
        let found = self.add(self.function_kind(), range, at);
        let after = if tokens.is(next, "(") { tokens.after(next) } else { next };
        if tokens.is(after, "=") && !tokens.is_first(after) {
            let (last, _) = self.statement_end(after);
            self.found[found].last = tokens.range(last).end.saturating_sub(1);
        } else {
            self.open(Some(found), false);
        }
        next
    }
}
