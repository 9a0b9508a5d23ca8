//! The units of the index: a block of whole lines, and a chunk of a block with a very long line.

/// A part of a text that consists of whole lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The number of the text that the block belongs to, chosen by the caller.
    pub owner: u32,
    /// The byte offset of its start in the text.
    pub offset: u32,
    /// Its length in bytes.
    pub len: u32,
    /// The number of its first line, 1-based.
    pub line: u32,
}

/// A part of a block with a very long line, which is indexed separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The byte offset of its start in the text.
    pub offset: u32,
    /// Its length in bytes.
    pub len: u32,
}
