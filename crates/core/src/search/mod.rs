//! Searches one text for a query, line by line.
//!
//! The text is searched as a whole and split into lines only where something matches, so that a
//! text without a match costs one pass. Matching uses the ripgrep crates and is linear in the text.
//!
//! Lines and columns are counted from 1, columns in code points.

mod bit_set;
mod block;
mod block_index;
mod blocks;
mod engine;
mod folded_finder;
mod gram_extractor;
mod gram_query;
mod grams;
mod memory_index;
mod pack;
mod query;
mod query_options;
mod render_line;
mod scan;
mod serialize;
mod shards;

pub use block::{Block, Chunk};
pub use block_index::BlockIndex;
pub use blocks::{ContentClass, IndexUnit, classify_content, split_into_index_units};
pub use gram_extractor::GramExtractor;
pub use gram_query::GramQuery;
pub use memory_index::{IndexingResult, MemoryIndex};
pub use pack::{pack_hit, search_packed};
pub use query::{MAX_PATTERN_BYTES, MAX_PATTERNS, Query};
pub use query_options::{Case, QueryOptions};
pub use render_line::Line;
pub use serialize::{ByteSource, gram_format_number};

use std::ops::ControlFlow;

use crate::encoding::{Encoding, encoding_from_bom};
use crate::error::Result;
use crate::options::{Options, invalid};

/// The number of bytes at the beginning of a text in which a NUL makes it binary.
pub const BINARY_CHECK_BYTES: usize = 64 * 1024;

/// The output of a search: its hits, or only their number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputMode {
    /// The lines of each hit.
    #[default]
    Lines,
    /// Only the number of hits.
    Count,
}

/// The limits of a search and of what it reports.
#[derive(Clone, Copy, Debug)]
pub struct SearchLimits {
    /// The number of lines shown before a hit.
    pub before: usize,
    /// The number of lines shown after a hit.
    pub after: usize,
    /// The number of hits after which the search ends.
    pub max_hits: u64,
    /// The maximum length of a reported line in code points; a longer one is cut around the match.
    /// 0 for no limit.
    pub max_line_chars: usize,
    /// The number of the last line whose hits are skipped and not counted; 0 to skip none.
    pub skip_lines: u64,
    /// Says whether hits are reported or only counted.
    pub want: OutputMode,
    /// The length in bytes of the text of reported hits after which further hits are only counted.
    pub max_text_bytes: u64,
    /// The number of bytes that each reported hit adds to the text in addition to its lines.
    pub row_bytes: u64,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self {
            before: 0,
            after: 0,
            max_hits: u64::MAX,
            max_line_chars: 500,
            skip_lines: 0,
            want: OutputMode::Lines,
            max_text_bytes: u64::MAX,
            row_bytes: 0,
        }
    }
}

impl SearchLimits {
    /// The maximum of `before` and of `after`; a larger value is refused.
    pub const MAX_CONTEXT: u64 = 50;

    /// The minimum length in bytes of a row `path:line:text` without its path and text: two
    /// separators, a digit and a line feed.
    pub const ROW_BYTES: u64 = 4;

    /// Parses `before`, `after`, `context`, `maxPerFile`, `maxLineChars` and `maxTextBytes`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` naming the option.
    pub fn read(options: &Options) -> Result<Self> {
        let default = Self::default();
        let both = options.number("context")?.unwrap_or(0);
        let context = |name: &str| match options.number(name)?.unwrap_or(both) {
            lines if lines > Self::MAX_CONTEXT => {
                Err(invalid(name, format!("{name} must be at most {}", Self::MAX_CONTEXT)))
            }
            lines => Ok(lines as usize),
        };
        let max_hits = options.number("maxPerFile")?.unwrap_or(default.max_hits);
        if max_hits == 0 {
            return Err(invalid("maxPerFile", "maxPerFile must be at least 1"));
        }
        let max_line_chars = match options.number("maxLineChars")? {
            Some(chars) => usize::try_from(chars).unwrap_or(0),
            None => default.max_line_chars,
        };
        Ok(Self {
            before: context("before")?,
            after: context("after")?,
            max_hits,
            max_line_chars,
            max_text_bytes: options.number("maxTextBytes")?.unwrap_or(default.max_text_bytes),
            row_bytes: Self::ROW_BYTES,
            ..default
        })
    }

    /// Returns true if lines around the hits are reported too.
    pub fn has_context(&self) -> bool {
        self.before > 0 || self.after > 0
    }
}

