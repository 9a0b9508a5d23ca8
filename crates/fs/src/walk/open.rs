//! Opens entries of a walk by descriptor and plain names, and retries when descriptors run out.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{StopSignal, WalkRoot};
use crate::root::Resolver;

/// The maximum length of a path in one system call, in bytes. A longer one is opened in several
/// calls.
const PATH_MAX: usize = 4095;
/// The maximum number of retries, 5 ms apart, when no descriptor is free. After that, the entry
/// counts as unreadable.
const MAX_RETRIES: u32 = 400;

/// Opens the directories of a walk and keeps the last one open, because the next one is nearly
/// always the same or below it.
pub struct Opener<'a> {
    walk_root: &'a WalkRoot<'a>,
    stop: &'a StopSignal<'a>,
    last: Option<(Arc<[u8]>, OwnedFd)>,
    /// A buffer for joining paths.
    path: Vec<u8>,
}

impl<'a> Opener<'a> {
    /// Creates an opener without an open directory.
    pub fn new(walk_root: &'a WalkRoot<'a>, stop: &'a StopSignal<'a>) -> Self {
        Self { walk_root, stop, last: None, path: Vec::new() }
    }

    /// Opens the directory with that path below the start (with a final slash; empty for the start
    /// itself). Every component is a plain name.
    pub fn open(&mut self, path: &Arc<[u8]>) -> rustix::io::Result<BorrowedFd<'_>> {
        let known = self.last.as_ref().filter(|(known, _)| path.starts_with(known));
        let same = known.is_some_and(|(known, _)| known.len() == path.len());
        if !same {
            let opened = match known {
                Some((known, fd)) => self.below(fd.as_fd(), &path[known.len()..]),
                None => self.below(self.walk_root.fd.as_fd(), path),
            };
            // The old descriptor is closed first, so that no more than one is open.
            self.last = None;
            self.last = Some((path.clone(), opened?));
        }
        match &self.last {
            Some((_, fd)) => Ok(fd.as_fd()),
            None => Err(Errno::BADF),
        }
    }

    /// Opens a file like [`open_plain`]. `left` says that the caller needs no other file of the
    /// directory: the file is then opened by its path relative to the start, if one call can do
    /// that, and the directory is not opened.
    pub fn open_plain(
        &mut self,
        directory: &Arc<[u8]>,
        name: &CStr,
        left: bool,
    ) -> rustix::io::Result<Option<OwnedFd>> {
        let one_call = self.walk_root.resolver == Resolver::Kernel;
        let length = directory.len() + name.count_bytes();
        let is_open = self.last.as_ref().is_some_and(|(known, _)| known == directory);
        if !left || is_open || !one_call || directory.is_empty() || length > PATH_MAX {
            let stop = self.stop;
            return open_plain(self.open(directory)?, name, stop);
        }
        self.path.clear();
        self.path.extend_from_slice(directory);
        self.path.extend_from_slice(name.to_bytes());
        let from = self.walk_root.fd.as_fd();
        none_if_not_regular(self.retry_out_of_fds(|| open_path(from, &self.path, FILE_FLAGS)))
    }

    /// Opens the directory at `path` relative to `from`, in as few calls as possible.
    fn below(&self, from: BorrowedFd<'_>, path: &[u8]) -> rustix::io::Result<OwnedFd> {
        let path = path.strip_suffix(b"/").unwrap_or(path);
        if path.is_empty() {
            return self.retry_out_of_fds(|| open_directory(from, b"."));
        }
        let one_call = self.walk_root.resolver == Resolver::Kernel;
        let mut rest = path;
        let mut at: Option<OwnedFd> = None;
        loop {
            let piece = match memchr::memchr(b'/', rest) {
                None => rest,
                Some(_) if one_call && rest.len() <= PATH_MAX => rest,
                Some(_) if one_call => {
                    let cut = memchr::memrchr(b'/', &rest[..PATH_MAX]).unwrap_or(PATH_MAX);
                    &rest[..cut]
                }
                Some(cut) => &rest[..cut],
            };
            let next = {
                let dir = at.as_ref().map_or(from, AsFd::as_fd);
                if memchr::memchr(b'/', piece).is_none() {
                    self.retry_out_of_fds(|| open_directory(dir, piece))?
                } else {
                    self.retry_out_of_fds(|| open_path(dir, piece, DIRECTORY_FLAGS))?
                }
            };
            if piece.len() == rest.len() {
                return Ok(next);
            }
            rest = &rest[piece.len() + 1..];
            at = Some(next);
        }
    }

    /// Calls `open`, again while the process or the system is out of descriptors.
    fn retry_out_of_fds(
        &self,
        open: impl FnMut() -> rustix::io::Result<OwnedFd>,
    ) -> rustix::io::Result<OwnedFd> {
        retry_out_of_fds(self.stop, open)
    }
}

/// Calls `open`, again every 5 ms while the process or the system is out of descriptors, up to
/// [`MAX_RETRIES`] times (two seconds), unless `stop` ends the waiting.
pub(super) fn retry_out_of_fds<T>(
    stop: &StopSignal<'_>,
    mut open: impl FnMut() -> rustix::io::Result<T>,
) -> rustix::io::Result<T> {
    let mut tries = 0;
    loop {
        match open() {
            Err(Errno::MFILE | Errno::NFILE) if tries < MAX_RETRIES && !stop.now() => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(Errno::AGAIN | Errno::INTR) if tries < MAX_RETRIES => tries += 1,
            result => return result,
        }
    }
}

const DIRECTORY_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

