//! Parses the patterns of the table of protected and secret places, and matches names against them.
//!
//! Every name of every path is checked, so three bit tests reject a name that cannot match: exact
//! names are filtered by length, first and last letter, names with `*` by the three letters at
//! their beginning or end.

use std::collections::{HashMap, HashSet};

use super::fold::fold_name;
use super::table::PlaceDecision;
use crate::error::{Code, Error, Result};

/// The maximum length of a pattern in bytes; a longer one is refused.
pub const MAX_PLACE_PATTERN_BYTES: usize = 4096;

/// The directory without a dot in its name that contains refused paths: no link may replace it.
pub(super) const UNDOTTED_PARENT_NAME: &str = "node_modules";

/// The maximum number of patterns that the braces of one pattern expand to; more are refused.
const MAX_BRACE_EXPANSIONS: usize = 256;

/// One pattern of a row, stored under its last name: the names before it must match `above`.
#[derive(Clone, Debug)]
struct RowPattern {
    row: u16,
    /// The patterns of the names before the last one, from the nearest to the farthest.
    above: Box<[Box<str>]>,
    /// True if the pattern starts at `/`: no name may precede those of `above`.
    anchored: bool,
    /// True if the row covers only the entries below the last name.
    below: bool,
}

/// A row of the table whose pattern ends at the current name of a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatchedRow {
    pub row: u16,
    /// The number of names in the pattern, by which the caller finds the name where the match
    /// began.
    pub names: u32,
    pub below: bool,
}

/// A set of patterns, matched one name of a path at a time.
#[derive(Clone, Debug)]
pub(super) struct PlacePatterns {
    exact: HashMap<Box<str>, Vec<RowPattern>>,
    /// Patterns whose last name contains `*`, by its first three letters or, if they contain `*`,
    /// by its last three in `ends`.
    starts: HashMap<[u8; 3], Vec<(Box<str>, RowPattern)>>,
    ends: HashMap<[u8; 3], Vec<(Box<str>, RowPattern)>>,
    exact_bits: BitSet,
    start_bits: BitSet,
    end_bits: BitSet,
    /// The names with a dot that precede the last name of a refused path: a link of such a name
    /// would lead to it.
    pub parents: HashSet<Box<str>>,
}

impl PlacePatterns {
    pub fn new() -> Self {
        Self {
            exact: HashMap::new(),
            starts: HashMap::new(),
            ends: HashMap::new(),
            exact_bits: BitSet::new(),
            start_bits: BitSet::new(),
            end_bits: BitSet::new(),
            parents: HashSet::new(),
        }
    }

    /// Adds a pattern in the syntax of the table.
    pub fn add(&mut self, row: u16, pattern: &str, decision: PlaceDecision) -> Result<()> {
        if pattern.len() > MAX_PLACE_PATTERN_BYTES {
            return Err(Error::new(Code::LimitExceeded, "a place is longer than 4096 bytes"));
        }
        let mut all = Vec::new();
        expand_braces(pattern, &mut all)?;
        for text in all {
            let (text, below) = text.strip_suffix("/**").map_or((&text[..], false), |t| (t, true));
            let (text, anchored) = text.strip_prefix('/').map_or((text, false), |t| (t, true));
            let names: Vec<&str> = text.split('/').collect();
            if let Some(problem) = names.iter().find_map(|name| name_objection(name)) {
                return Err(invalid_place_error(pattern, problem));
            }
            let names = names.iter().map(|name| fold_name(name.as_bytes()).into_owned().into());
            self.add_names(row, names.collect(), anchored, below, decision)
                .map_err(|problem| invalid_place_error(pattern, problem))?;
        }
        Ok(())
    }

    /// Adds one absolute path, in which no character is special.
    pub fn add_path(&mut self, row: u16, path: &[u8]) {
        let names = path.split(|&byte| byte == b'/').filter(|name| !name.is_empty());
        let mut names: Vec<Box<str>> =
            names.map(|name| fold_name(name).into_owned().into()).collect();
        let Some(last) = names.pop() else { return };
        names.reverse();
        let ending = RowPattern { row, above: names.into(), anchored: true, below: false };
        self.register_exact_name(&last);
        self.exact.entry(last).or_default().push(ending);
    }

