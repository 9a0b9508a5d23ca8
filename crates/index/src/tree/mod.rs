//! What an index knows: directories, their entries, and of each file what it
//! was when its blocks were signed.
//!
//! Numbers of directories and files are never given out twice, so that who
//! holds one finds that file or nothing. A tree in which most numbers are dead
//! is thrown away.

pub(crate) mod order;
pub(crate) mod path_columns;
pub(crate) mod view;

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use filewright_core::ignore::Stack;
use filewright_core::path::encode_name;
use filewright_core::search::{Block, BlockIndex};
use order::Order;

use filewright_fs::dir::stat::{Kind, Stat};

/// No directory, no file, not signed.
pub(crate) const NONE: u32 = u32::MAX;
/// The directory in which the index begins.
pub(crate) const TOP: u32 = 0;

/// A directory that is not ignored.
pub(crate) struct Dir {
    pub parent: u32,
    pub alive: bool,
    pub depth: usize,
    /// The path below the start, with a final slash, as it is opened.
    pub raw: Arc<[u8]>,
    /// The same as it is shown.
    pub shown: Arc<[u8]>,
    /// A name in the path begins with a dot.
    pub hidden: bool,
    /// The ignore rules for the entries.
    pub stack: Stack,
    /// What the directory's own rules are, in one number; `None` before it is listed.
    pub rules: Option<u64>,
    /// It has a file of ignore rules.
    pub has_rules: bool,
    /// The rules from above changed since it was listed.
    pub inherits_anew: bool,
    /// It has a `.git` directory, whose `info/exclude` counts.
    pub is_repo_root: bool,
    /// What [`Dir::is_repo_root`]'s excludes were.
    pub exclude: u64,
    /// What [`stamp_of`] gave of their file, where the next change will show; else 0.
    pub exclude_stamp: u64,
    pub id: (u64, u64),
    pub stamp: u64,
    /// It changed so shortly before it was listed that the next change may not show.
    pub racy: bool,
    pub watch: Option<i32>,
    pub unreadable: bool,
    /// Directories in it that lie too deep.
    pub too_deep: u64,
    /// Entries that ignore rules hide.
    pub ignored: usize,
    /// There are special files in it, which are no entries.
    pub special: bool,
    pub names: Vec<u8>,
    /// In the order of the bytes of their names.
    pub entries: Vec<Entry>,
}

/// An entry of a directory. Special files and `.git` are none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub at: u32,
    pub len: u16,
    pub kind: Kind,
    pub ignored: bool,
    /// The name is shown as it is.
    pub plain: bool,
    /// The file or directory, if it is not ignored.
    pub below: u32,
}

/// What is known of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing: it is read whole by every query.
    Dirty,
    /// Text, by blocks.
    Text,
    /// Text by blocks, read whole: it has a mark, or ends at a NUL.
    Whole,
    /// Nothing to find in it.
    Binary,
    /// It is read whole by every query, for good.
    Unindexable,
    /// A secret: it has a name, and is read by no query.
    Secret,
}

/// A regular file that is not ignored.
pub(crate) struct File {
    pub dir: u32,
    pub entry: u32,
    pub state: State,
    /// What [`stamp_of`] gave when it was signed.
    pub stamp: u64,
    pub size: u32,
    /// The owner of its blocks.
    pub signed: u32,
    /// How often it was found changed.
    pub touched: u32,
}

/// Numbers of our own making, which nobody chooses so that they collide.
pub(crate) type Numbers = HashSet<u32, BuildHasherDefault<NumberHasher>>;

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
    pub files: Vec<File>,
    pub slices: BlockIndex,
    /// The files of the owners of blocks.
    pub owners: Vec<u32>,
    pub dirty: Numbers,
    pub always: Numbers,
    /// Files with other names, of whose changes no watch tells.
    pub linked: Numbers,
    pub texts: u64,
    pub binaries: u64,
    pub live_files: usize,
    /// Changes whenever entries come or go.
    pub shape: u64,
    pub order: Order,
}

/// One number for all facts that a change of content changes. `ctime` is set by
/// the kernel alone, so equal facts are equal content, but for changes within
/// one tick of its clock: see [`Dir::racy`].
pub(crate) fn stamp_of(stat: &Stat) -> u64 {
    let mut hasher = DefaultHasher::new();
    (stat.dev, stat.ino, stat.size, stat.mtime, stat.ctime, stat.kind as u8).hash(&mut hasher);
    hasher.finish()
}

/// One number for how [`stamp_of`] is made, so that stamps kept by another
/// version are known for what they are.
pub(crate) fn stamp_format() -> u64 {
    let mut hasher = DefaultHasher::new();
    (1_u64, 2_u64, 3_u64, 4_i64, 5_i64, 6_u8).hash(&mut hasher);
    hasher.finish()
}

