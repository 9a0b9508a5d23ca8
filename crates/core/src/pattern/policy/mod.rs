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
mod tests {
    use super::*;
    use crate::error::Code;
    use proptest::prelude::*;

    fn rules(deny: &[&str]) -> PathRules {
        let deny: Vec<String> = deny.iter().map(|glob| (*glob).to_owned()).collect();
        PathRules::new(&RulesConfig {
            cwd: b"/w",
            roots: &[b"/w", b"/other"],
            deny: &deny,
            protect: true,
            secrets: true,
            fold_case: false,
            places: &[],
        })
        .unwrap()
    }

    #[test]
    fn deny_globs() {
        // (globs, path, denied)
        let cases: &[(&[&str], &str, bool)] = &[
            (&["sec"], "/w/sec", true),
            (&["sec"], "/w/sec/deep/k", true),
            (&["sec"], "/w/a/sec/k", true),
            (&["sec"], "/other/sec", true),
            (&["sec"], "/elsewhere/sec", false),
            (&["sec"], "/w/second", false),
            (&["./sec"], "/w/sec/k", true),
            (&["./sec"], "/w/a/sec", false),
            (&["sec/"], "/w/sec", true),
            (&["sec/**"], "/w/sec", false),
            (&["sec/**"], "/w/sec/k", true),
            (&["a/sec"], "/w/a/sec", true),
            (&["a/sec"], "/w/b/a/sec", false),
            (&["a/sec"], "/other/a/sec", false),
            (&["**/a/sec"], "/other/x/a/sec/y", true),
            (&[".env*"], "/w/p/.env.local", true),
            (&["*.key"], "/w/x.key/inside", true),
            (&["a/*.key"], "/w/a/b/x.key", false),
            (&["/etc/**"], "/etc/passwd", true),
            (&["/etc"], "/etc/passwd", true),
            (&["../other/x"], "/other/x/y", true),
            (&["../*.txt"], "/a.txt", true),
            (&["{a,b}"], "/w/b", true),
            (&["[ab]c"], "/w/bc", true),
            (&["w"], "/w", false),
            (&["\\!x"], "/w/!x", true),
        ];
        for (globs, path, denied) in cases {
            assert_eq!(rules(globs).denied(path.as_bytes()), *denied, "{globs:?} {path}");
        }
    }

    #[test]
    fn names_that_are_not_utf8_are_matched() {
        assert!(rules(&["*.key"]).denied(b"/w/\xff\xfe.key"));
    }

    #[test]
    fn refused_globs() {
        for (glob, code) in [
            ("", Code::InvalidGlob),
            ("/", Code::InvalidGlob),
            ("!x", Code::InvalidGlob),
            ("a/../b", Code::InvalidGlob),
            ("..", Code::InvalidGlob),
            ("[", Code::InvalidGlob),
        ] {
            let deny = [glob.to_owned()];
            let config = RulesConfig { cwd: b"/w", deny: &deny, ..Default::default() };
            assert_eq!(PathRules::new(&config).unwrap_err().code, code, "{glob}");
        }
        let deny = ["x".repeat(MAX_GLOB_BYTES + 1)];
        let config = RulesConfig { cwd: b"/w", deny: &deny, ..Default::default() };
        assert_eq!(PathRules::new(&config).unwrap_err().code, Code::LimitExceeded);
    }

    #[test]
    fn fold_case_follows_the_volume() {
        let deny = ["Secret".to_owned()];
        let config = RulesConfig { cwd: b"/w", deny: &deny, fold_case: true, ..Default::default() };
        assert!(PathRules::new(&config).unwrap().denied(b"/w/sECRET"));
    }

