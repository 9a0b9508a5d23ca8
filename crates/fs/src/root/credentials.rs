//! The credential files of this machine, by the table of secret patterns: those in the home directory
//! of the user, and those at absolute paths such as `/etc/shadow`.
//!
//! A file below a root can be a hard link to a credential file outside the roots. Directories of
//! secrets, and those in which a pattern with `*` can match, are listed when the roots are opened,
//! because Landlock later forbids that to the threads that read files. It permits `stat`, so the
//! inodes are looked up when they are needed.
//!
//! Limits: a file that is made in a listed directory after the roots were opened is unknown, unless
//! the table has its full path. So are files in other home directories.

use std::collections::{BTreeSet, VecDeque};
use std::sync::LazyLock;

use filewright_core::pattern::policy::{PathRules, secret_patterns};
use filewright_core::{Code, Error};
use rustix::fs::CWD;

use crate::dir::stat::{Kind, Stat};
use crate::dir::{for_each_name, open_entries};

/// The maximum number of entries of the breadth-first search. The directory that exceeds it is left
/// out, and the search ends.
const MAX_ENTRIES: usize = 4096;

/// The patterns of the table.
static SECRET_PATTERNS: LazyLock<Vec<String>> = LazyLock::new(secret_patterns);

/// File systems without hard links.
const WITHOUT_LINKS: [&[u8]; 2] = [b"/proc/", b"/dev/"];

/// The absolute paths at which credential files are or can be.
#[derive(Debug, Default)]
pub(super) struct CredentialFiles {
    paths: BTreeSet<Vec<u8>>,
}

impl CredentialFiles {
    /// Collects the paths. Without a home directory, those of absolute patterns only.
    pub(super) fn find(rules: &PathRules, home: Option<&[u8]>) -> Self {
        if !rules.hides_secrets() {
            return Self::default();
        }
        let in_home = home.map(names_in).unwrap_or_default();
        let mut found = Search { rules, paths: BTreeSet::new(), waiting: VecDeque::new(), seen: 0 };
        let mut parents: BTreeSet<Vec<u8>> = home.map(<[u8]>::to_vec).into_iter().collect();
        for pattern in SECRET_PATTERNS.iter() {
            let Some((dir, name)) = place_of(pattern, home) else { continue };
            // Most patterns match nothing: one listing of the home directory saves a call for each.
            let top = pattern.split('/').next().unwrap_or_default().as_bytes();
            let may_exist = top.is_empty() || in_home.contains(top);
            let path = [&dir[..], b"/", &name].concat();
            match (name.contains(&b'*'), may_exist) {
                (true, true) => drop(parents.insert(dir)),
                (true, false) => {}
                (false, true) if is_directory(&path) => found.waiting.push_back(path),
                (false, _) => drop(found.paths.insert(path)),
            }
        }
        found.waiting.extend(parents);
        found.list_all();
        Self { paths: found.paths }
    }

    /// Calls `visit` with the path and the facts of each credential file that exists now.
    pub(super) fn for_each(&self, mut visit: impl FnMut(&[u8], &Stat)) {
        for path in &self.paths {
            if let Ok(stat) = Stat::at(CWD, path)
                && stat.kind == Kind::File
            {
                visit(path, &stat);
            }
        }
    }
}

/// A search of directories for secrets.
struct Search<'r> {
    rules: &'r PathRules,
    paths: BTreeSet<Vec<u8>>,
    waiting: VecDeque<Vec<u8>>,
    seen: usize,
}

impl Search<'_> {
    /// Lists the waiting directories, and those in them that are secrets.
    fn list_all(&mut self) {
        while let Some(dir) = self.waiting.pop_front() {
            let Ok(Some(fd)) = open_entries(CWD, &dir) else { continue };
            let mut entries: Vec<(Vec<u8>, Option<Kind>)> = Vec::new();
            // Entries that cannot be listed are ignored.
            let _ = for_each_name(&fd, |name, kind| {
                self.seen += 1;
                if self.seen > MAX_ENTRIES {
                    return Err(Error::new(Code::LimitExceeded, "too many entries"));
                }
                entries.push(([&dir[..], b"/", name].concat(), kind));
                Ok(())
            });
            if self.seen > MAX_ENTRIES {
                return;
            }
            for (path, kind) in entries.into_iter().filter(|(path, _)| self.rules.secret(path)) {
                match kind.or_else(|| Stat::at(CWD, &path).ok().map(|stat| stat.kind)) {
                    Some(Kind::File) => drop(self.paths.insert(path)),
                    Some(Kind::Dir) => self.waiting.push_back(path),
                    _ => {}
                }
            }
        }
    }
}

/// Returns the directory and the last name of a pattern of the table: below the home directory, or
/// absolute. `None` for one with `*` in its directory, without a home directory, or on a file system
/// without hard links.
fn place_of(pattern: &str, home: Option<&[u8]>) -> Option<(Vec<u8>, Vec<u8>)> {
    let pattern = pattern.as_bytes();
    let path = match pattern.strip_prefix(b"/") {
        Some(_) => pattern.to_vec(),
        None => [home?, b"/", pattern].concat(),
    };
    let slash = path.iter().rposition(|byte| *byte == b'/')?;
    let (dir, name) = (&path[..slash], &path[slash + 1..]);
    let is_searchable =
        !dir.contains(&b'*') && !WITHOUT_LINKS.iter().any(|top| path.starts_with(top));
    is_searchable.then(|| (dir.to_vec(), name.to_vec()))
}

/// Returns the names in a directory; none if it cannot be listed.
fn names_in(dir: &[u8]) -> BTreeSet<Vec<u8>> {
    let mut names = BTreeSet::new();
    if let Ok(Some(fd)) = open_entries(CWD, dir) {
        let _ = for_each_name(&fd, |name, _| {
            names.insert(name.to_vec());
            Ok(())
        });
    }
    names
}

fn is_directory(path: &[u8]) -> bool {
    Stat::at(CWD, path).is_ok_and(|stat| stat.kind == Kind::Dir)
}
