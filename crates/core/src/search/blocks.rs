//! What of a content an index remembers: its blocks, whole lines each.

use super::{BINARY_WINDOW, Block};
use crate::encoding::{Encoding, bom};

/// A block is cut at the first line end after this many bytes. Smaller blocks have fewer
/// grams beside each other by chance, and cost more memory: about 0.058 bytes a byte of C.
const BLOCK_BYTES: usize = 10 * 1024;

/// How a content can be searched by its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signable {
    /// Text: lines of any of its blocks can be searched by themselves.
    Text,
    /// Text of which only the whole content can be searched: it has a mark, or a NUL further on.
    Whole,
    /// Binary: no query finds anything in it.
    Binary,
    /// Text in an encoding whose bytes say nothing: every query reads it.
    Always,
}

/// How a content can be searched, and the part of it that is.
pub fn signable(content: &[u8]) -> (Signable, &[u8]) {
    let marked = match bom(content) {
        None => false,
        Some(encoding) if encoding == Encoding::UTF_8 => true,
        Some(_) => return (Signable::Always, &[]),
    };
    match memchr::memchr(0, content) {
        None if marked => (Signable::Whole, content),
        None => (Signable::Text, content),
        // Where the mark ends is where the window begins.
        Some(nul) if nul < BINARY_WINDOW + 3 * usize::from(marked) => (Signable::Binary, &[]),
        // Up to there it is searched.
        Some(nul) => (Signable::Whole, &content[..nul]),
    }
}

/// Cuts a text into blocks, which have no owner yet. Positions are exact up to 4 GiB.
pub fn blocks(text: &[u8]) -> impl Iterator<Item = (Block, &[u8])> {
    let (mut offset, mut line) = (0, 1);
    std::iter::from_fn(move || {
        if offset >= text.len() {
            return None;
        }
        let mut end = offset + BLOCK_BYTES;
        // What is left over is not worth a block of its own.
        end = if end + BLOCK_BYTES / 2 >= text.len() {
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

    #[test]
    fn what_can_be_signed_is_what_a_search_reads() {
        let late = [vec![b'a'; BINARY_WINDOW], b"\0rest".to_vec()].concat();
        // content, how, how many bytes
        let cases: &[(&[u8], Signable, usize)] = &[
            (b"text\n", Signable::Text, 5),
            (b"", Signable::Text, 0),
            (b"\xef\xbb\xbftext", Signable::Whole, 7),
            (b"\xff\xfet\0", Signable::Always, 0),
            (b"te\0xt", Signable::Binary, 0),
            (&late, Signable::Whole, BINARY_WINDOW),
        ];
        for (content, how, bytes) in cases {
            let (signed, text) = signable(content);
            assert_eq!(
                (signed, text.len()),
                (*how, *bytes),
                "{:?}",
                &content[..content.len().min(8)]
            );
        }
    }

    #[test]
    fn blocks_are_whole_lines_and_leave_nothing_out() {
        for lines in [0, 1, 900, 5000] {
            let text: String = (0..lines).map(|line| format!("line number {line}\n")).collect();
            let mut rest = text.as_bytes();
            let mut next = 1;
            for (block, content) in blocks(text.as_bytes()) {
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
