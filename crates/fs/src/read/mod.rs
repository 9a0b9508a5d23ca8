//! Reads whole files and ranges: one open, one allocation, one read.
//!
//! The caller's limit bounds memory. It is checked against the size first and against the bytes
//! actually read afterwards, because a size can be wrong: a file in procfs reports 0, and another
//! program may be appending.

pub mod page;
pub mod path_stat;

use std::os::fd::AsFd;

use filewright_core::hash::Hasher;
use filewright_core::pattern::policy::{Intent, SECRET_HEAD_BYTES};
use filewright_core::{Code, Error, Result};
use rustix::buffer::spare_capacity;
use rustix::io::Errno;

use crate::cancel::CancelToken;
use crate::dir::errno::os_error;
use crate::dir::stat::{Stat, Version};
use crate::root::{OpenFile, Roots};

/// The maximum number of bytes that one call reads into memory, whatever limit the caller sets.
/// More is refused with `TOO_LARGE`.
pub const MAX_READ_BYTES: u64 = 2 << 30;

/// The maximum number of bytes of removed files that a record gets by its own job.
pub(crate) const MAX_RECORDED_BYTES: u64 = 64 << 20;

/// The number of bytes read between two checks of the cancel token.
pub(crate) const BYTES_PER_READ: usize = 1 << 20;

/// The range of a file to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// The first byte.
    pub start: u64,
    /// The byte after the last; `None` means the end of the file.
    pub end: Option<u64>,
    /// The maximum number of bytes to return. If the range has more, the call fails with
    /// `TOO_LARGE`.
    pub max_bytes: Option<u64>,
}

/// Bytes read from a file, with its metadata.
#[derive(Debug)]
pub struct Content {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The metadata, taken before the bytes were read, so that a change during the read shows as
    /// another version later.
    pub stat: Stat,
}

/// The content of a file, or only the metadata if the caller knows the content.
#[derive(Debug)]
pub struct ReadContent {
    /// The bytes; `None` if the file still has the version that the caller knows.
    pub bytes: Option<Vec<u8>>,
    /// The metadata.
    pub stat: Stat,
}

/// The real path of a file, and its content.
#[derive(Debug)]
pub struct LocatedContent {
    /// The result of [`Roots::realpath`].
    pub real: Result<Vec<u8>>,
    /// The result of [`Roots::read`].
    pub content: Result<Content>,
}

impl Roots {
    /// Does the same as [`Roots::realpath`] and [`Roots::read`], and resolves the path once if it
    /// leads to a file.
    pub fn read_located(
        &self,
        path: &[u8],
        options: &ReadOptions,
        cancel: &CancelToken,
    ) -> LocatedContent {
        match cancel.check().and_then(|()| self.open_file_to_check(path, Intent::Read)) {
            Ok(file) => {
                let content = self.read_checked(&file, options, cancel);
                LocatedContent { real: Ok(file.real), content }
            }
            Err(error) => LocatedContent { real: self.realpath(path), content: Err(error) },
        }
    }

    /// Like [`Roots::read`], but without the bytes if the file still has the version `known`. A
    /// text that is no version equals none.
    ///
    /// # Errors
    /// Like [`Roots::read`].
    pub fn read_if_changed(
        &self,
        path: &[u8],
        known: Option<&str>,
        options: &ReadOptions,
        cancel: &CancelToken,
    ) -> Result<ReadContent> {
        if let Some(Ok(version)) = known.map(Version::parse)
            && let Ok(found) = self.stat(path)
            && version.same_facts(&found.stat)
        {
            return Ok(ReadContent { bytes: None, stat: found.stat });
        }
        let Content { bytes, stat } = self.read(path, options, cancel)?;
        Ok(ReadContent { bytes: Some(bytes), stat })
    }

