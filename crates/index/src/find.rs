//! Searches names in the tree of an index, or with a walk if there is no index.

use std::sync::Arc;
use std::time::Instant;

use filewright_core::Result;
use filewright_core::pack::Packed;
use filewright_fs::cancel::{CancelToken, Deadline};
use filewright_fs::search::find::{
    self, EntryFilter, FindOptions, FindOrder, FindPage, FindVisitor, find, find_from_disk,
};
use filewright_fs::search::mtimes;
use filewright_fs::walk::options::IndexMode;
use filewright_fs::walk::{StopSignal, WalkRoot};

use crate::lifecycle::build_in_background;
use crate::names::{MatchedNames, for_each_matching_file, matching_names};
use crate::{MIN_SCAN_TIME, Session};

/// Does the same as [`find()`], in the tree of an index if there is one. Otherwise, a walk of at
/// least [`MIN_SCAN_TIME`] starts building an index of names in the background.
///
/// # Errors
/// Like [`find()`].
pub fn find_indexed(
    session: &Arc<Session>,
    path: &[u8],
    options: &FindOptions,
    cancel: &CancelToken,
) -> Result<Packed> {
    if options.index == IndexMode::Off {
        return find(&session.roots, path, options, cancel);
    }
    let stop = StopSignal { cancel, deadline: Deadline::after(options.timeout_ms) };
    stop.cancel.check()?;
    let walk_root = WalkRoot::open(&session.roots, path, options.walk.ignore.as_deref())?;
    let finder = FindVisitor { options };
    if options.wanted == EntryFilter::File && options.sort == FindOrder::Path {
        let (mut page, mut total) = (FindPage::new(options), 0);
        let mut take = |path: &str, ascii: bool| {
            total += 1;
            page.take_path(path, ascii);
        };
        let walk = &options.walk;
        if let Some(mut listed) =
            for_each_matching_file(session, &walk_root, walk, &finder, &stop, &mut take)
        {
            find::count_ignored(&walk_root, options, &stop, &mut listed.summary);
            return Ok(page.pack(total, &listed.summary));
        }
    } else if let Some(MatchedNames { mut groups, mut summary }) =
        matching_names(session, &walk_root, &finder, &stop)
    {
        find::count_ignored(&walk_root, options, &stop, &mut summary);
        if options.sort != FindOrder::Path {
            mtimes::read_mtimes(&walk_root, &mut groups, &stop);
            stop.cancel.check()?;
        }
        if options.sort == FindOrder::Path || !stop.now() {
            return Ok(find::pack_page(groups, &summary, options));
        }
    }
    stop.cancel.check()?;
    let begun = Instant::now();
    let packed = find_from_disk(&walk_root, options, &stop)?;
    if begun.elapsed() >= MIN_SCAN_TIME {
        let ignore = options.walk.ignore.as_deref();
        build_in_background(
            session,
            &walk_root,
            ignore,
            options.index == IndexMode::Anywhere,
            false,
        );
    }
    Ok(packed)
}
