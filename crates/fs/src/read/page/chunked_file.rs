//! A file as a [`Source`] of chunks: one buffer, filled by `pread`.

use std::os::fd::{AsFd, BorrowedFd};

use filewright_core::Result;
use filewright_core::page::{CHUNK_BYTES, Source};
use rustix::io::Errno;

use crate::cancel::CancelToken;
use crate::dir::errno::os_error;

/// The size of the first chunk in bytes, smaller than [`CHUNK_BYTES`]: a first page seldom needs
/// more, and reading a full chunk would take longer than everything else.
const FIRST_CHUNK_BYTES: usize = 64 * 1024;

/// An open file with a buffer of at most [`CHUNK_BYTES`] bytes.
pub(super) struct ChunkedFile<'a> {
    fd: BorrowedFd<'a>,
    size: u64,
    cancel: &'a CancelToken,
    buffer: Vec<u8>,
    /// The offset in the file of the first byte of the buffer.
    at: u64,
    /// The number of valid bytes in the buffer.
    filled: usize,
    shrank: bool,
}

impl<'a> ChunkedFile<'a> {
    /// Returns a source for the first `size` bytes of the file, so that data appended meanwhile is
    /// ignored.
    pub fn new(fd: &'a impl AsFd, size: u64, cancel: &'a CancelToken) -> Self {
        Self { fd: fd.as_fd(), size, cancel, buffer: Vec::new(), at: 0, filled: 0, shrank: false }
    }

    /// Reports whether the file ended before `size`.
    pub fn shrank(&self) -> bool {
        self.shrank
    }

    /// Replaces the buffer by the chunk at `offset`, of at least `want` bytes if the file has them.
    fn fill_buffer(&mut self, offset: u64, want: usize) -> Result<()> {
        self.cancel.check()?;
        let most = if self.buffer.is_empty() { want.max(FIRST_CHUNK_BYTES) } else { CHUNK_BYTES };
        let length = most.min(usize::try_from(self.size - offset).unwrap_or(most));
        if self.buffer.len() < length {
            self.buffer.resize(length, 0);
        }
        self.at = offset;
        self.filled = fill_buffer(self.fd, &mut self.buffer[..length], offset)?;
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
            self.fill_buffer(offset, want.min(CHUNK_BYTES))?;
        }
        Ok(&self.buffer[(offset - self.at) as usize..self.filled])
    }
}

/// Reads into `buffer` from the offset `offset` on, until it is full or the file ends. Returns the
/// number of bytes.
fn fill_buffer(fd: impl AsFd, buffer: &mut [u8], offset: u64) -> Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match rustix::io::pread(&fd, &mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(os_error(errno)),
        }
    }
    Ok(filled)
}

/// Returns the first `size` bytes of a file, or fewer if it has become shorter. With `size` 0,
/// which files of procfs report, returns the first [`CHUNK_BYTES`] bytes.
pub(super) fn read_whole_file(fd: impl AsFd, size: u64, cancel: &CancelToken) -> Result<Vec<u8>> {
    cancel.check()?;
    let length = match size {
        0 => CHUNK_BYTES,
        size => usize::try_from(size).unwrap_or(usize::MAX),
    };
    let mut bytes = vec![0; length];
    let filled = fill_buffer(&fd, &mut bytes, 0)?;
    bytes.truncate(filled);
    Ok(bytes)
}
