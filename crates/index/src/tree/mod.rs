//! The contents of an index: directories, their entries, and for each file its state when its
//! blocks were indexed.
//!
//! Numbers of directories and files are never reused, so that a stale number refers to the same
//! file or to nothing. A tree in which most numbers are unused is discarded.

pub(crate) mod order;
pub(crate) mod path_columns;
pub(crate) mod view;

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use filewright_core::pattern::ignore::Stack;
use filewright_core::search::{Block, BlockIndex};
use filewright_core::text::path::encode_name;
use order::Order;

use filewright_fs::dir::stat::{Kind, Stat};

/// No directory, no file, or not indexed.
pub(crate) const NO_NUMBER: u32 = u32::MAX;
/// The directory at which the index begins.
pub(crate) const TOP: u32 = 0;

/// A directory that is not ignored.
pub(crate) struct Dir {
    pub parent: u32,
    pub alive: bool,
    pub depth: usize,
    /// The path below the start, with a final slash, for opening.
    pub raw: Arc<[u8]>,
    /// The path for display.
    pub shown: Arc<[u8]>,
    /// True if a name in the path begins with a dot.
    pub hidden: bool,
    /// The ignore rules for the entries.
    pub stack: Stack,
    /// A hash of the directory's own rules; `None` before it is listed.
    pub rules: Option<u64>,
    /// True if it contains an ignore file.
    pub has_rules: bool,
    /// True if the rules above changed since it was listed.
    pub rules_changed_above: bool,
    /// True if it has a `.git` directory, whose `info/exclude` applies.
    pub is_repo_root: bool,
    /// A hash of the excludes of [`Dir::is_repo_root`].
    pub exclude: u64,
    /// The result of [`stamp_of`] for the excludes, or 0 if another change might not change it.
    pub exclude_stamp: u64,
    pub id: (u64, u64),
    pub stamp: u64,
    /// True if it changed so shortly before it was listed that another change may not be visible.
    pub racy: bool,
    pub watch: Option<i32>,
    pub unreadable: bool,
    /// The number of subdirectories that are too deep.
    pub too_deep: u64,
    /// The number of entries that ignore rules hide.
    pub ignored: usize,
    /// True if it contains special files, which are no entries.
    pub special: bool,
    pub names: Vec<u8>,
    /// Sorted by the bytes of their names.
    pub entries: Vec<IndexEntry>,
}

/// An entry of a directory. Special files and `.git` are left out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    pub at: u32,
    pub len: u16,
    pub kind: Kind,
    pub ignored: bool,
    /// True if the name is displayed unchanged.
    pub plain: bool,
    /// The number of the file or directory, if it is not ignored.
    pub below: u32,
}

/// The indexing state of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileState {
    /// Not indexed: every query reads the whole file.
    Dirty,
    /// Text, searchable by blocks.
    Text,
    /// Text indexed by blocks but read as a whole: it has a byte order mark, or ends at a NUL.
    Whole,
    /// No query matches.
    Binary,
    /// Every query reads the whole file, permanently.
    Unindexable,
    /// A secret: its name is visible, and no query reads it.
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
    /// The owner number of its blocks.
    pub signed: u32,
    /// The number of times it was found changed.
    pub touched: u32,
}

/// A set of numbers assigned by the index, so that no attacker can choose them to collide.
pub(crate) type NumberSet = HashSet<u32, BuildHasherDefault<NumberHasher>>;

/// Spreads a number over all bits.
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

#[derive(Default)]
pub(crate) struct Tree {
    pub dirs: Vec<Dir>,
    pub files: Vec<FileRecord>,
    pub block_index: BlockIndex,
    /// The files of the block owners.
    pub owners: Vec<u32>,
    pub dirty: NumberSet,
    pub always: NumberSet,
    /// Files with several hard links, whose changes no watch reports.
    pub linked: NumberSet,
    /// The places below the start where something is mounted, relative to it.
    pub mount_points: Vec<Vec<u8>>,
    pub texts: u64,
    pub binaries: u64,
    pub live_files: usize,
    /// Changes whenever entries are added or removed.
    pub shape: u64,
    pub order: Order,
}

/// Returns a hash of all metadata that a change of content changes. Only the kernel sets `ctime`,
/// so equal metadata means equal content, except for changes within one tick of its clock: see
/// [`Dir::racy`].
pub(crate) fn stamp_of(stat: &Stat) -> u64 {
    let mut hasher = DefaultHasher::new();
    (stat.dev, stat.ino, stat.size, stat.mtime, stat.ctime, stat.kind as u8).hash(&mut hasher);
    hasher.finish()
}

/// Returns a version number of [`stamp_of`], so that stamps saved by another version are detected.
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

impl Dir {
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

