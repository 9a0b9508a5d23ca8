//! Finds entries of a tree by their names.

use std::cmp::Reverse;
use std::os::fd::BorrowedFd;

use filewright_core::Result;
use filewright_core::options::{Options, invalid};
use filewright_core::pack::Packed;
use filewright_core::walk::WalkLimits;
use filewright_core::wire;
use filewright_core::wire::Wire;

use crate::cancel::{CancelToken, Deadline};
use crate::dir::stat::{Kind, Stat};
use crate::root::Roots;
use crate::walk::options::{IndexMode, walk_options};
use crate::walk::{
    AfterFile, Directory, FileEntry, StopSignal, Summary, Visitor, WalkOptions, WalkRoot,
    matches_in_ignored, walk,
};

/// The types of entries to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryFilter {
    /// Regular files.
    File,
    /// Directories.
    Dir,
    /// Symbolic links.
    Symlink,
    /// Files, directories and links, but no special files.
    Any,
}

/// The order of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindOrder {
    /// By path.
    Path,
    /// Entries changed since [`FindOptions::recent_from`] come first, newest first; then the other
    /// entries by path.
    Recent,
    /// Entries are sorted by modification time, newest first.
    Mtime,
}

/// The parsed options of a search for names.
#[derive(Clone, Debug)]
pub struct FindOptions {
    /// The entries that are visible.
    pub walk: WalkOptions,
    /// The types of entries to find.
    pub wanted: EntryFilter,
    /// The order of the results.
    pub sort: FindOrder,
    /// For [`FindOrder::Recent`]: entries changed at or after this time are recent. Milliseconds
    /// since 1970.
    recent_from: f64,
    limit: usize,
    /// The page ends after the path with which its paths, counted with one byte more each, reach
    /// this number of bytes.
    max_text_bytes: u64,
    /// The time limit in milliseconds.
    pub timeout_ms: Option<u64>,
    /// The use of an index.
    pub index: IndexMode,
    /// The path and modification time of the last result of the previous page; `None` for the first
    /// page.
    after: Option<(Box<[u8]>, f64)>,
}

impl FindOptions {
    /// Parses `pattern` (one or a list), `exclude`, `type`, `globCase`, `hidden`, `respectIgnore`,
    /// `ignoreFiles`, `sort`, `recentFrom` (ms since 1970), `limit`, `maxTextBytes`, `timeoutMs`,
    /// `index`, `afterPath`, `afterTime`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`, `INVALID_GLOB`, `LIMIT_EXCEEDED`.
    pub fn from_json(json: &str) -> Result<Self> {
        let options = Options::parse(json)?;
        if options.list("pattern")?.is_empty() {
            return Err(invalid("pattern", "pattern is missing"));
        }
        let limit = options.number("limit")?.unwrap_or(u64::MAX);
        if limit == 0 {
            return Err(invalid("limit", "limit must be at least 1"));
        }
        let time = |name| Ok(options.number(name)?.unwrap_or(0) as f64);
        let after = match options.text("afterPath")? {
            Some(path) => Some((path.as_bytes().into(), time("afterTime")?)),
            None => None,
        };
        Ok(Self {
            walk: walk_options(&options, "pattern")?,
            wanted: match options.choice("type", &["file", "dir", "symlink", "any"])? {
                0 => EntryFilter::File,
                1 => EntryFilter::Dir,
                2 => EntryFilter::Symlink,
                _ => EntryFilter::Any,
            },
            sort: match options.choice("sort", &["path", "recent", "mtime"])? {
                0 => FindOrder::Path,
                1 => FindOrder::Recent,
                _ => FindOrder::Mtime,
            },
            recent_from: time("recentFrom")?,
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            max_text_bytes: options.number("maxTextBytes")?.unwrap_or(u64::MAX),
            timeout_ms: options.number("timeoutMs")?,
            index: IndexMode::read(&options)?,
            after,
        })
    }
}

