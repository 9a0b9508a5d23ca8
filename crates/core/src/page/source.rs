//! The source of a page's bytes.

use crate::error::Result;

/// The default chunk size of a file in bytes. A chunk of this size stays in the processor's cache
/// while it is scanned.
pub const CHUNK_BYTES: usize = 256 * 1024;

/// Random access to bytes, in chunks.
pub trait Source {
    /// Returns the length in bytes; it may change between calls.
    fn size(&self) -> u64;

    /// Returns the maximum number of bytes that [`Source::chunk`] can be asked for: even, and at
    /// least 8.
    fn chunk_bytes(&self) -> usize;

    /// Returns bytes from `offset` on: at least the smaller of `want` and [`Source::chunk_bytes`] unless
    /// the end comes first, and often more. Empty at and after the end.
    ///
    /// # Errors
    /// I/O errors, and `CANCELLED`.
    fn chunk(&mut self, offset: u64, want: usize) -> Result<&[u8]>;
}

/// Bytes in memory.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a>(pub &'a [u8]);

impl Source for Slice<'_> {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn chunk_bytes(&self) -> usize {
        CHUNK_BYTES
    }

    fn chunk(&mut self, offset: u64, _want: usize) -> Result<&[u8]> {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        Ok(self.0.get(offset..).unwrap_or_default())
    }
}
