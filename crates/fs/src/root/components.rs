//! Resolves a path one component at a time; the kernel never follows a link.
//!
//! Every directory on the way is opened by one name with no-follow, relative to the previous
//! descriptor. A link is read as text and its names are walked in turn. An absolute link, or one
//! that climbs out of its root, continues at the path that it spells, which is entered through the
//! descriptor of the root that contains it. Between roots, only the text of the path is used, never
//! the disk. `..` returns to the previous descriptor without a system call.
//!
//! So even if directories are moved or exchanged meanwhile, every descriptor was reached by plain
//! names from a pinned root.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use filewright_core::pattern::policy::{Intent, PathCursor};
use filewright_core::{Code, Error, Result};
use rustix::io::Errno;

use super::entry::{DirFd, FinalSymlink, MissingPolicy, ResolvedEntry};
use super::{Follow, Roots, absolute_path_of, parent_of, push_path_name};
use crate::dir::errno::{os_error, outside_error};
use crate::dir::open_directory;
use crate::dir::stat::{Kind, Stat};

/// The maximum number of links followed in one path, as in the kernel.
const MAX_LINKS: u32 = 40;

/// The maximum number of steps of one walk, because `..` in links could make the cost quadratic in
/// the length of a path.
const MAX_WALK_STEPS: u32 = 1 << 17;

/// The maximum number of descriptors of parent directories that are kept open for `..`. Further
/// out, they are closed, and `..` walks the path again from the root.
const MAX_OPEN_LEVELS: usize = 24;

/// A walk along one path.
pub(super) struct ComponentWalk<'r, 'm> {
    roots: &'r Roots,
    last: FinalSymlink,
    missing: MissingPolicy<'m>,
    /// The names that remain to be walked, in reverse order: the next one is the last element.
    todo: Vec<Vec<u8>>,
    /// The number of remaining names that are `..`.
    ups: usize,
    /// The evaluation of the rules for the directory that was created last, so that the next one
    /// continues from it.
    trail: Option<PathCursor<'r>>,
    /// The current directory; `None` outside every root, where only the path is tracked.
    spot: Option<WalkedDir>,
    /// The absolute path of the current position. Inside a root it contains no link.
    path: Vec<u8>,
    links: u32,
    steps: u32,
    directory: bool,
    /// True if the target of a link ends in `/.`, so that the last name must exist as a directory.
    inside: bool,
}

/// The current directory of the walk: the anchor of a root, or a directory below it.
struct WalkedDir {
    root: usize,
    /// The number of names between the anchor and the directory.
    depth: usize,
    /// The descriptors of the innermost directories below the anchor, at most [`MAX_OPEN_LEVELS`].
    /// The last one is the current directory; without any, the anchor is.
    fds: VecDeque<OwnedFd>,
}

impl<'r, 'm> ComponentWalk<'r, 'm> {
    /// Starts a walk to `real`, a path below the root with this index.
    pub(super) fn new(
        roots: &'r Roots,
        root: usize,
        real: &[u8],
        last: FinalSymlink,
        missing: MissingPolicy<'m>,
    ) -> Self {
        let mut walk = Self {
            roots,
            last,
            missing,
            todo: Vec::new(),
            ups: 0,
            trail: None,
            spot: None,
            path: real.to_vec(),
            links: 0,
            steps: 0,
            directory: false,
            inside: false,
        };
        walk.enter_root(root);
        walk
    }

