//! Searches contents with an index, or with a walk if there is no index.

use std::sync::Arc;

use filewright_core::Result;
use filewright_core::pack::Packed;
use filewright_fs::cancel::{CancelToken, Deadline};
use filewright_fs::search::grep::{GrepOptions, open_search_dir, search_disk};
use filewright_fs::search::searcher::Search;
use filewright_fs::search::shared_walk;
use filewright_fs::walk::StopSignal;
use filewright_fs::walk::options::IndexMode;

use crate::lifecycle::build_in_background;
use crate::query::{QueryStats, search_with_index};
use crate::{MIN_SCAN_TIME, Session};

/// Does the same as [`grep`](filewright_fs::search::grep::grep), with an index if there is one. Otherwise, a search of at least
/// [`MIN_SCAN_TIME`] starts building an index in the background for later searches.
///
/// # Errors
/// Like [`grep`](filewright_fs::search::grep::grep).
pub fn grep_indexed(
    session: &Arc<Session>,
    path: &[u8],
    options: &GrepOptions,
    cancel: &CancelToken,
) -> Result<Vec<Packed>> {
    let stop = StopSignal { cancel, deadline: Deadline::after(options.timeout_ms) };
    let walk_root = open_search_dir(&session.roots, path, options, &stop)?;
    let by_index = !matches!(options.index, IndexMode::Off | IndexMode::Strict);
    if let Some(walk_root) = &walk_root
        && by_index
    {
        let search = Search::below(options, walk_root);
        if let Some(seen) = search_with_index(session, walk_root, options, &stop, &search) {
            stop.cancel.check()?;
            let QueryStats { unreadable, ignored, stopped_at, fresh } = seen;
            return Ok(search.results(unreadable, ignored, stopped_at.as_deref(), fresh));
        }
    }
    let Some(walk_root) = &walk_root else {
        return search_disk(&session.roots, path, None, options, &stop);
    };
    let begun = std::time::Instant::now();
    let alone = || search_disk(&session.roots, path, Some(walk_root), options, &stop);
    let results =
        shared_walk::search_shared(&session.walks, &session.roots, path, options, &stop, alone)?;
    if by_index && begun.elapsed() >= MIN_SCAN_TIME {
        let names = options.walk.ignore.as_deref();
        build_in_background(session, walk_root, names, options.index == IndexMode::Anywhere, true);
    }
    Ok(results)
}
