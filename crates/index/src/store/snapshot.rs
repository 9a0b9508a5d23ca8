//! The file format of a saved index: the indexed files, their metadata at that time, and the grams
//! of their blocks.
//!
//! A file with a wrong checksum is ignored as a whole, and the saved state of a file whose metadata
//! has changed since.

use std::collections::HashMap;
use std::os::fd::OwnedFd;

use filewright_core::search::{BlockIndex, gram_format_number};
use rustix::io::Errno;

use crate::tree::{FileState, NO_NUMBER, Tree, UnchangedFile, stamp_format};

/// The first bytes of the file.
const SNAPSHOT_MAGIC: [u8; 8] = *b"fwindex\x02";
/// The number of bytes that are read, written and added to the checksum at once.
const BYTES_PER_READ: usize = 64 * 1024;
/// The maximum size in bytes of a saved index that is read. A larger file is ignored.
const MAX_SNAPSHOT_BYTES: u64 = 1 << 30;

/// The data of an index to be saved.
pub(crate) struct Snapshot {
    head: Vec<u8>,
    block_index: BlockIndex,
}

/// The content of a saved index.
pub(crate) struct SavedIndex {
    /// The files of each directory, in name order.
    pub dirs: HashMap<Box<[u8]>, Vec<SavedFile>>,
    pub block_index: BlockIndex,
    /// The number of owner numbers that the blocks use.
    pub owners: usize,
}

/// The state of a file when it was indexed.
pub(crate) struct SavedFile {
    pub name: Box<[u8]>,
    pub state: FileState,
    pub size: u32,
    pub stamp: u64,
    pub owner: u32,
}

impl Snapshot {
    /// Returns the data of an index as it is now. Large parts are shared with the index and not
    /// copied.
    pub fn of(tree: &Tree) -> Self {
        let mut head = Vec::new();
        let mut put = |bytes: &[u8]| head.extend_from_slice(bytes);
        put(&(tree.owners.len() as u32).to_le_bytes());
        let dirs: Vec<_> = tree.dirs.iter().filter(|dir| dir.alive).collect();
        put(&(dirs.len() as u32).to_le_bytes());
        for dir in dirs {
            let files: Vec<_> = dir
                .entries
                .iter()
                .filter_map(|entry| {
                    let file = tree.files.get(entry.below as usize).filter(|_| entry.is_file())?;
                    Some((dir.name(entry), file, number_of_state(file.state)?))
                })
                .collect();
            put(&(dir.raw.len() as u32).to_le_bytes());
            put(&dir.raw);
            put(&(files.len() as u32).to_le_bytes());
            for (name, file, state) in files {
                put(&(name.len() as u32).to_le_bytes());
                put(name);
                put(&state.to_le_bytes());
                put(&file.size.to_le_bytes());
                put(&file.signed.to_le_bytes());
                put(&file.stamp.to_le_bytes());
            }
        }
        Self { head, block_index: tree.block_index.clone() }
    }

    /// Writes everything to a new file.
    pub fn write(&self, file: &OwnedFd) -> rustix::io::Result<()> {
        let mut writer = SnapshotWriter {
            file,
            piece: Vec::with_capacity(BYTES_PER_READ),
            sum: Checksum::default(),
        };
        let mut failed = Ok(());
        let mut put = |bytes: &[u8]| {
            if failed.is_ok() {
                failed = writer.put(bytes);
            }
        };
        put(&SNAPSHOT_MAGIC);
        put(&snapshot_format().to_le_bytes());
        put(&self.head);
        self.block_index.save(&mut put);
        failed?;
        writer.end()
    }
}

impl SavedIndex {
    /// Reads a file of `bytes` bytes; returns `None` if it is invalid, incomplete, or of another
    /// version.
    pub fn read(file: &OwnedFd, bytes: u64) -> Option<Self> {
        let left = bytes.checked_sub(8).filter(|_| bytes <= MAX_SNAPSHOT_BYTES)?;
        let mut reader =
            SnapshotReader { file, left, piece: Vec::new(), at: 0, sum: Checksum::default() };
        if reader.array()? != SNAPSHOT_MAGIC || reader.array()? != snapshot_format().to_le_bytes() {
            return None;
        }
        let owners = reader.number()? as usize;
        let mut dirs = HashMap::new();
        for _ in 0..reader.number()? {
            let raw = reader.bytes()?;
            let mut files = Vec::new();
            for _ in 0..reader.number()? {
                let name = reader.bytes()?;
                let state = state_of_number(reader.number()?)?;
                let (size, owner) = (reader.number()?, reader.number()?);
                let stamp = u64::from_le_bytes(reader.array()?);
                files.push(SavedFile { name, state, size, stamp, owner });
            }
            dirs.insert(raw, files);
        }
        let block_index = BlockIndex::load(&mut |piece| reader.fill(piece).is_some())?;
        reader.is_whole().then_some(Self { dirs, block_index, owners })
    }
}

/// Returns a number that changes if the definition of grams or of stamps does.
fn snapshot_format() -> u64 {
    gram_format_number() ^ stamp_format().rotate_left(1)
}

/// Returns the number by which a state is saved; `None` for one that is not saved.
fn number_of_state(state: FileState) -> Option<u32> {
    match state {
        FileState::Dirty | FileState::Secret => None,
        FileState::Text => Some(1),
        FileState::Whole => Some(2),
        FileState::Binary => Some(3),
        FileState::Unindexable => Some(4),
    }
}

fn state_of_number(number: u32) -> Option<FileState> {
    match number {
        1 => Some(FileState::Text),
        2 => Some(FileState::Whole),
        3 => Some(FileState::Binary),
        4 => Some(FileState::Unindexable),
        _ => None,
    }
}

