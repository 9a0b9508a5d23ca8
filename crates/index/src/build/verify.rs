//! Reads and searches the files that the index has selected, so that results always reflect their
//! current content.

use std::borrow::Cow;
use std::ffi::CString;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use filewright_core::search::Block;
use rustix::io::Errno;

use crate::Index;
use crate::build::candidates::{CandidateSet, UncertainChunk};
use crate::build::negative_cache::{FilePiece, piece_at};
use crate::tree::{NO_NUMBER, stamp_of};
use filewright_fs::dir::stat::{Kind, Stat};
use filewright_fs::search::searcher::{FilePart, Search, SearchThread};
use filewright_fs::walk::{
    AfterFile, Opener, ReadOutcome, SearchedFile, StopSignal, Visitor as _, WalkRoot, threads,
};

/// The maximum number of files that a thread takes at a time. Their paths are looked up together.
const MAX_FILES_PER_BATCH: usize = 32;
/// The minimum number of files that a thread takes at a time, and the number if the search may end
/// early.
const MIN_FILES_PER_BATCH: usize = 4;
/// The number of batches per thread: with several, all threads end at about the same time.
const BATCHES_PER_THREAD: usize = 8;
/// The minimum number of files, or of [`BYTES_PER_FILE_COST`], for several threads. With fewer,
/// starting another one costs as much as it saves.
const MIN_FILES_PER_THREAD: usize = 96;
/// The number of bytes whose reading and searching takes as long as opening a file.
const BYTES_PER_FILE_COST: u64 = 40 << 10;

/// The minimum size in bytes from which a buffer gets exactly the size needed. A smaller one gets
/// the next power of two.
const MIN_EXACT_BUFFER_BYTES: usize = 1 << 20;

/// The outcome of reading the selected files; the hits are in the search.
pub(crate) struct VerifyOutcome {
    /// The smallest path that was not searched because the call ended; `None` if all were.
    pub stopped_at: Option<Box<[u8]>>,
    /// True if there were more results than requested.
    pub bounded: bool,
    /// The pieces without a match.
    pub misses: Vec<FilePiece>,
}

/// Reads and searches the files in `work`, and adds their hits to `search`. `cut` is the length of
/// the path of the search's start relative to that of the index.
pub(crate) fn verify_candidates(
    index: &Index,
    walk_root: &WalkRoot<'_>,
    cut: usize,
    work: &CandidateSet,
    search: &Search<'_>,
    stop: &StopSignal<'_>,
) -> VerifyOutcome {
    let shared = VerifyContext {
        index,
        work,
        cut,
        search,
        stop,
        next: AtomicUsize::new(0),
        batch_size: match work.items.len() / (BATCHES_PER_THREAD * threads()) {
            _ if search.has_limit() => MIN_FILES_PER_BATCH,
            share => share.clamp(MIN_FILES_PER_BATCH, MAX_FILES_PER_BATCH),
        },
        bounded: AtomicBool::new(false),
        bound: Mutex::default(),
        undone: Mutex::default(),
        misses: Mutex::default(),
    };
    let run = || Verifier::new(&shared, walk_root).run();
    if work.items.len() as u64 + work.bytes / BYTES_PER_FILE_COST <= MIN_FILES_PER_THREAD as u64 {
        run();
    } else {
        std::thread::scope(|scope| {
            for _ in 1..threads().min(work.items.len() / MIN_FILES_PER_BATCH) {
                // If no thread can be started, the calling thread does everything.
                let _ = std::thread::Builder::new().spawn_scoped(scope, run);
            }
            run();
        });
    }
    VerifyOutcome {
        stopped_at: shared.undone.into_inner().unwrap_or_else(PoisonError::into_inner),
        bounded: shared.bounded.into_inner(),
        misses: shared.misses.into_inner().unwrap_or_else(PoisonError::into_inner),
    }
}

struct VerifyContext<'a> {
    index: &'a Index,
    work: &'a CandidateSet,
    /// The number of bytes of a path before the part that is relative to the start of the search.
    cut: usize,
    search: &'a Search<'a>,
    stop: &'a StopSignal<'a>,
    next: AtomicUsize,
    batch_size: usize,
    bounded: AtomicBool,
    /// The bound: paths that sort after it are not needed.
    bound: Mutex<Option<Box<[u8]>>>,
    undone: Mutex<Option<Box<[u8]>>>,
    misses: Mutex<Vec<FilePiece>>,
}

