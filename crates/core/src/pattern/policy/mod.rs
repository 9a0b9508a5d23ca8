//! Applies the path rules of a policy: denied globs, protected paths and secrets inside the roots.
//!
//! This module does no I/O. Callers pass the absolute resolved path, without links, so that a link
//! cannot bypass a rule. `filewright-fs` owns the roots and opens the files.
//!
//! A deny glob without a slash matches at any depth below the working directory and below every
//! root. A glob with a slash is relative to the working directory; an absolute glob matches from
//! `/`. A matched path and everything below it is inaccessible for reads and writes, as if it were
//! outside the roots.
//!
//! Protected paths are files whose content other programs execute. Secrets are files whose content
//! needs a grant. Rows of `table` list both; they match any spelling, whether or not the file
//! exists. The host adds rows and exceptions (`places`). Files that are private keys by their
//! content are secrets too (`content`), and directories that git would treat as a repository are
//! protected (`repository`).

mod content;
mod deny;
mod fold;
mod objection;
mod path_cursor;
mod pattern;
mod places;
mod repository;
mod table;

pub use content::{SECRET_HEAD_BYTES, holds_secret, may_hold_secret};
pub use deny::{MAX_DENY_GLOB_BYTES, MAX_DENY_GLOBS};
pub use objection::{GlobReach, glob_objection};
pub use path_cursor::PathCursor;
pub use pattern::MAX_PLACE_PATTERN_BYTES;
pub use places::{MAX_HOST_RULES, secret_patterns, table_text};
pub use repository::{PossibleRepositories, REPOSITORY_MARKS, RepositoryMarks};
pub use table::PLACE_ROWS;
pub use table::{PlaceDecision, PlaceRow};

use crate::error::Result;
use deny::{DenyGlobs, TestedAncestors};
use fold::fold_name;
use places::{MOVABLE_PARENT_NAMES, MatchedRules, PlaceRules};

/// The access of a call to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// Reads the content or the metadata.
    Read,
    /// Creates, changes or removes the entry.
    Write,
}

/// The answer of the rules to an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessVerdict {
    /// No rule applies.
    Allowed,
    /// A deny glob matches the path or a directory above it.
    Denied,
    /// The path is protected: it may be read but not changed.
    Protected,
}

/// The settings from which [`PathRules`] are compiled.
#[derive(Clone, Debug, Default)]
pub struct RulesConfig<'a> {
    /// The absolute, resolved directory that relative globs start from.
    pub cwd: &'a [u8],
    /// The absolute, resolved roots. A glob without a slash matches below each of them.
    pub roots: &'a [&'a [u8]],
    /// The deny globs.
    pub deny: &'a [String],
    /// True if the protected paths of the table must not be changed.
    pub protect: bool,
    /// True if the content of secrets must not be read.
    pub secrets: bool,
    /// True if globs ignore letter case, for case-insensitive volumes.
    pub fold_case: bool,
    /// Rules of the host: `refuse`, `ask`, `allow`, `secret` or `readable`, a space and a pattern
    /// in the syntax of the table; or `path`, a space and an absolute path that is refused.
    pub places: &'a [String],
}

/// The compiled rules of a policy.
#[derive(Clone, Debug)]
pub struct PathRules {
    deny: Option<DenyGlobs>,
    protect: bool,
    secrets: bool,
    places: PlaceRules,
    /// The absolute, resolved roots. The names up to a root never match a rule of the table,
    /// because the host chose them.
    roots: Vec<Vec<u8>>,
}

crate::wire! {
    /// The rules that apply to a path, as bits.
    pub bits PathFlags {
        /// A deny glob matches the path or a directory above it.
        DENIED = 1,
        /// The path is a protected place or below one: it must not be written.
        PROTECTED = 2,
        /// The path is protected, or a directory that may contain a protected place: it must not be
        /// moved, replaced or deleted as a whole.
        GUARDED = 4,
        /// The content must not be read, nor moved to a path where it could be read.
        SECRET = 8,
        /// The path is an entry of git, such as `.git`: no directory above it may be moved or
        /// deleted.
        HOLDS = 16,
        /// Writing the path requires an approval.
        ASKS = 32,
        /// The path is part of a git repository if a directory above it has the other entries that
        /// make it one.
        PART = 64,
        /// The host allows reading the content, whatever it contains.
        OPENED = 128,
    }
}

