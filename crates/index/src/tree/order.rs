//! The files and directories of a tree in path order.
//!
//! The order of the whole tree is computed when something needs it, and then kept until entries are
//! added or removed. A few files are sorted by their paths instead.

use std::ops::Range;

use crate::tree::{NO_NUMBER, TOP_DIR, Tree};
use filewright_fs::dir::stat::Kind;

/// The path order of the tree with one value of [`Tree::shape`].
#[derive(Default)]
pub(crate) struct PathOrder {
    shape: Option<u64>,
    /// The numbers of the files, in path order.
    pub files: Vec<u32>,
    /// For each file, its index in `files`, called its rank.
    pub rank: Vec<u32>,
    /// The directories in path order, each before those below it.
    pub dirs: Vec<DirSpan>,
    /// For each directory, its index in `dirs`.
    place: Vec<u32>,
}

/// A directory in path order.
#[derive(Clone, Copy)]
pub(crate) struct DirSpan {
    pub dir: u32,
    /// The range in [`PathOrder::files`] of its files and of those below it.
    pub files: (u32, u32),
    /// The index in [`PathOrder::dirs`] of the next directory that is not below it.
    pub next: u32,
}

impl PathOrder {
    /// Returns what is below a directory; `None` for one that is not in the tree.
    pub fn span(&self, dir: u32) -> Option<DirSpan> {
        self.dirs.get(*self.place.get(dir as usize)? as usize).copied()
    }

    pub fn shrink(&mut self) {
        self.files.shrink_to_fit();
        self.dirs.shrink_to_fit();
    }

    pub fn bytes(&self) -> usize {
        4 * (self.files.capacity() + self.rank.capacity() + self.place.capacity())
            + self.dirs.capacity() * size_of::<DirSpan>()
    }
}

/// Up to one in this many files of a tree is sorted by path. For more, the order of all is computed.
const MIN_FILES_PER_SORTED: usize = 16;

impl Tree {
    /// Returns the order of all files, which [`Tree::arrange`] computed.
    pub fn arranged(&self) -> &PathOrder {
        &self.order
    }

    /// Sorts files of the tree by their paths.
    pub fn sort_by_path(&mut self, files: &mut Vec<u32>) {
        let is_arranged = self.order.shape == Some(self.shape);
        if !is_arranged && files.len() * MIN_FILES_PER_SORTED <= self.live_files {
            files.sort_by_cached_key(|&file| {
                let mut path = Vec::new();
                self.path_of(file, &mut path);
                path
            });
            return;
        }
        self.arrange();
        let mut ranks = FileSet::new(self.order.files.len());
        files.iter().for_each(|&file| ranks.insert(self.order.rank[file as usize]));
        files.clear();
        files.extend(ranks.numbers().map(|rank| self.order.files[rank as usize]));
    }

    /// Returns the range in [`PathOrder::files`] of the files below the directory `start` whose paths
    /// relative to it do not sort before `from`. Computes the order.
    pub fn range_from(&mut self, start: u32, from: &[u8]) -> Range<usize> {
        self.arrange();
        let (begin, end) = self.order.span(start).map_or((0, 0), |span| span.files);
        let cut = self.dirs[start as usize].shown.len();
        let mut path = Vec::new();
        let before = self.order.files[begin as usize..end as usize].partition_point(|&file| {
            self.path_of(file, &mut path);
            path.get(cut..).unwrap_or_default() < from
        });
        begin as usize + before..end as usize
    }

