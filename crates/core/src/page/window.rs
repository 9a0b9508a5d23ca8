//! Reads the lines of a page within the limits of the request, and decodes them.
//!
//! First the requested lines are measured in bytes. Nearly always they fit and are decoded as a
//! whole. Otherwise they are read again line by line with long lines cut, and only the displayed
//! part of a line is kept in memory.

use std::borrow::Cow;

use super::index::{line_ends, split_line_ending};
use super::request::PageRequest;
use super::source::{CHUNK_BYTES, Source, escape_sequence_at, read_range};
use super::{KindAndEncoding, LongLine};
use crate::anchor::line_hash;
use crate::encoding::{Encoding, LineFeedCode};
use crate::error::Result;
use crate::text::{count_chars, prefix_of_chars};

/// The maximum number of bytes after the displayed part of a line that are searched for its end.
/// The page ends inside a longer line.
const MAX_SKIPPED_BYTES: u64 = 2 << 20;
/// The maximum size in bytes of a file in which the end of every line is searched for.
const MAX_FULLY_SCANNED_BYTES: u64 = 16 << 20;
/// The length in bytes that the average line of a page seldom exceeds.
const USUAL_LINE_BYTES: u64 = 128;
/// The maximum number of long lines that are listed; further ones are only counted.
const MAX_LISTED_LONG_LINES: usize = 20;
/// The length of the truncation mark `... [truncated]` in bytes.
const TRUNCATION_MARK_BYTES: usize = 15;

/// The lines of a page as they were read; fields without a comment are those of [`super::Page`].
#[derive(Debug, Default)]
pub(super) struct PageLines {
    pub content: String,
    pub start_line: i64,
    pub lines_read: u64,
    pub start_byte: u64,
    pub truncated: bool,
    pub next_start_byte: Option<u64>,
    pub long_lines: u64,
    pub long: Vec<LongLine>,
    pub cut_lines: Vec<i64>,
    /// The hash of each line if anchors are requested; `None` for a line that was not read
    /// completely.
    pub hashes: Option<Vec<Option<u64>>>,
    /// The byte offset after the last line; `None` if its end was not searched for.
    pub end_byte: Option<u64>,
    pub lossy: bool,
}

impl PageLines {
    /// Returns a window without lines.
    pub fn empty(start_byte: u64, start_line: i64) -> Self {
        Self { start_byte, start_line, ..Self::default() }
    }

    /// Returns the number of the last line; one less than `start_line` for an empty window.
    pub const fn end_line(&self) -> i64 {
        self.start_line.saturating_add_unsigned(self.lines_read).saturating_sub(1)
    }

    /// Returns the number of the line with which the next page begins; `None` if this one ends the
    /// file or ends inside a line.
    pub fn next_start_line(&self) -> Option<i64> {
        (self.truncated && self.next_start_byte.is_none()).then(|| self.end_line() + 1)
    }
}

/// Reads the lines of a page that begins at byte `offset` in line `line`.
pub(super) fn read_page_lines(
    source: &mut impl Source,
    facts: &KindAndEncoding,
    request: &PageRequest,
    offset: u64,
    line: i64,
) -> Result<PageLines> {
    let encoding = facts.encoding;
    let shift = escape_sequence_at(source, encoding, offset)?;
    let builder = || PageLinesBuilder {
        encoding,
        request,
        cap: request.content_bytes.max(4),
        shift: shift.clone(),
        text_used: 0,
        window: PageLines {
            hashes: request.anchors.then(Vec::new),
            ..PageLines::empty(offset, line)
        },
    };
    if let Some(length) = byte_length_of_requested_lines(source, encoding.unit(), request, offset)?
    {
        let bytes = read_range(source, offset, length)?;
        let mut whole = builder();
        if whole.push_all(&bytes) {
            let mut window = whole.window;
            window.truncated |= offset + (bytes.len() as u64) < source.size();
            return Ok(window);
        }
    }
    let mut cut = builder();
    let end = cut.push_cut(source, offset)?;
    let mut window = cut.window;
    window.truncated |= end < source.size();
    Ok(window)
}