wire! {
    /// The numbers of a search for names.
    #[derive(Clone, Debug)]
    pub struct FindTotals {
        /// The number of all matches, before limit and cursor. Exact when `complete`.
        pub total: u64,
        /// The number of matching entries excluded by ignore files.
        pub ignored: u64,
        /// The number of excluded directories whose contents are not counted: 0, or all that may
        /// contain matches, if they have many entries, or cannot all be read in time.
        pub ignored_directories: u64,
        /// The number of entries that could not be read.
        pub unreadable: u64,
        /// True when more follows.
        pub truncated: bool,
        /// False when the time limit was reached.
        pub complete: bool,
    }
}

wire! {
    /// The head of the result of a search for names; the paths follow it.
    #[derive(Clone, Debug)]
    pub struct FindHead {
        ..totals: FindTotals,
        /// The time of the last path in milliseconds since 1970; -1 without one.
        pub last_time: f64,
    }
}

/// Finds entries below a directory. Paths in results are relative to it, in the form for display,
/// without a final slash.
///
/// The packed result is a [`FindHead`], the number of paths, and the paths.
///
/// # Errors
/// Errors of opening the directory; `CANCELLED`.
pub fn find(
    roots: &Roots,
    path: &[u8],
    options: &FindOptions,
    cancel: &CancelToken,
) -> Result<Packed> {
    let stop = StopSignal { cancel, deadline: Deadline::after(options.timeout_ms) };
    stop.cancel.check()?;
    let walk_root = WalkRoot::open(roots, path, options.walk.ignore.as_deref())?;
    find_from_disk(&walk_root, options, &stop)
}

/// Does the same as [`find`], below an open directory.
///
/// # Errors
/// Like [`find`].
pub fn find_from_disk(
    walk_root: &WalkRoot<'_>,
    options: &FindOptions,
    stop: &StopSignal<'_>,
) -> Result<Packed> {
    let (mut summary, groups) = walk(walk_root, &options.walk, stop, &FindVisitor { options })?;
    count_ignored(walk_root, options, stop, &mut summary);
    Ok(pack_page(groups.into_iter().flatten().collect(), &summary, options))
}

/// Counts the matches in the ignored directories, if these have few entries.
pub fn count_ignored(
    walk_root: &WalkRoot<'_>,
    options: &FindOptions,
    stop: &StopSignal<'_>,
    summary: &mut Summary,
) {
    if summary.ignored_dirs.is_empty() {
        return;
    }
    let dirs = (&summary.ignored_dirs[..], WalkLimits::MAX_IGNORED_ENTRIES as usize);
    let finder = FindVisitor { options };
    if let Some(found) = matches_in_ignored(walk_root, &options.walk, stop, &finder, dirs) {
        summary.ignored += found;
        summary.ignored_dirs = Vec::new();
    }
}

/// Sorts the entries of `groups` as the options ask, and returns the page of them that the options
/// ask for; see [`find`] for its format.
pub fn pack_page(mut groups: Vec<DirMatches>, summary: &Summary, options: &FindOptions) -> Packed {
    groups.sort_unstable_by(|a, b| a.prefix.cmp(&b.prefix));
    let total: usize = groups.iter().map(|group| group.ends.len()).sum();
    let mut page = FindPage::new(options);
    if options.sort == FindOrder::Path {
        for_each_in_path_order(&groups, &mut |group, name| page.take(group, name));
    } else {
        for (group, name) in sort_by_time(&groups, options) {
            page.take(group, name);
        }
    }
    page.pack(total, summary)
}

/// The visitor of a walk that collects the entries that match the options.
pub struct FindVisitor<'a> {
    /// The options of the search.
    pub options: &'a FindOptions,
}

/// The matching entries of one directory, in path order.
pub struct DirMatches {
    /// The path of the directory relative to the start in the form for display, with a final slash;
    /// empty for the start.
    pub prefix: Box<[u8]>,
    /// The names in the form for display, concatenated.
    pub names: Vec<u8>,
    /// The offset in `names` of the end of each name.
    pub ends: Vec<u32>,
    /// The modification time of each entry in milliseconds since 1970; empty if the order does not
    /// need it.
    pub times: Vec<f64>,
}

