//! Parses one glob and translates its body to a regular expression.
//!
//! An automaton matches the expression, so no pattern is slow. `?` and classes match a whole code
//! point; `*` matches bytes, so that names that are not UTF-8 match too.

use std::iter::Peekable;
use std::str::Chars;

use super::MAX_PATTERN_BYTES;
use crate::error::{Code, Error, Result};

/// Any bytes of one name.
const STAR: &str = "(?-u:[^/]*)";
/// A code point, or a byte of a name that is not UTF-8.
const ANY_CHARACTER: &str = "(?:[^/]|(?-u:[\\x80-\\xFF]))";
/// Any number of whole directories.
const DIRECTORIES: &str = "(?:(?s-u:.*)/)?";
/// Everything below.
const REST: &str = "(?s-u:.+)";

/// The syntax of another dialect that is refused, because it would match nothing as literal text.
struct Foreign {
    reason: &'static str,
    remedy: &'static str,
}

/// The syntax of bash and other shells that begins with a character and a parenthesis.
const EXTENDED: [(char, Foreign); 4] = [
    (
        '!',
        Foreign {
            reason: "it has the form !(…), which is not known",
            remedy: "exclude with a pattern of its own that begins with '!', such as [\"*.ts\", \"!*.test.ts\"]; \
                     write !\\( for a name that begins with a parenthesis",
        },
    ),
    (
        '@',
        Foreign {
            reason: "it has the form @(…), which is not known",
            remedy: "write {a,b} for one of several; write @\\( for these letters",
        },
    ),
    (
        '+',
        Foreign {
            reason: "it has the form +(…), which is not known",
            remedy: "write * or {a,b}; write +\\( for these letters",
        },
    ),
    // `*(…)` remains a star and literal parentheses, as in `*(1).txt`.
    (
        '?',
        Foreign {
            reason: "it has the form ?(…), which is not known",
            remedy: "write {a,} for a part that may be missing; write ?\\( for any letter and a parenthesis",
        },
    ),
];
const ALTERNATIVES: Foreign = Foreign {
    reason: "it has the form (a|b), which is not known",
    remedy: "write {a,b}; write \\( for a parenthesis",
};
const SEQUENCE: Foreign = Foreign {
    reason: "it has the form {1..3}, which is not known",
    remedy: "write {1,2,3} or [1-3]",
};

/// A glob with its slashes parsed.
pub(super) struct Pattern<'a> {
    /// The glob as the caller wrote it, for errors.
    written: &'a str,
    /// Without leading `./`, `/` and `**/` and without a trailing slash.
    pub body: &'a str,
    /// Matches only from the start of the walk.
    pub anchored: bool,
    /// Matches only directories (and the entries below them).
    pub directory: bool,
}

/// A pattern without a slash that needs no automaton.
pub(super) enum Simple<'a> {
    /// The complete name.
    Name(&'a str),
    /// `*` and a suffix of the name.
    Suffix(&'a str),
    /// A prefix of the name, `*` and a suffix.
    Affixes(&'a str, &'a str),
}

impl<'a> Pattern<'a> {
    pub fn parse(written: &'a str) -> Result<Self> {
        if written.len() > MAX_PATTERN_BYTES {
            return Err(Error::new(Code::LimitExceeded, "a glob is longer than 16384 bytes"));
        }
        let mut body = written;
        while let Some(rest) = body.strip_prefix("./") {
            body = rest.trim_start_matches('/');
        }
        let rooted = body.starts_with('/');
        body = body.trim_start_matches('/');
        let trimmed = body.trim_end_matches('/');
        let directory = trimmed.len() < body.len();
        body = trimmed;
        if body.is_empty() || body == "." || body.contains('\0') {
            return Err(invalid(written, "it names nothing").hint("use **/* for every file"));
        }
        if body.split('/').any(|name| name == "..") {
            return Err(invalid(written, "it climbs out of the directory that is searched")
                .hint("name that directory in path and keep the pattern below it"));
        }
        if let Some(Foreign { reason, remedy }) = foreign(body) {
            return Err(invalid(written, reason).hint(*remedy));
        }
        // A pattern after `**/` matches at any depth, like one without a slash.
        let mut floating = false;
        while let Some(rest) = body.strip_prefix("**/") {
            body = rest.trim_start_matches('/');
            floating = true;
        }
        let anchored = !floating && (rooted || body.contains('/'));
        Ok(Self { written, body, anchored, directory })
    }

    /// Returns the pattern as a comparison of the last name, if it is that simple.
    pub fn simple(&self) -> Option<Simple<'a>> {
        let plain = |text: &str| !text.contains(['*', '?', '[', '{', '}', '\\', '/']);
        match self.body.strip_prefix('*') {
            _ if self.anchored => None,
            Some("*") => Some(Simple::Suffix("")),
            Some(suffix) if plain(suffix) => Some(Simple::Suffix(suffix)),
            None if plain(self.body) => Some(Simple::Name(self.body)),
            None => self
                .body
                .split_once('*')
                .filter(|(prefix, suffix)| plain(prefix) && plain(suffix))
                .map(|(prefix, suffix)| Simple::Affixes(prefix, suffix)),
            _ => None,
        }
    }

    /// Returns the expression for the entries that the pattern itself matches.
    pub fn regex(&self) -> Result<String> {
        let mut regex = String::with_capacity(self.body.len() * 2 + 32);
        regex.push('^');
        if !self.anchored {
            regex.push_str(DIRECTORIES);
        }
        Translator { chars: self.body.chars().peekable(), regex, groups: Vec::new() }
            .run()
            .map(|mut regex| {
                regex.push('$');
                regex
            })
            .map_err(|reason| invalid(self.written, reason))
    }

    /// Returns the error for a pattern that parses but does not compile.
    pub fn too_large(&self) -> Error {
        let mut error = invalid(self.written, "it is too large to compile").hint("shorten it");
        error.code = Code::LimitExceeded;
        error
    }
}

