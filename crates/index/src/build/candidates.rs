//! Determines the files that a query must read, in path order.
//!
//! Files are selected by their numbers, and only those that are selected are put in order, so that a
//! query after a change of the tree does not sort all of its files.

use filewright_core::search::{Block, Chunk, GramQuery};

use crate::build::negative_cache::{FilePiece, MAX_PIECES_PER_QUERY, piece_at};
use crate::tree::order::{FileSet, indexes_of_set_bits};
use crate::tree::view::{FileCounts, QueryView};
use crate::tree::{FileState, Tree};
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
    /// next one.
    pub fn first(tree: &Tree, view: &QueryView, from: &[u8]) -> (Self, Option<Vec<u8>>) {
        let mut work = Self::default();
        let mut files = tree.files_from(view.start(), from).filter(|&file| view.searches(file));
        for file in files.by_ref().take(MAX_FIRST_FILES) {
            let known = &tree.files[file as usize];
            if known.state == FileState::Binary {
                view.count(file, 1, &mut work.passed);
            } else {
                work.bytes += u64::from(known.size);
                work.items.push(CandidateFile { file, ..CandidateFile::default() });
            }
        }
        let next = files.next().map(|file| {
            let mut path = Vec::new();
            tree.path_of(file, &mut path);
            path.split_off(tree.dirs[view.start() as usize].shown.len())
        });
        (work, next)
    }

    /// Returns the files from the path `from` on that can have a match by their grams. `misses` are
    /// pieces that are known to have none, sorted.
    pub fn of(
        tree: &mut Tree,
        view: &QueryView,
        options: &GrepOptions,
        from: &[u8],
        misses: &[FilePiece],
    ) -> Self {
        let Selection { mut files, parts } = Selection::of(tree, view, options, misses);
        let mut work = Self { passed: view.counts(), ..Self::default() };
        if !from.is_empty() {
            let later = tree.range_from(view.start(), from);
            work.passed = FileCounts::default();
            for &file in &tree.arranged().files[later.clone()] {
                view.count(file, 1, &mut work.passed);
            }
            let rank = &tree.arranged().rank;
            files.retain(|&file| later.contains(&(rank[file as usize] as usize)));
        }
        tree.sort_by_path(&mut files);
        for file in files {
            view.count(file, u64::MAX, &mut work.passed);
            work.push(tree, file, &parts);
        }
        work
    }

    /// Adds a selected file: its blocks and chunks if they are less than half of it, otherwise the
    /// whole file.
    fn push(&mut self, tree: &Tree, file: u32, parts: &FileParts) {
        let (blocks, uncertain_chunks) =
            (of_file(&parts.blocks, file), of_file(&parts.uncertain_chunks, file));
        let begins = self.sizes();
        let known = &tree.files[file as usize];
        let read = blocks.iter().map(|(_, block)| u64::from(block.len));
        let looked_at = uncertain_chunks.iter().map(|(_, doubt)| u64::from(doubt.chunk.len));
        let bytes: u64 = read.chain(looked_at).sum();
        let some = bytes > 0 && bytes * 2 < u64::from(known.size) && known.state == FileState::Text;
        self.bytes += if some { bytes } else { known.size.into() };
        if some {
            self.blocks.extend(blocks.iter().map(|(_, block)| *block));
            self.uncertain_chunks.extend(uncertain_chunks.iter().map(|(_, doubt)| *doubt));
        }
        self.pieces.extend(of_file(&parts.pieces, file).iter().map(|(_, piece)| *piece));
        let ends = self.sizes();
        self.items.push(CandidateFile {
            file,
            blocks: (begins.0, ends.0),
            uncertain_chunks: (begins.1, ends.1),
            pieces: (begins.2, ends.2),
        });
    }

    /// Returns the number of blocks, uncertain chunks and pieces.
    fn sizes(&self) -> (u32, u32, u32) {
        (self.blocks.len() as u32, self.uncertain_chunks.len() as u32, self.pieces.len() as u32)
    }
}

