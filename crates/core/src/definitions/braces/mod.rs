//! Languages with braces: looks at the beginning of each statement, and keeps the blocks around it.
//!
//! A statement begins after `;`, `{` and `}`, and on a new line where the language has it. Inside a
//! function only what a word introduces is a definition. [`script`] knows the members of classes
//! and objects of JavaScript, [`typed`] the functions of languages that write the type first.

mod go;
mod native;
mod script;
mod tail;
mod typed;

use super::form::{Callable, Form, Mark, Rules};
use super::found::Found;
use super::tokens::{Sort, Tokens};
use super::{Kind, Language};

/// The most attributes, modifiers and parts of a path that are read before a name.
const MAX_MARKS: usize = 64;

/// Where a statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A file, a module or a namespace.
    File,
    /// A type, whose functions are methods.
    Type,
    /// A function, or any other block.
    Code,
    /// A literal object of JavaScript.
    Object,
    /// Parentheses, where no statement begins.
    Inside,
    /// `const ( … )` of Go: each line defines something of this kind.
    Group(Kind),
    /// Tokens of a macro, where nothing is defined.
    Skipped,
}

/// A block around the present token.
struct Scope {
    close: usize,
    place: Place,
    /// The token with the name of the definition whose body it is; 0 for any other block.
    owner: usize,
}

/// The body of a definition, whose brace is not reached.
struct Body {
    open: usize,
    place: Place,
    owner: usize,
}

/// The walk through the tokens of a text.
pub(super) struct Walker<'a> {
    language: Language,
    rules: &'a Rules,
    tokens: &'a Tokens<'a>,
    found: Vec<Found>,
    scopes: Vec<Scope>,
    /// The bodies of definitions whose brace is not reached, the innermost last.
    bodies: Vec<Body>,
    /// The column of the first token of the present line.
    column: u16,
}

/// A definition at the beginning of a statement.
#[derive(Clone, Copy)]
struct Begun {
    /// The first token with attributes.
    lead: usize,
    /// The first token.
    start: usize,
    /// The word that defines, or the first token that is no modifier.
    word: usize,
}

/// Finds the definitions of a text.
pub(super) fn walk(language: Language, rules: &Rules, tokens: &Tokens<'_>) -> Vec<Found> {
    let mut walker = Walker {
        language,
        rules,
        tokens,
        found: Vec::new(),
        scopes: Vec::new(),
        bodies: Vec::new(),
        column: 0,
    };
    walker.run();
    if language != Language::CSharp {
        walker.found.extend(defines(tokens));
    }
    walker.found
}

