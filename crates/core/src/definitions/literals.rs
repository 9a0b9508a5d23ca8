//! Literals: strings, characters, regular expressions, templates, heredocs.
//!
//! A string can have holes (`${…}`, `\(…)`) with strings inside; they are followed on an explicit
//! stack, at most [`MAX_HOLES`] deep.

use std::collections::HashMap;

use super::tokens::{Sort, Tokens};
use crate::text::lines;

/// Deeper holes than this are taken as text.
const MAX_HOLES: usize = 256;

/// A form of literal.
#[derive(Clone, Copy, Debug)]
pub(super) enum Literal {
    /// Between an opening and a closing text.
    Text(Quote),
    /// `'a'`, but not the lifetime `'a`.
    RustChar,
    /// `r#"…"#`, also with `b` or `c` before it.
    RustRaw,
    /// `R"x(…)x"`.
    CppRaw,
    /// `[==[…]==]`.
    LuaLong,
    /// `/…/` where no division can be; `true` for languages whose words may call with it (Ruby).
    Regex(bool),
    /// A document until a line with its name, begun by `<<` or `<<<`.
    Heredoc(&'static str),
    /// `#"…"#`, with any number of `#`.
    SwiftRaw,
    /// `\\` to the end of the line.
    ZigLine,
    /// `'…'` of JavaScript; after a word that is no keyword it is text of JSX: `don't`.
    Apostrophe,
    /// `q{…}`, `qw(…)`, `m/…/`, `s/…/…/`, `%w[…]`: a word before any bracket or sign.
    Operator(&'static [(&'static str, u8)]),
    /// `$$tag$ … $$tag$`.
    DollarText,
    /// The bytes that begin with this text and have this many more: `$#`, `\'`.
    Fixed(&'static str, usize),
    /// Text outside `<?php … ?>`.
    Markup,
    /// `=begin … =end` of Ruby and POD of Perl, at the beginning of a line.
    Pod(&'static str, &'static str),
}

/// A literal between two texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quote {
    /// What begins it.
    pub open: &'static str,
    /// What ends it.
    pub close: &'static str,
    /// The byte after which the next one is text; 0 for none.
    pub escape: u8,
    /// Whether it can have several lines.
    pub lines: bool,
    /// What begins a hole with code, ending in its bracket; empty for none.
    pub hole: &'static str,
}

impl Quote {
    /// A string of one line, with backslashes.
    pub const fn line(quote: &'static str) -> Literal {
        Self::with(quote, false, "")
    }

    /// A string of several lines, with backslashes.
    pub const fn lines(quote: &'static str) -> Literal {
        Self::with(quote, true, "")
    }

    /// A string with backslashes and holes.
    pub const fn with(quote: &'static str, lines: bool, hole: &'static str) -> Literal {
        Literal::Text(Self { open: quote, close: quote, escape: b'\\', lines, hole })
    }

    /// A string without escapes.
    pub const fn raw(open: &'static str, close: &'static str) -> Literal {
        Literal::Text(Self { open, close, escape: 0, lines: true, hole: "" })
    }
}

/// A place in a text.
#[derive(Clone, Copy)]
pub(super) struct Here<'a, 't> {
    /// The text.
    pub text: &'a [u8],
    /// The offset.
    pub at: usize,
    /// The tokens before.
    pub tokens: &'t Tokens<'a>,
    /// The index of the last one.
    pub before: Option<usize>,
}

impl Here<'_, '_> {
    /// Notes bytes that were read in vain.
    fn waste<T>(&self, bytes: usize) -> Option<T> {
        self.tokens.waste(bytes);
        None
    }
}

impl Literal {
    /// Calls `mark` with each byte with which a literal of this form can begin.
    pub fn first_bytes(&self, mut mark: impl FnMut(u8)) {
        let firsts: &[u8] = match self {
            Self::Text(Quote { open: text, .. })
            | Self::Heredoc(text)
            | Self::Fixed(text, _)
            | Self::Pod(text, _) => &text.as_bytes()[..1],
            Self::RustChar | Self::Apostrophe => b"'",
            Self::RustRaw => b"bcr",
            Self::CppRaw => b"R",
            Self::LuaLong => b"[",
            Self::Regex(_) => b"/",
            Self::SwiftRaw => b"#",
            Self::ZigLine => b"\\",
            Self::DollarText => b"$",
            Self::Operator(words) => {
                return words.iter().for_each(|(word, _)| mark(word.as_bytes()[0]));
            }
            Self::Markup => return (0..=u8::MAX).for_each(mark),
        };
        firsts.iter().copied().for_each(mark);
    }

