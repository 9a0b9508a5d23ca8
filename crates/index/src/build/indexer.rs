//! Indexes files in the background: reads each once and stores the grams of its blocks.
//!
//! A file that changes while it is read stays dirty, that is, every query reads it; so does one
//! that changed so recently that another change might leave its stamp equal.

use std::ffi::CString;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use filewright_core::search::{
    Block, Chunk, ContentClass, GramExtractor, IndexUnit, classify_content, split_into_index_units,
};

use crate::Index;
use crate::tree::{FileState, NO_NUMBER, stamp_of};
use filewright_fs::dir::stat::{Kind, Stat};
use filewright_fs::search::grep::MAX_SEARCHED_FILE_BYTES;
use filewright_fs::walk::{
    Opener, ReadOutcome, SearchedFile, StopSignal, WalkRoot, open_plain, threads,
};

/// The number of blocks whose grams are collected, some hundred kilobytes, before they are added to
/// the index.
const MAX_BLOCKS_PER_HANDOVER: usize = 16;
/// The number of files that a thread takes at a time.
const FILES_PER_BATCH: usize = 32;
/// The maximum number of threads that index one tree. More would slow other programs down.
const MAX_INDEXING_THREADS: usize = 4;
/// The minimum number of dirty files for another pass. Queries read fewer themselves.
pub(crate) const MIN_DIRTY_FILES_PER_PASS: usize = 64;
/// The maximum number of passes over files that keep changing.
const MAX_INDEXING_PASSES: u32 = 8;
/// The pause before another pass, after which files that had changed too recently can be indexed.
const PASS_INTERVAL: Duration = Duration::from_millis(150);

/// Restores a saved index, and indexes the dirty files in at most [`MAX_INDEXING_PASSES`] passes.
/// Saves the index then.
pub(crate) fn index_files(index: &Index, walk_root: &WalkRoot<'_>, stop: &StopSignal<'_>) {
    index.request_saved();
    index.restore_saved(walk_root, stop);
    for number in 0..MAX_INDEXING_PASSES {
        if !index_dirty_files(index, walk_root, number, stop) {
            break;
        }
    }
    index.lock().tree.shrink();
    if !stop.now() {
        index.save();
    }
}

