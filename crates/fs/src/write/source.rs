//! Where the new content of a file comes from.

use std::os::fd::{AsFd, OwnedFd};

use filewright_core::{Code, Error, Result};
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
use rustix::fs::SeekFrom;
use rustix::io::Errno;

use super::temp::write_all;
use crate::cancel::CancelToken;
use crate::dir::errno::os;
use crate::dir::stat::Stat;
use crate::read::{BYTES_PER_READ, read_at};

/// New content.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'s> {
    /// These bytes.
    Bytes(&'s [u8]),
    /// An open file up to its present end, and these bytes.
    Extended(&'s OwnedFd, &'s [u8]),
}

impl Source<'_> {
    /// [`Source::write_to`] an empty file, which must hold as many bytes then.
    pub(crate) fn write_whole(&self, fd: impl AsFd, cancel: &CancelToken) -> Result<()> {
        let length = self.write_to(&fd, cancel)?;
        if Stat::of(&fd).map_err(os)?.size == length {
            return Ok(());
        }
        Err(Error::new(Code::IoError, "the file system stored another number of bytes"))
    }

    /// Writes everything from the start of a file, and gives the number of bytes.
    pub(crate) fn write_to(&self, fd: impl AsFd, cancel: &CancelToken) -> Result<u64> {
        match self {
            Source::Bytes(bytes) => {
                write_all(fd, bytes, 0, cancel)?;
                Ok(bytes.len() as u64)
            }
            Source::Extended(old, bytes) => {
                let copied = copy(old, &fd, cancel)?;
                write_all(fd, bytes, copied, cancel)?;
                Ok(copied + bytes.len() as u64)
            }
        }
    }
}

/// Copies a whole file to the start of another, inside the kernel where it can,
/// sharing blocks where the file system does; holes stay holes. Gives the number
/// of bytes.
fn copy(from: &OwnedFd, to: impl AsFd, cancel: &CancelToken) -> Result<u64> {
    let size = Stat::of(from).map_err(os)?.size;
    let mut at = 0;
    while at < size {
        let Some((start, end)) = next_data(from, at, size) else { break };
        at = copy_range(from, &to, start, end, cancel)?;
        if at < end {
            // It was cut short meanwhile.
            rustix::fs::ftruncate(&to, at).map_err(os)?;
            return Ok(at);
        }
    }
    if at < size {
        rustix::fs::ftruncate(&to, size).map_err(os)?;
    }
    if size > 0 {
        return Ok(size);
    }
    // Files of the system say 0 and have content all the same.
    let mut done = 0;
    let mut block = Vec::with_capacity(BYTES_PER_READ / 4);
    loop {
        block.clear();
        if read_at(from, &mut block, done)? == 0 {
            return Ok(done);
        }
        write_all(&to, &block, done, cancel)?;
        done += block.len() as u64;
    }
}

/// The next part of a file that is not a hole, as start and end; `None` where
/// only a hole is left.
fn next_data(from: &OwnedFd, at: u64, size: u64) -> Option<(u64, u64)> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    match rustix::fs::seek(from, SeekFrom::Data(at)) {
        // It may be growing: what is beyond `size` is not copied.
        Ok(start) if start >= size => return None,
        Ok(start) if start >= at => {
            let hole = rustix::fs::seek(from, SeekFrom::Hole(start));
            return Some((start, hole.unwrap_or(size).clamp(start, size)));
        }
        Err(Errno::NXIO) => return None,
        // Without support everything is data.
        _ => {}
    }
    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    let _ = from;
    Some((at, size))
}

/// Copies a part to the same place. Gives where it ended: before `end` only
/// where the file ends there by now.
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
                return Err(os(errno));
            }
            // Not between these files, or not on this kernel.
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
        write_all(&to, &block, at, cancel)?;
        at += block.len() as u64;
    }
    Ok(at)
}

#[cfg(target_os = "linux")]
fn copy_block(from: &OwnedFd, to: impl AsFd, at: u64, length: u64) -> rustix::io::Result<u64> {
    /// How much is copied between two looks at the cancel token. Bytes.
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
