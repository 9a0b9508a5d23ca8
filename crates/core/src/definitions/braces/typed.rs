//! Functions that no word introduces: of languages that write the type before the name (C, C++, C#,
//! Java, Dart), of shells and of R.

use super::super::tokens::Sort;
use super::super::{Kind, Language};
use super::{Begun, Body, Place, Walker};

/// Words with which no function begins.
const STATEMENTS: &[&str] = &[
    "return",
    "if",
    "for",
    "while",
    "switch",
    "new",
    "throw",
    "using",
    "case",
    "else",
    "goto",
    "delete",
    "import",
    "package",
    "static_assert",
    "friend",
    "do",
    "try",
    "catch",
    "default",
    "assert",
    "export",
    "part",
    "library",
    "await",
    "yield",
    "co_return",
    "synchronized",
];

/// What was read before the parameters of a function.
struct Head {
    /// The token with the name.
    name: usize,
    /// The brackets of the parameters.
    open: usize,
    /// How many words there are before and with the name.
    words: u32,
}

impl Walker<'_> {
    /// Takes `Type name(…) { … }`, or `;` instead of the body.
    pub(super) fn typed(&mut self, begun: Begun) -> Option<usize> {
        let tokens = self.tokens;
        if tokens.is(begun.start, "typedef") {
            return None;
        }
        if let Some(next) = self.objective(begun) {
            return Some(next);
        }
        if !matches!(self.place(), Place::File | Place::Type) {
            return None;
        }
        if self.language == Language::Dart
            && let Some(next) = self.accessor(begun)
        {
            return Some(next);
        }
        let head = self.head(begun.word)?;
        let (last, body) = self.after_parameters(tokens.skip(head.open))?;
        if !self.is_function(&head, body.is_some()) {
            return None;
        }
        if let Some(open) = body {
            self.bodies.push(Body { open, place: Place::Code, owner: head.name });
        }
        let kind = match self.place() {
            _ if tokens.is(begun.word, "delegate") => Kind::Type,
            Place::Type => Kind::Method,
            _ => Kind::Function,
        };
        self.add(begun, kind, head.name, last);
        self.name_as_written(&head);
        Some(head.open)
    }

    /// Widens the name of an operator or a destructor, and notes the type of `Type::name`.
    fn name_as_written(&mut self, head: &Head) {
        let tokens = self.tokens;
        let before = head.name.saturating_sub(1);
        let tilde = tokens.is(before, "~");
        let path = if tilde { before.saturating_sub(1) } else { before };
        let owner = path >= 2
            && tokens.is(path, ":")
            && tokens.is(path - 1, ":")
            && tokens.is_name(path - 2);
        let Some(added) = self.found.last_mut() else { return };
        if tilde {
            added.name.start = tokens.range(before).start;
        }
        if tokens.is(head.name, "operator") {
            added.name.end = tokens.range(head.open - 1).end;
        }
        if owner {
            added.owner = Some(tokens.range(path - 2));
            added.kind = Kind::Method;
        }
    }

    /// Reads to the parameters of a function.
    fn head(&self, from: usize) -> Option<Head> {
        let tokens = self.tokens;
        if STATEMENTS.iter().any(|word| tokens.is(from, word)) {
            return None;
        }
        let mut at = from;
        let mut name = None;
        let mut words = 0;
        while let Some(token) = tokens.get(at) {
            match (token.sort, tokens.of(at)) {
                (Sort::Word, b"operator") if self.language != Language::CSharp => {
                    let mut open = at + 1;
                    if tokens.is(open, "(") && tokens.is(open + 1, ")") {
                        open += 2;
                    }
                    let end = open + 12;
                    while open < end && !matches!(tokens.of(open), b"(" | b";" | b"{" | b"") {
                        open += 1;
                    }
                    return tokens.is(open, "(").then_some(Head { name: at, open, words: 2 });
                }
                (Sort::Word, b"operator") => return None,
                (
                    Sort::Word,
                    b"decltype" | b"__attribute__" | b"alignas" | b"__declspec" | b"explicit"
                    | b"noexcept",
                ) if tokens.is(at + 1, "(") => {
                    at = tokens.skip(at + 1);
                    continue;
                }
                (Sort::Word, _) => {
                    name = tokens.is_name(at).then_some(at);
                    words += 1;
                }
                (Sort::Sign, b"<") => {
                    let after = self.after_angles(at);
                    if after == at + 1 {
                        return None;
                    }
                    // `name<…>(`: a function with its types, or a specialisation.
                    name = name.filter(|_| tokens.is(after, "("));
                    at = after;
                    continue;
                }
                (Sort::Open, b"(") => {
                    let after = tokens.skip(at);
                    let named = name.filter(|&name| name + 1 == at || tokens.is(at - 1, ">"));
                    match named {
                        Some(name) if self.may_follow(after) => {
                            return Some(Head { name, open: at, words });
                        }
                        // A macro with arguments before the type.
                        Some(_) if tokens.is_name(after) && words <= 2 => words = 0,
                        _ => return None,
                    }
                    at = after;
                    name = None;
                    continue;
                }
                (Sort::Open, b"[") => {}
                (Sort::Sign, b"*" | b"&" | b":" | b"~" | b"." | b"?" | b"," | b"@" | b"^")
                    if !(tokens.is(at, ",") && words > 0) => {}
                _ => return None,
            }
            at = tokens.skip(at);
        }
        None
    }

    /// Returns whether what follows parameters is the rest of a function.
    fn may_follow(&self, at: usize) -> bool {
        const WORDS: &[&str] = &[
            "const",
            "noexcept",
            "override",
            "final",
            "throws",
            "throw",
            "where",
            "async",
            "sync",
            "requires",
            "volatile",
            "try",
            "native",
            "default",
            "mutable",
            "__attribute__",
            "asm",
            "__asm__",
        ];
        let tokens = self.tokens;
        match tokens.of(at) {
            b"{" | b";" | b":" | b"&" => true,
            b"=" => self.language != Language::Java,
            b"-" => tokens.is(at + 1, ">"),
            b"[" => self.language == Language::Java || self.language == Language::Cpp,
            word => {
                WORDS.iter().any(|known| known.as_bytes() == word)
                    || (tokens.is_name(at) && !word.iter().any(u8::is_ascii_lowercase))
            }
        }
    }

    /// Returns the last token of a function after its parameters, and the brace of its body.
    fn after_parameters(&self, from: usize) -> Option<(usize, Option<usize>)> {
        let tokens = self.tokens;
        let mut at = from;
        let mut initialises = false;
        while let Some(token) = tokens.get(at) {
            match tokens.of(at) {
                b"{" => {
                    let member = initialises && (tokens.is_name(at - 1) || tokens.is(at - 1, ">"));
                    if !member {
                        return Some((tokens.partner(at), Some(at)));
                    }
                }
                b";" => return Some((at, None)),
                b":" if tokens.is(at + 1, ":") => at += 1,
                b":" if self.language == Language::Cpp => initialises = true,
                b"=" => return Some((self.to_end(at), None)),
                b"," if !initialises && self.language == Language::C => {
                    return Some((self.to_end(at), None));
                }
                _ if token.sort == Sort::Close => return None,
                _ => {}
            }
            at = tokens.skip(at);
        }
        None
    }

    /// Returns whether a head is that of a function and no call of a macro or a constant.
    fn is_function(&self, head: &Head, body: bool) -> bool {
        let tokens = self.tokens;
        if head.words >= 2 {
            return true;
        }
        let owner = self.scopes.last().map_or(0, |scope| scope.owner);
        if owner > 0 && self.place() == Place::Type {
            return tokens.of(owner) == tokens.of(head.name);
        }
        body && matches!(
            self.language,
            Language::C | Language::Cpp | Language::ObjectiveC | Language::Dart
        )
    }

    /// Takes a getter or setter of Dart: `Type get name => …;`.
    fn accessor(&mut self, begun: Begun) -> Option<usize> {
        let tokens = self.tokens;
        let word = (begun.word..begun.word + 8)
            .take_while(|&at| !matches!(tokens.of(at), b"(" | b"{" | b";" | b"=" | b""))
            .find(|&at| tokens.is(at, "get") && tokens.is_name(at + 1))?;
        let (last, body) = self.after_parameters(word + 2)?;
        if let Some(open) = body {
            self.bodies.push(Body { open, place: Place::Code, owner: word + 1 });
        }
        self.add(begun, Kind::Method, word + 1, last);
        Some(word + 2)
    }

    /// Takes `name() { … }`, and `name <- function(…) …`.
    pub(super) fn shell(&mut self, begun: Begun) -> Option<usize> {
        let tokens = self.tokens;
        let name = begun.start;
        if !tokens.is_word(name) {
            return None;
        }
        let mut at = name + 1;
        if self.language == Language::R {
            at += if tokens.is(at, "<") && tokens.is(at + 1, "-") { 2 } else { 1 };
            let function = tokens.is(at - 1, "-") || tokens.is(at - 1, "=");
            if !function || !matches!(tokens.of(at), b"function" | b"\\") || !tokens.is(at + 1, "(")
            {
                return None;
            }
            at = tokens.skip(at + 1);
        } else if tokens.is(at, "(") && tokens.partner(at) == at + 1 {
            at += 2;
        } else {
            return None;
        }
        let last = if matches!(tokens.of(at), b"{" | b"(") {
            self.bodies.push(Body { open: at, place: Place::Code, owner: name });
            tokens.partner(at)
        } else if self.language == Language::R {
            self.to_end(at)
        } else {
            return None;
        };
        self.add(begun, Kind::Function, name, last);
        Some(name + 1)
    }
}
