//! Finds, below the roots of a workspace, the entries that a command may not see or change: denied
//! and secret entries, protected paths, and git repositories with the files that git obeys.
//!
//! Links are not followed: their targets are found at their own paths. A directory that cannot be
//! listed counts as hidden, because its owner could make it accessible.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use filewright_core::pattern::policy::{PathRules, RulesConfig};
use filewright_core::{Code, Error, Result};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;
use serde_json::{Value, json};

use crate::place::RootedPath;
use crate::spec::ScanSpec;

/// A tree with more entries is refused, because it cannot be scanned in bounded time.
const MAX_SCANNED_ENTRIES: usize = 20_000_000;

const DENIED: u32 = 1;
const PROTECTED: u32 = 2;
const SECRET: u32 = 8;

/// The part of a tree that contains a directory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TreePart {
    Plain,
    /// Below a protected directory: only hidden entries are relevant.
    Protected,
    /// The directory of a repository.
    Git,
    GitInfo,
    /// `.git/modules` and its contents up to the repositories.
    Modules,
    /// `.git/worktrees`.
    Worktrees,
    /// The rest of a repository: only denied entries are relevant.
    GitData,
}

impl TreePart {
    fn is_git(self) -> bool {
        !matches!(self, Self::Plain | Self::Protected)
    }
}

struct Item {
    name: Vec<u8>,
    file_type: FileType,
}

struct Scanner {
    rules: PathRules,
    protect: bool,
    lenient: bool,
    /// If set, directories that cannot be listed are opened, except for those with these ids.
    opens_but: Option<Vec<String>>,
    entries: usize,
    hidden: Vec<Value>,
    protected: Vec<Value>,
    repositories: Vec<Value>,
    closed: Vec<Value>,
    pinned: BTreeSet<String>,
    /// The highest directory of the current scan.
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
        scanner.root(root.as_bytes(), spec.depth.unwrap_or(usize::MAX))?;
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
    fn root(&mut self, root: &[u8], depth: usize) -> Result<()> {
        let Ok((file_type, _)) = look(root) else { return Ok(()) };
        self.top = root.to_vec();
        let mut waiting = Vec::new();
        self.meet(root, b"", file_type, TreePart::Plain, &mut waiting)?;
        let names = |path: &[u8]| path.iter().filter(|byte| **byte == b'/').count();
        let deepest = names(root).saturating_add(depth);
        while let Some((path, context)) = waiting.pop() {
            if names(&path) < deepest {
                self.directory(&path, context, &mut waiting)?;
            }
        }
        Ok(())
    }

    fn directory(
        &mut self,
        path: &[u8],
        mut context: TreePart,
        waiting: &mut Vec<(Vec<u8>, TreePart)>,
    ) -> Result<()> {
        let items = match self.list(path) {
            Ok(items) => items,
            // Deleted since.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
            Err(Errno::ACCESS | Errno::PERM) => {
                let place = self.place(path, json!({}))?;
                self.closed.push(place);
                return self.hide(path, true);
            }
            Err(_) if self.lenient => return Ok(()),
            Err(errno) => return Err(unscannable(path, &errno.to_string())),
        };
        self.entries += items.len();
        if self.entries > MAX_SCANNED_ENTRIES {
            return Err(unscannable(path, "there are too many entries below the roots"));
        }
        let has = |name: &[u8]| items.iter().any(|item| item.name == name);
        let is_repository = has(b"HEAD") && (has(b"objects") && has(b"refs") || has(b"commondir"));
        if is_repository && matches!(context, TreePart::Plain | TreePart::Modules) {
            let kind = if context == TreePart::Plain { "bare" } else { "module" };
            self.repository(path, kind)?;
            context = TreePart::Git;
        }
        for Item { name, file_type } in items {
            let mut below = path.to_vec();
            if below.last() != Some(&b'/') {
                below.push(b'/');
            }
            below.extend_from_slice(&name);
            self.meet(&below, &name, file_type, context, waiting)?;
        }
        Ok(())
    }

