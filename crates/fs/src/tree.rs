//! Whole trees, by descriptor: walking, removing.
//!
//! Directories are entered by one name from the descriptor above, never through
//! a link. At most a few dozen descriptors are open whatever the depth, and
//! nothing recurses: on the way back up a directory is reached by `..` and must
//! then be the very directory that was left, or the walk ends.
//!
//! An entry costs the same number of system calls and the same work on its path at
//! any depth. In a thread under Landlock the kernel itself looks at every directory
//! above what is opened for reading or removed, so nothing is opened twice, and the
//! way up is by descriptors to stand on, of which it asks nothing.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use filewright_core::access::{Marks, Trail};
use filewright_core::{Code, Error, Result};
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use crate::cancel::Cancel;
use crate::errno::{os, outside, protected, repository};
use crate::list::for_each_name;
use crate::root::{Roots, marks_in, open_directory, open_entries};
use crate::stat::{Kind, Stat};
use crate::write::is_temp_name;

/// What an operation on a tree touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Everything that is not a directory.
    pub files: u64,
    /// Directories, the top one included.
    pub directories: u64,
    /// The sizes of the regular files. Bytes.
    pub bytes: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, stat: &Stat) {
        if stat.kind == Kind::Dir {
            self.directories += 1;
        } else {
            self.files += 1;
        }
        if stat.kind == Kind::File {
            self.bytes += stat.size;
        }
    }
}

/// How many descriptors a cursor keeps open.
const WINDOW: usize = 24;

/// How often directories that others keep filling are emptied again.
const REFILLS: u32 = 64;

/// A place in a tree.
#[derive(Debug)]
pub(crate) struct Cursor {
    levels: Vec<Level>,
    up: Up,
}

/// What a directory is reached again for on the way up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Up {
    /// To work on its entries.
    Stand,
    /// To change the directory itself as well, such as its permission bits.
    Change,
}

#[derive(Debug)]
struct Level {
    /// Closed while the cursor is far below.
    fd: Option<OwnedFd>,
    id: (u64, u64),
}

impl Cursor {
    /// At the top of a tree: a directory open for reading.
    pub(crate) fn new(top: OwnedFd, up: Up) -> Self {
        Self { levels: vec![Level { fd: Some(top), id: (0, 0) }], up }
    }

    /// The directory the cursor is in.
    pub(crate) fn here(&self) -> Result<BorrowedFd<'_>> {
        let level = self.levels.last().and_then(|level| level.fd.as_ref());
        level
            .map(AsFd::as_fd)
            .ok_or_else(|| Error::new(Code::Internal, "the walk has no directory"))
    }

    /// Goes into a directory. False where that is none, or no longer there.
    pub(crate) fn enter(&mut self, name: &[u8]) -> Result<bool> {
        let fd = match open_entries(self.here()?, name) {
            Ok(Some(fd)) => fd,
            Ok(None) => return Ok(false),
            Err(error) if error.code == Code::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        // The top is never closed, so that a walk ends where it began.
        let far = self.levels.len().checked_sub(WINDOW).filter(|far| *far > 0);
        if let Some(level) = far.and_then(|far| self.levels.get_mut(far))
            && let Some(fd) = level.fd.take()
        {
            let stat = Stat::of(fd).map_err(os)?;
            level.id = (stat.dev, stat.ino);
        }
        self.levels.push(Level { fd: Some(fd), id: (0, 0) });
        Ok(true)
    }

    /// Goes back up.
    pub(crate) fn leave(&mut self) -> Result<()> {
        let below = self.levels.pop().and_then(|level| level.fd);
        let Some(level) = self.levels.last_mut() else {
            return Err(Error::new(Code::Internal, "the walk left its top"));
        };
        if level.fd.is_none()
            && let Some(below) = below
        {
            let moved =
                || Error::new(Code::Conflict, "the tree is being changed by another program");
            let fd = match self.up {
                Up::Stand => open_directory(below.as_fd(), b"..").map_err(os)?,
                Up::Change => open_entries(&below, b"..")?.ok_or_else(moved)?,
            };
            let stat = Stat::of(&fd).map_err(os)?;
            if (stat.dev, stat.ino) != level.id {
                return Err(moved());
            }
            level.fd = Some(fd);
        }
        Ok(())
    }
}

