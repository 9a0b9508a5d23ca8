//! Searches the contents of a tree, or of one file.
//!
//! A small file is read completely into one buffer per thread, and so is a large one that may have
//! a match ([`crate::walk::SearchedFile`]); [`filewright_core::search`] searches it there. Memory
//! maps are not used, because a file may shrink at any time. Results are in path order. A
//! search that reached its limit skips everything that sorts after it, so its cost depends on the
//! results and not on the size of the tree.

use filewright_core::pack::Packed;
use filewright_core::{Code, Result};

use crate::cancel::{CancelToken, Deadline};
use crate::root::Roots;
use crate::walk::{StopSignal, WalkRoot, walk};

use super::searcher::Search;

pub use super::options::{GrepOptions, GrepOutput, MAX_SEARCHED_FILE_BYTES};
pub use super::results::{Freshness, IncompleteReason};

/// Searches below a directory, or in one file. A file passed as `path` is searched even if ignore
/// files exclude it, and its path in the results is empty. Paths in results are relative to `path`,
/// in the form for display.
///
/// The first packed result is a [`SearchHead`](super::results::SearchHead). Each further one is a
/// batch: the number of files, and for each file its path, its number of hits and, with
/// [`GrepOutput::Content`], the hits as [`pack_hit`](filewright_core::search::pack_hit) writes them. Hits beyond `maxTextBytes` are
/// omitted: the last file then has fewer hits than its count, and the position to continue from is
/// after the last of them.
///
/// # Errors
/// Errors of opening the path; `TOO_LARGE` for a file passed as `path` beyond the limit;
/// `CANCELLED`.
pub fn grep(
    roots: &Roots,
    path: &[u8],
    options: &GrepOptions,
    cancel: &CancelToken,
) -> Result<Vec<Packed>> {
    let stop = StopSignal { cancel, deadline: Deadline::after(options.timeout_ms) };
    let walk_root = open_search_dir(roots, path, options, &stop)?;
    search_disk(roots, path, walk_root.as_ref(), options, &stop)
}

/// Opens the directory to search; returns `None` if it is a file.
pub fn open_search_dir<'r>(
    roots: &'r Roots,
    path: &[u8],
    options: &GrepOptions,
    stop: &StopSignal<'_>,
) -> Result<Option<WalkRoot<'r>>> {
    stop.cancel.check()?;
    match WalkRoot::open(roots, path, options.walk.ignore.as_deref()) {
        Err(error) if error.code == Code::NotDirectory && path.last() != Some(&b'/') => Ok(None),
        walk_root => walk_root.map(Some),
    }
}

/// Does the same as [`grep`] below an open directory, or in the file at `path`.
///
/// # Errors
/// Like [`grep`].
pub fn search_disk(
    roots: &Roots,
    path: &[u8],
    walk_root: Option<&WalkRoot<'_>>,
    options: &GrepOptions,
    stop: &StopSignal<'_>,
) -> Result<Vec<Packed>> {
    let search = match walk_root {
        Some(walk_root) => Search::below(options, walk_root),
        None => Search::new(options),
    };
    let (unreadable, ignored, stopped_at) = match walk_root {
        Some(walk_root) => {
            let (summary, _) = walk(walk_root, &options.walk, stop, &search)?;
            (summary.unreadable, summary.ignored_entries(), summary.stopped_at)
        }
        None => (0, 0, search.named_file(roots, path, stop)?),
    };
    stop.cancel.check()?;
    Ok(search.results(unreadable, ignored, stopped_at.as_deref(), Freshness::Scan))
}