    /// Returns the length of the literal that begins here.
    pub fn length(&self, here: Here<'_, '_>) -> Option<usize> {
        let text = &here.text[here.at..];
        if matches!(self, Self::Regex(_) | Self::Operator(_)) && here.tokens.is_wasteful() {
            return None;
        }
        match self {
            Self::Text(quote) => text_length(here, quote),
            Self::RustChar => rust_char(text),
            Self::RustRaw => rust_raw(text),
            Self::CppRaw => cpp_raw(text),
            Self::LuaLong => lua_long(text),
            Self::Regex(calls) => {
                (text[0] == b'/' && regex_here(here, *calls)).then(|| regex(here))?
            }
            Self::Heredoc(mark) => heredoc(here, mark),
            Self::SwiftRaw => swift_raw(here),
            Self::ZigLine => text.starts_with(b"\\\\").then(|| line_length(text)),
            Self::Apostrophe => apostrophe(here),
            Self::Operator(words) => operator(here, words),
            Self::DollarText => dollar_text(text),
            Self::Fixed(open, more) => {
                begins(text, open).then(|| (open.len() + more).min(text.len()))
            }
            Self::Markup => markup(here),
            Self::Pod(open, close) => pod(here, open, close),
        }
    }
}

fn line_length(text: &[u8]) -> usize {
    memchr::memchr(b'\n', text).unwrap_or(text.len())
}

/// What a string is in at one level of its holes.
enum Level {
    Text(Quote),
    Hole { open: u8, close: u8, depth: u32 },
}

/// Returns the length of a string with its holes. A hole that ends in no bracket of its own is text.
fn text_length(here: Here<'_, '_>, quote: &Quote) -> Option<usize> {
    let text = &here.text[here.at..];
    if !begins(text, quote.open) {
        return None;
    }
    let plain = Quote { hole: "", ..*quote };
    let first = if here.tokens.is_wasteful() { &plain } else { quote };
    let length = quote_length(text, first).or_else(|at| {
        here.tokens.waste(at);
        quote_length(text, &plain)
    });
    length.ok()
}

/// Returns the length of a string that begins a text, or how far it was read in vain.
fn quote_length(text: &[u8], quote: &Quote) -> Result<usize, usize> {
    let mut at = quote.open.len();
    let mut levels = vec![Level::Text(*quote)];
    while let Some(level) = levels.last_mut() {
        let Some(&byte) = text.get(at) else { return Ok(text.len()) };
        match level {
            Level::Text(form) => {
                let form = *form;
                let first = |mark: &str| mark.as_bytes().first().copied();
                let marks = [Some(form.escape), first(form.close), first(form.hole), Some(b'\n')];
                if !marks.contains(&Some(byte)) {
                    at += 1;
                } else if byte == form.escape && form.escape != 0 && !starts(text, at, form.hole) {
                    at += 2;
                } else if starts(text, at, form.close) {
                    at += form.close.len();
                    // A doubled quote is one of the text, where there is no other escape.
                    if form.escape == 0 && form.close.len() == 1 && starts(text, at, form.close) {
                        at += 1;
                    } else {
                        levels.pop();
                    }
                } else if byte == b'\n' && !form.lines {
                    return if levels.len() == 1 { Ok(at) } else { Err(at) };
                } else if starts(text, at, form.hole) && levels.len() < MAX_HOLES {
                    at += form.hole.len();
                    levels.push(hole_of(form.hole));
                } else {
                    at += 1;
                }
            }
            Level::Hole { open, close, depth } => {
                at += 1;
                if byte == *open {
                    *depth += 1;
                } else if byte == *close {
                    *depth -= 1;
                    if *depth == 0 {
                        levels.pop();
                    }
                } else if byte == b'"' || byte == b'\'' || byte == b'`' {
                    if levels.len() < MAX_HOLES {
                        levels.push(Level::Text(inner_quote(byte, quote)));
                    }
                } else if byte == b'\n' && !quote.lines {
                    return Err(at);
                }
            }
        }
    }
    Ok(at.min(text.len()))
}

fn starts(text: &[u8], at: usize, mark: &str) -> bool {
    !mark.is_empty() && begins(&text[at..], mark)
}

