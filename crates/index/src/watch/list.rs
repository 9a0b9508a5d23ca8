//! Applies the listing of a directory to the tree: adds new entries, keeps existing ones and
//! removes others.
//!
//! This is not the walk of `filewright_fs::walk`, because a tree that is kept is not walked: single
//! directories are listed again when they change, each after it is watched, and all of their
//! entries are kept whatever the options of a query are. Which entries exist, which are ignored and
//! how deep a tree is, it decides by the same `filewright_core::walk`.
//!
//! Interpreting a listing ([`DirContents::of`]) does not use the tree, so that several directories
//! can be scanned in parallel; applying it ([`apply_listing`]) is sequential.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use filewright_core::pattern::ignore::Stack;
use filewright_core::text::path::encode_name;
use filewright_core::walk::{is_git, is_hidden, is_ignored};

use crate::tree::{IndexEntry, IndexedDir, NO_NUMBER};
use crate::watch::state::{IndexState, ScanContext};
use filewright_fs::dir::stat::{Kind, Stat};
use filewright_fs::walk::parent_rules::{self, RuledDir};
use filewright_fs::walk::{Listing, MAX_DEPTH, RepoTop, walked};

/// The listing of a directory with what the rules say about each entry.
pub(crate) struct DirContents {
    stack: Stack,
    /// A hash of the ignore rules in the directory itself.
    rules: u64,
    has_rules: bool,
    is_repo_root: bool,
    exclude: u64,
    special: bool,
    names: Vec<u8>,
    /// The entries, sorted by the bytes of their names.
    entries: Vec<ScannedEntry>,
}

/// An entry that is to be applied to the tree.
struct ScannedEntry {
    at: u32,
    len: u16,
    kind: Kind,
    plain: bool,
    ignored: bool,
    /// True for a directory that is deeper than [`MAX_DEPTH`], whose contents are not listed.
    deep: bool,
    /// True for a secret, whose content must not be read.
    secret: bool,
}

impl DirContents {
    /// Applies the rules to the listing of a directory. `above` are the ignore rules of the
    /// directories above it.
    pub fn of(
        dir: &IndexedDir,
        above: &Stack,
        fd: BorrowedFd<'_>,
        listing: &Listing,
        context: &ScanContext<'_>,
    ) -> Self {
        let walk_root = context.walk_root;
        let mut path = [&walk_root.real[..], &dir.raw].concat();
        let base = path.len();
        let repo = RepoTop { roots: walk_root.roots, fd, real: &path };
        let is_repo = |index| {
            is_git(listing.name(index)) && matches!(listing.kind(index), Kind::Dir | Kind::File)
        };
        let is_repo_root = context.names.is_some() && (0..listing.len()).any(is_repo);
        let exclude = if is_repo_root { repo.exclude_hash() } else { 0 };
        let ruled = RuledDir { place: repo, listing, top: walk_root.top };
        let (stack, rules) = match context.names {
            Some(names) => parent_rules::rules_inside(above, &ruled, names),
            None => (above.clone(), 0),
        };
        let has_rules = context.names.is_some_and(|names| {
            (0..listing.len())
                .any(|index| names.iter().any(|name| name.as_bytes() == listing.name(index)))
        });
        let mut places: Vec<usize> = (0..listing.len()).collect();
        places.sort_unstable_by(|&a, &b| listing.name(a).cmp(listing.name(b)));
        let (mut names, mut entries) = (Vec::new(), Vec::with_capacity(places.len()));
        let mut special = false;
        let policy = walk_root.roots.rules();
        let denies = policy.denies();
        for place in places {
            let (name, kind) = (listing.name(place), listing.kind(place));
            path.truncate(base);
            path.extend_from_slice(name);
            if denies && walk_root.denied_entry(&path) {
                continue;
            }
            special |= kind == Kind::Other;
            if is_git(name) || kind == Kind::Other {
                continue;
            }
            let is_dir = kind == Kind::Dir;
            let ignored = is_ignored(&stack, walked(kind), &path[walk_root.top..]);
            entries.push(ScannedEntry {
                at: names.len() as u32,
                len: name.len() as u16,
                kind,
                plain: listing.is_plain(place),
                ignored,
                deep: is_dir && !ignored && dir.depth == MAX_DEPTH,
                // Searches leave out secrets, granted or not, and count them as unreadable.
                secret: kind == Kind::File && policy.secret(&path),
            });
            names.extend_from_slice(name);
        }
        names.shrink_to_fit();
        Self { stack, rules, has_rules, is_repo_root, exclude, special, names, entries }
    }
}

