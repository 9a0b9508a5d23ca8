//! Determines the files that a query must read, in path order.

use filewright_core::search::{Block, Chunk, GramQuery};

use crate::build::negative_cache::{FilePiece, MAX_PIECES_PER_QUERY, piece_at};
use crate::tree::view::{FileCounts, QueryView};
use crate::tree::{FileState, NO_NUMBER, Tree};
use filewright_fs::search::grep::GrepOptions;

/// The files and blocks that a query must read, because they can have a match.
#[derive(Default)]
pub(crate) struct CandidateSet {
    pub items: Vec<CandidateFile>,
    pub blocks: Vec<Block>,
    /// The chunks of blocks that may have a match. A block is read only if one of its chunks is
    /// found to match.
    pub uncertain_chunks: Vec<UncertainChunk>,
    /// The pieces of the selected files, so that those without a match can be recorded.
    pub pieces: Vec<FilePiece>,
    /// A lower bound of the bytes to read.
    pub bytes: u64,
    /// The number of files that are known to have no match and are not read.
    pub passed: FileCounts,
}

/// A file to read. The pairs are ranges in the lists of [`CandidateSet`]. Without blocks and
/// chunks, the whole file is read.
#[derive(Clone, Copy, Default)]
pub(crate) struct CandidateFile {
    pub file: u32,
    pub blocks: (u32, u32),
    pub uncertain_chunks: (u32, u32),
    pub pieces: (u32, u32),
}

/// A chunk that may have a match, and the block that contains it.
#[derive(Clone, Copy)]
pub(crate) struct UncertainChunk {
    pub block: Block,
    pub chunk: Chunk,
}

/// The maximum number of files that are read before files are selected by their grams. Smaller in
/// tests, whose trees are small.
const MAX_FIRST_FILES: usize = if cfg!(test) { 16 } else { 1024 };

impl CandidateSet {
    /// Returns the first files from the path `from` on, whatever they contain, and the path of the
    /// next one. The tree must be in order.
    pub fn first(
        tree: &Tree,
        view: &QueryView,
        options: &GrepOptions,
        from: &[u8],
    ) -> (Self, Option<Vec<u8>>) {
        let mut work = Self::default();
        let mut ranks = (tree.first_at(from, view)..view.files.1)
            .filter(|rank| view.sees(*rank as usize))
            .map(|rank| tree.order.files[rank as usize]);
        for file in ranks.by_ref().take(MAX_FIRST_FILES) {
            match tree.files[file as usize].state {
                FileState::Binary | FileState::Secret => {
                    work.passed.add(tree, file, options.max_file_bytes, 1);
                }
                _ => {
                    work.bytes += u64::from(tree.files[file as usize].size);
                    work.items.push(CandidateFile { file, ..CandidateFile::default() });
                }
            }
        }
        let next = ranks.next().map(|file| {
            let mut path = Vec::new();
            tree.path_of(file, &mut path);
            path.split_off(tree.dirs[view.start() as usize].shown.len())
        });
        (work, next)
    }

