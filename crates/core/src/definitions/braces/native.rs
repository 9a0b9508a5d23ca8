//! Types of C and C++, `typedef`, and the methods of Objective-C.

use super::super::tokens::Sort;
use super::super::{Kind, Language};
use super::{Begun, Body, Walker, place_of};

impl Walker<'_> {
    /// Takes `struct Name … {`; without a body it only uses the type.
    pub(super) fn tagged(&mut self, begun: Begun, kind: Kind) -> Option<usize> {
        let tokens = self.tokens;
        let mut at = begun.word + 1;
        if kind == Kind::Enum && matches!(tokens.of(at), b"class" | b"struct") {
            at += 1;
        }
        let mut name = None;
        loop {
            if tokens.is(at, "(") || tokens.is(at, "[") {
                at = tokens.skip(at);
            } else if tokens.is(at, "<") && name.is_some() {
                at = self.after_angles(at);
            } else if tokens.is(at, ":") && tokens.is(at + 1, ":") {
                at = tokens.next(at + 1);
            } else if tokens.is(at, "final") {
                at = tokens.next(at);
            } else if tokens.is_name(at) {
                name = Some(at);
                at = tokens.next(at);
            } else {
                break;
            }
        }
        let name = name?;
        if !matches!(tokens.of(at), b"{" | b":") {
            return None;
        }
        let (last, body) = self.to_body(at);
        let open = body?;
        self.bodies.push(Body { open, place: place_of(kind), owner: name });
        self.add(begun, kind, name, last);
        Some(name + 1)
    }

    /// Takes the name that `typedef` gives; the type itself is taken afterwards.
    pub(super) fn type_name(&mut self, at: usize) {
        let tokens = self.tokens;
        let last = self.to_end(at);
        let mut name = None;
        let mut tag = None;
        let mut here = at + 1;
        while here < last {
            let pointer = tokens.is(here, "(") && tokens.is(here + 1, "*");
            if pointer && tokens.is_name(here + 2) {
                name = Some(here + 2);
                break;
            }
            if tokens.is(here, "{") {
                tag = name.take();
            } else if tokens.is_name(here) && !tokens.is(here, "__attribute__") {
                name = Some(here);
            }
            here = tokens.skip(here);
        }
        let begun = Begun { lead: at, start: at, word: at };
        if let Some(name) = name
            && tag.is_none_or(|tag| tokens.of(tag) != tokens.of(name))
        {
            self.add(begun, Kind::Type, name, last);
        }
    }

    /// Takes `@interface Name … @end`, and `- (type)name:… { … }`.
    pub(super) fn objective(&mut self, begun: Begun) -> Option<usize> {
        let tokens = self.tokens;
        let at = begun.start;
        if self.language != Language::ObjectiveC {
            return None;
        }
        if matches!(tokens.of(at), b"-" | b"+") && tokens.is(at + 1, "(") {
            let name = tokens.skip(at + 1);
            let (last, body) = self.to_body(name);
            if let Some(open) = body {
                self.bodies.push(Body { open, place: place_of(Kind::Method), owner: name });
            }
            self.add(begun, Kind::Method, tokens.is_name(name).then_some(name)?, last);
            return Some(name + 1);
        }
        let kind = match tokens.of(at + 1) {
            b"interface" => Kind::Class,
            b"implementation" => Kind::Implementation,
            b"protocol" => Kind::Interface,
            _ => return None,
        };
        if !tokens.is(at, "@") || !tokens.is_name(at + 2) || tokens.is(at + 3, ";") {
            return None;
        }
        self.add(begun, kind, at + 2, self.to_at_end(at + 3));
        Some(at + 3)
    }

    /// Returns the token `end` of `@end`, or the last one before the next `@interface` or so.
    fn to_at_end(&self, from: usize) -> usize {
        let tokens = self.tokens;
        let mut at = from;
        while let Some(token) = tokens.get(at) {
            if token.sort == Sort::Sign && token.first && tokens.is(at, "@") {
                match tokens.of(at + 1) {
                    b"end" => return at + 1,
                    b"interface" | b"implementation" | b"protocol" => break,
                    _ => {}
                }
            }
            at = tokens.next(at);
        }
        at.saturating_sub(1)
    }
}
