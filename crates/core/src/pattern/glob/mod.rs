//! Matches relative paths against globs, with ripgrep's rules.
//!
//! A pattern without a slash matches a name at any depth; one with a slash is anchored where the
//! walk starts, and so is one with a leading slash; `dir/` stands for the directory and everything
//! below. `*` and `?` stay within a name, `**` crosses directories, `{a,b}`, `[a-z]`, `[!a]` and
//! `\` work as in a shell. `!pattern` in a list excludes.
//!
//! Matching is linear in the length of the path for every pattern. This module does not walk: a
//! walk calls [`Globs::may_contain`] to skip directories.

mod pattern;
mod recent;
mod suffix_filter;

use regex_automata::meta::{self, Regex};
use regex_automata::util::syntax;

use crate::error::{Code, Error, Result};
use crate::options::Options;
use pattern::{NameTest, TrimmedGlob};
pub use suffix_filter::SuffixFilter;

/// The maximum length of a pattern in bytes; a longer one is refused.
pub const MAX_PATTERN_BYTES: usize = 16 * 1024;
/// The maximum size in bytes of the automaton for one list; a list that needs more is refused.
const MAX_NFA_BYTES: usize = 8 << 20;
/// The maximum size in bytes of the automaton for a deny list, which the host writes and which may
/// have 4,096 patterns.
const MAX_DENY_NFA_BYTES: usize = 32 << 20;
/// The maximum number of patterns to include and to exclude together.
pub const MAX_PATTERNS: usize = 1000;

/// A compiled list of patterns to include and a list to exclude.
///
/// ```
/// use filewright_core::pattern::glob::{Case, Globs};
/// let globs = Globs::new(&["src/**/*.{ts,tsx}", "!*.test.ts"], &["dist/"], Case::Sensitive)?;
/// assert!(globs.matches(b"src/a/b.ts", false));
/// assert!(!globs.matches(b"src/a/b.test.ts", false));
/// assert!(!globs.matches(b"src/dist/b.ts", false));
/// # Ok::<(), filewright_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Globs {
    include: Option<EntryMatcher>,
    exclude: Option<EntryMatcher>,
    /// The directories below which entries can match; `None` if a pattern matches at any depth.
    reach: Option<Vec<PrefixFilter>>,
    /// The literal suffixes of which each match has one; `None` if a pattern does not end in
    /// literal text.
    ends: Option<SuffixFilter>,
}

/// Returns the pattern after a leading `!`, or `None` without one.
fn strip_negation(pattern: &str) -> Result<Option<&str>> {
    match pattern.strip_prefix('!') {
        Some(rest) if rest.starts_with('(') => Err(TrimmedGlob::parse(pattern)
            .err()
            .unwrap_or_else(|| Error::new(Code::InvalidGlob, "a parenthesis is not closed"))),
        rest => Ok(rest),
    }
}

/// Says whether letter case matters in a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// `a` does not match `A`.
    #[default]
    Sensitive,
    /// `a` matches `A`, by Unicode simple case folding.
    Insensitive,
}

impl Globs {
    /// Compiles `patterns` (an empty list includes everything) and `exclude`.
    ///
    /// # Errors
    /// `INVALID_GLOB` naming a pattern that does not parse or contains `..`;
    /// `LIMIT_EXCEEDED` for one that is too large.
    pub fn new<P: AsRef<str>, E: AsRef<str>>(
        patterns: &[P],
        exclude: &[E],
        case: Case,
    ) -> Result<Self> {
        if patterns.len() + exclude.len() > MAX_PATTERNS {
            return Err(Error::new(Code::LimitExceeded, "more than 1000 glob patterns"));
        }
        if patterns.len() + exclude.len() < recent::LONG_LIST {
            return Self::compile(patterns, exclude, case);
        }
        recent::cached_or_compiled(patterns, exclude, case, || {
            Self::compile(patterns, exclude, case)
        })
    }

