//! Computes the anchors of a page's lines. An anchor depends on the lines before and after its own,
//! so the lines around the page are read too.

use super::KindAndEncoding;
use super::index::{line_ends, split_line_ending};
use super::source::{CHUNK_BYTES, Source, escape_sequence_at, read_range};
use super::window::PageLines;
use crate::anchor::{RepeatedLines, anchors_between, line_hash, line_hashes};
use crate::encoding::Encoding;
use crate::error::Result;

/// The maximum length in bytes of the line before or after a page that is read for the anchor of
/// the line next to it. That line gets no anchor next to a longer one.
const MAX_NEIGHBOUR_BYTES: usize = 1 << 20;

/// Returns the anchors of a window's lines in one string; `None` if they were not requested.
/// `previous` is the byte offset of the line before the window: `None` if unknown, `Some(None)` if
/// there is no such line.
pub(super) fn anchors_of_page(
    source: &mut impl Source,
    facts: &KindAndEncoding,
    window: &PageLines,
    previous: Option<Option<u64>>,
) -> Result<Option<String>> {
    let Some(hashes) = &window.hashes else { return Ok(None) };
    let before = match previous {
        None | Some(None) => previous.map(|_| None),
        Some(Some(at)) => line_hash_at(source, facts.encoding, at)?.map(Some),
    };
    let after = match window.end_byte {
        None => None,
        Some(end) if end >= source.size() => Some(None),
        Some(end) => line_hash_at(source, facts.encoding, end)?.map(Some),
    };
    let repeated = find_repeated_lines(source, facts)?;
    Ok(Some(anchors_between(before, hashes, after, &repeated)))
}

/// The maximum size in bytes of a file whose repeated lines are counted. In a larger one, every
/// line counts as repeated.
const MAX_COUNTED_BYTES: u64 = 4 << 20;

/// Finds the lines and neighbourhoods that occur more than once in a file.
fn find_repeated_lines(source: &mut impl Source, facts: &KindAndEncoding) -> Result<RepeatedLines> {
    let (origin, size) = (facts.bom as u64, source.size());
    if size > MAX_COUNTED_BYTES {
        return Ok(RepeatedLines::unknown());
    }
    let bytes = read_range(source, origin, size.saturating_sub(origin))?;
    let text = facts.encoding.decode(&bytes).text;
    Ok(RepeatedLines::among(&line_hashes(&text)))
}

/// Returns the hash of the line that begins at the byte offset `at`, or `None` if it is longer than
/// [`MAX_NEIGHBOUR_BYTES`].
fn line_hash_at(source: &mut impl Source, encoding: Encoding, at: u64) -> Result<Option<u64>> {
    let unit = encoding.unit();
    let shift = escape_sequence_at(source, encoding, at)?;
    let mut length = 0;
    loop {
        let chunk = source.chunk(at + length as u64, CHUNK_BYTES)?;
        let end = line_ends(chunk, unit).next();
        length += end.unwrap_or(chunk.len());
        if length > MAX_NEIGHBOUR_BYTES {
            return Ok(None);
        }
        if end.is_some() || chunk.is_empty() {
            break;
        }
    }
    let bytes = read_range(source, at, length as u64)?;
    let (line, _) = split_line_ending(&bytes, unit);
    // A line that begins with its own escape sequence needs none before it; two in a row would be
    // an error.
    let shift = if line.first() == shift.first() { &[][..] } else { &shift };
    Ok(Some(line_hash(encoding.decode(&[shift, line].concat()).text.as_bytes())))
}
