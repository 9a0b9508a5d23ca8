//! Detects directories that git treats as repositories although their name is not `.git`.
//!
//! Git treats every directory with `HEAD`, `objects` and `refs`, or with `HEAD` and `commondir`, as
//! a bare repository and runs the programs that its `config` names. So tools must neither complete
//! such a directory nor change the parts of a complete one that git obeys. This module knows only
//! the names; the caller checks which entries exist.

use super::fold::fold_name;
use super::pattern::has_other_spellings;

/// The names of entries that make a directory a repository: the first three together, or the first
/// and the last.
pub const REPOSITORY_MARKS: [&str; 4] = ["HEAD", "objects", "refs", "commondir"];

/// The names of the entries of a repository that git reads, in lower case.
const REPOSITORY_ENTRIES: [&str; 14] = [
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

/// The set of [`REPOSITORY_MARKS`] that a directory has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepositoryMarks(u8);

impl RepositoryMarks {
    /// Adds an entry of the directory by its name as it is on the disk.
    pub fn add(&mut self, name: &[u8]) {
        self.0 |= Self::mark_bit(name);
    }

    /// Returns the marks that are in either set.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns true if git treats the directory as a repository.
    pub fn is_repository(self) -> bool {
        self.0 & 0b1001 == 0b1001 || self.0 & 0b0111 == 0b0111
    }

    /// Returns true if a name is one of [`REPOSITORY_MARKS`].
    pub fn is_mark(name: &[u8]) -> bool {
        Self::mark_bit(name) != 0
    }

    /// Returns the bit of one of [`REPOSITORY_MARKS`], or 0 for another name.
    fn mark_bit(name: &[u8]) -> u8 {
        let name = fold_name(name);
        let at = REPOSITORY_MARKS.iter().position(|mark| name.eq_ignore_ascii_case(mark));
        at.map_or(0, |at| 1 << at)
    }
}

/// Iterates over the directories on a path that would be repositories with a part of the path in
/// them if they had the other [`REPOSITORY_MARKS`]. Yields the length in bytes of the directory's
/// path, and the name after it.
#[derive(Clone, Debug)]
pub struct PossibleRepositories<'p> {
    path: &'p [u8],
    at: usize,
}

impl<'p> PossibleRepositories<'p> {
    /// Creates the iterator for an absolute path.
    pub fn new(path: &'p [u8]) -> Self {
        Self { path, at: 0 }
    }
}

impl<'p> Iterator for PossibleRepositories<'p> {
    type Item = (usize, &'p [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.path.len() {
            let start = self.at + 1;
            let rest = self.path.get(start..)?;
            let end = start + memchr::memchr(b'/', rest).unwrap_or(rest.len());
            let name = &self.path[start..end];
            let dir = self.at;
            self.at = end;
            // The table protects the contents of directories named `.git`.
            if is_repository_entry(name) && !is_git_directory(&self.path[..dir]) {
                return Some((dir, name));
            }
        }
        None
    }
}

fn is_git_directory(dir: &[u8]) -> bool {
    dir.rsplit(|&byte| byte == b'/').next().is_some_and(|name| fold_name(name) == ".git")
}

fn is_repository_entry(name: &[u8]) -> bool {
    // For speed, because every path is checked, names are folded only if they contain characters
    // that volumes ignore.
    if has_other_spellings(name) {
        return REPOSITORY_ENTRIES.contains(&&*fold_name(name));
    }
    let Some(first) = name.first() else { return false };
    (4..=15).contains(&name.len())
        && b"horcgimpsw".contains(&first.to_ascii_lowercase())
        && REPOSITORY_ENTRIES.iter().any(|part| name.eq_ignore_ascii_case(part.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_identify_a_repository() {
        for (names, expected) in [
            (&["HEAD", "objects", "refs"][..], true),
            (&["HEAD", "commondir"], true),
            (&["head", "OBJECTS", "refs"], true),
            (&["HEAD", "objects"], false),
            (&["objects", "refs", "commondir", "config"], false),
            (&["HEAD"], false),
        ] {
            let mut marks = RepositoryMarks::default();
            names.iter().for_each(|name| marks.add(name.as_bytes()));
            assert_eq!(marks.is_repository(), expected, "{names:?}");
        }
    }

    #[test]
    fn parts_are_found_on_a_path() {
        let parts = |path: &'static str| -> Vec<(usize, &[u8])> {
            PossibleRepositories::new(path.as_bytes()).collect()
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
