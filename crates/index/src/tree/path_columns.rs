//! All paths of a tree in one contiguous buffer, so that a scan over every path is sequential.

use std::collections::HashMap;
use std::ops::Range;

use filewright_core::fuzzy::PathTable;

use crate::tree::{NO_NUMBER, SeenChanges, Tree};
use filewright_fs::dir::stat::Kind;
use filewright_fs::walk::StopSignal;

/// The maximum number of files that are added to or removed from the paths one by one, which moves
/// the later paths for each of them. With more, all paths are copied again.
const MAX_EDITS: usize = 16;

/// The paths of a tree, in path order. They follow the log of its changes.
#[derive(Default)]
pub(crate) struct PathColumns {
    /// The part of the log that is in the paths; `None` before the first copy.
    seen: Option<SeenChanges>,
    /// The paths of the files in the form for display.
    pub paths: PathTable,
    /// The number of each file, in the order of the paths.
    files: Vec<u32>,
    /// The number that the next new file of the tree gets.
    next_file: usize,
    /// True if every path is ASCII, so that its length in bytes is that in UTF-16 units.
    pub ascii: bool,
    /// For each directory, its entries that are no files of the tree, and count as ignored or
    /// unreadable.
    others: HashMap<u32, Vec<NonFile>>,
}

/// An entry that is no file of the tree.
pub(crate) struct NonFile {
    /// The path in the form for display, without a final slash.
    pub path: Box<[u8]>,
    pub what: NonFileKind,
}

/// The reason why an entry is no file of the tree.
pub(crate) enum NonFileKind {
    /// An ignored file or link.
    Ignored(Kind),
    /// An ignored directory, with its path in the bytes of the file system.
    IgnoredDir(Box<[u8]>),
    /// A directory that could not be read, or is too deep.
    Unread,
}

impl PathColumns {
    /// Brings the paths up to date. Returns false if `stop` ended it.
    pub fn update(&mut self, tree: &mut Tree, stop: &StopSignal<'_>) -> bool {
        let Some(seen) = self.seen.filter(|seen| seen.is_kept_by(&tree.log)) else {
            return self.copy(tree, stop);
        };
        let is_gone = |file: &u32| tree.files[*file as usize].dir == NO_NUMBER;
        let known = self.next_file as u32;
        let gone = seen.files_of(&tree.log).iter().filter(|file| **file < known && is_gone(file));
        let mut gone: Vec<u32> = gone.copied().collect();
        let added: Vec<u32> =
            (known..tree.files.len() as u32).filter(|file| !is_gone(file)).collect();
        gone.sort_unstable();
        gone.dedup();
        if gone.len() + added.len() > MAX_EDITS {
            return self.copy(tree, stop);
        }
        for &id in seen.dirs_of(&tree.log) {
            self.set_others(tree, id);
        }
        self.remove(&gone);
        for file in added {
            self.insert(tree, file);
        }
        (self.seen, self.next_file) = (Some(SeenChanges::of(&tree.log)), tree.files.len());
        true
    }

    /// Copies all paths.
    fn copy(&mut self, tree: &mut Tree, stop: &StopSignal<'_>) -> bool {
        tree.arrange();
        *self = Self { ascii: true, ..Self::default() };
        let mut path = Vec::new();
        for (number, &file) in tree.arranged().files.iter().enumerate() {
            if number % 1024 == 0 && stop.now() {
                *self = Self::default();
                return false;
            }
            tree.path_of(file, &mut path);
            self.ascii &= path.is_ascii();
            self.paths.push(std::str::from_utf8(&path).unwrap_or_default());
        }
        self.paths.shrink();
        self.files = tree.arranged().files[..self.paths.len()].to_vec();
        for &id in &tree.special {
            self.set_others(tree, id);
        }
        (self.seen, self.next_file) = (Some(SeenChanges::of(&tree.log)), tree.files.len());
        true
    }

    /// Removes the files with these numbers, which are sorted.
    fn remove(&mut self, gone: &[u32]) {
        if gone.is_empty() {
            return;
        }
        let places = self.files.iter().enumerate();
        let places = places.filter(|(_, file)| gone.binary_search(file).is_ok());
        let places: Vec<usize> = places.map(|(place, _)| place).collect();
        for place in places.into_iter().rev() {
            self.paths.remove(place);
            self.files.remove(place);
        }
    }

    fn insert(&mut self, tree: &Tree, file: u32) {
        let mut path = Vec::new();
        tree.path_of(file, &mut path);
        let text = std::str::from_utf8(&path).unwrap_or_default();
        let place = self.first_not(0..self.files.len(), |known| known < text);
        self.ascii &= text.is_ascii();
        self.paths.insert(place, text);
        if self.paths.len() > self.files.len() {
            self.files.insert(place, file);
        }
    }

    /// Finds the entries of a directory that are no files of the tree.
    fn set_others(&mut self, tree: &Tree, id: u32) {
        let dir = &tree.dirs[id as usize];
        let mut others = Vec::new();
        if dir.alive && dir.unreadable {
            let path = dir.shown.strip_suffix(b"/").unwrap_or(&dir.shown);
            others.push(NonFile { path: path.into(), what: NonFileKind::Unread });
        }
        for entry in dir.entries.iter().filter(|entry| entry.below == NO_NUMBER) {
            let what = match entry.kind {
                Kind::Dir if entry.ignored => {
                    NonFileKind::IgnoredDir([&dir.raw, dir.name(entry), b"/"].concat().into())
                }
                Kind::Dir => NonFileKind::Unread,
                kind if entry.ignored => NonFileKind::Ignored(kind),
                _ => continue,
            };
            let mut path = dir.shown.to_vec();
            dir.push_shown(entry, &mut path);
            others.push(NonFile { path: path.into(), what });
        }
        if others.is_empty() {
            self.others.remove(&id);
        } else {
            self.others.insert(id, others);
        }
    }

    /// Returns the entries that are no files of the tree.
    pub fn others(&self) -> impl Iterator<Item = &NonFile> {
        self.others.values().flatten()
    }

    /// Returns the range of the paths that begin with `prefix`.
    pub fn range_of(&self, prefix: &[u8]) -> Range<usize> {
        let all = 0..self.paths.len();
        let begin = self.first_not(all.clone(), |path| path.as_bytes() < prefix);
        begin..self.first_not(begin..all.end, |path| path.as_bytes().starts_with(prefix))
    }

    /// Returns the first index of a range for whose path `holds` is false, or its end, by binary
    /// search. `holds` must be true only for the first paths of the range.
    pub fn first_not(&self, range: Range<usize>, holds: impl Fn(&str) -> bool) -> usize {
        let Range { mut start, mut end } = range;
        while start < end {
            let middle = start + (end - start) / 2;
            if holds(self.paths.get(middle).unwrap_or_default()) {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        start
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> usize {
        let others: usize =
            self.others().map(|other| other.path.len() + size_of::<NonFile>()).sum();
        self.paths.bytes() + others + 4 * self.files.capacity()
    }
}