    #[test]
    fn flags_sum_the_verdicts() {
        let rules = rules(&["sec"]);
        for (path, flags) in [
            ("/w/a", 0),
            ("/w/sec", 1),
            ("/w/.git", 22),
            ("/w/.git/config", 22),
            ("/w/sec/.git", 23),
            ("/w/.vscode", 4),
            ("/w/.vscode/tasks.json", 6),
            ("/w/.env", 8),
            ("/w/mise.toml", 32),
            ("/w/.npmrc", 40),
            ("/w/d/HEAD", 64),
        ] {
            assert_eq!(rules.flags(path.as_bytes()) & 0xff, flags, "{path}");
        }
        let row = |path: &str, shift: u32| {
            let number = rules.flags(path.as_bytes()) >> shift & 0xfff;
            number.checked_sub(1).map(|row| ROWS[row as usize].pattern)
        };
        assert_eq!(row("/w/.git/config", 8), Some(".git"));
        assert_eq!(row("/w/.git/config", 20), None);
        assert_eq!(row("/w/.env", 20), Some(".env"));
        assert_eq!(row("/w/x", 8), None);
    }

    #[test]
    fn names_of_a_directory_are_checked_in_one_call() {
        let rules = rules(&["*.key", "d/x"]);
        assert_eq!(rules.denied_names(b"/w/d", b"a/b.key/x/.key/y"), [0, 1, 1, 1, 0]);
        assert_eq!(rules.denied_names(b"/", b"w/a.key"), [0, 0]);
    }

    #[test]
    fn protected_places() {
        let rules = rules(&[]);
        let cases = [
            ("/w/.git/hooks", true),
            ("/w/.git/hooks/pre-commit", true),
            ("/w/a/b/.git/hooks/x/y", true),
            ("/w/.GIT/Hooks/x", true),
            ("/w/.git/config", true),
            ("/w/.gitmodules", true),
            ("/w/d/.GitModules", true),
            ("/w/.g\u{200c}it/config", true),
            ("/w/.git/hoo\u{212a}\u{017f}", true),
            ("/w/.git", true),
            ("/w/.git/HEAD", true),
            ("/w/.git/commondir", true),
            ("/w/.git/info/exclude", false),
            ("/w/.git/info/config", true),
            ("/w/.github/hooks/x", false),
            ("/w/git/hooks/x", false),
            ("/w/hooks/.git", true),
            ("/w/.git/configs", true),
            ("/w/.git./hooks", true),
            ("/w/.git::$INDEX_ALLOCATION/hooks", true),
            ("/w/.git/modules/a/b/hooks/x", true),
            ("/w/.git/modules/a/HEAD", true),
            ("/w/.git/worktrees/a/config.worktree", true),
            ("/w/.claude/settings.json", true),
            ("/w/.CLAUDE/hooks/x", true),
            ("/w/d/.cursor/mcp.json", true),
            ("/w/.mcp.json", true),
            ("/w/.vscode/settings.json", true),
            ("/w/.vscode/TASKS.json ", true),
            ("/w/.vscode/notes.md", false),
            ("/w/vscode/settings.json", false),
            ("/w/.vscode", false),
            ("/w/.bashrc", true),
            ("/w/home/.zshenv", true),
            ("/w/.envrc", true),
            ("/w/.config/fish/config.fish", true),
            ("/w/.config/x", false),
            ("/w/AGENTS.md", false),
            ("/w/.github/workflows/x.yml", false),
            ("/w/.gitignore", false),
            ("/w/.profile.d/x", false),
        ];
        for (path, protected) in cases {
            assert_eq!(rules.protected(path.as_bytes()), protected, "{path}");
            let verdict = rules.verdict(path.as_bytes(), Intent::Write);
            assert_eq!(verdict == Verdict::Protected, protected, "{path}");
            assert_eq!(rules.verdict(path.as_bytes(), Intent::Read), Verdict::Allowed);
        }
        assert!(
            rules.is_or_contains_protected(b"/w/.git")
                && rules.is_or_contains_protected(b"/w/.GIT")
        );
        assert!(
            rules.is_or_contains_protected(b"/w/.git/hooks")
                && !rules.is_or_contains_protected(b"/w/.github")
        );
        assert!(!PathRules::none().is_or_contains_protected(b"/w/.git"));
        assert!(
            rules.is_or_contains_protected(b"/w/.vscode")
                && rules.is_or_contains_protected(b"/w/.claude")
        );
        assert!(rules.guards_link(b".config") && !rules.guards_link(b"src"));
        assert!(
            !rules.is_or_contains_protected(b"/w/.config")
                && !rules.is_or_contains_protected(b"/w/a")
        );
        // Only git's entries prevent moving or deleting the whole tree.
        assert!(rules.holds(b"/w/.git", b".git") && rules.holds(b"/w/.git/hooks", b"hooks"));
        assert!(!rules.holds(b"/w/n/.vscode/tasks.json", b"tasks.json"));
        assert!(!rules.holds(b"/w/n/.claude", b".claude"));
    }

