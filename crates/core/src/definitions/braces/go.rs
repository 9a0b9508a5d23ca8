//! Go: receivers, groups of declarations, and the methods of interfaces.

use super::super::Kind;
use super::{Begun, Body, Place, Walker};

impl Walker<'_> {
    /// Takes a declaration of Go.
    pub(super) fn go(&mut self, begun: Begun, kind: Kind) -> Option<usize> {
        let tokens = self.tokens;
        let after = begun.word + 1;
        if kind == Kind::Function {
            return self.go_function(begun);
        }
        if self.place() == Place::Code {
            return None;
        }
        if tokens.is(after, "(") {
            self.bodies.push(Body { open: after, place: Place::Group(kind), owner: 0 });
            return Some(after);
        }
        self.go_spec(begun, kind, after)
    }

    /// Takes a line of a group, or what follows its word outside one.
    pub(super) fn go_spec(&mut self, begun: Begun, kind: Kind, name: usize) -> Option<usize> {
        let tokens = self.tokens;
        if !tokens.is_name(name) {
            return None;
        }
        let last = self.to_end(name + 1);
        let mut at = name + 1;
        at = if tokens.is(at, "[") { tokens.skip(at) } else { at };
        at += usize::from(tokens.is(at, "="));
        let body = if tokens.is(at + 1, "{") { at + 1 } else { 0 };
        let (kind, place) = match (kind, tokens.of(at)) {
            (Kind::Type, b"struct") => (Kind::Struct, Place::Code),
            (Kind::Type, b"interface") => (Kind::Interface, Place::Type),
            _ => (kind, Place::Code),
        };
        if body > 0 {
            self.bodies.push(Body { open: body, place, owner: name });
        }
        // The range of a type is from its name, as those of a group are.
        let start = if matches!(self.place(), Place::Group(_)) { name } else { begun.start };
        self.add(Begun { start, ..begun }, kind, name, last);
        Some(name + 1)
    }

    fn go_function(&mut self, begun: Begun) -> Option<usize> {
        let tokens = self.tokens;
        let open = begun.word + 1;
        let receiver = tokens.is(open, "(");
        let name = if receiver { tokens.skip(open) } else { open };
        if !tokens.is_name(name) {
            return None;
        }
        let (last, body) = self.to_body(name + 1);
        if let Some(open) = body {
            self.bodies.push(Body { open, place: Place::Code, owner: name });
        }
        self.add(begun, if receiver { Kind::Method } else { Kind::Function }, name, last);
        let end = (open..name).find(|&at| tokens.is(at, "[")).unwrap_or(name.saturating_sub(1));
        if receiver && let Some(added) = self.found.last_mut() {
            added.owner = tokens.is_name(end.saturating_sub(1)).then(|| tokens.range(end - 1));
        }
        Some(name + 1)
    }

    /// Takes a method of an interface.
    pub(super) fn go_method(&mut self, begun: Begun) -> Option<usize> {
        let name = begun.start;
        if !(self.tokens.is_name(name) && self.tokens.is(name + 1, "(")) {
            return None;
        }
        let last = self.to_end(name + 1);
        self.add(begun, Kind::Method, name, last);
        Some(name + 1)
    }
}