impl DirMatches {
    /// Sorts the names. Needed if they were added in the order of the file system's bytes and
    /// differ from those.
    pub fn sort(&mut self) {
        let mut begin = 0;
        let mut names: Vec<Vec<u8>> = Vec::with_capacity(self.ends.len());
        for &end in &self.ends {
            names.push(self.names[begin..end as usize].to_vec());
            begin = end as usize;
        }
        names.sort_unstable();
        (self.names, self.ends) = (Vec::new(), Vec::new());
        for name in names {
            self.names.extend_from_slice(&name);
            self.ends.push(self.names.len() as u32);
        }
    }

    pub(super) fn name(&self, index: usize) -> &[u8] {
        let begin = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.names[begin as usize..self.ends[index] as usize]
    }
}

impl Visitor for FindVisitor<'_> {
    type Local = Vec<DirMatches>;

    const OPENS_FILES: bool = false;

    fn local(&self) -> Vec<DirMatches> {
        Vec::new()
    }

    fn wants(&self, path: &[u8], kind: Kind) -> bool {
        let fits = match self.options.wanted {
            EntryFilter::File => kind == Kind::File,
            EntryFilter::Dir => kind == Kind::Dir,
            EntryFilter::Symlink => kind == Kind::Symlink,
            EntryFilter::Any => kind != Kind::Other,
        };
        fits && self.options.walk.globs.matches(path, kind == Kind::Dir)
    }

    fn directory(&self, groups: &mut Vec<DirMatches>, directory: &Directory<'_>) {
        let count = directory.entries.len();
        let mut group = DirMatches {
            prefix: directory.prefix.into(),
            names: Vec::with_capacity(count * 16),
            ends: Vec::with_capacity(count),
            times: Vec::new(),
        };
        for &index in directory.entries {
            let index = index as usize;
            group.names.extend_from_slice(&directory.listing.shown(index));
            group.ends.push(u32::try_from(group.names.len()).unwrap_or(u32::MAX));
            if self.options.sort != FindOrder::Path {
                let name = directory.listing.name(index);
                group.times.push(read_mtime_millis(directory.fd, name));
            }
        }
        groups.push(group);
    }

    fn file(&self, _: &mut Vec<DirMatches>, _: &FileEntry<'_>) -> AfterFile {
        AfterFile::Continue
    }
}

/// Calls `take` for all entries in path order. `groups` must be sorted by directory, so that each
/// precedes those below it.
fn for_each_in_path_order<'g>(
    groups: &'g [DirMatches],
    take: &mut impl FnMut(&'g DirMatches, usize),
) {
    // The groups of the directories around the current one, each with the number of its names that
    // were passed to `take`.
    let mut open: Vec<(&DirMatches, usize)> = Vec::new();
    let give = |entry: &mut (&'g DirMatches, usize),
                until: Option<&[u8]>,
                take: &mut dyn FnMut(&'g DirMatches, usize)| {
        let (group, given) = entry;
        while *given < group.ends.len() && until.is_none_or(|until| group.name(*given) < until) {
            take(group, *given);
            *given += 1;
        }
    };
    for group in groups {
        while let Some(top) = open.last_mut() {
            if group.prefix.starts_with(&top.0.prefix) {
                break;
            }
            give(top, None, take);
            open.pop();
        }
        if let Some(top) = open.last_mut() {
            let below = &group.prefix[top.0.prefix.len()..];
            let first = memchr::memchr(b'/', below).map_or(below, |slash| &below[..=slash]);
            give(top, Some(first), take);
        }
        open.push((group, 0));
    }
    while let Some(mut top) = open.pop() {
        give(&mut top, None, take);
    }
}

/// Returns all entries in the order [`FindOrder::Recent`] or [`FindOrder::Mtime`].
fn sort_by_time<'g>(
    groups: &'g [DirMatches],
    options: &FindOptions,
) -> Vec<(&'g DirMatches, usize)> {
    let mut entries = Vec::new();
    for_each_in_path_order(groups, &mut |group, name| entries.push((group, name)));
    // The sort is stable, so entries with equal times stay in path order.
    entries.sort_by_key(|&(group, name)| {
        let time = group.times[name];
        let counts = options.sort == FindOrder::Mtime || time >= options.recent_from;
        Reverse(if counts { time as i64 } else { i64::MIN })
    });
    entries
}

