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

use std::os::fd::{BorrowedFd, OwnedFd};

use filewright_core::Result;
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use crate::cancel::CancelToken;
use crate::dir::cursor::{Cursor, ParentAccess};
use crate::dir::errno::os;
use crate::dir::stat::{Kind, Stat};
use crate::dir::temp_name::is_temp_name;
use crate::dir::{for_each_name, open_entries};

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

/// How often directories that others keep filling are emptied again.
const REFILLS: u32 = 64;

/// What a walk meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visit {
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
/// of the directory it is in (for [`Visit::Enter`] its own) and its name.
pub(crate) fn walk_tree(
    top: OwnedFd,
    cancel: &CancelToken,
    mut visit: impl FnMut(Visit, BorrowedFd<'_>, &[u8]) -> Result<Next>,
) -> Result<()> {
    let mut cursor = Cursor::new(top, ParentAccess::Stand);
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
                visit(Visit::Entry(kind), here, name)?;
            }
            Ok(())
        })?;
        frames.push((std::mem::take(&mut name), directories));
        // To the next directory below, or as far up as everything is done.
        loop {
            let Some((own, directories)) = frames.last_mut() else { return Ok(()) };
            if let Some(next) = directories.pop() {
                if visit(Visit::Before, cursor.here()?, &next)? == Next::Skip {
                    continue;
                }
                if cursor.enter(&next)? {
                    visit(Visit::Enter, cursor.here()?, &next)?;
                    name = next;
                    break;
                }
                visit(Visit::Entry(None), cursor.here()?, &next)?;
                continue;
            }
            let own = std::mem::take(own);
            frames.pop();
            let Some((_, directories)) = frames.last_mut() else { return Ok(()) };
            cursor.leave()?;
            if visit(Visit::Leave, cursor.here()?, &own)? == Next::Again {
                directories.push(own);
            }
        }
    }
}

/// Counts everything below a directory.
pub(crate) fn count_tree(top: OwnedFd, cancel: &CancelToken) -> Result<Counts> {
    let mut counts = Counts::default();
    walk_tree(top, cancel, |met, dir, name| {
        if let Visit::Entry(_) | Visit::Leave = met
            && !is_temp_name(name)
            && let Some(stat) = Stat::find(dir, name)?
        {
            counts.add(&stat);
        }
        Ok(if met == Visit::Before && is_temp_name(name) { Next::Skip } else { Next::Go })
    })?;
    Ok(counts)
}

pub(crate) fn remove_entry(dir: BorrowedFd<'_>, name: &[u8], counts: &mut Counts) -> Result<()> {
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

pub(crate) fn remove_directory(
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
    walk_tree(top, &CancelToken::new(), |met, dir, name| match met {
        Visit::Before => {
            let _ = unlock(dir, name);
            Ok(Next::Go)
        }
        Visit::Enter => Ok(Next::Go),
        Visit::Leave => remove_directory(dir, name, &mut Counts::default(), &mut refills),
        Visit::Entry(_) => {
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
