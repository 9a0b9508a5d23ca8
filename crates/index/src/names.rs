//! Finds matching names in the tree of an index, with the results of a walk.

use std::sync::{Arc, PoisonError};

use crate::Session;
use crate::lookup::{find_index, lock_refreshed_state};
use crate::tree::NO_NUMBER;
use crate::tree::path_columns::{NonFileKind, dir_path_from_start};
use filewright_core::walk::is_hidden;
use filewright_fs::dir::stat::Kind;
use filewright_fs::search::find::DirMatches;
use filewright_fs::walk::{DirPath, StopSignal, Visitor, WalkOptions, WalkRoot};

/// The matching names that a tree contains, and the counts of what it does not contain.
pub(crate) struct MatchedNames {
    pub groups: Vec<DirMatches>,
    pub ignored: u64,
    pub unreadable: u64,
    /// The ignored directories. Their contents are not in the tree, so a walk must count the
    /// matches in them.
    pub ignored_dirs: Vec<DirPath>,
}

/// Passes the matching files to `take` in path order. The second argument of `take` is true if all
/// paths of the tree are ASCII. Returns the counts, with empty `groups`, or `None` if no index
/// contains the directory.
pub(crate) fn for_each_matching_file(
    session: &Arc<Session>,
    walk_root: &WalkRoot<'_>,
    options: &WalkOptions,
    visitor: &impl Visitor,
    stop: &StopSignal<'_>,
    take: &mut impl FnMut(&str, bool),
) -> Option<MatchedNames> {
    let names = options.ignore.as_deref();
    let (index, opened) = find_index(session, walk_root, names)?;
    let base = opened.as_ref().unwrap_or(walk_root);
    drop(lock_refreshed_state(session, &index, base, names, false, stop)?);
    let mut laid = index.paths.lock().unwrap_or_else(PoisonError::into_inner);
    let (span, start, cut, cut_raw) = {
        let mut state = index.lock();
        let start = state.tree.find_dir(&walk_root.real[base.real.len()..])?;
        state.tree.arrange();
        if !laid.update(&state.tree, stop) {
            return None;
        }
        let top = &state.tree.dirs[start as usize];
        (state.tree.arranged().span(start)?, Arc::clone(&top.shown), top.shown.len(), top.raw.len())
    };
    let sees = |path: &[u8]| options.hidden || !has_hidden_name(path);
    let path_at =
        |number: usize| laid.paths.get(number).and_then(|path| path.get(cut..)).unwrap_or_default();
    // The paths are ordered by their bytes, so paths with a common prefix are adjacent.
    let start_of_all = options.globs.literal_prefix();
    let (mut number, end) = (span.files.0 as usize, span.files.1 as usize);
    if !start_of_all.is_empty() {
        number = first_not_before(number, end, |at| path_at(at).as_bytes() < &start_of_all[..]);
    }
    let ends = options.globs.ends();
    for number in number..end {
        if number % 4096 == 0 && stop.now() {
            return None;
        }
        if ends.is_some_and(|ends| !laid.paths.fits(number, ends)) {
            continue;
        }
        let path = path_at(number);
        if !start_of_all.is_empty() && !path.as_bytes().starts_with(&start_of_all) {
            break;
        }
        if visitor.wants(path.as_bytes(), Kind::File) && sees(path.as_bytes()) {
            take(path, laid.ascii);
        }
    }
    let mut listed =
        MatchedNames { groups: Vec::new(), ignored: 0, unreadable: 0, ignored_dirs: Vec::new() };
    for other in &laid.others {
        let path = match other.path.strip_prefix(&start[..]) {
            Some(path) => path,
            // The start of the search itself.
            None if start.strip_suffix(b"/") == Some(&other.path) => b"",
            None => continue,
        };
        if !sees(path) {
            continue;
        }
        let enters = || options.globs.may_contain(path) && !options.globs.excluded(path, true);
        match &other.what {
            NonFileKind::Ignored(kind) => listed.ignored += u64::from(visitor.wants(path, *kind)),
            NonFileKind::IgnoredDir(raw) if enters() => {
                listed.ignored_dirs.push(dir_path_from_start(&other.path, raw, cut, cut_raw));
            }
            NonFileKind::Unread if enters() => listed.unreadable += 1,
            NonFileKind::IgnoredDir(_) | NonFileKind::Unread => {}
        }
    }
    Some(listed)
}

