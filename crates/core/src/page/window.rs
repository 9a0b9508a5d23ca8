//! Reads the lines of a page within the limits of the request, and decodes them.
//!
//! First the window is measured in bytes. Nearly always it fits and is decoded as a whole.
//! Otherwise it is read again line by line with long lines truncated, keeping only the displayed
//! part of a line in memory.

use std::borrow::Cow;

use super::index::line_ends;
use super::request::PageRequest;
use super::source::{CHUNK_BYTES, Source, shift_state, take};
use super::{Facts, LongLine};
use crate::anchor::line_hash;
use crate::encoding::{Encoding, Unit};
use crate::error::Result;
use crate::text::{count_chars, cut_chars};

/// The maximum distance to search for the end of a line beyond its displayed part, in bytes. The
/// page ends inside a longer line, because reading a gigabyte would add no information.
const SKIPPED_BYTES: u64 = 2 << 20;
/// Up to this file size, all facts about the file are determined.
const MAX_FULLY_DESCRIBED_BYTES: u64 = 16 << 20;
/// The average line of a page is seldom longer. Bytes.
const USUAL_LINE_BYTES: u64 = 128;
/// The maximum number of long lines that are listed individually.
const MAX_LISTED_LONG_LINES: usize = 20;
/// The length of `... [truncated]`.
const TRUNCATION_MARK_BYTES: usize = 15;

/// The window of a page; the fields are those of [`super::Page`].
#[derive(Debug, Default)]
pub(super) struct Window {
    pub content: String,
    pub start_line: i64,
    pub lines_read: u64,
    pub start_byte: u64,
    pub truncated: bool,
    pub next_start_byte: Option<u64>,
    pub long_lines: u64,
    pub long: Vec<LongLine>,
    pub cut_lines: Vec<i64>,
    /// The hash of each line if anchors are requested; `None` for a line that is not held
    /// completely.
    pub hashes: Option<Vec<Option<u64>>>,
    /// The offset after the last line; `None` if its end was not searched for.
    pub end_byte: Option<u64>,
    pub lossy: bool,
}

impl Window {
    pub fn empty(start_byte: u64, start_line: i64) -> Self {
        Self { start_byte, start_line, ..Self::default() }
    }

    pub const fn end_line(&self) -> i64 {
        self.start_line.saturating_add_unsigned(self.lines_read).saturating_sub(1)
    }

    pub fn next_start_line(&self) -> Option<i64> {
        (self.truncated && self.next_start_byte.is_none()).then(|| self.end_line() + 1)
    }
}

/// Reads the window that begins at byte `offset`, in line `line`.
pub(super) fn read(
    source: &mut impl Source,
    facts: &Facts,
    request: &PageRequest,
    offset: u64,
    line: i64,
) -> Result<Window> {
    let encoding = facts.encoding;
    let shift = shift_state(source, encoding, offset)?;
    let builder = || Builder {
        encoding,
        request,
        cap: request.content_bytes.max(4),
        shift: shift.clone(),
        text_used: 0,
        window: Window { hashes: request.anchors.then(Vec::new), ..Window::empty(offset, line) },
    };
    if let Some(length) = measure(source, encoding.unit(), request, offset)? {
        let bytes = take(source, offset, length)?;
        let mut whole = builder();
        if whole.all(&bytes) {
            let mut window = whole.window;
            window.truncated |= offset + (bytes.len() as u64) < source.size();
            return Ok(window);
        }
    }
    let mut cut = builder();
    let end = cut.walk(source, offset)?;
    let mut window = cut.window;
    window.truncated |= end < source.size();
    Ok(window)
}

/// Returns the length of the requested lines in bytes, if they may fit `content`.
fn measure(
    source: &mut impl Source,
    unit: Unit,
    request: &PageRequest,
    offset: u64,
) -> Result<Option<u64>> {
    // Two bytes of UTF-16 may become one of UTF-8.
    let per_byte = if matches!(unit, Unit::Byte) { 1 } else { 2 };
    let cap = request.content_bytes.saturating_mul(per_byte) as u64;
    let wanted = request.max_lines.unwrap_or(u64::MAX);
    let (mut length, mut lines) = (0, 0);
    // A few lines do not need a whole chunk.
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
    /// The line was added; continue.
    In,
    /// The window ends with this line, before it, or inside it.
    End,
    /// `content` is full, and long lines are not truncated yet.
    Full,
}

