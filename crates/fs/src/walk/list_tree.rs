//! Lists a page of the entries of a tree: the walk of this folder, one directory at a time. The
//! entries of a directory come directly after the directory.
//!
//! To order the entries, every name must be known but no metadata, so sizes and times are read only
//! for the entries of the page. This module reads the names from the disk; a search index is
//! another [`EntrySource`].

use std::sync::Arc;

use filewright_core::Result;
use filewright_core::options::{Options, invalid};
use filewright_core::pattern::ignore::Stack;
use filewright_core::text::path::encode_name;

use crate::cancel::{CancelToken, Deadline};
use crate::dir::errno::os_error;
use crate::dir::stat::{Kind, Stat};
use crate::root::Roots;
use crate::walk::dir_reader::{DirReader, ReadEntry, subdirectory};
use crate::walk::list::describe;
use crate::walk::options::{IndexMode, walk_options};
use crate::walk::{DirPath, MAX_DEPTH, Opener, StopSignal, WalkOptions, WalkRoot};

/// The parsed options of a tree listing.
#[derive(Clone, Debug)]
pub struct TreeOptions {
    /// The entries that are visible.
    pub walk: WalkOptions,
    depth: usize,
    dirs_first: bool,
    descending: bool,
    from: u64,
    limit: usize,
    /// The page ends after the entry with which its names, counted with one byte more each, reach
    /// this number of bytes.
    max_text_bytes: u64,
    /// Adds sizes, times and link targets.
    pub facts: bool,
    /// The use of an index.
    pub index: IndexMode,
}

impl TreeOptions {
    /// Parses the options; defaults in brackets. `depth` (1) in directories, `hidden`, `exclude`,
    /// `respectIgnore`, `ignoreFiles`, `sort` (`type`, or `name`), `order` (`asc`, or `desc`),
    /// `from` (0), the number of entries before the page, `limit` (none), `maxTextBytes` (none),
    /// `facts` (true: adds sizes, times and link targets) and `index`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`, `INVALID_GLOB`, `LIMIT_EXCEEDED`.
    pub fn from_json(json: &str) -> Result<Self> {
        let options = Options::parse(json)?;
        let depth = options.number("depth")?.unwrap_or(1);
        if depth == 0 {
            return Err(invalid("depth", "depth must be at least 1"));
        }
        let limit = options.number("limit")?.unwrap_or(u64::MAX);
        let mut walk = walk_options(&options, "pattern")?;
        walk.skip_git = walk.ignore.is_some();
        Ok(Self {
            walk,
            depth: usize::try_from(depth).unwrap_or(usize::MAX),
            dirs_first: options.choice("sort", &["type", "name"])? == 0,
            descending: options.choice("order", &["asc", "desc"])? == 1,
            from: options.number("from")?.unwrap_or(0),
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            max_text_bytes: options.number("maxTextBytes")?.unwrap_or(u64::MAX),
            facts: options.flag("facts", true)?,
            index: IndexMode::read(&options)?,
        })
    }

    /// Reports whether an entry that the walk sees is listed: no glob excludes it. `path` is
    /// relative to the start, in the form for display.
    pub fn lists(&self, path: &[u8], kind: Kind) -> bool {
        let globs = &self.walk.globs;
        globs.is_everything() || !globs.excluded(path, kind == Kind::Dir)
    }
}

/// An entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// The path relative to the start, in the form for display.
    pub path: Vec<u8>,
    /// The type; links are not followed.
    pub kind: Kind,
    /// The metadata, if requested and the entry still exists.
    pub stat: Option<Stat>,
    /// The target of a symbolic link.
    pub target: Option<Vec<u8>>,
}

/// A page of the entries of a tree.
#[derive(Clone, Debug, Default)]
pub struct TreePage {
    /// The entries, in order.
    pub entries: Vec<TreeEntry>,
    /// The total number of entries, including those before and after the page.
    pub total: u64,
}

/// Lists a tree from the disk. Denied entries and our temporary files are left out. An unreadable
/// directory below the start is returned without its contents.
///
/// # Errors
/// Like [`Roots::list`].
pub fn list_tree(
    roots: &Roots,
    path: &[u8],
    options: &TreeOptions,
    cancel: &CancelToken,
) -> Result<TreePage> {
    let stop = StopSignal { cancel, deadline: Deadline::default() };
    stop.cancel.check()?;
    let walk_root = WalkRoot::open(roots, path, options.walk.ignore.as_deref())?;
    list_from_disk(&walk_root, options, &stop)
}