/// Reports whether a text begins with a mark, of at least one byte. Most begin with another byte, for which
/// no function is called.
pub(super) fn begins(text: &[u8], mark: &str) -> bool {
    text.first() == mark.as_bytes().first() && text.starts_with(mark.as_bytes())
}

fn hole_of(mark: &str) -> Level {
    let (open, close) = if mark.ends_with('(') { (b'(', b')') } else { (b'{', b'}') };
    Level::Hole { open, close, depth: 1 }
}

/// Returns the form of a string in a hole.
fn inner_quote(byte: u8, outer: &Quote) -> Quote {
    let quote = match byte {
        b'"' => "\"",
        b'\'' => "'",
        _ => "`",
    };
    if outer.close == quote {
        return *outer;
    }
    Quote { open: quote, close: quote, escape: b'\\', lines: false, hole: "" }
}

fn rust_char(text: &[u8]) -> Option<usize> {
    if text[0] != b'\'' {
        return None;
    }
    let next = *text.get(1)?;
    if next == b'\\' {
        let rest = text.get(3..)?;
        return memchr::memchr(b'\'', &rest[..rest.len().min(12)]).map(|end| end + 4);
    }
    let width = match next {
        0..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    };
    if text.get(1 + width) == Some(&b'\'') {
        return Some(2 + width);
    }
    let name = text[1..].iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'));
    Some(1 + name.unwrap_or(text.len() - 1))
}

fn rust_raw(text: &[u8]) -> Option<usize> {
    let prefix = text.iter().take(2).take_while(|byte| matches!(byte, b'b' | b'c' | b'r')).count();
    if prefix == 0 || text[prefix - 1] != b'r' {
        return None;
    }
    let marks = text[prefix..].iter().take_while(|&&byte| byte == b'#').count();
    enclosed(text, prefix + marks, b'"', marks, b'#')
}

/// Returns the end of a text after `quote` at an offset, which a quote and `count` marks end.
fn enclosed(text: &[u8], at: usize, quote: u8, count: usize, mark: u8) -> Option<usize> {
    if text.get(at) != Some(&quote) {
        return None;
    }
    let mut from = at + 1;
    while let Some(found) = text.get(from..).and_then(|rest| memchr::memchr(quote, rest)) {
        from += found + 1;
        let marks = text[from..].iter().take(count).take_while(|&&byte| byte == mark).count();
        if marks == count {
            return Some(from + count);
        }
    }
    Some(text.len())
}

fn swift_raw(here: Here<'_, '_>) -> Option<usize> {
    let text = &here.text[here.at..];
    // Of a row of marks only the first can begin a string.
    if here.at > 0 && here.text[here.at - 1] == b'#' {
        return None;
    }
    let marks = text.iter().take_while(|&&byte| byte == b'#').count();
    (marks > 0).then(|| enclosed(text, marks, b'"', marks, b'#'))?
}

fn cpp_raw(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(b"R\"")?;
    let name = memchr::memchr(b'(', &rest[..rest.len().min(20)])?;
    let close = [b")", &rest[..name], b"\""].concat();
    Some(memchr::memmem::find(rest, &close).map_or(text.len(), |end| end + 2 + close.len()))
}

/// Returns the length of `[==[ … ]==]`.
pub(super) fn lua_long(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(b"[")?;
    let marks = rest.iter().take_while(|&&byte| byte == b'=').count();
    if rest.get(marks) != Some(&b'[') {
        return None;
    }
    let close = [b"]", &rest[..marks], b"]"].concat();
    let end = memchr::memmem::find(rest, &close);
    Some(end.map_or(text.len(), |end| end + 1 + close.len()))
}

/// Returns whether a `/` begins a regular expression: what is before it is no value.
fn regex_here(here: Here<'_, '_>, calls: bool) -> bool {
    let Some(before) = here.before else { return true };
    let Some(token) = here.tokens.get(before) else { return true };
    let word = here.tokens.of(before);
    match token.sort {
        Sort::Word => {
            let spaced = here.tokens.range(before).end < here.at
                && !here.text.get(here.at + 1).is_some_and(|byte| matches!(byte, b' ' | b'='));
            is_before_value(word) || (calls && spaced)
        }
        Sort::Literal | Sort::Close => false,
        Sort::Open => true,
        // `a++ / b`, and `<div />` or `</div>`, which JSX has.
        Sort::Sign => {
            let doubled =
                before > 0 && here.tokens.of(before - 1) == word && here.tokens.joined(before - 1);
            !(word == b"<" || (doubled && matches!(word, b"+" | b"-")))
        }
    }
}

