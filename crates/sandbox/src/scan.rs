//! Finds, below the roots of a workspace, the entries that a command may not see or change: denied
//! and secret entries, protected paths, and git repositories with the files that git obeys.
//!
//! Links are not followed, because their targets are found at their own paths. A directory that
//! cannot be listed counts as hidden, because the command could make it accessible.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use filewright_core::pattern::policy::{PathRules, RulesConfig};
use filewright_core::{Code, Error, Result};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;
use serde_json::{Value, json};

mod links;

use crate::place::RootedPath;
use crate::spec::ScanSpec;

/// The maximum number of entries of a scan. Beyond it, the scan fails with `SANDBOX_SETUP_FAILED`,
/// because it would take too long.
const MAX_SCANNED_ENTRIES: usize = 20_000_000;

/// The bits of `PathRules::flags` for a denied, a protected and a secret path.
const DENIED_FLAG: u32 = 1;
const PROTECTED_FLAG: u32 = 2;
const SECRET_FLAG: u32 = 8;

/// The kind of a scanned directory, which decides the meaning of its entries.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DirectoryKind {
    Plain,
    /// A directory below a protected one, where only hidden entries are reported.
    Protected,
    /// The top of a git directory, such as `.git`.
    Git,
    GitInfo,
    /// `.git/modules` and the directories below it that are not git directories themselves.
    Modules,
    /// `.git/worktrees`.
    Worktrees,
    /// Another directory of a git directory, where only denied entries are reported.
    GitData,
}

impl DirectoryKind {
    fn is_git(self) -> bool {
        !matches!(self, Self::Plain | Self::Protected)
    }
}

struct ListedEntry {
    name: Vec<u8>,
    file_type: FileType,
    /// The inode number.
    ino: u64,
}

struct Scanner {
    rules: PathRules,
    protect: bool,
    lenient: bool,
    /// If set, directories that cannot be listed are made accessible first, except for those with
    /// these ids.
    opens_but: Option<Vec<String>>,
    entries: usize,
    hidden: Vec<Value>,
    protected: Vec<Value>,
    repositories: Vec<Value>,
    closed: Vec<Value>,
    pinned: BTreeSet<String>,
    /// The directory at which the current scan began.
    top: Vec<u8>,
}

/// Scans the roots. Returns JSON: `hidden: [{path, directory}]`, `protected: [{path, type, id,
/// parent}]`, `repositories: [{path, kind, id}]`, `closed: [{path, id}]` and `pinned: [path]`.
/// `type` is `file`, `directory`, `link` or `other`; `kind` is `git`, `bare`, `module`, `worktree`
/// or `file` (a `.git` that names a directory). `closed` are directories that cannot be listed.
/// `pinned` are directories whose names matter to the rules for their contents, such as `.vscode`
/// for `.vscode/tasks.json`. Equal `id`s are the same entry; that of a link includes its target,
/// because the inode number of a removed link is reused. A lenient scan omits hidden entries,
/// continues if a directory cannot be listed, and returns the `bytes` of a non-UTF-8 path in
/// hexadecimal; any other scan refuses such a path.
pub(crate) fn scan(spec: &ScanSpec) -> Result<String> {
    let roots: Vec<&[u8]> = spec.roots.iter().map(String::as_bytes).collect();
    let config = RulesConfig {
        cwd: spec.cwd.as_bytes(),
        roots: &roots,
        deny: &spec.deny,
        protect: spec.protect,
        secrets: spec.secrets,
        fold_case: false,
        places: &spec.places,
    };
    let mut scanner = Scanner {
        rules: PathRules::new(&config)?,
        protect: spec.protect,
        lenient: spec.lenient,
        opens_but: spec.opens_but.clone(),
        entries: 0,
        hidden: Vec::new(),
        protected: Vec::new(),
        repositories: Vec::new(),
        closed: Vec::new(),
        pinned: BTreeSet::new(),
        top: Vec::new(),
    };
    for root in &spec.scan {
        let name: &[u8] = if spec.repositories.contains(root) { b".git" } else { b"" };
        scanner.scan_root(root.as_bytes(), name, spec.depth.unwrap_or(usize::MAX))?;
    }
    if !spec.lenient {
        scanner.hide_other_names(&spec.scan)?;
    }
    let Scanner { hidden, protected, repositories, closed, pinned, .. } = scanner;
    let found = json!({
        "hidden": hidden,
        "protected": protected,
        "repositories": repositories,
        "closed": closed,
        "pinned": pinned,
    });
    Ok(found.to_string())
}

