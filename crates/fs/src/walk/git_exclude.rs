//! Reads `info/exclude` of the repository whose `.git` is in a directory, as git does.
//!
//! `.git` is the repository, or a file that names another directory: in a submodule the repository
//! itself, in a linked worktree one entry of `worktrees`, whose `commondir` names the repository
//! that all worktrees share.
//!
//! An agent can write a `.git` file. Inside the roots it may lead anywhere, because everything there
//! may be read. Outside it is followed only to a linked worktree that git made for this very
//! directory: the named directory is an entry of `worktrees`, its own `gitdir` leads back, and the
//! directory above is a repository. Only `info/exclude` is read there, and nothing of it is shown.

use std::ffi::CStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use filewright_core::Result;
use filewright_core::pattern::ignore::{
    GIT_FILE_KEY, IgnoreRules, MAX_GIT_FILE_BYTES, MAX_IGNORE_FILE_BYTES, git_path_in,
};
use filewright_core::pattern::policy::Intent;
use rustix::fs::{Mode, OFlags, openat};

use super::StopSignal;
use super::open::{ReadOutcome, open_plain, read_open, read_regular};
use crate::cancel::{CancelToken, Deadline};
use crate::dir::stat::{Kind, Stat};
use crate::helper::Helper;
use crate::root::{OpenDir, Resolver, Roots, normalised_path, parent_of};

/// The thread that reads the repositories outside the roots.
static OUTSIDE_READER: Helper = Helper::new("filewright-git");

/// Starts the thread that reads outside the roots, before threads are restricted.
#[cfg(target_os = "linux")]
pub(crate) fn start_outside_reader() {
    OUTSIDE_READER.start();
}

/// A directory that contains `.git`.
pub struct RepoTop<'a> {
    /// The roots that contain the directory.
    pub roots: &'a Roots,
    /// The directory, open for reading.
    pub fd: BorrowedFd<'a>,
    /// The absolute real path of the directory, with or without a final slash.
    pub real: &'a [u8],
}

impl RepoTop<'_> {
    /// Returns the metadata of `info/exclude`; `None` without one.
    pub fn exclude_stat(&self) -> Option<Stat> {
        if Stat::at(self.fd, b".git").ok()?.kind != Kind::Dir {
            return Stat::of(self.open_exclude()?).ok();
        }
        match Stat::at(self.fd, b".git/info").ok()?.kind {
            Kind::Dir => Stat::at(self.fd, b".git/info/exclude").ok(),
            _ => None,
        }
    }

    /// Returns a hash of `info/exclude`.
    pub fn exclude_hash(&self) -> u64 {
        let mut content = DefaultHasher::new();
        let _ = self.read_exclude(&mut content);
        content.finish()
    }

    /// Parses `info/exclude`, and adds it to the hash `content`.
    pub(super) fn read_exclude(&self, content: &mut DefaultHasher) -> Option<IgnoreRules> {
        let bytes = read_exclude_file(self.open_exclude()?)?;
        bytes.hash(content);
        Some(IgnoreRules::parse(&bytes))
    }

    /// Returns the real path of the directory without a final slash, and the absolute path that its
    /// `.git` file names.
    fn named(&self) -> Option<(&[u8], Vec<u8>)> {
        let content = read_git_file(self.fd, c".git")?;
        let real = self.real.strip_suffix(b"/").unwrap_or(self.real);
        Some((real, normalised_path(git_path_in(&content, GIT_FILE_KEY)?, real).ok()?))
    }

    /// Opens `info/exclude` of the repository.
    fn open_exclude(&self) -> Option<OwnedFd> {
        if let Ok(git) = openat(self.fd, c".git", DIRECTORY_FLAGS, Mode::empty()) {
            return open_exclude_in(git.as_fd());
        }
        let (real, named) = self.named()?;
        if let Ok(own) = self.roots.open_dir(&named) {
            let shared = match common_dir_of(&own) {
                None => own,
                Some(path) => match self.roots.open_dir(&path) {
                    Ok(shared) => shared,
                    Err(_) => return self.open_outside(real, named),
                },
            };
            let exclude = [&shared.real, &b"/info/exclude"[..]].concat();
            let may_read = self.roots.permits(&exclude, Intent::Read)
                && !self.roots.is_hidden_secret(&exclude);
            return may_read.then(|| open_exclude_in(shared.fd.as_fd()))?;
        }
        self.open_outside(real, named)
    }

    /// Opens `info/exclude` of the repository outside the roots of which this directory is a linked
    /// worktree, on a thread that may read there.
    fn open_outside(&self, real: &[u8], named: Vec<u8>) -> Option<OwnedFd> {
        // Nothing is touched for a path that cannot be that of a worktree.
        if !is_worktree_entry(&named) {
            return None;
        }
        let (resolver, real) = (self.roots.resolver(), real.to_vec());
        OUTSIDE_READER.run(move || open_worktree_exclude(resolver, &real, &named))?
    }
}

