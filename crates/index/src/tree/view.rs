//! The files of a tree that a query searches by their names, and the counts of other entries.
//!
//! A view is computed once, by a walk through the whole tree, and then follows the log of the tree's
//! changes, so that a query after a change costs what changed.

use std::collections::HashMap;

use crate::tree::below::Below;
use crate::tree::{FileState, NO_NUMBER, SeenChanges, Tree};
use filewright_core::walk::sees;
use filewright_fs::dir::stat::Kind;
use filewright_fs::search::searcher::Search;
use filewright_fs::walk::Visitor as _;

/// The maximum number of cached views. Beyond it, the least recently used is dropped.
const MAX_CACHED_VIEWS: usize = 8;

/// The queries that have the same view.
#[derive(Clone, PartialEq, Eq)]
struct ViewKey {
    /// The directory in which the query starts.
    start: u32,
    /// The options that select files by name, in one text.
    names: String,
    /// The size in bytes above which a file counts as large.
    max_file_bytes: u64,
}

/// The files that a query searches by their names, whatever they contain.
#[derive(Clone)]
pub(crate) struct QueryView {
    key: ViewKey,
    /// For each file of the tree by number, whether the query searches it, and as what it counts.
    classes: Vec<FileClass>,
    counts: FileCounts,
    /// The counts of other entries for each directory that has any.
    others: HashMap<u32, OtherCounts>,
    total: OtherCounts,
    /// The part of the log that the view contains.
    seen: SeenChanges,
}

/// The class of a file in a view.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileClass {
    /// Its name was not looked at yet.
    New,
    /// The query does not search it.
    LeftOut,
    /// The query searches it, and it is not indexed.
    Unindexed,
    Text,
    Binary,
    Large,
}

/// The numbers of entries of a directory that are not searched although the query would.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OtherCounts {
    /// The number of matching entries that ignore rules exclude.
    pub ignored: u64,
    /// The number of directories and matching files that could not be read.
    pub unreadable: u64,
}

/// The cached views, the most recently used first.
#[derive(Default)]
pub(crate) struct CachedViews(Vec<QueryView>);

impl CachedViews {
    /// Returns the view of a query that starts in the directory `start`.
    pub fn get(&mut self, tree: &Tree, start: u32, search: &Search<'_>) -> &QueryView {
        let options = search.options;
        let (names, max_file_bytes) = (options.view.clone(), options.max_file_bytes);
        let key = ViewKey { start, names, max_file_bytes };
        let is_kept = |view: &QueryView| view.seen.is_kept_by(&tree.log);
        match self.0.iter().position(|view| view.key == key && is_kept(view)) {
            Some(place) => self.0[..=place].rotate_right(1),
            None => {
                self.0.retain(is_kept);
                self.0.truncate(MAX_CACHED_VIEWS - 1);
                self.0.insert(0, QueryView::new(tree, key, search));
            }
        }
        let view = &mut self.0[0];
        view.follow(tree, search);
        view
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> usize {
        let other = size_of::<(u32, OtherCounts)>();
        self.0.iter().map(|view| view.classes.capacity() + view.others.capacity() * other).sum()
    }
}

impl QueryView {
    /// Creates a view by a walk through the tree.
    fn new(tree: &Tree, key: ViewKey, search: &Search<'_>) -> Self {
        let start = key.start;
        let mut view = Self {
            key,
            classes: vec![FileClass::New; tree.files.len()],
            counts: FileCounts::default(),
            others: HashMap::new(),
            total: OtherCounts::default(),
            seen: SeenChanges::of(&tree.log),
        };
        let below = Below { tree, start, options: &search.options.walk };
        for id in below.dirs() {
            view.look_at(below, search, id);
        }
        view
    }

    /// Brings the view up to date.
    fn follow(&mut self, tree: &Tree, search: &Search<'_>) {
        self.classes.resize(tree.files.len(), FileClass::New);
        let below = Below { tree, start: self.key.start, options: &search.options.walk };
        for &id in self.seen.dirs_of(&tree.log) {
            self.forget_others(id);
            if below.is_entered(id) {
                self.look_at(below, search, id);
            }
        }
        for &file in self.seen.files_of(&tree.log) {
            if self.searches(file) {
                self.set_class(tree, file, true);
            }
        }
        self.seen = SeenChanges::of(&tree.log);
    }

