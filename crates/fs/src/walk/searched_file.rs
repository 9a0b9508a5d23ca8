//! Reads a file for a search, and no more of it than the search needs.
//!
//! A large file that is binary by its first bytes is not read further: a search finds nothing in
//! the addons, archives and fonts of many megabytes that a tree holds.
//!
//! A large text is looked at in windows, in one small buffer. Only if a window may
//! have a match is the whole text read into memory, from its beginning, and searched there. So a
//! text without a match, which nearly every file of a tree is, stays in the cache of the processor
//! and needs no new memory, while every hit, its line number and the lines around it come from one
//! text. A file that changes between the two reads is found as the second read it.

use std::os::fd::{AsFd, BorrowedFd};

use filewright_core::search::{BINARY_CHECK_BYTES, first_line_offset, is_binary_head};
use rustix::fs::SeekFrom;
use rustix::io::Errno;

use super::open::{open_regular, read_open, read_rest, size_of};
use super::{FileEntry, ReadOutcome, StopSignal};
use crate::dir::stat::Stat;

/// The size in bytes of the buffer in which a large text is looked at: about the size of the cache
/// of a processor that no other one shares, with room for the text of the program beside it.
const WINDOW_BYTES: usize = 128 << 10;

/// A regular file that is open for a search.
pub struct SearchedFile<'f> {
    /// The descriptor, of which nothing has been read.
    pub fd: BorrowedFd<'f>,
    /// The last known size in bytes.
    pub size: u64,
    /// The maximum size in bytes of a file that is searched.
    pub max_bytes: u64,
}

/// The conditions under which a search needs a file.
pub struct ReadConditions<'c> {
    /// The maximum size in bytes of a file that is searched.
    pub max_bytes: u64,
    /// Reports whether the rules hide another name of a file with several names. Called for texts
    /// alone: in a binary or too large file nothing is found, whatever its names are.
    pub hides: &'c dyn Fn(&Stat) -> bool,
    /// Looks for a match: [`Query::length_without_match`](filewright_core::search::Query::length_without_match).
    pub look: Look<'c>,
}

/// Looks for a sign of a match in a text read so far, which is the end of the text if the flag is
/// true. Returns the number of bytes without one, or `None` if there may be one.
type Look<'l> = &'l dyn Fn(&[u8], bool) -> Option<usize>;

/// The part of a file that [`SearchedFile::read_head`] has read.
enum Head {
    /// The whole file.
    Whole,
    /// The first [`BINARY_CHECK_BYTES`] of a larger text.
    Begun,
}

/// Replaces the content of `buffer` by that of a file of a walk, if the search needs it.
pub fn read_visible(
    file: &FileEntry<'_>,
    conditions: &ReadConditions<'_>,
    buffer: &mut Vec<u8>,
) -> rustix::io::Result<ReadOutcome> {
    let Some((fd, stat)) = open_regular(file.dir, file.name, file.stop)? else {
        return Ok(ReadOutcome::Special);
    };
    let max_bytes = conditions.max_bytes;
    let searched = SearchedFile { fd: fd.as_fd(), size: size_of(&stat), max_bytes };
    let head = match searched.read_head(buffer)? {
        Ok(head) => head,
        Err(outcome) => return Ok(outcome),
    };
    if stat.st_nlink > 1 && !is_binary_head(buffer) && (conditions.hides)(&Stat::from_raw(&stat)) {
        return Ok(ReadOutcome::Hidden);
    }
    match head {
        Head::Whole => Ok(ReadOutcome::Read),
        Head::Begun => searched.read_windows(conditions.look, file.stop, buffer),
    }
}

impl SearchedFile<'_> {
    /// Replaces the content of `buffer` by that of the file, unless it is binary by its first bytes.
    pub fn read(&self, buffer: &mut Vec<u8>) -> rustix::io::Result<ReadOutcome> {
        match self.read_head(buffer)? {
            Ok(Head::Whole) => Ok(ReadOutcome::Read),
            Ok(Head::Begun) => read_rest(self.fd, self.size, self.max_bytes, buffer),
            Err(outcome) => Ok(outcome),
        }
    }

    /// Does the same as [`SearchedFile::read`], but returns [`ReadOutcome::NoMatch`] for a large
    /// file without a line that may match.
    pub fn read_matching(
        &self,
        look: Look<'_>,
        stop: &StopSignal<'_>,
        buffer: &mut Vec<u8>,
    ) -> rustix::io::Result<ReadOutcome> {
        match self.read_head(buffer)? {
            Ok(Head::Whole) => Ok(ReadOutcome::Read),
            Ok(Head::Begun) => self.read_windows(look, stop, buffer),
            Err(outcome) => Ok(outcome),
        }
    }

    /// Replaces the content of `buffer` by the first bytes of the file. Returns the outcome if the
    /// file is not searched.
    fn read_head(&self, buffer: &mut Vec<u8>) -> rustix::io::Result<Result<Head, ReadOutcome>> {
        if self.size <= BINARY_CHECK_BYTES as u64 || self.size > self.max_bytes {
            return Ok(match read_open(self.fd, self.size, self.max_bytes, buffer)? {
                ReadOutcome::Read => Ok(Head::Whole),
                outcome => Err(outcome),
            });
        }
        // Not cleared first: only memory that the buffer did not hold is zeroed.
        buffer.resize(BINARY_CHECK_BYTES, 0);
        let filled = fill(self.fd, buffer, 0)?;
        buffer.truncate(filled);
        Ok(if is_binary_head(buffer) { Err(ReadOutcome::Binary) } else { Ok(Head::Begun) })
    }

    /// Looks for a line that may match, in windows. `buffer` holds the first bytes of the file;
    /// after [`ReadOutcome::Read`] it holds the whole file.
    fn read_windows(
        &self,
        look: Look<'_>,
        stop: &StopSignal<'_>,
        buffer: &mut Vec<u8>,
    ) -> rustix::io::Result<ReadOutcome> {
        let Some(mut begin) = first_line_offset(buffer) else {
            return self.read_whole(0, buffer);
        };
        let mut filled = buffer.len();
        buffer.resize(WINDOW_BYTES, 0);
        // The offset in the file of the first byte in the buffer.
        let mut passed = 0;
        loop {
            filled = fill(self.fd, buffer, filled)?;
            let is_end = filled < buffer.len();
            let Some(length) = look(&buffer[begin..filled], is_end) else {
                buffer.truncate(filled);
                return self.read_whole(passed, buffer);
            };
            let end = begin + length;
            passed += end as u64;
            if passed > self.max_bytes {
                return Ok(ReadOutcome::TooLarge);
            }
            if is_end {
                return Ok(ReadOutcome::NoMatch);
            }
            if stop.now() {
                return Ok(ReadOutcome::Interrupted);
            }
            buffer.copy_within(end..filled, 0);
            filled -= end;
            begin = 0;
        }
    }

    /// Reads the whole file, of which `buffer` holds a part that begins at the offset `passed`.
    fn read_whole(&self, passed: u64, buffer: &mut Vec<u8>) -> rustix::io::Result<ReadOutcome> {
        if passed > 0 {
            rustix::fs::seek(self.fd, SeekFrom::Start(0))?;
            buffer.clear();
        }
        read_rest(self.fd, self.size, self.max_bytes, buffer)
    }
}

/// Reads into `buffer` from the offset `filled` on until it is full or the file ends. Returns the
/// end of what was read.
fn fill(fd: BorrowedFd<'_>, buffer: &mut [u8], mut filled: usize) -> rustix::io::Result<usize> {
    while filled < buffer.len() {
        match rustix::io::read(fd, &mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(filled)
}