    #[test]
    fn secrets() {
        let cases = [
            ("/w/.env", true),
            ("/w/a/.env.local", true),
            ("/w/.ENV.Production", true),
            ("/w/.env.example", false),
            ("/w/.env.local.sample", false),
            ("/w/.environment", false),
            ("/w/env", false),
            ("/w/server.pem", true),
            ("/w/tls/PRIVATE.KEY", true),
            ("/w/.key", true),
            ("/w/key", false),
            ("/w/keys.ts", false),
            ("/w/id_rsa", true),
            ("/w/id_ed25519", true),
            ("/w/id_rsa.pub", false),
            ("/w/.ssh/known_hosts", true),
            ("/w/.npmrc", true),
            ("/w/.NPMRC. ", true),
            ("/w/.aws/credentials", true),
            ("/w/.docker/config.json", true),
            ("/w/docker/config.json", false),
            ("/w/.docker/notes", false),
            ("/w/.config/gh/hosts.yml", true),
            ("/w/.cargo/config.toml", false),
            ("/w/.cargo/credentials.toml", true),
            ("/w/.git/config", false),
        ];
        for (path, secret) in cases {
            assert_eq!(rules(&[]).secret(path.as_bytes()), secret, "{path}");
            assert!(!PathRules::none().secret(path.as_bytes()));
        }
    }

    #[test]
    fn rules_report_which_parts_are_active() {
        let some = rules(&["sec"]);
        assert!(some.denies() && some.protects() && some.hides_secrets());
        let telling = some.with_secrets_allowed();
        assert!(telling.denies() && telling.protects() && !telling.hides_secrets());
        assert!(!telling.secret(b"/w/.env"));
        let none = PathRules::none();
        assert!(!none.denies() && !none.protects() && !none.hides_secrets());
    }

    #[test]
    fn denied_wins_over_protected() {
        assert_eq!(rules(&[".git"]).verdict(b"/w/.git/hooks", Intent::Write), Verdict::Denied);
    }

    proptest! {
        #[test]
        fn never_panics(glob in ".{0,20}", path in proptest::collection::vec(any::<u8>(), 0..40)) {
            let deny = [glob];
            let config = RulesConfig { cwd: b"/w", deny: &deny, protect: true, ..Default::default() };
            if let Ok(rules) = PathRules::new(&config) {
                rules.verdict(&path, Intent::Write);
                rules.is_or_contains_protected(&path);
            }
        }

        #[test]
        fn everything_below_a_denied_path_is_denied(
            glob in "[ab*?]{1,3}(/[ab*?]{1,3})?",
            path in "(/[ab]{1,2}){1,4}",
            more in "(/[abc]{1,2}){1,3}",
        ) {
            let rules = rules(&[&glob]);
            let path = format!("/w{path}");
            if rules.denied(path.as_bytes()) {
                let below = format!("{}{}", path, more);
                prop_assert!(rules.denied(below.as_bytes()));
            }
        }
    }
}