    fn add_names(
        &mut self,
        row: u16,
        mut names: Vec<Box<str>>,
        anchored: bool,
        below: bool,
        decision: PlaceDecision,
    ) -> std::result::Result<(), &'static str> {
        let Some(last) = names.pop() else { return Err("is empty") };
        if decision == PlaceDecision::Refuse {
            let parents = names.iter().filter(|name| {
                (name.starts_with('.') && !name.contains('*')) || &***name == UNDOTTED_PARENT_NAME
            });
            self.parents.extend(parents.cloned());
        }
        names.reverse();
        let ending = RowPattern { row, above: names.into(), anchored, below };
        if !last.contains('*') {
            self.register_exact_name(&last);
            self.exact.entry(last).or_default().push(ending);
            return Ok(());
        }
        let bytes = last.as_bytes();
        let (start, end) = (first_three_letters(bytes), last_three_letters(bytes));
        let is_plain = |letters: &[u8; 3]| !letters.contains(&b'*');
        if let Some(start) = start.filter(is_plain) {
            self.start_bits.set(three_letters_number(start));
            self.starts.entry(start).or_default().push((last, ending));
        } else if let Some(end) = end.filter(is_plain) {
            self.end_bits.set(three_letters_number(end));
            self.ends.entry(end).or_default().push((last, ending));
        } else {
            return Err("must begin or end its last name with three characters other than *");
        }
        Ok(())
    }

    fn register_exact_name(&mut self, name: &str) {
        if let Some(number) = name_shape_number(name.as_bytes()) {
            self.exact_bits.set(number);
        }
    }

    /// Returns false only if no pattern ends with this name, as it is on the disk. Cheap.
    pub fn may_match(&self, name: &[u8]) -> bool {
        let has = |bits: &BitSet, letters: Option<[u8; 3]>| {
            letters.is_some_and(|letters| {
                bits.has(three_letters_number(letters.map(|b| b.to_ascii_lowercase())))
            })
        };
        name_shape_number(name).is_some_and(|number| self.exact_bits.has(number))
            || has(&self.start_bits, first_three_letters(name))
            || has(&self.end_bits, last_three_letters(name))
    }

    /// Calls `found` for each row whose pattern ends at this folded name in the directory `dir`.
    pub fn find(&self, dir: &[u8], name: &str, mut found: impl FnMut(MatchedRow)) {
        let mut check = |ending: &RowPattern| {
            if ending.is_met(dir) {
                let names = ending.above.len() as u32 + 1;
                found(MatchedRow { row: ending.row, names, below: ending.below });
            }
        };
        let bytes = name.as_bytes();
        let Some(number) = name_shape_number(bytes) else { return };
        if self.exact_bits.has(number)
            && let Some(endings) = self.exact.get(name)
        {
            endings.iter().for_each(&mut check);
        }
        let starts = first_three_letters(bytes).and_then(|letters| self.starts.get(&letters));
        let ends = last_three_letters(bytes).and_then(|letters| self.ends.get(&letters));
        for (_, ending) in starts
            .into_iter()
            .chain(ends)
            .flatten()
            .filter(|(pattern, _)| matches_stars(pattern, name))
        {
            check(ending);
        }
    }
}

/// A set of numbers, one bit each; larger numbers share bits.
#[derive(Clone, Debug)]
struct BitSet(Box<[u64; Self::WORD_COUNT]>);

impl BitSet {
    const WORD_COUNT: usize = 128;

    fn new() -> Self {
        Self(Box::new([0; Self::WORD_COUNT]))
    }

    fn set(&mut self, number: usize) {
        self.0[number / 64 % Self::WORD_COUNT] |= 1 << (number % 64);
    }