/// Stores a path, if it sorts before the stored one or there is none.
fn store_smaller_path(place: &Mutex<Option<Box<[u8]>>>, path: &[u8]) {
    let mut kept = place.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.as_ref().is_none_or(|kept| *path < **kept) {
        *kept = Some(path.into());
    }
}

/// A file to read, with what the tree knows about it.
struct LocatedCandidate {
    dir: Arc<[u8]>,
    name: CString,
    path: Vec<u8>,
    stamp: u64,
    blocks: Range<usize>,
    uncertain_chunks: Range<usize>,
    pieces: Range<usize>,
}

struct Verifier<'a> {
    shared: &'a VerifyContext<'a>,
    opener: Opener<'a>,
    local: SearchThread,
    parts: Vec<FilePart>,
    /// The pieces without a match in all files so far.
    misses: Vec<FilePiece>,
    cleared: Vec<FilePiece>,
}

impl<'a> Verifier<'a> {
    fn new(shared: &'a VerifyContext<'a>, walk_root: &'a WalkRoot<'a>) -> Self {
        let opener = Opener::new(walk_root, shared.stop);
        let (parts, misses, cleared) = (Vec::new(), Vec::new(), Vec::new());
        Self { shared, opener, local: shared.search.local(), parts, misses, cleared }
    }

