//! JavaScript and TypeScript: members of classes and objects, and functions that are assigned.

use super::super::Kind;
use super::super::tokens::{Sort, Tokens};
use super::{Begun, Body, MAX_MARKS, Place, Walker};

/// Returns whether a brace begins an object and no block, by the tokens before it.
pub(super) fn opens_object(tokens: &Tokens<'_>, at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return false };
    match tokens.of(before) {
        b"=" | b"(" | b"," | b"[" | b"?" | b"&" | b"|" | b"return" | b"in" => true,
        b"default" => before > 0 && tokens.is(before - 1, "export"),
        b">" => before > 0 && !tokens.is(before - 1, "="),
        b":" => !is_label(tokens, before),
        _ => false,
    }
}

/// Returns whether a colon ends `case …`, `default` or a label.
fn is_label(tokens: &Tokens<'_>, colon: usize) -> bool {
    for at in (colon.saturating_sub(8)..colon).rev() {
        match tokens.of(at) {
            b"case" | b"default" => return true,
            b"{" | b"}" | b";" | b"," | b"?" | b"(" => return false,
            _ => {}
        }
    }
    false
}

/// Returns the kind of a value that follows `=`, if it is a function or a class.
pub(super) fn value_kind(tokens: &Tokens<'_>, after_name: usize) -> Option<Kind> {
    let mut at = after_name;
    if tokens.is(at, ":") {
        at = tokens.find(at, 200, |at| {
            matches!(tokens.of(at), b"=" | b";" | b"") && !tokens.is(at + 1, ">")
        })?;
    }
    if !tokens.is(at, "=") {
        return None;
    }
    match tokens.of(at + 1) {
        b"class" => Some(Kind::Class),
        _ => is_function(tokens, at + 1).then_some(Kind::Function),
    }
}

/// Returns whether a word begins a statement, and is no name of a method before parentheses.
fn is_control(word: &[u8]) -> bool {
    matches!(
        word,
        b"if"
            | b"for"
            | b"while"
            | b"switch"
            | b"catch"
            | b"return"
            | b"function"
            | b"new"
            | b"with"
    )
}

/// Returns whether a function begins at a token.
fn is_function(tokens: &Tokens<'_>, at: usize) -> bool {
    let at = at + usize::from(tokens.is(at, "async") && !tokens.is(at + 1, "="));
    if tokens.is(at, "function") {
        return true;
    }
    let arrow = |at: usize| tokens.is(at, "=") && tokens.is(at + 1, ">");
    if tokens.is_name(at) {
        return arrow(at + 1);
    }
    let mut at = at;
    if tokens.is(at, "<") {
        at = tokens.find(at, 200, |at| matches!(tokens.of(at), b"(" | b";" | b"")).unwrap_or(at);
    }
    if !tokens.is(at, "(") {
        return false;
    }
    let mut after = tokens.skip(at);
    if tokens.is(after, ":") {
        let end = after + 100;
        while after < end
            && !arrow(after)
            && !matches!(tokens.of(after), b";" | b"," | b"" | b")" | b"}")
        {
            after = tokens.skip(after);
        }
    }
    arrow(after)
}

impl Walker<'_> {
    /// Takes a member of a class or an object.
    pub(super) fn member(&mut self, begun: Begun) -> Option<usize> {
        let tokens = self.tokens;
        let mut name = begun.word + usize::from(tokens.is(begun.word, "*"));
        name += usize::from(tokens.is(name, "#") && tokens.joined(name));
        let literal = tokens.get(name).is_some_and(|token| token.sort == Sort::Literal);
        let computed = tokens.is(name, "[");
        if !(tokens.is_name(name) || literal || computed) || is_control(tokens.of(name)) {
            return None;
        }
        let mut after = tokens.skip(name);
        after += usize::from(matches!(tokens.of(after), b"?" | b"!"));
        if tokens.is(after, "<") {
            after = self.after_angles(after);
        }
        if tokens.is(after, "(") {
            return self.method(begun, name, after);
        }
        let class = self.place() == Place::Type;
        if !class || literal || value_kind(tokens, after) != Some(Kind::Function) {
            return None;
        }
        let last = self.to_end(after);
        self.add(begun, Kind::Method, name, last);
        Some(after)
    }

    /// Takes a method: its body, or the end of its signature.
    fn method(&mut self, begun: Begun, name: usize, open: usize) -> Option<usize> {
        let (last, body) = self.to_body(self.tokens.skip(open));
        match body {
            Some(body) => self.bodies.push(Body { open: body, place: Place::Code, owner: name }),
            None if self.place() != Place::Type => return None,
            None => {}
        }
        self.add(begun, Kind::Method, name, last);
        if self.tokens.is(name, "[")
            && let Some(added) = self.found.last_mut()
        {
            added.name.end = self.tokens.range(self.tokens.partner(name)).end;
        }
        Some(open)
    }

    /// Takes `const name = value, other = value`: each name with its value.
    pub(super) fn declarators(
        &mut self,
        mut begun: Begun,
        kind: Kind,
        first: usize,
    ) -> Option<usize> {
        let tokens = self.tokens;
        let (mut name, end) = (first, self.to_end(first + 1));
        let mut taken = None;
        loop {
            let comma = self.declarator_end(name + 1, end);
            let last = comma.map_or(end, |comma| comma - 1);
            let kind = value_kind(tokens, name + 1).unwrap_or(kind);
            if self.place() != Place::Code || matches!(kind, Kind::Function | Kind::Class) {
                self.add(begun, kind, name, last);
                taken = Some(first + 1);
            }
            if kind == Kind::Class {
                self.class_value(name, last);
            }
            name = match comma {
                Some(comma) => comma + 1,
                None => return taken,
            };
            begun = Begun { lead: name, start: name, word: name };
        }
    }

    /// Returns the comma after a value that another name and its value follow, before a token.
    fn declarator_end(&self, from: usize, end: usize) -> Option<usize> {
        let tokens = self.tokens;
        let mut at = from;
        while at < end && !tokens.is_tired() {
            if tokens.is(at, ",")
                && tokens.is_name(at + 1)
                && matches!(tokens.of(at + 2), b"=" | b":" | b"," | b";" | b"!")
            {
                return Some(at);
            }
            at = if tokens.is(at, "<") { self.after_angles(at) } else { tokens.skip(at) };
        }
        None
    }

    /// Takes `exports.name = function`, `Type.prototype.name = function`.
    pub(super) fn assignment(&mut self, begun: Begun) -> Option<usize> {
        let tokens = self.tokens;
        let mut name = begun.start;
        if !tokens.is_name(name) || !tokens.is(name + 1, ".") {
            return None;
        }
        while tokens.is(name + 1, ".") && tokens.is_name(name + 2) && name < begun.start + MAX_MARKS
        {
            name = tokens.next(name + 1);
        }
        let kind = value_kind(tokens, name + 1)?;
        if !tokens.is(name + 1, "=") {
            return None;
        }
        let last = self.to_end(name + 1);
        self.add(begun, kind, name, last);
        if kind == Kind::Class {
            self.class_value(name, last);
        }
        Some(name + 1)
    }

    /// Notes the body of a class that is a value.
    pub(super) fn class_value(&mut self, name: usize, last: usize) {
        let tokens = self.tokens;
        let class = tokens.find(name, last.saturating_sub(name), |at| tokens.is(at, "class"));
        if let Some(body) = class.and_then(|class| self.to_body(class + 1).1) {
            self.bodies.push(Body { open: body, place: Place::Type, owner: name });
        }
    }
}
