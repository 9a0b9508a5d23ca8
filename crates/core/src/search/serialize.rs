//! Writes a [`BlockIndex`] as bytes and reads it back.
//!
//! The input of [`BlockIndex::load`] may be corrupt: it is validated as far as memory safety and
//! memory use require, and an impossible number makes the load fail. The caller must verify that
//! the content is authentic.

use super::block::Block;
use super::block_index::BlockIndex;
use super::gram_extractor::gram_format_fingerprint;
use super::shards::{Shard, Shards};

/// The number of words converted to bytes at once.
const WORDS_PER_STEP: usize = 1024;
/// The maximum number of shards that are read, which have some gigabytes; more count as invalid.
const MAX_SHARDS: u32 = 4096;

/// A function that reads serialised data: fills the buffer and returns true, or returns false at
/// the end.
pub type ByteSource<'a> = &'a mut dyn FnMut(&mut [u8]) -> bool;

/// Returns a number that changes with the definition of grams: an index that was written with
/// another one cannot be used.
pub fn gram_format_number() -> u64 {
    gram_format_fingerprint()
}

impl BlockIndex {
    /// Writes the index as bytes, in several calls of `sink`.
    pub fn save(&self, sink: &mut dyn FnMut(&[u8])) {
        self.whole.save(sink);
        sink(&(self.long.len() as u32).to_le_bytes());
        write_blocks(&self.long, sink);
        self.chunks.save(sink);
    }

    /// Reads the output of [`BlockIndex::save`]; returns `None` if it is invalid.
    pub fn load(source: ByteSource<'_>) -> Option<Self> {
        let whole = Shards::load(source)?;
        let long = read_u32(source)?;
        let long = read_blocks(long as usize, source)?;
        Some(Self { whole, long, chunks: Shards::load(source)? })
    }
}

impl Shards {
    fn save(&self, sink: &mut dyn FnMut(&[u8])) {
        sink(&(self.shards().count() as u32).to_le_bytes());
        let mut bytes = Vec::with_capacity(8 * WORDS_PER_STEP);
        for shard in self.shards() {
            let (rows, blocks) = (shard.height() as u32, shard.blocks.len() as u32);
            sink(&[rows.to_le_bytes(), blocks.to_le_bytes()].concat());
            write_blocks(&shard.blocks, sink);
            let mut give = |words: &[u64]| {
                for words in words.chunks(WORDS_PER_STEP) {
                    bytes.clear();
                    words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
                    sink(&bytes);
                }
            };
            shard.for_each_row(&mut give);
            give(&shard.last);
        }
    }

    fn load(source: ByteSource<'_>) -> Option<Self> {
        let mut read = Self::default();
        let shards = read_u32(source)?;
        if shards > MAX_SHARDS {
            return None;
        }
        for _ in 0..shards {
            let (rows, blocks) = (read_u32(source)? as usize, read_u32(source)? as usize);
            if !Shard::is_possible_height(rows) {
                return None;
            }
            let mut shard = Shard::new(rows);
            if blocks > shard.max_columns() {
                return None;
            }
            shard.words = blocks / 64;
            shard.blocks = read_blocks(blocks, source)?;
            shard.rows = read_u64s(shard.words * rows, source)?;
            shard.last = read_u64s(rows, source)?;
            read.add_shard(shard);
        }
        Some(read)
    }
}