/// What a walk meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Met {
    /// Anything but a directory, with its kind where that is known.
    Entry(Option<Kind>),
    /// A directory that is about to be opened.
    Before,
    /// A directory that has just been opened.
    Enter,
    /// A directory, after what is in it.
    Leave,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Go on.
    Go,
    /// Do not go into the directory.
    Skip,
    /// Go through the directory once more.
    Again,
}

/// Walks everything below a directory. `visit` gets what is met, the descriptor
/// of the directory it is in (for [`Met::Enter`] its own) and its name.
pub(crate) fn walk_tree(
    top: OwnedFd,
    cancel: &Cancel,
    mut visit: impl FnMut(Met, BorrowedFd<'_>, &[u8]) -> Result<Next>,
) -> Result<()> {
    let mut cursor = Cursor::new(top, Up::Stand);
    // For each level the directory's name and the directories in it still to do.
    let mut frames: Vec<(Vec<u8>, Vec<Vec<u8>>)> = Vec::new();
    let mut name = Vec::new();
    loop {
        cancel.check()?;
        let mut directories = Vec::new();
        let here = cursor.here()?;
        for_each_name(here, |name, kind| {
            cancel.check()?;
            let kind = match kind {
                Some(kind) => Some(kind),
                None => Stat::find(here, name)?.map(|stat| stat.kind),
            };
            if kind == Some(Kind::Dir) {
                directories.push(name.to_vec());
            } else {
                visit(Met::Entry(kind), here, name)?;
            }
            Ok(())
        })?;
        frames.push((std::mem::take(&mut name), directories));
        // To the next directory below, or as far up as everything is done.
        loop {
            let Some((own, directories)) = frames.last_mut() else { return Ok(()) };
            if let Some(next) = directories.pop() {
                if visit(Met::Before, cursor.here()?, &next)? == Next::Skip {
                    continue;
                }
                if cursor.enter(&next)? {
                    visit(Met::Enter, cursor.here()?, &next)?;
                    name = next;
                    break;
                }
                visit(Met::Entry(None), cursor.here()?, &next)?;
                continue;
            }
            let own = std::mem::take(own);
            frames.pop();
            let Some((_, directories)) = frames.last_mut() else { return Ok(()) };
            cursor.leave()?;
            if visit(Met::Leave, cursor.here()?, &own)? == Next::Again {
                directories.push(own);
            }
        }
    }
}

impl Roots {
    /// Refuses a tree that holds a denied or protected entry: it is not moved
    /// and not removed. `real` is the path of its top; `there` where it is to
    /// go, if it is to go somewhere.
    pub(crate) fn check_whole_tree(
        &self,
        top: OwnedFd,
        real: &[u8],
        there: Option<&[u8]>,
        cancel: &Cancel,
    ) -> Result<()> {
        let rules = self.rules();
        let secrets = rules.keeps_secrets() && there.is_some();
        if !rules.denies() && !rules.protects() && !secrets {
            return Ok(());
        }
        let mut trails: Vec<Trail<'_>> =
            [Some(real), there].into_iter().flatten().map(|path| Trail::new(rules, path)).collect();
        walk_tree(top, cancel, |met, dir, name| {
            match met {
                Met::Leave => {
                    trails.iter_mut().for_each(Trail::pop);
                    return Ok(Next::Go);
                }
                Met::Enter => {
                    trails.iter_mut().for_each(|trail| trail.push(name));
                    return Ok(Next::Go);
                }
                Met::Before | Met::Entry(_) => {}
            }
            trails.iter_mut().for_each(|trail| trail.push(name));
            trails.iter().try_for_each(check_whole_entry)?;
            // A tree that goes away takes nothing to where git could find it.
            if there.is_some()
                && rules.protects()
                && Marks::is_mark(name)
                && marks_in(dir, b"").is_repository()
            {
                return Err(repository());
            }
            if let [here, there] = &trails[..] {
                self.check_secret_goes_on(here, there)?;
                if there.protected() && !here.protected() {
                    return Err(protected());
                }
            }
            trails.iter_mut().for_each(Trail::pop);
            Ok(Next::Go)
        })
    }

    /// Removes everything below a directory, and counts it.
    pub(crate) fn empty_tree(&self, top: OwnedFd, real: &[u8], cancel: &Cancel) -> Result<Counts> {
        let mut trail = Trail::new(self.rules(), real);
        let checks = self.rules().denies() || self.rules().protects();
        let mut counts = Counts::default();
        let mut refills = 0;
        walk_tree(top, cancel, |met, dir, name| {
            match met {
                Met::Enter => trail.push(name),
                Met::Leave => {
                    trail.pop();
                    return remove_directory(dir, name, &mut counts, &mut refills);
                }
                Met::Before | Met::Entry(_) if checks => {
                    trail.push(name);
                    check_whole_entry(&trail)?;
                    trail.pop();
                }
                Met::Before | Met::Entry(_) => {}
            }
            if let Met::Entry(_) = met {
                remove_entry(dir, name, &mut counts)?;
            }
            Ok(Next::Go)
        })?;
        Ok(counts)
    }
}

/// The rules on one entry of a tree that is to be moved or removed.
fn check_whole_entry(entry: &Trail<'_>) -> Result<()> {
    if entry.denied_entry() {
        let mut error = outside();
        error.message = "the directory holds something outside the allowed roots".to_owned();
        return Err(error);
    }
    if entry.holds() {
        let mut error = protected();
        error.message = "the directory holds a path that is protected from change".to_owned();
        return Err(error);
    }
    Ok(())
}

/// Counts everything below a directory.
pub(crate) fn count_tree(top: OwnedFd, cancel: &Cancel) -> Result<Counts> {
    let mut counts = Counts::default();
    walk_tree(top, cancel, |met, dir, name| {
        if let Met::Entry(_) | Met::Leave = met
            && !is_temp_name(name)
            && let Some(stat) = Stat::find(dir, name)?
        {
            counts.add(&stat);
        }
        Ok(if met == Met::Before && is_temp_name(name) { Next::Skip } else { Next::Go })
    })?;
    Ok(counts)
}

fn remove_entry(dir: BorrowedFd<'_>, name: &[u8], counts: &mut Counts) -> Result<()> {
    let stat = Stat::find(dir, name)?;
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) => stat.iter().for_each(|stat| counts.add(stat)),
        Err(Errno::NOENT) => {}
        // It has just become a directory: the one above is not empty then, and
        // is gone through once more.
        Err(Errno::ISDIR | Errno::PERM)
            if Stat::find(dir, name)?.is_some_and(|stat| stat.kind == Kind::Dir) => {}
        Err(errno) => return Err(os(errno)),
    }
    Ok(())
}

