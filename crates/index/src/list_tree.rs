//! Lists trees from the tree of an index, or from the disk if there is no index.

use std::sync::Arc;
use std::time::Instant;

use filewright_core::Result;
use filewright_fs::cancel::{CancelToken, Deadline};
use filewright_fs::walk::list_tree::{TreeOptions, TreePage, describe_all, list_from_disk};
use filewright_fs::walk::options::IndexMode;
use filewright_fs::walk::{StopSignal, WalkRoot};

use crate::lifecycle::build_in_background;
use crate::outline::outline_from_index;
use crate::{MIN_SCAN_TIME, Session};

/// Lists a tree. If ignore files apply, the names come from an index, if there is one; otherwise a
/// listing of at least [`MIN_SCAN_TIME`] starts building an index of names in the background.
///
/// # Errors
/// Like [`filewright_fs::walk::list_tree::list_tree`].
pub fn list_tree(
    session: &Arc<Session>,
    path: &[u8],
    options: &TreeOptions,
    cancel: &CancelToken,
) -> Result<TreePage> {
    let stop = StopSignal { cancel, deadline: Deadline::default() };
    stop.cancel.check()?;
    let names = options.walk.ignore.as_deref();
    let walk_root = WalkRoot::open(&session.roots, path, names)?;
    let by_index = names.is_some() && options.index != IndexMode::Off;
    let known = by_index.then(|| outline_from_index(session, &walk_root, options, &stop)).flatten();
    stop.cancel.check()?;
    if let Some(page) = known {
        return describe_all(&walk_root, page, options.facts, &stop);
    }
    let begun = Instant::now();
    let page = list_from_disk(&walk_root, options, &stop)?;
    if by_index && begun.elapsed() >= MIN_SCAN_TIME {
        build_in_background(
            session,
            &walk_root,
            names,
            options.index == IndexMode::Anywhere,
            false,
        );
    }
    Ok(page)
}
