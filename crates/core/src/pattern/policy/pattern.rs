//! Parses the patterns of the table and matches names against them.
//!
//! Every name of every path is checked, so three bit tests reject a name that cannot match: exact
//! names are filtered by length, first and last letter, names with `*` by the three letters at
//! their beginning or end.

use std::collections::{HashMap, HashSet};

use super::fold::folded;
use super::places::Decision;
use crate::error::{Code, Error, Result};

/// The maximum length of a pattern in bytes.
pub const MAX_PLACE_PATTERN_BYTES: usize = 4096;

/// The maximum number of alternatives that the braces of one pattern expand to.
const MAX_ALTERNATIVES: usize = 256;

/// One way to match a row: after its last name matched, the names in `above` must precede it.
#[derive(Clone, Debug)]
struct Ending {
    row: u16,
    /// From the nearest name to the farthest.
    above: Box<[Box<str>]>,
    /// The pattern starts at `/`: no name may precede the last of `above`.
    anchored: bool,
    /// The row covers only the entries below the name.
    below: bool,
}

/// A row that matches at a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matched {
    pub row: u16,
    /// The number of names in the pattern, so that the caller knows where the match began.
    pub names: u32,
    pub below: bool,
}

/// A set of patterns, matched one path component at a time.
#[derive(Clone, Debug)]
pub(super) struct Patterns {
    exact: HashMap<Box<str>, Vec<Ending>>,
    /// The last names that contain `*`, keyed by the three letters at their beginning or else at
    /// their end.
    starts: HashMap<[u8; 3], Vec<(Box<str>, Ending)>>,
    ends: HashMap<[u8; 3], Vec<(Box<str>, Ending)>>,
    exact_bits: Bits,
    start_bits: Bits,
    end_bits: Bits,
    /// Names with a dot that precede a refused path: a link of such a name would lead to it.
    pub parents: HashSet<Box<str>>,
}

impl Patterns {
    pub fn new() -> Self {
        Self {
            exact: HashMap::new(),
            starts: HashMap::new(),
            ends: HashMap::new(),
            exact_bits: Bits::new(),
            start_bits: Bits::new(),
            end_bits: Bits::new(),
            parents: HashSet::new(),
        }
    }

    /// Adds a pattern in the syntax of the table.
    pub fn add(&mut self, row: u16, pattern: &str, decision: Decision) -> Result<()> {
        if pattern.len() > MAX_PLACE_PATTERN_BYTES {
            return Err(Error::new(Code::LimitExceeded, "a place is longer than 4096 bytes"));
        }
        let mut all = Vec::new();
        expand(pattern, &mut all)?;
        for text in all {
            let (text, below) = text.strip_suffix("/**").map_or((&text[..], false), |t| (t, true));
            let (text, anchored) = text.strip_prefix('/').map_or((text, false), |t| (t, true));
            let names: Vec<&str> = text.split('/').collect();
            if let Some(problem) = names.iter().find_map(|name| objection(name)) {
                return Err(invalid(pattern, problem));
            }
            let names = names.iter().map(|name| folded(name.as_bytes()).into_owned().into());
            self.add_names(row, names.collect(), anchored, below, decision)
                .map_err(|problem| invalid(pattern, problem))?;
        }
        Ok(())
    }

    /// Adds one absolute path without any special characters.
    pub fn add_path(&mut self, row: u16, path: &[u8]) {
        let names = path.split(|&byte| byte == b'/').filter(|name| !name.is_empty());
        let mut names: Vec<Box<str>> = names.map(|name| folded(name).into_owned().into()).collect();
        let Some(last) = names.pop() else { return };
        names.reverse();
        let ending = Ending { row, above: names.into(), anchored: true, below: false };
        self.note_length(&last);
        self.exact.entry(last).or_default().push(ending);
    }

