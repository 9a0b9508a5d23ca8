//! One line of an ignore file, and git's matching of it.
//!
//! Follows the behaviour of git's `wildmatch`: matches bytes, not characters; `**` is special only
//! as a whole name, or at the end of a name after literal text; an unclosed bracket or a final
//! backslash matches nothing. Matching backtracks only to the last star, so it takes at most
//! pattern times path steps.

/// A rule: one line of an ignore file.
#[derive(Debug)]
pub(super) struct IgnoreRule {
    /// True if the line began with `!`, so that the entry is kept.
    pub keep: bool,
    /// True if the line ended in `/`, so that it matches only directories.
    pub directory: bool,
    pub test: RuleTest,
}

/// How a rule is compared with a path.
#[derive(Debug)]
pub(super) enum RuleTest {
    /// The rule equals the last name of a path; it is found by look-up.
    Name,
    /// The rule equals the text after the last dot of the last name; it is found by look-up.
    Extension,
    /// The rule equals the whole path; it is found by look-up.
    Path,
    /// The last name ends with this text.
    Suffix(Box<[u8]>),
    /// The tokens match the last name. `first` and `last` are its first and last byte if they are
    /// literal.
    NameGlob { tokens: Vec<NameToken>, first: Option<u8>, last: Option<u8> },
    /// The segments match the whole path, name by name, after the literal text `start`.
    PathGlob { start: Box<[u8]>, segments: Vec<NamePattern> },
}

/// One name of a pattern for the whole path.
#[derive(Debug)]
pub(super) enum NamePattern {
    /// `**`: any number of names.
    Any,
    Name(Vec<NameToken>),
}

/// One element of a pattern for a name.
#[derive(Debug, PartialEq)]
pub(super) enum NameToken {
    Byte(u8),
    /// `?`: any one byte.
    One,
    /// `*`: any bytes.
    Star,
    /// `[...]`, as a set of bytes.
    Class(Box<[bool; 256]>),
    /// `/`; occurs only while a pattern is parsed, not in a rule.
    Slash,
}

impl IgnoreRule {
    /// Parses a line. Returns the rule and, if it is found by look-up, the text that it compares;
    /// `None` for a line that can match nothing.
    pub fn parse(line: &[u8]) -> Option<(Self, Option<Box<[u8]>>)> {
        let mut pattern = trim_trailing_spaces(line);
        if pattern.is_empty() || pattern[0] == b'#' {
            return None;
        }
        let keep = pattern[0] == b'!';
        if keep {
            pattern = &pattern[1..];
        }
        let directory = pattern.last() == Some(&b'/');
        if directory {
            pattern = &pattern[..pattern.len() - 1];
        }
        if pattern.is_empty() {
            return None;
        }
        let anchored = pattern.contains(&b'/');
        let pattern = pattern.strip_prefix(b"/").unwrap_or(pattern);
        let plain = |text: &[u8]| !text.iter().any(|byte| b"*?[\\".contains(byte));
        let rule = |test| Self { keep, directory, test };
        if plain(pattern) {
            let test = if anchored { RuleTest::Path } else { RuleTest::Name };
            return Some((rule(test), Some(pattern.into())));
        }
        if !anchored
            && let Some(suffix) = pattern.strip_prefix(b"*")
            && plain(suffix)
            && !suffix.is_empty()
        {
            return Some(match suffix.strip_prefix(b".") {
                Some(extension) if !extension.contains(&b'.') => {
                    (rule(RuleTest::Extension), Some(extension.into()))
                }
                _ => (rule(RuleTest::Suffix(suffix.into())), None),
            });
        }
        let (start, pattern) =
            if anchored { split_literal_start(pattern) } else { (&[][..], pattern) };
        let tokens = parse_tokens(pattern)?;
        if !anchored {
            // Most names differ from most patterns in their first or last byte.
            let byte = |token: Option<&NameToken>| match token {
                Some(NameToken::Byte(byte)) => Some(*byte),
                _ => None,
            };
            let (first, last) = (byte(tokens.first()), byte(tokens.last()));
            return Some((rule(RuleTest::NameGlob { tokens, first, last }), None));
        }
        Some((
            rule(RuleTest::PathGlob { start: start.into(), segments: split_names(tokens) }),
            None,
        ))
    }
}

