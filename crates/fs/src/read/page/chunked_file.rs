//! A file as a [`Source`] of chunks: one buffer, filled by `pread`.

use std::os::fd::{AsFd, BorrowedFd};

use filewright_core::Result;
use filewright_core::page::{CHUNK_BYTES, Source};
use rustix::io::Errno;

use crate::cancel::CancelToken;
use crate::dir::errno::os;

/// The size of the first chunk: a first page seldom needs more, and reading a full chunk would take
/// longer than everything else. Bytes.
const FIRST_CHUNK_BYTES: usize = 64 * 1024;

/// An open file with a buffer of at most [`CHUNK_BYTES`] bytes.
pub(super) struct ChunkedFile<'a> {
    fd: BorrowedFd<'a>,
    size: u64,
    cancel: &'a CancelToken,
    buffer: Vec<u8>,
    /// The file offset of the buffer.
    at: u64,
    /// The number of valid bytes in the buffer.
    filled: usize,
    shrank: bool,
}

impl<'a> ChunkedFile<'a> {
    /// Reads at most `size` bytes of the file, so that data appended meanwhile is ignored.
    pub fn new(fd: &'a impl AsFd, size: u64, cancel: &'a CancelToken) -> Self {
        Self { fd: fd.as_fd(), size, cancel, buffer: Vec::new(), at: 0, filled: 0, shrank: false }
    }

    /// Reports whether the file ended before `size`.
    pub fn shrank(&self) -> bool {
        self.shrank
    }

    fn fill(&mut self, offset: u64, want: usize) -> Result<()> {
        self.cancel.check()?;
        let most = if self.buffer.is_empty() { want.max(FIRST_CHUNK_BYTES) } else { CHUNK_BYTES };
        let length = most.min(usize::try_from(self.size - offset).unwrap_or(most));
        if self.buffer.len() < length {
            self.buffer.resize(length, 0);
        }
        self.at = offset;
        self.filled = fill(self.fd, &mut self.buffer[..length], offset)?;
        if self.filled < length {
            self.shrank = true;
            self.size = offset + self.filled as u64;
        }
        Ok(())
    }
}

impl Source for ChunkedFile<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn chunk_bytes(&self) -> usize {
        CHUNK_BYTES
    }

    fn chunk(&mut self, offset: u64, want: usize) -> Result<&[u8]> {
        if offset >= self.size {
            return Ok(&[]);
        }
        let end = self.at + self.filled as u64;
        let wanted = (offset + want.clamp(1, CHUNK_BYTES) as u64).min(self.size);
        if offset < self.at || wanted > end {
            self.fill(offset, want.min(CHUNK_BYTES))?;
        }
        Ok(&self.buffer[(offset - self.at) as usize..self.filled])
    }
}

/// Fills `buffer` from `offset` on, up to the end of the file.
fn fill(fd: impl AsFd, buffer: &mut [u8], offset: u64) -> Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match rustix::io::pread(&fd, &mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(os(errno)),
        }
    }
    Ok(filled)
}

/// Reads the first `size` bytes of a file, or fewer if it became shorter. Reads everything from a
/// file that reports size 0, as kernel files do.
pub(super) fn read_whole(fd: impl AsFd, size: u64, cancel: &CancelToken) -> Result<Vec<u8>> {
    cancel.check()?;
    let length = match size {
        0 => CHUNK_BYTES,
        size => usize::try_from(size).unwrap_or(usize::MAX),
    };
    let mut bytes = vec![0; length];
    let filled = fill(&fd, &mut bytes, 0)?;
    bytes.truncate(filled);
    Ok(bytes)
}