impl PathRules {
    /// Returns rules that forbid nothing.
    pub fn none() -> Self {
        Self {
            deny: None,
            protect: false,
            secrets: false,
            places: PlaceRules::table(),
            roots: Vec::new(),
        }
    }

    /// Compiles the rules of a policy.
    ///
    /// # Errors
    /// `INVALID_GLOB` for a glob that does not parse, is empty or negated;
    /// `LIMIT_EXCEEDED` beyond [`MAX_DENY_GLOB_BYTES`] or [`MAX_DENY_GLOBS`]; `INVALID_ARGUMENT`
    /// for an invalid host rule.
    pub fn new(config: &RulesConfig<'_>) -> Result<Self> {
        let deny = if config.deny.is_empty() { None } else { Some(DenyGlobs::new(config)?) };
        Ok(Self {
            deny,
            protect: config.protect,
            secrets: config.secrets,
            places: PlaceRules::new(config.places)?,
            roots: config.roots.iter().map(|root| root.to_vec()).collect(),
        })
    }

    /// Returns whether the rules allow an access to an absolute, resolved path. A denial takes
    /// precedence over protection.
    pub fn verdict(&self, path: &[u8], intent: Intent) -> AccessVerdict {
        if self.denied(path) {
            return AccessVerdict::Denied;
        }
        if intent == Intent::Write && self.protected(path) {
            return AccessVerdict::Protected;
        }
        AccessVerdict::Allowed
    }

    /// Returns true if a deny glob matches the path or a directory above it.
    pub fn denied(&self, path: &[u8]) -> bool {
        self.deny.as_ref().is_some_and(|deny| deny.matches(path, TestedAncestors::AllAbove))
    }

    /// Does the same as [`PathRules::denied`] for a walk that has already checked the directories
    /// above: tests only the path of the entry itself.
    pub fn denied_entry(&self, path: &[u8]) -> bool {
        self.deny.as_ref().is_some_and(|deny| deny.matches(path, TestedAncestors::EntryOnly))
    }

    /// Returns all rules that apply to a path as [`PathFlags`], so that a binding needs one call.
    /// Bits 8 to 19 hold the index of the protecting row plus one, bits 20 and up that of the
    /// secret row plus one; 0 if there is none.
    pub fn flags(&self, path: &[u8]) -> u32 {
        let matched_rules = if self.protect || self.secrets {
            self.matched_rules(path)
        } else {
            MatchedRules::default()
        };
        let written = matched_rules.write_restricting_row().filter(|_| self.protect);
        let secret = matched_rules.secret_row().filter(|_| self.secrets);
        let protected = self.protect && matched_rules.refusing_row().is_some();
        let name = last_name(path);
        let row = |row: Option<u16>| row.map_or(0, |row| u32::from(row) + 1);
        [
            (PathFlags::DENIED, self.denied(path)),
            (PathFlags::PROTECTED, protected),
            (PathFlags::GUARDED, protected || self.may_contain_protected(name)),
            (PathFlags::SECRET, secret.is_some()),
            (PathFlags::HOLDS, self.holds(path, name)),
            (PathFlags::ASKS, !protected && written.is_some()),
            (PathFlags::PART, self.protect && PossibleRepositories::new(path).next().is_some()),
            (PathFlags::OPENED, self.secrets && matched_rules.is_readable_by_host()),
        ]
        .into_iter()
        .fold(0, |flags, (bit, applies)| flags | if applies { bit } else { 0 })
            | row(written) << 8
            | row(secret) << 20
    }

    fn matched_rules(&self, path: &[u8]) -> MatchedRules {
        MatchedRules::of(&self.places, path, self.chosen_prefix_len(path))
    }

