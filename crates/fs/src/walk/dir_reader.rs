//! The step that all walks of a disk consist of: reads one directory and decides what the walk does
//! with each of its entries, by the rules of [`filewright_core::walk`].
//!
//! Searches take these steps on several threads (`worker.rs`), listings one by one
//! (`list_tree.rs`).

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use filewright_core::pattern::ignore::Stack;
use filewright_core::walk::{DirRules, EntryDecision, WalkedKind};
use rustix::io::Errno;

use super::git_exclude::RepoTop;
use super::open::Opener;
use super::parent_rules::RuledDir;
use super::{DirPath, Listing, StopSignal, WalkOptions, WalkRoot, parent_rules};
use crate::dir::stat::Kind;

/// Reads the directories of a walk.
pub(super) struct DirReader<'a> {
    walk_root: &'a WalkRoot<'a>,
    options: &'a WalkOptions,
    opener: Opener<'a>,
    listing: Listing,
    /// The absolute path of the current entry, in the bytes of the file system.
    path: Vec<u8>,
    /// The path of the current entry relative to the start in the form for display, where that has
    /// other bytes.
    shown: Vec<u8>,
}

/// A directory that was read.
pub(super) struct ReadDir<'d> {
    pub place: &'d DirPath,
    /// The ignore rules inside it.
    pub stack: Stack,
}

/// An entry that a walk selects, enters or counts.
pub(super) struct ReadEntry<'e> {
    /// The index in the listing.
    pub index: usize,
    pub listing: &'e Listing,
    /// The absolute real path.
    pub path: &'e [u8],
    pub decision: EntryDecision,
}

impl<'a> DirReader<'a> {
    pub fn new(
        walk_root: &'a WalkRoot<'a>,
        options: &'a WalkOptions,
        stop: &'a StopSignal<'a>,
    ) -> Self {
        Self {
            walk_root,
            options,
            opener: Opener::new(walk_root, stop),
            listing: Listing::default(),
            path: Vec::new(),
            shown: Vec::new(),
        }
    }

    /// Opens a directory of the walk.
    pub fn open(&mut self, place: &DirPath) -> rustix::io::Result<BorrowedFd<'_>> {
        self.opener.open(&place.raw)
    }

    /// Reads the names of a directory, and its ignore files. `above` has the rules of the
    /// directories above it.
    pub fn read<'d>(
        &mut self,
        place: &'d DirPath,
        above: &Stack,
    ) -> rustix::io::Result<ReadDir<'d>> {
        let fd = self.opener.open(&place.raw)?;
        self.listing.read(fd)?;
        let stack = match &self.options.ignore {
            Some(names) => {
                let root = self.walk_root;
                let real = [&root.real[..], &place.raw].concat();
                let repo = RepoTop { roots: root.roots, fd, real: &real };
                let dir = RuledDir { place: repo, listing: &self.listing, top: root.top };
                parent_rules::rules_inside(above, &dir, names).0
            }
            None => above.clone(),
        };
        Ok(ReadDir { place, stack })
    }

    /// Returns the number of entries of the directory that was just read.
    pub fn listed(&self) -> usize {
        self.listing.len()
    }

    /// Calls `each` for the entries of the directory that was just read, in the order of the file
    /// system. Denied entries do not exist for it. `wants` receives the path relative to the start
    /// in the form for display, as all globs do.
    pub fn entries(
        &mut self,
        dir: &ReadDir<'_>,
        wants: impl Fn(&[u8], Kind) -> bool,
        mut each: impl FnMut(ReadEntry<'_>),
    ) {
        let Self { walk_root, options, listing, path, shown, .. } = self;
        let rules = DirRules::new(options, &dir.stack);
        path.clear();
        path.extend_from_slice(&walk_root.real);
        path.extend_from_slice(&dir.place.raw);
        let (start, base) = (walk_root.real.len(), path.len());
        let denies = walk_root.roots.rules().denies();
        let is_plain = Arc::ptr_eq(&dir.place.raw, &dir.place.shown);
        for index in 0..listing.len() {
            let (name, kind) = (listing.name(index), listing.kind(index));
            if !rules.sees(name) {
                continue;
            }
            path.truncate(base);
            path.extend_from_slice(name);
            if denies && walk_root.denied_entry(path) {
                continue;
            }
            let relative = if is_plain && listing.is_plain(index) {
                &path[start..]
            } else {
                shown.clear();
                shown.extend_from_slice(&dir.place.shown);
                shown.extend_from_slice(&listing.shown(index));
                &shown[..]
            };
            let from_top = &path[walk_root.top..];
            let wanted = |relative: &[u8]| wants(relative, kind);
            if let Some(decision) = rules.decide(walked(kind), relative, from_top, wanted) {
                each(ReadEntry { index, listing, path, decision });
            }
        }
    }

    /// Returns the directory that was just read, and its entries.
    pub fn current(&mut self, place: &DirPath) -> rustix::io::Result<(BorrowedFd<'_>, &Listing)> {
        Ok((self.opener.open(&place.raw)?, &self.listing))
    }
}

/// Returns the kind of an entry as the rules of walks see it.
pub fn walked(kind: Kind) -> WalkedKind {
    match kind {
        Kind::Dir => WalkedKind::Dir,
        Kind::File | Kind::Symlink => WalkedKind::Leaf,
        Kind::Other => WalkedKind::Special,
    }
}

/// Reports whether an error says that a directory was removed, or replaced by another entry, since
/// it was listed. It is then empty for every walk, and not unreadable.
pub(super) fn has_vanished(errno: Errno) -> bool {
    // The last two are returned for a link, which is not followed.
    matches!(errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::MLINK)
}

/// Returns the path of the subdirectory `name`. `shown` returns its name in the form for display;
/// `plain` says that it has the same bytes.
pub(super) fn subdirectory(
    place: &DirPath,
    name: &[u8],
    plain: bool,
    shown: impl Fn() -> Vec<u8>,
) -> DirPath {
    let join =
        |prefix: &[u8], name: &[u8]| -> Arc<[u8]> { Arc::from([prefix, name, b"/"].concat()) };
    let raw = join(&place.raw, name);
    if plain && Arc::ptr_eq(&place.raw, &place.shown) {
        return DirPath { shown: Arc::clone(&raw), raw };
    }
    DirPath { raw, shown: join(&place.shown, &shown()) }
}

/// Returns the path of the subdirectory with this index in the listing.
pub(super) fn path_below(place: &DirPath, listing: &Listing, index: usize) -> DirPath {
    let shown = || listing.shown(index).into_owned();
    subdirectory(place, listing.name(index), listing.is_plain(index), shown)
}
