//! Parses one glob and translates its body to a regular expression.
//!
//! An automaton matches the expression, so no pattern is slow. `?` and classes match a whole code
//! point; `*` matches bytes, so that names that are not UTF-8 match too.

use std::iter::Peekable;
use std::str::Chars;

use super::MAX_PATTERN_BYTES;
use crate::error::{Code, Error, Result};

/// Matches any bytes of one name.
const STAR_REGEX: &str = "(?-u:[^/]*)";
/// Matches one code point, or a byte of a name that is not UTF-8.
const ANY_CHARACTER_REGEX: &str = "(?:[^/]|(?-u:[\\x80-\\xFF]))";
/// Matches any number of whole directories.
const DIRECTORIES_REGEX: &str = "(?:(?s-u:.*)/)?";
/// Matches everything below a directory.
const EVERYTHING_BELOW_REGEX: &str = "(?s-u:.+)";

/// A syntax of other programs that is refused with a remedy, because as literal text it would match
/// nothing.
struct UnsupportedSyntax {
    reason: &'static str,
    remedy: &'static str,
}

/// The first characters of bash's extended globs, which a parenthesis follows, and the refusal of
/// each.
const EXTENDED_GLOBS: [(char, UnsupportedSyntax); 4] = [
    (
        '!',
        UnsupportedSyntax {
            reason: "it has the form !(…), which is not known",
            remedy: "exclude with a pattern of its own that begins with '!', such as [\"*.ts\", \"!*.test.ts\"]; \
                     write !\\( for a name that begins with a parenthesis",
        },
    ),
    (
        '@',
        UnsupportedSyntax {
            reason: "it has the form @(…), which is not known",
            remedy: "write {a,b} for one of several; write @\\( for these letters",
        },
    ),
    (
        '+',
        UnsupportedSyntax {
            reason: "it has the form +(…), which is not known",
            remedy: "write * or {a,b}; write +\\( for these letters",
        },
    ),
    // `*(…)` remains a star and literal parentheses, as in `*(1).txt`.
    (
        '?',
        UnsupportedSyntax {
            reason: "it has the form ?(…), which is not known",
            remedy: "write {a,} for a part that may be missing; write ?\\( for any letter and a parenthesis",
        },
    ),
];
const PARENTHESIZED_ALTERNATIVES: UnsupportedSyntax = UnsupportedSyntax {
    reason: "it has the form (a|b), which is not known",
    remedy: "write {a,b}; write \\( for a parenthesis",
};
const BRACE_SEQUENCE: UnsupportedSyntax = UnsupportedSyntax {
    reason: "it has the form {1..3}, which is not known",
    remedy: "write {1,2,3} or [1-3]",
};

/// A glob whose leading and trailing slashes are parsed.
pub(super) struct TrimmedGlob<'a> {
    /// The glob as the caller wrote it, for errors.
    written: &'a str,
    /// The glob without leading `./`, `/` and `**/` and without a trailing slash.
    pub body: &'a str,
    /// True if the glob matches only from the start of the walk.
    pub anchored: bool,
    /// True if the glob matches only directories (and the entries below them).
    pub directory: bool,
}

/// A pattern without a slash that is compared with the last name of a path, without an automaton.
pub(super) enum NameTest<'a> {
    /// The name must be this.
    Name(&'a str),
    /// The name must end with this suffix: the glob is `*` and a suffix.
    Suffix(&'a str),
    /// The name must begin and end with these texts: the glob is a prefix, `*` and a suffix.
    Affixes(&'a str, &'a str),
}

impl<'a> TrimmedGlob<'a> {
    /// Parses a glob up to its body, which [`Self::regex`] translates.
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
            return Err(
                invalid_glob_error(written, "it names nothing").hint("use **/* for every file")
            );
        }
        if body.split('/').any(|name| name == "..") {
            return Err(invalid_glob_error(
                written,
                "it climbs out of the directory that is searched",
            )
            .hint("name that directory in path and keep the pattern below it"));
        }
        if let Some(UnsupportedSyntax { reason, remedy }) = find_unsupported_syntax(body) {
            return Err(invalid_glob_error(written, reason).hint(*remedy));
        }
        // A pattern that begins with `**/` matches at any depth, like one without a slash.
        let mut floating = false;
        while let Some(rest) = body.strip_prefix("**/") {
            body = rest.trim_start_matches('/');
            floating = true;
        }
        let anchored = !floating && (rooted || body.contains('/'));
        Ok(Self { written, body, anchored, directory })
    }

    /// Returns the pattern as a comparison of the last name, if it is that simple.
    pub fn as_name_test(&self) -> Option<NameTest<'a>> {
        let plain = |text: &str| !text.contains(['*', '?', '[', '{', '}', '\\', '/']);
        match self.body.strip_prefix('*') {
            _ if self.anchored => None,
            Some("*") => Some(NameTest::Suffix("")),
            Some(suffix) if plain(suffix) => Some(NameTest::Suffix(suffix)),
            None if plain(self.body) => Some(NameTest::Name(self.body)),
            None => self
                .body
                .split_once('*')
                .filter(|(prefix, suffix)| plain(prefix) && plain(suffix))
                .map(|(prefix, suffix)| NameTest::Affixes(prefix, suffix)),
            _ => None,
        }
    }

    /// Returns the regular expression for the paths of the entries that the pattern itself matches.
    pub fn regex(&self) -> Result<String> {
        let mut regex = String::with_capacity(self.body.len() * 2 + 32);
        regex.push('^');
        if !self.anchored {
            regex.push_str(DIRECTORIES_REGEX);
        }
        GlobTranslator { chars: self.body.chars().peekable(), regex, groups: Vec::new() }
            .translate()
            .map(|mut regex| {
                regex.push('$');
                regex
            })
            .map_err(|reason| invalid_glob_error(self.written, reason))
    }

    /// Returns the error for a pattern that parses but does not compile.
    pub fn too_large_error(&self) -> Error {
        let mut error =
            invalid_glob_error(self.written, "it is too large to compile").hint("shorten it");
        error.code = Code::LimitExceeded;
        error
    }
}