/// Returns the length of the requested lines in bytes, or `None` if they cannot fit
/// `content_bytes`.
fn byte_length_of_requested_lines(
    source: &mut impl Source,
    unit: LineFeedCode,
    request: &PageRequest,
    offset: u64,
) -> Result<Option<u64>> {
    // Two bytes of UTF-16 may become one of UTF-8, so that twice as many may fit.
    let per_byte = if matches!(unit, LineFeedCode::Byte) { 1 } else { 2 };
    let cap = request.content_bytes.saturating_mul(per_byte) as u64;
    let wanted = request.max_lines.unwrap_or(u64::MAX);
    let (mut length, mut lines) = (0, 0);
    // For a few lines, less than a whole chunk is read first.
    let mut want = usize::try_from(wanted.saturating_mul(USUAL_LINE_BYTES))
        .unwrap_or(CHUNK_BYTES)
        .min(CHUNK_BYTES);
    loop {
        let chunk = source.chunk(offset + length, want)?;
        want = CHUNK_BYTES;
        if chunk.is_empty() {
            return Ok(Some(length));
        }
        let room = usize::try_from(cap - length).unwrap_or(usize::MAX);
        let fits = chunk.len() <= room;
        let chunk = &chunk[..chunk.len().min(room)];
        for end in line_ends(chunk, unit) {
            lines += 1;
            if lines == wanted {
                return Ok(Some(length + end as u64));
            }
        }
        if !fits {
            return Ok(None);
        }
        length += chunk.len() as u64;
    }
}

/// The result of adding a line to the window.
enum PushResult {
    /// The line was added, and the next one may follow.
    Added,
    /// The page ends with this line, before it, or inside it.
    End,
    /// `content` is full, and long lines are not truncated yet.
    Full,
}

/// A line in the encoding of the file.
struct RawLine<'a> {
    /// The byte offset of the line in the file.
    at: u64,
    /// The line without its line ending; only its beginning if `whole` is false.
    bytes: &'a [u8],
    end: &'static str,
    whole: bool,
    /// The length of the line in bytes without its line ending; `None` if its end was not searched
    /// for.
    length: Option<u64>,
}

impl<'a> RawLine<'a> {
    fn whole(at: u64, bytes: &'a [u8], end: &'static str) -> Self {
        Self { at, bytes, end, whole: true, length: Some(bytes.len() as u64) }
    }
}

/// The beginning of a line that is longer than one chunk.
struct LongLineScan {
    prefix: Vec<u8>,
    /// The byte offset after the line, or as far as it was searched.
    line_end: u64,
    end: &'static str,
    /// True if the search was given up before the end of the line.
    given_up: bool,
}

/// Adds lines to a window until a limit of the request is reached.
struct PageLinesBuilder<'a> {
    encoding: Encoding,
    request: &'a PageRequest,
    cap: usize,
    shift: Vec<u8>,
    text_used: usize,
    window: PageLines,
}

