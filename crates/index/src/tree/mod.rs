//! The contents of an index: directories, their entries, and for each file its state when its
//! blocks were indexed.
//!
//! Numbers of directories and files are never reused, so that a stale number refers to the same
//! file or to nothing. A tree in which most numbers are unused is discarded.

pub(crate) mod below;
pub(crate) mod log;
pub(crate) mod order;
pub(crate) mod path_columns;
pub(crate) mod view;

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use filewright_core::pattern::ignore::Stack;
use filewright_core::search::{Block, BlockIndex};
use filewright_core::text::path::encode_name;
use log::ChangeLog;
pub(crate) use log::SeenChanges;
use order::PathOrder;

use filewright_fs::dir::stat::{Kind, Stat};

/// The number that stands for no directory, no file, or no blocks.
pub(crate) const NO_NUMBER: u32 = u32::MAX;
/// The number of the directory at which the index begins.
pub(crate) const TOP_DIR: u32 = 0;

/// A directory of the tree. Ignored directories are only entries of their parent.
pub(crate) struct IndexedDir {
    pub parent: u32,
    pub alive: bool,
    pub depth: usize,
    /// The path relative to the start, with a final slash, in the bytes of the file system.
    pub raw: Arc<[u8]>,
    /// The same path in the form for display.
    pub shown: Arc<[u8]>,
    /// True if a name of the path begins with a dot.
    pub hidden: bool,
    /// The ignore rules for the entries.
    pub stack: Stack,
    /// A hash of the ignore rules in the directory itself; `None` before it is listed.
    pub rules: Option<u64>,
    /// True if it contains an ignore file.
    pub has_rules: bool,
    /// True if the ignore rules above have changed since it was listed.
    pub rules_changed_above: bool,
    /// True if it has a `.git` directory, whose `info/exclude` applies.
    pub is_repo_root: bool,
    /// A hash of the file `.git/info/exclude` of the directory; 0 without one.
    pub exclude: u64,
    /// [`stamp_of`] its `.git/info/exclude`; 0 if that changed so recently that another change
    /// might leave the stamp equal.
    pub exclude_stamp: u64,
    pub id: (u64, u64),
    pub stamp: u64,
    /// True if it changed so shortly before it was listed that another change might leave its stamp
    /// equal.
    pub racy: bool,
    pub watch: Option<i32>,
    pub unreadable: bool,
    /// The number of subdirectories that are too deep, and of secrets: both count as unreadable.
    pub too_deep: u64,
    /// The number of entries that ignore rules hide.
    pub ignored: usize,
    /// True if it contains special files, which have no entry here.
    pub special: bool,
    pub names: Vec<u8>,
    /// The entries, sorted by the bytes of their names.
    pub entries: Vec<IndexEntry>,
}

/// An entry of a directory. Special files and `.git` are left out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    pub at: u32,
    pub len: u16,
    pub kind: Kind,
    pub ignored: bool,
    /// True if the name in the form for display has the same bytes.
    pub plain: bool,
    /// The number of the entry's file or directory; [`NO_NUMBER`] for a link, and for an entry that
    /// is ignored or too deep.
    pub below: u32,
}

/// The state of the content of a file in the index.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileState {
    /// The file is not indexed: every query reads the whole file.
    Dirty,
    /// The file is text. A query reads only the blocks that can have a match.
    Text,
    /// The file is text that a query reads as a whole if a block can have a match: it has a byte
    /// order mark, or a NUL ends the text.
    Whole,
    /// Binary: no query matches it.
    Binary,
    /// The file cannot be indexed, for example because it is too large: every query reads the whole
    /// file.
    Unindexable,
    /// The file is a secret: its name is visible, and no query reads it.
    Secret,
}

/// A regular file that is not ignored.
pub(crate) struct FileRecord {
    pub dir: u32,
    pub entry: u32,
    pub state: FileState,
    /// The result of [`stamp_of`] when it was indexed.
    pub stamp: u64,
    pub size: u32,
    /// The number by which its blocks name it as their owner; [`NO_NUMBER`] without blocks. It gets
    /// a new one each time it is indexed.
    pub signed: u32,
    /// The number of times that it was marked as changed.
    pub touched: u32,
}

/// A set of numbers of files. The fast hash is safe, because the index assigns the numbers and an
/// attacker cannot choose them.
pub(crate) type NumberSet = HashSet<u32, BuildHasherDefault<NumberHasher>>;

/// A hasher for one number: a multiplication and a rotation.
#[derive(Default)]
pub(crate) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(u32::from(byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }
}

/// The directories and files of an index, by numbers, and the grams of their blocks.
#[derive(Default)]
pub(crate) struct Tree {
    pub dirs: Vec<IndexedDir>,
    pub files: Vec<FileRecord>,
    pub block_index: BlockIndex,
    /// For each owner number, the number of its file.
    pub owners: Vec<u32>,
    pub dirty: NumberSet,
    pub always: NumberSet,
    /// Files with several hard links, whose changes no watch reports.
    pub linked: NumberSet,
    /// The directories that are special: see [`IndexedDir::is_special`].
    pub special: NumberSet,
    /// The mount points below the start, relative to it.
    pub mount_points: Vec<Vec<u8>>,
    pub live_files: usize,
    /// A counter that changes whenever entries are added or removed.
    pub shape: u64,
    pub log: ChangeLog,
    order: PathOrder,
}

