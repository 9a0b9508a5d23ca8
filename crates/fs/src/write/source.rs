//! The source of a file's new content.

use std::os::fd::{AsFd, OwnedFd};

use filewright_core::{Code, Error, Result};
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
use rustix::fs::SeekFrom;
use rustix::io::Errno;

use super::temp::write_all_at;
use crate::cancel::CancelToken;
use crate::dir::errno::os_error;
use crate::dir::stat::Stat;
use crate::read::{BYTES_PER_READ, read_at};

/// The bytes to write into a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ContentSource<'s> {
    /// These bytes.
    Bytes(&'s [u8]),
    /// The content of an open file, followed by the given bytes.
    Extended(&'s OwnedFd, &'s [u8]),
}

impl ContentSource<'_> {
    /// Does the same as [`ContentSource::write_to`], for an empty file. Verifies its length
    /// afterwards, and returns its metadata.
    pub(crate) fn write_whole(&self, fd: impl AsFd, cancel: &CancelToken) -> Result<Stat> {
        let length = self.write_to(&fd, cancel)?;
        let stat = Stat::of(&fd).map_err(os_error)?;
        if stat.size == length {
            return Ok(stat);
        }
        Err(Error::new(Code::IoError, "the file system stored another number of bytes"))
    }

    /// Writes the content to a file from offset 0 on, and returns the number of bytes.
    pub(crate) fn write_to(&self, fd: impl AsFd, cancel: &CancelToken) -> Result<u64> {
        match self {
            ContentSource::Bytes(bytes) => {
                write_all_at(fd, bytes, 0, cancel)?;
                Ok(bytes.len() as u64)
            }
            ContentSource::Extended(old, bytes) => {
                let copied = copy_content(old, &fd, cancel)?;
                write_all_at(fd, bytes, copied, cancel)?;
                Ok(copied + bytes.len() as u64)
            }
        }
    }
}

/// Copies a file to another from offset 0 on, and returns the number of bytes. Uses
/// `copy_file_range` where possible, with which some file systems share the blocks, and keeps
/// holes.
fn copy_content(from: &OwnedFd, to: impl AsFd, cancel: &CancelToken) -> Result<u64> {
    let size = Stat::of(from).map_err(os_error)?.size;
    let mut at = 0;
    while at < size {
        let Some((start, end)) = next_data_range(from, at, size) else { break };
        at = copy_range(from, &to, start, end, cancel)?;
        if at < end {
            // The file was truncated meanwhile.
            rustix::fs::ftruncate(&to, at).map_err(os_error)?;
            return Ok(at);
        }
    }
    if at < size {
        rustix::fs::ftruncate(&to, size).map_err(os_error)?;
    }
    if size > 0 {
        return Ok(size);
    }
    // Files of procfs report size 0 and have content nevertheless, so they are read until their
    // end.
    let mut done = 0;
    let mut block = Vec::with_capacity(BYTES_PER_READ / 4);
    loop {
        block.clear();
        if read_at(from, &mut block, done)? == 0 {
            return Ok(done);
        }
        write_all_at(&to, &block, done, cancel)?;
        done += block.len() as u64;
    }
}

/// Returns the offsets of start and end of the next part of a file from `at` on that is not a hole,
/// or `None` if only a hole is left. `size` is the end of the file.
fn next_data_range(from: &OwnedFd, at: u64, size: u64) -> Option<(u64, u64)> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    match rustix::fs::seek(from, SeekFrom::Data(at)) {
        // The file may be growing: bytes beyond `size` are not copied.
        Ok(start) if start >= size => return None,
        Ok(start) if start >= at => {
            let hole = rustix::fs::seek(from, SeekFrom::Hole(start));
            return Some((start, hole.unwrap_or(size).clamp(start, size)));
        }
        Err(Errno::NXIO) => return None,
        // If the file system does not report holes, the rest of the file counts as data.
        _ => {}
    }
    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    let _ = from;
    Some((at, size))
}

/// Copies the bytes from `start` to `end` to the same offset. Returns the offset after the last
/// copied byte, which is less than `end` only if the file has become shorter.
fn copy_range(
    from: &OwnedFd,
    to: impl AsFd,
    start: u64,
    end: u64,
    cancel: &CancelToken,
) -> Result<u64> {
    let mut at = start;
    while at < end {
        cancel.check()?;
        match copy_block(from, &to, at, end - at) {
            Ok(0) => break,
            Ok(count) => at += count,
            Err(Errno::INTR) => {}
            Err(errno @ (Errno::NOSPC | Errno::DQUOT | Errno::IO | Errno::FBIG)) => {
                return Err(os_error(errno));
            }
            // The kernel does not support the call, or not between these two files.
            Err(_) => break,
        }
    }
    let mut block = Vec::with_capacity(BYTES_PER_READ / 4);
    while at < end {
        cancel.check()?;
        block.clear();
        if read_at(from, &mut block, at)? == 0 {
            break;
        }
        block.truncate(usize::try_from(end - at).unwrap_or(usize::MAX));
        write_all_at(&to, &block, at, cancel)?;
        at += block.len() as u64;
    }
    Ok(at)
}

#[cfg(target_os = "linux")]
fn copy_block(from: &OwnedFd, to: impl AsFd, at: u64, length: u64) -> rustix::io::Result<u64> {
    /// The number of bytes copied between two checks of the cancel token.
    const BYTES_PER_COPY: u64 = 64 << 20;
    let (mut source, mut target) = (at, at);
    let length = length.min(BYTES_PER_COPY) as usize;
    rustix::fs::copy_file_range(from, Some(&mut source), to, Some(&mut target), length)
        .map(|count| count as u64)
}

#[cfg(not(target_os = "linux"))]
fn copy_block(_: &OwnedFd, _: impl AsFd, _: u64, _: u64) -> rustix::io::Result<u64> {
    Err(Errno::NOSYS)
}