/// Finds the first syntax of another dialect in a pattern. Classes and escaped characters are
/// skipped.
fn foreign(body: &str) -> Option<&'static Foreign> {
    let mut before = None;
    let mut rest = body;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => {
                rest = rest.strip_prefix(|_: char| true).unwrap_or_default();
                before = None;
                continue;
            }
            '[' => {
                let inner = rest.trim_start_matches(['!', '^']);
                // `]` as the first character of a class is literal.
                let inner = inner.strip_prefix(|_: char| true).unwrap_or_default();
                rest = inner.split_once(']').map_or(rest, |(_, after)| after);
            }
            '(' => {
                let inner = rest.split_once(')').map(|(inner, _)| inner);
                let extended = EXTENDED.iter().find(|(mark, _)| before == Some(*mark));
                match (inner, extended) {
                    (Some(_), Some((_, foreign))) => return Some(foreign),
                    (Some(inner), None) if inner.contains('|') => return Some(&ALTERNATIVES),
                    _ => {}
                }
            }
            '{' if rest.split_once('}').is_some_and(|(inner, _)| is_sequence(inner)) => {
                return Some(&SEQUENCE);
            }
            _ => {}
        }
        before = Some(c);
    }
    None
}

/// Reports whether braces contain two numbers or two letters separated by two dots.
fn is_sequence(inner: &str) -> bool {
    let Some((first, last)) = inner.split_once("..") else { return false };
    let is_number = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_letter = |text: &str| text.len() == 1 && text.as_bytes()[0].is_ascii_alphabetic();
    is_number(first) && is_number(last) || is_letter(first) && is_letter(last)
}

fn invalid(pattern: &str, reason: &str) -> Error {
    let mut shown: String = pattern.chars().take(100).collect();
    if shown.len() < pattern.len() {
        shown.push('…');
    }
    Error::new(Code::InvalidGlob, format!("glob '{shown}' is not valid: {reason}"))
        .detail("pattern", shown)
}

struct Translator<'a> {
    chars: Peekable<Chars<'a>>,
    regex: String,
    /// The open braces, innermost last.
    groups: Vec<Group>,
}

struct Group {
    /// True if a name begins at the brace.
    begins_name: bool,
    /// The start of the group in `regex`.
    at: usize,
    commas: usize,
}