    /// Returns the files from the path `from` on that can have a match by their grams. `misses` are
    /// pieces that are known to have none, sorted. The tree must be in order.
    pub fn of(
        tree: &Tree,
        view: &QueryView,
        options: &GrepOptions,
        from: &[u8],
        misses: &[FilePiece],
    ) -> Self {
        let (query, max_bytes) = (&options.query, options.max_file_bytes);
        let from = tree.first_at(from, view);
        let order = &tree.order;
        let mut passed = view.counts(tree, from, max_bytes);
        let mut set = vec![0_u64; order.files.len().div_ceil(64)];
        let mut add = |file: u32| {
            let rank = order.rank.get(file as usize).copied().unwrap_or(NO_NUMBER);
            if let Some(word) = set.get_mut(rank as usize / 64) {
                *word |= 1 << (rank & 63);
            }
        };
        let mut blocks: Vec<(u32, Block)> = Vec::new();
        let mut uncertain_chunks: Vec<(u32, UncertainChunk)> = Vec::new();
        let mut pieces: Vec<(u32, FilePiece)> = Vec::new();
        // Reports whether a piece must be read, and records it, up to the limit.
        let mut passes = |file: u32, piece: FilePiece| {
            let passes = misses.binary_search(&piece).is_err();
            if passes && pieces.len() < MAX_PIECES_PER_QUERY {
                pieces.push((order.rank[file as usize], piece));
            }
            passes
        };
        match query.plan() {
            GramQuery::Any => {
                for &file in &order.files[from as usize..view.files.1.max(from) as usize] {
                    if matches!(tree.files[file as usize].state, FileState::Text | FileState::Whole)
                    {
                        add(file);
                    }
                }
            }
            plan if query.crosses_lines() => match tree.block_index.owners(plan, tree.owners.len())
            {
                Some(owners) => {
                    for owner in indexes_of_set_bits(&owners) {
                        let file = tree.owner(owner);
                        file.filter(|file| passes(*file, piece_at(owner, 0))).map(&mut add);
                    }
                }
                None => tree.owners.iter().copied().for_each(&mut add),
            },
            plan => {
                let whole = options.limits.has_context();
                // If more than a quarter of the blocks must be read, reading whole files is faster.
                let most = tree.block_index.len() / 4 + 64;
                let mut take = |block: &Block, chunk: Option<Chunk>| {
                    let Some(file) = tree.owner_of(block) else { return };
                    let offset = chunk.map_or(block.offset, |chunk| chunk.offset);
                    if !passes(file, piece_at(block.owner, offset)) {
                        return;
                    }
                    add(file);
                    if whole || blocks.len().max(uncertain_chunks.len()) > most {
                        return;
                    }
                    let rank = order.rank[file as usize];
                    match chunk {
                        None => blocks.push((rank, *block)),
                        Some(chunk) => {
                            uncertain_chunks.push((rank, UncertainChunk { block: *block, chunk }))
                        }
                    }
                };
                if query.fits_chunk() {
                    tree.block_index.candidates_with_chunks(plan, &mut take);
                } else {
                    tree.block_index.blocks(plan, &mut |block| take(block, None));
                }
                if blocks.len().max(uncertain_chunks.len()) > most {
                    blocks.clear();
                    uncertain_chunks.clear();
                }
            }
        }
        tree.dirty.iter().chain(&tree.always).copied().for_each(&mut add);
        blocks.sort_unstable_by_key(|(rank, block)| (*rank, block.offset));
        uncertain_chunks.sort_unstable_by_key(|(rank, doubt)| (*rank, doubt.chunk.offset));
        pieces.sort_unstable();

        let mut work = CandidateSet { passed, ..CandidateSet::default() };
        let (mut blocks, mut uncertain_chunks, mut pieces) =
            (&blocks[..], &uncertain_chunks[..], &pieces[..]);
        for rank in
            indexes_of_set_bits(&set).filter(|rank| *rank >= from && view.sees(*rank as usize))
        {
            let file = order.files[rank as usize];
            passed.add(tree, file, max_bytes, u64::MAX);
            let (blocks, uncertain_chunks) = (
                take_elements_of_rank(&mut blocks, rank),
                take_elements_of_rank(&mut uncertain_chunks, rank),
            );
            let pieces = take_elements_of_rank(&mut pieces, rank);
            let begins = work.sizes();
            let known = &tree.files[file as usize];
            let read = blocks.iter().map(|(_, block)| u64::from(block.len));
            let looked_at = uncertain_chunks.iter().map(|(_, doubt)| u64::from(doubt.chunk.len));
            let bytes: u64 = read.chain(looked_at).sum();
            let some =
                bytes > 0 && bytes * 2 < u64::from(known.size) && known.state == FileState::Text;
            work.bytes += if some { bytes } else { known.size.into() };
            if some {
                work.blocks.extend(blocks.iter().map(|(_, block)| *block));
                work.uncertain_chunks.extend(uncertain_chunks.iter().map(|(_, doubt)| *doubt));
            }
            work.pieces.extend(pieces.iter().map(|(_, piece)| *piece));
            let ends = work.sizes();
            work.items.push(CandidateFile {
                file,
                blocks: (begins.0, ends.0),
                uncertain_chunks: (begins.1, ends.1),
                pieces: (begins.2, ends.2),
            });
        }
        work.passed = passed;
        work
    }

    /// Returns the number of blocks, uncertain chunks and pieces.
    fn sizes(&self) -> (u32, u32, u32) {
        (self.blocks.len() as u32, self.uncertain_chunks.len() as u32, self.pieces.len() as u32)
    }
}

impl Tree {
    /// Returns the rank of the first file of a view whose path, in the form for display, does not
    /// sort before `from`.
    fn first_at(&self, from: &[u8], view: &QueryView) -> u32 {
        if from.is_empty() {
            return view.files.0;
        }
        let (begin, end) = (view.files.0 as usize, view.files.1 as usize);
        let cut = self.dirs[view.start() as usize].shown.len();
        let mut path = Vec::new();
        let before = self.order.files[begin..end.max(begin)].partition_point(|&file| {
            self.path_of(file, &mut path);
            path.get(cut..).unwrap_or_default() < from
        });
        (begin + before) as u32
    }
}

/// Removes the elements up to those of the file with this rank from the start of a sorted list, and
/// returns those of the file.
fn take_elements_of_rank<'l, T>(left: &mut &'l [(u32, T)], rank: u32) -> &'l [(u32, T)] {
    let rest = &left[left.partition_point(|(of, _)| *of < rank)..];
    let (mine, rest) = rest.split_at(rest.partition_point(|(of, _)| *of == rank));
    *left = rest;
    mine
}

fn indexes_of_set_bits(words: &[u64]) -> impl Iterator<Item = u32> + '_ {
    words.iter().enumerate().flat_map(|(index, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(index as u32 * 64 + bit)
        })
    })
}