fn remove_directory(
    dir: BorrowedFd<'_>,
    name: &[u8],
    counts: &mut Counts,
    refills: &mut u32,
) -> Result<Next> {
    match rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR) {
        Ok(()) => counts.directories += 1,
        Err(Errno::NOENT) => {}
        Err(Errno::NOTEMPTY | Errno::EXIST) if *refills < REFILLS => {
            *refills += 1;
            return Ok(Next::Again);
        }
        Err(errno) => return Err(os(errno)),
    }
    Ok(Next::Go)
}

/// Removes a file or tree of ours, whatever the permission bits of its directories.
///
/// # Errors
/// The system's, where something in it cannot be removed.
pub fn remove_own(dir: BorrowedFd<'_>, name: &[u8]) -> Result<()> {
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(errno) => return Err(os(errno)),
    }
    // Copied directories may have lost the right to be emptied.
    let _ = unlock(dir, name);
    let Some(top) = open_entries(dir, name)? else { return Ok(()) };
    let mut refills = 0;
    walk_tree(top, &Cancel::new(), |met, dir, name| match met {
        Met::Before => {
            let _ = unlock(dir, name);
            Ok(Next::Go)
        }
        Met::Enter => Ok(Next::Go),
        Met::Leave => remove_directory(dir, name, &mut Counts::default(), &mut refills),
        Met::Entry(_) => {
            rustix::fs::unlinkat(dir, name, AtFlags::empty()).map_err(os)?;
            Ok(Next::Go)
        }
    })?;
    rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR).map_err(os)
}

/// Gives the owner of a directory every right to it. Follows no link: one that has just taken
/// the directory's place could lead to any other.
///
/// # Errors
/// The system's, such as where there is no directory or it belongs to somebody else.
pub fn unlock(dir: BorrowedFd<'_>, name: &[u8]) -> rustix::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;

        use rustix::fs::OFlags;

        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let found = rustix::fs::openat(dir, name, flags, Mode::empty())?;
        let mode = Mode::from_raw_mode(rustix::fs::fstat(&found)?.st_mode) | Mode::RWXU;
        // A descriptor to stand on takes no other way to new bits on older kernels.
        rustix::fs::chmod(format!("/proc/self/fd/{}", found.as_raw_fd()), mode)
    }
    #[cfg(not(target_os = "linux"))]
    rustix::fs::chmodat(dir, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)
}
