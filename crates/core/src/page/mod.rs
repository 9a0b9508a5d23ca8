//! Reads pages: ranges of lines of a file, without loading the whole file.
//!
//! A page is read from a [`Source`]: bytes in memory, or a file that is read in chunks. Both use
//! the same code, so that a page does not depend on where the bytes are. Lines are found by a
//! sparse [`LineIndex`], which the caller may keep between pages. The window is read line by line,
//! and a line of a gigabyte is skipped without loading it.
//!
//! The facts about the whole file (`total_lines`, `eol`, `hash`) are `None` until the whole file
//! was read, so that the first page of a big file never waits. A page deep in a file has already
//! counted many lines, and counts the rest too.

mod anchors;
mod index;
mod line_hashes;
mod request;
mod source;
mod window;

pub use index::LineIndex;
pub use line_hashes::line_hashes;
pub use request::{LineNumberFormat, PageRequest};
pub use source::{CHUNK_BYTES, MemorySource, Source};

use crate::encoding::{self, Encoding};
use crate::error::{Code, Error, Result};
use crate::sniff::{self, FileKind, Sniffed};
use crate::text::Eol;

/// The maximum number of bytes that are counted at once to number a page from the end of a file;
/// this takes about 10 ms.
const MAX_QUICK_SCAN_BYTES: u64 = 64 << 20;

/// The minimum offset of a page in bytes at which the lines of the rest of the file are counted
/// too, to get their total number.
const MIN_DEEP_PAGE_OFFSET_BYTES: u64 = 16 << 20;

/// The maximum number of bytes after a deep page whose lines are counted (about 200 ms); in a
/// larger file the total number of lines stays unknown.
const MAX_BYTES_COUNTED_AFTER_DEEP_PAGE: u64 = 1 << 30;

crate::wire! {
    /// Some lines of a file. Numbers are 1-based; sizes and offsets are bytes.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Page {
        /// The lines as UTF-8 with their own line endings, without a byte order mark: complete
        /// while they fit in `content_bytes`; beyond that long lines are truncated, then the page
        /// ends earlier.
        pub content: String,
        /// The first line. Negative, counted from the end, when the end of a file was requested
        /// that is too big to be counted at once.
        pub start_line: i64,
        /// The last line; `start_line - 1` for an empty page.
        pub end_line: i64,
        /// The number of lines in the page.
        pub lines_read: u64,
        /// The number of lines of the file; `None` until all are counted.
        pub total_lines: Option<u64>,
        /// A lower bound of the number of lines of the file.
        pub at_least_lines: u64,
        /// The size of the file in bytes.
        pub size: u64,
        /// The offset of the first byte of the page.
        pub start_byte: u64,
        /// The encoding of the file.
        pub encoding: Encoding,
        /// The line endings of the whole file; `None` until all are counted.
        pub eol: Option<Eol>,
        /// True when the file begins with a byte order mark.
        pub bom: bool,
        /// True when the file continues after the page.
        pub truncated: bool,
        /// The first line of the next page; `None` at the end of the file.
        pub next_start_line: Option<i64>,
        /// The first byte of the next page, when this one ends inside a line.
        pub next_start_byte: Option<u64>,
        /// The number of lines with more than `max_line_chars` code points.
        pub long_lines: u64,
        /// The first 20 of the long lines, each with the offset of its rest.
        pub long: Vec<LongLine>,
        /// The lines that are truncated in `content`.
        pub cut_lines: Vec<i64>,
        /// The line anchors, six characters for each line, if requested; `------` for a line that
        /// was not read completely, and for its neighbours.
        pub anchors: Option<String>,
        /// `sha256:…` of all bytes; `None` when they were not all read.
        pub hash: Option<String>,
        /// The MIME type.
        pub mime: &'static str,
        /// True when U+FFFD in the content replaces invalid bytes.
        pub lossy: bool,
        /// True when `content` contains a NUL character.
        pub nuls: bool,
        /// True when the file changed while it was read.
        pub changed: bool,
    }
}

crate::wire! {
    /// A line with more code points than are shown.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LongLine {
        /// The number of the line.
        pub line: i64,
        /// The offset of the first byte that is not shown: continue inside the line with it as
        /// `start_byte`.
        pub rest_byte: u64,
        /// The number of bytes from there to the line's end; `None` when the end is unknown.
        pub rest_bytes: Option<u64>,
    }
}

/// The kind and the encoding of a file, which every page needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindAndEncoding {
    /// The kind and the MIME type.
    pub sniffed: Sniffed,
    /// The encoding.
    pub encoding: Encoding,
    /// The length of the byte order mark in bytes.
    pub bom: usize,
}

