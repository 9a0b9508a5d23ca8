//! Lists the entries of one directory.

use std::collections::BinaryHeap;
use std::os::fd::AsFd;

use filewright_core::Result;

use crate::cancel::CancelToken;
use crate::dir::for_each_name;
use crate::dir::stat::{Kind, Stat};
use crate::dir::temp_name::is_temp_name;
use crate::root::{Roots, push_path_name};

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// The name, in the bytes of the file system.
    pub name: Vec<u8>,
    /// The type; links are not followed.
    pub kind: Kind,
    /// The metadata, if requested.
    pub stat: Option<Stat>,
    /// The target of a symbolic link, if metadata was requested.
    pub target: Option<Vec<u8>>,
}

/// The options of a listing.
#[derive(Clone, Debug, Default)]
pub struct ListOptions {
    /// Adds metadata and link targets, at one more system call per returned entry.
    pub facts: bool,
    /// The maximum number of returned entries. The memory of the call grows with it and not with
    /// the size of the directory.
    pub limit: Option<usize>,
    /// Returns only entries after this position in the order of the listing; `None` begins with the
    /// first.
    pub after: Option<Position>,
}

/// A position in the order of a listing: directories first, then by the bytes of the names, which
/// for UTF-8 is the order of code points.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// True if the entry is not a directory.
    pub not_dir: bool,
    /// The name of the entry.
    pub name: Vec<u8>,
}

/// A page of the entries of a directory.
#[derive(Clone, Debug, Default)]
pub struct DirPage {
    /// The entries, in the order of [`Position`].
    pub entries: Vec<DirEntry>,
    /// The number of all visible entries of the directory, whatever `after` and `limit` are.
    pub total: u64,
    /// True if there are entries after the last one returned.
    pub more: bool,
}

impl Roots {
    /// Returns the entries of a directory. Denied entries and our temporary files are left out.
    ///
    /// # Errors
    /// `NOT_FOUND`, `NOT_DIRECTORY`, `OUTSIDE_ALLOWED`, `CANCELLED` and the system's errors.
    pub fn list(
        &self,
        path: &[u8],
        options: &ListOptions,
        cancel: &CancelToken,
    ) -> Result<DirPage> {
        let dir = self.open_dir(path)?;
        let limit = options.limit.unwrap_or(usize::MAX);
        let mut listing = DirPage::default();
        // A heap of the first `limit` positions, greatest on top, so that memory is only needed for
        // the entries of the page.
        let mut kept: BinaryHeap<(Position, Kind)> = BinaryHeap::new();
        let mut real = dir.real;
        let base = real.len();
        for_each_name(&dir.fd, |name, kind| {
            if listing.total % 256 == 0 {
                cancel.check()?;
            }
            if is_temp_name(name) {
                return Ok(());
            }
            if self.rules().denies() {
                real.truncate(base);
                push_path_name(&mut real, name);
                if dir.asked.denied_entry(self.rules(), &real) {
                    return Ok(());
                }
            }
            let kind = match kind {
                Some(kind) => kind,
                None => match Stat::find(&dir.fd, name)? {
                    Some(stat) => stat.kind,
                    None => return Ok(()),
                },
            };
            listing.total += 1;
            let position = Position { not_dir: kind != Kind::Dir, name: name.to_vec() };
            if options.after.as_ref().is_some_and(|after| position <= *after) {
                return Ok(());
            }
            kept.push((position, kind));
            if kept.len() > limit {
                kept.pop();
                listing.more = true;
            }
            Ok(())
        })?;
        for (position, kind) in kept.into_sorted_vec() {
            cancel.check()?;
            listing.entries.extend(describe(&dir.fd, position.name, kind, options.facts)?);
        }
        Ok(listing)
    }
}

/// Returns the entry `name` of a directory, with `facts` including its metadata and link target.
/// Returns `None` if it was deleted since it was listed.
pub fn describe(
    dir: impl AsFd,
    name: Vec<u8>,
    kind: Kind,
    facts: bool,
) -> Result<Option<DirEntry>> {
    if !facts {
        return Ok(Some(DirEntry { name, kind, stat: None, target: None }));
    }
    let Some(stat) = Stat::find(&dir, &name)? else { return Ok(None) };
    let target = match stat.kind {
        Kind::Symlink => {
            let target = rustix::fs::readlinkat(dir, name.as_slice(), Vec::new());
            target.ok().map(|target| target.into_bytes())
        }
        _ => None,
    };
    Ok(Some(DirEntry { name, kind: stat.kind, stat: Some(stat), target }))
}