impl Scanner {
    /// Scans one tree, down to `depth` directories below `root`. `name` decides what the root is.
    fn scan_root(&mut self, root: &[u8], name: &[u8], depth: usize) -> Result<()> {
        let Ok((file_type, _)) = type_and_id(root) else { return Ok(()) };
        self.top = root.to_vec();
        let mut waiting = Vec::new();
        self.record_entry(root, name, file_type, DirectoryKind::Plain, &mut waiting)?;
        let names = |path: &[u8]| path.iter().filter(|byte| **byte == b'/').count();
        let deepest = names(root).saturating_add(depth);
        while let Some((path, context)) = waiting.pop() {
            if names(&path) < deepest {
                self.scan_directory(&path, context, &mut waiting)?;
            }
        }
        Ok(())
    }

    /// Scans the entries of one directory.
    fn scan_directory(
        &mut self,
        path: &[u8],
        mut context: DirectoryKind,
        waiting: &mut Vec<(Vec<u8>, DirectoryKind)>,
    ) -> Result<()> {
        let items = match self.list_entries(path) {
            Ok(items) => items,
            // The directory was deleted or replaced since it was listed.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
            Err(Errno::ACCESS | Errno::PERM) => {
                let place = self.place(path, json!({}))?;
                self.closed.push(place);
                return self.record_hidden(path, true);
            }
            Err(_) if self.lenient => return Ok(()),
            Err(errno) => return Err(unscannable_error(path, &errno.to_string())),
        };
        self.entries += items.len();
        if self.entries > MAX_SCANNED_ENTRIES {
            return Err(unscannable_error(path, "there are too many entries below the roots"));
        }
        let has = |name: &[u8]| items.iter().any(|item| item.name == name);
        let is_repository = has(b"HEAD") && (has(b"objects") && has(b"refs") || has(b"commondir"));
        if is_repository && matches!(context, DirectoryKind::Plain | DirectoryKind::Modules) {
            let kind = if context == DirectoryKind::Plain { "bare" } else { "module" };
            self.record_repository(path, kind)?;
            context = DirectoryKind::Git;
        }
        for ListedEntry { name, file_type, .. } in items {
            let mut below = path.to_vec();
            if below.last() != Some(&b'/') {
                below.push(b'/');
            }
            below.extend_from_slice(&name);
            self.record_entry(&below, &name, file_type, context, waiting)?;
        }
        Ok(())
    }

    /// Returns the entries of a directory. If the options ask for it, a directory that a command
    /// made inaccessible is made accessible, and a path that is too long for the system is opened
    /// in parts.
    fn list_entries(&self, path: &[u8]) -> rustix::io::Result<Vec<ListedEntry>> {
        let here = || RootedPath {
            root: String::from_utf8_lossy(&self.top).into_owned(),
            path: path.to_vec(),
        };
        let opened = match open_directory(path) {
            Err(Errno::ACCESS | Errno::PERM) if self.may_give_access(path) => {
                let _ = here().give_owner_access();
                here().open_directory()
            }
            Err(Errno::NAMETOOLONG) if self.lenient => here().open_directory(),
            other => other,
        };
        list_entries(&opened?)
    }

    /// Reports whether a directory that cannot be listed is to be made accessible.
    fn may_give_access(&self, path: &[u8]) -> bool {
        let is_hidden_secret = |kept: &Vec<String>| kept.contains(&entry_id(path));
        self.opens_but.as_ref().is_some_and(|kept| !is_hidden_secret(kept))
    }