impl RuleTest {
    /// Returns true if the rule matches a path, whose last name is `name`. False for rules that are
    /// found by look-up.
    pub fn matches(&self, path: &[u8], name: &[u8]) -> bool {
        match self {
            RuleTest::Suffix(suffix) => name.last() == suffix.last() && name.ends_with(suffix),
            RuleTest::NameGlob { tokens, first, last } => {
                let fits = |wanted: &Option<u8>, have: Option<&u8>| {
                    wanted.is_none_or(|wanted| have == Some(&wanted))
                };
                fits(first, name.first()) && fits(last, name.last()) && is_name_match(tokens, name)
            }
            RuleTest::PathGlob { start, segments } => {
                path.strip_prefix(&**start).is_some_and(|rest| is_path_match(segments, rest))
            }
            RuleTest::Name | RuleTest::Extension | RuleTest::Path => false,
        }
    }
}

/// Returns the line without trailing spaces, except one that a backslash precedes.
fn trim_trailing_spaces(line: &[u8]) -> &[u8] {
    let mut end = line.len();
    while end > 0 && line[end - 1] == b' ' {
        end -= 1;
    }
    let backslashes = line[..end].iter().rev().take_while(|&&byte| byte == b'\\').count();
    if end < line.len() && backslashes % 2 == 1 { &line[..end + 1] } else { &line[..end] }
}

/// Splits a pattern with a `**` that ends a name, as in `a**/b`, into the literal text before it
/// and the rest.
///
/// Git compares literal text first and matches the rest on its own, so that such a `**` is at a
/// beginning and matches any number of names. The text is empty if this makes no difference.
fn split_literal_start(pattern: &[u8]) -> (&[u8], &[u8]) {
    let length = pattern.iter().position(|byte| b"*?[\\".contains(byte)).unwrap_or(0);
    let (start, rest) = pattern.split_at(length);
    let stars = rest.iter().take_while(|&&byte| byte == b'*').count();
    let ends_name = matches!(&rest[stars..], [] | [b'/', ..] | [b'\\', b'/', ..]);
    if stars >= 2 && ends_name && start.last() != Some(&b'/') {
        (start, rest)
    } else {
        (&[], pattern)
    }
}

/// Parses a pattern; `None` if it can match nothing.
fn parse_tokens(pattern: &[u8]) -> Option<Vec<NameToken>> {
    let mut tokens = Vec::with_capacity(pattern.len());
    let mut at = 0;
    while let Some(&byte) = pattern.get(at) {
        at += 1;
        tokens.push(match byte {
            b'*' => NameToken::Star,
            b'?' => NameToken::One,
            b'/' => NameToken::Slash,
            b'\\' => {
                let escaped = *pattern.get(at)?;
                at += 1;
                if escaped == b'/' { NameToken::Slash } else { NameToken::Byte(escaped) }
            }
            b'[' => {
                let (class, after) = parse_bracket_expression(pattern, at)?;
                at = after;
                NameToken::Class(class)
            }
            byte => NameToken::Byte(byte),
        });
    }
    Some(tokens)
}

/// Parses the bracket expression whose content begins at `at`. Returns the set of its bytes and the
/// index after it; `None` if it is not closed.
fn parse_bracket_expression(pattern: &[u8], mut at: usize) -> Option<(Box<[bool; 256]>, usize)> {
    let mut set = Box::new([false; 256]);
    let negated = matches!(pattern.get(at)?, b'!' | b'^');
    at += usize::from(negated);
    // The previous byte, if it may begin a range.
    let mut previous = None;
    let mut first = true;
    loop {
        let byte = *pattern.get(at)?;
        at += 1;
        if byte == b']' && !first {
            break;
        }
        first = false;
        match byte {
            b'\\' => {
                let escaped = *pattern.get(at)?;
                at += 1;
                set[usize::from(escaped)] = true;
                previous = Some(escaped);
            }
            b'-' if previous.is_some() && pattern.get(at).is_some_and(|&next| next != b']') => {
                let mut high = *pattern.get(at)?;
                at += 1;
                if high == b'\\' {
                    high = *pattern.get(at)?;
                    at += 1;
                }
                for byte in previous.take().unwrap_or(high)..=high {
                    set[usize::from(byte)] = true;
                }
            }
            b'[' if pattern.get(at) == Some(&b':') => {
                let end = at + pattern[at..].iter().position(|&byte| byte == b']')?;
                if end > at + 1 && pattern[end - 1] == b':' {
                    let belongs = named_class_test(&pattern[at + 1..end - 1])?;
                    for byte in 0..=255u8 {
                        set[usize::from(byte)] |= belongs(&byte);
                    }
                    at = end + 1;
                    previous = None;
                } else {
                    set[usize::from(b'[')] = true;
                    previous = Some(b'[');
                }
            }
            byte => {
                set[usize::from(byte)] = true;
                previous = Some(byte);
            }
        }
    }
    if negated {
        set.iter_mut().for_each(|member| *member = !*member);
    }
    set[usize::from(b'/')] = false;
    Some((set, at))
}