    fn add_names(
        &mut self,
        row: u16,
        mut names: Vec<Box<str>>,
        anchored: bool,
        below: bool,
        decision: Decision,
    ) -> std::result::Result<(), &'static str> {
        let Some(last) = names.pop() else { return Err("is empty") };
        if decision == Decision::Refuse {
            let dotted = names.iter().filter(|name| name.starts_with('.') && !name.contains('*'));
            self.parents.extend(dotted.cloned());
        }
        names.reverse();
        let ending = Ending { row, above: names.into(), anchored, below };
        if !last.contains('*') {
            self.note_length(&last);
            self.exact.entry(last).or_default().push(ending);
            return Ok(());
        }
        let bytes = last.as_bytes();
        let (start, end) = (first_three(bytes), last_three(bytes));
        let is_plain = |letters: &[u8; 3]| !letters.contains(&b'*');
        if let Some(start) = start.filter(is_plain) {
            self.start_bits.set(mix(start));
            self.starts.entry(start).or_default().push((last, ending));
        } else if let Some(end) = end.filter(is_plain) {
            self.end_bits.set(mix(end));
            self.ends.entry(end).or_default().push((last, ending));
        } else {
            return Err("must begin or end its last name with three characters other than *");
        }
        Ok(())
    }

    fn note_length(&mut self, name: &str) {
        if let Some(number) = shape(name.as_bytes()) {
            self.exact_bits.set(number);
        }
    }

    /// Cheap filter: returns false only if no pattern ends with this name as it is on the disk.
    pub fn may_match(&self, name: &[u8]) -> bool {
        let has = |bits: &Bits, letters: Option<[u8; 3]>| {
            letters.is_some_and(|letters| bits.has(mix(letters.map(|b| b.to_ascii_lowercase()))))
        };
        shape(name).is_some_and(|number| self.exact_bits.has(number))
            || has(&self.start_bits, first_three(name))
            || has(&self.end_bits, last_three(name))
    }

    /// Calls `found` for each row whose pattern ends at this folded name in `dir`.
    pub fn find(&self, dir: &[u8], name: &str, mut found: impl FnMut(Matched)) {
        let mut check = |ending: &Ending| {
            if ending.is_met(dir) {
                let names = ending.above.len() as u32 + 1;
                found(Matched { row: ending.row, names, below: ending.below });
            }
        };
        let bytes = name.as_bytes();
        let Some(number) = shape(bytes) else { return };
        if self.exact_bits.has(number)
            && let Some(endings) = self.exact.get(name)
        {
            endings.iter().for_each(&mut check);
        }
        let starts = first_three(bytes).and_then(|letters| self.starts.get(&letters));
        let ends = last_three(bytes).and_then(|letters| self.ends.get(&letters));
        for (_, ending) in
            starts.into_iter().chain(ends).flatten().filter(|(pattern, _)| is_match(pattern, name))
        {
            check(ending);
        }
    }
}

/// A bit set of small numbers.
#[derive(Clone, Debug)]
struct Bits(Box<[u64; Self::BITS_WORDS]>);

impl Bits {
    const BITS_WORDS: usize = 128;

    fn new() -> Self {
        Self(Box::new([0; Self::BITS_WORDS]))
    }

    fn set(&mut self, number: usize) {
        self.0[number / 64 % Self::BITS_WORDS] |= 1 << (number % 64);
    }

    fn has(&self, number: usize) -> bool {
        self.0[number / 64 % Self::BITS_WORDS] >> (number % 64) & 1 == 1
    }
}

/// Maps a name to a number by its length, first and last letter, ignoring letter case.
fn shape(name: &[u8]) -> Option<usize> {
    let (first, last) = (name.first()?.to_ascii_lowercase(), name.last()?.to_ascii_lowercase());
    Some(usize::from(first) * 61 + usize::from(last) * 7 + name.len() * 977)
}

fn mix([a, b, c]: [u8; 3]) -> usize {
    usize::from(a) * 131 + usize::from(b) * 31 + usize::from(c) * 7
}

fn first_three(name: &[u8]) -> Option<[u8; 3]> {
    name.first_chunk().copied()
}

fn last_three(name: &[u8]) -> Option<[u8; 3]> {
    name.last_chunk().copied()
}

impl Ending {
    fn is_met(&self, dir: &[u8]) -> bool {
        let mut names = dir.rsplit(|&byte| byte == b'/').filter(|name| !name.is_empty());
        self.above.iter().all(|pattern| {
            names.next().is_some_and(|name| {
                let name = folded(name);
                if pattern.contains('*') { is_match(pattern, &name) } else { name == **pattern }
            })
        }) && (!self.anchored || names.next().is_none())
    }
}

