//! Applies the rules to the paths of a walk, one name at a time.
//!
//! [`PathRules`] check a path from the first name to the last. Doing that at every level of a deep
//! tree is quadratic in the depth. A [`PathCursor`] remembers the state of the current directory,
//! so that a name costs the same at any depth. Only globs of several names still read the whole
//! path.

use super::PathRules;
use super::fold::fold_name;
use super::may_be_dot_name;
use super::places::MatchedRules;

/// The path at which a walk is, with the state of the rules after each of its names.
#[derive(Clone, Debug)]
pub struct PathCursor<'r> {
    rules: &'r PathRules,
    path: Vec<u8>,
    levels: Vec<PathLevel>,
    /// The length in bytes of the path prefix that the host chose by a root.
    chosen_prefix_len: usize,
}

/// The state of the rules after one name of the path.
#[derive(Clone, Copy, Debug, Default)]
struct PathLevel {
    /// The length in bytes of the path before the name.
    before: usize,
    matched_rules: MatchedRules,
    /// True if a name of the path so far is `.git` or `.gitmodules`.
    in_git: bool,
}

impl<'r> PathCursor<'r> {
    /// Creates a cursor at an absolute, resolved path.
    pub fn new(rules: &'r PathRules, path: &[u8]) -> Self {
        let chosen_prefix_len = rules.chosen_prefix_len(path);
        let mut cursor = Self { rules, path: b"/".to_vec(), levels: Vec::new(), chosen_prefix_len };
        for name in path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()) {
            cursor.push(name);
        }
        cursor
    }

    /// Returns the current path.
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// Descends to an entry of the current directory.
    pub fn push(&mut self, name: &[u8]) {
        let mut level = PathLevel { before: self.path.len(), ..self.current_level() };
        let from = self.path.len();
        if self.path.last() != Some(&b'/') {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name);
        if self.rules.protect || self.rules.secrets {
            level.in_git |=
                may_be_dot_name(name) && matches!(&*fold_name(name), ".git" | ".gitmodules");
            let counts = self.path.len() > self.chosen_prefix_len;
            level.matched_rules.enter(&self.rules.places, &self.path[..from], name, counts);
        }
        self.levels.push(level);
    }

    /// Returns to the path before the last [`PathCursor::push`].
    pub fn pop(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.path.truncate(level.before);
        }
    }

    /// Returns [`PathRules::denied_entry`] for the path.
    pub fn denied_entry(&self) -> bool {
        self.rules.denied_entry(&self.path)
    }

    /// Returns [`PathRules::protected`] for the path.
    pub fn protected(&self) -> bool {
        self.rules.protect && self.current_level().matched_rules.refusing_row().is_some()
    }

    /// Returns [`PathRules::secret`] for the path.
    pub fn secret(&self) -> bool {
        self.rules.secrets && self.current_level().matched_rules.secret_row().is_some()
    }

    /// Returns true if the entry prevents the directories above it from being moved or deleted, as
    /// [`PathRules::holds`] does.
    pub fn holds(&self) -> bool {
        self.current_level().in_git && self.protected()
    }

    fn current_level(&self) -> PathLevel {
        self.levels.last().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RulesConfig, last_name};
    use super::*;
    use proptest::prelude::*;

    fn rules(deny: &[&str]) -> PathRules {
        let deny: Vec<String> = deny.iter().map(|glob| (*glob).to_owned()).collect();
        let (protect, secrets) = (true, true);
        PathRules::new(&RulesConfig {
            cwd: b"/w",
            roots: &[b"/w"],
            deny: &deny,
            protect,
            secrets,
            ..Default::default()
        })
        .unwrap()
    }

    fn name() -> impl Strategy<Value = String> {
        const KNOWN: &[&str] = &[
            ".git",
            ".GIT",
            "modules",
            "hooks",
            "config",
            ".config",
            "fish",
            "gh",
            ".env",
            "sec",
            ".vscode",
            "tasks.json",
            ".ssh",
            "a",
            "b.key",
            ".gitmodules",
            "worktrees",
            "x",
        ];
        prop_oneof![8 => prop::sample::select(KNOWN).prop_map(str::to_owned), 1 => "[^/\0]{1,4}"]
    }

    proptest! {
        #[test]
        fn cursor_agrees_with_the_rules(names in prop::collection::vec(name(), 0..8), ups in 0usize..4) {
            let rules = rules(&["sec", "a/*.key"]);
            let mut cursor = PathCursor::new(&rules, b"/w");
            let mut stack = vec![b"/w".to_vec()];
            for (at, name) in names.iter().enumerate() {
                if at % 3 == 2 {
                    for _ in 0..ups.min(stack.len() - 1) {
                        cursor.pop();
                        stack.pop();
                    }
                }
                cursor.push(name.as_bytes());
                stack.push([&stack[stack.len() - 1][..], b"/", name.as_bytes()].concat());
                let path = &stack[stack.len() - 1][..];
                prop_assert_eq!(cursor.path(), path);
                prop_assert_eq!(cursor.protected(), rules.protected(path));
                prop_assert_eq!(cursor.secret(), rules.secret(path));
                prop_assert_eq!(cursor.holds(), rules.holds(path, last_name(path)));
                prop_assert_eq!(cursor.denied_entry(), rules.denied_entry(path));
            }
        }
    }

    #[test]
    fn cursor_returns_to_its_start() {
        let rules = rules(&[]);
        let mut cursor = PathCursor::new(&rules, b"/");
        cursor.push(b".git");
        assert!(cursor.protected() && cursor.holds());
        cursor.push(b"info");
        cursor.push(b"exclude");
        assert!(!cursor.protected() && !cursor.holds() && !cursor.secret());
        cursor.pop();
        assert!(cursor.protected() && cursor.holds());
        cursor.pop();
        cursor.pop();
        cursor.pop();
        assert_eq!((cursor.path(), cursor.holds()), (&b"/"[..], false));
    }
}
