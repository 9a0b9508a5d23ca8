//! Ranked searches of contents: the blocks of files that fit a question best.
//!
//! The counts of a file's terms and its blocks (`ranks`) are kept as long as the file is known to be
//! unchanged, and every other file is read by each query (`reader`). The files that fit best are read again,
//! to count the words of the query in their blocks. Several directories are ranked as one (`search`). What is
//! shown is read at the end, so that no line is older than the query.
//!
//! The first query lists the names of the tree and reads each file once, on several threads; it builds
//! no index of grams, which would double its time.

mod ranks;
mod reader;
mod search;

use std::sync::Arc;

use filewright_core::Result;
use filewright_core::options::{Options, invalid};
use filewright_core::pack::Packed;
use filewright_core::rank::{CodeFound, DEFAULT_LIMIT, MAX_LIMIT, RankLimits, RankQuery};
use filewright_core::text::path::decode_name;
use filewright_core::wire::Wire as _;
use filewright_fs::cancel::{CancelToken, Deadline};
use filewright_fs::search::grep::GrepOptions;
use filewright_fs::walk::options::IndexMode;
use filewright_fs::walk::{StopSignal, WalkRoot};

use crate::lifecycle::{may_index_unasked, register_new_index};
use crate::lookup::{directory_gone_error, find_index};
use crate::readers::ReadGuard;
use crate::registry::MAX_INDEXES;
use crate::{Index, IndexKey, Session, without_final_slash};
pub(crate) use ranks::CachedRanks;
use search::{CoveredFiles, RankedSearch, SearchedRoot};

/// The maximum number of attempts while files change between the ranking and the reading of what
/// is shown. Blocks that changed in the last one are left out.
const MAX_ATTEMPTS: u32 = 3;

/// The parsed options of a ranked search.
#[derive(Clone, Debug)]
pub struct CodeOptions {
    files: GrepOptions,
    query: RankQuery,
    limit: usize,
    /// Further directories.
    also: Vec<Vec<u8>>,
}

impl CodeOptions {
    /// Parses `query`, `kind`, `limit`, the list `also` of the absolute paths of further directories, and
    /// the options of [`GrepOptions::of_files`].
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`, `INVALID_GLOB`.
    pub fn from_json(json: &str) -> Result<Self> {
        let options = Options::parse(json)?;
        let also = options.list("also")?;
        if also.len() >= RankLimits::MAX_DIRECTORIES as usize {
            let most = RankLimits::MAX_DIRECTORIES;
            return Err(invalid("also", format!("a search has at most {most} directories")));
        }
        Ok(Self {
            files: GrepOptions::of_files(&options)?,
            query: RankQuery::read(&options)?,
            limit: options.number("limit")?.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT) as usize,
            also: also.iter().map(|path| decode_name(path).into_owned()).collect(),
        })
    }
}

/// Finds the blocks of files below directories that fit a question best: below `path`, and those that
/// the options name.
///
/// The result is a packed [`CodeFound`].
///
/// # Errors
/// Errors of opening the directories; `CANCELLED`.
pub fn search_code(
    session: &Arc<Session>,
    path: &[u8],
    options: &CodeOptions,
    cancel: &CancelToken,
) -> Result<Packed> {
    find_blocks(session, path, options, cancel).map(|found| found.packed())
}

/// Does the same as [`search_code`], but does not pack the result.
fn find_blocks(
    session: &Arc<Session>,
    path: &[u8],
    options: &CodeOptions,
    cancel: &CancelToken,
) -> Result<CodeFound> {
    let reading = StopSignal { cancel, deadline: Deadline::after(options.files.timeout_ms) };
    let stop = StopSignal { cancel, deadline: Deadline::default() };
    let mut last = CodeFound::default();
    for attempt in 1..=MAX_ATTEMPTS {
        cancel.check()?;
        let (mut roots, mut covered) = (Vec::new(), Vec::new());
        let paths = std::iter::once(path).chain(options.also.iter().map(|path| &path[..]));
        for place in paths.zip(0..) {
            if let Some((root, files)) = cover(session, place, options, &reading)? {
                roots.push(root);
                covered.push(files);
            }
            cancel.check()?;
        }
        let is_whole = roots.len() == options.also.len() + 1;
        let search = RankedSearch { roots: &roots, covered: &covered, options, stop: &stop };
        let shown = search.run();
        cancel.check()?;
        if let Some(shown) = shown {
            let is_settled = shown.changed == 0 || attempt == MAX_ATTEMPTS || reading.now();
            last = CodeFound { complete: shown.found.complete && is_whole, ..shown.found };
            if is_settled {
                break;
            }
        }
    }
    Ok(last)
}

/// Returns a directory with its files; `None` if its names could not be listed in time. `number` is its
/// place among the directories of the search.
fn cover<'s>(
    session: &'s Arc<Session>,
    (path, number): (&[u8], usize),
    options: &'s CodeOptions,
    stop: &StopSignal<'_>,
) -> Result<Option<(SearchedRoot<'s>, CoveredFiles)>> {
    let names = options.files.walk.ignore.as_deref();
    let mut walk_root = WalkRoot::open(&session.roots, path, names)?;
    let mode = options.files.index;
    let real = without_final_slash(&walk_root.real).to_vec();
    let kept = |guard, opened, walk_root| SearchedRoot {
        session,
        guard,
        number,
        opened,
        walk_root,
        options,
        is_kept: true,
    };
    for _ in 0..if matches!(mode, IndexMode::Auto | IndexMode::Anywhere) { 2 } else { 0 } {
        // Another search may close the index at any time, which must not empty it during this one.
        if let Some((index, opened)) = find_index(session, &walk_root, names)
            && let Some(guard) = ReadGuard::of(&index)
        {
            let root = kept(guard, opened, walk_root);
            if let Some(covered) = root.cover(stop) {
                return Ok(Some((root, covered)));
            }
            walk_root = root.walk_root;
        }
        stop.cancel.check()?;
        // More indexes than are kept would close each other, so that none were left for the next
        // search.
        let may_index = mode == IndexMode::Anywhere || may_index_unasked(&real);
        if number >= MAX_INDEXES || !may_index {
            break;
        }
        // The new index has names only, so building it takes no longer than a walk.
        if let Some(index) = register_new_index(session, &real, names) {
            index.build(&walk_root, false, stop);
        }
    }
    stop.cancel.check()?;
    // This directory may not be indexed for later calls, or another call is indexing it or has closed
    // its index, so that an index of names is built for this call only, and every file is read.
    let key = IndexKey::of(&walk_root, names).ok_or_else(directory_gone_error)?;
    let index = Index::new(key, &session.index_store);
    index.build(&walk_root, false, stop);
    let Some(guard) = ReadGuard::of(&index) else { return Ok(None) };
    let root = SearchedRoot { is_kept: false, ..kept(guard, None, walk_root) };
    let covered = root.cover(stop);
    Ok(covered.map(|covered| (root, covered)))
}

#[cfg(test)]
mod tests;
