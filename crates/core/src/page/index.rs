//! A sparse index of line starts: the number of line endings below every multiple of 256 KiB.
//!
//! With one number per block (32 KB for a gigabyte), finding a line means searching one block. The
//! index covers as much of the file as was requested, and continues there when a file has grown.

use memchr::{memchr_iter, memrchr_iter};

use super::source::{CHUNK_BYTES, Source};
use crate::encoding::{Endian, LineFeedCode};
use crate::error::Result;
use crate::text::{self, Eol};

/// The number of bytes between two entries of the index.
const BYTES_PER_INDEX_ENTRY: u64 = CHUNK_BYTES as u64;

/// The line index of one version of a file.
#[derive(Clone, Debug)]
pub struct LineIndex {
    unit: LineFeedCode,
    /// The byte offset of the first line: the length of the byte order mark.
    origin: u64,
    /// Entry `k` is the number of line endings below byte `k * BYTES_PER_INDEX_ENTRY`.
    ends: Vec<u64>,
    /// The byte offset up to which line endings are counted.
    scanned: u64,
    /// The number of line endings below `scanned`.
    total_ends: u64,
    /// The number of CRLF among the line endings below `scanned`.
    crlf: u64,
    /// The byte offset of the line that contains the byte `scanned`.
    last_start: u64,
    /// True if the character before `scanned` is CR.
    after_cr: bool,
}

impl LineIndex {
    /// Creates an empty index for a file whose line feeds are encoded as `unit` and whose byte
    /// order mark has `origin` bytes.
    pub fn new(unit: LineFeedCode, origin: usize) -> Self {
        let origin = origin as u64;
        Self {
            unit,
            origin,
            ends: vec![0],
            scanned: 0,
            total_ends: 0,
            crlf: 0,
            last_start: origin,
            after_cr: false,
        }
    }

    /// Returns the number of bytes counted so far.
    pub const fn scanned(&self) -> u64 {
        self.scanned
    }

    /// Returns the memory use in bytes.
    pub fn memory(&self) -> usize {
        self.ends.capacity() * size_of::<u64>()
    }

    /// Returns true if the index was created with these arguments.
    pub fn fits(&self, unit: LineFeedCode, origin: usize) -> bool {
        self.unit == unit && self.origin == origin as u64
    }

    /// Returns the number of lines of a file of `size` bytes; `None` until all are counted.
    pub fn total(&self, size: u64) -> Option<u64> {
        (self.scanned == size).then_some(self.at_least())
    }

    /// Returns the number of lines that begin in the counted part.
    pub const fn at_least(&self) -> u64 {
        self.total_ends + if self.scanned > self.last_start { 1 } else { 0 }
    }

    /// Returns the kind of line endings of a file of `size` bytes; `None` until all are counted.
    pub fn eol(&self, size: u64) -> Option<Eol> {
        (self.scanned == size).then_some(Eol::of(self.total_ends - self.crlf, self.crlf))
    }

    /// Counts to the end of the source.
    ///
    /// # Errors
    /// Errors of the source.
    pub fn extend_to_end(&mut self, source: &mut impl Source) -> Result<()> {
        while self.count_next_block(source)? {}
        Ok(())
    }

    /// Returns the byte offset of a line (1-based), or `None` if there are fewer lines. Counts as
    /// far as necessary.
    ///
    /// # Errors
    /// Errors of the source.
    pub fn locate(&mut self, source: &mut impl Source, line: u64) -> Result<Option<u64>> {
        let before = line.saturating_sub(1);
        if before == 0 {
            return Ok((self.origin < source.size()).then_some(self.origin));
        }
        while self.total_ends < before {
            if !self.count_next_block(source)? {
                return Ok(None);
            }
        }
        // The index of the block that contains line ending number `before`.
        let block = self.ends.partition_point(|&ends| ends < before) - 1;
        let mut left = before - self.ends[block];
        let mut offset = block as u64 * BYTES_PER_INDEX_ENTRY;
        let unit = self.unit;
        loop {
            let chunk = source.chunk(offset, CHUNK_BYTES)?;
            if chunk.is_empty() {
                return Ok(None); // the file became shorter
            }
            let mut after = 0;
            for end in line_ends(chunk, unit) {
                after = end;
                left -= 1;
                if left == 0 {
                    break;
                }
            }
            if left == 0 {
                let start = offset + after as u64;
                return Ok((start < source.size()).then_some(start));
            }
            offset += chunk.len() as u64;
        }
    }

    /// Returns the number (1-based) of the line that contains the byte at `offset`, or of the last
    /// line for an offset beyond the end. Counts as far as necessary.
    ///
    /// # Errors
    /// Errors of the source.
    pub fn line_at(&mut self, source: &mut impl Source, offset: u64) -> Result<u64> {
        while self.scanned < offset {
            if !self.count_next_block(source)? {
                break;
            }
        }
        let target = offset.min(self.scanned);
        let block = ((target / BYTES_PER_INDEX_ENTRY) as usize).min(self.ends.len() - 1);
        let (mut at, mut ends) = (block as u64 * BYTES_PER_INDEX_ENTRY, self.ends[block]);
        while at < target {
            let chunk = source.chunk(at, CHUNK_BYTES.min((target - at) as usize))?;
            let chunk = &chunk[..chunk.len().min((target - at) as usize)];
            if chunk.is_empty() {
                break;
            }
            ends += count_line_ends(chunk, self.unit);
            at += chunk.len() as u64;
        }
        Ok(ends + 1)
    }