    /// Counts the entries of a directory that the query enters, and classifies its new files.
    fn look_at(&mut self, below: Below<'_>, search: &Search<'_>, id: u32) {
        let tree = below.tree;
        let dir = &tree.dirs[id as usize];
        let shown = below.shown(dir);
        let mut counts = OtherCounts { ignored: 0, unreadable: u64::from(dir.unreadable) };
        let mut path = Vec::new();
        for entry in &dir.entries {
            let is_searched = entry.kind == Kind::File && !entry.ignored;
            if is_searched && self.class(entry.below) != FileClass::New
                || !sees(below.options, dir.name(entry))
            {
                continue;
            }
            path.clear();
            path.extend_from_slice(shown);
            dir.push_shown(entry, &mut path);
            let wanted = search.wants(&path, entry.kind);
            if entry.ignored {
                let counted = wanted || entry.kind == Kind::Dir && below.enters_path(&path);
                counts.ignored += u64::from(counted);
            } else if entry.kind == Kind::File && tree.is_hidden_secret(entry.below) {
                counts.unreadable += u64::from(wanted);
            } else if entry.kind == Kind::File {
                self.set_class(tree, entry.below, wanted);
            } else if entry.kind == Kind::Dir && entry.below == NO_NUMBER {
                counts.unreadable += u64::from(below.enters_path(&path));
            }
        }
        if counts != OtherCounts::default() {
            self.total.ignored += counts.ignored;
            self.total.unreadable += counts.unreadable;
            self.others.insert(id, counts);
        }
    }

    fn forget_others(&mut self, id: u32) {
        if let Some(counts) = self.others.remove(&id) {
            self.total.ignored -= counts.ignored;
            self.total.unreadable -= counts.unreadable;
        }
    }

    /// Sets the class of a file to the current one.
    fn set_class(&mut self, tree: &Tree, file: u32, is_searched: bool) {
        let known = &tree.files[file as usize];
        let class = match known.state {
            _ if !is_searched || known.dir == NO_NUMBER => FileClass::LeftOut,
            FileState::Secret => FileClass::LeftOut,
            FileState::Dirty | FileState::Unindexable => FileClass::Unindexed,
            _ if u64::from(known.size) > self.key.max_file_bytes => FileClass::Large,
            FileState::Binary => FileClass::Binary,
            FileState::Text | FileState::Whole => FileClass::Text,
        };
        let Some(place) = self.classes.get_mut(file as usize) else { return };
        let old = std::mem::replace(place, class);
        self.counts.add(old, u64::MAX);
        self.counts.add(class, 1);
    }

    /// Returns the number of the directory in which the query starts.
    pub fn start(&self) -> u32 {
        self.key.start
    }

    /// Reports whether the query searches a file.
    pub fn searches(&self, file: u32) -> bool {
        !matches!(self.class(file), FileClass::New | FileClass::LeftOut)
    }

    fn class(&self, file: u32) -> FileClass {
        self.classes.get(file as usize).copied().unwrap_or(FileClass::New)
    }

    /// Returns the counts of the indexed files that the query searches.
    pub fn counts(&self) -> FileCounts {
        self.counts
    }

    /// Returns the counts of the entries that are not searched although the query would.
    pub fn others(&self) -> OtherCounts {
        self.total
    }

    /// Adds `times` to the count of a file's class; `u64::MAX` subtracts 1. Does nothing for a file
    /// that is not indexed.
    pub fn count(&self, file: u32, times: u64, counts: &mut FileCounts) {
        counts.add(self.class(file), times);
    }
}

/// The numbers of text files, binary files, and files above the size limit.
#[derive(Clone, Copy, Default)]
pub(crate) struct FileCounts {
    pub texts: u64,
    pub binaries: u64,
    pub large: u64,
}

impl FileCounts {
    fn add(&mut self, class: FileClass, times: u64) {
        let counter = match class {
            FileClass::New | FileClass::LeftOut | FileClass::Unindexed => return,
            FileClass::Large => &mut self.large,
            FileClass::Binary => &mut self.binaries,
            FileClass::Text => &mut self.texts,
        };
        *counter = counter.wrapping_add(times);
    }
}