/// Indexes each dirty file once, which is one pass. `number` counts the passes from 0. Returns false if there was
/// nothing to do or the work must end.
pub(crate) fn index_dirty_files(
    index: &Index,
    walk_root: &WalkRoot<'_>,
    number: u32,
    stop: &StopSignal<'_>,
) -> bool {
    let dirty = {
        let mut state = index.lock();
        let mut dirty: Vec<u32> = state.tree.dirty.iter().copied().collect();
        state.tree.sort_by_path(&mut dirty);
        dirty
    };
    if dirty.is_empty()
        || number > 1 && dirty.len() < MIN_DIRTY_FILES_PER_PASS
        || index.is_closed()
        || stop.now()
    {
        return false;
    }
    if number > 0 {
        let begun = std::time::Instant::now();
        while begun.elapsed() < PASS_INTERVAL && !stop.now() && !index.is_closed() {
            std::thread::sleep(PASS_INTERVAL / 10);
        }
    }
    let next = AtomicUsize::new(0);
    let run = || Indexer::new(index, walk_root, stop).run(&dirty, &next);
    std::thread::scope(|scope| {
        for _ in 1..threads().min(MAX_INDEXING_THREADS).min(dirty.len().div_ceil(FILES_PER_BATCH)) {
            // If no thread can be started, the calling thread does everything. The threads inherit
            // its priority, which is low in the background and normal if a caller is waiting.
            let _ = std::thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
    true
}

/// Lowers the priority of the calling thread, so that searches come first.
pub(crate) fn lower_thread_priority() {
    // On Linux the priority is that of the thread; elsewhere it would be that of the process.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(10);
}

struct Indexer<'a> {
    index: &'a Index,
    walk_root: &'a WalkRoot<'a>,
    stop: &'a StopSignal<'a>,
    signer: GramExtractor,
    buffer: Vec<u8>,
    grams: Vec<u32>,
    /// The blocks and chunks whose grams are in `grams`, to be added to the index.
    signed: Vec<IndexedFile>,
}

/// A block or chunk of the current file, and the end of its grams in [`Indexer::grams`].
struct IndexedFile {
    block: Block,
    chunk: Option<Chunk>,
    end: usize,
}

struct PendingFile {
    file: u32,
    touched: u32,
    dir: Arc<[u8]>,
    name: CString,
}

impl<'a> Indexer<'a> {
    fn new(index: &'a Index, walk_root: &'a WalkRoot<'a>, stop: &'a StopSignal<'a>) -> Self {
        let (buffer, grams, signed) = (Vec::new(), Vec::new(), Vec::new());
        Self { index, walk_root, stop, signer: GramExtractor::default(), buffer, grams, signed }
    }

    /// Indexes batches of the dirty files until none is left. `next` is shared by the threads.
    fn run(&mut self, dirty: &[u32], next: &AtomicUsize) {
        let mut opener = Opener::new(self.walk_root, self.stop);
        loop {
            let begin = next.fetch_add(FILES_PER_BATCH, Ordering::Relaxed);
            let end = (begin + FILES_PER_BATCH).min(dirty.len());
            if begin >= end {
                return;
            }
            for todo in self.look_up(&dirty[begin..end]) {
                if self.is_over() || self.index.is_over_budget() {
                    return;
                }
                self.file(&todo, &mut opener);
            }
        }
    }

    /// Reports whether the work must end, because the index is closed or the call is over.
    fn is_over(&self) -> bool {
        self.index.is_closed() || self.stop.now()
    }

    /// Returns directory and name of files, without those that are deleted or no longer dirty.
    fn look_up(&self, files: &[u32]) -> Vec<PendingFile> {
        let state = self.index.lock();
        self.index.update_memory_use(&state);
        let tree = &state.tree;
        files
            .iter()
            .filter_map(|&id| {
                let file = tree.files.get(id as usize)?;
                if file.dir == NO_NUMBER || file.state != FileState::Dirty {
                    return None;
                }
                let dir = &tree.dirs[file.dir as usize];
                let name = CString::new(dir.name(&dir.entries[file.entry as usize])).ok()?;
                Some(PendingFile {
                    file: id,
                    touched: file.touched,
                    dir: Arc::clone(&dir.raw),
                    name,
                })
            })
            .collect()
    }

    /// Indexes a file. One that cannot be read now stays dirty.
    fn file(&mut self, todo: &PendingFile, opener: &mut Opener<'_>) {
        let opened = opener.open(&todo.dir).and_then(|dir| open_plain(dir, &todo.name, self.stop));
        let Ok(Some(fd)) = opened else { return };
        let Ok(stat) = Stat::of(&fd) else { return };
        if stat.kind != Kind::File || self.index.lock().changed_too_recently(&stat) {
            return;
        }
        self.grams.clear();
        self.signed.clear();
        let mut owner = NO_NUMBER;
        let (size, max_bytes) = (stat.size, MAX_SEARCHED_FILE_BYTES);
        let read = SearchedFile { fd: fd.as_fd(), size, max_bytes }.read(&mut self.buffer);
        let state = match read {
            Ok(ReadOutcome::Read) => self.content(todo, &mut owner),
            Ok(ReadOutcome::Binary) => FileState::Binary,
            Ok(_) => FileState::Unindexable,
            Err(_) => return,
        };
        if self.buffer.capacity() > 4 << 20 {
            self.buffer = Vec::new();
        }
        // A file that was read only partly stays dirty.
        if self.is_over() || !Stat::of(&fd).is_ok_and(|after| stamp_of(&after) == stamp_of(&stat)) {
            return;
        }
        let mut index = self.index.lock();
        // An index that is closed gets its flag before the lock is taken, so a tree that is not
        // closed now is not emptied.
        if self.index.is_closed() {
            return;
        }
        let index = &mut *index;
        let file = &index.tree.files[todo.file as usize];
        // An event that arrived while the file was read has marked it as changed, so that what was
        // read may be outdated.
        if file.dir == NO_NUMBER || file.touched != todo.touched || file.state != FileState::Dirty {
            return;
        }
        add_collected_blocks(&mut index.tree, todo.file, &mut owner, &self.grams, &mut self.signed);
        index.tree.settle(todo.file, state, &stat, owner);
        self.index.files_since_save.fetch_add(1, Ordering::Relaxed);
        self.index.count_bytes(stat.size);
    }

    /// Collects the grams of the content of the buffer, and adds those of all blocks but the last
    /// ones to the index. Returns the class of the content.
    fn content(&mut self, todo: &PendingFile, owner: &mut u32) -> FileState {
        let content = std::mem::take(&mut self.buffer);
        let (how, text) = classify_content(&content);
        for IndexUnit { block, chunk, bytes } in split_into_index_units(text) {
            self.grams.extend_from_slice(self.signer.grams(bytes));
            // The owner is set when the blocks are added to the index.
            self.signed.push(IndexedFile { block, chunk, end: self.grams.len() });
            if self.signed.len() == MAX_BLOCKS_PER_HANDOVER {
                let tree = &mut self.index.lock().tree;
                if self.is_over() {
                    break;
                }
                add_collected_blocks(tree, todo.file, owner, &self.grams, &mut self.signed);
                self.grams.clear();
            }
        }
        let state = match how {
            ContentClass::Text => FileState::Text,
            ContentClass::Whole => FileState::Whole,
            ContentClass::Binary => FileState::Binary,
            ContentClass::Always => FileState::Unindexable,
        };
        self.buffer = content;
        state
    }
}

/// Adds the collected blocks of a file to the index. The first call gives the file its owner
/// number.
fn add_collected_blocks(
    tree: &mut crate::tree::Tree,
    file: u32,
    owner: &mut u32,
    grams: &[u32],
    signed: &mut Vec<IndexedFile>,
) {
    if *owner == NO_NUMBER {
        *owner = tree.owners.len() as u32;
        tree.owners.push(file);
    }
    let mut begin = 0;
    for IndexedFile { block, chunk, end } in signed.drain(..) {
        tree.block_index.push(&grams[begin..end], Block { owner: *owner, ..block }, chunk);
        begin = end;
    }
}