    /// Returns the files below the directory `start` in path order, from the first on whose path
    /// relative to it does not sort before `from`.
    pub fn files_from<'t>(&'t self, start: u32, from: &[u8]) -> impl Iterator<Item = u32> + 't {
        let cut = self.dirs[start as usize].shown.len();
        let mut from = Some(from.to_vec()).filter(|from| !from.is_empty());
        // The directories around the current position, each with its remaining entries in reverse
        // order.
        let mut open = vec![(start, self.entries_in_reverse(start))];
        std::iter::from_fn(move || {
            while let Some((id, left)) = open.last_mut() {
                let dir = &self.dirs[*id as usize];
                let Some(index) = left.pop() else {
                    open.pop();
                    continue;
                };
                let entry = &dir.entries[index as usize];
                if let Some(first) = &from {
                    let mut path = dir.shown.get(cut..).unwrap_or_default().to_vec();
                    dir.push_shown(entry, &mut path);
                    if entry.kind == Kind::Dir {
                        path.push(b'/');
                    }
                    let is_around = entry.kind == Kind::Dir && first.starts_with(&path);
                    if path < *first && !is_around {
                        continue;
                    }
                    if !is_around {
                        from = None;
                    }
                }
                if entry.kind == Kind::File {
                    return Some(entry.below);
                }
                open.push((entry.below, self.entries_in_reverse(entry.below)));
            }
            None
        })
    }

    /// Computes the order again, if entries were added or removed since.
    pub fn arrange(&mut self) {
        if self.order.shape == Some(self.shape) {
            return;
        }
        let mut order = std::mem::take(&mut self.order);
        order.files.clear();
        order.dirs.clear();
        order.rank.clear();
        order.rank.resize(self.files.len(), NO_NUMBER);
        order.place.clear();
        order.place.resize(self.dirs.len(), NO_NUMBER);
        // The directories around the current position: the index of each, and its remaining entries
        // in reverse order.
        let mut open: Vec<(usize, Vec<u32>)> = Vec::new();
        if !self.dirs.is_empty() {
            open.push(self.begin(TOP_DIR, &mut order));
        }
        while let Some((place, left)) = open.last_mut() {
            let Some(index) = left.pop() else {
                let place = *place;
                let (files, next) = (order.files.len() as u32, order.dirs.len() as u32);
                order.dirs[place].files.1 = files;
                order.dirs[place].next = next;
                open.pop();
                continue;
            };
            let entry = &self.dirs[order.dirs[*place].dir as usize].entries[index as usize];
            if entry.kind == Kind::File {
                order.rank[entry.below as usize] = order.files.len() as u32;
                order.files.push(entry.below);
            } else {
                let begun = self.begin(entry.below, &mut order);
                open.push(begun);
            }
        }
        order.shape = Some(self.shape);
        self.order = order;
    }

    /// Adds a directory to the order. Returns its index, and the indexes of its entries in reverse
    /// path order.
    fn begin(&self, id: u32, order: &mut PathOrder) -> (usize, Vec<u32>) {
        let place = order.dirs.len();
        order.place[id as usize] = place as u32;
        let files = order.files.len() as u32;
        order.dirs.push(DirSpan { dir: id, files: (files, files), next: 0 });
        (place, self.entries_in_reverse(id))
    }

    /// Returns the indexes of the files and directories among the entries of a directory, in reverse
    /// path order.
    fn entries_in_reverse(&self, id: u32) -> Vec<u32> {
        let dir = &self.dirs[id as usize];
        let mut entries: Vec<u32> = (0..dir.entries.len() as u32)
            .filter(|&index| dir.entries[index as usize].below != NO_NUMBER)
            .collect();
        let simple = entries.iter().all(|&index| {
            let entry = &dir.entries[index as usize];
            entry.kind == Kind::File && entry.plain
        });
        if !simple {
            // A directory sorts as if its name ended in a slash.
            entries.sort_by_cached_key(|&index| {
                let entry = &dir.entries[index as usize];
                let mut name = Vec::new();
                dir.push_shown(entry, &mut name);
                if entry.kind == Kind::Dir {
                    name.push(b'/');
                }
                name
            });
        }
        entries.reverse();
        entries
    }
}

/// A set of the numbers below a bound.
pub(crate) struct FileSet(Vec<u64>);

impl FileSet {
    pub fn new(bound: usize) -> Self {
        Self(vec![0; bound.div_ceil(64)])
    }

    /// Adds a number. Does nothing for one that is not below the bound.
    pub fn insert(&mut self, number: u32) {
        if let Some(word) = self.0.get_mut(number as usize / 64) {
            *word |= 1 << (number & 63);
        }
    }

    /// Returns the numbers in ascending order.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        indexes_of_set_bits(&self.0)
    }
}

/// Returns the indexes of the set bits in ascending order.
pub(crate) fn indexes_of_set_bits(words: &[u64]) -> impl Iterator<Item = u32> + '_ {
    words.iter().enumerate().flat_map(|(index, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(index as u32 * 64 + bit)
        })
    })
}
