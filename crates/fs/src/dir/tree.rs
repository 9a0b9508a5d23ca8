//! Walks and removes whole trees by descriptors.
//!
//! This is another algorithm than the walk of searches and listings (`walk/`): it visits a
//! directory after its contents, in no order, without filters or limits, because what is left out
//! would not be removed. It keeps the way up, since entries are removed and directories refilled
//! while it runs, and fails at the first directory that it cannot read.
//!
//! Directories are entered by one name from the descriptor of the parent, never through a link. At
//! most a few dozen descriptors are open at any depth, and nothing recurses: on the way up, `..`
//! must lead to the directory that was left, otherwise the walk ends.
//!
//! An entry costs the same number of system calls and the same path work at any depth. For a thread
//! under Landlock, the kernel checks every directory above a path that is opened for reading or
//! removed, so nothing is opened twice, and the way up uses descriptors that are not checked.

use std::os::fd::{BorrowedFd, OwnedFd};

use filewright_core::Result;
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use crate::cancel::CancelToken;
use crate::dir::cursor::{DirCursor, ParentAccess};
use crate::dir::errno::os_error;
use crate::dir::stat::{Kind, Stat};
use crate::dir::temp_name::is_temp_name;
use crate::dir::{for_each_name, open_entries};

filewright_core::wire! {
    /// The number and size of the entries that an operation on a tree affected.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TreeCounts {
        /// The number of entries that are not directories.
        pub files: u64,
        /// The number of directories, including the top.
        pub directories: u64,
        /// The sum of the sizes of the regular files, in bytes.
        pub bytes: u64,
    }
}

impl TreeCounts {
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

/// The maximum number of times that the removal of one tree empties a directory again because
/// another process has added entries. Beyond it, the removal fails with `NOT_EMPTY`.
const MAX_DIR_REFILLS: u32 = 64;

/// An event that [`walk_tree`] passes to its visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TreeEvent {
    /// An entry that is not a directory, with its type if known.
    Entry(Option<Kind>),
    /// A directory, which is about to be opened.
    Before,
    /// A directory, after it was opened and before its contents.
    Enter,
    /// A directory, after all of its contents.
    Leave,
}

/// The visitor's answer: how [`walk_tree`] continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TreeStep {
    /// Continue.
    Go,
    /// The walk does not enter the directory. Only in answer to [`TreeEvent::Before`].
    Skip,
    /// The walk passes through the directory once more. Only in answer to [`TreeEvent::Leave`].
    Again,
}

/// Walks everything below a directory, in no particular order. `visit` receives the event, the
/// descriptor of the directory that contains the entry (for [`TreeEvent::Enter`], of the entered
/// directory itself) and the name.
pub(crate) fn walk_tree(
    top: OwnedFd,
    cancel: &CancelToken,
    mut visit: impl FnMut(TreeEvent, BorrowedFd<'_>, &[u8]) -> Result<TreeStep>,
) -> Result<()> {
    let mut cursor = DirCursor::new(top, ParentAccess::Stand);
    // For each level, the directory's name and its remaining subdirectories.
    let mut frames: Vec<(Vec<u8>, Vec<Vec<u8>>)> = Vec::new();
    let mut name = Vec::new();
    loop {
        cancel.check()?;
        let mut directories = Vec::new();
        let current_dir = cursor.current_dir()?;
        for_each_name(current_dir, |name, kind| {
            cancel.check()?;
            let kind = match kind {
                Some(kind) => Some(kind),
                None => Stat::find(current_dir, name)?.map(|stat| stat.kind),
            };
            if kind == Some(Kind::Dir) {
                directories.push(name.to_vec());
            } else {
                visit(TreeEvent::Entry(kind), current_dir, name)?;
            }
            Ok(())
        })?;
        frames.push((std::mem::take(&mut name), directories));
        // Enters the next subdirectory, or returns to the nearest level with remaining ones.
        loop {
            let Some((own, directories)) = frames.last_mut() else { return Ok(()) };
            if let Some(next) = directories.pop() {
                if visit(TreeEvent::Before, cursor.current_dir()?, &next)? == TreeStep::Skip {
                    continue;
                }
                if cursor.enter(&next)? {
                    visit(TreeEvent::Enter, cursor.current_dir()?, &next)?;
                    name = next;
                    break;
                }
                visit(TreeEvent::Entry(None), cursor.current_dir()?, &next)?;
                continue;
            }
            let own = std::mem::take(own);
            frames.pop();
            let Some((_, directories)) = frames.last_mut() else { return Ok(()) };
            cursor.leave()?;
            if visit(TreeEvent::Leave, cursor.current_dir()?, &own)? == TreeStep::Again {
                directories.push(own);
            }
        }
    }
}

/// Counts the entries below a directory, without the directory itself and without Filewright's
/// temporary files.
pub(crate) fn count_tree(top: OwnedFd, cancel: &CancelToken) -> Result<TreeCounts> {
    let mut counts = TreeCounts::default();
    walk_tree(top, cancel, |met, dir, name| {
        if let TreeEvent::Entry(_) | TreeEvent::Leave = met
            && !is_temp_name(name)
            && let Some(stat) = Stat::find(dir, name)?
        {
            counts.add(&stat);
        }
        Ok(if met == TreeEvent::Before && is_temp_name(name) {
            TreeStep::Skip
        } else {
            TreeStep::Go
        })
    })?;
    Ok(counts)
}

/// Removes an entry that is not a directory, and counts it. Succeeds if it no longer exists.
pub(crate) fn remove_entry(
    dir: BorrowedFd<'_>,
    name: &[u8],
    counts: &mut TreeCounts,
) -> Result<()> {
    let stat = Stat::find(dir, name)?;
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) => stat.iter().for_each(|stat| counts.add(stat)),
        Err(Errno::NOENT) => {}
        // A directory has replaced the file, so the removal of the parent will fail as not empty,
        // and the parent is walked once more.
        Err(Errno::ISDIR | Errno::PERM)
            if Stat::find(dir, name)?.is_some_and(|stat| stat.kind == Kind::Dir) => {}
        Err(errno) => return Err(os_error(errno)),
    }
    Ok(())
}

