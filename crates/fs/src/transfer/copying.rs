//! Copies one tree: first to a temporary name, then into place.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use filewright_core::Result;
use filewright_core::pattern::policy::{Marks, PathCursor};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::merge::{Purpose, merge};
use crate::cancel::CancelToken;
use crate::dir::cursor::{Cursor, ParentAccess};
use crate::dir::errno::{not_regular, os, protected, repository, unsettled};
use crate::dir::open_entries;
use crate::dir::stat::{Kind, Stat};
use crate::dir::temp_name::is_temp_name;
use crate::dir::tree::{Next, TreeCounts, Visit, walk_tree};
use crate::root::{ResolvedEntry, Roots, marks_in};
use crate::write::{Preserve, Source, Temp, flush, keep_moved, keep_times, place_new, set_mode};

/// The purpose of copying a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopyMode {
    /// A copy: special files are skipped.
    Copy,
    /// A move to another file system: owner, attributes and times are preserved, and a file that
    /// cannot be copied is an error, because the original will be deleted.
    Move,
}

/// The state of copying one tree.
pub(super) struct Copying<'c> {
    pub roots: &'c Roots,
    pub from: Vec<u8>,
    pub to: Vec<u8>,
    pub manner: CopyMode,
    pub preserve: Preserve,
    pub cancel: &'c CancelToken,
}

/// Directories whose permission bits forbid new entries; the bits are set last. Inner directories
/// precede outer ones.
type FinishedDirs = Vec<FinishedDir>;

/// One of them. Its path is relative to the previous one, so that the list of a chain is only as
/// long as its names.
struct FinishedDir {
    /// The number of names below the top that it shares with the previous one.
    shared: usize,
    /// Its remaining names.
    names: Vec<Vec<u8>>,
    mode: u32,
}

