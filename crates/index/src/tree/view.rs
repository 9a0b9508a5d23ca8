//! The files of a tree that a query searches by their names, and the counts of other entries.

use crate::tree::order::DirSpan;
use crate::tree::{FileState, Tree};
use filewright_core::walk::sees;
use filewright_fs::dir::stat::Kind;
use filewright_fs::search::grep::GrepOptions;
use filewright_fs::search::searcher::Search;
use filewright_fs::walk::Visitor as _;

/// The maximum number of cached views. Beyond it, the least recently used is dropped.
const MAX_CACHED_VIEWS: usize = 8;

/// The files that a query searches by their names, whatever they contain.
#[derive(Clone)]
pub(crate) struct QueryView {
    key: (u32, String),
    shape: u64,
    /// The range in [`PathOrder::files`](crate::tree::order::PathOrder::files) below the start of the
    /// query.
    pub files: (u32, u32),
    /// One bit for each rank of a file of the tree, set if the file is searched; `None` means all
    /// of the range.
    pub bits: Option<Vec<u64>>,
    /// The number of matching entries that ignore rules exclude.
    pub ignored: u64,
    /// The number of directories that could not be read.
    pub unreadable: u64,
}

/// The cached views, the most recently used first.
#[derive(Default)]
pub(crate) struct CachedViews(Vec<QueryView>);

impl CachedViews {
    /// Returns the view of a query that starts in the directory `start`. The tree must be in order.
    pub fn get(&mut self, tree: &Tree, start: u32, search: &Search<'_>) -> &QueryView {
        let options = search.options;
        let key = (start, options.view.clone());
        let known = self.0.iter().position(|view| view.key == key && view.shape == tree.shape);
        match known {
            Some(place) => self.0[..=place].rotate_right(1),
            None => {
                self.0.retain(|view| view.key != key && view.shape == tree.shape);
                self.0.truncate(MAX_CACHED_VIEWS - 1);
                self.0.insert(0, new_view(tree, start, search, key));
            }
        }
        &self.0[0]
    }
}

fn new_view(tree: &Tree, start: u32, search: &Search<'_>, key: (u32, String)) -> QueryView {
    let options = search.options;
    let nothing = DirSpan { dir: start, files: (0, 0), next: 0 };
    let span = tree.order.span(start).unwrap_or(nothing);
    let all = excludes_no_file(options);
    let words = if all { 0 } else { tree.order.files.len().div_ceil(64) };
    let mut view = QueryView {
        key,
        shape: tree.shape,
        files: span.files,
        bits: (!all).then(|| vec![0; words]),
        ignored: 0,
        unreadable: 0,
    };
    let cut = tree.dirs[start as usize].shown.len();
    let mut place = tree.order.place(start);
    let mut path = Vec::new();
    while place < (span.next as usize).min(tree.order.dirs.len()) {
        let here = tree.order.dirs[place];
        let dir = &tree.dirs[here.dir as usize];
        let shown = &dir.shown[cut..];
        let below = shown.strip_suffix(b"/").unwrap_or(shown);
        if here.dir != start && !enters_directory(options, below) {
            place = here.next as usize;
            continue;
        }
        place += 1;
        view.unreadable += u64::from(dir.unreadable);
        if all && dir.ignored == 0 && dir.too_deep == 0 {
            continue;
        }
        for entry in &dir.entries {
            if !sees(&options.walk, dir.name(entry)) {
                continue;
            }
            path.clear();
            path.extend_from_slice(shown);
            dir.push_shown(entry, &mut path);
            let wanted = search.wants(&path, entry.kind);
            if entry.ignored {
                let counts = wanted || entry.kind == Kind::Dir && enters_entry(options, &path);
                view.ignored += u64::from(counts);
            } else if entry.kind == Kind::File && tree.is_hidden_secret(entry.below) {
                view.unreadable += u64::from(wanted);
            } else if entry.kind == Kind::File {
                let rank = tree.order.rank[entry.below as usize] as usize;
                if wanted
                    && let Some(word) = view.bits.as_mut().and_then(|bits| bits.get_mut(rank / 64))
                {
                    *word |= 1 << (rank & 63);
                }
            } else if entry.kind == Kind::Dir && entry.below == crate::tree::NO_NUMBER {
                view.unreadable += u64::from(enters_entry(options, &path));
            }
        }
    }
    view
}

fn enters_entry(options: &GrepOptions, path: &[u8]) -> bool {
    options.walk.globs.may_contain(path) && !options.walk.globs.excluded(path, true)
}

/// Reports whether the globs and the option `hidden` let a walk enter a directory whose parents it
/// has entered.
fn enters_directory(options: &GrepOptions, path: &[u8]) -> bool {
    let name = memchr::memrchr(b'/', path).map_or(path, |cut| &path[cut + 1..]);
    sees(&options.walk, name) && enters_entry(options, path)
}

fn excludes_no_file(options: &GrepOptions) -> bool {
    options.walk.hidden && options.walk.globs.is_everything() && options.types.is_everything()
}

impl QueryView {
    /// Returns the number of the directory in which the query starts.
    pub fn start(&self) -> u32 {
        self.key.0
    }

    /// Reports whether the query searches the file with this rank.
    pub fn sees(&self, rank: usize) -> bool {
        (self.files.0 as usize..self.files.1 as usize).contains(&rank)
            && self.bits.as_ref().is_none_or(|bits| bits[rank / 64] >> (rank & 63) & 1 == 1)
    }

    /// Counts the indexed files of the view from the rank `from` on: texts, binaries, and those
    /// larger than `max_bytes`.
    pub fn counts(&self, tree: &Tree, from: u32, max_bytes: u64) -> FileCounts {
        let whole = self.bits.is_none() && self.files == (0, tree.order.files.len() as u32);
        if whole && from == 0 && max_bytes >= filewright_fs::search::grep::MAX_SEARCHED_FILE_BYTES {
            return FileCounts { texts: tree.texts, binaries: tree.binaries, large: 0 };
        }
        let mut counts = FileCounts::default();
        for rank in self.files.0.max(from)..self.files.1 {
            if self.sees(rank as usize) {
                counts.add(tree, tree.order.files[rank as usize], max_bytes, 1);
            }
        }
        counts
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
    /// Adds `times` to the count of a file's class; `u64::MAX` subtracts 1. Does nothing for a file
    /// that is not indexed.
    pub fn add(&mut self, tree: &Tree, file: u32, max_bytes: u64, times: u64) {
        let file = &tree.files[file as usize];
        let counter = match file.state {
            FileState::Dirty | FileState::Unindexable | FileState::Secret => return,
            _ if u64::from(file.size) > max_bytes => &mut self.large,
            FileState::Binary => &mut self.binaries,
            FileState::Text | FileState::Whole => &mut self.texts,
        };
        *counter = counter.wrapping_add(times);
    }
}
