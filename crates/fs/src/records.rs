//! The records in which metadata of files crosses to JavaScript.

use std::borrow::Cow;

use filewright_core::pack::Packed;
use filewright_core::text::path::encode_name;
use filewright_core::wire;
use filewright_core::wire::Wire;

use crate::commit::{Commit, End, MadeStep};
use crate::dir::stat::{Kind, Stat, nanos_to_millis};
use crate::read::path_stat;
use crate::walk::list::{DirEntry, DirPage};
use crate::walk::list_tree::{TreeEntry, TreePage};
use crate::write::Written;

wire! {
    /// The metadata of an entry. Times are milliseconds since 1970.
    pub struct EntryStat {
        /// The type of the entry.
        pub kind: Kind,
        /// The size in bytes.
        pub size: u64,
        /// The permission bits.
        pub mode: u32,
        /// The number of hard links.
        pub nlink: u64,
        /// The time of the last change of the content.
        pub mtime: f64,
        /// The time of the last change of content or metadata.
        pub ctime: f64,
        /// The time of the last read.
        pub atime: f64,
        /// The creation time, if the file system records it.
        pub birthtime: Option<f64>,
        /// The version of the file.
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
        /// The SHA-256 of the content.
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
    /// A step of a list of changes: what became known of it.
    pub struct ListedStep {
        /// The version of what it has made; `None` where it has made nothing.
        pub version: Option<String>,
        /// The number of other hard links of the replaced file, which keep the old content.
        pub other_names: u64,
        /// True if the file was written in place, because it could not be replaced.
        pub in_place: bool,
    }
}

wire! {
    /// A list of changes that was made, or not.
    pub struct MadeList {
        /// The moment of the commit in milliseconds since 1970; `None` unless all was made.
        pub moment: Option<f64>,
        /// The steps that were begun.
        pub steps: Vec<ListedStep>,
        /// The directories that are missing, outermost first, so that nothing was made.
        pub missing: Vec<String>,
        /// The JSON of the error of the change with the index `at`, before which all were made.
        pub error: Option<String>,
        /// The index of the change that failed; the number of changes for the end of the record.
        pub at: u64,
    }
}

wire! {
    /// The head of a packed listing of a directory; the entries follow it.
    struct DirectoryHead {
        /// The number of all entries, including those that are not on the page.
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
        /// The number of all entries, including those that are not on the page.
        pub total: u64,
        /// The number of entries that follow.
        pub count: u64,
    }
}

wire! {
    /// An entry of a directory or a tree.
    struct ListedEntry<'a> {
        /// The type of the entry.
        pub kind: Kind,
        /// The size in bytes; `None` if the metadata was not requested or could not be read. Then
        /// `mtime` is 0.
        pub size: Option<u64>,
        /// The time of the last change of the content.
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

impl From<path_stat::PathStat> for PathStat {
    fn from(found: path_stat::PathStat) -> Self {
        let target = found.target.map(|target| encode_name(&target).into_owned());
        Self { stat: (&found.stat).into(), target }
    }
}

impl From<&Written> for WrittenFile {
    fn from(Written { stat, created, other_names, in_place }: &Written) -> Self {
        let (created, other_names, in_place) = (*created, *other_names, *in_place);
        Self { stat: stat.into(), created, other_names, in_place }
    }
}

impl From<MadeStep> for ListedStep {
    fn from(MadeStep { version, written }: MadeStep) -> Self {
        let (other_names, in_place) =
            written.map_or((0, false), |written| (written.other_names, written.in_place));
        Self { version, other_names, in_place }
    }
}

impl From<Commit> for MadeList {
    fn from(Commit { steps, end }: Commit) -> Self {
        let steps = steps.into_iter().map(ListedStep::from).collect();
        let none = Self { moment: None, steps, missing: Vec::new(), error: None, at: 0 };
        match end {
            End::Made(moment) => Self { moment: Some(moment), ..none },
            End::Missing(missing) => Self { missing, ..none },
            End::Failed(at, error) => Self { error: Some(error.to_json()), at: at as u64, ..none },
        }
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

impl DirPage {
    /// Returns a packed listing: a [`DirectoryHead`] and the entries.
    pub fn packed(&self) -> Packed {
        let DirPage { total, more, entries, .. } = self;
        let head = DirectoryHead { total: *total, more: *more, count: entries.len() as u64 };
        let mut packed = head.packed();
        for DirEntry { name, kind, stat, target } in entries {
            pack_entry(&mut packed, *kind, *stat, encode_name(name), target.as_deref());
        }
        packed
    }
}

impl TreePage {
    /// Returns a packed page of a tree: a [`TreeHead`] and the entries.
    pub fn packed(&self) -> Packed {
        let mut packed = TreeHead { total: self.total, count: self.entries.len() as u64 }.packed();
        for TreeEntry { path, kind, stat, target } in &self.entries {
            let path = std::str::from_utf8(path).unwrap_or_default();
            pack_entry(&mut packed, *kind, *stat, path.into(), target.as_deref());
        }
        packed
    }
}
