//! Splits the content of a file into the blocks that are indexed, each of whole lines.

use super::begins_binary;
use super::block::{Block, Chunk};
use crate::encoding::{Encoding, encoding_from_bom};

/// The minimum size of a block in bytes: it ends at the first line ending after them. Smaller
/// blocks contain the grams of a query by chance less often, and take more memory.
const MIN_BLOCK_BYTES: usize = 10 * 1024;
/// The maximum size in bytes of a block that is indexed as a whole. A larger one contains a very
/// long line and is indexed in chunks.
const MAX_WHOLE_BLOCK_BYTES: usize = 32 * 1024;
/// The number of bytes between the starts of two chunks.
const CHUNK_STRIDE_BYTES: usize = 16 * 1024;
/// The maximum length in bytes of a string whose grams must be in the same chunk. Chunks overlap by
/// as much, so that one of them contains the string completely.
pub(super) const CHUNK_OVERLAP_BYTES: usize = 256;

/// How the index can be used for a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentClass {
    /// Text: each block can be searched on its own.
    Text,
    /// Text that can only be searched as a whole, because it has a byte order mark or a NUL further
    /// on.
    Whole,
    /// Binary content, in which no query matches.
    Binary,
    /// Text in an encoding that is not indexed, so that every query must read it.
    Always,
}

/// Returns how the content of a file can be indexed, and the part of it that queries search: up to
/// the first NUL, and nothing of content that is binary or not in UTF-8 (`Binary`, `Always`).
pub fn classify_content(content: &[u8]) -> (ContentClass, &[u8]) {
    let body = match encoding_from_bom(content) {
        None => content,
        Some(encoding) if encoding == Encoding::UTF_8 => &content[encoding.mark().len()..],
        Some(_) => return (ContentClass::Always, &[]),
    };
    if begins_binary(body) {
        return (ContentClass::Binary, &[]);
    }
    match memchr::memchr(0, content) {
        None if body.len() < content.len() => (ContentClass::Whole, content),
        None => (ContentClass::Text, content),
        // A search stops at the first NUL too.
        Some(nul) => (ContentClass::Whole, &content[..nul]),
    }
}

/// A unit that is indexed on its own: a block, or a chunk of a block with a very long line.
#[derive(Clone, Copy, Debug)]
pub struct IndexUnit<'t> {
    /// The block, without its owner.
    pub block: Block,
    /// The indexed part of the block; `None` for the whole block.
    pub chunk: Option<Chunk>,
    /// The bytes to index.
    pub bytes: &'t [u8],
}

/// Splits a text into blocks, and blocks with very long lines into overlapping chunks. Offsets are
/// exact up to 4 GiB.
pub fn split_into_index_units(text: &[u8]) -> impl Iterator<Item = IndexUnit<'_>> {
    split_into_blocks(text).flat_map(|(block, content)| {
        let long = content.len() > MAX_WHOLE_BLOCK_BYTES;
        let step = if long { CHUNK_STRIDE_BYTES } else { content.len() };
        // The last bytes of a block lie in the overlap of the chunk before, so they need no chunk
        // of their own.
        let begins = (0..content.len().saturating_sub(CHUNK_OVERLAP_BYTES).max(1)).step_by(step);
        begins.map(move |begin| {
            let bytes = &content[begin..content.len().min(begin + step + CHUNK_OVERLAP_BYTES)];
            let chunk = Chunk { offset: block.offset + begin as u32, len: bytes.len() as u32 };
            IndexUnit { block, chunk: long.then_some(chunk), bytes }
        })
    })
}