    /// Returns the entries of a directory. After a command, a directory that it made inaccessible
    /// is opened again, and a path that is too long for the system is opened in parts.
    fn list(&self, path: &[u8]) -> rustix::io::Result<Vec<Item>> {
        let here = || RootedPath {
            root: String::from_utf8_lossy(&self.top).into_owned(),
            path: path.to_vec(),
        };
        let opened = match open(path) {
            Err(Errno::ACCESS | Errno::PERM) if self.opens(path) => {
                let _ = here().unlock();
                here().open_directory()
            }
            Err(Errno::NAMETOOLONG) if self.lenient => here().open_directory(),
            other => other,
        };
        list(&opened?)
    }

    fn opens(&self, path: &[u8]) -> bool {
        let is_hidden_secret = |kept: &Vec<String>| kept.contains(&id(path));
        self.opens_but.as_ref().is_some_and(|kept| !is_hidden_secret(kept))
    }

    fn meet(
        &mut self,
        path: &[u8],
        name: &[u8],
        file_type: FileType,
        context: TreePart,
        waiting: &mut Vec<(Vec<u8>, TreePart)>,
    ) -> Result<()> {
        let file_type = match file_type {
            FileType::Unknown => look(path).map_or(FileType::Unknown, |(file_type, _)| file_type),
            known => known,
        };
        let directory = file_type == FileType::Directory;
        let flags = self.rules.flags(path);
        let secret = flags & SECRET != 0 && !context.is_git();
        // A link contains nothing itself.
        if (flags & DENIED != 0 || secret) && file_type != FileType::Symlink {
            self.pin(path, flags & (DENIED | SECRET))?;
            return self.hide(path, directory);
        }
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
        let next = match context {
            TreePart::Plain if is(".git") && directory => {
                self.repository(path, "git")?;
                TreePart::Git
            }
            TreePart::Plain if is(".git") && file_type == FileType::RegularFile => {
                self.repository(path, "file")?;
                TreePart::GitData
            }
            TreePart::Plain if is(".git") || flags & PROTECTED != 0 => {
                self.pin(path, flags & PROTECTED)?;
                self.protect(path, file_type)?;
                TreePart::Protected
            }
            TreePart::Plain => TreePart::Plain,
            TreePart::Protected => TreePart::Protected,
            TreePart::Git
                if ["hooks", "config", "config.worktree", "commondir"].into_iter().any(is) =>
            {
                self.protect(path, file_type)?;
                TreePart::GitData
            }
            // Git would follow the link to files that it obeys.
            TreePart::Git
                if file_type == FileType::Symlink
                    && ["info", "modules", "worktrees"].into_iter().any(is) =>
            {
                self.protect(path, file_type)?;
                TreePart::GitData
            }
            TreePart::Git if is("info") => TreePart::GitInfo,
            TreePart::Git if is("modules") => TreePart::Modules,
            TreePart::Git if is("worktrees") => TreePart::Worktrees,
            TreePart::GitInfo if is("attributes") => {
                self.protect(path, file_type)?;
                TreePart::GitData
            }
            TreePart::Modules => TreePart::Modules,
            TreePart::Worktrees if directory => {
                self.repository(path, "worktree")?;
                TreePart::Git
            }
            _ => TreePart::GitData,
        };
        if directory && (next != TreePart::GitData || self.rules.denies()) {
            waiting.push((path.to_vec(), next));
        }
        Ok(())
    }

    fn hide(&mut self, path: &[u8], directory: bool) -> Result<()> {
        if !self.lenient {
            self.hidden.push(json!({ "path": text(path)?, "directory": directory }));
        }
        Ok(())
    }

