//! All paths of a tree in one contiguous buffer, so that a scan over every path is sequential.

use filewright_core::fuzzy::PathTable;

use crate::tree::{NO_NUMBER, Tree};
use filewright_fs::dir::stat::Kind;
use filewright_fs::walk::{DirPath, StopSignal};

/// The paths of one state of the tree, in order.
#[derive(Default)]
pub(crate) struct PathColumns {
    shape: Option<u64>,
    /// The displayed paths of the files.
    pub paths: PathTable,
    /// True if every path is ASCII, so that its length is the same in every encoding.
    pub ascii: bool,
    /// The entries of the tree that are not files.
    pub others: Vec<Other>,
}

/// An entry that is not a file.
pub(crate) struct Other {
    /// The displayed path, without a final slash.
    pub path: Box<[u8]>,
    pub what: NonFileKind,
}

/// The reason why it is not among the files.
pub(crate) enum NonFileKind {
    /// A file or link that ignore rules hide.
    Ignored(Kind),
    /// A directory that ignore rules hide, with its path for opening.
    IgnoredDir(Box<[u8]>),
    /// A directory that could not be read, or is too deep.
    Unread,
}

impl PathColumns {
    /// Rebuilds the buffer from a tree that is in order; returns false if time ran out.
    pub fn update(&mut self, tree: &Tree, stop: &StopSignal<'_>) -> bool {
        if self.shape == Some(tree.shape) {
            return true;
        }
        *self = Self { ascii: true, ..Self::default() };
        let mut path = Vec::new();
        for (number, &file) in tree.order.files.iter().enumerate() {
            if number % 1024 == 0 && stop.now() {
                *self = Self::default();
                return false;
            }
            tree.path_of(file, &mut path);
            self.ascii &= path.is_ascii();
            self.paths.push(std::str::from_utf8(&path).unwrap_or_default());
        }
        for dir in tree.order.dirs.iter().map(|span| &tree.dirs[span.dir as usize]) {
            if dir.unreadable {
                let path = dir.shown.strip_suffix(b"/").unwrap_or(&dir.shown);
                self.others.push(Other { path: path.into(), what: NonFileKind::Unread });
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
                path.clear();
                path.extend_from_slice(&dir.shown);
                dir.push_shown(entry, &mut path);
                self.others.push(Other { path: path[..].into(), what });
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
        self.paths.bytes() + others + self.others.capacity() * size_of::<Other>()
    }
}

/// Returns the path of a directory relative to a start whose paths have the lengths `cut` and
/// `cut_raw`.
pub(crate) fn place(shown: &[u8], raw: &[u8], cut: usize, cut_raw: usize) -> DirPath {
    let shown = [shown.get(cut..).unwrap_or_default(), b"/"].concat();
    DirPath { raw: raw.get(cut_raw..).unwrap_or_default().into(), shown: shown.into() }
}
