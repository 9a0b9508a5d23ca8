//! The path rules of a policy: denied globs, protected paths and secrets inside the roots.
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
mod path_cursor;
mod pattern;
mod places;
mod repository;
mod table;

pub use content::{SECRET_HEAD_BYTES, holds_secret, may_hold_secret};
pub use deny::{MAX_GLOB_BYTES, MAX_GLOBS};
pub use path_cursor::PathCursor;
pub use pattern::MAX_PLACE_PATTERN_BYTES;
pub use places::{Decision, MAX_PLACES, Row, table_text};
pub use repository::{Marks, REPOSITORY_MARKS, RepositoryParts};
pub use table::ROWS;

use crate::error::Result;
use deny::{Ancestors, Deny};
use fold::folded;
use places::{MatchedRules, PlaceRules, SHARED_PARENTS};

/// The access that a call needs to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// Reads the content or the metadata.
    Read,
    /// Creates, changes or removes the entry.
    Write,
}

/// The decision of the rules on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No rule applies.
    Allowed,
    /// A deny glob matches the path or a directory above it.
    Denied,
    /// The path may be read but not changed.
    Protected,
}

/// The input from which [`PathRules`] are compiled.
#[derive(Clone, Debug, Default)]
pub struct RulesConfig<'a> {
    /// The absolute, resolved directory that relative globs start from.
    pub cwd: &'a [u8],
    /// The absolute, resolved roots. A glob without a slash matches below each of them.
    pub roots: &'a [&'a [u8]],
    /// Denied globs.
    pub deny: &'a [String],
    /// Protects the paths of the table.
    pub protect: bool,
    /// Hides the content of secrets.
    pub secrets: bool,
    /// Makes globs ignore letter case, for case-insensitive volumes.
    pub fold_case: bool,
    /// Rules of the host: `refuse`, `ask`, `allow`, `secret` or `readable`, a space and a pattern
    /// in the syntax of the table; or `path`, a space and an absolute path that is refused.
    pub places: &'a [String],
}

/// The compiled rules of a policy.
#[derive(Clone, Debug)]
pub struct PathRules {
    deny: Option<Deny>,
    protect: bool,
    secrets: bool,
    places: PlaceRules,
    /// Names up to a root never match a rule, because the host chose them.
    roots: Vec<Vec<u8>>,
}