impl Copying<'_> {
    /// Returns `None` if the destination changed meanwhile.
    pub fn run(
        &self,
        top: OwnedFd,
        stat: &Stat,
        target: &ResolvedEntry<'_>,
    ) -> Result<Option<TreeCounts>> {
        match target.kind() {
            None | Some(Kind::Dir) => {}
            Some(_) => return Err(os(Errno::NOTDIR)),
        }
        // The stage is next to a new destination, but inside an existing one, because its parent
        // may not be writable.
        let (base, own);
        match target.open_directory() {
            Some(opened) => {
                own = opened.map_err(os)?;
                base = own.as_fd();
            }
            None => base = target.dir.as_fd(),
        }
        let temp = Temp::directory(base).map_err(os)?;
        let Some(stage) = open_entries(base, &temp.name)? else { return Err(unsettled()) };
        let kept = rustix::io::fcntl_dupfd_cloexec(&stage, 0).map_err(os)?;
        if self.manner == CopyMode::Move {
            keep_moved(&stage, &top, stat, self.preserve)?;
        }
        let (counts, closed) = self.fill(top, stage)?;
        if let (Some(name), None) = (&target.name, target.kind()) {
            close(kept.as_fd(), &closed)?;
            match place_new(base, &temp.name, name) {
                Ok(()) => temp.moved_into_place(),
                Err(Errno::EXIST) => return Ok(None),
                Err(errno) => return Err(os(errno)),
            }
            // Set last, because moving a directory requires the right to write in it.
            set_mode(&kept, stat.mode)?;
        } else {
            merge(&kept, base, Purpose::Look, self.preserve, self.cancel)?;
            merge(&kept, base, Purpose::Move, self.preserve, self.cancel)?;
            close(base, &closed)?;
        }
        Ok(Some(counts))
    }

    fn fill(&self, top: OwnedFd, stage: OwnedFd) -> Result<(TreeCounts, FinishedDirs)> {
        let mut counts = TreeCounts { directories: 1, ..TreeCounts::default() };
        let mut closed = FinishedDirs::new();
        let mut cursor = Cursor::new(stage, ParentAccess::Change);
        let mut above: Vec<(Vec<u8>, u32)> = Vec::new();
        // The number of names of the current path that it shares with the last finished directory.
        let mut shared = 0;
        let rules = self.roots.rules();
        let (mut from, mut to) =
            (PathCursor::new(rules, &self.from), PathCursor::new(rules, &self.to));
        walk_tree(top, self.cancel, |met, dir, name| {
            match met {
                Visit::Leave => {
                    from.pop();
                    to.pop();
                    match above.last() {
                        Some((_, mode)) if mode & 0o700 == 0o700 => {
                            set_mode(cursor.current_dir()?, *mode)?;
                        }
                        Some((_, mode)) => {
                            let names = above[shared..].iter().map(|(name, _)| name.clone());
                            closed.push(FinishedDir {
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
                    return Ok(Next::Go);
                }
                Visit::Enter => {
                    from.push(name);
                    to.push(name);
                    let stat = Stat::of(dir).map_err(os)?;
                    counts.add(&stat);
                    above.push((name.to_vec(), stat.mode));
                    rustix::fs::mkdirat(cursor.current_dir()?, name, Mode::from_raw_mode(0o700))
                        .map_err(os)?;
                    if !cursor.enter(name)? {
                        return Err(unsettled());
                    }
                    if self.manner == CopyMode::Move {
                        keep_moved(cursor.current_dir()?, dir, &stat, self.preserve)?;
                    }
                    return Ok(Next::Go);
                }
                Visit::Before | Visit::Entry(_) => {}
            }
            if is_temp_name(name) || !self.wanted(&mut from, &mut to, dir, name)? {
                return Ok(Next::Skip);
            }
            if met != Visit::Before {
                self.entry(dir, name, cursor.current_dir()?, &mut counts)?;
            }
            Ok(Next::Go)
        })?;
        Ok((counts, closed))
    }

    /// Reports whether an entry is copied; returns an error if it must not exist at its new path.
    fn wanted(
        &self,
        from: &mut PathCursor<'_>,
        to: &mut PathCursor<'_>,
        dir: BorrowedFd<'_>,
        name: &[u8],
    ) -> Result<bool> {
        if self.roots.rules().protects() && Marks::is_mark(name) {
            // Includes the existing entries of the destination, because two trees become one.
            let there = self.roots.marks_at(to.path());
            if marks_in(dir, b"").with(there).is_repository() {
                return Err(repository());
            }
        }
        from.push(name);
        to.push(name);
        let denied = from.denied_entry();
        if !denied {
            self.roots.check_written_on(to)?;
            self.roots.check_secret_copy_on(from, to)?;
            if to.holds() {
                return Err(protected());
            }
        }
        from.pop();
        to.pop();
        Ok(!denied)
    }

    /// Copies a file or link.
    fn entry(
        &self,
        dir: BorrowedFd<'_>,
        name: &[u8],
        to: BorrowedFd<'_>,
        counts: &mut TreeCounts,
    ) -> Result<()> {
        let Some(stat) = Stat::find(dir, name)? else { return Ok(()) };
        match stat.kind {
            Kind::Symlink => {
                let text = rustix::fs::readlinkat(dir, name, Vec::new()).map_err(os)?;
                rustix::fs::symlinkat(text, to, name).map_err(os)?;
            }
            Kind::File => {
                let Some((fd, stat)) = open_beside(dir, name)? else { return Ok(()) };
                let flags = OFlags::WRONLY
                    | OFlags::CREATE
                    | OFlags::EXCL
                    | OFlags::NOFOLLOW
                    | OFlags::CLOEXEC;
                let new =
                    rustix::fs::openat(to, name, flags, Mode::from_raw_mode(0o600)).map_err(os)?;
                Source::Extended(&fd, b"").write_whole(&new, self.cancel)?;
                if self.manner == CopyMode::Move {
                    keep_moved(&new, &fd, &stat, self.preserve)?;
                }
                set_mode(&new, stat.mode)?;
                if self.manner == CopyMode::Move {
                    keep_times(&new, &stat);
                }
                flush(&new)?;
            }
            Kind::Other if self.manner == CopyMode::Move => return Err(not_regular()),
            // A directory that just replaced the entry, or a type that is not copied.
            Kind::Dir | Kind::Other => return Ok(()),
        }
        counts.add(&stat);
        Ok(())
    }
}

/// Opens a regular file of a walk. Returns `None` if its type has changed.
fn open_beside(dir: BorrowedFd<'_>, name: &[u8]) -> Result<Option<(OwnedFd, Stat)>> {
    let flags =
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = match rustix::fs::openat(dir, name, flags, Mode::empty()) {
        Ok(fd) => fd,
        Err(Errno::LOOP | Errno::NXIO | Errno::NOENT | Errno::MLINK) => return Ok(None),
        Err(errno) => return Err(os(errno)),
    };
    let stat = Stat::of(&fd).map_err(os)?;
    Ok((stat.kind == Kind::File).then_some((fd, stat)))
}

/// Sets the deferred permission bits of the copied directories. Directories merged into existing
/// ones keep theirs.
fn close(top: BorrowedFd<'_>, closed: &FinishedDirs) -> Result<()> {
    let Some(own) = open_entries(top, b".")? else { return Err(unsettled()) };
    let mut cursor = Cursor::new(own, ParentAccess::Change);
    let mut depth = 0;
    for FinishedDir { shared, names, mode } in closed {
        for _ in *shared..depth {
            cursor.leave()?;
        }
        for name in names {
            if !cursor.enter(name)? {
                return Err(unsettled());
            }
        }
        // Left before its mode changes, because the way up leads through it.
        let own = rustix::io::fcntl_dupfd_cloexec(cursor.current_dir()?, 0).map_err(os)?;
        cursor.leave()?;
        depth = shared + names.len() - 1;
        if Stat::of(&own).map_err(os)?.mode & 0o777 == 0o700 {
            set_mode(&own, *mode)?;
        }
    }
    Ok(())
}
