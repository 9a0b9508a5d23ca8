//! Copies one directory tree: first completely into a temporary directory, the stage, then by
//! renames to its destination.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use filewright_core::Result;
use filewright_core::pattern::policy::{PathCursor, RepositoryMarks};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::merge::{MergePhase, merge_stage_into};
use crate::cancel::CancelToken;
use crate::dir::cursor::{DirCursor, ParentAccess};
use crate::dir::errno::{
    changing_path_error, not_regular_error, os_error, protected_error, repository_error,
};
use crate::dir::open_entries;
use crate::dir::renaming::move_unless_exists;
use crate::dir::stat::{Kind, Stat};
use crate::dir::temp_name::is_temp_name;
use crate::dir::tree::{TreeCounts, TreeEvent, TreeStep, walk_tree};
use crate::root::{ResolvedEntry, Roots, repository_marks_in};
use crate::write::{
    ContentSource, Preserve, TempEntry, check_close_errors, copy_moved_metadata, copy_times,
    set_mode,
};

/// The purpose of copying a tree: to have it twice, or to move it to another file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopyPurpose {
    /// The original stays: special files are skipped.
    Copy,
    /// The tree is moved to another file system: owner, attributes and times are preserved, and a
    /// file that cannot be copied is an error, because the original will be deleted.
    Move,
}

/// One copy of a tree: from where to where, and how.
pub(super) struct TreeCopy<'c> {
    pub roots: &'c Roots,
    pub from: Vec<u8>,
    pub to: Vec<u8>,
    pub purpose: CopyPurpose,
    pub preserve: Preserve,
    pub cancel: &'c CancelToken,
}

/// Copied directories whose permission bits take some right from their owner. The bits are set at
/// the end, because without the rights the contents could not be created. Inner directories precede
/// outer ones.
type DeferredModes = Vec<DeferredDirMode>;

/// A directory whose permission bits are set at the end. Its path is stored relative to that of the
/// previous one, so that the memory for deeply nested directories grows with the sum of their
/// names, not with the sum of their paths.
struct DeferredDirMode {
    /// The number of names at the start of the path, below the top, that are those of the previous
    /// path.
    shared: usize,
    /// The remaining names of the path.
    names: Vec<Vec<u8>>,
    mode: u32,
}