/// Detects kind and encoding from the start of a file, or from all of it if `complete`. A requested
/// encoding or `force_text` overrides what is detected. `name` may be a path or empty.
///
/// # Errors
/// `BINARY_FILE` with `details` `{kind, mime, size, width?, height?}` unless the request forces
/// text; `INVALID_ARGUMENT` for an unknown encoding; `ENCODING_ERROR` for bytes that are invalid in
/// the requested encoding.
pub fn detect_kind_and_encoding(
    head: &[u8],
    complete: bool,
    size: u64,
    name: &str,
    request: &PageRequest,
) -> Result<KindAndEncoding> {
    let sniffed = sniff::sniff(head, name, complete);
    let auto = request.encoding == "auto";
    let asked =
        if auto { None } else { Some(encoding::encoding_by_label(head, &request.encoding)?) };
    // With a requested encoding, bytes that look like no text are text, unless they have the
    // signature of another kind of file.
    let explained = asked.is_some() && sniffed.mime == "application/octet-stream";
    if !sniffed.kind.is_text() && !request.force_text && !explained {
        return Err(binary_file_error(head, size, sniffed));
    }
    let Some((encoding, bom)) = asked else {
        let found = encoding::detect(head, complete);
        return Ok(KindAndEncoding { sniffed, encoding: found.encoding, bom: found.bom });
    };
    if complete && !request.force_text {
        encoding.decode_strict(&head[bom..])?;
    }
    Ok(KindAndEncoding { sniffed, encoding, bom })
}

/// The error for a file that is not text; for an image with its size in pixels.
fn binary_file_error(head: &[u8], size: u64, sniffed: Sniffed) -> Error {
    let mut error = Error::new(
        Code::BinaryFile,
        format!("the file is binary ({}, {size} bytes)", sniffed.mime),
    )
    .detail("kind", sniffed.kind.as_str())
    .detail("mime", sniffed.mime)
    .detail("size", size);
    if sniffed.kind == FileKind::Image
        && let Some((width, height)) = sniff::image::image_size(head)
    {
        error = error.detail("width", width).detail("height", height);
    }
    error
}

/// Returns a page of bytes in memory. All facts about the whole file are exact. `name` (a path, or
/// empty) only chooses among the MIME types of text.
///
/// # Errors
/// Like [`detect_kind_and_encoding`], and `INVALID_ARGUMENT` for a request out of range.
///
/// ```
/// use filewright_core::page::{PageRequest, page};
/// let request = PageRequest { start_line: -1, ..Default::default() };
/// let page = page(b"a\nb\n", "", &request)?;
/// assert_eq!((page.content.as_str(), page.start_line), ("b\n", 2));
/// # Ok::<(), filewright_core::Error>(())
/// ```
pub fn page(bytes: &[u8], name: &str, request: &PageRequest) -> Result<Page> {
    let size = bytes.len() as u64;
    request.check(size)?;
    let facts = detect_kind_and_encoding(bytes, true, size, name, request)?;
    let mut source = MemorySource(bytes);
    let mut index = LineIndex::new(facts.encoding.unit(), facts.bom);
    index.extend_to_end(&mut source)?;
    let mut page = page_from_source(&mut source, &mut index, &facts, request)?;
    page.hash = Some(crate::hash::sha256(bytes));
    Ok(page)
}

