//! Texts whose lines or statements say everything: Markdown, INI, TOML, YAML, SQL, Haskell, and the
//! scripts of components.

use super::found::Found;
use super::tokens::{Sort, Tokens};
use super::{Definition, Kind};
use crate::text::lines;

/// A definition that lasts until another of its rank or a higher one.
struct Open {
    rank: usize,
    index: usize,
}

/// Ends the definitions of a rank and below at an offset.
fn close(open: &mut Vec<Open>, found: &mut [Found], rank: usize, last: usize) {
    while let Some(one) = open.pop_if(|one| one.rank >= rank) {
        found[one.index].last = last;
    }
}

/// Adds a definition that begins at an offset.
fn begin(
    open: &mut Vec<Open>,
    found: &mut Vec<Found>,
    rank: usize,
    one: (Kind, usize, std::ops::Range<usize>),
) {
    let (kind, start, name) = one;
    open.push(Open { rank, index: found.len() });
    found.push(Found {
        kind,
        last: name.end.saturating_sub(1),
        name,
        owner: None,
        lead: start,
        start,
    });
}

/// Returns each line with its offset and without its end.
fn numbered(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    lines(text).map(|line| (line.start, line.text.trim_ascii_end()))
}

/// Finds the headings of Markdown; each lasts until the next of its level or above.
pub(super) fn markdown(text: &[u8]) -> Vec<Found> {
    let (mut found, mut open) = (Vec::new(), Vec::new());
    let mut fence: Option<(u8, usize)> = None;
    let mut content = 0;
    for (start, line) in numbered(text) {
        let shown = line.trim_ascii_start();
        let mark = shown.first().copied().unwrap_or(0);
        let marks = shown.iter().take_while(|&&byte| byte == mark).count();
        if matches!(mark, b'`' | b'~') && marks >= 3 {
            fence = match fence {
                None => Some((mark, marks)),
                Some((byte, length)) if byte == mark && marks >= length && shown.len() == marks => {
                    None
                }
                kept => kept,
            };
        }
        let title = shown.get(marks..).unwrap_or(b"");
        let heading =
            mark == b'#' && marks <= 6 && line.len() - shown.len() < 4 && title.starts_with(b" ");
        if fence.is_none() && heading {
            let name = title.trim_ascii().trim_ascii_end_marks();
            let from = start + line.len() - title.trim_ascii_start().len();
            if !name.is_empty() {
                close(&mut open, &mut found, marks, content);
                begin(
                    &mut open,
                    &mut found,
                    marks,
                    (Kind::Section, start, from..from + name.len()),
                );
            }
        }
        if !line.is_empty() {
            content = start + line.len() - 1;
        }
    }
    close(&mut open, &mut found, 0, content);
    found
}

trait TrimMarks {
    fn trim_ascii_end_marks(&self) -> &Self;
}

impl TrimMarks for [u8] {
    /// Without ` ##` at the end.
    fn trim_ascii_end_marks(&self) -> &Self {
        let marks = self.iter().rev().take_while(|&&byte| byte == b'#').count();
        let rest = &self[..self.len() - marks];
        if marks > 0 && rest.ends_with(b" ") { rest.trim_ascii_end() } else { self }
    }
}

/// Finds the sections and keys of INI and TOML.
pub(super) fn sections(text: &[u8]) -> Vec<Found> {
    let (mut found, mut open) = (Vec::new(), Vec::new());
    let mut content = 0;
    let mut quote: Option<&[u8]> = None;
    let mut depth = 0_i64;
    for (start, line) in numbered(text) {
        let inside = quote.is_some() || depth > 0;
        let (then, opened) = after_line(line, quote);
        quote = then;
        depth = (depth + opened).max(0);
        let shown = line.trim_ascii_start();
        let indent = line.len() - shown.len();
        if !inside && shown.starts_with(b"[") && shown.contains(&b']') {
            depth = 0;
            let marks = shown.iter().take_while(|&&byte| byte == b'[').count();
            let name = &shown[marks..memchr::memchr(b']', shown).unwrap_or(shown.len()).max(marks)];
            let from = start + indent + marks;
            close(&mut open, &mut found, 0, content);
            begin(&mut open, &mut found, 0, (Kind::Section, start, from..from + name.len()));
        } else if !inside
            && indent == 0
            && !matches!(shown.first(), None | Some(b'#' | b';' | b'!'))
        {
            let end = memchr::memchr2(b'=', b':', shown).unwrap_or(0);
            let name = shown[..end].trim_ascii_end();
            close(&mut open, &mut found, 1, content);
            if !name.is_empty() {
                begin(&mut open, &mut found, 1, (Kind::Key, start, start..start + name.len()));
            }
        }
        if !line.is_empty() && !matches!(shown.first(), Some(b'#' | b';')) {
            content = start + line.len() - 1;
        }
    }
    close(&mut open, &mut found, 0, content);
    found
}

