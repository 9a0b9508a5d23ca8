//! Searches contents with an index: finds the index of a tree, applies changes to it, selects
//! files, and searches them.

use std::sync::{Arc, PoisonError};

use crate::Session;
use crate::build::candidates::CandidateSet;
use crate::build::{indexer, verify};
use crate::lifecycle::index_dirty_in_background;
use crate::lookup::{find_index, lock_refreshed_state};
use crate::readers::ReadGuard;
use crate::tree::view::OtherCounts;
use filewright_fs::search::grep::{Freshness, GrepOptions};
use filewright_fs::search::searcher::Search;
use filewright_fs::walk::{StopSignal, WalkRoot};

/// The counts and the state of a search with an index, besides its results.
pub(crate) struct QueryStats {
    pub unreadable: u64,
    pub ignored: u64,
    pub stopped_at: Option<Box<[u8]>>,
    pub fresh: Freshness,
}

/// Searches contents with an index and adds the results to `search`; returns `None` if no index
/// contains the directory.
pub(crate) fn search_with_index(
    session: &Arc<Session>,
    walk_root: &WalkRoot<'_>,
    options: &GrepOptions,
    stop: &StopSignal<'_>,
    search: &Search<'_>,
) -> Option<QueryStats> {
    let names = options.walk.ignore.as_deref();
    let (index, opened) = find_index(session, walk_root, names)?;
    // The index must not be emptied before the last file is looked up in it.
    let _guard = ReadGuard::of(&index)?;
    let base = opened.as_ref().unwrap_or(walk_root);
    let query = options.query.key();
    let misses = index.misses().of(query);
    let below = &walk_root.real[base.real.len()..];
    let (mut from, mut begins) = (options.walk.from.clone(), search.has_limit());
    loop {
        let (work, next, cut, seen) = {
            let (mut state, fresh) =
                lock_refreshed_state(session, &index, base, names, options.strict, stop)?;
            let start = state.tree.find_dir(below)?;
            let mut views = index.views.lock().unwrap_or_else(PoisonError::into_inner);
            let view = views.get(&state.tree, start, search);
            // If the number of results is limited and most files have a match, reading the first
            // files is faster than selecting files.
            begins = begins && state.tree.block_index.is_unselective(options.query.plan());
            let (work, next) = if begins {
                CandidateSet::first(&state.tree, view, &from)
            } else {
                (CandidateSet::of(&mut state.tree, view, options, &from, &misses), None)
            };
            let OtherCounts { ignored, unreadable } = view.others();
            let cut = state.tree.dirs[start as usize].shown.len();
            if state.tree.dirty.len() >= indexer::MIN_DIRTY_FILES_PER_PASS {
                index_dirty_in_background(session, &index);
            }
            (work, next, cut, QueryStats { unreadable, ignored, stopped_at: None, fresh })
        };
        let verified = verify::verify_candidates(&index, base, cut, &work, search, stop);
        index.misses().add(query, verified.misses);
        let stopped_at = verified.stopped_at;
        let all = !verified.bounded && stopped_at.is_none();
        if all {
            search.passed(work.passed.texts, work.passed.binaries, work.passed.large);
        }
        match next.filter(|_| all) {
            Some(next) => (from, begins) = (next, false),
            None => return Some(QueryStats { stopped_at, ..seen }),
        }
    }
}