impl TreeCopy<'_> {
    /// Copies the tree `top`, whose metadata is `stat`, to `target`. Returns `None` if another
    /// program creates the destination meanwhile, so that the caller resolves it again.
    pub fn run(
        &self,
        top: OwnedFd,
        stat: &Stat,
        target: &ResolvedEntry<'_>,
    ) -> Result<Option<TreeCounts>> {
        match target.kind() {
            None | Some(Kind::Dir) => {}
            Some(_) => return Err(os_error(Errno::NOTDIR)),
        }
        // The stage is next to a new destination, but inside an existing one, because its parent
        // may not be writable.
        let (base, own);
        match target.open_directory() {
            Some(opened) => {
                own = opened.map_err(os_error)?;
                base = own.as_fd();
            }
            None => base = target.dir.as_fd(),
        }
        let temp = TempEntry::directory(base).map_err(os_error)?;
        let Some(stage) = open_entries(base, &temp.name)? else {
            return Err(changing_path_error());
        };
        let kept = rustix::io::fcntl_dupfd_cloexec(&stage, 0).map_err(os_error)?;
        if self.purpose == CopyPurpose::Move {
            copy_moved_metadata(&stage, &top, stat, self.preserve)?;
        }
        let (counts, closed) = self.copy_contents(top, stage)?;
        if let (Some(name), None) = (&target.name, target.kind()) {
            set_deferred_modes(kept.as_fd(), &closed)?;
            match move_unless_exists(base, &temp.name, name) {
                Ok(()) => temp.moved_into_place(),
                Err(Errno::EXIST) => return Ok(None),
                Err(errno) => return Err(os_error(errno)),
            }
            // The mode is set after the move, because moving a directory requires the right to
            // write in it.
            set_mode(&kept, stat.mode)?;
        } else {
            merge_stage_into(&kept, base, MergePhase::Check, self.preserve, self.cancel)?;
            merge_stage_into(&kept, base, MergePhase::Move, self.preserve, self.cancel)?;
            set_deferred_modes(base, &closed)?;
        }
        Ok(Some(counts))
    }

    /// Copies everything below `top` into the empty directory `stage`.
    fn copy_contents(&self, top: OwnedFd, stage: OwnedFd) -> Result<(TreeCounts, DeferredModes)> {
        let mut counts = TreeCounts { directories: 1, ..TreeCounts::default() };
        let mut closed = DeferredModes::new();
        let mut cursor = DirCursor::new(stage, ParentAccess::Change);
        let mut above: Vec<(Vec<u8>, u32)> = Vec::new();
        // The number of names that the current path shares with that of the last element of
        // `closed`.
        let mut shared = 0;
        let rules = self.roots.rules();
        let (mut from, mut to) =
            (PathCursor::new(rules, &self.from), PathCursor::new(rules, &self.to));
        walk_tree(top, self.cancel, |met, dir, name| {
            match met {
                TreeEvent::Leave => {
                    from.pop();
                    to.pop();
                    match above.last() {
                        Some((_, mode)) if mode & 0o700 == 0o700 => {
                            set_mode(cursor.current_dir()?, *mode)?;
                        }
                        Some((_, mode)) => {
                            let names = above[shared..].iter().map(|(name, _)| name.clone());
                            closed.push(DeferredDirMode {
                                shared,
                                names: names.collect(),
                                mode: *mode,
                            });
                            shared = above.len();
                        }
                        None => {}
                    }
                    above.pop();
                    shared = shared.min(above.len());
                    cursor.leave()?;
                    return Ok(TreeStep::Go);
                }
                TreeEvent::Enter => {
                    from.push(name);
                    to.push(name);
                    let stat = Stat::of(dir).map_err(os_error)?;
                    counts.add(&stat);
                    above.push((name.to_vec(), stat.mode));
                    rustix::fs::mkdirat(cursor.current_dir()?, name, Mode::from_raw_mode(0o700))
                        .map_err(os_error)?;
                    if !cursor.enter(name)? {
                        return Err(changing_path_error());
                    }
                    if self.purpose == CopyPurpose::Move {
                        copy_moved_metadata(cursor.current_dir()?, dir, &stat, self.preserve)?;
                    }
                    return Ok(TreeStep::Go);
                }
                TreeEvent::Before | TreeEvent::Entry(_) => {}
            }
            if is_temp_name(name) || !self.is_copied(&mut from, &mut to, dir, name)? {
                return Ok(TreeStep::Skip);
            }
            if met != TreeEvent::Before {
                let real = || [from.path(), b"/", name].concat();
                self.copy_entry((dir, name, &real), cursor.current_dir()?, &mut counts)?;
            }
            Ok(TreeStep::Go)
        })?;
        Ok((counts, closed))
    }

    /// Reports whether an entry is copied: false if its old path is denied. Returns an error if the
    /// rules forbid it at its new path.
    fn is_copied(
        &self,
        from: &mut PathCursor<'_>,
        to: &mut PathCursor<'_>,
        dir: BorrowedFd<'_>,
        name: &[u8],
    ) -> Result<bool> {
        if self.roots.rules().protects() && RepositoryMarks::is_mark(name) {
            // The existing entries of the destination count too, because the copy is merged with
            // them.
            let there = self.roots.repository_marks_at(to.path());
            if repository_marks_in(dir, b"").with(there).is_repository() {
                return Err(repository_error());
            }
        }
        from.push(name);
        to.push(name);
        let denied = from.denied_entry();
        if !denied {
            self.roots.check_written_on(to)?;
            self.roots.check_secret_copy_on(from, to)?;
            if to.holds() {
                return Err(protected_error());
            }
        }
        from.pop();
        to.pop();
        Ok(!denied)
    }

    /// Copies an entry that is not a directory, and counts it. Succeeds without a copy if it no
    /// longer exists. `real` returns its absolute real path.
    fn copy_entry(
        &self,
        (dir, name, real): (BorrowedFd<'_>, &[u8], &dyn Fn() -> Vec<u8>),
        to: BorrowedFd<'_>,
        counts: &mut TreeCounts,
    ) -> Result<()> {
        let Some(stat) = Stat::find(dir, name)? else { return Ok(()) };
        match stat.kind {
            Kind::Symlink => {
                let text = rustix::fs::readlinkat(dir, name, Vec::new()).map_err(os_error)?;
                rustix::fs::symlinkat(text, to, name).map_err(os_error)?;
            }
            Kind::File => {
                let Some((fd, stat)) = open_regular_at(dir, name)? else { return Ok(()) };
                if stat.nlink > 1 {
                    let allowed = self.roots.check_other_names(&stat, &real());
                    allowed.map_err(|error| error.detail("within", true))?;
                }
                let flags = OFlags::WRONLY
                    | OFlags::CREATE
                    | OFlags::EXCL
                    | OFlags::NOFOLLOW
                    | OFlags::CLOEXEC;
                let new = rustix::fs::openat(to, name, flags, Mode::from_raw_mode(0o600))
                    .map_err(os_error)?;
                let made = ContentSource::Extended(&fd, b"").write_whole(&new, self.cancel)?;
                if self.purpose == CopyPurpose::Move {
                    copy_moved_metadata(&new, &fd, &stat, self.preserve)?;
                }
                set_mode(&new, stat.mode)?;
                if self.purpose == CopyPurpose::Move {
                    copy_times(&new, &stat);
                }
                check_close_errors(&new, &made)?;
            }
            Kind::Other if self.purpose == CopyPurpose::Move => return Err(not_regular_error()),
            // A directory has replaced the entry since it was listed, or its type is not copied.
            Kind::Dir | Kind::Other => return Ok(()),
        }
        counts.add(&stat);
        Ok(())
    }
}

