//! The anchors of a page's lines. An anchor depends on the lines beside its own, so those just
//! outside the page are read too.

use super::Facts;
use super::index::line_ends;
use super::source::{CHUNK_BYTES, Source, shift_state, take};
use super::window::{Window, split_end};
use crate::anchor::{RepeatedLines, anchors_between, line_hash, line_hashes};
use crate::encoding::Encoding;
use crate::error::Result;

/// The maximum length of the line before or after a page that is read to compute an anchor, in
/// bytes. Next to a longer line, no anchor is given.
const MAX_NEIGHBOUR: usize = 1 << 20;

/// Returns the anchors of a window's lines. `previous` is the start of the line before it: `None`
/// if unknown, `Some(None)` if there is no line.
pub(super) fn of_window(
    source: &mut impl Source,
    facts: &Facts,
    window: &Window,
    previous: Option<Option<u64>>,
) -> Result<Option<String>> {
    let Some(hashes) = &window.hashes else { return Ok(None) };
    let before = match previous {
        None | Some(None) => previous.map(|_| None),
        Some(Some(at)) => neighbour(source, facts.encoding, at)?.map(Some),
    };
    let after = match window.end_byte {
        None => None,
        Some(end) if end >= source.size() => Some(None),
        Some(end) => neighbour(source, facts.encoding, end)?.map(Some),
    };
    let repeated = repeated(source, facts)?;
    Ok(Some(anchors_between(before, hashes, after, &repeated)))
}

/// Up to this file size, repeated lines are counted.
const MAX_COUNTED_BYTES: u64 = 4 << 20;

/// Collects the lines and neighbourhoods that occur more than once in a file.
fn repeated(source: &mut impl Source, facts: &Facts) -> Result<RepeatedLines> {
    let (origin, size) = (facts.bom as u64, source.size());
    if size > MAX_COUNTED_BYTES {
        return Ok(RepeatedLines::unknown());
    }
    let bytes = take(source, origin, size.saturating_sub(origin))?;
    let text = facts.encoding.decode(&bytes).text;
    Ok(RepeatedLines::among(&line_hashes(&text)))
}

/// Returns the hash of the line that begins at a byte, or `None` if it is too long.
fn neighbour(source: &mut impl Source, encoding: Encoding, at: u64) -> Result<Option<u64>> {
    let unit = encoding.unit();
    let shift = shift_state(source, encoding, at)?;
    let mut length = 0;
    loop {
        let chunk = source.chunk(at + length as u64, CHUNK_BYTES)?;
        let end = line_ends(chunk, unit).next();
        length += end.unwrap_or(chunk.len());
        if length > MAX_NEIGHBOUR {
            return Ok(None);
        }
        if end.is_some() || chunk.is_empty() {
            break;
        }
    }
    let bytes = take(source, at, length as u64)?;
    let (line, _) = split_end(&bytes, unit);
    // Two escape sequences in a row would be an error.
    let shift = if line.first() == shift.first() { &[][..] } else { &shift };
    Ok(Some(line_hash(encoding.decode(&[shift, line].concat()).text.as_bytes())))
}