/// Like [`list_tree`], below an open directory.
///
/// # Errors
/// Like [`list_tree`].
pub fn list_from_disk(
    walk_root: &WalkRoot<'_>,
    options: &TreeOptions,
    stop: &StopSignal<'_>,
) -> Result<TreePage> {
    let page = outline(&mut Disk::new(walk_root, options, stop), options, stop)?;
    describe_all(walk_root, page, options.facts, stop)
}

/// Where a tree listing gets the entries of directories from: the disk, or an index.
pub trait EntrySource {
    /// How the source identifies a directory.
    type Id: Copy;

    /// Adds the visible entries of the directory `id`, whose path is `place`, to `into`, in any
    /// order. The ids of the entries that are directories are passed back to this function.
    fn entries(
        &mut self,
        id: Self::Id,
        place: &DirPath,
        into: &mut Entries<Self::Id>,
    ) -> Result<()>;

    /// Returns the id of the directory at which the listing starts.
    fn start(&self) -> Self::Id;
}

/// The visible entries of one directory.
pub struct Entries<Id> {
    /// The names, concatenated.
    names: Vec<u8>,
    items: Vec<Item<Id>>,
}

#[derive(Clone, Copy)]
struct Item<Id> {
    at: u32,
    len: u16,
    kind: Kind,
    /// True if the name in the form for display has the same bytes.
    plain: bool,
    id: Id,
}

impl<Id: Copy> Entries<Id> {
    /// Adds an entry. `plain` says that its name in the form for display has the same bytes.
    pub fn push(&mut self, name: &[u8], kind: Kind, plain: bool, id: Id) {
        // Both conversions succeed: a name has at most 255 bytes, and the names of one directory
        // less than 4 GiB.
        if let (Ok(at), Ok(len)) = (u32::try_from(self.names.len()), u16::try_from(name.len())) {
            self.names.extend_from_slice(name);
            self.items.push(Item { at, len, kind, plain, id });
        }
    }

    /// Sorts the entries as the options say, by names in the form for display.
    fn arrange(&mut self, options: &TreeOptions) {
        let names = &self.names;
        let not_dir = |item: &Item<Id>| options.dirs_first && item.kind != Kind::Dir;
        if self.items.iter().all(|item| item.plain) {
            self.items.sort_unstable_by(|a, b| {
                not_dir(a).cmp(&not_dir(b)).then_with(|| name_of(names, a).cmp(name_of(names, b)))
            });
        } else {
            self.items.sort_by_cached_key(|item| {
                (not_dir(item), encode_name(name_of(names, item)).into_owned())
            });
        }
        if options.descending {
            self.items.reverse();
        }
    }
}

/// Returns the name of an entry from the concatenated names.
fn name_of<'n, Id>(names: &'n [u8], item: &Item<Id>) -> &'n [u8] {
    &names[item.at as usize..][..usize::from(item.len)]
}

/// An entry of the page before its metadata is read.
pub struct ListedEntry {
    /// The path of its directory relative to the start, in the bytes of the file system.
    raw: Arc<[u8]>,
    name: Box<[u8]>,
    path: Vec<u8>,
    kind: Kind,
}

/// The entries of a page without metadata, and the number of all entries of the tree.
pub struct TreeOutline {
    given: Vec<ListedEntry>,
    total: u64,
}

/// A directory whose entries are being visited.
struct Open<Id> {
    place: DirPath,
    entries: Entries<Id>,
    next: usize,
}