/// Opens the regular file `name` for reading. Returns `None` if it no longer exists or is no
/// regular file any more.
fn open_regular_at(dir: BorrowedFd<'_>, name: &[u8]) -> Result<Option<(OwnedFd, Stat)>> {
    let flags =
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = match rustix::fs::openat(dir, name, flags, Mode::empty()) {
        Ok(fd) => fd,
        Err(Errno::LOOP | Errno::NXIO | Errno::NOENT | Errno::MLINK) => return Ok(None),
        Err(errno) => return Err(os_error(errno)),
    };
    let stat = Stat::of(&fd).map_err(os_error)?;
    Ok((stat.kind == Kind::File).then_some((fd, stat)))
}

/// Sets the permission bits of `closed` below `top`. A directory that does not have the mode 0700
/// of a new copy existed before and keeps its bits.
fn set_deferred_modes(top: BorrowedFd<'_>, closed: &DeferredModes) -> Result<()> {
    let Some(own) = open_entries(top, b".")? else { return Err(changing_path_error()) };
    let mut cursor = DirCursor::new(own, ParentAccess::Change);
    let mut depth = 0;
    for DeferredDirMode { shared, names, mode } in closed {
        for _ in *shared..depth {
            cursor.leave()?;
        }
        for name in names {
            if !cursor.enter(name)? {
                return Err(changing_path_error());
            }
        }
        // The cursor leaves the directory first, because with the new mode it might not be able to
        // return through it.
        let own = rustix::io::fcntl_dupfd_cloexec(cursor.current_dir()?, 0).map_err(os_error)?;
        cursor.leave()?;
        depth = shared + names.len() - 1;
        if Stat::of(&own).map_err(os_error)?.mode & 0o777 == 0o700 {
            set_mode(&own, *mode)?;
        }
    }
    Ok(())
}
