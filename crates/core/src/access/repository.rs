//! Directories that git takes for repositories without being named `.git`.
//!
//! Git takes every directory that holds `HEAD` with `objects` and `refs`, or `HEAD` with `commondir`,
//! for a bare repository, and runs what its `config` names. So tools neither complete such a directory
//! nor change what git obeys in one that is complete. Only the names are known here; whether the
//! entries exist is for the caller to look at.

use super::fold::folded;
use super::pattern::is_unusual;

/// The names that make a directory a repository.
pub const MARKS: [&str; 4] = ["HEAD", "objects", "refs", "commondir"];

/// What git reads of a repository.
const PARTS: [&str; 14] = [
    "head",
    "objects",
    "refs",
    "commondir",
    "config",
    "config.worktree",
    "gitdir",
    "hooks",
    "info",
    "modules",
    "packed-refs",
    "reftable",
    "shallow",
    "worktrees",
];

/// Which of [`MARKS`] a directory has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u8);

impl Marks {
    /// Adds a name, as it is on the disk.
    pub fn add(&mut self, name: &[u8]) {
        self.0 |= Self::bit(name);
    }

    /// Both together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether git takes the directory for a repository.
    pub fn is_repository(self) -> bool {
        self.0 & 0b1001 == 0b1001 || self.0 & 0b0111 == 0b0111
    }

    /// Whether a name is one of [`MARKS`].
    pub fn is_mark(name: &[u8]) -> bool {
        Self::bit(name) != 0
    }

    fn bit(name: &[u8]) -> u8 {
        let name = folded(name);
        let at = MARKS.iter().position(|mark| name.eq_ignore_ascii_case(mark));
        at.map_or(0, |at| 1 << at)
    }
}

/// The directories on a path that would be repositories to which the path belongs, if they hold the
/// other [`MARKS`]: each as the length of its path and the name after it.
#[derive(Clone, Debug)]
pub struct RepositoryParts<'p> {
    path: &'p [u8],
    at: usize,
}

impl<'p> RepositoryParts<'p> {
    /// The parts of an absolute path.
    pub fn new(path: &'p [u8]) -> Self {
        Self { path, at: 0 }
    }
}

impl<'p> Iterator for RepositoryParts<'p> {
    type Item = (usize, &'p [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.path.len() {
            let start = self.at + 1;
            let rest = self.path.get(start..)?;
            let end = start + memchr::memchr(b'/', rest).unwrap_or(rest.len());
            let name = &self.path[start..end];
            let dir = self.at;
            self.at = end;
            // What is in a directory of git's own name is decided by the table.
            if is_part(name) && !is_git(&self.path[..dir]) {
                return Some((dir, name));
            }
        }
        None
    }
}

fn is_git(dir: &[u8]) -> bool {
    dir.rsplit(|&byte| byte == b'/').next().is_some_and(|name| folded(name) == ".git")
}

fn is_part(name: &[u8]) -> bool {
    // Every path is asked about; other spellings have characters that volumes leave out.
    if is_unusual(name) {
        return PARTS.contains(&&*folded(name));
    }
    let Some(first) = name.first() else { return false };
    (4..=15).contains(&name.len())
        && b"horcgimpsw".contains(&first.to_ascii_lowercase())
        && PARTS.iter().any(|part| name.eq_ignore_ascii_case(part.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_tell_a_repository() {
        for (names, expected) in [
            (&["HEAD", "objects", "refs"][..], true),
            (&["HEAD", "commondir"], true),
            (&["head", "OBJECTS", "refs"], true),
            (&["HEAD", "objects"], false),
            (&["objects", "refs", "commondir", "config"], false),
            (&["HEAD"], false),
        ] {
            let mut marks = Marks::default();
            names.iter().for_each(|name| marks.add(name.as_bytes()));
            assert_eq!(marks.is_repository(), expected, "{names:?}");
        }
    }

    #[test]
    fn parts_are_found_on_a_path() {
        let parts = |path: &'static str| -> Vec<(usize, &[u8])> {
            RepositoryParts::new(path.as_bytes()).collect()
        };
        assert_eq!(parts("/w/src/a.ts"), []);
        assert_eq!(parts("/w/d/HEAD"), [(4, &b"HEAD"[..])]);
        assert_eq!(parts("/w/d/Objects/info/x"), [(4, &b"Objects"[..]), (12, b"info")]);
        assert_eq!(parts("/config"), [(0, &b"config"[..])]);
        assert_eq!(parts("/w/.GIT/info/exclude"), []);
        assert_eq!(parts("/"), []);
        assert_eq!(parts(""), []);
    }
}
