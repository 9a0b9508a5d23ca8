//! A file as a source of pieces: one buffer, filled by `pread`.

use std::os::fd::{AsFd, BorrowedFd};

use filewright_core::Result;
use filewright_core::page::{CHUNK_BYTES, Source};
use rustix::io::Errno;

use crate::cancel::CancelToken;
use crate::dir::errno::os;

/// Bytes of the first piece: a first page seldom needs more, and a whole piece would
/// take longer to read than all that is done with the page.
const FIRST: usize = 64 * 1024;

/// An open file, seen through one buffer of [`CHUNK_BYTES`] bytes at most.
pub(super) struct ChunkedFile<'a> {
    fd: BorrowedFd<'a>,
    size: u64,
    cancel: &'a CancelToken,
    buffer: Vec<u8>,
    /// The offset of the buffer's first byte.
    at: u64,
    /// How much of the buffer is filled.
    filled: usize,
    shrank: bool,
}

impl<'a> ChunkedFile<'a> {
    /// Looks at no more than `size` bytes: what a writer appends meanwhile is
    /// for the next call.
    pub fn new(fd: &'a impl AsFd, size: u64, cancel: &'a CancelToken) -> Self {
        Self { fd: fd.as_fd(), size, cancel, buffer: Vec::new(), at: 0, filled: 0, shrank: false }
    }

    /// Whether the file ended before the size it had.
    pub fn shrank(&self) -> bool {
        self.shrank
    }

    fn fill(&mut self, offset: u64, want: usize) -> Result<()> {
        self.cancel.check()?;
        let most = if self.buffer.is_empty() { want.max(FIRST) } else { CHUNK_BYTES };
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

    fn piece(&self) -> usize {
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

/// Fills `buffer` from `offset` on, as far as the file goes.
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

/// The first `size` bytes of a file, or fewer where it became shorter; of a
/// file that claims to be empty, as those of the kernel do, what there is.
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