    /// Walks the path to its end.
    pub(super) fn run(mut self) -> Result<ResolvedEntry<'r>> {
        while let Some(name) = self.todo.pop() {
            self.steps += 1;
            if self.steps > MAX_WALK_STEPS {
                return Err(os_error(Errno::LOOP));
            }
            if name == b".." {
                self.ups -= 1;
                self.go_to_parent();
                continue;
            }
            // One buffer for the whole walk, because a copy at every step would be quadratic in the
            // length of the path.
            let parent = self.path.len();
            push_path_name(&mut self.path, &name);
            if self.jump_between_roots() {
                continue;
            }
            if self.roots.rules.denied_entry(&self.path) {
                return Err(outside_error());
            }
            let place = if self.todo.is_empty() {
                self.resolve_last_name(&name, parent)?
            } else {
                self.resolve_directory_name(name, parent)?
            };
            if let Some(place) = place {
                return Ok(place);
            }
        }
        // The path ended in a directory and not in a name: a root, or a link to `.` or `..`.
        let path = std::mem::take(&mut self.path);
        let dir = self.into_dir().ok_or_else(outside_error)?;
        let found = Some(Stat::of(&dir).map_err(os_error)?);
        Ok(ResolvedEntry {
            dir,
            name: None,
            real: path,
            found,
            missing: Vec::new(),
            directory: true,
        })
    }

    /// Handles a name at which the walk continues elsewhere instead of opening it: at the real path
    /// of an alias, at the anchor of another root, or outside every root, where only the path is
    /// tracked. Returns whether that was the case. `self.path` already includes the name.
    fn jump_between_roots(&mut self) -> bool {
        let roots = &self.roots.roots;
        let child = &self.path[..];
        let named = |root: &&super::Root| root.read || root.write;
        if let Some(root) =
            roots.iter().filter(named).find(|root| root.alias.as_deref() == Some(child))
        {
            self.path.clone_from(&root.path);
            self.enter();
            return true;
        }
        let Some(spot) = &self.spot else {
            self.enter();
            return true;
        };
        let pinned = |index: &usize| {
            let root = &roots[*index];
            *index != spot.root && root.path == child && root.anchor_path == child
        };
        if let Some(index) = (0..roots.len()).find(pinned) {
            self.enter_root(index);
            return true;
        }
        if self.roots.nearest_anchor(child).is_none() {
            self.spot = None;
            return true;
        }
        false
    }

    /// Moves to the anchor of the deepest root that reaches `path`, with the names between still to
    /// be walked. Outside every root, keeps only the path.
    fn enter(&mut self) {
        match self.roots.nearest_anchor(&self.path) {
            Some(index) => self.enter_root(index),
            None => self.spot = None,
        }
    }

    /// Moves to the anchor of the root with this index, and adds the names from there to `path` to
    /// the remaining ones.
    fn enter_root(&mut self, index: usize) {
        let root = &self.roots.roots[index];
        let from = if root.anchor_path == b"/" { 0 } else { root.anchor_path.len() };
        let path = std::mem::replace(&mut self.path, root.anchor_path.clone());
        self.push_names(&path[from..]);
        self.spot = Some(WalkedDir { root: index, depth: 0, fds: VecDeque::new() });
    }

    /// Puts the names of a path before the remaining ones.
    fn push_names(&mut self, path: &[u8]) {
        let names = path.split(|&byte| byte == b'/').rev();
        for name in names.filter(|name| !name.is_empty() && *name != b".") {
            self.ups += usize::from(name == b"..");
            self.todo.push(name.to_vec());
        }
    }

    /// Handles `..`: returns to the descriptor of the parent if it is still open, otherwise walks
    /// to the parent's path again from a root.
    fn go_to_parent(&mut self) {
        self.path.truncate(parent_of(&self.path).len());
        let Some(spot) = &mut self.spot else { return self.enter() };
        let kept = spot.fds.pop_back().is_some() && (spot.depth == 1 || !spot.fds.is_empty());
        spot.depth = spot.depth.saturating_sub(1);
        if !kept || self.roots.nearest_anchor(&self.path).is_none() {
            self.enter();
        }
    }

    /// Returns the descriptor of the current directory. Fails with `OUTSIDE_ALLOWED` outside every
    /// root.
    fn current_dir(&self) -> Result<BorrowedFd<'_>> {
        let spot = self.spot.as_ref().ok_or_else(outside_error)?;
        Ok(spot
            .fds
            .back()
            .map_or_else(|| self.roots.roots[spot.root].anchor.as_fd(), |fd| fd.as_fd()))
    }

    /// Returns the current directory, or `None` outside every root.
    fn into_dir(mut self) -> Option<DirFd<'r>> {
        let spot = self.spot.as_mut()?;
        Some(match spot.fds.pop_back() {
            Some(fd) => DirFd::Opened(fd),
            None => DirFd::Root(self.roots.roots[spot.root].anchor.as_fd()),
        })
    }

    /// Handles the last name: returns the resolved entry, or `None` if it was a link, whose names
    /// are now to be walked.
    fn resolve_last_name(
        &mut self,
        name: &[u8],
        parent: usize,
    ) -> Result<Option<ResolvedEntry<'r>>> {
        let found = Stat::find(self.current_dir()?, name)?;
        if found.is_some_and(|stat| stat.kind == Kind::Symlink) && self.last == FinalSymlink::Follow
        {
            self.path.truncate(parent);
            if !self.follow_link(name)? {
                // The entry is no longer a link, so its name is walked again.
                self.todo.push(name.to_vec());
            }
            return Ok(None);
        }
        self.resolved_entry(name, found, Vec::new()).map(Some)
    }

    /// Returns the entry `name` of the current directory as the result of the walk.
    fn resolved_entry(
        &mut self,
        name: &[u8],
        found: Option<Stat>,
        missing: Vec<Vec<u8>>,
    ) -> Result<ResolvedEntry<'r>> {
        let real = std::mem::take(&mut self.path);
        let spot = self.spot.as_mut().ok_or_else(outside_error)?;
        let dir = match spot.fds.pop_back() {
            Some(fd) => DirFd::Opened(fd),
            None => DirFd::Root(self.roots.roots[spot.root].anchor.as_fd()),
        };
        if found.is_none() && self.inside {
            return Err(os_error(Errno::NOENT));
        }
        let directory = self.directory;
        Ok(ResolvedEntry { dir, name: Some(name.to_vec()), real, found, missing, directory })
    }

    /// Handles a name that is not the last one: enters the directory, follows the link, or applies
    /// [`MissingPolicy`] if it does not exist.
    fn resolve_directory_name(
        &mut self,
        name: Vec<u8>,
        parent: usize,
    ) -> Result<Option<ResolvedEntry<'r>>> {
        match open_directory(self.current_dir()?, &name) {
            Ok(fd) => self.step_into(fd),
            // The name may be a link, for which the system returns one of these errors, depending
            // on the platform.
            Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK) => {
                self.path.truncate(parent);
                if !self.follow_link(&name)? {
                    let kind = Stat::find(self.current_dir()?, &name)?.map(|stat| stat.kind);
                    if kind.is_some_and(|kind| kind != Kind::Dir && kind != Kind::Symlink) {
                        return Err(os_error(Errno::NOTDIR));
                    }
                    self.todo.push(name);
                }
            }
            Err(Errno::NOENT) => return self.handle_missing(name),
            Err(errno) => return Err(os_error(errno)),
        }
        Ok(None)
    }

    /// Makes a directory below the current one the current directory.
    fn step_into(&mut self, fd: OwnedFd) {
        if let Some(spot) = &mut self.spot {
            spot.depth += 1;
            spot.fds.push_back(fd);
            if spot.fds.len() > MAX_OPEN_LEVELS {
                spot.fds.pop_front();
            }
        }
    }

    /// Applies [`MissingPolicy`] to a name that is not the last one and does not exist.
    fn handle_missing(&mut self, name: Vec<u8>) -> Result<Option<ResolvedEntry<'r>>> {
        // A `..` after a missing directory is an error, as in the kernel: there is no directory to
        // return from.
        let climbs = self.ups > 0;
        match &self.missing {
            MissingPolicy::Fail => Err(os_error(Errno::NOENT)),
            _ if climbs => Err(os_error(Errno::NOENT)),
            MissingPolicy::Stop => {
                let missing = std::mem::take(&mut self.todo).into_iter().rev().collect();
                self.resolved_entry(&name, None, missing).map(Some)
            }
            MissingPolicy::Make(_) => {
                let way_to_root =
                    self.roots.roots.iter().any(|root| root.write && root.reaches(&self.path));
                if !way_to_root {
                    return Err(super::outside_for_intent_error(Intent::Write));
                }
                if self.is_new_directory_protected(&name) {
                    return Err(crate::dir::errno::protected_error());
                }
                let current_dir = self.current_dir()?;
                let current_dir =
                    current_dir.try_clone_to_owned().map_err(|_| os_error(Errno::MFILE))?;
                if let MissingPolicy::Make(made) = &mut self.missing {
                    made.make(&current_dir, &name)?;
                }
                let fd = open_directory(current_dir.as_fd(), &name).map_err(os_error)?;
                self.step_into(fd);
                Ok(None)
            }
        }
    }

    /// Reports whether the rules protect the directory that is about to be created. If it lies in
    /// the one created before, only its own name is evaluated.
    fn is_new_directory_protected(&mut self, name: &[u8]) -> bool {
        let parent = parent_of(&self.path);
        match &mut self.trail {
            Some(trail) if trail.path() == parent => trail.push(name),
            other => *other = Some(PathCursor::new(&self.roots.rules, &self.path)),
        }
        self.trail.as_ref().is_some_and(PathCursor::protected)
    }

    /// Reads the link `name` and puts the names of its target before the remaining ones. Returns
    /// false if the entry is no link or does not exist any more.
    fn follow_link(&mut self, name: &[u8]) -> Result<bool> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(os_error(Errno::LOOP));
        }
        let current_dir = self.current_dir()?;
        let target = match rustix::fs::readlinkat(current_dir, name, Vec::new()) {
            Ok(target) => target.into_bytes(),
            Err(Errno::INVAL | Errno::NOENT) => return Ok(false),
            Err(errno) => return Err(os_error(errno)),
        };
        if self.roots.real_paths || self.roots.follow == Follow::Never {
            return Err(Error::new(
                Code::OutsideAllowed,
                "a symbolic link is on the way, and links are not followed",
            ));
        }
        if has_magic_links(current_dir)? {
            return Err(outside_error());
        }
        if self.todo.is_empty() {
            self.inside |= target.ends_with(b"/.");
            self.directory |= self.inside || target.ends_with(b"/");
        }
        self.push_names(&target);
        if target.first() == Some(&b'/') {
            self.path = absolute_path_of(&[]);
            self.enter();
        }
        Ok(true)
    }
}

/// Reports whether the links of this directory are magic links of procfs, which do not lead to the
/// path that they show. The top directory of procfs (inode 1) has only ordinary ones (`self`,
/// `mounts`).
#[cfg(target_os = "linux")]
fn has_magic_links(dir: BorrowedFd<'_>) -> Result<bool> {
    let kind = rustix::fs::fstatfs(dir).map_err(os_error)?.f_type;
    Ok(kind == rustix::fs::PROC_SUPER_MAGIC && Stat::of(dir).map_err(os_error)?.ino != 1)
}

#[cfg(not(target_os = "linux"))]
fn has_magic_links(_: BorrowedFd<'_>) -> Result<bool> {
    Ok(false)
}