/// Returns whether a value follows a word: it is a keyword or an operator.
fn is_before_value(word: &[u8]) -> bool {
    const WORDS: &[&str] = &[
        "return",
        "typeof",
        "case",
        "in",
        "of",
        "delete",
        "void",
        "throw",
        "new",
        "else",
        "do",
        "yield",
        "await",
        "instanceof",
        "if",
        "unless",
        "and",
        "or",
        "not",
        "when",
        "while",
        "until",
        "elsif",
        "split",
        "grep",
        "x",
    ];
    WORDS.iter().any(|known| known.as_bytes() == word)
}

fn regex(here: Here<'_, '_>) -> Option<usize> {
    let text = &here.text[here.at..];
    let mut at = 1;
    let mut class = false;
    loop {
        match text.get(at) {
            None | Some(b'\n') => return here.waste(at),
            Some(b'\\') => at += 1,
            Some(b'[') => class = true,
            Some(b']') => class = false,
            Some(b'/') if !class => break,
            _ => {}
        }
        at += 1;
    }
    let flags = text[at + 1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    Some(at + 1 + flags)
}

/// Returns the length of the mark of a heredoc, whose text begins on the next line.
fn heredoc(here: Here<'_, '_>, mark: &str) -> Option<usize> {
    let text = &here.text[here.at..];
    let rest = text.strip_prefix(mark.as_bytes())?;
    let spaces = rest.iter().take_while(|byte| matches!(byte, b' ' | b'-' | b'~')).count();
    let rest = &rest[spaces..];
    let quote = rest.first().filter(|byte| matches!(byte, b'"' | b'\'' | b'`' | b'\\'));
    let quoted = usize::from(quote.is_some());
    let length = rest[quoted..]
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
        .count();
    let name = &rest[quoted..quoted + length];
    let spaced = mark == "<<" && spaces > 0 && text[2] == b' ' && quote.is_none();
    if name.is_empty()
        || name[0].is_ascii_digit()
        || (spaced && name.iter().any(u8::is_ascii_lowercase))
    {
        return None;
    }
    // Heredocs of one line follow each other.
    let before = here.tokens.heredocs.get().unwrap_or(here.at);
    let end = here.tokens.label_after(name, before)?;
    here.tokens.heredocs.set(Some(end + line_length(&here.text[end..])));
    let closing = quote.filter(|quote| **quote != b'\\').is_some();
    Some(mark.len() + spaces + quoted + length + usize::from(closing))
}

/// Returns the offset after each word that can end a heredoc: the first of a line, and not followed
/// by what a name or a sentence goes on with.
pub(super) fn labels(text: &[u8]) -> HashMap<&[u8], Vec<u32>> {
    let mut labels: HashMap<&[u8], Vec<u32>> = HashMap::new();
    for line in lines(text) {
        let shown = line.text.trim_ascii_start();
        let in_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let length = shown.iter().take_while(in_name).count();
        if length > 0 && !matches!(shown.get(length), Some(b' ' | b'.')) {
            let end = line.start + line.text.len() - shown.len() + length;
            labels.entry(&shown[..length]).or_default().push(end as u32);
        }
    }
    labels
}

/// Returns the length of a string of JavaScript; 1 for an apostrophe.
fn apostrophe(here: Here<'_, '_>) -> Option<usize> {
    const BEFORE: &[&str] = &["from", "import", "export", "default", "as", "extends"];
    let word = here.before.filter(|&index| {
        let tokens = here.tokens;
        tokens.is_word(index)
            && tokens.range(index).end == here.at
            && !is_before_value(tokens.of(index))
    });
    let inside = word.is_some_and(|index| !BEFORE.iter().any(|known| here.tokens.is(index, known)));
    let text = &here.text[here.at..];
    if inside && text[0] == b'\'' { Some(1) } else { text_length(here, &APOSTROPHE) }
}

const APOSTROPHE: Quote = Quote { open: "'", close: "'", escape: b'\\', lines: false, hole: "" };

/// Returns the length of a literal that begins with a word: `qw( … )`. The number beside the word
/// says how many parts it has.
fn operator(here: Here<'_, '_>, words: &[(&str, u8)]) -> Option<usize> {
    let text = &here.text[here.at..];
    let (word, parts) = words.iter().rfind(|(word, _)| text.starts_with(word.as_bytes()))?;
    let before = here.before.map(|index| here.tokens.of(index));
    if matches!(before, Some(b"sub" | b">" | b"{" | b"$" | b"@" | b"%" | b"&" | b"-" | b"."))
        && word.as_bytes()[0] != b'%'
    {
        return None;
    }
    let mut at = word.len();
    let gap = text[at..].iter().take_while(|byte| **byte == b' ').count();
    if gap > 0 && matches!(text.get(at + gap), Some(b'=' | b',' | b'#' | b';' | b')')) {
        return None;
    }
    at += if word.starts_with('%') { 0 } else { gap };
    for part in 0..*parts {
        let Some(&open) = text.get(at) else { return here.waste(at) };
        if open.is_ascii_alphanumeric()
            || open.is_ascii_whitespace()
            || matches!(open, b'_' | b',' | b';' | b')' | b'=')
        {
            return here.waste(at);
        }
        at = delimited(text, at, open);
        let paired = matches!(open, b'(' | b'[' | b'{' | b'<');
        if part + 1 < *parts {
            if paired {
                let rest = text.get(at..).unwrap_or(b"");
                at += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            } else {
                at -= 1;
            }
        }
    }
    Some(at.min(text.len()))
}

/// Returns the end of a text that begins with a delimiter at an offset.
fn delimited(text: &[u8], at: usize, open: u8) -> usize {
    let close = match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        other => other,
    };
    let mut depth = 1_u32;
    let mut at = at + 1;
    while let Some(&byte) = text.get(at) {
        at += 1;
        if byte == b'\\' {
            at += 1;
        } else if byte == close {
            depth -= 1;
            if depth == 0 {
                return at;
            }
        } else if byte == open {
            depth += 1;
        }
    }
    text.len()
}

