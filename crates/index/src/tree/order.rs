//! The files and directories of a tree in path order.

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

    /// Returns the index of a directory in [`PathOrder::dirs`]; the length of that for one that is
    /// not in the tree.
    pub fn place(&self, dir: u32) -> usize {
        self.place.get(dir as usize).map_or(self.dirs.len(), |place| *place as usize)
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

impl Tree {
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
        (place, entries)
    }
}