fn write_blocks(blocks: &[Block], sink: &mut dyn FnMut(&[u8])) {
    let mut bytes = Vec::new();
    for blocks in blocks.chunks(WORDS_PER_STEP / 2) {
        bytes.clear();
        for block in blocks {
            for number in [block.owner, block.offset, block.len, block.line] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        sink(&bytes);
    }
}

/// Reads this many blocks; `None` if the data ends before.
fn read_blocks(count: usize, source: ByteSource<'_>) -> Option<Vec<Block>> {
    // The count may be wrong, so memory is allocated only as entries are read.
    let mut blocks = Vec::with_capacity(count.min(WORDS_PER_STEP));
    for _ in 0..count {
        let (owner, offset) = (read_u32(source)?, read_u32(source)?);
        let (len, line) = (read_u32(source)?, read_u32(source)?);
        blocks.push(Block { owner, offset, len, line });
    }
    blocks.shrink_to_fit();
    Some(blocks)
}

fn read_u32(source: ByteSource<'_>) -> Option<u32> {
    let mut bytes = [0; 4];
    source(&mut bytes).then(|| u32::from_le_bytes(bytes))
}

/// Reads this many words; `None` if the data ends before.
fn read_u64s(count: usize, source: ByteSource<'_>) -> Option<Vec<u64>> {
    let mut words = Vec::with_capacity(count);
    let mut bytes = [0; 8 * WORDS_PER_STEP];
    while words.len() < count {
        let step = 8 * WORDS_PER_STEP.min(count - words.len());
        if !source(&mut bytes[..step]) {
            return None;
        }
        let (chunks, _) = bytes[..step].as_chunks();
        words.extend(chunks.iter().map(|chunk| u64::from_le_bytes(*chunk)));
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::super::block::Chunk;
    use super::super::gram_query::GramQuery;
    use super::*;

    fn block_index() -> BlockIndex {
        let mut block_index = BlockIndex::default();
        for owner in 0..300_u32 {
            let grams: Vec<u32> =
                (0..=(owner % 5) * 200).map(|gram| (owner * 31 + gram * 97) & 0xffff).collect();
            let chunk = (owner % 7 == 0).then_some(Chunk { offset: owner, len: 1 });
            block_index.push(&grams, Block { owner, offset: owner, len: 1, line: 1 }, chunk);
        }
        block_index
    }

    fn found(block_index: &BlockIndex) -> Vec<Vec<Block>> {
        (0..300_u32)
            .map(|gram| {
                let mut found = Vec::new();
                block_index
                    .blocks(&GramQuery::Grams(vec![gram * 31]), &mut |block| found.push(*block));
                found
            })
            .collect()
    }

    fn load(bytes: &[u8]) -> Option<BlockIndex> {
        let mut left = bytes;
        BlockIndex::load(&mut |piece| match left.split_at_checked(piece.len()) {
            Some((mine, rest)) => {
                piece.copy_from_slice(mine);
                left = rest;
                true
            }
            None => false,
        })
    }

    #[test]
    fn a_saved_index_is_loaded_and_can_grow() {
        let mut before = block_index();
        for shrunk in [false, true] {
            let mut bytes = Vec::new();
            before.save(&mut |piece| bytes.extend_from_slice(piece));
            let mut after = load(&bytes).unwrap();
            assert_eq!((after.len(), found(&after)), (before.len(), found(&before)), "{shrunk}");
            for block_index in [&mut before, &mut after] {
                for owner in 300..700 {
                    block_index.push(
                        &[31, 62, owner],
                        Block { owner, offset: 0, len: 1, line: 1 },
                        None,
                    );
                }
            }
            assert_eq!(found(&after), found(&before), "{shrunk}");
            before = block_index();
            before.shrink();
        }
    }

    #[test]
    fn truncated_or_invalid_data_is_refused() {
        let mut bytes = Vec::new();
        block_index().save(&mut |piece| bytes.extend_from_slice(piece));
        for cut in (0..bytes.len()).step_by(997).chain([bytes.len() - 1]) {
            assert!(load(&bytes[..cut]).is_none(), "{cut}");
        }
        // Fields of the first shard's header: the number of shards, of rows, of blocks.
        for (at, value) in [(0, u32::MAX), (4, 7), (4, 1025), (4, u32::MAX), (8, u32::MAX)] {
            let mut wrong = bytes.clone();
            wrong[at..at + 4].copy_from_slice(&value.to_le_bytes());
            assert!(load(&wrong).is_none(), "{value} at {at}");
        }
    }
}