    fn compile<P: AsRef<str>, E: AsRef<str>>(
        patterns: &[P],
        exclude: &[E],
        case: Case,
    ) -> Result<Self> {
        let mut include = Vec::new();
        let mut excluded = Vec::new();
        for pattern in patterns {
            let pattern = pattern.as_ref();
            match strip_negation(pattern)? {
                Some(rest) => excluded.push(TrimmedGlob::parse(rest)?),
                None => include.push(TrimmedGlob::parse(pattern)?),
            }
        }
        for pattern in exclude {
            let pattern = pattern.as_ref();
            excluded.push(TrimmedGlob::parse(strip_negation(pattern)?.unwrap_or(pattern))?);
        }
        let reach = match case {
            // Prefixes are compared byte by byte, so they are not used if case is ignored.
            Case::Insensitive => None,
            Case::Sensitive if include.is_empty() => None,
            Case::Sensitive => include.iter().map(PrefixFilter::of).collect(),
        };
        let ends = match case {
            Case::Sensitive if !include.is_empty() => SuffixFilter::of(&include),
            _ => None,
        };
        Ok(Self {
            include: EntryMatcher::compile(&include, case, SubtreeRule::Directories)?,
            exclude: EntryMatcher::compile(&excluded, case, SubtreeRule::Everything)?,
            reach,
            ends,
        })
    }

    /// Compiles the JSON form: `patterns`, `exclude`, `caseSensitive`.
    ///
    /// # Errors
    /// As [`Globs::new`], and `INVALID_ARGUMENT`.
    pub fn from_json(json: &str) -> Result<Self> {
        let options = Options::parse(json)?;
        let sensitive = options.flag("caseSensitive", true)?;
        let case = if sensitive { Case::Sensitive } else { Case::Insensitive };
        Self::new(&options.list("patterns")?, &options.list("exclude")?, case)
    }

    /// Returns true if there are no patterns, so that every path matches.
    pub fn is_everything(&self) -> bool {
        self.include.is_none() && self.exclude.is_none()
    }

    /// Returns true if the entry at the relative `path` (`/`-separated, no leading slash) is
    /// included and neither it nor a directory above it is excluded.
    pub fn matches(&self, path: &[u8], is_dir: bool) -> bool {
        self.include.as_ref().is_none_or(|set| set.matches(path, is_dir))
            && !self.excluded(path, is_dir)
    }

    /// Returns true if the entry is excluded. A walk does not enter such a directory.
    pub fn excluded(&self, path: &[u8], is_dir: bool) -> bool {
        self.exclude.as_ref().is_some_and(|set| set.matches(path, is_dir))
    }

    /// Returns false if nothing below the directory at `path` can match. The start of the walk is
    /// the empty path.
    pub fn may_contain(&self, path: &[u8]) -> bool {
        match &self.reach {
            Some(reach) => path.is_empty() || reach.iter().any(|reach| reach.may_contain(path)),
            None => true,
        }
    }
}

impl Globs {
    /// Returns the literal suffixes of which every included path has one; `None` if a pattern does
    /// not end in literal text.
    pub fn ends(&self) -> Option<&SuffixFilter> {
        self.ends.as_ref()
    }

    /// Returns the literal prefix of every included path; empty if the patterns have none in
    /// common.
    pub fn literal_prefix(&self) -> Vec<u8> {
        let mut starts = self.reach.iter().flatten().map(|reach| reach.prefix.join(&b'/'));
        let Some(first) = starts.next() else { return Vec::new() };
        starts.fold(first, |mut common, start| {
            let same = common.iter().zip(&start).take_while(|(a, b)| a == b).count();
            common.truncate(same);
            common
        })
    }
}

/// A list of globs without the rules of a search: each begins with `/` for the base of the relative
/// paths, or with `**/` for any depth. A match covers only the entry itself, and a slash at the end
/// of a pattern has no meaning.
#[derive(Clone, Debug)]
pub(crate) struct PatternSet(Option<PathMatcher>);