/// Returns the first unsupported syntax in a pattern. Character classes and escaped characters are
/// skipped.
fn find_unsupported_syntax(body: &str) -> Option<&'static UnsupportedSyntax> {
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
                // A `]` that comes first in a class is a literal character.
                let inner = inner.strip_prefix(|_: char| true).unwrap_or_default();
                rest = inner.split_once(']').map_or(rest, |(_, after)| after);
            }
            '(' => {
                let inner = rest.split_once(')').map(|(inner, _)| inner);
                let extended = EXTENDED_GLOBS.iter().find(|(mark, _)| before == Some(*mark));
                match (inner, extended) {
                    (Some(_), Some((_, foreign))) => return Some(foreign),
                    (Some(inner), None) if inner.contains('|') => {
                        return Some(&PARENTHESIZED_ALTERNATIVES);
                    }
                    _ => {}
                }
            }
            '{' if rest.split_once('}').is_some_and(|(inner, _)| is_brace_sequence(inner)) => {
                return Some(&BRACE_SEQUENCE);
            }
            _ => {}
        }
        before = Some(c);
    }
    None
}

/// Returns true if the text between braces is two numbers or two letters separated by two dots.
fn is_brace_sequence(inner: &str) -> bool {
    let Some((first, last)) = inner.split_once("..") else { return false };
    let is_number = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_letter = |text: &str| text.len() == 1 && text.as_bytes()[0].is_ascii_alphabetic();
    is_number(first) && is_number(last) || is_letter(first) && is_letter(last)
}

fn invalid_glob_error(pattern: &str, reason: &str) -> Error {
    let mut shown: String = pattern.chars().take(100).collect();
    if shown.len() < pattern.len() {
        shown.push('…');
    }
    Error::new(Code::InvalidGlob, format!("glob '{shown}' is not valid: {reason}"))
        .detail("pattern", shown)
}

/// Translates the body of a glob to a regular expression, character by character.
struct GlobTranslator<'a> {
    chars: Peekable<Chars<'a>>,
    regex: String,
    /// The open braces, innermost last.
    groups: Vec<OpenBrace>,
}

struct OpenBrace {
    /// True if a name begins at the brace.
    begins_name: bool,
    /// The byte offset of the group in `regex`.
    at: usize,
    commas: usize,
}

impl GlobTranslator<'_> {
    fn translate(mut self) -> Result<String, &'static str> {
        // True if the next character begins a name; `**` crosses directories only if it is a whole
        // name.
        let mut begins_name = true;
        while let Some(c) = self.chars.next() {
            let was = std::mem::replace(&mut begins_name, false);
            match c {
                '*' => begins_name = self.push_star(was),
                '?' => self.regex.push_str(ANY_CHARACTER_REGEX),
                '[' => self.push_class()?,
                '{' => {
                    if self.groups.len() == 100 {
                        return Err("its braces are nested too deep");
                    }
                    self.groups.push(OpenBrace {
                        begins_name: was,
                        at: self.regex.len(),
                        commas: 0,
                    });
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
                    None => self.push_literal('}'),
                },
                '\\' => {
                    let escaped = self.chars.next().ok_or("it ends in a backslash")?;
                    self.push_literal(escaped);
                }
                '/' => {
                    self.regex.push('/');
                    begins_name = true;
                }
                c => self.push_literal(c),
            }
        }
        if self.groups.is_empty() { Ok(self.regex) } else { Err("a brace is not closed") }
    }

    /// Appends a character that matches itself.
    fn push_literal(&mut self, c: char) {
        if regex_syntax::is_meta_character(c) {
            self.regex.push('\\');
        }
        self.regex.push(c);
    }

    /// Translates a run of stars and returns whether a name begins after it.
    fn push_star(&mut self, begins_name: bool) -> bool {
        let mut stars = 1;
        while self.chars.next_if_eq(&'*').is_some() {
            stars += 1;
        }
        if stars == 2 && begins_name {
            match self.chars.peek() {
                Some('/') => {
                    self.chars.next();
                    self.regex.push_str(DIRECTORIES_REGEX);
                    return true;
                }
                None => {
                    self.regex.push_str(EVERYTHING_BELOW_REGEX);
                    return false;
                }
                Some(',' | '}') if !self.groups.is_empty() => {
                    self.regex.push_str(EVERYTHING_BELOW_REGEX);
                    return false;
                }
                Some(_) => {}
            }
        }
        self.regex.push_str(STAR_REGEX);
        false
    }

    /// Translates a character class such as `[a-z]`. The expression also matches the text of the
    /// class itself, so that the name of an existing file such as `app/[id]/page.tsx` finds it.
    fn push_class(&mut self) -> Result<(), &'static str> {
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
                    self.push_named_class()?;
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
            self.push_literal(c);
        }
        self.regex.push(')');
        Ok(())
    }

    /// Translates `[:alpha:]` and similar classes; expects to be after the inner `[`.
    fn push_named_class(&mut self) -> Result<(), &'static str> {
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
