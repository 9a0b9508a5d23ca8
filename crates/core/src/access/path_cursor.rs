//! The rules on the paths of a walk, name by name.
//!
//! [`Rules`] judge a path from its first name to its last. A walk that asked them
//! at every level of a deep tree would look at all the names above it each time,
//! which costs the square of the depth. A [`PathCursor`] remembers what is known of the
//! directory it stands in, so that a name costs the same at any depth; only globs
//! that speak of several names look at the path.

use super::Rules;
use super::fold::folded;
use super::may_be_git;
use super::places::Way;

/// A path that a walk lengthens and shortens, and what the rules say of it.
#[derive(Clone, Debug)]
pub struct PathCursor<'r> {
    rules: &'r Rules,
    path: Vec<u8>,
    levels: Vec<Level>,
    /// How many bytes of the path the host chose by a root.
    chosen: usize,
}

/// What is known of the path up to one of its names.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    /// How long the path was before the name. Bytes.
    before: usize,
    way: Way,
    /// Whether the name, or one before it, is one of git's own.
    in_git: bool,
}

impl<'r> PathCursor<'r> {
    /// A trail that stands at an absolute resolved path.
    pub fn new(rules: &'r Rules, path: &[u8]) -> Self {
        let chosen = rules.chosen(path);
        let mut trail = Self { rules, path: b"/".to_vec(), levels: Vec::new(), chosen };
        for name in path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()) {
            trail.push(name);
        }
        trail
    }

    /// The path it stands at.
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// Goes to an entry of the directory it stands at.
    pub fn push(&mut self, name: &[u8]) {
        let mut level = Level { before: self.path.len(), ..self.here() };
        let from = self.path.len();
        if self.path.last() != Some(&b'/') {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name);
        if self.rules.protect || self.rules.secrets {
            level.in_git |= may_be_git(name) && matches!(&*folded(name), ".git" | ".gitmodules");
            let counts = self.path.len() > self.chosen;
            level.way.enter(&self.rules.places, &self.path[..from], name, counts);
        }
        self.levels.push(level);
    }

    /// Goes back to where it stood before the last [`PathCursor::push`].
    pub fn pop(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.path.truncate(level.before);
        }
    }

    /// [`Rules::denied_entry`] of the path.
    pub fn denied_entry(&self) -> bool {
        self.rules.denied_entry(&self.path)
    }

    /// [`Rules::protected`] of the path.
    pub fn protected(&self) -> bool {
        self.rules.protect && self.here().way.refused().is_some()
    }

    /// [`Rules::secret`] of the path.
    pub fn secret(&self) -> bool {
        self.rules.secrets && self.here().way.secret().is_some()
    }

    /// [`Rules::holds`] of the path and its last name.
    pub fn holds(&self) -> bool {
        self.here().in_git && self.protected()
    }

    fn here(&self) -> Level {
        self.levels.last().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RulesConfig, last_name};
    use super::*;
    use proptest::prelude::*;

    fn rules(deny: &[&str]) -> Rules {
        let deny: Vec<String> = deny.iter().map(|glob| (*glob).to_owned()).collect();
        let (protect, secrets) = (true, true);
        Rules::new(&RulesConfig {
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
        fn says_what_the_rules_say(names in prop::collection::vec(name(), 0..8), ups in 0usize..4) {
            let rules = rules(&["sec", "a/*.key"]);
            let mut trail = PathCursor::new(&rules, b"/w");
            let mut stack = vec![b"/w".to_vec()];
            for (at, name) in names.iter().enumerate() {
                if at % 3 == 2 {
                    for _ in 0..ups.min(stack.len() - 1) {
                        trail.pop();
                        stack.pop();
                    }
                }
                trail.push(name.as_bytes());
                stack.push([&stack[stack.len() - 1][..], b"/", name.as_bytes()].concat());
                let path = &stack[stack.len() - 1][..];
                prop_assert_eq!(trail.path(), path);
                prop_assert_eq!(trail.protected(), rules.protected(path));
                prop_assert_eq!(trail.secret(), rules.secret(path));
                prop_assert_eq!(trail.holds(), rules.holds(path, last_name(path)));
                prop_assert_eq!(trail.denied_entry(), rules.denied_entry(path));
            }
        }
    }

    #[test]
    fn comes_back_to_the_top() {
        let rules = rules(&[]);
        let mut trail = PathCursor::new(&rules, b"/");
        trail.push(b".git");
        assert!(trail.protected() && trail.holds());
        trail.push(b"info");
        trail.push(b"exclude");
        assert!(!trail.protected() && !trail.holds() && !trail.secret());
        trail.pop();
        assert!(trail.protected() && trail.holds());
        trail.pop();
        trail.pop();
        trail.pop();
        assert_eq!((trail.path(), trail.holds()), (&b"/"[..], false));
    }
}