crate::wire! {
    /// Bits of the decisions on a path.
    pub bits PathFlags {
        /// A deny glob matches the path or a directory above it.
        DENIED = 1,
        /// A protected place, or below one: not writable.
        PROTECTED = 2,
        /// It must not be moved, replaced or deleted as a whole either.
        GUARDED = 4,
        /// Its content must not be read, nor moved to a readable path.
        SECRET = 8,
        /// A protected place is below it, so that it must not be moved or deleted.
        HOLDS = 16,
        /// A write requires an approval.
        ASKS = 32,
        /// It is part of a git repository, if a directory above it has the other marks of one.
        PART = 64,
        /// The host allows reading its content, whatever it contains.
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

    /// Compiles rules.
    ///
    /// # Errors
    /// `INVALID_GLOB` for a glob that does not parse, is empty or negated;
    /// `LIMIT_EXCEEDED` beyond [`MAX_GLOB_BYTES`] or [`MAX_GLOBS`]; `INVALID_ARGUMENT` for an
    /// invalid host rule.
    pub fn new(config: &RulesConfig<'_>) -> Result<Self> {
        let deny = if config.deny.is_empty() { None } else { Some(Deny::new(config)?) };
        Ok(Self {
            deny,
            protect: config.protect,
            secrets: config.secrets,
            places: PlaceRules::new(config.places)?,
            roots: config.roots.iter().map(|root| root.to_vec()).collect(),
        })
    }

    /// Decides on an absolute, resolved path. A denial takes precedence over protection.
    pub fn verdict(&self, path: &[u8], intent: Intent) -> Verdict {
        if self.denied(path) {
            return Verdict::Denied;
        }
        if intent == Intent::Write && self.protected(path) {
            return Verdict::Protected;
        }
        Verdict::Allowed
    }

    /// Reports whether a deny glob matches the path or a directory above it.
    pub fn denied(&self, path: &[u8]) -> bool {
        self.deny.as_ref().is_some_and(|deny| deny.matches(path, Ancestors::Above))
    }

    /// Like [`PathRules::denied`], for a walk that has already checked the parent directory: matches
    /// only the path of the entry itself.
    pub fn denied_entry(&self, path: &[u8]) -> bool {
        self.deny.as_ref().is_some_and(|deny| deny.matches(path, Ancestors::Itself))
    }

    /// Returns all decisions on a path as [`PathFlags`], so that a binding needs one call. Bits 8 to
    /// 19 hold the index of the protecting row plus one, bits 20 and up that of the secret row plus
    /// one.
    pub fn flags(&self, path: &[u8]) -> u32 {
        let matched_rules = if self.protect || self.secrets {
            self.matched_rules(path)
        } else {
            MatchedRules::default()
        };
        let written = matched_rules.written().filter(|_| self.protect);
        let secret = matched_rules.secret().filter(|_| self.secrets);
        let protected = self.protect && matched_rules.refused().is_some();
        let name = last_name(path);
        let row = |row: Option<u16>| row.map_or(0, |row| u32::from(row) + 1);
        [
            (PathFlags::DENIED, self.denied(path)),
            (PathFlags::PROTECTED, protected),
            (PathFlags::GUARDED, protected || self.may_contain_protected(name)),
            (PathFlags::SECRET, secret.is_some()),
            (PathFlags::HOLDS, self.holds(path, name)),
            (PathFlags::ASKS, !protected && written.is_some()),
            (PathFlags::PART, self.protect && RepositoryParts::new(path).next().is_some()),
            (PathFlags::OPENED, self.secrets && matched_rules.is_opened()),
        ]
        .into_iter()
        .fold(0, |flags, (bit, applies)| flags | if applies { bit } else { 0 })
            | row(written) << 8
            | row(secret) << 20
    }

    fn matched_rules(&self, path: &[u8]) -> MatchedRules {
        MatchedRules::of(&self.places, path, self.chosen(path))
    }

    /// Returns the length of the path prefix that the host chose: the highest root above the path.
    /// The nearest root would be wrong, because a read-only root inside a writable one must not
    /// exempt the names between them.
    fn chosen(&self, path: &[u8]) -> usize {
        let roots = self.roots.iter().filter(|root| {
            path.strip_prefix(&root[..])
                .is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || **root == b"/")
        });
        roots.map(Vec::len).min().unwrap_or(0)
    }

    /// Reports for each name in a directory, in order, whether it is denied: 1 or 0. `names` are
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

    /// Reports whether the policy has any deny glob.
    pub fn denies(&self) -> bool {
        self.deny.is_some()
    }

    /// Reports whether the paths of the table are protected.
    pub fn protects(&self) -> bool {
        self.protect
    }

    /// Returns the same rules with secrets readable.
    pub fn with_secrets_allowed(self) -> Self {
        Self { secrets: false, ..self }
    }

    /// Reports whether the content of secrets is hidden.
    pub fn hides_secrets(&self) -> bool {
        self.secrets
    }

    /// Reports whether the path is, or lies below, a path that tools never write.
    pub fn protected(&self, path: &[u8]) -> bool {
        self.protect && self.matched_rules(path).refused().is_some()
    }

    /// Reports whether the path is, or lies below, a secret.
    pub fn secret(&self, path: &[u8]) -> bool {
        self.secrets && self.matched_rules(path).secret().is_some()
    }

    /// Reports whether the caller must check the content for a key: false where the host made it
    /// readable.
    pub fn asks_content(&self, path: &[u8]) -> bool {
        self.secrets && !self.matched_rules(path).is_opened()
    }

    /// Reports whether an entry of this name is, or may contain, a protected path, so that it must
    /// not be moved, replaced or deleted. `.git` always counts: a file of that name, or a directory
    /// moved there, redirects git to other hooks.
    pub fn may_contain_protected(&self, name: &[u8]) -> bool {
        self.protect && may_be_git(name) && {
            let name = folded(name);
            self.places.is_parent(&name) && !SHARED_PARENTS.contains(&&*name)
        }
    }

    /// Reports whether a link of this name could give a protected path a second name.
    pub fn guards_link(&self, name: &[u8]) -> bool {
        self.protect && self.places.is_parent(&folded(name))
    }

    /// Reports whether an entry prevents its whole tree from being moved or deleted. Only git's own
    /// entries do. Configuration of other programs is common in trees that are installed and
    /// deleted as a whole.
    pub fn holds(&self, path: &[u8], name: &[u8]) -> bool {
        self.protect && {
            let git =
                |name: &[u8]| may_be_git(name) && matches!(&*folded(name), ".git" | ".gitmodules");
            (git(name) || path.split(|&byte| byte == b'/').any(git)) && self.protected(path)
        }
    }

    /// True for [`PathRules::protected`] paths and for names that [`PathRules::may_contain_protected`]:
    /// such an entry must not be moved, replaced or deleted as a whole.
    pub fn is_or_contains_protected(&self, path: &[u8]) -> bool {
        self.may_contain_protected(last_name(path)) || self.protected(path)
    }
}

/// Cheap filter: a name of git, or of another settings directory, begins with a dot or with a
/// character that some volumes ignore.
fn may_be_git(name: &[u8]) -> bool {
    name.first().is_some_and(|&byte| byte == b'.' || byte >= 0x80)
}

fn last_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
