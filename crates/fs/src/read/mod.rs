//! Reading whole files and ranges: one open, one allocation, one read.
//!
//! Memory is bounded by what the caller allows, checked against the size first
//! and against the bytes that really come afterwards, since a size can lie: a
//! file of procfs says 0, and another program may be appending.

pub mod page;
pub mod path_stat;

use std::os::fd::AsFd;

use filewright_core::access::Intent;
use filewright_core::hash::Hasher;
use filewright_core::{Code, Error, Result};
use rustix::buffer::spare_capacity;
use rustix::io::Errno;

use crate::cancel::CancelToken;
use crate::dir::errno::os;
use crate::dir::stat::Stat;
use crate::root::Roots;

/// The most that one call reads into memory, whatever the caller allows. Bytes.
pub const MAX_BYTES: u64 = 2 << 30;

/// How much is read between two looks at the cancel token. Bytes.
pub(crate) const BYTES_PER_READ: usize = 1 << 20;

/// What of a file to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// The first byte.
    pub start: u64,
    /// The byte after the last; `None` is the end of the file.
    pub end: Option<u64>,
    /// Fail with `TOO_LARGE` beyond this many bytes.
    pub max_bytes: Option<u64>,
}

/// Bytes with the facts they belong to.
#[derive(Debug)]
pub struct Content {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The facts, taken before the bytes were read: a change meanwhile shows
    /// as another version afterwards.
    pub stat: Stat,
}

impl Roots {
    /// Reads a regular file, or a range of it cut to its end, links followed.
    ///
    /// # Errors
    /// Those of [`Roots::open_file`]; `TOO_LARGE` with `details.size` and
    /// `details.limit`; `INVALID_ARGUMENT` for a range that ends before it
    /// starts; `CANCELLED`.
    pub fn read(
        &self,
        path: &[u8],
        options: &ReadOptions,
        cancel: &CancelToken,
    ) -> Result<Content> {
        if options.end.is_some_and(|end| end < options.start) {
            return Err(Error::new(Code::InvalidArgument, "range ends before it starts"));
        }
        cancel.check()?;
        let file = self.open_file(path, Intent::Read)?;
        let bytes = read_range(&file.fd, file.stat.size, options, cancel)?;
        Ok(Content { bytes, stat: file.stat })
    }

    /// The SHA-256 of a regular file and the facts it belongs to, in flat
    /// memory.
    ///
    /// # Errors
    /// Those of [`Roots::open_file`]; `CANCELLED`.
    pub fn hash(&self, path: &[u8], cancel: &CancelToken) -> Result<(String, Stat)> {
        let file = self.open_file(path, Intent::Read)?;
        Ok((hash_of(&file.fd, cancel)?, file.stat))
    }
}

/// The SHA-256 of an open file, from its beginning.
pub(crate) fn hash_of(fd: impl AsFd, cancel: &CancelToken) -> Result<String> {
    let mut hasher = Hasher::new();
    let mut block = Vec::with_capacity(BYTES_PER_READ / 4);
    let mut at = 0;
    loop {
        cancel.check()?;
        block.clear();
        if read_at(&fd, &mut block, at)? == 0 {
            return Ok(hasher.finish());
        }
        hasher.update(&block);
        at += block.len() as u64;
    }
}

fn too_large(size: u64, limit: u64) -> Error {
    Error::new(Code::TooLarge, format!("{size} bytes are more than the limit of {limit}"))
        .detail("size", size)
        .detail("limit", limit)
}

/// Reads a range of an open regular file whose size was `size` a moment ago.
fn read_range(
    fd: impl AsFd,
    size: u64,
    options: &ReadOptions,
    cancel: &CancelToken,
) -> Result<Vec<u8>> {
    let limit = options.max_bytes.unwrap_or(MAX_BYTES).min(MAX_BYTES);
    let end = options.end.unwrap_or(u64::MAX);
    let expected = end.min(size).saturating_sub(options.start);
    if expected > limit {
        return Err(too_large(expected, limit));
    }
    let unsized_file = size == 0;
    let capacity = if unsized_file { 16 * 1024 } else { expected };
    // Bounded by `limit`, which is at most MAX_BYTES.
    let mut bytes = Vec::with_capacity(capacity as usize);
    loop {
        let done = bytes.len() as u64;
        let wanted = if unsized_file { (end - options.start).min(limit + 1) } else { expected };
        if done >= wanted {
            break;
        }
        if bytes.len() == bytes.capacity() {
            bytes.reserve(bytes.len());
        }
        if read_at(&fd, &mut bytes, options.start + done)? == 0 {
            break;
        }
        if bytes.len() >= BYTES_PER_READ {
            cancel.check()?;
        }
    }
    if bytes.len() as u64 > limit {
        return Err(too_large(bytes.len() as u64, limit));
    }
    // A file without a size may give more than a range asks for.
    if unsized_file {
        bytes.truncate(usize::try_from(end - options.start).unwrap_or(usize::MAX));
    }
    Ok(bytes)
}

/// Appends one read, of at most a block and of what the vector has room for.
pub(crate) fn read_at(fd: impl AsFd, bytes: &mut Vec<u8>, offset: u64) -> Result<usize> {
    loop {
        match rustix::io::pread(&fd, spare_capacity(bytes), offset) {
            Ok(count) => return Ok(count),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(os(errno)),
        }
    }
}