    /// Reads a regular file, or a range of it up to its end; follows links.
    ///
    /// # Errors
    /// Errors of [`Roots::open_file`]; `TOO_LARGE` with `details.size` and `details.limit`;
    /// `INVALID_ARGUMENT` for a range that ends before it starts; `CANCELLED`.
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
        let file = self.open_file_to_check(path, Intent::Read)?;
        self.read_checked(&file, options, cancel)
    }

    /// Reads a range of an open file, unless the file contains a private key. The bytes that are read
    /// show that where they include the first ones.
    fn read_checked(
        &self,
        file: &OpenFile,
        options: &ReadOptions,
        cancel: &CancelToken,
    ) -> Result<Content> {
        let read = read_range(&file.fd, file.stat.size, options, cancel);
        let has_head = |bytes: &Vec<u8>| {
            let length = bytes.len() as u64;
            options.start == 0
                && length > 0
                && length >= file.stat.size.min(SECRET_HEAD_BYTES as u64)
        };
        match read.as_ref().ok().filter(|bytes| has_head(bytes)) {
            Some(bytes) => self.check_head(bytes, &file.real)?,
            None => self.check_content(&file.fd, &file.real)?,
        }
        Ok(Content { bytes: read?, stat: file.stat })
    }

    /// Returns the SHA-256 of a regular file and its metadata, in constant memory.
    ///
    /// # Errors
    /// Errors of [`Roots::open_file`]; `CANCELLED`.
    pub fn hash(&self, path: &[u8], cancel: &CancelToken) -> Result<(String, Stat)> {
        let file = self.open_file(path, Intent::Read)?;
        Ok((hash_of_content(&file.fd, cancel)?, file.stat))
    }
}

/// Reads the content of an open file for the record of its removal.
///
/// # Errors
/// `TOO_LARGE` for one of more than [`MAX_RECORDED_BYTES`]; `CANCELLED`.
pub(crate) fn read_for_record(fd: impl AsFd, stat: &Stat, cancel: &CancelToken) -> Result<Vec<u8>> {
    let options = ReadOptions { max_bytes: Some(MAX_RECORDED_BYTES), ..ReadOptions::default() };
    read_range(fd, stat.size, &options, cancel)
}

/// Returns the SHA-256 of the content of an open file as `sha256:` and 64 digits.
pub(crate) fn hash_of_content(fd: impl AsFd, cancel: &CancelToken) -> Result<String> {
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

fn too_large_error(size: u64, limit: u64) -> Error {
    Error::new(Code::TooLarge, format!("{size} bytes are more than the limit of {limit}"))
        .detail("size", size)
        .detail("limit", limit)
}

/// Reads a range of an open regular file, whose size was `size` bytes when it was opened.
fn read_range(
    fd: impl AsFd,
    size: u64,
    options: &ReadOptions,
    cancel: &CancelToken,
) -> Result<Vec<u8>> {
    let limit = options.max_bytes.unwrap_or(MAX_READ_BYTES).min(MAX_READ_BYTES);
    let end = options.end.unwrap_or(u64::MAX);
    let expected = end.min(size).saturating_sub(options.start);
    if expected > limit {
        return Err(too_large_error(expected, limit));
    }
    let unsized_file = size == 0;
    let capacity = if unsized_file { 16 * 1024 } else { expected };
    // The capacity is at most `limit`, which is at most [`MAX_READ_BYTES`].
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
        return Err(too_large_error(bytes.len() as u64, limit));
    }
    // A file that reports size 0 may have returned more than the range.
    if unsized_file {
        bytes.truncate(usize::try_from(end - options.start).unwrap_or(usize::MAX));
    }
    Ok(bytes)
}

/// Reads once from the offset `offset` of a file and appends the bytes to `bytes`, up to the
/// capacity of the vector. Returns the number of bytes; 0 means the end of the file.
pub(crate) fn read_at(fd: impl AsFd, bytes: &mut Vec<u8>, offset: u64) -> Result<usize> {
    loop {
        match rustix::io::pread(&fd, spare_capacity(bytes), offset) {
            Ok(count) => return Ok(count),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(os_error(errno)),
        }
    }
}
