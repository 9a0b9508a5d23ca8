//! Python: a definition ends before the next statement that is not further to the right.

use super::Kind;
use super::found::Found;
use super::tokens::{Sort, Tokens};

/// A definition whose end is not reached.
struct Open {
    column: u16,
    index: usize,
    class: bool,
}

/// Finds the definitions of Python, and what is assigned at the top level.
pub(super) fn walk(tokens: &Tokens<'_>) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut lead = None;
    let mut last = 0;
    let mut at = 0;
    while tokens.get(at).is_some() {
        let start = tokens.range(at).start;
        if tokens.is_first(at) && !continued(tokens.text, start) {
            let column = tokens.column(at);
            close(&mut open, &mut found, column, last);
            if tokens.is(at, "@") {
                lead = lead.or(Some(start));
            } else {
                let lead = lead.take().unwrap_or(start);
                statement(tokens, at, (lead, column), &mut open, &mut found);
            }
        }
        let next = tokens.after(at);
        last = tokens.range(next - 1).end.saturating_sub(1);
        at = next;
    }
    close(&mut open, &mut found, 0, last);
    found
}

/// Ends the definitions that a statement in a column is not part of.
fn close(open: &mut Vec<Open>, found: &mut [Found], column: u16, last: usize) {
    while let Some(one) = open.pop_if(|one| one.column >= column) {
        found[one.index].last = last;
    }
}

/// Takes the statement that begins with a token.
fn statement(
    tokens: &Tokens<'_>,
    at: usize,
    (lead, column): (usize, u16),
    open: &mut Vec<Open>,
    found: &mut Vec<Found>,
) {
    let start = tokens.range(at).start;
    let word = at + usize::from(tokens.is(at, "async"));
    let class = tokens.is(word, "class");
    if (class || tokens.is(word, "def")) && tokens.is_name(word + 1) {
        let method = open.last().is_some_and(|one| one.class);
        let kind = match (class, method) {
            (true, _) => Kind::Class,
            (_, true) => Kind::Method,
            _ => Kind::Function,
        };
        open.push(Open { column, index: found.len(), class });
        found.push(Found {
            kind,
            name: tokens.range(word + 1),
            owner: None,
            lead,
            start,
            last: start,
        });
    } else if column == 0 && tokens.is_name(at) && assigned(tokens, at + 1) {
        let name = tokens.range(at);
        let constant = !tokens.of(at).iter().any(u8::is_ascii_lowercase);
        let kind = if constant { Kind::Constant } else { Kind::Variable };
        open.push(Open { column, index: found.len(), class: false });
        found.push(Found { kind, name, owner: None, lead, start, last: start });
    }
}

/// Returns whether `= …` follows, after a type at most; `==` is none.
fn assigned(tokens: &Tokens<'_>, at: usize) -> bool {
    if tokens.is(at, "=") {
        return !tokens.is(at + 1, "=");
    }
    tokens.is(at, ":")
        && !tokens.is_first(at + 1)
        && tokens.get(at + 1).is_some_and(|t| t.sort != Sort::Sign)
}

/// Returns whether the line before ends with a backslash.
fn continued(text: &[u8], at: usize) -> bool {
    let line = text[..at].trim_ascii_end_spaces();
    line.ends_with(b"\\\n") || line.ends_with(b"\\\r\n")
}

trait TrimSpaces {
    fn trim_ascii_end_spaces(&self) -> &Self;
}

impl TrimSpaces for [u8] {
    fn trim_ascii_end_spaces(&self) -> &Self {
        let spaces = self.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        &self[..self.len() - spaces]
    }
}