    /// Counts line endings up to the next entry or the end of the source. Returns false if all were
    /// counted before.
    fn count_next_block(&mut self, source: &mut impl Source) -> Result<bool> {
        let left = BYTES_PER_INDEX_ENTRY - self.scanned % BYTES_PER_INDEX_ENTRY;
        let from = self.scanned;
        let chunk = source.chunk(from, left as usize)?;
        let chunk = &chunk[..chunk.len().min(left as usize)];
        if chunk.is_empty() {
            return Ok(false);
        }
        let ends = count_line_ends(chunk, self.unit);
        self.crlf += match self.unit {
            LineFeedCode::Byte => {
                let split = self.after_cr && chunk[0] == b'\n';
                self.after_cr = chunk.last() == Some(&b'\r');
                text::count_crlf(chunk) + u64::from(split)
            }
            LineFeedCode::Two(endian) => {
                let mut crlf = 0;
                for unit in chunk.chunks_exact(2).map(|pair| endian.unit([pair[0], pair[1]])) {
                    crlf += u64::from(self.after_cr && unit == 0x0a);
                    self.after_cr = unit == 0x0d;
                }
                crlf
            }
        };
        if ends > 0 {
            let last = memrchr_iter(b'\n', chunk)
                .find_map(|at| offset_after_line_end(chunk, at, self.unit))
                .unwrap_or(0);
            self.last_start = from + last as u64;
        }
        self.total_ends += ends;
        self.scanned += chunk.len() as u64;
        if self.scanned.is_multiple_of(BYTES_PER_INDEX_ENTRY) {
            self.ends.push(self.total_ends);
        }
        Ok(true)
    }
}

/// Returns the offset after the line ending whose byte `0A` is at `at`, or `None` if that byte is
/// part of another character. A chunk of UTF-16 must begin at an even offset of the file.
fn offset_after_line_end(chunk: &[u8], at: usize, unit: LineFeedCode) -> Option<usize> {
    match unit {
        LineFeedCode::Byte => Some(at + 1),
        LineFeedCode::Two(Endian::Little) => {
            (at.is_multiple_of(2) && chunk.get(at + 1) == Some(&0)).then_some(at + 2)
        }
        LineFeedCode::Two(Endian::Big) => (at % 2 == 1 && chunk[at - 1] == 0).then_some(at + 1),
    }
}

/// Returns the offset after each line ending in a chunk.
pub(super) fn line_ends(chunk: &[u8], unit: LineFeedCode) -> impl Iterator<Item = usize> {
    memchr_iter(b'\n', chunk).filter_map(move |at| offset_after_line_end(chunk, at, unit))
}

fn count_line_ends(chunk: &[u8], unit: LineFeedCode) -> u64 {
    match unit {
        LineFeedCode::Byte => text::count_lf(chunk),
        LineFeedCode::Two(_) => line_ends(chunk, unit).count() as u64,
    }
}

/// Returns the byte offset of the last `lines` lines of a file and their number, which is lower if
/// the file has fewer. Searches from the end of the file.
///
/// # Errors
/// Errors of the source.
pub(super) fn locate_last_lines(
    source: &mut impl Source,
    unit: LineFeedCode,
    origin: u64,
    lines: u64,
) -> Result<(u64, u64)> {
    let back = source.chunk_bytes().min(64 * 1024) as u64;
    let size = source.size() & if matches!(unit, LineFeedCode::Byte) { u64::MAX } else { !1 };
    let mut upper = size;
    let mut found = 0;
    while upper > origin {
        let lower = (upper.saturating_sub(back) & !1).max(origin & !1);
        let length = (upper - lower) as usize;
        let chunk = source.chunk(lower, length)?;
        let chunk = &chunk[..chunk.len().min(length)];
        for end in
            memrchr_iter(b'\n', chunk).filter_map(|at| offset_after_line_end(chunk, at, unit))
        {
            let start = lower + end as u64;
            // No line begins after a line ending at the end of the file.
            if start < size {
                found += 1;
                if found == lines {
                    return Ok((start, found));
                }
            }
        }
        upper = lower;
    }
    Ok((origin, found + u64::from(size > origin)))
}

/// Returns a line without its line ending, and the line ending in UTF-8 (LF, CRLF or empty).
pub(super) fn split_line_ending(line: &[u8], unit: LineFeedCode) -> (&[u8], &'static str) {
    match unit {
        LineFeedCode::Byte => {
            let (text, end) = crate::text::split_line_ending(line);
            (text, ["", "\n", "\r\n"][end.len()])
        }
        LineFeedCode::Two(endian) => {
            let is = |from_end: usize, unit: u16| {
                let at = line.len().checked_sub(from_end);
                at.and_then(|at| line.get(at..at + 2)) == Some(&endian.bytes(unit)[..])
            };
            match (is(2, 0x0a), is(4, 0x0d)) {
                (true, true) => (&line[..line.len() - 4], "\r\n"),
                (true, false) => (&line[..line.len() - 2], "\n"),
                (false, _) => (line, ""),
            }
        }
    }
}