impl Entry {
    /// A regular file that is not ignored.
    pub fn is_file(&self) -> bool {
        self.kind == Kind::File && self.below != NONE
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
            inherits_anew: false,
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

    pub fn name(&self, entry: &Entry) -> &[u8] {
        &self.names[entry.at as usize..][..usize::from(entry.len)]
    }

    /// Appends an entry's name as it is shown.
    pub fn push_shown(&self, entry: &Entry, path: &mut Vec<u8>) {
        let name = self.name(entry);
        if entry.plain {
            path.extend_from_slice(name);
        } else {
            path.extend_from_slice(encode_name(name).as_bytes());
        }
    }

    pub fn find(&self, name: &[u8]) -> Option<&Entry> {
        let place = self.entries.binary_search_by(|entry| self.name(entry).cmp(name)).ok()?;
        self.entries.get(place)
    }
}

impl Tree {
    /// The directory with these names below the start, if it is in the tree.
    pub fn find_dir(&self, path: &[u8]) -> Option<u32> {
        let names = path.split(|&byte| byte == b'/').filter(|name| !name.is_empty());
        // It may have been given back meanwhile.
        self.dirs.get(TOP as usize)?;
        let mut at = TOP;
        for name in names {
            let entry = self.dirs[at as usize].find(name)?;
            if entry.kind != Kind::Dir || entry.below == NONE {
                return None;
            }
            at = entry.below;
        }
        Some(at)
    }

    /// The path of a file as it is shown, below the start.
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
        let new = File {
            dir,
            entry: 0,
            state: State::Dirty,
            stamp: 0,
            size: 0,
            signed: NONE,
            touched: 0,
        };
        self.files.push(new);
        self.live_files += 1;
        self.dirty.insert(file);
        file
    }

    /// A file whose content is nobody's business.
    pub fn add_kept(&mut self, dir: u32) -> u32 {
        let file = self.add_file(dir);
        self.dirty.remove(&file);
        self.files[file as usize].state = State::Secret;
        file
    }

    /// Whether a file is a secret.
    pub fn is_hidden_secret(&self, file: u32) -> bool {
        self.files.get(file as usize).is_some_and(|file| file.state == State::Secret)
    }

    pub fn remove_file(&mut self, file: u32) {
        self.mark_used(file);
        self.dirty.remove(&file);
        self.files[file as usize].dir = NONE;
        self.live_files -= 1;
    }

    /// The file changed, or may have.
    pub fn mark_used(&mut self, file: u32) {
        let known = &mut self.files[file as usize];
        if known.state == State::Secret {
            return;
        }
        known.touched = known.touched.wrapping_add(1);
        known.signed = NONE;
        match std::mem::replace(&mut known.state, State::Dirty) {
            State::Dirty | State::Secret => return,
            State::Text | State::Whole => self.texts -= 1,
            State::Binary => self.binaries -= 1,
            State::Unindexable => drop(self.always.remove(&file)),
        }
        self.linked.remove(&file);
        self.dirty.insert(file);
    }

    /// A dirty file was signed.
    pub fn settle(&mut self, file: u32, state: State, stat: &Stat, owner: u32) {
        let (size, linked) = (u32::try_from(stat.size).unwrap_or(u32::MAX), stat.nlink > 1);
        self.settle_as(&UnchangedFile { file, state, stamp: stamp_of(stat), size, owner, linked });
    }

    /// A dirty file is known to be so.
    pub fn settle_as(&mut self, same: &UnchangedFile) {
        let &UnchangedFile { file, state, stamp, size, owner, linked } = same;
        let known = &mut self.files[file as usize];
        (known.state, known.stamp, known.size, known.signed) = (state, stamp, size, owner);
        match state {
            State::Dirty | State::Secret => return,
            State::Text | State::Whole => self.texts += 1,
            State::Binary => self.binaries += 1,
            State::Unindexable => drop(self.always.insert(file)),
        }
        self.dirty.remove(&file);
        if linked {
            self.linked.insert(file);
        }
    }

    /// The file that a block belongs to, unless it was signed again since.
    pub fn owner_of(&self, block: &Block) -> Option<u32> {
        self.owner(block.owner)
    }

    pub fn owner(&self, owner: u32) -> Option<u32> {
        let file = *self.owners.get(owner as usize)?;
        let known = self.files.get(file as usize)?;
        (known.signed == owner).then_some(file)
    }

    /// Whether most of what is held belongs to files that are gone or changed.
    pub fn is_worn(&self) -> bool {
        self.files.len() > 4 * self.live_files + 10_000
            || self.owners.len() > 3 * self.live_files + 10_000
    }

    /// Gives back the memory for files and blocks to come.
    pub fn shrink(&mut self) {
        self.slices.shrink();
        self.dirs.shrink_to_fit();
        self.order.shrink();
        self.files.shrink_to_fit();
        self.owners.shrink_to_fit();
    }

    /// The memory in use, in bytes, about.
    pub fn bytes(&self) -> usize {
        let dirs = self.dirs.iter().filter(|dir| dir.alive);
        let entries: usize = dirs
            .map(|dir| {
                dir.names.capacity()
                    + dir.entries.capacity() * size_of::<Entry>()
                    + 2 * dir.raw.len()
                    + size_of::<Dir>()
            })
            .sum();
        self.slices.bytes()
            + entries
            + self.files.capacity() * size_of::<File>()
            + self.owners.capacity() * 4
            + self.order.bytes()
    }
}

/// A file of the tree that is what it was when it was indexed.
pub(crate) struct UnchangedFile {
    pub file: u32,
    pub state: State,
    pub stamp: u64,
    pub size: u32,
    pub owner: u32,
    pub linked: bool,
}