/// Returns the string of several lines that a line leaves open, and how many brackets.
fn after_line<'a>(line: &[u8], mut quote: Option<&'a [u8]>) -> (Option<&'a [u8]>, i64) {
    let mut at = 0;
    let mut depth = 0;
    while at < line.len() {
        let rest = &line[at..];
        if let Some(open) = quote {
            let ends = rest.starts_with(open);
            quote = quote.filter(|_| !ends);
            at += if ends {
                open.len()
            } else {
                1 + usize::from(rest[0] == b'\\' && open == b"\"\"\"")
            };
            continue;
        }
        match rest[0] {
            b'#' => break,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            b'"' if rest.starts_with(b"\"\"\"") => quote = Some(b"\"\"\""),
            b'\'' if rest.starts_with(b"'''") => quote = Some(b"'''"),
            byte @ (b'"' | b'\'') => {
                at += memchr::memchr(byte, &rest[1..]).map_or(0, |end| end + 1)
            }
            _ => {}
        }
        at += if quote.is_some() { 3 } else { 1 };
    }
    (quote, depth)
}

/// Finds the keys of YAML at the left edge.
pub(super) fn yaml(text: &[u8]) -> Vec<Found> {
    let (mut found, mut open) = (Vec::new(), Vec::new());
    let mut content = 0;
    for (start, line) in numbered(text) {
        let key = line.first().is_some_and(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'"' | b'\'' | b'.' | b'/')
        });
        let end = memchr::memmem::find(line, b": ")
            .or_else(|| line.ends_with(b":").then(|| line.len() - 1));
        let quote = line.first().copied().filter(|byte| matches!(byte, b'"' | b'\''));
        if key && let Some(end) = end {
            let quoted = usize::from(end > 1 && quote.is_some_and(|quote| line[end - 1] == quote));
            close(&mut open, &mut found, 0, content);
            begin(
                &mut open,
                &mut found,
                0,
                (Kind::Key, start, start + quoted..start + end - quoted),
            );
        }
        if !line.is_empty() && !line.trim_ascii_start().starts_with(b"#") && line != b"---" {
            content = start + line.len() - 1;
        }
    }
    close(&mut open, &mut found, 0, content);
    found
}

/// Finds what the statements `CREATE …` of SQL create.
pub(super) fn sql(tokens: &Tokens<'_>) -> Vec<Found> {
    const FILLERS: &[&str] = &[
        "or",
        "replace",
        "temp",
        "temporary",
        "unique",
        "if",
        "not",
        "exists",
        "materialized",
        "global",
        "local",
        "unlogged",
        "recursive",
        "concurrently",
        "force",
        "editionable",
        "alter",
        "constraint",
        "external",
    ];
    let mut found = Vec::new();
    let mut at = 0;
    let mut fresh = true;
    while tokens.get(at).is_some() {
        let is = |at: usize, word: &str| tokens.of(at).eq_ignore_ascii_case(word.as_bytes());
        if !(fresh || tokens.is_first(at)) || !is(at, "create") {
            fresh = tokens.is(at, ";");
            at += 1;
            continue;
        }
        let start = at;
        let filler = |at: usize| FILLERS.iter().any(|word| is(at, word));
        at += 1;
        while filler(at) {
            at += 1;
        }
        let kind = match tokens.of(at).to_ascii_lowercase().as_slice() {
            b"table" | b"view" => Kind::Struct,
            b"function" | b"procedure" | b"trigger" | b"aggregate" => Kind::Function,
            b"type" | b"domain" => Kind::Type,
            b"schema" | b"database" | b"package" | b"extension" => Kind::Module,
            b"index" | b"sequence" | b"policy" | b"role" => Kind::Constant,
            _ => continue,
        };
        at += 1;
        while filler(at) {
            at += 1;
        }
        let name = sql_name(tokens, at);
        let mut end = at;
        while tokens.get(end).is_some() && !tokens.is(end, ";") {
            end = tokens.after(end);
        }
        let end = end.min(tokens.len() - 1);
        if let Some(name) = name {
            let start = tokens.range(start).start;
            found.push(Found {
                kind,
                name,
                owner: None,
                lead: start,
                start,
                last: tokens.range(end).end - 1,
            });
        }
        at = end;
        fresh = false;
    }
    found
}