    /// Searches files until none is left, and hands the pieces without a match over.
    fn run(mut self) {
        self.search_all();
        let place = &self.shared.misses;
        place.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.misses);
    }

    /// Searches batches of the selected files until none is left or needed.
    fn search_all(&mut self) {
        let shared = self.shared;
        loop {
            let begin = shared.next.fetch_add(shared.batch_size, Ordering::Relaxed);
            let end = (begin + shared.batch_size).min(shared.work.items.len());
            if begin >= end {
                return;
            }
            let candidates = self.look_up(begin..end);
            for (number, candidate) in candidates.iter().enumerate() {
                if shared.stop.now() {
                    return store_smaller_path(&shared.undone, &candidate.path);
                }
                if self.is_beyond(&candidate.path) {
                    return;
                }
                let next = candidates.get(number + 1);
                let left = next.is_none_or(|next| next.dir != candidate.dir);
                self.local.found_nothing = false;
                let next = self.search(candidate, left);
                if self.local.found_nothing {
                    self.misses.extend(&shared.work.pieces[candidate.pieces.clone()]);
                }
                match next {
                    AfterFile::Continue => {}
                    AfterFile::Bound(path) => {
                        store_smaller_path(&shared.bound, &path);
                        shared.bounded.store(true, Ordering::Release);
                    }
                    AfterFile::Interrupted => {
                        return store_smaller_path(&shared.undone, &candidate.path);
                    }
                }
            }
        }
    }

    /// Reports whether a path sorts after the bound, so that it is not needed.
    fn is_beyond(&self, path: &[u8]) -> bool {
        let shared = self.shared;
        shared.bounded.load(Ordering::Acquire)
            && shared
                .bound
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .as_ref()
                .is_some_and(|bound| *path > **bound)
    }

    /// Returns the selected files in a range of the work with their current paths, without those
    /// deleted since.
    fn look_up(&self, items: Range<usize>) -> Vec<LocatedCandidate> {
        let state = self.shared.index.lock();
        let tree = &state.tree;
        let mut path = Vec::new();
        self.shared.work.items[items]
            .iter()
            .filter_map(|item| {
                let file =
                    tree.files.get(item.file as usize).filter(|file| file.dir != NO_NUMBER)?;
                let dir = &tree.dirs[file.dir as usize];
                tree.path_of(item.file, &mut path);
                Some(LocatedCandidate {
                    dir: Arc::clone(&dir.raw),
                    name: CString::new(dir.name(&dir.entries[file.entry as usize])).ok()?,
                    path: path.get(self.shared.cut..)?.into(),
                    stamp: file.stamp,
                    blocks: item.blocks.0 as usize..item.blocks.1 as usize,
                    uncertain_chunks: item.uncertain_chunks.0 as usize
                        ..item.uncertain_chunks.1 as usize,
                    pieces: item.pieces.0 as usize..item.pieces.1 as usize,
                })
            })
            .collect()
    }

    /// Searches one file: its selected blocks, if it is unchanged, otherwise the whole file. `left`
    /// says that the next file is in another directory.
    fn search(&mut self, candidate: &LocatedCandidate, left: bool) -> AfterFile {
        let VerifyContext { search, stop, work, .. } = *self.shared;
        let fd = match self.opener.open_plain(&candidate.dir, &candidate.name, left) {
            Ok(Some(fd)) => fd,
            // The file was deleted, or has changed its type, since it was listed.
            Ok(None) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                return AfterFile::Continue;
            }
            Err(errno) => {
                return search.whole(&mut self.local, &candidate.path, Err(errno), stop);
            }
        };
        if search.hides_files()
            && Stat::of(&fd).is_ok_and(|stat| search.hides_other_name(&stat, &candidate.path))
        {
            return search.whole(&mut self.local, &candidate.path, Ok(ReadOutcome::Hidden), stop);
        }
        let blocks = &work.blocks[candidate.blocks.clone()];
        let uncertain_chunks = &work.uncertain_chunks[candidate.uncertain_chunks.clone()];
        if !(blocks.is_empty() && uncertain_chunks.is_empty())
            && let Some(recheck) = self.recheck(&fd, uncertain_chunks)
            && self.read_parts(&fd, &blocks_in_file_order(blocks, recheck), candidate.stamp)
        {
            self.misses.append(&mut self.cleared);
            return search.parts(&mut self.local, &candidate.path, &self.parts, &fd, stop);
        }
        let SearchThread { query, buffer, .. } = &mut self.local;
        let look = |text: &[u8], is_end| query.length_without_match(text, is_end);
        let max_bytes = search.options.max_file_bytes;
        let read = Stat::of(&fd).and_then(|stat| match stat.kind {
            Kind::File => SearchedFile { fd: fd.as_fd(), size: stat.size, max_bytes }
                .read_matching(&look, stop, buffer),
            _ => Ok(ReadOutcome::Special),
        });
        search.whole(&mut self.local, &candidate.path, read, stop)
    }

    /// Reads the chunks that may have a match, and returns the blocks of those that do; `None` if
    /// the file has become shorter.
    fn recheck(&mut self, fd: &OwnedFd, uncertain_chunks: &[UncertainChunk]) -> Option<Vec<Block>> {
        let mut blocks: Vec<Block> = Vec::new();
        self.cleared.clear();
        for UncertainChunk { block, chunk } in uncertain_chunks {
            if blocks.last() == Some(block) {
                continue;
            }
            let len = chunk.len as usize;
            let bytes = grow_buffer_to(&mut self.local.parts, len);
            if !read_exact_at(fd, bytes, chunk.offset.into()) {
                return None;
            }
            if self.local.query.may_match(bytes) {
                blocks.push(*block);
            } else {
                self.cleared.push(piece_at(block.owner, chunk.offset));
            }
        }
        Some(blocks)
    }

    /// Reads blocks into the buffer for parts. Returns false if the file has changed since it was
    /// indexed.
    fn read_parts(&mut self, fd: &OwnedFd, blocks: &[Block], stamp: u64) -> bool {
        self.parts.clear();
        let bytes: usize = blocks.iter().map(|block| block.len as usize).sum();
        let read = grow_buffer_to(&mut self.local.parts, bytes);
        let mut begin = 0;
        for block in blocks {
            let end = begin + block.len as usize;
            if !read_exact_at(fd, &mut read[begin..end], block.offset.into()) {
                return false;
            }
            self.parts.push(FilePart { range: begin..end, line: block.line.into() });
            begin = end;
        }
        // The metadata is checked last, so that a change before or during the read is detected.
        Stat::of(fd).is_ok_and(|stat| {
            stamp_of(&stat) == stamp && stat.size <= self.shared.search.options.max_file_bytes
        })
    }
}

/// Returns the blocks of both lists in the order of the file.
fn blocks_in_file_order(blocks: &[Block], others: Vec<Block>) -> Cow<'_, [Block]> {
    if others.is_empty() {
        return Cow::Borrowed(blocks);
    }
    let mut all = [blocks, &others].concat();
    all.sort_unstable_by_key(|block| block.offset);
    Cow::Owned(all)
}

/// Returns the first `bytes` bytes of a buffer, which grows if necessary.
fn grow_buffer_to(buffer: &mut Vec<u8>, bytes: usize) -> &mut [u8] {
    if buffer.len() < bytes {
        *buffer =
            vec![0; if bytes < MIN_EXACT_BUFFER_BYTES { bytes.next_power_of_two() } else { bytes }];
    }
    &mut buffer[..bytes]
}

/// Fills a buffer from an offset of a file; returns false if the file is shorter or unreadable.
fn read_exact_at(fd: &OwnedFd, out: &mut [u8], offset: u64) -> bool {
    let mut done = 0;
    while done < out.len() {
        match rustix::io::pread(fd, &mut out[done..], offset + done as u64) {
            Ok(0) => return false,
            Ok(read) => done += read,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
    true
}