impl PageLinesBuilder<'_> {
    /// Adds all lines of `bytes` without cutting any. Returns false if they do not fit.
    fn push_all(&mut self, bytes: &[u8]) -> bool {
        let unit = self.encoding.unit();
        let start = self.window.start_byte;
        self.window.content.reserve(bytes.len());
        let mut from = 0;
        let ends = line_ends(bytes, unit).chain(std::iter::once(bytes.len()));
        for to in ends {
            if from == to {
                continue; // the last line has a line ending
            }
            let (line, end) = split_line_ending(&bytes[from..to], unit);
            let raw = RawLine::whole(start + from as u64, line, end);
            match self.push_line(&raw, false) {
                PushResult::Added => from = to,
                PushResult::End => return true,
                PushResult::Full => return false,
            }
        }
        true
    }

    /// Adds lines from `offset` on, cutting long ones. Returns the byte offset after the last line.
    fn push_cut(&mut self, source: &mut impl Source, offset: u64) -> Result<u64> {
        let unit = self.encoding.unit();
        let wanted = self.request.max_lines.unwrap_or(u64::MAX);
        let mut at = offset;
        while self.window.lines_read < wanted {
            let pushed;
            (at, pushed) = match line_length(source, unit, at)? {
                LineLength::None => return Ok(at),
                LineLength::Chunk(length) => {
                    let chunk = source.chunk(at, length)?;
                    let (line, end) = split_line_ending(&chunk[..length.min(chunk.len())], unit);
                    let raw = RawLine::whole(at, line, end);
                    (at + length as u64, self.push_line(&raw, true))
                }
                LineLength::Beyond => {
                    let LongLineScan { prefix, line_end, end, given_up } =
                        self.scan_long_line(source, at)?;
                    let length = line_end - at - (end.len() * unit.len()) as u64;
                    let raw = RawLine {
                        at,
                        bytes: &prefix,
                        end,
                        whole: length == prefix.len() as u64,
                        length: (!given_up).then_some(length),
                    };
                    let mut pushed = self.push_line(&raw, true);
                    if given_up && matches!(pushed, PushResult::Added) {
                        // Where the next line begins, and whether there is one, is unknown, so the
                        // page ends here.
                        let shown = self.encoding.first_chars_len(
                            &prefix,
                            self.max_shown_chars().min(self.max_held_chars()),
                        );
                        self.window.next_start_byte = Some(at + shown as u64);
                        pushed = PushResult::End;
                    }
                    (line_end, pushed)
                }
            };
            if !matches!(pushed, PushResult::Added) {
                return Ok(at);
            }
        }
        Ok(at)
    }

    /// Reads the beginning of a line that is longer than a chunk, as far as it may be displayed,
    /// and searches for its end.
    fn scan_long_line(&self, source: &mut impl Source, at: u64) -> Result<LongLineScan> {
        let unit = self.encoding.unit();
        let bound = self.max_held_chars() * self.encoding.max_char_len() + 16;
        // A page that starts inside a line ends where the line is truncated, so the end is not
        // needed.
        let skip = match self.request.start_byte {
            Some(_) => 0,
            None if source.size() <= MAX_FULLY_SCANNED_BYTES => MAX_FULLY_SCANNED_BYTES,
            None => MAX_SKIPPED_BYTES,
        };
        let mut prefix = Vec::new();
        let mut line_end = at;
        loop {
            let chunk = source.chunk(line_end, CHUNK_BYTES)?;
            let given_up = line_end - at > skip + bound as u64;
            if chunk.is_empty() || given_up {
                return Ok(LongLineScan { prefix, line_end, end: "", given_up });
            }
            let end = line_ends(chunk, unit).next();
            let piece = &chunk[..end.unwrap_or(chunk.len())];
            prefix.extend_from_slice(&piece[..piece.len().min(bound - prefix.len())]);
            line_end += piece.len() as u64;
            if end.is_some() {
                let tail = source.chunk(line_end.saturating_sub(4), 4)?;
                let (_, end) = split_line_ending(&tail[..tail.len().min(4)], unit);
                let text = line_end - at - (end.len() * unit.len()) as u64;
                prefix.truncate(usize::try_from(text).unwrap_or(usize::MAX));
                return Ok(LongLineScan { prefix, line_end, end, given_up: false });
            }
        }
    }

    /// Returns the maximum number of code points of a line that are displayed.
    fn max_shown_chars(&self) -> usize {
        match self.request.max_line_chars {
            0 => usize::MAX,
            limit => limit,
        }
    }

    /// Returns the maximum number of code points of a line longer than a chunk that are kept in
    /// memory.
    fn max_held_chars(&self) -> usize {
        self.max_shown_chars().min(self.cap.max(1 << 20))
    }

    /// Adds one line if it fits; with `cut`, a long line is cut.
    fn push_line(&mut self, raw: &RawLine<'_>, cut: bool) -> PushResult {
        let line = self.window.end_line() + 1;
        let limit = self.max_shown_chars();
        let (text, lossy) = self.decode(raw);
        let shown = if text.len() > limit { prefix_of_chars(&text, limit) } else { &text };
        let long = shown.len() < text.len() || (!raw.whole && limit <= self.max_held_chars());
        let kept = if cut && long { shown } else { &text };
        let first = self.window.lines_read == 0;
        let overhead = self.request.line_overhead_bytes(line);
        let text_room = self.request.text_bytes.saturating_sub(self.text_used);
        let text_cost = overhead + shown.len() + if long { TRUNCATION_MARK_BYTES } else { 0 };
        let room = self.cap.saturating_sub(self.window.content.len());
        let full = kept.len() + raw.end.len() > room;
        if full && !cut {
            return PushResult::Full;
        }
        if full || text_cost > text_room {
            if first {
                let room =
                    room.min(text_room.saturating_sub(overhead + TRUNCATION_MARK_BYTES)).max(4);
                let part = prefix_of_whole_chars(kept, room).to_owned();
                self.end_inside(raw, &part, long, lossy);
            }
            self.window.truncated = true;
            return PushResult::End;
        }
        if long && self.request.start_byte.is_some() {
            let part = shown.to_owned();
            self.end_inside(raw, &part, long, lossy);
            return PushResult::End;
        }
        if long {
            self.window.long_lines += 1;
            if self.window.long.len() < MAX_LISTED_LONG_LINES {
                let shown = self.encoding.first_chars_len(raw.bytes, limit) as u64;
                self.window.long.push(LongLine {
                    line,
                    rest_byte: raw.at + shown,
                    rest_bytes: raw.length.map(|length| length - shown),
                });
            }
            if cut {
                self.window.cut_lines.push(line);
            }
        }
        if let Some(hashes) = &mut self.window.hashes {
            hashes.push(raw.whole.then(|| line_hash(text.as_bytes())));
        }
        let unit = self.encoding.unit().len() as u64;
        self.window.end_byte =
            raw.length.map(|length| raw.at + length + raw.end.len() as u64 * unit);
        self.window.content.push_str(kept);
        self.window.content.push_str(raw.end);
        self.window.lossy |= lossy;
        self.window.lines_read += 1;
        self.text_used += text_cost;
        if self.encoding.is_stateful() {
            let shift = self.encoding.shift_state(raw.bytes);
            if !shift.is_empty() {
                self.shift = shift.to_vec();
            }
        }
        PushResult::Added
    }

    /// Adds `part`, the beginning of a line, and ends the window after it.
    fn end_inside(&mut self, raw: &RawLine<'_>, part: &str, long: bool, lossy: bool) {
        let taken = self.encoding.first_chars_len(raw.bytes, count_chars(part)) as u64;
        self.window.next_start_byte = Some(raw.at + taken);
        self.window.truncated = true;
        self.window.lines_read += 1;
        self.window.long_lines += u64::from(long);
        self.window.lossy |= lossy;
        self.window.content.push_str(part);
        self.window.end_byte = None;
        if let Some(hashes) = &mut self.window.hashes {
            hashes.push(None);
        }
    }

    /// Returns the text of a line, and whether some of its bytes were invalid.
    fn decode<'r>(&self, raw: &RawLine<'r>) -> (Cow<'r, str>, bool) {
        let bytes = if raw.whole {
            raw.bytes
        } else {
            // Leaves out a character that the end of the prefix cut off.
            &raw.bytes[..self.encoding.first_chars_len(raw.bytes, self.max_held_chars())]
        };
        // A line that begins with its own escape sequence needs none before it; two in a row would
        // be an error.
        if self.shift.is_empty() || bytes.first() == self.shift.first() {
            let decoded = self.encoding.decode(bytes);
            return (decoded.text, decoded.lossy);
        }
        let shifted = [&self.shift, bytes].concat();
        let decoded = self.encoding.decode(&shifted);
        (Cow::Owned(decoded.text.into_owned()), decoded.lossy)
    }
}

/// The length of a line in bytes, with its line ending.
enum LineLength {
    /// The source ends before the line.
    None,
    /// The length of a line that lies in one chunk of the source.
    Chunk(usize),
    /// The line is longer than a chunk.
    Beyond,
}

/// Returns the length of the line that begins at byte `at`.
fn line_length(source: &mut impl Source, unit: LineFeedCode, at: u64) -> Result<LineLength> {
    for want in [1, CHUNK_BYTES] {
        let chunk = source.chunk(at, want)?;
        let length = chunk.len();
        if length == 0 {
            return Ok(LineLength::None);
        }
        if let Some(end) = line_ends(chunk, unit).next() {
            return Ok(LineLength::Chunk(end));
        }
        if at + length as u64 >= source.size() {
            return Ok(LineLength::Chunk(length));
        }
    }
    Ok(LineLength::Beyond)
}

/// Returns the longest prefix of at most `bytes` bytes that does not cut a character.
fn prefix_of_whole_chars(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