    /// Returns the length in bytes of the path prefix that the host chose: the highest root above
    /// the path, or 0. The nearest root would be wrong, because a read-only root inside a writable
    /// one must not exempt the names between them.
    fn chosen_prefix_len(&self, path: &[u8]) -> usize {
        let roots = self.roots.iter().filter(|root| {
            path.strip_prefix(&root[..])
                .is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || **root == b"/")
        });
        roots.map(Vec::len).min().unwrap_or(0)
    }

    /// Returns for each name in a directory, in order, 1 if it is denied, else 0. `names` are
    /// joined by `/`, which no name contains. The directory itself must not be denied, as for
    /// [`PathRules::denied_entry`].
    pub fn denied_names(&self, directory: &[u8], names: &[u8]) -> Vec<u8> {
        let mut path = directory.to_vec();
        if path.last() != Some(&b'/') {
            path.push(b'/');
        }
        let start = path.len();
        let denied = names.split(|&byte| byte == b'/').map(|name| {
            path.truncate(start);
            path.extend_from_slice(name);
            u8::from(self.denied_entry(&path))
        });
        denied.collect()
    }

    /// Returns true if the policy has any deny glob.
    pub fn denies(&self) -> bool {
        self.deny.is_some()
    }

    /// Returns true if the policy protects the paths of the table.
    pub fn protects(&self) -> bool {
        self.protect
    }

    /// Returns the same rules, except that secrets may be read.
    pub fn with_secrets_allowed(self) -> Self {
        Self { secrets: false, ..self }
    }

    /// Returns true if the content of secrets must not be read.
    pub fn hides_secrets(&self) -> bool {
        self.secrets
    }

    /// Returns true if the path is, or lies below, a path that tools never write.
    pub fn protected(&self, path: &[u8]) -> bool {
        self.protect && self.matched_rules(path).refusing_row().is_some()
    }

    /// Returns true if the path is, or lies below, a secret.
    pub fn secret(&self, path: &[u8]) -> bool {
        self.secrets && self.matched_rules(path).secret_row().is_some()
    }

    /// Returns true if the caller must check the content for a key; false where the host made it
    /// readable.
    pub fn asks_content(&self, path: &[u8]) -> bool {
        self.secrets && !self.matched_rules(path).is_readable_by_host()
    }

    /// Returns true if an entry of this name may contain a protected path, so that it must not be
    /// moved, replaced or deleted. `.git` always counts: a file of that name, or a directory moved
    /// there, redirects git to other hooks.
    pub fn may_contain_protected(&self, name: &[u8]) -> bool {
        self.protect && may_be_dot_name(name) && {
            let name = fold_name(name);
            self.places.is_parent(&name) && !MOVABLE_PARENT_NAMES.contains(&&*name)
        }
    }

    /// Returns true if a link of this name could give a protected path a second name.
    pub fn guards_link(&self, name: &[u8]) -> bool {
        self.protect && self.places.is_parent(&fold_name(name))
    }

    /// Returns true if the entry prevents the directories above it from being moved or deleted.
    /// Only git's own entries do. Configuration of other programs is common in trees that are
    /// installed and deleted as a whole.
    pub fn holds(&self, path: &[u8], name: &[u8]) -> bool {
        self.protect && {
            let git = |name: &[u8]| {
                may_be_dot_name(name) && matches!(&*fold_name(name), ".git" | ".gitmodules")
            };
            (git(name) || path.split(|&byte| byte == b'/').any(git)) && self.protected(path)
        }
    }

    /// Returns true for [`PathRules::protected`] paths and for names that
    /// [`PathRules::may_contain_protected`]: such an entry must not be moved, replaced or deleted
    /// as a whole.
    pub fn is_or_contains_protected(&self, path: &[u8]) -> bool {
        self.may_contain_protected(last_name(path)) || self.protected(path)
    }
}

/// Returns true for a name that begins with a dot or with a character that some volumes ignore;
/// others cannot be `.git` or another settings directory.
fn may_be_dot_name(name: &[u8]) -> bool {
    name.first().is_some_and(|&byte| byte == b'.' || byte >= 0x80)
}

fn last_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