fn split_into_blocks(text: &[u8]) -> impl Iterator<Item = (Block, &[u8])> {
    let (mut offset, mut line) = (0, 1);
    std::iter::from_fn(move || {
        if offset >= text.len() {
            return None;
        }
        let mut end = offset + MIN_BLOCK_BYTES;
        // A remainder of less than half a block is added to the last block.
        end = if end + MIN_BLOCK_BYTES / 2 >= text.len() {
            text.len()
        } else {
            memchr::memchr(b'\n', &text[end..]).map_or(text.len(), |length| end + length + 1)
        };
        let content = &text[offset..end];
        let block =
            Block { owner: u32::MAX, offset: offset as u32, len: content.len() as u32, line };
        line += memchr::memchr_iter(b'\n', content).count() as u32;
        offset = end;
        Some((block, content))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{BINARY_CHECK_BYTES, is_binary_head};

    #[test]
    fn indexed_content_is_the_searched_content() {
        let late = [vec![b'a'; BINARY_CHECK_BYTES], b"\0rest".to_vec()].concat();
        let last = [vec![b'a'; BINARY_CHECK_BYTES - 1], b"\0rest".to_vec()].concat();
        let marked = [b"\xef\xbb\xbf".to_vec(), last.clone()].concat();
        // The columns: content, class, number of searched bytes.
        let cases: &[(&[u8], ContentClass, usize)] = &[
            (b"text\n", ContentClass::Text, 5),
            (b"", ContentClass::Text, 0),
            (b"\xef\xbb\xbftext", ContentClass::Whole, 7),
            (b"\xff\xfet\0", ContentClass::Always, 0),
            (b"te\0xt", ContentClass::Binary, 0),
            (&late, ContentClass::Whole, BINARY_CHECK_BYTES),
            (&last, ContentClass::Binary, 0),
            (&marked, ContentClass::Binary, 0),
        ];
        for (content, how, bytes) in cases {
            let (signed, text) = classify_content(content);
            assert_eq!(
                (signed, text.len()),
                (*how, *bytes),
                "{:?}",
                &content[..content.len().min(8)]
            );
            // A head that is binary decides as the whole content does.
            let head = &content[..content.len().min(BINARY_CHECK_BYTES)];
            assert!(!is_binary_head(head) || *how == ContentClass::Binary);
        }
    }

    #[test]
    fn every_string_of_a_long_line_is_in_one_chunk() {
        let lines = "short\n".repeat(3 * MIN_BLOCK_BYTES / 6);
        let lengths = [
            MAX_WHOLE_BLOCK_BYTES / 2,
            MAX_WHOLE_BLOCK_BYTES + 1,
            3 * CHUNK_STRIDE_BYTES + 7,
            9 * CHUNK_STRIDE_BYTES,
        ];
        for length in lengths {
            let long: Vec<u8> = (0..length).map(|at| b'a' + (at % 23) as u8).collect();
            let text = [lines.as_bytes(), &long, b"\n", lines.as_bytes()].concat();
            let (mut places, mut chunks) = (Vec::new(), 0);
            for IndexUnit { block, chunk, bytes } in split_into_index_units(&text) {
                let part = chunk.unwrap_or(Chunk { offset: block.offset, len: block.len });
                let (begin, end) = (part.offset as usize, (part.offset + part.len) as usize);
                assert_eq!(bytes, &text[begin..end]);
                assert!(block.offset <= part.offset && end <= (block.offset + block.len) as usize);
                places.push(begin..end);
                chunks += usize::from(chunk.is_some());
            }
            for at in lines.len()..=lines.len() + length - CHUNK_OVERLAP_BYTES {
                let has_it = |place: &std::ops::Range<usize>| {
                    place.start <= at && at + CHUNK_OVERLAP_BYTES <= place.end
                };
                assert!(places.iter().any(has_it), "{at} of {length}");
            }
            assert_eq!(chunks > 1, length > MAX_WHOLE_BLOCK_BYTES, "{chunks} of {length}");
        }
    }

    #[test]
    fn blocks_are_whole_lines_and_leave_nothing_out() {
        for lines in [0, 1, 900, 5000] {
            let text: String = (0..lines).map(|line| format!("line number {line}\n")).collect();
            let mut rest = text.as_bytes();
            let mut next = 1;
            for (block, content) in split_into_blocks(text.as_bytes()) {
                assert_eq!((block.len as usize, block.line), (content.len(), next));
                assert_eq!(block.offset as usize, text.len() - rest.len());
                assert!(content.ends_with(b"\n"));
                next += content.iter().filter(|&&byte| byte == b'\n').count() as u32;
                rest = rest.strip_prefix(content).unwrap();
            }
            assert!(rest.is_empty());
        }
    }
}