/// Visits the entries of a tree in order. Returns those of the page that `options` ask for, and the
/// number of all.
pub fn outline<S: EntrySource>(
    source: &mut S,
    options: &TreeOptions,
    stop: &StopSignal<'_>,
) -> Result<TreeOutline> {
    let mut outline = TreeOutline { given: Vec::new(), total: 0 };
    let mut text_bytes = 0;
    let mut spare: Vec<Entries<S::Id>> = Vec::new();
    let enter = |source: &mut S, spare: &mut Vec<Entries<S::Id>>, id, place: DirPath| {
        stop.cancel.check()?;
        let new = || Entries { names: Vec::new(), items: Vec::new() };
        let mut entries = spare.pop().unwrap_or_else(new);
        entries.names.clear();
        entries.items.clear();
        source.entries(id, &place, &mut entries)?;
        entries.arrange(options);
        Ok::<_, filewright_core::Error>(Open { place, entries, next: 0 })
    };
    let empty: Arc<[u8]> = Arc::from(&b""[..]);
    let start = DirPath { raw: Arc::clone(&empty), shown: empty };
    let mut open = vec![enter(source, &mut spare, source.start(), start)?];
    loop {
        let level = open.len();
        let Some(top) = open.last_mut() else { return Ok(outline) };
        let Some(&item) = top.entries.items.get(top.next) else {
            spare.extend(open.pop().map(|done| done.entries));
            continue;
        };
        top.next += 1;
        let name = name_of(&top.entries.names, &item);
        let shown = || match item.plain {
            true => name.into(),
            false => encode_name(name).as_bytes().to_vec(),
        };
        let has_room = outline.given.len() < options.limit && text_bytes < options.max_text_bytes;
        if outline.total >= options.from && has_room {
            text_bytes += name.len() as u64 + 1;
            let path = [&top.place.shown[..], &shown()].concat();
            let (raw, name) = (Arc::clone(&top.place.raw), name.into());
            outline.given.push(ListedEntry { raw, name, path, kind: item.kind });
        }
        outline.total += 1;
        if item.kind == Kind::Dir && level < options.depth.min(MAX_DEPTH + 1) {
            let place = subdirectory(&top.place, name, item.plain, shown);
            // A directory that was deleted or cannot be read is listed without its contents.
            match enter(source, &mut spare, item.id, place) {
                Ok(opened) => open.push(opened),
                Err(_) => stop.cancel.check()?,
            }
        }
    }
}

/// Returns the page with the metadata of its entries, if `facts` asks for it, and the targets of
/// links.
///
/// # Errors
/// `CANCELLED`.
pub fn describe_all(
    walk_root: &WalkRoot<'_>,
    outline: TreeOutline,
    facts: bool,
    stop: &StopSignal<'_>,
) -> Result<TreePage> {
    let mut opener = Opener::new(walk_root, stop);
    let mut page =
        TreePage { entries: Vec::with_capacity(outline.given.len()), total: outline.total };
    for ListedEntry { raw, name, path, kind } in outline.given {
        stop.cancel.check()?;
        let mut entry = TreeEntry { path, kind, stat: None, target: None };
        if facts || kind == Kind::Symlink {
            // An entry that was deleted since it was listed is returned without metadata.
            let described =
                opener.open(&raw).ok().and_then(|dir| describe(dir, name.into(), kind, true).ok());
            if let Some(now) = described.flatten() {
                entry.kind = now.kind;
                (entry.stat, entry.target) = (now.stat.filter(|_| facts), now.target);
            }
        }
        page.entries.push(entry);
    }
    Ok(page)
}

/// The [`EntrySource`] that reads directories from the disk.
struct Disk<'a> {
    reader: DirReader<'a>,
    options: &'a TreeOptions,
    /// The ignore rules of the current directory and those above it, by depth.
    stacks: Vec<Stack>,
}

impl<'a> Disk<'a> {
    fn new(
        walk_root: &'a WalkRoot<'a>,
        options: &'a TreeOptions,
        stop: &'a StopSignal<'a>,
    ) -> Self {
        let reader = DirReader::new(walk_root, &options.walk, stop);
        Self { reader, options, stacks: vec![walk_root.stack.clone()] }
    }
}

impl EntrySource for Disk<'_> {
    /// The index in [`Disk::stacks`] of the rules of the directory above; 0 for the start.
    type Id = u32;

    fn start(&self) -> u32 {
        0
    }

    fn entries(&mut self, above: u32, place: &DirPath, into: &mut Entries<u32>) -> Result<()> {
        let Self { reader, options, stacks } = self;
        stacks.truncate(above as usize + 1);
        let dir = reader.read(place, &stacks[above as usize]).map_err(os_error)?;
        stacks.push(dir.stack.clone());
        let wants = |path: &[u8], kind: Kind| options.lists(path, kind);
        reader.entries(&dir, wants, |ReadEntry { index, listing, decision, .. }| {
            if decision.selected && !decision.ignored {
                let (name, kind) = (listing.name(index), listing.kind(index));
                into.push(name, kind, listing.is_plain(index), above + 1);
            }
        });
        Ok(())
    }
}
