//! The credential files of this machine, by the table of secret patterns: those in the home directory
//! of the user, and those at absolute paths such as `/etc/shadow`.
//!
//! A file below a root can be a hard link to a credential file outside the roots. Directories of
//! secrets, and those in which a pattern with `*` can match, are listed when the roots are opened,
//! because Landlock later forbids that to the threads that read files. It permits `stat`, so the
//! inodes are looked up when they are needed. Symbolic links are followed in both: a person keeps
//! `~/.ssh` as a link to `dotfiles/ssh`.
//!
//! Limits: a file that is made in a directory of secrets after the roots were opened is unknown,
//! unless the table has its full path. So are files in other home directories, and those of a place
//! after its first 1024 entries.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::sync::LazyLock;

use filewright_core::pattern::policy::{PathRules, secret_patterns};
use filewright_core::{Code, Error};
use rustix::fs::{CWD, Mode, OFlags};

use crate::dir::for_each_name;
use crate::dir::stat::{Kind, Stat};
use crate::root::absolute::parent_of;

/// The maximum number of entries of the breadth-first search of one directory of secrets. The rest of
/// a larger one is left out; other directories have their own number, the home directory has none.
const MAX_PLACE_ENTRIES: usize = 1024;

/// The directory of the journal. Its directories grow with each change and hold no credentials, so
/// they are not entered.
const JOURNAL: &[u8] = b"/.local/state/filewright/journal";

/// The patterns of the table.
static SECRET_PATTERNS: LazyLock<Vec<String>> = LazyLock::new(secret_patterns);

/// The beginnings of absolute patterns that are not searched. A home directory may be on `/dev/shm`.
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
        // Most patterns match nothing: one listing of the home directory saves a call for each.
        let in_home = home.map(|home| list(home, usize::MAX)).unwrap_or_default();
        let places: BTreeSet<&[u8]> = in_home.iter().map(|entry| &entry.path[..]).collect();
        let mut found = Search { rules, paths: BTreeSet::new() };
        let mut parents = BTreeSet::new();
        for pattern in SECRET_PATTERNS.iter() {
            let Some((dir, name)) = place_of(pattern, home) else { continue };
            let is_in_home = home == Some(&dir[..]);
            let top = pattern.split('/').next().unwrap_or_default().as_bytes();
            let may_exist = top.is_empty()
                || home.is_some_and(|home| places.contains(&[home, b"/", top].concat()[..]));
            let path = [&dir[..], b"/", &name].concat();
            match (name.contains(&b'*'), may_exist) {
                (true, true) => drop(parents.insert(dir)),
                (true, false) => {}
                // Found by the listing.
                (false, true) if is_in_home => {}
                (false, true) if is_directory(&path) => found.add_below(path),
                (false, _) => drop(found.paths.insert(path)),
            }
        }
        if let Some(home) = home {
            parents.remove(home);
            found.add_secrets(in_home);
        }
        for dir in parents {
            found.add_secrets(list(&dir, MAX_PLACE_ENTRIES));
        }
        Self { paths: found.paths }
    }

    /// Calls `visit` with the path and the facts of each credential file that exists now, and with its
    /// real path if that is another: a person grants the file by either.
    pub(super) fn for_each(&self, mut visit: impl FnMut(&[u8], &Stat)) {
        for path in &self.paths {
            let Ok(stat) = Stat::behind(CWD, path) else { continue };
            if stat.kind != Kind::File {
                continue;
            }
            visit(path, &stat);
            if let Some(real) = real_path_of(path)
                && real != *path
            {
                visit(&real, &stat);
            }
        }
    }
}

/// An entry of a directory.
struct Entry {
    path: Vec<u8>,
    /// `None` if the file system does not tell it in a listing.
    kind: Option<Kind>,
}

/// A search of places for secrets.
struct Search<'r> {
    rules: &'r PathRules,
    paths: BTreeSet<Vec<u8>>,
}

impl Search<'_> {
    /// Adds those of the entries of one directory that are secrets, with what is below them.
    fn add_secrets(&mut self, entries: Vec<Entry>) {
        for directory in self.add_files(entries) {
            self.add_below(directory);
        }
    }

    /// Adds the files below a directory of secrets. One to which several links lead is entered once.
    fn add_below(&mut self, place: Vec<u8>) {
        let (mut waiting, mut left) = (VecDeque::from([place]), MAX_PLACE_ENTRIES);
        let mut entered = BTreeSet::new();
        while let Some(dir) = waiting.pop_front()
            && left > 0
        {
            let is_new = Stat::behind(CWD, &dir).is_ok_and(|at| entered.insert((at.dev, at.ino)));
            if !is_new {
                continue;
            }
            let entries = list(&dir, left);
            left -= entries.len();
            waiting.extend(self.add_files(entries));
        }
    }

    /// Adds the files among the entries that are secrets, and returns the directories.
    fn add_files(&mut self, entries: Vec<Entry>) -> Vec<Vec<u8>> {
        let mut directories = Vec::new();
        for Entry { path, kind } in entries {
            if !self.rules.secret(&path) {
                continue;
            }
            let listed = kind.filter(|kind| *kind != Kind::Symlink);
            match listed.or_else(|| Stat::behind(CWD, &path).ok().map(|stat| stat.kind)) {
                Some(Kind::File) => drop(self.paths.insert(path)),
                Some(Kind::Dir) if !parent_of(&path).ends_with(JOURNAL) => directories.push(path),
                _ => {}
            }
        }
        directories
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
        !dir.contains(&b'*') && !WITHOUT_LINKS.iter().any(|top| pattern.starts_with(top));
    is_searchable.then(|| (dir.to_vec(), name.to_vec()))
}

/// Returns the entries of a directory, at most `most`; none if it cannot be listed.
fn list(dir: &[u8], most: usize) -> Vec<Entry> {
    let mut entries = Vec::new();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    if let Ok(fd) = rustix::fs::openat(CWD, dir, flags, Mode::empty()) {
        // What was listed before an error counts.
        let _ = for_each_name(&fd, |name, kind| {
            if entries.len() == most {
                return Err(Error::new(Code::LimitExceeded, "too many entries"));
            }
            entries.push(Entry { path: [dir, b"/", name].concat(), kind });
            Ok(())
        });
    }
    entries
}

#[allow(clippy::disallowed_methods, reason = "the path is outside the roots, and only compared")]
fn real_path_of(path: &[u8]) -> Option<Vec<u8>> {
    let real = std::fs::canonicalize(OsStr::from_bytes(path)).ok()?;
    Some(real.into_os_string().into_vec())
}

fn is_directory(path: &[u8]) -> bool {
    Stat::behind(CWD, path).is_ok_and(|stat| stat.kind == Kind::Dir)
}
