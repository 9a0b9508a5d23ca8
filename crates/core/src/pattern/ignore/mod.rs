//! Decides which paths ignore files exclude, exactly as git does.
//!
//! [`IgnoreRules`] are the lines of one ignore file; a [`Stack`] holds the rules of every directory
//! from the root down to the current directory of a walk. This module does no I/O: the walk finds
//! the ignore files in its listings and passes their bytes, so that the same code serves disks and
//! memory.
//!
//! Between kinds of ignore files ripgrep's order applies: any verdict of a higher kind (`.ignore`)
//! overrides every verdict of a lower one (`.gitignore`), whatever the depth. Within a kind the
//! deepest directory decides, and there the last matching line.

mod git_file;
mod rule;

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use rule::{IgnoreRule, RuleTest};

pub use git_file::{GIT_FILE_KEY, MAX_GIT_FILE_BYTES, git_path_in};

crate::wire! {
    /// The limits and signs of ignore files.
    pub constants IgnoreLimits {
        /// The maximum size of an ignore file, in bytes. A larger one is not applied.
        MAX_FILE_BYTES = 1048576,
        /// The maximum size of a file of git that contains one path, in bytes.
        MAX_GIT_FILE_BYTES = 8192,
        /// The number that stands for `.git/info/exclude` in place of the index of an ignore file's name.
        GIT_EXCLUDE_PLACE = 4294967295,
    }
}

crate::wire! {
    /// The name of an ignore file, lowest precedence first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum IgnoreFileName {
        /// The file of git.
        Git = ".gitignore",
        /// The file of ripgrep and other search tools.
        Search = ".ignore",
        /// The file for agents alone.
        Agent = ".agentignore",
    }
}

/// The names of ignore files, the ones with the lowest precedence first. Callers can use a longer
/// list.
pub const IGNORE_FILE_NAMES: [&str; 3] =
    [IgnoreFileName::Git.as_str(), IgnoreFileName::Search.as_str(), IgnoreFileName::Agent.as_str()];

/// The maximum size of an ignore file, in bytes. A larger one is not applied.
pub const MAX_IGNORE_FILE_BYTES: usize = IgnoreLimits::MAX_FILE_BYTES as usize;

/// The verdict of the rules of one ignore file on an entry that a line matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IgnoreVerdict {
    /// The last matching line ignores the entry.
    Ignore,
    /// The last matching line is negated (`!`).
    Keep,
}

/// Indexes of rules, ascending, by the text that they compare.
type RulesByText = HashMap<Box<[u8]>, Vec<u32>, BuildHasherDefault<NameHasher>>;

/// A fast hasher for names. Every entry of a walk is looked up several times, and the hasher of the
/// standard library is slower because it resists hostile keys. Here hostile keys could only make
/// one ignore file slow.
#[derive(Default)]
struct NameHasher(u64);

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            let mixed = (self.0.rotate_left(5) ^ u64::from_le_bytes(word))
                .wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.0 = mixed ^ (mixed >> 29);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The rules of one ignore file.
///
/// ```
/// use filewright_core::pattern::ignore::{IgnoreRules, IgnoreVerdict};
/// let rules = IgnoreRules::parse(b"*.log\n!keep.log\n/build/\n");
/// assert_eq!(rules.verdict(b"a/x.log", false), Some(IgnoreVerdict::Ignore));
/// assert_eq!(rules.verdict(b"a/keep.log", false), Some(IgnoreVerdict::Keep));
/// assert_eq!(rules.verdict(b"build", true), Some(IgnoreVerdict::Ignore));
/// assert_eq!(rules.verdict(b"a/build", true), None);
/// ```
#[derive(Debug, Default)]
pub struct IgnoreRules {
    rules: Vec<IgnoreRule>,
    /// The rules that compare the last name, its extension, or the whole path, by the text that
    /// they compare: one look-up tests all of them.
    by_name: RulesByText,
    by_extension: RulesByText,
    by_path: RulesByText,
    /// The indexes of the rules that must be tried one by one, ascending.
    others: Vec<u32>,
}

impl IgnoreRules {
    /// Parses an ignore file. Lines that can match nothing are dropped; there are no errors, as in
    /// git.
    pub fn parse(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut rules = Self::default();
        for line in bytes.split(|&byte| byte == b'\n') {
            if let Some((rule, key)) = IgnoreRule::parse(line.strip_suffix(b"\r").unwrap_or(line)) {
                rules.add(rule, key);
            }
        }
        rules
    }

    fn add(&mut self, rule: IgnoreRule, key: Option<Box<[u8]>>) {
        let number = self.rules.len() as u32;
        let map = match (&rule.test, key) {
            (RuleTest::Name, Some(key)) => self.by_name.entry(key).or_default(),
            (RuleTest::Extension, Some(key)) => self.by_extension.entry(key).or_default(),
            (RuleTest::Path, Some(key)) => self.by_path.entry(key).or_default(),
            _ => &mut self.others,
        };
        map.push(number);
        self.rules.push(rule);
    }