/// Replaces the entries of the directory `id` by those of its listing, and records what changed.
pub(crate) fn apply_listing(
    state: &mut IndexState,
    id: u32,
    contents: DirContents,
    fd: Option<BorrowedFd<'_>>,
) {
    let DirContents {
        stack,
        rules,
        has_rules,
        is_repo_root,
        exclude,
        special,
        names,
        entries: listed,
    } = contents;
    let dir = &mut state.tree.dirs[id as usize];
    let new_rules = dir.rules != Some(rules) || dir.rules_changed_above;
    (dir.has_rules, dir.special) = (has_rules, special);
    let old_names = std::mem::take(&mut dir.names);
    let old_entries = std::mem::take(&mut dir.entries);
    state.mark_repo_root(id, is_repo_root, exclude);
    let name_of = |entry: &IndexEntry| &old_names[entry.at as usize..][..usize::from(entry.len)];
    let mut old = old_entries.iter().peekable();
    let mut entries = Vec::with_capacity(listed.len());
    let (mut ignored_here, mut too_deep, mut changed) = (0, 0, false);
    for new in listed {
        let ScannedEntry { at, len, kind, plain, ignored, deep, secret } = new;
        let name = &names[at as usize..][..usize::from(len)];
        while let Some(gone) = old.next_if(|entry| name_of(entry) < name) {
            changed = true;
            remove_entry_from_tree(state, gone);
        }
        let known = old.next_if(|entry| name_of(entry) == name);
        ignored_here += usize::from(ignored);
        too_deep += u64::from(deep || secret && !ignored);
        let is_dir = kind == Kind::Dir;
        let stays = known.filter(|known| {
            known.kind == kind
                && known.ignored == ignored
                && !(is_dir && state.was_replaced(id, name))
        });
        let below = match stays {
            Some(known) => {
                if new_rules && is_dir && known.below != NO_NUMBER {
                    state.mark_rules_changed(known.below);
                }
                known.below
            }
            None => {
                changed = true;
                if let Some(known) = known {
                    remove_entry_from_tree(state, known);
                }
                match kind {
                    _ if ignored || deep => NO_NUMBER,
                    Kind::File if secret => state.tree.add_secret(id),
                    Kind::File => {
                        let links = |fd| Stat::at(fd, name).is_ok_and(|stat: Stat| stat.nlink > 1);
                        state.hard_link_added |= state.begun && fd.is_none_or(links);
                        state.tree.add_file(id)
                    }
                    Kind::Dir => add_dir(state, id, name, plain),
                    _ => NO_NUMBER,
                }
            }
        };
        if kind == Kind::File && below != NO_NUMBER {
            state.tree.files[below as usize].entry = entries.len() as u32;
        }
        entries.push(IndexEntry { at, len, kind, ignored, plain, below });
    }
    for gone in old {
        changed = true;
        remove_entry_from_tree(state, gone);
    }
    let dir = &mut state.tree.dirs[id as usize];
    (dir.names, dir.entries) = (names, entries);
    (dir.stack, dir.rules, dir.rules_changed_above) = (stack, Some(rules), false);
    (dir.ignored, dir.too_deep) = (ignored_here, too_deep);
    if changed {
        state.tree.log_dir(id);
    }
}

/// Adds a new directory to the tree, to be listed, and returns its number.
fn add_dir(state: &mut IndexState, parent: u32, name: &[u8], plain: bool) -> u32 {
    let dir = &state.tree.dirs[parent as usize];
    let join =
        |prefix: &[u8], name: &[u8]| -> Arc<[u8]> { Arc::from([prefix, name, b"/"].concat()) };
    let (raw, shown) = if plain && Arc::ptr_eq(&dir.raw, &dir.shown) {
        let path = join(&dir.raw, name);
        (Arc::clone(&path), path)
    } else {
        (join(&dir.raw, name), join(&dir.shown, encode_name(name).as_bytes()))
    };
    let hidden = dir.hidden || is_hidden(name);
    let depth = dir.depth + 1;
    state.add_dir(IndexedDir::new(parent, depth, raw, shown, hidden))
}

fn remove_entry_from_tree(state: &mut IndexState, entry: &IndexEntry) {
    match entry.kind {
        _ if entry.below == NO_NUMBER => {}
        Kind::Dir => state.remove_dir(entry.below),
        _ => state.tree.remove_file(entry.below),
    }
}