/// Returns the content of `info/exclude` of the repository outside the roots of which a directory is
/// a linked worktree; `None` without one.
///
/// # Errors
/// Like [`Roots::open_dir`].
pub fn read_outside_exclude(roots: &Roots, path: &[u8]) -> Result<Option<Vec<u8>>> {
    let opened = roots.open_dir(path)?;
    let top = RepoTop { roots, fd: opened.fd.as_fd(), real: &opened.real };
    let exclude = top.named().and_then(|(real, named)| top.open_outside(real, named));
    Ok(exclude.and_then(read_exclude_file))
}

/// Opens `info/exclude` of the repository whose entry `named` of `worktrees` git made for the
/// directory `top`.
fn open_worktree_exclude(resolver: Resolver, top: &[u8], named: &[u8]) -> Option<OwnedFd> {
    let everything = Roots::whole_file_system(resolver).ok()?;
    let own = everything.open_dir(named).ok()?;
    if !is_worktree_entry(&own.real) || git_file_path(&own, c"commondir")? != b"../.." {
        return None;
    }
    let back = normalised_path(&git_file_path(&own, c"gitdir")?, &own.real).ok()?;
    let leads_back = back.ends_with(b"/.git")
        && everything.open_dir(parent_of(&back)).is_ok_and(|dir| dir.real == top);
    if !leads_back {
        return None;
    }
    let path = parent_of(parent_of(&own.real));
    let shared = everything.open_dir(path).ok().filter(|dir| dir.real == path)?;
    let is_repository = [(&b"HEAD"[..], Kind::File), (b"objects", Kind::Dir), (b"refs", Kind::Dir)]
        .iter()
        .all(|(name, kind)| Stat::at(&shared.fd, name).is_ok_and(|stat| stat.kind == *kind));
    is_repository.then(|| open_exclude_in(shared.fd.as_fd()))?
}

/// Reports whether a path is an entry of a directory `worktrees` that is not at the top.
fn is_worktree_entry(path: &[u8]) -> bool {
    parent_of(path).strip_suffix(b"/worktrees").is_some_and(|shared| !shared.is_empty())
}

/// Returns the directory that `commondir` of an opened one names.
fn common_dir_of(own: &OpenDir) -> Option<Vec<u8>> {
    normalised_path(&git_file_path(own, c"commondir")?, &own.real).ok()
}

/// Returns the path in one of git's own files of a directory.
fn git_file_path(dir: &OpenDir, name: &CStr) -> Option<Vec<u8>> {
    let content = read_git_file(dir.fd.as_fd(), name)?;
    git_path_in(&content, "").map(<[u8]>::to_vec)
}

const DIRECTORY_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// Opens `info/exclude` of a repository, if no link is on the way to it.
fn open_exclude_in(repository: BorrowedFd<'_>) -> Option<OwnedFd> {
    let info = openat(repository, c"info", DIRECTORY_FLAGS, Mode::empty()).ok()?;
    // A device or a FIFO is not opened at all.
    if Stat::at(&info, b"exclude").ok()?.kind != Kind::File {
        return None;
    }
    let cancel = CancelToken::new();
    let stop = StopSignal { cancel: &cancel, deadline: Deadline::default() };
    open_plain(info.as_fd(), c"exclude", &stop).ok()?
}

/// Returns the content of an open ignore file; `None` if it is too large, or no regular file.
fn read_exclude_file(fd: OwnedFd) -> Option<Vec<u8>> {
    let stat = Stat::of(&fd).ok().filter(|stat| stat.kind == Kind::File)?;
    let (mut bytes, limit) = (Vec::new(), MAX_IGNORE_FILE_BYTES as u64);
    let outcome = read_open(fd.as_fd(), stat.size, limit, &mut bytes);
    matches!(outcome, Ok(ReadOutcome::Read)).then_some(bytes)
}

/// Returns the content of a small regular file; `None` for every other entry.
fn read_git_file(dir: BorrowedFd<'_>, name: &CStr) -> Option<Vec<u8>> {
    if Stat::at(dir, name.to_bytes()).ok()?.kind != Kind::File {
        return None;
    }
    let cancel = CancelToken::new();
    let stop = StopSignal { cancel: &cancel, deadline: Deadline::default() };
    let (mut bytes, limit) = (Vec::new(), MAX_GIT_FILE_BYTES as u64);
    let outcome = read_regular(dir, name, limit, &stop, &mut bytes);
    matches!(outcome, Ok(ReadOutcome::Read)).then_some(bytes)
}