/// A line as it is in the source.
struct RawLine<'a> {
    /// The offset in the file.
    at: u64,
    /// The line without its ending. Only the beginning if `whole` is false.
    bytes: &'a [u8],
    end: &'static str,
    whole: bool,
    /// The length in bytes without the ending; `None` if the end was not searched for.
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
    /// The offset after the line.
    behind: u64,
    end: &'static str,
    /// True if the end of the line was not found.
    given_up: bool,
}

struct Builder<'a> {
    encoding: Encoding,
    request: &'a PageRequest,
    cap: usize,
    shift: Vec<u8>,
    text_used: usize,
    window: Window,
}

impl Builder<'_> {
    /// Adds all lines of `bytes` completely. Returns false if they do not fit.
    fn all(&mut self, bytes: &[u8]) -> bool {
        let unit = self.encoding.unit();
        let start = self.window.start_byte;
        self.window.content.reserve(bytes.len());
        let mut from = 0;
        let ends = line_ends(bytes, unit).chain(std::iter::once(bytes.len()));
        for to in ends {
            if from == to {
                continue; // the last line has a line ending
            }
            let (line, end) = split_end(&bytes[from..to], unit);
            let raw = RawLine::whole(start + from as u64, line, end);
            match self.push(&raw, false) {
                PushResult::In => from = to,
                PushResult::End => return true,
                PushResult::Full => return false,
            }
        }
        true
    }

    /// Adds lines, truncating long ones. Returns the offset after the last line.
    fn walk(&mut self, source: &mut impl Source, offset: u64) -> Result<u64> {
        let unit = self.encoding.unit();
        let wanted = self.request.max_lines.unwrap_or(u64::MAX);
        let mut at = offset;
        while self.window.lines_read < wanted {
            let pushed;
            (at, pushed) = match line_length(source, unit, at)? {
                Length::None => return Ok(at),
                Length::Chunk(length) => {
                    let chunk = source.chunk(at, length)?;
                    let (line, end) = split_end(&chunk[..length.min(chunk.len())], unit);
                    let raw = RawLine::whole(at, line, end);
                    (at + length as u64, self.push(&raw, true))
                }
                Length::Beyond => {
                    let LongLineScan { prefix, behind, end, given_up } = self.skim(source, at)?;
                    let length = behind - at - (end.len() * unit.len()) as u64;
                    let raw = RawLine {
                        at,
                        bytes: &prefix,
                        end,
                        whole: length == prefix.len() as u64,
                        length: (!given_up).then_some(length),
                    };
                    let mut pushed = self.push(&raw, true);
                    if given_up && matches!(pushed, PushResult::In) {
                        // It is unknown where the next line begins, and whether there is one.
                        let shown =
                            self.encoding.prefix_len(&prefix, self.limit().min(self.held()));
                        self.window.next_start_byte = Some(at + shown as u64);
                        pushed = PushResult::End;
                    }
                    (behind, pushed)
                }
            };
            if !matches!(pushed, PushResult::In) {
                return Ok(at);
            }
        }
        Ok(at)
    }

    /// Reads the beginning of a line that is longer than a chunk, and searches for its end.
    fn skim(&self, source: &mut impl Source, at: u64) -> Result<LongLineScan> {
        let unit = self.encoding.unit();
        let bound = self.held() * self.encoding.max_char_len() + 16;
        // A page that starts inside a line ends where the line is truncated, so the end is not
        // needed.
        let skip = match self.request.start_byte {
            Some(_) => 0,
            None if source.size() <= MAX_FULLY_DESCRIBED_BYTES => MAX_FULLY_DESCRIBED_BYTES,
            None => SKIPPED_BYTES,
        };
        let mut prefix = Vec::new();
        let mut behind = at;
        loop {
            let chunk = source.chunk(behind, CHUNK_BYTES)?;
            let given_up = behind - at > skip + bound as u64;
            if chunk.is_empty() || given_up {
                return Ok(LongLineScan { prefix, behind, end: "", given_up });
            }
            let end = line_ends(chunk, unit).next();
            let piece = &chunk[..end.unwrap_or(chunk.len())];
            prefix.extend_from_slice(&piece[..piece.len().min(bound - prefix.len())]);
            behind += piece.len() as u64;
            if end.is_some() {
                let tail = source.chunk(behind.saturating_sub(4), 4)?;
                let (_, end) = split_end(&tail[..tail.len().min(4)], unit);
                let text = behind - at - (end.len() * unit.len()) as u64;
                prefix.truncate(usize::try_from(text).unwrap_or(usize::MAX));
                return Ok(LongLineScan { prefix, behind, end, given_up: false });
            }
        }
    }

    /// Returns the maximum number of code points shown of a line.
    fn limit(&self) -> usize {
        match self.request.max_line_chars {
            0 => usize::MAX,
            limit => limit,
        }
    }

    /// Returns the maximum number of code points held of a line that is longer than one chunk.
    fn held(&self) -> usize {
        self.limit().min(self.cap.max(1 << 20))
    }

    fn push(&mut self, raw: &RawLine<'_>, cut: bool) -> PushResult {
        let line = self.window.end_line() + 1;
        let limit = self.limit();
        let (text, lossy) = self.decode(raw);
        let shown = if text.len() > limit { cut_chars(&text, limit) } else { &text };
        let long = shown.len() < text.len() || (!raw.whole && limit <= self.held());
        let kept = if cut && long { shown } else { &text };
        let first = self.window.lines_read == 0;
        let overhead = self.request.overhead(line);
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
                let part = floor_boundary(kept, room).to_owned();
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
                let shown = self.encoding.prefix_len(raw.bytes, limit) as u64;
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
        PushResult::In
    }

    /// Ends the window inside a line, after `part` of it.
    fn end_inside(&mut self, raw: &RawLine<'_>, part: &str, long: bool, lossy: bool) {
        let taken = self.encoding.prefix_len(raw.bytes, count_chars(part)) as u64;
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

    /// Decodes a line and reports whether some bytes were invalid.
    fn decode<'r>(&self, raw: &RawLine<'r>) -> (Cow<'r, str>, bool) {
        let bytes = if raw.whole {
            raw.bytes
        } else {
            // Stops before a character that the end of the chunk cut.
            &raw.bytes[..self.encoding.prefix_len(raw.bytes, self.held())]
        };
        // Two escape sequences in a row would be an error.
        if self.shift.is_empty() || bytes.first() == self.shift.first() {
            let decoded = self.encoding.decode(bytes);
            return (decoded.text, decoded.lossy);
        }
        let shifted = [&self.shift, bytes].concat();
        let decoded = self.encoding.decode(&shifted);
        (Cow::Owned(decoded.text.into_owned()), decoded.lossy)
    }
}

/// The length of a line, including its ending.
enum Length {
    /// There is no line.
    None,
    /// The line lies in one chunk of the source.
    Chunk(usize),
    /// The line is longer than a chunk.
    Beyond,
}

fn line_length(source: &mut impl Source, unit: Unit, at: u64) -> Result<Length> {
    for want in [1, CHUNK_BYTES] {
        let chunk = source.chunk(at, want)?;
        let length = chunk.len();
        if length == 0 {
            return Ok(Length::None);
        }
        if let Some(end) = line_ends(chunk, unit).next() {
            return Ok(Length::Chunk(end));
        }
        if at + length as u64 >= source.size() {
            return Ok(Length::Chunk(length));
        }
    }
    Ok(Length::Beyond)
}

/// Splits off the line ending and names it.
pub(super) fn split_end(line: &[u8], unit: Unit) -> (&[u8], &'static str) {
    match unit {
        Unit::Byte => {
            let (text, end) = crate::text::split_end(line);
            (text, ["", "\n", "\r\n"][end.len()])
        }
        Unit::Two(endian) => {
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

/// Returns the longest prefix of at most `bytes` bytes that ends at a character boundary.
fn floor_boundary(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