fn dollar_text(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(b"$")?;
    let name =
        rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    if rest.get(name) != Some(&b'$') {
        return None;
    }
    let mark = &text[..name + 2];
    let end = memchr::memmem::find(&text[mark.len()..], mark);
    Some(end.map_or(text.len(), |end| end + 2 * mark.len()))
}

fn markup(here: Here<'_, '_>) -> Option<usize> {
    let text = &here.text[here.at..];
    if text.starts_with(b"<?") {
        return Some(
            2 + text[2..]
                .iter()
                .take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'=')
                .count(),
        );
    }
    let outside = text.starts_with(b"?>") || here.before.is_none();
    outside.then(|| memchr::memmem::find(text, b"<?").map_or(text.len(), |end| end.max(2)))
}

fn pod(here: Here<'_, '_>, open: &str, close: &str) -> Option<usize> {
    let text = &here.text[here.at..];
    if here.at > 0 && here.text[here.at - 1] != b'\n' {
        return None;
    }
    let next = text.strip_prefix(open.as_bytes())?.first()?;
    if open == "=" && !next.is_ascii_alphabetic() {
        return None;
    }
    let end = memchr::memmem::find(text, format!("\n{close}").as_bytes());
    Some(end.map_or(text.len(), |end| end + 1 + line_length(&text[end + 1..])))
}

/// Returns a line with those that continue it after a backslash.
pub(super) fn logical_line(text: &[u8]) -> &[u8] {
    let mut end = 0;
    loop {
        end += line_length(&text[end..]);
        let line = text[..end].strip_suffix(b"\r").unwrap_or(&text[..end]);
        if end >= text.len() || !line.ends_with(b"\\") {
            return &text[..end];
        }
        end += 1;
    }
}

/// Returns the word of a directive of the C preprocessor: `ifdef` of `#  ifdef X`.
pub(super) fn directive_of(line: &[u8]) -> &[u8] {
    let rest = line[1..].trim_ascii_start();
    let end = rest.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(rest.len());
    &rest[..end]
}

/// Returns the length of the text before the `#endif` that ends a branch.
pub(super) fn branch_length(text: &[u8]) -> usize {
    let mut depth = 0_u32;
    let mut at = 0;
    while at < text.len() {
        let line = &text[at..at + line_length(&text[at..])];
        let shown = line.trim_ascii_start();
        if shown.starts_with(b"#") {
            match directive_of(shown) {
                b"if" | b"ifdef" | b"ifndef" => depth += 1,
                b"endif" if depth == 0 => return at,
                b"endif" => depth -= 1,
                _ => {}
            }
        }
        at += line.len() + 1;
    }
    text.len()
}
