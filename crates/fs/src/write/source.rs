//! Where the new content of a file comes from.

use std::os::fd::{AsFd, OwnedFd};

use filewright_core::Result;
use rustix::io::Errno;

use super::temp::write_all;
use crate::cancel::Cancel;
use crate::errno::os;
use crate::read::{BLOCK, read_at};

/// New content.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'s> {
    /// These bytes.
    Bytes(&'s [u8]),
    /// An open file up to its present end, and these bytes.
    Extended(&'s OwnedFd, &'s [u8]),
}

impl Source<'_> {
    /// Writes everything at the descriptor's position, which must be the start
    /// of the file, and gives the number of bytes.
    pub(crate) fn write_to(&self, fd: impl AsFd, cancel: &Cancel) -> Result<u64> {
        match self {
            Source::Bytes(bytes) => {
                write_all(fd, bytes, cancel)?;
                Ok(bytes.len() as u64)
            }
            Source::Extended(old, bytes) => {
                let copied = copy(old, &fd, cancel)?;
                write_all(fd, bytes, cancel)?;
                Ok(copied + bytes.len() as u64)
            }
        }
    }
}

/// Copies a whole file, inside the kernel where it can, sharing blocks where
/// the file system does. Gives the number of bytes.
fn copy(from: &OwnedFd, to: impl AsFd, cancel: &Cancel) -> Result<u64> {
    let mut at = 0;
    loop {
        cancel.check()?;
        match copy_block(from, &to, at) {
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
    // The rest by hand; this also finds the end of files whose size lies.
    let mut block = Vec::with_capacity(BLOCK / 4);
    loop {
        block.clear();
        if read_at(from, &mut block, at)? == 0 {
            return Ok(at);
        }
        write_all(&to, &block, cancel)?;
        at += block.len() as u64;
    }
}

#[cfg(target_os = "linux")]
fn copy_block(from: &OwnedFd, to: impl AsFd, at: u64) -> rustix::io::Result<u64> {
    const CHUNK: usize = 64 << 20;
    let mut offset = at;
    rustix::fs::copy_file_range(from, Some(&mut offset), to, None, CHUNK).map(|count| count as u64)
}

#[cfg(not(target_os = "linux"))]
fn copy_block(_: &OwnedFd, _: impl AsFd, _: u64) -> rustix::io::Result<u64> {
    Err(Errno::NOSYS)
}