/// Returns a page of any source. Extends the index only as far as the page needs it; does not set
/// `hash`.
///
/// # Errors
/// Errors of the source, and `ENCODING_ERROR` if the window is invalid in the requested encoding.
pub fn page_from_source(
    source: &mut impl Source,
    index: &mut LineIndex,
    facts: &KindAndEncoding,
    request: &PageRequest,
) -> Result<Page> {
    let start = locate_page(source, index, facts, request)?;
    let mut window = match start {
        PageStart::At { offset, line } => {
            window::read_page_lines(source, facts, request, offset, line)?
        }
        PageStart::Past { line } => window::PageLines::empty(source.size(), line),
    };
    let previous = match u64::try_from(window.start_line) {
        Ok(line) if request.anchors && line > 1 => index.locate(source, line - 1)?.map(Some),
        Ok(_) => Some(None),
        Err(_) => None,
    };
    // A page that starts at a byte may begin inside a line.
    if let (Some(byte), Some([first, ..])) = (request.start_byte, window.hashes.as_deref_mut())
        && byte > facts.bom as u64
    {
        *first = None;
    }
    let anchors = anchors::anchors_of_page(source, facts, &window, previous)?;
    if window.lossy && request.encoding != "auto" && !request.force_text {
        return Err(facts.encoding.decode_error(b""));
    }
    let size = source.size();
    let counted = index.scanned();
    if counted > MIN_DEEP_PAGE_OFFSET_BYTES
        && counted < size
        && size - counted <= MAX_BYTES_COUNTED_AFTER_DEEP_PAGE
    {
        index.extend_to_end(source)?;
    }
    let mut total_lines = index.total(size);
    if total_lines.is_none() && !window.truncated && window.lines_read > 0 && window.start_line > 0
    {
        total_lines = u64::try_from(window.end_line()).ok();
    }
    let seen = u64::try_from(window.end_line()).unwrap_or(window.lines_read);
    let at_least = seen + u64::from(window.truncated && window.next_start_byte.is_none());
    Ok(Page {
        start_line: window.start_line,
        end_line: window.end_line(),
        lines_read: window.lines_read,
        total_lines,
        at_least_lines: total_lines.unwrap_or_else(|| at_least.max(index.at_least())),
        size,
        start_byte: window.start_byte,
        encoding: facts.encoding,
        eol: index.eol(size),
        bom: facts.bom > 0,
        truncated: window.truncated,
        next_start_line: window.next_start_line(),
        next_start_byte: window.next_start_byte,
        long_lines: window.long_lines,
        nuls: memchr::memchr(0, window.content.as_bytes()).is_some(),
        content: window.content,
        long: window.long,
        cut_lines: window.cut_lines,
        anchors,
        hash: None,
        mime: facts.sniffed.mime,
        lossy: window.lossy,
        changed: false,
    })
}

/// Where a page begins.
enum PageStart {
    At {
        offset: u64,
        line: i64,
    },
    /// The page begins after the last line, so that it is empty.
    Past {
        line: i64,
    },
}

/// Finds where the requested page begins.
fn locate_page(
    source: &mut impl Source,
    index: &mut LineIndex,
    facts: &KindAndEncoding,
    request: &PageRequest,
) -> Result<PageStart> {
    let origin = facts.bom as u64;
    let size = source.size();
    if let Some(byte) = request.start_byte {
        let offset = character_start(source, facts.encoding, origin, byte.max(origin))?;
        let line = index.line_at(source, offset)?.cast_signed();
        if offset >= size {
            return Ok(PageStart::Past { line });
        }
        return Ok(PageStart::At { offset, line });
    }
    if let Ok(line) = u64::try_from(request.start_line) {
        return Ok(match index.locate(source, line)? {
            Some(offset) => PageStart::At { offset, line: request.start_line },
            None => PageStart::Past { line: request.start_line },
        });
    }
    let back = request.start_line.unsigned_abs();
    if size.saturating_sub(index.scanned()) <= MAX_QUICK_SCAN_BYTES {
        index.extend_to_end(source)?;
    }
    if let Some(total) = index.total(size) {
        let line = (total + 1).saturating_sub(back).max(1);
        return Ok(match index.locate(source, line)? {
            Some(offset) => PageStart::At { offset, line: line.cast_signed() },
            None => PageStart::Past { line: line.cast_signed() },
        });
    }
    // The file is too big to count at once, so the page is located and its lines are numbered from
    // the end.
    Ok(match index::locate_last_lines(source, facts.encoding.unit(), origin, back)? {
        (offset, found) if found < back => PageStart::At { offset, line: 1 },
        (offset, _) => PageStart::At { offset, line: request.start_line },
    })
}

/// Returns the byte offset of the character that contains the byte at `offset`, in UTF-8 and
/// UTF-16. In other encodings that would need the whole file before it, so it returns `offset`.
fn character_start(
    source: &mut impl Source,
    encoding: Encoding,
    origin: u64,
    offset: u64,
) -> Result<u64> {
    if let encoding::LineFeedCode::Two(_) = encoding.unit() {
        return Ok(offset & !1);
    }
    if encoding != Encoding::UTF_8 {
        return Ok(offset);
    }
    let from = offset.saturating_sub(3).max(origin.min(offset));
    let head = source.chunk(from, 4)?;
    let back = (offset - from) as usize;
    let continues = |at: usize| head.get(at).is_some_and(|&byte| (byte as i8) < -0x40);
    let steps = (0..=back).find(|&steps| !continues(back - steps));
    Ok(offset - steps.unwrap_or(0) as u64)
}

#[cfg(test)]
mod tests;