/// Collects the results that belong to the page that the options ask for.
pub struct FindPage<'a> {
    options: &'a FindOptions,
    paths: Packed,
    taken: usize,
    left_over: bool,
    last_time: f64,
    /// True until the results of the earlier pages were passed.
    skipping: bool,
}

impl<'a> FindPage<'a> {
    /// Creates an empty page.
    pub fn new(options: &'a FindOptions) -> Self {
        Self {
            options,
            paths: Packed::new(),
            taken: 0,
            left_over: false,
            last_time: -1.0,
            skipping: options.after.is_some(),
        }
    }

    /// Encodes the page for JavaScript; see [`find`].
    pub fn pack(self, total: usize, summary: &Summary) -> Packed {
        let totals = FindTotals {
            total: total as u64,
            ignored: summary.ignored,
            ignored_directories: summary.ignored_dirs.len() as u64,
            unreadable: summary.unreadable,
            truncated: self.left_over,
            complete: summary.stopped_at.is_none(),
        };
        let mut head = FindHead { totals, last_time: self.last_time }.packed();
        head.num(self.taken as u64);
        let mut packed = self.paths;
        // The head is inserted into the numbers of the paths, which are not copied, because there
        // may be a hundred thousand.
        packed.nums.splice(..0, head.nums);
        packed
    }

    /// Reports whether the limit of the page is reached.
    fn is_full(&self) -> bool {
        let bytes = self.paths.text.len() + self.taken;
        self.taken == self.options.limit || bytes as u64 >= self.options.max_text_bytes
    }

    /// Adds a path, if it belongs to the page. Must be called in path order. `ascii` says that the
    /// path has only ASCII characters.
    pub fn take_path(&mut self, path: &str, ascii: bool) {
        if self.skipping
            && let Some((after, _)) = &self.options.after
            && path.as_bytes() <= &after[..]
        {
            return;
        }
        self.skipping = false;
        if self.is_full() {
            self.left_over = true;
            return;
        }
        self.taken += 1;
        let length = if ascii { path.len() } else { filewright_core::chars::utf16_len(path) };
        self.paths.num(length as u64);
        self.paths.text.push_str(path);
    }

    /// Adds an entry of a group, if it belongs to the page. Must be called in the order of the
    /// results.
    fn take(&mut self, group: &DirMatches, index: usize) {
        let name = group.name(index);
        let time = group.times.get(index).copied();
        if self.skipping && self.is_before(group, name, time) {
            return;
        }
        self.skipping = false;
        if self.is_full() {
            self.left_over = true;
            return;
        }
        self.taken += 1;
        self.last_time = time.unwrap_or(-1.0);
        let text = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
        let (prefix, name) = (text(&group.prefix), text(name));
        let length =
            filewright_core::chars::utf16_len(prefix) + filewright_core::chars::utf16_len(name);
        self.paths.num(length as u64);
        self.paths.text.push_str(prefix);
        self.paths.text.push_str(name);
    }

    /// Reports whether an entry belongs to an earlier page: it sorts at or before the last path of
    /// the previous page, which may have been deleted since.
    fn is_before(&self, group: &DirMatches, name: &[u8], time: Option<f64>) -> bool {
        let Some((after, after_time)) = &self.options.after else { return false };
        let path_is_before = group.prefix.iter().chain(name).le(after.iter());
        let Some(time) = time else { return path_is_before };
        let recent =
            |time: f64| self.options.sort == FindOrder::Mtime || time >= self.options.recent_from;
        match (recent(time), recent(*after_time)) {
            (true, true) => time > *after_time || (time == *after_time && path_is_before),
            (false, false) => path_is_before,
            (recent, _) => recent,
        }
    }
}

/// Returns the modification time of an entry in whole milliseconds since 1970, so that JavaScript
/// can pass it back unchanged; 0 if the entry no longer exists.
pub(super) fn read_mtime_millis(dir: BorrowedFd<'_>, name: &[u8]) -> f64 {
    Stat::at(dir, name).map_or(0.0, |stat| stat.mtime.div_euclid(1_000_000) as f64)
}