struct SnapshotWriter<'a> {
    file: &'a OwnedFd,
    piece: Vec<u8>,
    sum: Checksum,
}

impl SnapshotWriter<'_> {
    /// Appends bytes to the file, in pieces of [`BYTES_PER_READ`].
    fn put(&mut self, mut bytes: &[u8]) -> rustix::io::Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(BYTES_PER_READ - self.piece.len()));
            self.piece.extend_from_slice(now);
            bytes = later;
            if self.piece.len() == BYTES_PER_READ {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> rustix::io::Result<()> {
        self.sum.add(&self.piece);
        write_all(self.file, &self.piece)?;
        self.piece.clear();
        Ok(())
    }

    /// Writes the bytes that are still buffered, and the checksum.
    fn end(mut self) -> rustix::io::Result<()> {
        self.flush()?;
        write_all(self.file, &self.sum.get().to_le_bytes())
    }
}

fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> rustix::io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(file, bytes) {
            Ok(0) => return Err(Errno::NOSPC),
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

struct SnapshotReader<'a> {
    file: &'a OwnedFd,
    /// The number of unread bytes, without the checksum.
    left: u64,
    piece: Vec<u8>,
    /// The number of bytes of `piece` that were returned.
    at: usize,
    sum: Checksum,
}

impl SnapshotReader<'_> {
    /// Reads exactly `out.len()` bytes; `None` if the file has fewer.
    fn fill(&mut self, mut out: &mut [u8]) -> Option<()> {
        while !out.is_empty() {
            if self.at == self.piece.len() {
                self.next_piece()?;
            }
            let count = out.len().min(self.piece.len() - self.at);
            let (now, later) = out.split_at_mut(count);
            now.copy_from_slice(&self.piece[self.at..self.at + count]);
            self.at += count;
            out = later;
        }
        Some(())
    }

    /// Reads the next piece of the file into the buffer.
    fn next_piece(&mut self) -> Option<()> {
        let size = BYTES_PER_READ.min(usize::try_from(self.left).ok()?);
        if size == 0 {
            return None;
        }
        self.piece.resize(size, 0);
        read_exactly(self.file, &mut self.piece)?;
        self.sum.add(&self.piece);
        self.left -= size as u64;
        self.at = 0;
        Some(())
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes).map(|()| bytes)
    }

    /// Reads a number of 32 bits.
    fn number(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Reads a length and that number of bytes; `None` above [`BYTES_PER_READ`].
    fn bytes(&mut self) -> Option<Box<[u8]>> {
        let length = self.number()? as usize;
        // No name or path is longer. The check also prevents a damaged length from allocating much
        // memory.
        if length > BYTES_PER_READ {
            return None;
        }
        let mut bytes = vec![0; length];
        self.fill(&mut bytes)?;
        Some(bytes.into())
    }

    /// Reports whether everything was read and the checksum matches.
    fn is_whole(&mut self) -> bool {
        let mut sum = [0; 8];
        self.left == 0
            && self.at == self.piece.len()
            && read_exactly(self.file, &mut sum).is_some()
            && u64::from_le_bytes(sum) == self.sum.get()
    }
}

fn read_exactly(file: &OwnedFd, mut out: &mut [u8]) -> Option<()> {
    while !out.is_empty() {
        match rustix::io::read(file, &mut *out) {
            Ok(0) => return None,
            Ok(read) => out = &mut out[read..],
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    Some(())
}

/// A checksum that detects accidental corruption, at some gigabytes per second.
#[derive(Default)]
struct Checksum {
    lanes: [u64; 4],
    bytes: u64,
}

impl Checksum {
    fn add(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        let (words, rest) = piece.as_chunks::<8>();
        for words in words.chunks(4) {
            for (lane, word) in self.lanes.iter_mut().zip(words) {
                *lane = mix_into_checksum(*lane, u64::from_le_bytes(*word));
            }
        }
        for &byte in rest {
            self.lanes[0] = mix_into_checksum(self.lanes[0], u64::from(byte));
        }
    }

    fn get(&self) -> u64 {
        self.lanes.iter().fold(self.bytes, |sum, lane| mix_into_checksum(sum, *lane))
    }
}

/// Adds a word to a checksum. Every bit of `word` changes the result, because both steps are
/// invertible.
fn mix_into_checksum(lane: u64, word: u64) -> u64 {
    (lane ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31)
}

impl Tree {
    /// Reports whether at least about half of the owner numbers belong to existing files, so that
    /// the index is worth saving.
    pub fn is_compact(&self) -> bool {
        self.owners.len() <= 2 * self.live_files + 5_000
    }

    /// Restores the state of the unchanged files `same`, and returns their number. Restores
    /// nothing, and returns 0, if the tree has blocks already or the saved index is inconsistent.
    pub fn restore(&mut self, kept: SavedIndex, same: &[UnchangedFile]) -> usize {
        if !self.block_index.is_empty() || kept.owners > 2 * self.live_files + 5_000 {
            return 0;
        }
        let mut owners = vec![NO_NUMBER; kept.owners];
        for same in same.iter().filter(|same| state_has_blocks(same.state)) {
            match owners.get_mut(same.owner as usize) {
                Some(owner) if *owner == NO_NUMBER => *owner = same.file,
                _ => return 0,
            }
        }
        (self.owners, self.block_index) = (owners, kept.block_index);
        for same in same {
            self.settle_as(same);
        }
        same.len()
    }
}

fn state_has_blocks(state: FileState) -> bool {
    matches!(state, FileState::Text | FileState::Whole)
}