    pub fn name(&self, entry: &IndexEntry) -> &[u8] {
        &self.names[entry.at as usize..][..usize::from(entry.len)]
    }

    /// Appends the displayed name of an entry.
    pub fn push_shown(&self, entry: &IndexEntry, path: &mut Vec<u8>) {
        let name = self.name(entry);
        if entry.plain {
            path.extend_from_slice(name);
        } else {
            path.extend_from_slice(encode_name(name).as_bytes());
        }
    }

    pub fn find(&self, name: &[u8]) -> Option<&IndexEntry> {
        let place = self.entries.binary_search_by(|entry| self.name(entry).cmp(name)).ok()?;
        self.entries.get(place)
    }
}

impl Tree {
    /// Returns the directory with these names below the start, if it is in the tree.
    pub fn find_dir(&self, path: &[u8]) -> Option<u32> {
        let names = path.split(|&byte| byte == b'/').filter(|name| !name.is_empty());
        // The tree may have been released meanwhile.
        self.dirs.get(TOP as usize)?;
        let mut at = TOP;
        for name in names {
            let entry = self.dirs[at as usize].find(name)?;
            if entry.kind != Kind::Dir || entry.below == NO_NUMBER {
                return None;
            }
            at = entry.below;
        }
        Some(at)
    }

    /// Writes the displayed path of a file below the start to `path`.
    pub fn path_of(&self, file: u32, path: &mut Vec<u8>) {
        path.clear();
        let file = &self.files[file as usize];
        if let Some(dir) = self.dirs.get(file.dir as usize) {
            path.extend_from_slice(&dir.shown);
            dir.push_shown(&dir.entries[file.entry as usize], path);
        }
    }

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

    /// Adds a secret, whose content must not be read.
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

    pub fn remove_file(&mut self, file: u32) {
        self.mark_used(file);
        self.dirty.remove(&file);
        self.files[file as usize].dir = NO_NUMBER;
        self.live_files -= 1;
    }

    /// Marks a file as changed, or possibly changed.
    pub fn mark_used(&mut self, file: u32) {
        let known = &mut self.files[file as usize];
        if known.state == FileState::Secret {
            return;
        }
        known.touched = known.touched.wrapping_add(1);
        known.signed = NO_NUMBER;
        match std::mem::replace(&mut known.state, FileState::Dirty) {
            FileState::Dirty | FileState::Secret => return,
            FileState::Text | FileState::Whole => self.texts -= 1,
            FileState::Binary => self.binaries -= 1,
            FileState::Unindexable => drop(self.always.remove(&file)),
        }
        self.linked.remove(&file);
        self.dirty.insert(file);
    }

    /// Records that a dirty file was indexed.
    pub fn settle(&mut self, file: u32, state: FileState, stat: &Stat, owner: u32) {
        let (size, linked) = (u32::try_from(stat.size).unwrap_or(u32::MAX), stat.nlink > 1);
        self.settle_as(&UnchangedFile { file, state, stamp: stamp_of(stat), size, owner, linked });
    }

    /// Restores the state of a dirty file that is unchanged.
    pub fn settle_as(&mut self, same: &UnchangedFile) {
        let &UnchangedFile { file, state, stamp, size, owner, linked } = same;
        let known = &mut self.files[file as usize];
        (known.state, known.stamp, known.size, known.signed) = (state, stamp, size, owner);
        match state {
            FileState::Dirty | FileState::Secret => return,
            FileState::Text | FileState::Whole => self.texts += 1,
            FileState::Binary => self.binaries += 1,
            FileState::Unindexable => drop(self.always.insert(file)),
        }
        self.dirty.remove(&file);
        if linked || self.is_mount_point(file) {
            self.linked.insert(file);
        }
    }

    /// Returns true when another file is mounted over this one: it changes under that file's name too.
    fn is_mount_point(&self, file: u32) -> bool {
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

    /// Returns the file that a block belongs to, unless it was indexed again since.
    pub fn owner_of(&self, block: &Block) -> Option<u32> {
        self.owner(block.owner)
    }

    pub fn owner(&self, owner: u32) -> Option<u32> {
        let file = *self.owners.get(owner as usize)?;
        let known = self.files.get(file as usize)?;
        (known.signed == owner).then_some(file)
    }

    /// Reports whether most of the data belongs to deleted or changed files.
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
                    + size_of::<Dir>()
            })
            .sum();
        self.block_index.bytes()
            + entries
            + self.files.capacity() * size_of::<FileRecord>()
            + self.owners.capacity() * 4
            + self.order.bytes()
    }
}

/// A file of the tree that is unchanged since it was indexed.
pub(crate) struct UnchangedFile {
    pub file: u32,
    pub state: FileState,
    pub stamp: u64,
    pub size: u32,
    pub owner: u32,
    pub linked: bool,
}