impl Translator<'_> {
    fn run(mut self) -> Result<String, &'static str> {
        // True if the next character begins a name; `**` crosses directories only when it is a
        // whole name.
        let mut begins_name = true;
        while let Some(c) = self.chars.next() {
            let was = std::mem::replace(&mut begins_name, false);
            match c {
                '*' => begins_name = self.star(was),
                '?' => self.regex.push_str(ANY_CHARACTER),
                '[' => self.class()?,
                '{' => {
                    if self.groups.len() == 100 {
                        return Err("its braces are nested too deep");
                    }
                    self.groups.push(Group { begins_name: was, at: self.regex.len(), commas: 0 });
                    begins_name = was;
                }
                ',' if !self.groups.is_empty() => {
                    self.regex.push('|');
                    if let Some(group) = self.groups.last_mut() {
                        group.commas += 1;
                        begins_name = group.begins_name;
                    }
                }
                '}' => match self.groups.pop() {
                    // Braces without a comma may be part of the name, as in the directories of
                    // template generators.
                    Some(group) if group.commas == 0 => {
                        self.regex.insert_str(group.at, "(?:\\{?");
                        self.regex.push_str("\\}?)");
                    }
                    Some(group) => {
                        self.regex.insert_str(group.at, "(?:");
                        self.regex.push(')');
                    }
                    None => self.literal('}'),
                },
                '\\' => {
                    let escaped = self.chars.next().ok_or("it ends in a backslash")?;
                    self.literal(escaped);
                }
                '/' => {
                    self.regex.push('/');
                    begins_name = true;
                }
                c => self.literal(c),
            }
        }
        if self.groups.is_empty() { Ok(self.regex) } else { Err("a brace is not closed") }
    }

    fn literal(&mut self, c: char) {
        if regex_syntax::is_meta_character(c) {
            self.regex.push('\\');
        }
        self.regex.push(c);
    }

    /// Translates a run of stars and returns whether a name begins after it.
    fn star(&mut self, begins_name: bool) -> bool {
        let mut stars = 1;
        while self.chars.next_if_eq(&'*').is_some() {
            stars += 1;
        }
        if stars == 2 && begins_name {
            match self.chars.peek() {
                Some('/') => {
                    self.chars.next();
                    self.regex.push_str(DIRECTORIES);
                    return true;
                }
                None => {
                    self.regex.push_str(REST);
                    return false;
                }
                Some(',' | '}') if !self.groups.is_empty() => {
                    self.regex.push_str(REST);
                    return false;
                }
                Some(_) => {}
            }
        }
        self.regex.push_str(STAR);
        false
    }

    /// Translates a class. It also matches its own text, so that a pattern that is the name of an
    /// existing file, such as `app/[id]/page.tsx`, finds it.
    fn class(&mut self) -> Result<(), &'static str> {
        const UNCLOSED: &str = "a [ is not closed";
        let written = self.chars.clone();
        self.regex.push_str("(?:[[");
        if self.chars.next_if(|&c| c == '!' || c == '^').is_some() {
            self.regex.push('^');
        }
        let mut first = true;
        loop {
            let low = match self.chars.next().ok_or(UNCLOSED)? {
                ']' if !first => break,
                '[' if self.chars.peek() == Some(&':') => {
                    self.named_class()?;
                    first = false;
                    continue;
                }
                '\\' => self.chars.next().ok_or(UNCLOSED)?,
                c => c,
            };
            first = false;
            push_class_char(&mut self.regex, low);
            let mut ahead = self.chars.clone();
            if ahead.next() == Some('-') && ahead.peek().is_some_and(|&c| c != ']') {
                self.chars = ahead;
                let high = match self.chars.next().ok_or(UNCLOSED)? {
                    '\\' => self.chars.next().ok_or(UNCLOSED)?,
                    c => c,
                };
                if high < low {
                    return Err("a range of [ ] is reversed");
                }
                self.regex.push('-');
                push_class_char(&mut self.regex, high);
            }
        }
        self.regex.push_str("]&&[^/]]|\\[");
        let left = self.chars.clone().count();
        let length = written.clone().count() - left;
        for c in written.take(length) {
            self.literal(c);
        }
        self.regex.push(')');
        Ok(())
    }

    /// Translates `[:alpha:]` and similar classes; expects to be after the inner `[`.
    fn named_class(&mut self) -> Result<(), &'static str> {
        let name: String = self.chars.by_ref().skip(1).take_while(|&c| c != ':').collect();
        let known = [
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print",
            "punct", "space", "upper", "word", "xdigit",
        ];
        if !known.contains(&name.as_str()) || self.chars.next() != Some(']') {
            return Err("a named class of [ ] is unknown");
        }
        self.regex.push_str("[:");
        self.regex.push_str(&name);
        self.regex.push_str(":]");
        Ok(())
    }
}

fn push_class_char(regex: &mut String, c: char) {
    if matches!(c, '\\' | '[' | ']' | '^' | '-' | '&' | '~') {
        regex.push('\\');
    }
    regex.push(c);
}
