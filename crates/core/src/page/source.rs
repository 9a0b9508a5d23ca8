//! Where the bytes of a page come from: memory, or a file in chunks.

use crate::encoding::Encoding;
use crate::error::Result;

/// The default chunk size of a file in bytes. A chunk of this size stays in the processor's cache
/// while it is scanned.
pub const CHUNK_BYTES: usize = 256 * 1024;

/// Random access to bytes, in chunks.
pub trait Source {
    /// Returns the length in bytes; it may change between calls.
    fn size(&self) -> u64;

    /// Returns the maximum number of bytes that a call of [`Source::chunk`] is sure to return:
    /// even, and at least 8.
    fn chunk_bytes(&self) -> usize;

    /// Returns bytes from `offset` on: at least the smaller of `want` and [`Source::chunk_bytes`]
    /// unless the end comes first, and often more. Empty at and after the end.
    ///
    /// # Errors
    /// I/O errors, and `CANCELLED`.
    fn chunk(&mut self, offset: u64, want: usize) -> Result<&[u8]>;
}

/// Bytes in memory.
#[derive(Clone, Copy, Debug)]
pub struct MemorySource<'a>(pub &'a [u8]);

impl Source for MemorySource<'_> {
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

/// Returns `length` bytes from `offset` on; fewer if the source ends before.
pub(super) fn read_range(source: &mut impl Source, offset: u64, length: u64) -> Result<Vec<u8>> {
    let length = length as usize;
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        let left = length - bytes.len();
        let chunk = source.chunk(offset + bytes.len() as u64, left)?;
        if chunk.is_empty() {
            break;
        }
        bytes.extend_from_slice(&chunk[..chunk.len().min(left)]);
    }
    Ok(bytes)
}

/// Returns the escape sequence in effect at `offset`; empty unless the encoding is stateful.
/// Searches the 4096 bytes before it.
pub(super) fn escape_sequence_at(
    source: &mut impl Source,
    encoding: Encoding,
    offset: u64,
) -> Result<Vec<u8>> {
    const MAX_SEARCHED_BYTES: u64 = 4096;
    if !encoding.is_stateful() || offset == 0 {
        return Ok(Vec::new());
    }
    let from = offset.saturating_sub(MAX_SEARCHED_BYTES);
    let length = (offset - from) as usize;
    let before = source.chunk(from, length)?;
    Ok(encoding.shift_state(&before[..before.len().min(length)]).to_vec())
}