fn open_directory(dir: BorrowedFd<'_>, name: &[u8]) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat(dir, name, DIRECTORY_FLAGS, Mode::empty())
}

/// Opens by several names at once, none of which may be a link.
#[cfg(target_os = "linux")]
fn open_path(dir: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    const RESOLVE_FLAGS: ResolveFlags =
        ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS).union(ResolveFlags::NO_SYMLINKS);
    rustix::fs::openat2(dir, path, flags, Mode::empty(), RESOLVE_FLAGS)
}

/// Opens by several names at once, none of which may be a link.
#[cfg(target_vendor = "apple")]
fn open_path(dir: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> rustix::io::Result<OwnedFd> {
    // The kernel rejects the two no-follow flags together.
    let flags = flags.difference(OFlags::NOFOLLOW) | OFlags::NOFOLLOW_ANY;
    rustix::fs::openat(dir, path, flags, Mode::empty())
}

/// Not available on this platform; paths are opened name by name.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn open_path(_: BorrowedFd<'_>, _: &[u8], _: OFlags) -> rustix::io::Result<OwnedFd> {
    Err(Errno::NOSYS)
}

/// The result of [`read_regular`] and of [`SearchedFile`](super::SearchedFile).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// The content is in the buffer.
    Read,
    /// The file is binary by its first bytes, and the rest was not read.
    Binary,
    /// The file was read, none of its lines can match, and the buffer is not valid.
    NoMatch,
    /// The search ended before the file was read.
    Interrupted,
    /// The file is larger than the limit and was not read completely.
    TooLarge,
    /// Not read, because it is no longer a regular file.
    Special,
    /// Not read, because the rules hide another name of the file.
    Hidden,
}

/// Replaces the content of `buffer` by that of a regular file of at most `max_bytes`. Does not
/// follow a link, and does not block on a FIFO.
pub fn read_regular(
    dir: BorrowedFd<'_>,
    name: &CStr,
    max_bytes: u64,
    stop: &StopSignal<'_>,
    buffer: &mut Vec<u8>,
) -> rustix::io::Result<ReadOutcome> {
    match open_regular(dir, name, stop)? {
        Some((fd, stat)) => read_open(fd.as_fd(), size_of(&stat), max_bytes, buffer),
        None => Ok(ReadOutcome::Special),
    }
}

/// Opens a regular file, with its metadata. Returns `None` if the entry is none any more.
pub(super) fn open_regular(
    dir: BorrowedFd<'_>,
    name: &CStr,
    stop: &StopSignal<'_>,
) -> rustix::io::Result<Option<(OwnedFd, rustix::fs::Stat)>> {
    let Some(fd) = open_plain(dir, name, stop)? else { return Ok(None) };
    let stat = rustix::fs::fstat(&fd)?;
    let is_regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    Ok(is_regular.then_some((fd, stat)))
}

pub(super) fn size_of(stat: &rustix::fs::Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

/// Opens an entry that was a regular file when it was listed. The caller must check its type.
/// Returns `None` if it is now a link or a socket.
pub fn open_plain(
    dir: BorrowedFd<'_>,
    name: &CStr,
    stop: &StopSignal<'_>,
) -> rustix::io::Result<Option<OwnedFd>> {
    none_if_not_regular(retry_out_of_fds(stop, || {
        rustix::fs::openat(dir, name, FILE_FLAGS, Mode::empty())
    }))
}

const FILE_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// Turns the errors for an entry that is no regular file any more into `None`.
fn none_if_not_regular(opened: rustix::io::Result<OwnedFd>) -> rustix::io::Result<Option<OwnedFd>> {
    match opened {
        Ok(fd) => Ok(Some(fd)),
        // The entry was replaced by a link or a socket since it was listed.
        Err(Errno::LOOP | Errno::NXIO | Errno::MLINK) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Replaces the content of `buffer` by that of an open regular file, whose last known size is
/// `size`. With more than `max_bytes`, returns [`ReadOutcome::TooLarge`] and the buffer is not
/// valid.
pub fn read_open(
    fd: BorrowedFd<'_>,
    size: u64,
    max_bytes: u64,
    buffer: &mut Vec<u8>,
) -> rustix::io::Result<ReadOutcome> {
    if size > max_bytes {
        return Ok(ReadOutcome::TooLarge);
    }
    buffer.clear();
    read_rest(fd, size, max_bytes, buffer)
}

/// Appends the rest of a file, whose last known size is `size`, to what `buffer` holds of it.
pub(super) fn read_rest(
    fd: BorrowedFd<'_>,
    size: u64,
    max_bytes: u64,
    buffer: &mut Vec<u8>,
) -> rustix::io::Result<ReadOutcome> {
    // One byte more than expected, so that a read that does not fill the buffer has reached the
    // end, and one that does shows that the file has grown.
    let rest = usize::try_from(size).unwrap_or(0).saturating_sub(buffer.len());
    buffer.reserve(rest.saturating_add(1).max(4096));
    loop {
        let room = buffer.capacity() - buffer.len();
        match rustix::io::read(fd, rustix::buffer::spare_capacity(buffer)) {
            Ok(0) => return Ok(ReadOutcome::Read),
            // The expected size was read and the buffer is not full: this is the end.
            Ok(read) if read < room && buffer.len() as u64 >= size && size > 0 => {
                return Ok(ReadOutcome::Read);
            }
            Ok(_) if buffer.len() as u64 > max_bytes => return Ok(ReadOutcome::TooLarge),
            Ok(_) if buffer.len() == buffer.capacity() => buffer.reserve(buffer.len()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}