/// Returns the test of a class such as `[:alpha:]`.
fn named_class_test(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| matches!(byte, b' '..=b'~'),
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |byte| matches!(byte, b' ' | b'\t'..=b'\r'),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}

/// Splits the tokens of a path into names.
fn split_names(tokens: Vec<NameToken>) -> Vec<NamePattern> {
    let mut segments = Vec::new();
    let mut name = Vec::new();
    let mut close = |name: &mut Vec<NameToken>| {
        let any = name.len() >= 2 && name.iter().all(|token| *token == NameToken::Star);
        segments.push(if any {
            name.clear();
            NamePattern::Any
        } else {
            NamePattern::Name(std::mem::take(name))
        });
    };
    for token in tokens {
        if token == NameToken::Slash {
            close(&mut name);
        } else {
            name.push(token);
        }
    }
    close(&mut name);
    segments
}

/// Returns true if the segments match all names of a path.
fn is_path_match(segments: &[NamePattern], path: &[u8]) -> bool {
    let mut rest = Some(path);
    let mut at = 0;
    // The position to retry from when a name fails: the segment after the last `**`, and the path
    // that it was last tried on.
    let mut retry: Option<(usize, &[u8])> = None;
    loop {
        match (segments.get(at), rest) {
            (None, None) => return true,
            (Some(NamePattern::Any), Some(path)) => {
                if at + 1 == segments.len() {
                    return true;
                }
                at += 1;
                retry = Some((at, path));
                continue;
            }
            (Some(NamePattern::Name(tokens)), Some(path)) => {
                let (name, tail) = split_first_name(path);
                if is_name_match(tokens, name) {
                    rest = tail;
                    at += 1;
                    continue;
                }
            }
            _ => {}
        }
        let Some((segment, path)) = retry else { return false };
        let Some(tail) = split_first_name(path).1 else { return false };
        retry = Some((segment, tail));
        rest = Some(tail);
        at = segment;
    }
}

/// Splits a path into its first name and the rest, if any.
fn split_first_name(path: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memchr::memchr(b'/', path) {
        Some(at) => (&path[..at], Some(&path[at + 1..])),
        None => (path, None),
    }
}

fn is_name_match(tokens: &[NameToken], name: &[u8]) -> bool {
    let (mut at, mut byte) = (0, 0);
    // The token after the last star, and the position where that token was last tried.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (tokens.get(at), name.get(byte)) {
            (None, None) => return true,
            (Some(NameToken::Star), _) => {
                at += 1;
                if at == tokens.len() {
                    return true;
                }
                retry = Some((at, byte));
                continue;
            }
            (Some(token), Some(&have)) => {
                let same = match token {
                    NameToken::Byte(wanted) => *wanted == have,
                    NameToken::One => true,
                    NameToken::Class(set) => set[usize::from(have)],
                    NameToken::Star | NameToken::Slash => false,
                };
                if same {
                    at += 1;
                    byte += 1;
                    continue;
                }
            }
            (Some(_), None) => return false,
            (None, Some(_)) => {}
        }
        let Some((token, from)) = retry else { return false };
        if from >= name.len() {
            return false;
        }
        retry = Some((token, from + 1));
        at = token;
        byte = from + 1;
    }
}