impl PatternSet {
    /// Compiles the globs. Fails with `INVALID_GLOB` or `LIMIT_EXCEEDED`, as [`Globs::new`].
    pub(crate) fn new(patterns: &[String], case: Case) -> Result<Self> {
        if patterns.is_empty() {
            return Ok(Self(None));
        }
        let patterns: Vec<TrimmedGlob<'_>> =
            patterns.iter().map(|pattern| TrimmedGlob::parse(pattern)).collect::<Result<_>>()?;
        let mut builder = MatcherBuilder::new(case);
        for pattern in &patterns {
            builder.add(pattern)?;
        }
        builder.build(&patterns, MAX_DENY_NFA_BYTES).map(|matcher| Self(Some(matcher)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns true if a pattern matches the relative path.
    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        self.0.as_ref().is_some_and(|matcher| matcher.matches(path))
    }
}

/// The patterns of a list that also cover the entries below those that they match.
#[derive(Clone, Copy)]
enum SubtreeRule {
    /// Only `dir/` covers the entries below it (inclusion).
    Directories,
    /// Every pattern covers the entries below its matches (exclusion).
    Everything,
}

/// A compiled list: patterns that match any entry, and patterns that match directories only.
#[derive(Clone, Debug)]
struct EntryMatcher {
    entries: PathMatcher,
    directories: PathMatcher,
}

impl EntryMatcher {
    fn compile(
        patterns: &[TrimmedGlob<'_>],
        case: Case,
        below: SubtreeRule,
    ) -> Result<Option<Self>> {
        if patterns.is_empty() {
            return Ok(None);
        }
        let mut entries = MatcherBuilder::new(case);
        let mut directories = MatcherBuilder::new(case);
        for pattern in patterns {
            let target = if pattern.directory { &mut directories } else { &mut entries };
            target.add(pattern)?;
            if pattern.directory || matches!(below, SubtreeRule::Everything) {
                entries.add_below(pattern)?;
            }
        }
        Ok(Some(Self {
            entries: entries.build(patterns, MAX_NFA_BYTES)?,
            directories: directories.build(patterns, MAX_NFA_BYTES)?,
        }))
    }

    fn matches(&self, path: &[u8], is_dir: bool) -> bool {
        self.entries.matches(path) || is_dir && self.directories.matches(path)
    }
}

/// Collects patterns for a [`PathMatcher`] by how they can be compared.
struct MatcherBuilder {
    case: Case,
    names: Vec<Box<[u8]>>,
    suffixes: Vec<Box<[u8]>>,
    affixes: Vec<PrefixAndSuffix>,
    regexes: Vec<String>,
}

impl MatcherBuilder {
    fn new(case: Case) -> Self {
        Self {
            case,
            names: Vec::new(),
            suffixes: Vec::new(),
            affixes: Vec::new(),
            regexes: Vec::new(),
        }
    }

    /// Adds the entries that the pattern matches.
    fn add(&mut self, pattern: &TrimmedGlob<'_>) -> Result<()> {
        match pattern.as_name_test() {
            Some(NameTest::Name(name)) if self.case == Case::Sensitive => {
                self.names.push(name.as_bytes().into());
            }
            Some(NameTest::Suffix(suffix)) if self.case == Case::Sensitive => {
                self.suffixes.push(suffix.as_bytes().into());
            }
            Some(NameTest::Affixes(prefix, suffix)) if self.case == Case::Sensitive => {
                self.affixes.push((prefix.as_bytes().into(), suffix.as_bytes().into()));
            }
            _ => self.regexes.push(pattern.regex()?),
        }
        Ok(())
    }

    /// Adds the entries below those that the pattern matches.
    fn add_below(&mut self, pattern: &TrimmedGlob<'_>) -> Result<()> {
        let mut regex = pattern.regex()?;
        regex.pop();
        regex.push('/');
        self.regexes.push(regex);
        Ok(())
    }

    fn build(self, patterns: &[TrimmedGlob<'_>], max_nfa_bytes: usize) -> Result<PathMatcher> {
        let Self { case, names, suffixes, affixes, regexes } = self;
        let regex = if regexes.is_empty() {
            None
        } else {
            let config = meta::Config::new()
                .utf8_empty(false)
                .nfa_size_limit(Some(max_nfa_bytes))
                .hybrid_cache_capacity(2 << 20);
            let syntax =
                syntax::Config::new().utf8(false).case_insensitive(case == Case::Insensitive);
            let regex = meta::Builder::new().configure(config).syntax(syntax).build_many(&regexes);
            // A pattern that parsed as a glob fails to compile only because of its size.
            let longest = patterns.iter().max_by_key(|pattern| pattern.body.len());
            Some(regex.map_err(|_| match longest {
                Some(pattern) => pattern.too_large_error(),
                None => Error::new(Code::LimitExceeded, "the globs are too large to compile"),
            })?)
        };
        Ok(PathMatcher { names, suffixes, affixes, regex })
    }
}

type PrefixAndSuffix = (Box<[u8]>, Box<[u8]>);

/// Tests whether a path matches any of several patterns.
#[derive(Clone, Debug)]
struct PathMatcher {
    /// Patterns that are the complete last name.
    names: Vec<Box<[u8]>>,
    /// Patterns that are a suffix of the last name.
    suffixes: Vec<Box<[u8]>>,
    /// Patterns that are a prefix and a suffix of the last name.
    affixes: Vec<PrefixAndSuffix>,
    /// All other patterns, matched against the complete path.
    regex: Option<Regex>,
}

impl PathMatcher {
    fn matches(&self, path: &[u8]) -> bool {
        // Suffixes contain no slash, so they are compared with the end of the whole path.
        self.suffixes.iter().any(|suffix| ends_with_last_byte_first(path, suffix))
            || !(self.names.is_empty() && self.affixes.is_empty()) && self.matches_name(path)
            || self.regex.as_ref().is_some_and(|regex| regex.is_match(path))
    }

    fn matches_name(&self, path: &[u8]) -> bool {
        let name = match memchr::memrchr(b'/', path) {
            Some(at) => &path[at + 1..],
            None => path,
        };
        self.names.iter().any(|wanted| **wanted == *name)
            || self.affixes.iter().any(|(prefix, suffix)| {
                name.len() >= prefix.len() + suffix.len()
                    && name.starts_with(prefix)
                    && name.ends_with(suffix)
            })
    }
}

/// Does the same as `ends_with`, but compares the last byte first, which rejects most paths.
fn ends_with_last_byte_first(path: &[u8], suffix: &[u8]) -> bool {
    (suffix.is_empty() || path.last() == suffix.last()) && path.ends_with(suffix)
}

/// The directories below which an anchored pattern can match.
#[derive(Clone, Debug)]
struct PrefixFilter {
    /// The literal names with which every match begins.
    prefix: Vec<Box<[u8]>>,
    /// The number of names in the longest match; the maximum value if it is unlimited.
    depth: usize,
}

impl PrefixFilter {
    /// Returns the directories below which the pattern can match, or `None` for any.
    fn of(pattern: &TrimmedGlob<'_>) -> Option<Self> {
        if !pattern.anchored {
            return None;
        }
        let names: Vec<&str> = pattern.body.split('/').collect();
        let is_plain = |name: &&&str| !name.contains(['*', '?', '[', ']', '{', '}', ',', '\\']);
        let prefix = names.iter().take_while(is_plain).map(|name| name.as_bytes().into()).collect();
        // A slash inside braces or brackets makes the number of names unknown.
        let deep = pattern.directory
            || pattern.body.contains("**")
            || pattern.body.contains(['{', '[', '\\']);
        Some(Self { prefix, depth: if deep { usize::MAX } else { names.len() } })
    }

    /// Returns false if nothing below the directory can match.
    fn may_contain(&self, directory: &[u8]) -> bool {
        let mut depth = 0;
        for name in directory.split(|&byte| byte == b'/') {
            if self.prefix.get(depth).is_some_and(|wanted| **wanted != *name) {
                return false;
            }
            depth += 1;
        }
        depth < self.depth
    }
}

#[cfg(test)]
mod tests;