    fn has(&self, number: usize) -> bool {
        self.0[number / 64 % Self::WORD_COUNT] >> (number % 64) & 1 == 1
    }
}

/// Returns a number for the length, the first and the last letter of a name, ignoring letter case.
fn name_shape_number(name: &[u8]) -> Option<usize> {
    let (first, last) = (name.first()?.to_ascii_lowercase(), name.last()?.to_ascii_lowercase());
    Some(usize::from(first) * 61 + usize::from(last) * 7 + name.len() * 977)
}

fn three_letters_number([a, b, c]: [u8; 3]) -> usize {
    usize::from(a) * 131 + usize::from(b) * 31 + usize::from(c) * 7
}

fn first_three_letters(name: &[u8]) -> Option<[u8; 3]> {
    name.first_chunk().copied()
}

fn last_three_letters(name: &[u8]) -> Option<[u8; 3]> {
    name.last_chunk().copied()
}

impl RowPattern {
    fn is_met(&self, dir: &[u8]) -> bool {
        let mut names = dir.rsplit(|&byte| byte == b'/').filter(|name| !name.is_empty());
        self.above.iter().all(|pattern| {
            names.next().is_some_and(|name| {
                let name = fold_name(name);
                if pattern.contains('*') {
                    matches_stars(pattern, &name)
                } else {
                    name == **pattern
                }
            })
        }) && (!self.anchored || names.next().is_none())
    }
}

/// Returns true if folding may change more of a name than its letter case, so that some volumes
/// find it under another spelling.
pub(super) fn has_other_spellings(name: &[u8]) -> bool {
    matches!(name.last(), Some(b'.' | b' ')) || name.iter().any(|&b| b >= 0x80 || b == b':')
}

/// Returns true if a name matches a pattern with `*`.
fn matches_stars(pattern: &str, name: &str) -> bool {
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
pub(super) fn expand_braces(pattern: &str, into: &mut Vec<String>) -> Result<()> {
    let mut todo = vec![pattern.to_owned()];
    while let Some(text) = todo.pop() {
        let Some(open) = text.find('{') else {
            if text.contains('}') {
                return Err(invalid_place_error(pattern, "has a } without a {"));
            }
            into.push(text);
            continue;
        };
        let Some(length) = text[open..].find('}') else {
            return Err(invalid_place_error(pattern, "has a { without a }"));
        };
        for choice in text[open + 1..open + length].split(',') {
            if choice.contains('{') {
                return Err(invalid_place_error(pattern, "has alternatives in alternatives"));
            }
            todo.push([&text[..open], choice, &text[open + length + 1..]].concat());
        }
        if todo.len() + into.len() > MAX_BRACE_EXPANSIONS {
            return Err(invalid_place_error(pattern, "has more than 256 alternatives"));
        }
    }
    Ok(())
}

/// Returns why a name is not allowed in a pattern.
fn name_objection(name: &str) -> Option<&'static str> {
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

fn invalid_place_error(pattern: &str, problem: &str) -> Error {
    let message = format!("the place '{pattern}' {problem}");
    Error::new(Code::InvalidArgument, message).detail("place", pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, path: &str) -> bool {
        let mut patterns = PlacePatterns::new();
        patterns.add(0, pattern, PlaceDecision::Refuse).unwrap();
        let (dir, name) = path.rsplit_once('/').unwrap();
        let mut any = false;
        let name = fold_name(name.as_bytes());
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
            let error = PlacePatterns::new().add(0, pattern, PlaceDecision::Refuse).unwrap_err();
            assert_eq!(error.code, Code::InvalidArgument, "{pattern}");
        }
        let long = "a".repeat(MAX_PLACE_PATTERN_BYTES + 1);
        assert_eq!(
            PlacePatterns::new().add(0, &long, PlaceDecision::Refuse).unwrap_err().code,
            Code::LimitExceeded
        );
        let many = "{a,b,c,d}".repeat(10);
        assert!(PlacePatterns::new().add(0, &many, PlaceDecision::Refuse).is_err());
    }
}