/// Reports whether folding can change more of a name than its letter case, so that some volumes
/// find it under another spelling.
pub(super) fn is_unusual(name: &[u8]) -> bool {
    matches!(name.last(), Some(b'.' | b' ')) || name.iter().any(|&b| b >= 0x80 || b == b':')
}

/// Matches a name against a pattern with `*`.
fn is_match(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|start| name.strip_prefix(start)) else {
        return false;
    };
    let Some(end) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(end)
}

/// Expands the braces: one pattern for each combination of alternatives.
pub(super) fn expand(pattern: &str, into: &mut Vec<String>) -> Result<()> {
    let mut todo = vec![pattern.to_owned()];
    while let Some(text) = todo.pop() {
        let Some(open) = text.find('{') else {
            if text.contains('}') {
                return Err(invalid(pattern, "has a } without a {"));
            }
            into.push(text);
            continue;
        };
        let Some(length) = text[open..].find('}') else {
            return Err(invalid(pattern, "has a { without a }"));
        };
        for choice in text[open + 1..open + length].split(',') {
            if choice.contains('{') {
                return Err(invalid(pattern, "has alternatives in alternatives"));
            }
            todo.push([&text[..open], choice, &text[open + length + 1..]].concat());
        }
        if todo.len() + into.len() > MAX_ALTERNATIVES {
            return Err(invalid(pattern, "has more than 256 alternatives"));
        }
    }
    Ok(())
}

fn objection(name: &str) -> Option<&'static str> {
    match name {
        "" => Some("has an empty name"),
        "." | ".." => Some("has a name that is . or .."),
        _ if name.contains("**") => Some("has ** elsewhere than as its last name"),
        _ if name.contains(['\\', '[', ']', '?', '\0']) => {
            Some("has a character that is no part of a place: only * and {a,b} are special")
        }
        _ => None,
    }
}

fn invalid(pattern: &str, problem: &str) -> Error {
    let message = format!("the place '{pattern}' {problem}");
    Error::new(Code::InvalidArgument, message).detail("place", pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, path: &str) -> bool {
        let mut patterns = Patterns::new();
        patterns.add(0, pattern, Decision::Refuse).unwrap();
        let (dir, name) = path.rsplit_once('/').unwrap();
        let mut any = false;
        let name = folded(name.as_bytes());
        patterns.find(dir.as_bytes(), &name, |_| any = true);
        any
    }

    #[test]
    fn patterns_match_names_at_any_depth() {
        for (pattern, path, expected) in [
            (".husky", "/w/a/.husky", true),
            (".husky", "/w/husky", false),
            (".vscode/tasks.json", "/w/.VSCode/Tasks.json", true),
            (".vscode/tasks.json", "/w/tasks.json", false),
            ("/etc/shadow", "/etc/shadow", true),
            ("/etc/shadow", "/w/etc/shadow", false),
            ("/proc/*/environ", "/proc/12/environ", true),
            ("/proc/*/environ", "/proc/12/task/environ", false),
            ("*.{pem,key}", "/w/a.KEY", true),
            ("*.pem", "/w/pem", false),
            (".env.*", "/w/.env.local", true),
            (".cargo/config{,.toml}", "/w/.cargo/config", true),
            (".env.*.{example,dist}", "/w/.env.a.dist", true),
            (".env.*.{example,dist}", "/w/.env.dist", false),
            ("aaa*b*c", "/w/aaaxbxc", true),
            ("aaa*b*c", "/w/aaaxxc", false),
        ] {
            assert_eq!(found(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn invalid_patterns_are_refused() {
        for pattern in [
            "",
            "/",
            "a//b",
            "../a",
            "a/./b",
            "a{b",
            "a}b",
            "{a,{b,c}}",
            "a/**/b",
            "**",
            "*",
            "*a*",
            "a?",
            "[ab]",
            "a\\b",
            "a/",
        ] {
            let error = Patterns::new().add(0, pattern, Decision::Refuse).unwrap_err();
            assert_eq!(error.code, Code::InvalidArgument, "{pattern}");
        }
        let long = "a".repeat(MAX_PLACE_PATTERN_BYTES + 1);
        assert_eq!(
            Patterns::new().add(0, &long, Decision::Refuse).unwrap_err().code,
            Code::LimitExceeded
        );
        let many = "{a,b,c,d}".repeat(10);
        assert!(Patterns::new().add(0, &many, Decision::Refuse).is_err());
    }
}