impl Walker<'_> {
    fn run(&mut self) {
        let mut at = 0;
        let mut fresh = true;
        while let Some(&token) = self.tokens.get(at) {
            while self.scopes.pop_if(|scope| scope.close < at).is_some() {}
            if token.first {
                self.column = token.column;
                fresh |= self.rules.newline && self.place() != Place::Object;
            }
            if fresh && token.sort != Sort::Close && self.place() != Place::Inside {
                fresh = false;
                if let Some(next) = self.statement(at) {
                    at = next.max(at + 1);
                    continue;
                }
            }
            fresh = match token.sort {
                Sort::Open => self.enter(at),
                Sort::Close => self.tokens.of(at) == b"}",
                Sort::Sign => self.ends(at),
                Sort::Word => self.class_expression(at),
                Sort::Literal => self.language == Language::Php,
            };
            at += 1;
        }
    }

    /// The innermost block.
    fn place(&self) -> Place {
        self.scopes.last().map_or(Place::File, |scope| scope.place)
    }

    /// Returns whether a sign ends a statement or the member of an object.
    fn ends(&self, at: usize) -> bool {
        match self.tokens.of(at) {
            b";" => true,
            b"," => self.place() == Place::Object,
            _ => false,
        }
    }

    /// Enters a bracket; returns whether a statement begins in it.
    fn enter(&mut self, at: usize) -> bool {
        let close = self.tokens.partner(at);
        while self.bodies.pop_if(|body| body.open < at).is_some() {}
        let body = self.bodies.pop_if(|body| body.open == at);
        let owner = body.as_ref().map_or(0, |body| body.owner);
        let place = if self.place() == Place::Skipped {
            Place::Skipped
        } else if let Some(body) = body {
            body.place
        } else if self.tokens.of(at) == b"{" {
            self.block(at)
        } else {
            Place::Inside
        };
        self.scopes.push(Scope { close, place, owner });
        !matches!(place, Place::Inside | Place::Skipped)
    }

    /// Returns what a brace that belongs to no definition encloses.
    fn block(&self, at: usize) -> Place {
        if self.rules.callable == Callable::Member && script::opens_object(self.tokens, at) {
            return Place::Object;
        }
        let before = |back: usize| at.checked_sub(back).map_or(&b""[..], |at| self.tokens.of(at));
        match self.language {
            Language::Rust if self.quotes(at) => Place::Skipped,
            Language::Rust if self.place() == Place::File && before(1) == b"!" => Place::File,
            Language::Rust | Language::C | Language::Cpp | Language::ObjectiveC
                if before(1) == b"namespace"
                    || before(2) == b"extern"
                    || before(1) == b"extern" =>
            {
                Place::File
            }
            Language::Kotlin if before(1) == b"object" => Place::Type,
            Language::Java
                if before(1) == b")" && self.is_anonymous(self.tokens.partner(at - 1)) =>
            {
                Place::Type
            }
            _ => Place::Code,
        }
    }

    /// Returns whether the parentheses before a brace are those of `new Type<…>(…)`.
    fn is_anonymous(&self, open: usize) -> bool {
        let tokens = self.tokens;
        let words = (open.saturating_sub(40)..open).rev();
        let mut before = words.skip_while(|&at| {
            let word = tokens.of(at);
            word != b"new"
                && (tokens.is_name(at) || matches!(word, b"." | b"<" | b">" | b"," | b"?" | b"@"))
        });
        before.next().is_some_and(|at| tokens.is(at, "new"))
    }

    /// Notes the body of a class that is part of an expression of JavaScript: `return class {`.
    fn class_expression(&mut self, at: usize) -> bool {
        let script = self.rules.callable == Callable::Member
            && self.tokens.is(at, "class")
            && !self.tokens.is_tired();
        if script
            && !self.tokens.is(at.saturating_sub(1), ".")
            && self.bodies.last().is_none_or(|body| body.open < at)
        {
            let next = self.tokens.of(at + 1);
            if self.tokens.is_name(at + 1) || next == b"{" {
                self.class_value(at, at + 1);
            }
        }
        false
    }

    /// Returns whether a brace of Rust encloses tokens that a macro makes code of.
    fn quotes(&self, at: usize) -> bool {
        const QUOTES: &[&str] = &["quote", "quote_spanned", "parse_quote"];
        at > 1
            && self.tokens.is(at - 1, "!")
            && QUOTES.iter().any(|name| self.tokens.is(at - 2, name))
    }

    /// Takes the statement that begins at a token; returns where to go on if it defines something.
    fn statement(&mut self, at: usize) -> Option<usize> {
        if self.place() == Place::Skipped || self.tokens.is_tired() {
            return None;
        }
        let start = self.after_marks(at);
        let word = self.after_modifiers(start);
        let begun = Begun { lead: at, start, word };
        match self.place() {
            Place::Object => return self.member(begun),
            Place::Group(kind) => return self.go_spec(begun, kind, start),
            _ => {}
        }
        let has_tags = || self.rules.words.iter().any(|(_, _, form)| *form == Form::Tagged);
        if self.tokens.is(start, "typedef") && has_tags() {
            self.type_name(start);
        }
        if let Some(next) = self.by_word(begun) {
            return Some(next);
        }
        match self.rules.callable {
            Callable::None => None,
            Callable::Interface if self.place() == Place::Type => self.go_method(begun),
            Callable::Interface => None,
            Callable::Shell => self.shell(begun),
            Callable::Member if self.place() == Place::Type => self.member(begun),
            Callable::Member => self.assignment(begun),
            Callable::Typed => self.typed(begun),
        }
    }

    /// Returns the first token after attributes.
    fn after_marks(&self, mut at: usize) -> usize {
        let tokens = self.tokens;
        for _ in 0..MAX_MARKS {
            if tokens.is_tired() {
                break;
            }
            at = match self.rules.mark {
                Mark::At
                    if tokens.is(at, "@")
                        && tokens.is_name(at + 1)
                        && !tokens.is(at + 1, "interface") =>
                {
                    self.after_decorator(at + 1)
                }
                Mark::At if tokens.is(at, "@") && tokens.is(at + 1, "(") => tokens.skip(at + 1),
                Mark::Hash if tokens.is(at, "#") && tokens.is(at + 1, "[") => tokens.skip(at + 1),
                Mark::Hash if tokens.is(at, "#") && tokens.is(at + 1, "!") => tokens.skip(at + 2),
                Mark::Bracket if tokens.is(at, "[") => tokens.skip(at),
                Mark::Bracket
                    if tokens.is(at + 1, ":")
                        && !tokens.is(at + 2, ":")
                        && is_access(tokens.of(at)) =>
                {
                    tokens.next(at + 1)
                }
                Mark::Bracket if tokens.is(at, "template") && tokens.is(at + 1, "<") => {
                    self.after_angles(at + 1)
                }
                _ => return at,
            };
        }
        at
    }

    /// Returns the first token after `name.name(…)` or `site:name`.
    fn after_decorator(&self, mut at: usize) -> usize {
        let tokens = self.tokens;
        while (tokens.is(at + 1, ".") || tokens.is(at + 1, ":")) && tokens.is_name(at + 2) {
            at = tokens.next(at + 1);
        }
        if tokens.is(at + 1, "<") {
            at = self.after_angles(at + 1) - 1;
        }
        let called =
            tokens.is(at + 1, "(") && (tokens.joined(at) || self.language == Language::JavaScript);
        if called { tokens.skip(at + 1) } else { tokens.next(at) }
    }

    /// Returns the first token after modifiers. A modifier that nothing follows is a name.
    fn after_modifiers(&self, mut at: usize) -> usize {
        let tokens = self.tokens;
        for _ in 0..MAX_MARKS {
            if !self.rules.modifiers.iter().any(|word| tokens.is(at, word)) {
                break;
            }
            let mut next = tokens.next(at);
            if tokens.is(at, "non") && tokens.is(next, "-") {
                next = tokens.next(next); // `non-sealed` of Java
            }
            if tokens.is(next, "(")
                && tokens.joined(at)
                && !matches!(self.rules.callable, Callable::Member)
            {
                next = tokens.skip(next);
            }
            if tokens.get(next).is_some_and(|token| token.sort == Sort::Literal) {
                next += usize::from(matches!(tokens.of(at), b"extern"));
            }
            let follows = tokens.is_word(next)
                || tokens.get(next).is_some_and(|token| token.sort == Sort::Literal)
                || matches!(tokens.of(next), b"[" | b"#" | b"*" | b"@" | b"~" | b"<");
            if !follows
                || (self.rules.newline && tokens.is_first(next) && self.place() == Place::Object)
            {
                break;
            }
            at = next;
            if tokens.is(at, "@") {
                at = self.after_marks(at);
            }
        }
        // `@interface` of Java.
        at + usize::from(
            tokens.is(at, "@") && tokens.is(at + 1, "interface") && self.language == Language::Java,
        )
    }

    /// Takes a statement whose word says what it defines.
    fn by_word(&mut self, begun: Begun) -> Option<usize> {
        let mut word = begun.word;
        let tokens = self.tokens;
        if tokens.is(word, "using") && !tokens.is(word + 2, "=") {
            return None;
        }
        let fun = tokens.is(word, "fun") || tokens.is(word, "class");
        if fun
            && matches!(
                tokens.of(word + 1),
                b"interface" | b"func" | b"var" | b"let" | b"subscript"
            )
        {
            word += 1;
        }
        // `const fn`, `const enum`, `static inline`: the word is a modifier of another.
        while self
            .rules
            .words
            .iter()
            .any(|(known, _, form)| *form == Form::Value && tokens.is(word, known))
            && self.rules.words.iter().any(|(known, ..)| tokens.is(word + 1, known))
            && tokens.is_name(word + 2)
        {
            word = tokens.next(word);
        }
        if self.language == Language::Rust && tokens.is(word, "const") {
            let next = self.after_modifiers(word + 1);
            word = if tokens.is(next, "fn") { next } else { word };
        }
        let &(_, kind, form) =
            self.rules.words.iter().find(|(known, ..)| tokens.is(word, known))?;
        let begun = Begun { word, ..begun };
        match form {
            Form::Body => self.body(begun, kind),
            Form::Value => self.value(begun, kind),
            Form::Members => self.members(begun, kind),
            Form::Either => self.either(begun, kind),
            Form::Named => self.named(begun),
            Form::Tagged => self.tagged(begun, kind),
            Form::Go => self.go(begun, kind),
        }
    }

    /// Returns the token with the name after a defining word: of a path the last one.
    fn name_after(&self, word: usize) -> Option<usize> {
        let tokens = self.tokens;
        let mut at = word + 1;
        if matches!(tokens.of(at), b"*" | b"&")
            || (tokens.is(word, "macro_rules") && tokens.is(at, "!"))
        {
            at += 1;
        }
        if tokens.is(at, "<") {
            at = self.after_angles(at);
        }
        let mut name = tokens.is_name(at).then_some(at)?;
        loop {
            let mut next = name + 1;
            if self.language == Language::Kotlin && tokens.is(next, "<") {
                next = self.after_angles(next);
            }
            next += usize::from(tokens.is(next, "?"));
            let sign = tokens.of(next);
            let colons = sign == b":" && tokens.is(next + 1, ":");
            let path = matches!(sign, b"." | b"\\") || colons;
            next += 1 + usize::from(colons);
            if !(path && tokens.is_name(next)) || (self.rules.newline && tokens.is_first(next)) {
                return Some(name);
            }
            name = tokens.next(next - 1);
        }
    }

    /// Takes a name and a body in braces, or the end of the statement.
    fn body(&mut self, begun: Begun, kind: Kind) -> Option<usize> {
        let name = self.name_after(begun.word)?;
        if self.is_property(name) {
            return None;
        }
        let kind = self.kind_here(begun, kind);
        let (last, body) = self.to_body(name + 1);
        if let Some(body) = body {
            self.bodies.push(Body { open: body, place: place_of(kind), owner: name });
        }
        self.add(begun, kind, name, last);
        Some(name + 1)
    }

    /// Returns the kind of a definition by where it is and by the word before.
    fn kind_here(&self, begun: Begun, kind: Kind) -> Kind {
        match kind {
            Kind::Function if self.place() == Place::Type => Kind::Method,
            Kind::Class if begun.word > 0 && self.tokens.is(begun.word - 1, "enum") => Kind::Enum,
            other => other,
        }
    }

    /// Takes a name, then a body in braces, or an expression after `=`.
    fn either(&mut self, begun: Begun, kind: Kind) -> Option<usize> {
        let name = self.name_after(begun.word)?;
        let kind = self.kind_here(begun, kind);
        let (last, body) = self.to_either(name + 1);
        if let Some(open) = body {
            self.bodies.push(Body { open, place: place_of(kind), owner: name });
        }
        self.add(begun, kind, name, last);
        Some(name + 1)
    }

    /// Takes `init(…) { … }`, whose word is the name.
    fn named(&mut self, begun: Begun) -> Option<usize> {
        let after = self.tokens.of(begun.word + 1);
        if self.place() != Place::Type || !matches!(after, b"(" | b"{" | b"?" | b"!" | b"<") {
            return None;
        }
        let (last, body) = self.to_body(begun.word + 1);
        if let Some(open) = body {
            self.bodies.push(Body { open, place: Place::Code, owner: begun.word });
        }
        self.add(begun, Kind::Method, begun.word, last);
        Some(begun.word + 1)
    }

    /// Returns whether a word that could define something is a name itself: `type: x`, `module = y`.
    fn is_property(&self, name: usize) -> bool {
        let before = name - 1;
        self.rules.newline && self.tokens.is_first(name) && !self.tokens.is_first(before)
    }

    /// Takes a name and a value, outside functions.
    fn value(&mut self, begun: Begun, kind: Kind) -> Option<usize> {
        let name = self.name_after_value(begun.word)?;
        let script = self.rules.callable == Callable::Member;
        if script && matches!(kind, Kind::Constant | Kind::Variable) {
            return self.declarators(begun, kind, name);
        }
        let local = matches!(kind, Kind::Constant | Kind::Variable | Kind::Type);
        if local && self.place() == Place::Code {
            return None;
        }
        let last = self.to_end(name + 1);
        self.add(begun, kind, name, last);
        Some(name + 1)
    }

    /// Returns the name of a value: `static mut NAME`, `type NAME =`.
    fn name_after_value(&self, word: usize) -> Option<usize> {
        let tokens = self.tokens;
        let name = word + 1 + usize::from(tokens.is(word + 1, "mut"));
        let type_word = tokens.is(word, "type");
        if tokens.is(word, "using") || tokens.is(word, "concept") {
            return tokens.is(name + 1, "=").then_some(name);
        }
        if type_word && self.language != Language::Rust {
            let after = tokens.of(name + 1);
            return (tokens.is_name(name) && matches!(after, b"=" | b"<")).then_some(name);
        }
        (tokens.is_name(name) && !tokens.is(name, "_")).then_some(name)
    }

    /// Takes `impl<…> Trait for Type { … }`.
    fn members(&mut self, begun: Begun, kind: Kind) -> Option<usize> {
        let tokens = self.tokens;
        let mut at = begun.word + 1;
        if tokens.is(at, "<") {
            at = self.after_angles(at);
        }
        let (last, body) = self.to_body(at);
        let body = body?;
        let mut name = None;
        while at < body && !tokens.is(at, "where") {
            if tokens.is(at, "for") && !tokens.is(at + 1, "<") {
                name = None;
            } else if tokens.is_name(at) && !matches!(tokens.of(at), b"dyn" | b"mut" | b"const") {
                let path = tokens.is(at + 1, ":") && tokens.is(at + 2, ":");
                name = name.or((!path).then_some(at));
            }
            at = if tokens.is(at, "<") { self.after_angles(at) } else { tokens.next(at) };
        }
        self.bodies.push(Body { open: body, place: Place::Type, owner: name? });
        self.add(begun, kind, name?, last);
        Some(body)
    }

    /// Adds a definition that ends with a token.
    fn add(&mut self, begun: Begun, kind: Kind, name: usize, last: usize) {
        let tokens = self.tokens;
        self.found.push(Found {
            kind,
            name: tokens.range(name),
            owner: None,
            lead: tokens.range(begun.lead).start,
            start: tokens.range(begun.start).start,
            last: tokens.range(last).end.saturating_sub(1),
        });
    }
}

/// Returns whether a word and a colon say who may use the members that follow.
fn is_access(word: &[u8]) -> bool {
    matches!(word, b"public" | b"private" | b"protected" | b"signals" | b"slots")
}

/// Returns what the body of a definition is.
fn place_of(kind: Kind) -> Place {
    match kind {
        Kind::Function | Kind::Method => Place::Code,
        Kind::Module => Place::File,
        Kind::Macro => Place::Skipped,
        _ => Place::Type,
    }
}

/// Returns the macros of the C preprocessor.
fn defines(tokens: &Tokens<'_>) -> Vec<Found> {
    let macros = tokens.defines.iter().filter_map(|&at| {
        let start = at as usize;
        let line = super::literals::logical_line(&tokens.text[start..]);
        let word = memchr::memmem::find(line, b"define")? + 6;
        let spaces = line[word..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let from = start + word + spaces;
        let length = tokens.text[from..]
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        let last = start + line.len() - 1;
        (length > 0).then_some(Found {
            kind: Kind::Macro,
            name: from..from + length,
            owner: None,
            lead: start,
            start,
            last,
        })
    });
    macros.collect()
}
