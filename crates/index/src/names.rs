//! Finds matching names in the tree of an index, with the results of a walk.

use std::sync::{Arc, PoisonError};

use crate::Session;
use crate::lookup::{find_index, lock_refreshed_state};
use crate::tree::NO_NUMBER;
use crate::tree::below::Below;
use crate::tree::path_columns::NonFileKind;
use filewright_core::walk::sees;
use filewright_fs::dir::stat::Kind;
use filewright_fs::search::find::{DirMatches, EntryFilter, FindVisitor};
use filewright_fs::walk::{DirPath, StopSignal, Summary, Visitor, WalkOptions, WalkRoot};

/// The matching names that a tree contains, and the counts of what it does not contain.
pub(crate) struct MatchedNames {
    pub groups: Vec<DirMatches>,
    pub summary: Summary,
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
    let (start, cut_raw) = {
        let mut state = index.lock();
        let start = state.tree.find_dir(&walk_root.real[base.real.len()..])?;
        if !laid.update(&mut state.tree, stop) {
            return None;
        }
        let top = &state.tree.dirs[start as usize];
        (Arc::clone(&top.shown), top.raw.len())
    };
    let cut = start.len();
    let sees = |path: &[u8]| options.hidden || !has_hidden_name(path);
    let path_at =
        |number: usize| laid.paths.get(number).and_then(|path| path.get(cut..)).unwrap_or_default();
    // The paths are ordered by their bytes, so paths with a common prefix are adjacent.
    let start_of_all = options.globs.literal_prefix();
    let range = laid.range_of(&[&start[..], &start_of_all[..]].concat());
    let ends = options.globs.ends();
    for number in range {
        if number % 4096 == 0 && stop.now() {
            return None;
        }
        if ends.is_some_and(|ends| !laid.paths.fits(number, ends)) {
            continue;
        }
        let path = path_at(number);
        if visitor.wants(path.as_bytes(), Kind::File) && sees(path.as_bytes()) {
            take(path, laid.ascii);
        }
    }
    let mut listed = MatchedNames { groups: Vec::new(), summary: Summary::default() };
    for other in laid.others() {
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
            NonFileKind::Ignored(kind) => {
                listed.summary.ignored += u64::from(visitor.wants(path, *kind))
            }
            NonFileKind::IgnoredDir(raw) if enters() => {
                let shown = [path, b"/"].concat();
                let raw = raw.get(cut_raw..).unwrap_or_default();
                listed.summary.ignored_dirs.push(DirPath { raw: raw.into(), shown: shown.into() });
            }
            NonFileKind::IgnoredDir(_) => {}
            NonFileKind::Unread => listed.summary.unreadable += u64::from(enters()),
        }
    }
    Some(listed)
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
    visitor: &FindVisitor<'_>,
    stop: &StopSignal<'_>,
) -> Option<MatchedNames> {
    let options = &visitor.options.walk;
    let names = options.ignore.as_deref();
    let (index, opened) = find_index(session, walk_root, names)?;
    let base = opened.as_ref().unwrap_or(walk_root);
    let (state, _) = lock_refreshed_state(session, &index, base, names, false, stop)?;
    let tree = &state.tree;
    let start = tree.find_dir(&walk_root.real[base.real.len()..])?;
    let below = Below { tree, start, options };
    let mut listed = MatchedNames { groups: Vec::new(), summary: Summary::default() };
    if visitor.options.wanted == EntryFilter::Symlink {
        // The other directories contain only files and directories.
        let special = tree.special.iter().copied();
        special.filter(|&id| below.is_entered(id)).for_each(|id| listed.add(below, id, visitor));
    } else {
        below.dirs().into_iter().for_each(|id| listed.add(below, id, visitor));
    }
    Some(listed)
}

impl MatchedNames {
    /// Adds the matching entries of a directory.
    fn add(&mut self, below: Below<'_>, id: u32, visitor: &impl Visitor) {
        let dir = &below.tree.dirs[id as usize];
        let shown = below.shown(dir);
        self.summary.unreadable += u64::from(dir.unreadable);
        let mut group = DirMatches {
            prefix: shown.into(),
            names: Vec::new(),
            ends: Vec::new(),
            times: Vec::new(),
        };
        let mut plain = true;
        let mut path = shown.to_vec();
        for entry in &dir.entries {
            if !sees(below.options, dir.name(entry)) {
                continue;
            }
            path.truncate(shown.len());
            dir.push_shown(entry, &mut path);
            let wanted = visitor.wants(&path, entry.kind);
            let is_closed =
                entry.kind == Kind::Dir && entry.below == NO_NUMBER && below.enters_path(&path);
            if entry.ignored {
                self.summary.ignored += u64::from(wanted);
                if is_closed {
                    let cut_raw = below.tree.dirs[below.start as usize].raw.len();
                    let raw = [&dir.raw[cut_raw..], dir.name(entry), b"/"].concat();
                    let shown = [&path[..], b"/"].concat();
                    self.summary
                        .ignored_dirs
                        .push(DirPath { raw: raw.into(), shown: shown.into() });
                }
                continue;
            }
            self.summary.unreadable += u64::from(is_closed);
            if wanted {
                plain &= entry.plain;
                group.names.extend_from_slice(&path[shown.len()..]);
                group.ends.push(group.names.len() as u32);
            }
        }
        if !plain {
            group.sort();
        }
        if !group.ends.is_empty() {
            self.groups.push(group);
        }
    }
}
