//! All paths of a tree in one contiguous buffer, so that a scan over every path is sequential.

use filewright_core::fuzzy::PathTable;

use crate::tree::{NO_NUMBER, Tree};
use filewright_fs::dir::stat::Kind;
use filewright_fs::walk::StopSignal;

/// The paths of the tree with one value of [`Tree::shape`], in path order.
#[derive(Default)]
pub(crate) struct PathColumns {
    shape: Option<u64>,
    /// The paths of the files in the form for display.
    pub paths: PathTable,
    /// True if every path is ASCII, so that its length in bytes is that in UTF-16 units.
    pub ascii: bool,
    /// The entries that are no files of the tree, and count as ignored or unreadable.
    pub others: Vec<NonFile>,
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
    /// An ignored directory.
    IgnoredDir,
    /// A directory that could not be read, or is too deep.
    Unread,
}

impl PathColumns {
    /// Copies the paths of a tree again, if entries were added or removed since. The tree must be
    /// in order. Returns false if `stop` ended it.
    pub fn update(&mut self, tree: &Tree, stop: &StopSignal<'_>) -> bool {
        if self.shape == Some(tree.shape) {
            return true;
        }
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
        for dir in tree.arranged().dirs.iter().map(|span| &tree.dirs[span.dir as usize]) {
            if dir.unreadable {
                let path = dir.shown.strip_suffix(b"/").unwrap_or(&dir.shown);
                self.others.push(NonFile { path: path.into(), what: NonFileKind::Unread });
            }
            for entry in dir.entries.iter().filter(|entry| entry.below == NO_NUMBER) {
                let what = match entry.kind {
                    Kind::Dir if entry.ignored => NonFileKind::IgnoredDir,
                    Kind::Dir => NonFileKind::Unread,
                    kind if entry.ignored => NonFileKind::Ignored(kind),
                    _ => continue,
                };
                path.clear();
                path.extend_from_slice(&dir.shown);
                dir.push_shown(entry, &mut path);
                self.others.push(NonFile { path: path[..].into(), what });
            }
        }
        self.paths.shrink();
        self.others.shrink_to_fit();
        self.shape = Some(tree.shape);
        true
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> usize {
        let others: usize = self.others.iter().map(|other| other.path.len()).sum();
        self.paths.bytes() + others + self.others.capacity() * size_of::<NonFile>()
    }
}