    /// Records the directories above a path on which the rules for it depend: if the path were
    /// moved out of them, a denied file would become accessible, or a protected path would lose its
    /// protection.
    fn pin(&mut self, path: &[u8], flags: u32) -> Result<()> {
        if self.lenient {
            return Ok(());
        }
        let top = self.top.strip_suffix(b"/").unwrap_or(&self.top);
        let ends: Vec<usize> =
            (top.len() + 1..path.len()).filter(|at| path[*at] == b'/').rev().collect();
        for (count, end) in ends.iter().enumerate() {
            // Checks the rules as if the parents had other names.
            let elsewhere = [top, &b"/\x01"[..], &path[*end..]].concat();
            if self.rules.flags(&elsewhere) & flags == flags {
                ends[..count].iter().try_for_each(|end| self.pin_one(&path[..*end]))?;
                return Ok(());
            }
        }
        ends.iter().try_for_each(|end| self.pin_one(&path[..*end]))
    }

    fn pin_one(&mut self, path: &[u8]) -> Result<()> {
        self.pinned.insert(text(path)?.to_owned());
        Ok(())
    }

    fn protect(&mut self, path: &[u8], file_type: FileType) -> Result<()> {
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
        let entry = json!({ "type": kind, "parent": id(&path[..above]) });
        let place = self.place(path, entry)?;
        self.protected.push(place);
        Ok(())
    }

    fn repository(&mut self, path: &[u8], kind: &str) -> Result<()> {
        if !self.protect {
            return Ok(());
        }
        let place = self.place(path, json!({ "kind": kind }))?;
        self.repositories.push(place);
        Ok(())
    }

    /// Returns an entry with its path and its identity; for a non-UTF-8 path also the bytes.
    fn place(&self, path: &[u8], mut entry: Value) -> Result<Value> {
        entry["id"] = Value::from(id(path));
        match std::str::from_utf8(path) {
            Ok(text) => entry["path"] = Value::from(text),
            Err(_) if self.lenient => {
                let bytes: String = path.iter().map(|byte| format!("{byte:02x}")).collect();
                entry["path"] = Value::from(String::from_utf8_lossy(path));
                entry["bytes"] = Value::from(bytes);
            }
            Err(_) => return text(path).map(|_| entry),
        }
        Ok(entry)
    }
}

/// Returns a path as text. A path that is not UTF-8 is refused, because it could not be masked.
fn text(path: &[u8]) -> Result<&str> {
    std::str::from_utf8(path)
        .map_err(|_| unscannable(path, "its name is not UTF-8, so that it cannot be masked"))
}

fn unscannable(path: &[u8], why: &str) -> Error {
    let path = String::from_utf8_lossy(path);
    Error::new(Code::SandboxSetupFailed, format!("{path} cannot be kept from commands: {why}"))
}

fn id(path: &[u8]) -> String {
    match look(path) {
        Ok((FileType::Symlink, id)) => {
            let target = rustix::fs::readlink(path, Vec::new()).unwrap_or_default();
            format!("{id} {}", target.to_string_lossy())
        }
        Ok((_, id)) => id,
        Err(_) => String::new(),
    }
}

/// Returns the type of an entry and its identity.
fn look(path: &[u8]) -> rustix::io::Result<(FileType, String)> {
    let path = CString::new(path).map_err(|_| Errno::INVAL)?;
    let stat = rustix::fs::statat(rustix::fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok((FileType::from_raw_mode(stat.st_mode), format!("{}:{}", stat.st_dev, stat.st_ino)))
}

fn open(path: &[u8]) -> rustix::io::Result<OwnedFd> {
    let path = CString::new(path).map_err(|_| Errno::INVAL)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

fn list(directory: &OwnedFd) -> rustix::io::Result<Vec<Item>> {
    let mut buffer = [MaybeUninit::uninit(); 32 * 1024];
    let mut entries = RawDir::new(directory, &mut buffer);
    let mut items = Vec::new();
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            items.push(Item { name: name.to_vec(), file_type: entry.file_type() });
        }
    }
    Ok(items)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // the tests make the trees that are scanned
mod tests;