    /// Records an entry if it is hidden, protected or a repository, and adds a directory that must
    /// be scanned to `waiting`.
    fn record_entry(
        &mut self,
        path: &[u8],
        name: &[u8],
        file_type: FileType,
        context: DirectoryKind,
        waiting: &mut Vec<(Vec<u8>, DirectoryKind)>,
    ) -> Result<()> {
        let file_type = match file_type {
            FileType::Unknown => {
                type_and_id(path).map_or(FileType::Unknown, |(file_type, _)| file_type)
            }
            known => known,
        };
        let directory = file_type == FileType::Directory;
        let flags = self.rules.flags(path);
        let secret = flags & SECRET_FLAG != 0 && !context.is_git();
        // A link is not hidden, because it has no content of its own.
        if (flags & DENIED_FLAG != 0 || secret) && file_type != FileType::Symlink {
            self.pin_parents(path, flags & (DENIED_FLAG | SECRET_FLAG))?;
            return self.record_hidden(path, directory);
        }
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
        let next = match context {
            DirectoryKind::Plain if is(".git") && directory => {
                self.record_repository(path, "git")?;
                DirectoryKind::Git
            }
            DirectoryKind::Plain if is(".git") && file_type == FileType::RegularFile => {
                self.record_repository(path, "file")?;
                DirectoryKind::GitData
            }
            DirectoryKind::Plain if is(".git") || flags & PROTECTED_FLAG != 0 => {
                self.pin_parents(path, flags & PROTECTED_FLAG)?;
                self.record_protected(path, file_type)?;
                DirectoryKind::Protected
            }
            DirectoryKind::Plain => DirectoryKind::Plain,
            DirectoryKind::Protected => DirectoryKind::Protected,
            DirectoryKind::Git
                if ["hooks", "config", "config.worktree", "commondir"].into_iter().any(is) =>
            {
                self.record_protected(path, file_type)?;
                DirectoryKind::GitData
            }
            // Git would follow such a link to files that it obeys.
            DirectoryKind::Git
                if file_type == FileType::Symlink
                    && ["info", "modules", "worktrees"].into_iter().any(is) =>
            {
                self.record_protected(path, file_type)?;
                DirectoryKind::GitData
            }
            DirectoryKind::Git if is("info") => DirectoryKind::GitInfo,
            DirectoryKind::Git if is("modules") => DirectoryKind::Modules,
            DirectoryKind::Git if is("worktrees") => DirectoryKind::Worktrees,
            DirectoryKind::GitInfo if is("attributes") => {
                self.record_protected(path, file_type)?;
                DirectoryKind::GitData
            }
            DirectoryKind::Modules => DirectoryKind::Modules,
            DirectoryKind::Worktrees if directory => {
                self.record_repository(path, "worktree")?;
                DirectoryKind::Git
            }
            _ => DirectoryKind::GitData,
        };
        if directory && (next != DirectoryKind::GitData || self.rules.denies()) {
            waiting.push((path.to_vec(), next));
        }
        Ok(())
    }

    /// Records a hidden entry, unless the scan is lenient.
    fn record_hidden(&mut self, path: &[u8], directory: bool) -> Result<()> {
        if !self.lenient {
            self.hidden.push(json!({ "path": utf8_path(path)?, "directory": directory }));
        }
        Ok(())
    }

    /// Records the directories above a path whose names the rules for it depend on. The command
    /// must not rename them, because a denied file would become accessible, or a protected path
    /// would lose its protection.
    fn pin_parents(&mut self, path: &[u8], flags: u32) -> Result<()> {
        if self.lenient {
            return Ok(());
        }
        let top = self.top.strip_suffix(b"/").unwrap_or(&self.top);
        let ends: Vec<usize> =
            (top.len() + 1..path.len()).filter(|at| path[*at] == b'/').rev().collect();
        for (count, end) in ends.iter().enumerate() {
            // Replaces the parents up to here by a name that no rule has. If the same rules still
            // apply, they do not depend on those parents, and only the directories below them are
            // pinned.
            let elsewhere = [top, &b"/\x01"[..], &path[*end..]].concat();
            if self.rules.flags(&elsewhere) & flags == flags {
                ends[..count].iter().try_for_each(|end| self.pin_directory(&path[..*end]))?;
                return Ok(());
            }
        }
        ends.iter().try_for_each(|end| self.pin_directory(&path[..*end]))
    }

