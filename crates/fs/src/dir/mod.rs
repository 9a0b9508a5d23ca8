//! Operations on one directory by its descriptor: opening, listing, metadata of entries, and
//! removal of trees below.
//!
//! This module knows neither roots nor rules: the caller has resolved and checked the path, and
//! passes the descriptor and one plain name.

pub(crate) mod cursor;
pub mod errno;
pub(crate) mod renaming;
pub mod stat;
pub(crate) mod sweeps;
pub mod temp_name;
pub mod tree;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use filewright_core::Result;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use errno::os_error;
use stat::Kind;

/// Returns the flags for opening a directory as a base for other calls: without the right to read
/// it, where the platform distinguishes the two.
pub(crate) fn base_directory_flags() -> OFlags {
    #[cfg(target_os = "linux")]
    let access = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let access = OFlags::RDONLY | OFlags::NONBLOCK;
    access | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// Opens one directory below another by a single name; does not follow links.
pub(crate) fn open_directory(dir: BorrowedFd<'_>, name: &[u8]) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat(dir, name, base_directory_flags(), Mode::empty())
}

/// Opens the directory `name` in `dir` for reading its entries; does not follow links. Returns
/// `None` if it is a link or another entry that is no directory.
pub(crate) fn open_entries(dir: impl AsFd, name: &[u8]) -> Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat(dir, name, flags | OFlags::NONBLOCK, Mode::empty()) {
        Ok(fd) => Ok(Some(fd)),
        Err(Errno::LOOP | Errno::NOTDIR | Errno::MLINK) => Ok(None),
        Err(errno) => Err(os_error(errno)),
    }
}

/// Calls `f` with every name of a directory except `.` and `..`, in the order of the file system,
/// and with its kind if the system returns it. The descriptor must be open for reading; it is not
/// reopened, because for a confined thread the cost of that grows with the depth of the directory.
pub(crate) fn for_each_name(
    dir: impl AsFd,
    mut f: impl FnMut(&[u8], Option<Kind>) -> Result<()>,
) -> Result<()> {
    let own = rustix::io::fcntl_dupfd_cloexec(dir, 0).map_err(os_error)?;
    let mut stream = Dir::new(own).map_err(os_error)?;
    // A duplicated descriptor shares its read position with the original, which may have been read
    // before, so reading starts anew.
    stream.rewind();
    while let Some(entry) = stream.read() {
        let entry = entry.map_err(os_error)?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => None,
            kind => Some(kind.into()),
        };
        f(name, kind)?;
    }
    Ok(())
}

/// Removes the name of a file or link from a directory. Succeeds if the name does not exist.
pub(crate) fn unlink(dir: impl AsFd, name: &[u8]) -> rustix::io::Result<()> {
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Err(Errno::NOENT) => Ok(()),
        result => result,
    }
}
