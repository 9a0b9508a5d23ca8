//! Where a definition ends.

use super::super::form::Callable;
use super::super::tokens::Sort;
use super::Walker;

/// Angle brackets longer than this are comparisons.
const MAX_ANGLES: usize = 400;

impl Walker<'_> {
    /// Returns the index after `<…>`; that after `<` if it is no bracket.
    pub(super) fn after_angles(&self, at: usize) -> usize {
        let tokens = self.tokens;
        let mut depth = 0_u32;
        let mut here = at;
        while here < at + MAX_ANGLES && !tokens.is_tired() {
            match tokens.of(here) {
                b"<" => depth += 1,
                b">" if tokens.is(here - 1, "-") || tokens.is(here - 1, "=") => {}
                b">" => {
                    depth -= 1;
                    if depth == 0 {
                        return here + 1;
                    }
                }
                b";" | b"" | b"}" | b")" => break,
                _ => {}
            }
            here = tokens.skip(here);
        }
        at + 1
    }

    /// Returns the last token of a definition, and the brace of its body if it has one.
    pub(super) fn to_body(&self, from: usize) -> (usize, Option<usize>) {
        let tokens = self.tokens;
        let mut at = from;
        while let Some(token) = tokens.get(at) {
            match tokens.of(at) {
                b"{" if !self.is_type_literal(at) => return (tokens.partner(at), Some(at)),
                b";" => return (at, None),
                b"," if self.place() == super::Place::Object => break,
                _ if token.sort == Sort::Close || self.ends_before(at, true) => break,
                _ => {}
            }
            at = tokens.skip(at);
        }
        (at.saturating_sub(1), None)
    }

    /// Returns the last token of a definition whose body is in braces or an expression after `=`, and
    /// the brace. A body by indentation ends as a value does.
    pub(super) fn to_either(&self, from: usize) -> (usize, Option<usize>) {
        let tokens = self.tokens;
        let mut at = from;
        while let Some(token) = tokens.get(at) {
            let by_column = tokens.is(at, ":") && tokens.is_first(at + 1) && self.indents(at + 1);
            match tokens.of(at) {
                b"{" => return (tokens.partner(at), Some(at)),
                b";" => return (at, None),
                b"=" if !tokens.is(at + 1, ">") => {
                    return (self.to_end(at + 1), tokens.is(at + 1, "{").then_some(at + 1));
                }
                _ if by_column => return (self.to_end(at + 1), None),
                _ if token.sort == Sort::Close || self.ends_before(at, true) => break,
                _ => {}
            }
            at = tokens.skip(at);
        }
        (at.saturating_sub(1), None)
    }

    /// Returns whether a token that begins a line is further to the right than the statement.
    fn indents(&self, at: usize) -> bool {
        self.tokens.column(at) > self.column
    }

    /// Returns the last token of a value.
    pub(super) fn to_end(&self, from: usize) -> usize {
        let tokens = self.tokens;
        let mut at = from;
        while let Some(token) = tokens.get(at) {
            if tokens.is(at, ";") {
                return at;
            }
            if token.sort == Sort::Close || self.ends_before(at, false) {
                break;
            }
            at = tokens.skip(at);
        }
        at.saturating_sub(1)
    }

    /// Returns whether a statement ends before a token that begins a line: it is not further to the
    /// right than the statement, and neither it nor the token before goes on.
    fn ends_before(&self, at: usize, header: bool) -> bool {
        const GO_ON: &[&str] =
            &["extends", "implements", "where", "with", "throws", "else", "instanceof"];
        let tokens = self.tokens;
        if !(self.rules.newline && tokens.is_first(at)) {
            return false;
        }
        let right = self.indents(at);
        let before = tokens.of(at - 1);
        let open = tokens.get(at - 1).is_some_and(|token| token.sort == Sort::Sign)
            && !matches!(before, b";" | b"?" | b"!" | b">");
        let arrow = before == b">" && tokens.is(at.saturating_sub(2), "=");
        let goes_on = match tokens.get(at).map(|token| token.sort) {
            Some(Sort::Sign) => !matches!(tokens.of(at), b"@" | b"#"),
            Some(Sort::Open) => header || right,
            Some(Sort::Word) => GO_ON.iter().any(|word| tokens.is(at, word)),
            _ => false,
        };
        !(right || open || arrow || goes_on)
    }

    /// Returns whether a brace in a header of TypeScript is a type: `function f(): { a: string } {`.
    fn is_type_literal(&self, at: usize) -> bool {
        self.rules.callable == Callable::Member
            && matches!(self.tokens.of(at - 1), b":" | b"|" | b"&" | b"<" | b"," | b"=" | b"is")
    }
}