/// Returns the first number from `begin` on for which `before` is false, or `end`, by binary
/// search. `before` must be true only for the first numbers of the range.
fn first_not_before(mut begin: usize, mut end: usize, before: impl Fn(usize) -> bool) -> usize {
    while begin < end {
        let middle = begin + (end - begin) / 2;
        if before(middle) { begin = middle + 1 } else { end = middle }
    }
    begin
}

/// Reports whether a name of the path begins with a dot.
fn has_hidden_name(path: &[u8]) -> bool {
    path.first() == Some(&b'.') || memchr::memmem::find(path, b"/.").is_some()
}

/// Returns the matching entries of any type, grouped by directory, or `None` if no index contains
/// the directory.
pub(crate) fn matching_names(
    session: &Arc<Session>,
    walk_root: &WalkRoot<'_>,
    options: &WalkOptions,
    visitor: &impl Visitor,
    stop: &StopSignal<'_>,
) -> Option<MatchedNames> {
    let names = options.ignore.as_deref();
    let (index, opened) = find_index(session, walk_root, names)?;
    let base = opened.as_ref().unwrap_or(walk_root);
    let (mut state, _) = lock_refreshed_state(session, &index, base, names, false, stop)?;
    let start = state.tree.find_dir(&walk_root.real[base.real.len()..])?;
    state.tree.arrange();
    let tree = &state.tree;
    let span = tree.arranged().span(start)?;
    let top = &tree.dirs[start as usize];
    let (cut, cut_raw) = (top.shown.len(), top.raw.len());
    let mut listed =
        MatchedNames { groups: Vec::new(), ignored: 0, unreadable: 0, ignored_dirs: Vec::new() };
    let enters =
        |path: &[u8]| options.globs.may_contain(path) && !options.globs.excluded(path, true);
    let mut path = Vec::new();
    let mut place = tree.arranged().place(start);
    while place < span.next as usize {
        let here = tree.arranged().dirs[place];
        let dir = &tree.dirs[here.dir as usize];
        let shown = &dir.shown[cut..];
        if here.dir != start {
            let below = shown.strip_suffix(b"/").unwrap_or(shown);
            let name = memchr::memrchr(b'/', below).map_or(below, |at| &below[at + 1..]);
            if !enters(below) || !options.hidden && is_hidden(name) {
                place = here.next as usize;
                continue;
            }
        }
        place += 1;
        listed.unreadable += u64::from(dir.unreadable);
        let mut group = DirMatches {
            prefix: shown.into(),
            names: Vec::new(),
            ends: Vec::new(),
            times: Vec::new(),
        };
        let mut plain = true;
        path.clear();
        path.extend_from_slice(shown);
        for entry in &dir.entries {
            if !options.hidden && is_hidden(dir.name(entry)) {
                continue;
            }
            path.truncate(shown.len());
            dir.push_shown(entry, &mut path);
            let wanted = visitor.wants(&path, entry.kind);
            if entry.kind == Kind::Dir && entry.below == NO_NUMBER && enters(&path) {
                if entry.ignored {
                    let raw = [&dir.raw[cut_raw..], dir.name(entry), b"/"].concat();
                    let shown = [&path[..], b"/"].concat();
                    listed.ignored_dirs.push(DirPath { raw: raw.into(), shown: shown.into() });
                } else {
                    listed.unreadable += 1;
                }
            }
            if entry.ignored {
                listed.ignored += u64::from(wanted);
            } else if wanted {
                plain &= entry.plain;
                group.names.extend_from_slice(&path[shown.len()..]);
                group.ends.push(group.names.len() as u32);
            }
        }
        if !plain {
            group.sort();
        }
        if !group.ends.is_empty() {
            listed.groups.push(group);
        }
    }
    Some(listed)
}
