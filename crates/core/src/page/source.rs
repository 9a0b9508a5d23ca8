//! Where the bytes of a page come from.

use crate::error::Result;

/// The usual [`Source::piece`] of a file, in bytes: it stays in the processor's
/// cache while it is looked through.
pub const CHUNK_BYTES: usize = 256 * 1024;

/// Random access to bytes, in pieces.
pub trait Source {
    /// The length in bytes; may grow or shrink between calls.
    fn size(&self) -> u64;

    /// The most bytes that one [`Source::chunk`] can be asked for: even, and at
    /// least 8.
    fn piece(&self) -> usize;

    /// Bytes from `offset` on: at least `want` (or [`Source::piece`], if that is
    /// less) of them unless the end comes first, and often more. Empty at and
    /// beyond the end.
    ///
    /// # Errors
    /// What reading fails with, and `CANCELLED`.
    fn chunk(&mut self, offset: u64, want: usize) -> Result<&[u8]>;
}

/// Bytes in memory.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a>(pub &'a [u8]);

impl Source for Slice<'_> {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn piece(&self) -> usize {
        CHUNK_BYTES
    }

    fn chunk(&mut self, offset: u64, _want: usize) -> Result<&[u8]> {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        Ok(self.0.get(offset..).unwrap_or_default())
    }
}