/// Returns a hash of device, inode, size, times and type, called the stamp of an entry. Only the
/// kernel sets `ctime`, so an equal stamp means equal content, except for changes within one tick
/// of its clock: see [`IndexedDir::racy`].
pub(crate) fn stamp_of(stat: &Stat) -> u64 {
    let mut hasher = DefaultHasher::new();
    (stat.dev, stat.ino, stat.size, stat.mtime, stat.ctime, stat.kind as u8).hash(&mut hasher);
    hasher.finish()
}

/// Returns a number that changes if the hash function of [`stamp_of`] does, so that stamps
/// saved by another version of the program are detected.
pub(crate) fn stamp_format() -> u64 {
    let mut hasher = DefaultHasher::new();
    (1_u64, 2_u64, 3_u64, 4_i64, 5_i64, 6_u8).hash(&mut hasher);
    hasher.finish()
}

impl IndexEntry {
    /// Reports whether it is a regular file that is not ignored.
    pub fn is_file(&self) -> bool {
        self.kind == Kind::File && self.below != NO_NUMBER
    }
}

impl IndexedDir {
    pub fn new(parent: u32, depth: usize, raw: Arc<[u8]>, shown: Arc<[u8]>, hidden: bool) -> Self {
        Self {
            parent,
            alive: true,
            depth,
            raw,
            shown,
            hidden,
            stack: Stack::new(),
            rules: None,
            has_rules: false,
            rules_changed_above: false,
            is_repo_root: false,
            exclude: 0,
            exclude_stamp: 0,
            id: (0, 0),
            stamp: 0,
            racy: true,
            watch: None,
            unreadable: false,
            too_deep: 0,
            ignored: 0,
            special: false,
            names: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// Returns the name of an entry as the file system stores it, in bytes and without escapes.
    pub fn name(&self, entry: &IndexEntry) -> &[u8] {
        &self.names[entry.at as usize..][..usize::from(entry.len)]
    }

    /// Appends the name of an entry in the form for display.
    pub fn push_shown(&self, entry: &IndexEntry, path: &mut Vec<u8>) {
        let name = self.name(entry);
        if entry.plain {
            path.extend_from_slice(name);
        } else {
            path.extend_from_slice(encode_name(name).as_bytes());
        }
    }

    /// Returns the entry of that name.
    pub fn find(&self, name: &[u8]) -> Option<&IndexEntry> {
        let place = self.entries.binary_search_by(|entry| self.name(entry).cmp(name)).ok()?;
        self.entries.get(place)
    }
}

impl Tree {
    /// Returns the number of the directory at `path` relative to the start; `None` if it is not in
    /// the tree.
    pub fn find_dir(&self, path: &[u8]) -> Option<u32> {
        let names = path.split(|&byte| byte == b'/').filter(|name| !name.is_empty());
        // The index may have been emptied meanwhile.
        self.dirs.get(TOP_DIR as usize)?;
        let mut at = TOP_DIR;
        for name in names {
            let entry = self.dirs[at as usize].find(name)?;
            if entry.kind != Kind::Dir || entry.below == NO_NUMBER {
                return None;
            }
            at = entry.below;
        }
        Some(at)
    }

    /// Sets `path` to the path of a file relative to the start, in the form for display; empty if
    /// the file was removed.
    pub fn path_of(&self, file: u32, path: &mut Vec<u8>) {
        path.clear();
        let file = &self.files[file as usize];
        if let Some(dir) = self.dirs.get(file.dir as usize) {
            path.extend_from_slice(&dir.shown);
            dir.push_shown(&dir.entries[file.entry as usize], path);
        }
    }

    /// Records that the entries of a directory changed, that it became readable or unreadable, or was
    /// removed.
    pub fn log_dir(&mut self, dir: u32) {
        self.shape += 1;
        let known = &self.dirs[dir as usize];
        if known.alive && known.is_special() {
            self.special.insert(dir);
        } else {
            self.special.remove(&dir);
        }
        self.log.limit(self.live_files);
        self.log.dirs.push(dir);
    }

    /// Records that the state of a file changed.
    fn log_file(&mut self, file: u32) {
        self.log.limit(self.live_files);
        self.log.files.push(file);
    }

    /// Adds a dirty file to a directory, and returns its number.
    pub fn add_file(&mut self, dir: u32) -> u32 {
        let file = self.files.len() as u32;
        let new = FileRecord {
            dir,
            entry: 0,
            state: FileState::Dirty,
            stamp: 0,
            size: 0,
            signed: NO_NUMBER,
            touched: 0,
        };
        self.files.push(new);
        self.live_files += 1;
        self.dirty.insert(file);
        file
    }

    /// Adds a file that counts as a secret by its name, so that no query reads it.
    pub fn add_secret(&mut self, dir: u32) -> u32 {
        let file = self.add_file(dir);
        self.dirty.remove(&file);
        self.files[file as usize].state = FileState::Secret;
        file
    }

    /// Reports whether a file is a secret.
    pub fn is_hidden_secret(&self, file: u32) -> bool {
        self.files.get(file as usize).is_some_and(|file| file.state == FileState::Secret)
    }

    /// Removes a file. Its number stays unused.
    pub fn remove_file(&mut self, file: u32) {
        self.mark_used(file);
        self.dirty.remove(&file);
        self.files[file as usize].dir = NO_NUMBER;
        self.live_files -= 1;
        self.log_file(file);
    }

    /// Marks a file as dirty, because it has changed or may have.
    pub fn mark_used(&mut self, file: u32) {
        let known = &mut self.files[file as usize];
        if known.state == FileState::Secret {
            return;
        }
        known.touched = known.touched.wrapping_add(1);
        known.signed = NO_NUMBER;
        match std::mem::replace(&mut known.state, FileState::Dirty) {
            FileState::Dirty | FileState::Secret => return,
            FileState::Text | FileState::Whole | FileState::Binary => {}
            FileState::Unindexable => drop(self.always.remove(&file)),
        }
        self.linked.remove(&file);
        self.dirty.insert(file);
        self.log_file(file);
    }

    /// Records the result of indexing a dirty file. `owner` is the number of its blocks.
    pub fn settle(&mut self, file: u32, state: FileState, stat: &Stat, owner: u32) {
        let (size, linked) = (u32::try_from(stat.size).unwrap_or(u32::MAX), stat.nlink > 1);
        self.settle_as(&UnchangedFile { file, state, stamp: stamp_of(stat), size, owner, linked });
    }

    /// Does the same as [`Tree::settle`], for a file that is known to be unchanged since it was
    /// indexed.
    pub fn settle_as(&mut self, same: &UnchangedFile) {
        let &UnchangedFile { file, state, stamp, size, owner, linked } = same;
        let known = &mut self.files[file as usize];
        (known.state, known.stamp, known.size, known.signed) = (state, stamp, size, owner);
        match state {
            FileState::Dirty | FileState::Secret => return,
            FileState::Text | FileState::Whole | FileState::Binary => {}
            FileState::Unindexable => drop(self.always.insert(file)),
        }
        self.log_file(file);
        self.dirty.remove(&file);
        if linked || self.is_mount_point(file) {
            self.linked.insert(file);
        }
    }

    /// Reports whether another file is mounted over this one, so that its content also changes
    /// through the name of that file.
    pub fn is_mount_point(&self, file: u32) -> bool {
        if self.mount_points.is_empty() {
            return false;
        }
        let file = &self.files[file as usize];
        let Some(dir) = self.dirs.get(file.dir as usize) else { return false };
        let name = dir.name(&dir.entries[file.entry as usize]);
        self.mount_points
            .iter()
            .any(|place| place.strip_prefix(&dir.raw[..]).is_some_and(|rest| rest == name))
    }

    /// Returns the file of a block; `None` if the file was indexed again since, or has changed.
    pub fn owner_of(&self, block: &Block) -> Option<u32> {
        self.owner(block.owner)
    }

    /// Returns the file with this owner number; `None` if it was indexed again since, or has
    /// changed.
    pub fn owner(&self, owner: u32) -> Option<u32> {
        let file = *self.owners.get(owner as usize)?;
        let known = self.files.get(file as usize)?;
        (known.signed == owner).then_some(file)
    }

    /// Reports whether most of the data belongs to deleted or changed files, so that the index
    /// should be discarded.
    pub fn is_worn(&self) -> bool {
        self.files.len() > 4 * self.live_files + 10_000
            || self.owners.len() > 3 * self.live_files + 10_000
    }

    /// Releases unused capacity.
    pub fn shrink(&mut self) {
        self.block_index.shrink();
        self.dirs.shrink_to_fit();
        self.order.shrink();
        self.files.shrink_to_fit();
        self.owners.shrink_to_fit();
    }

    /// Returns the approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        let dirs = self.dirs.iter().filter(|dir| dir.alive);
        let entries: usize = dirs
            .map(|dir| {
                dir.names.capacity()
                    + dir.entries.capacity() * size_of::<IndexEntry>()
                    + 2 * dir.raw.len()
                    + size_of::<IndexedDir>()
            })
            .sum();
        self.block_index.bytes()
            + entries
            + self.files.capacity() * size_of::<FileRecord>()
            + self.owners.capacity() * 4
            + 4 * (self.log.dirs.capacity() + self.log.files.capacity())
            + self.order.bytes()
    }
}

/// The saved state of a file of the tree that is unchanged since it was indexed.
pub(crate) struct UnchangedFile {
    pub file: u32,
    pub state: FileState,
    pub stamp: u64,
    pub size: u32,
    pub owner: u32,
    pub linked: bool,
}