    /// Returns true if the file has no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns what the last matching rule says about the entry at `path`, relative to the
    /// directory of the ignore file; `None` if no rule matches. The caller handles ignored
    /// directories above the entry.
    pub fn verdict(&self, path: &[u8], is_dir: bool) -> Option<IgnoreVerdict> {
        let name = match memchr::memrchr(b'/', path) {
            Some(at) => &path[at + 1..],
            None => path,
        };
        let mut best: Option<u32> = None;
        let mut consider = |numbers: Option<&Vec<u32>>| {
            let last = numbers.into_iter().flatten().rev().find(|&&number| {
                let rule = &self.rules[number as usize];
                is_dir || !rule.directory
            });
            best = best.max(last.copied());
        };
        if !self.by_name.is_empty() {
            consider(self.by_name.get(name));
        }
        if !self.by_path.is_empty() {
            consider(self.by_path.get(path));
        }
        if !self.by_extension.is_empty()
            && let Some(dot) = memchr::memrchr(b'.', name)
        {
            consider(self.by_extension.get(&name[dot + 1..]));
        }
        for &number in self.others.iter().rev() {
            if best.is_some_and(|best| best > number) {
                break;
            }
            let rule = &self.rules[number as usize];
            if (is_dir || !rule.directory) && rule.test.matches(path, name) {
                best = Some(number);
                break;
            }
        }
        let rule = &self.rules[best? as usize];
        Some(if rule.keep { IgnoreVerdict::Keep } else { IgnoreVerdict::Ignore })
    }
}

/// The precedence of an ignore file: a higher kind overrides a lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IgnoreKind(u8);

impl IgnoreKind {
    /// The file of git's `core.excludesFile`.
    pub const GLOBAL: IgnoreKind = IgnoreKind(0);
    /// `.git/info/exclude`.
    pub const EXCLUDE: IgnoreKind = IgnoreKind(1);

    /// Returns the kind of ignore files whose name has this index in the list of names.
    /// [`IGNORE_FILE_NAMES`] begins with `.gitignore`, and so must every other list that contains
    /// it. [`IgnoreLimits::GIT_EXCLUDE_PLACE`] stands for `.git/info/exclude`.
    pub fn file(place: usize) -> IgnoreKind {
        if place == IgnoreLimits::GIT_EXCLUDE_PLACE as usize {
            return IgnoreKind::EXCLUDE;
        }
        IgnoreKind(2 + place.min(29) as u8)
    }

    /// Returns true for git's own ignore files, whose rules do not apply inside another repository
    /// below.
    fn is_git(self) -> bool {
        self.0 <= 2
    }
}

/// The ignore rules that apply in one directory: its own and those of the directories above, up to
/// the root of the walk. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Stack(Option<Arc<IgnoreLevel>>);

#[derive(Debug)]
struct IgnoreLevel {
    parent: Stack,
    /// The length in bytes of the directory's path with its slash; 0 for the root of the walk.
    base: usize,
    lists: Vec<(IgnoreKind, IgnoreRules)>,
    /// True if the directory is a repository: git's rules from above do not apply inside it.
    is_repo_root: bool,
    /// The highest kind in this level and those above.
    highest: IgnoreKind,
}

impl Stack {
    /// Creates a stack without rules.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the stack for a directory below: its own rules on top of those of this stack.
    /// `directory` is its path from the root of the walk, without a slash at either end;
    /// `is_repo_root` says that it has a `.git` entry.
    #[must_use]
    pub fn enter(
        &self,
        directory: &[u8],
        lists: Vec<(IgnoreKind, IgnoreRules)>,
        is_repo_root: bool,
    ) -> Self {
        let lists: Vec<_> = lists.into_iter().filter(|(_, rules)| !rules.is_empty()).collect();
        // Without rules above, the border of a repository stops nothing.
        if lists.is_empty() && !(is_repo_root && self.0.is_some()) {
            return self.clone();
        }
        let base = if directory.is_empty() { 0 } else { directory.len() + 1 };
        let above = self.0.as_ref().map(|level| level.highest);
        let highest = lists.iter().map(|(kind, _)| *kind).chain(above).max();
        let highest = highest.unwrap_or(IgnoreKind::GLOBAL);
        Self(Some(Arc::new(IgnoreLevel {
            parent: self.clone(),
            base,
            lists,
            is_repo_root,
            highest,
        })))
    }

    /// Does the same as [`Stack::enter`] with the contents of the directory's ignore files, each
    /// with the index of its name in the list.
    #[must_use]
    pub fn enter_files<'b>(
        &self,
        directory: &[u8],
        files: impl IntoIterator<Item = (usize, &'b [u8])>,
        is_repo_root: bool,
    ) -> Self {
        let lists = files
            .into_iter()
            .map(|(place, bytes)| (IgnoreKind::file(place), IgnoreRules::parse(bytes)));
        self.enter(directory, lists.collect(), is_repo_root)
    }

    /// Returns true if there are no rules, so that nothing is ignored.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns true if the entry at `path`, from the root of the walk, is ignored. It must lie
    /// below the directory of this stack.
    pub fn ignored(&self, path: &[u8], is_dir: bool) -> bool {
        let mut decided: Option<(IgnoreKind, IgnoreVerdict)> = None;
        // The length of the path of the entry's repository, once its border was passed.
        let mut repository: Option<usize> = None;
        let mut level = self.0.as_deref();
        while let Some(here) = level {
            // Neither this level nor one above has a kind that overrides the verdict.
            if decided.is_some_and(|(kind, _)| kind >= here.highest) {
                break;
            }
            for (kind, rules) in &here.lists {
                // The user's excludes (`core.excludesFile`) apply in every repository, relative to
                // its top.
                let base = match repository {
                    Some(top) if *kind == IgnoreKind::GLOBAL => top,
                    Some(_) if kind.is_git() => continue,
                    _ => here.base,
                };
                if decided.is_some_and(|(decided, _)| decided >= *kind) {
                    continue;
                }
                let relative = path.get(base..).unwrap_or_default();
                if let Some(verdict) = rules.verdict(relative, is_dir) {
                    decided = Some((*kind, verdict));
                }
            }
            if here.is_repo_root && repository.is_none() {
                repository = Some(here.base);
            }
            level = here.parent.0.as_deref();
        }
        matches!(decided, Some((_, IgnoreVerdict::Ignore)))
    }
}

#[cfg(test)]
mod tests;