    fn pin_directory(&mut self, path: &[u8]) -> Result<()> {
        self.pinned.insert(utf8_path(path)?.to_owned());
        Ok(())
    }

    fn record_protected(&mut self, path: &[u8], file_type: FileType) -> Result<()> {
        if !self.protect {
            return Ok(());
        }
        let kind = match file_type {
            FileType::RegularFile => "file",
            FileType::Directory => "directory",
            FileType::Symlink => "link",
            _ => "other",
        };
        let above = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at.max(1));
        let entry = json!({ "type": kind, "parent": entry_id(&path[..above]) });
        let place = self.place(path, entry)?;
        self.protected.push(place);
        Ok(())
    }

    /// Records a git directory, if the options ask for repositories.
    fn record_repository(&mut self, path: &[u8], kind: &str) -> Result<()> {
        if !self.protect {
            return Ok(());
        }
        let place = self.place(path, json!({ "kind": kind }))?;
        self.repositories.push(place);
        Ok(())
    }

    /// Adds the path and the id of an entry to its JSON object; for a path that is not UTF-8 also
    /// its bytes.
    fn place(&self, path: &[u8], mut entry: Value) -> Result<Value> {
        entry["id"] = Value::from(entry_id(path));
        match std::str::from_utf8(path) {
            Ok(text) => entry["path"] = Value::from(text),
            Err(_) if self.lenient => {
                let bytes: String = path.iter().map(|byte| format!("{byte:02x}")).collect();
                entry["path"] = Value::from(String::from_utf8_lossy(path));
                entry["bytes"] = Value::from(bytes);
            }
            Err(_) => return utf8_path(path).map(|_| entry),
        }
        Ok(entry)
    }
}

/// Returns a path as text, or an error if it is not UTF-8, because it could not be hidden from the
/// command.
fn utf8_path(path: &[u8]) -> Result<&str> {
    std::str::from_utf8(path)
        .map_err(|_| unscannable_error(path, "its name is not UTF-8, so that it cannot be masked"))
}

fn unscannable_error(path: &[u8], why: &str) -> Error {
    let path = String::from_utf8_lossy(path);
    Error::new(Code::SandboxSetupFailed, format!("{path} cannot be kept from commands: {why}"))
}

/// Returns the id of an entry: device and inode, for a link also its target; empty if it does not
/// exist.
fn entry_id(path: &[u8]) -> String {
    match type_and_id(path) {
        Ok((FileType::Symlink, id)) => {
            let target = rustix::fs::readlink(path, Vec::new()).unwrap_or_default();
            format!("{id} {}", target.to_string_lossy())
        }
        Ok((_, id)) => id,
        Err(_) => String::new(),
    }
}

/// Returns the type of an entry and its id: device and inode.
fn type_and_id(path: &[u8]) -> rustix::io::Result<(FileType, String)> {
    let path = CString::new(path).map_err(|_| Errno::INVAL)?;
    let stat = rustix::fs::statat(rustix::fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok((FileType::from_raw_mode(stat.st_mode), format!("{}:{}", stat.st_dev, stat.st_ino)))
}

/// Opens a directory for reading its entries; does not follow a link.
fn open_directory(path: &[u8]) -> rustix::io::Result<OwnedFd> {
    let path = CString::new(path).map_err(|_| Errno::INVAL)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

fn list_entries(directory: &OwnedFd) -> rustix::io::Result<Vec<ListedEntry>> {
    let mut buffer = [MaybeUninit::uninit(); 32 * 1024];
    let mut entries = RawDir::new(directory, &mut buffer);
    let mut items = Vec::new();
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            let (file_type, ino) = (entry.file_type(), entry.ino());
            items.push(ListedEntry { name: name.to_vec(), file_type, ino });
        }
    }
    Ok(items)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // the tests make the trees that are scanned
mod tests;