/// Returns the last part of a name of SQL, without its quotes.
fn sql_name(tokens: &Tokens<'_>, mut at: usize) -> Option<std::ops::Range<usize>> {
    loop {
        let quoted = usize::from(matches!(tokens.of(at), b"\"" | b"`" | b"["));
        let name = at + quoted;
        if !tokens.is_name(name) {
            return None;
        }
        if !tokens.is(name + quoted + 1, ".") {
            return Some(tokens.range(name));
        }
        at = name + quoted + 2;
    }
}

/// Finds the declarations of Haskell, which begin at the left edge. The equations of one name are
/// one definition.
pub(super) fn haskell(tokens: &Tokens<'_>) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut last = 0;
    let mut open = false;
    for at in 0..tokens.len() {
        let range = tokens.range(at);
        let edge =
            tokens.is_first(at) && (range.start == 0 || tokens.text[range.start - 1] == b'\n');
        if edge && tokens.get(at).is_some_and(|token| token.sort != Sort::Close) {
            if open && let Some(one) = found.last_mut() {
                one.last = last;
            }
            let declared = haskell_declaration(tokens, at);
            let same = declared.as_ref().is_some_and(|(_, name)| {
                found.last().is_some_and(|one| {
                    one.kind == Kind::Function
                        && tokens.text[one.name.clone()] == tokens.text[name.clone()]
                })
            });
            open = declared.is_some();
            if let Some((kind, name)) = declared
                && !same
            {
                found.push(Found {
                    kind,
                    last: range.start,
                    name,
                    owner: None,
                    lead: range.start,
                    start: range.start,
                });
            }
        }
        last = range.end.saturating_sub(1);
    }
    if open && let Some(one) = found.last_mut() {
        one.last = last;
    }
    found
}

/// Returns what a line of Haskell declares.
fn haskell_declaration(tokens: &Tokens<'_>, at: usize) -> Option<(Kind, std::ops::Range<usize>)> {
    let kind = match tokens.of(at) {
        b"data" | b"newtype" => Kind::Struct,
        b"type" => Kind::Type,
        b"class" => Kind::Interface,
        b"module" | b"import" | b"instance" | b"deriving" | b"infixl" | b"infixr" | b"infix"
        | b"foreign" => return None,
        _ => Kind::Function,
    };
    if kind == Kind::Function {
        let word = tokens.is_name(at) && !tokens.of(at)[0].is_ascii_uppercase();
        return word.then(|| (kind, tokens.range(at)));
    }
    let mut name = at + 1;
    if kind == Kind::Interface {
        // `class (Eq a) => Name a`: the name is after the context.
        let arrow =
            (name..name + 60).take_while(|&at| !tokens.is_first(at) && !tokens.is(at, "where"));
        name = arrow
            .clone()
            .find(|&at| tokens.is(at, "=") && tokens.is(at + 1, ">"))
            .map_or(name, |at| at + 2);
    }
    while matches!(tokens.of(name), b"family" | b"instance") {
        name += 1;
    }
    tokens.is_name(name).then(|| (kind, tokens.range(name)))
}

/// Finds the definitions of the scripts in a component: `<script …> … </script>`, or the part
/// between the first two lines `---`.
pub(super) fn component(text: &[u8], find: impl Fn(&[u8]) -> Vec<Definition>) -> Vec<Definition> {
    let mut list: Vec<Definition> = Vec::new();
    let mut lines_before = 0;
    let mut counted = 0;
    for part in scripts(text) {
        lines_before += memchr::memchr_iter(b'\n', &text[counted..part.start]).count() as u32;
        counted = part.start;
        let count = list.len() as u32;
        list.extend(find(&text[part.clone()]).into_iter().map(|one| Definition {
            name: one.name.start + part.start..one.name.end + part.start,
            start_line: one.start_line + lines_before,
            end_line: one.end_line + lines_before,
            lead_line: one.lead_line + lines_before,
            parent: one.parent.map(|parent| parent + count),
            ..one
        }));
    }
    list
}

/// Returns the ranges of the scripts in a component, in order.
fn scripts(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut parts = Vec::new();
    let mut at = 0;
    if text.starts_with(b"---") {
        at = memchr::memmem::find(&text[3..], b"\n---").map_or(text.len(), |end| end + 3);
        parts.push(3..at);
    }
    while let Some(found) = memchr::memmem::find(&text[at..], b"<script") {
        let open = at + found;
        let Some(from) = memchr::memchr(b'>', &text[open..]) else { break };
        let from = open + from + 1;
        at = memchr::memmem::find(&text[from..], b"</script").map_or(text.len(), |end| from + end);
        parts.push(from..at);
    }
    parts
}