/// Removes a directory whose contents were removed, and counts it. Returns [`TreeStep::Again`] if
/// another process has added entries meanwhile.
pub(crate) fn remove_directory(
    dir: BorrowedFd<'_>,
    name: &[u8],
    counts: &mut TreeCounts,
    refills: &mut u32,
) -> Result<TreeStep> {
    match rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR) {
        Ok(()) => counts.directories += 1,
        Err(Errno::NOENT) => {}
        Err(Errno::NOTEMPTY | Errno::EXIST) if *refills < MAX_DIR_REFILLS => {
            *refills += 1;
            return Ok(TreeStep::Again);
        }
        Err(errno) => return Err(os_error(errno)),
    }
    Ok(TreeStep::Go)
}

/// Removes a temporary file or tree of Filewright, whatever the permission bits of its directories.
///
/// # Errors
/// The system's error if an entry cannot be removed.
pub fn remove_temp_entry(dir: BorrowedFd<'_>, name: &[u8]) -> Result<()> {
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(errno) => return Err(os_error(errno)),
    }
    // Copied directories may have lost the write permission that is needed to empty them.
    let _ = give_owner_access(dir, name);
    let Some(top) = open_entries(dir, name)? else { return Ok(()) };
    let mut refills = 0;
    walk_tree(top, &CancelToken::new(), |met, dir, name| match met {
        TreeEvent::Before => {
            let _ = give_owner_access(dir, name);
            Ok(TreeStep::Go)
        }
        TreeEvent::Enter => Ok(TreeStep::Go),
        TreeEvent::Leave => remove_directory(dir, name, &mut TreeCounts::default(), &mut refills),
        TreeEvent::Entry(_) => {
            rustix::fs::unlinkat(dir, name, AtFlags::empty()).map_err(os_error)?;
            Ok(TreeStep::Go)
        }
    })?;
    rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR).map_err(os_error)
}

/// Gives the owner all permissions of a directory. Does not follow links, because a link that was
/// just put in its place could lead anywhere.
///
/// # Errors
/// The system's error, for example if the entry is no directory or belongs to another user.
pub fn give_owner_access(dir: BorrowedFd<'_>, name: &[u8]) -> rustix::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;

        use rustix::fs::OFlags;

        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let found = rustix::fs::openat(dir, name, flags, Mode::empty())?;
        let mode = Mode::from_raw_mode(rustix::fs::fstat(&found)?.st_mode) | Mode::RWXU;
        // Older kernels change the mode of an `O_PATH` descriptor only through procfs.
        rustix::fs::chmod(format!("/proc/self/fd/{}", found.as_raw_fd()), mode)
    }
    #[cfg(not(target_os = "linux"))]
    rustix::fs::chmodat(dir, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)
}
