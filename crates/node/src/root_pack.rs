//! The records in which results of the root set cross to JavaScript.

use std::borrow::Cow;

use filewright_core::pack::Packed;
use filewright_core::text::path::encode_name;
use filewright_core::wire;
use filewright_core::wire::Wire;
use filewright_fs::dir::stat::{Kind, Stat, nanos_to_millis};
use filewright_fs::walk::list::{DirEntry, DirPage};
use filewright_fs::walk::list_tree::{TreeEntry, TreePage};
use filewright_fs::write::Written;

wire! {
    /// The metadata of an entry. Times are milliseconds since 1970.
    pub struct EntryStat {
        pub kind: Kind,
        pub size: u64,
        pub mode: u32,
        pub nlink: u64,
        pub mtime: f64,
        pub ctime: f64,
        pub atime: f64,
        pub birthtime: Option<f64>,
        pub version: String,
    }
}

wire! {
    /// The metadata of a path.
    pub struct PathStat {
        ..stat: EntryStat,
        /// The target of a link.
        pub target: Option<String>,
    }
}

wire! {
    /// The hash of a file, with its metadata.
    pub struct FileHash {
        ..stat: EntryStat,
        pub hash: String,
    }
}

wire! {
    /// A file that was written.
    pub struct WrittenFile {
        ..stat: EntryStat,
        /// True if the file did not exist before.
        pub created: bool,
        /// The number of other hard links of the replaced file, which keep the old content.
        pub other_names: u64,
        /// True if the file was written in place, because it could not be replaced.
        pub in_place: bool,
    }
}

wire! {
    /// The head of a packed listing of a directory; the entries follow it.
    struct DirectoryHead {
        pub total: u64,
        /// True if the directory has entries after the page.
        pub more: bool,
        /// The number of entries that follow.
        pub count: u64,
    }
}

wire! {
    /// The head of a packed page of a tree; the entries follow it.
    struct TreeHead {
        pub total: u64,
        /// The number of entries that follow.
        pub count: u64,
    }
}

wire! {
    /// An entry of a directory or a tree.
    struct ListedEntry<'a> {
        pub kind: Kind,
        /// The size in bytes; `None` if the metadata was not requested or could not be read. Then
        /// `mtime` is 0.
        pub size: Option<u64>,
        pub mtime: f64,
        /// The path relative to the listed directory.
        pub path: Cow<'a, str>,
        /// The target of a link.
        pub target: Option<Cow<'a, str>>,
    }
}

impl From<&Stat> for EntryStat {
    fn from(stat: &Stat) -> Self {
        Self {
            kind: stat.kind,
            size: stat.size,
            mode: stat.mode,
            nlink: stat.nlink,
            mtime: nanos_to_millis(stat.mtime),
            ctime: nanos_to_millis(stat.ctime),
            atime: nanos_to_millis(stat.atime),
            birthtime: stat.birth.map(nanos_to_millis),
            version: stat.version().to_string(),
        }
    }
}

impl From<&Written> for WrittenFile {
    fn from(Written { stat, created, other_names, in_place }: &Written) -> Self {
        let (created, other_names, in_place) = (*created, *other_names, *in_place);
        Self { stat: stat.into(), created, other_names, in_place }
    }
}

/// Appends an entry to a packed listing.
fn pack_entry(
    packed: &mut Packed,
    kind: Kind,
    stat: Option<Stat>,
    path: Cow<'_, str>,
    target: Option<&[u8]>,
) {
    let mtime = stat.map_or(0.0, |stat| nanos_to_millis(stat.mtime));
    let target = target.map(encode_name);
    ListedEntry { kind, size: stat.map(|stat| stat.size), mtime, path, target }.put(packed);
}

/// Returns a packed listing: a [`DirectoryHead`] and the entries.
pub(crate) fn pack_listing(listing: &DirPage) -> Packed {
    let DirPage { total, more, entries, .. } = listing;
    let head = DirectoryHead { total: *total, more: *more, count: entries.len() as u64 };
    let mut packed = head.packed();
    for DirEntry { name, kind, stat, target } in entries {
        pack_entry(&mut packed, *kind, *stat, encode_name(name), target.as_deref());
    }
    packed
}

/// Returns a packed page of a tree: a [`TreeHead`] and the entries.
pub(crate) fn pack_tree_page(page: &TreePage) -> Packed {
    let mut packed = TreeHead { total: page.total, count: page.entries.len() as u64 }.packed();
    for TreeEntry { path, kind, stat, target } in &page.entries {
        let path = std::str::from_utf8(path).unwrap_or_default();
        pack_entry(&mut packed, *kind, *stat, path.into(), target.as_deref());
    }
    packed
}