/// The files of a view that can have a match by their grams.
struct Selection {
    /// The numbers of the files, in ascending order.
    files: Vec<u32>,
    parts: FileParts,
}

/// The parts of selected files, each with the number of its file, and sorted by it.
#[derive(Default)]
struct FileParts {
    blocks: Vec<(u32, Block)>,
    uncertain_chunks: Vec<(u32, UncertainChunk)>,
    pieces: Vec<(u32, FilePiece)>,
}

impl Selection {
    fn of(tree: &Tree, view: &QueryView, options: &GrepOptions, misses: &[FilePiece]) -> Self {
        let mut set = FileSet::new(tree.files.len());
        let mut parts = FileParts::default();
        // Reports whether a piece must be read, and records it, up to the limit.
        let mut passes = |file: u32, piece: FilePiece| {
            let passes = misses.binary_search(&piece).is_err();
            if passes && parts.pieces.len() < MAX_PIECES_PER_QUERY {
                parts.pieces.push((file, piece));
            }
            passes
        };
        match options.query.plan() {
            GramQuery::Any => {
                let texts = |file: &u32| {
                    let state = tree.files[*file as usize].state;
                    matches!(state, FileState::Text | FileState::Whole)
                };
                (0..tree.files.len() as u32).filter(texts).for_each(|file| set.insert(file));
            }
            plan if options.query.crosses_lines() => {
                match tree.block_index.owners(plan, tree.owners.len()) {
                    Some(owners) => {
                        for owner in indexes_of_set_bits(&owners) {
                            let file = tree.owner(owner);
                            let file = file.filter(|file| passes(*file, piece_at(owner, 0)));
                            file.into_iter().for_each(|file| set.insert(file));
                        }
                    }
                    None => tree.owners.iter().for_each(|&file| set.insert(file)),
                }
            }
            plan => {
                let whole = options.limits.has_context();
                // If more than a quarter of the blocks must be read, reading whole files is faster.
                let most = tree.block_index.len() / 4 + 64;
                let (blocks, chunks) = (&mut parts.blocks, &mut parts.uncertain_chunks);
                let mut take = |block: &Block, chunk: Option<Chunk>| {
                    let Some(file) = tree.owner_of(block) else { return };
                    let offset = chunk.map_or(block.offset, |chunk| chunk.offset);
                    if !passes(file, piece_at(block.owner, offset)) {
                        return;
                    }
                    set.insert(file);
                    if whole || blocks.len().max(chunks.len()) > most {
                        return;
                    }
                    match chunk {
                        None => blocks.push((file, *block)),
                        Some(chunk) => chunks.push((file, UncertainChunk { block: *block, chunk })),
                    }
                };
                if options.query.fits_chunk() {
                    tree.block_index.candidates_with_chunks(plan, &mut take);
                } else {
                    tree.block_index.blocks(plan, &mut |block| take(block, None));
                }
                if blocks.len().max(chunks.len()) > most {
                    blocks.clear();
                    chunks.clear();
                }
            }
        }
        tree.dirty.iter().chain(&tree.always).for_each(|&file| set.insert(file));
        parts.blocks.sort_unstable_by_key(|(file, block)| (*file, block.offset));
        parts.uncertain_chunks.sort_unstable_by_key(|(file, doubt)| (*file, doubt.chunk.offset));
        parts.pieces.sort_unstable();
        Self { files: set.numbers().filter(|&file| view.searches(file)).collect(), parts }
    }
}

/// Returns the parts of a file in a list that is sorted by files.
fn of_file<T>(parts: &[(u32, T)], file: u32) -> &[(u32, T)] {
    let rest = &parts[parts.partition_point(|(of, _)| *of < file)..];
    &rest[..rest.partition_point(|(of, _)| *of == file)]
}