/// A hit: one matching line or, if matches may cross lines, the lines of one match or of several
/// that share lines.
#[derive(Debug)]
pub struct Hit<'a> {
    /// The number of the (first) line, 1-based.
    pub line: u64,
    /// The number of the last line, 1-based.
    pub end_line: u64,
    /// The column, in code points from 1, at which the first match begins.
    pub column: u64,
    /// The (first) line as displayed.
    pub text: Line<'a>,
    /// The lines of the match after the first.
    pub rest: &'a [Line<'a>],
    /// The lines before the match, in order.
    pub before: &'a [Line<'a>],
    /// The lines after the match, in order.
    pub after: &'a [Line<'a>],
    /// The indexes of the patterns that match; empty unless the query has several patterns.
    pub patterns: &'a [u32],
}

impl Hit<'_> {
    /// Returns the length of the hit's lines in bytes, without the lines around the hit.
    pub fn text_bytes(&self) -> u64 {
        let lines = std::iter::once(&self.text).chain(self.rest);
        lines.map(|line| line.text.len() as u64).sum()
    }
}

/// The result of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchOutcome {
    /// The number of hits, whether passed to the receiver or only counted.
    pub hits: u64,
    /// The length in bytes of the hits passed to the receiver: their lines, and `row_bytes` for
    /// each.
    pub text_bytes: u64,
    /// True if the text is binary and was not searched.
    pub binary: bool,
    /// True if there is at least one more hit beyond `max_hits`.
    pub more: bool,
    /// True if the receiver or the interrupt ended the search before the end of the text.
    pub stopped: bool,
}

/// Returns true if the content of a file is binary by its first [`BINARY_CHECK_BYTES`] alone: they
/// contain a NUL, and no byte order mark says that NULs are part of characters. The rest of such a
/// file cannot change that, so it need not be read.
pub fn is_binary_head(head: &[u8]) -> bool {
    encoding_from_bom(head).is_none_or(|encoding| encoding == Encoding::UTF_8)
        && begins_binary(head)
}

/// Returns the offset in bytes at which the first line of a file begins: after the byte order mark
/// of UTF-8, if it has one. `None` for a file in UTF-16, whose lines are only in its decoded text.
pub fn first_line_offset(head: &[u8]) -> Option<usize> {
    match encoding_from_bom(head) {
        None => Some(0),
        Some(Encoding::UTF_8) => Some(Encoding::UTF_8.mark().len()),
        Some(_) => None,
    }
}

/// Returns true if a NUL stands in the first bytes of a text, without its byte order mark.
fn begins_binary(text: &[u8]) -> bool {
    memchr::memchr(0, &text[..text.len().min(BINARY_CHECK_BYTES)]).is_some()
}

impl Query {
    /// Searches the content of a file. Handles byte order marks (UTF-8, UTF-16), detects binary
    /// content, and stops at a NUL further on.
    ///
    /// `interrupted` is called every 256 KiB and ends the search by returning true. The receiver is
    /// called for each hit, but never for [`OutputMode::Count`].
    pub fn search(
        &self,
        content: &[u8],
        limits: &SearchLimits,
        interrupted: &dyn Fn() -> bool,
        receive: &mut dyn FnMut(&Hit<'_>) -> ControlFlow<()>,
    ) -> SearchOutcome {
        let decoded;
        let text = match encoding_from_bom(content) {
            None => content,
            Some(encoding) => {
                let body = &content[encoding.mark().len()..];
                if encoding == Encoding::UTF_8 {
                    body
                } else {
                    decoded = encoding.decode(body).text;
                    decoded.as_bytes()
                }
            }
        };
        if begins_binary(text) {
            return SearchOutcome { binary: true, ..SearchOutcome::default() };
        }
        scan::TextScan::new(self, text, limits, interrupted, receive).run_search()
    }

    /// Searches some lines of a text that is known to contain neither a byte order mark nor a NUL;
    /// `line` is the number of the first one. The query must not [cross
    /// lines](Query::crosses_lines).
    pub fn search_lines(
        &self,
        lines: &[u8],
        line: u64,
        limits: &SearchLimits,
        interrupted: &dyn Fn() -> bool,
        receive: &mut dyn FnMut(&Hit<'_>) -> ControlFlow<()>,
    ) -> SearchOutcome {
        scan::TextScan::new(self, lines, limits, interrupted, receive)
            .beginning_at(line)
            .run_search()
    }
}

#[cfg(test)]
mod tests;
