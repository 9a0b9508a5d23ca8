//! Ranked searches of contents: the blocks of files that fit a question best.
//!
//! The counts of a file's terms (`ranks`) are kept as long as the index knows that the file is
//! unchanged; every other file is read by each query (`reader`). The first query creates the index
//! that tells the two apart. What is shown is read at the end, so that no line is older than the
//! query.

mod ranks;
mod reader;
mod search;

use std::sync::Arc;

use filewright_core::Result;
use filewright_core::options::Options;
use filewright_core::pack::Packed;
use filewright_core::rank::{DEFAULT_LIMIT, MAX_LIMIT, RankQuery};
use filewright_fs::cancel::{CancelToken, Deadline};
use filewright_fs::search::grep::GrepOptions;
use filewright_fs::walk::options::IndexMode;
use filewright_fs::walk::{StopSignal, WalkRoot};

use crate::lifecycle::{may_index_unasked, register_new_index};
use crate::lookup::{directory_gone_error, find_index};
use crate::{Index, IndexKey, Session, without_final_slash};
pub(crate) use ranks::CachedRanks;
use search::CodeSearch;

/// The parsed options of a ranked search.
#[derive(Clone, Debug)]
pub struct CodeOptions {
    files: GrepOptions,
    query: RankQuery,
    limit: usize,
}

impl CodeOptions {
    /// Parses `query`, `kind`, `limit`, and the options of [`GrepOptions::of_files`].
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`, `INVALID_GLOB`.
    pub fn from_json(json: &str) -> Result<Self> {
        let options = Options::parse(json)?;
        Ok(Self {
            files: GrepOptions::of_files(&options)?,
            query: RankQuery::read(&options)?,
            limit: options.number("limit")?.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT) as usize,
        })
    }
}

/// Finds the blocks of files below a directory that fit a question best.
///
/// The packed result is the number of searched files, the number of files that could not be read, 1
/// if all were searched before the time was up, the number of blocks, and each as
/// [`pack_block`](filewright_core::rank::pack_block) packs it, best first.
///
/// # Errors
/// Errors of opening the directory; `CANCELLED`.
pub fn search_code(
    session: &Arc<Session>,
    path: &[u8],
    options: &CodeOptions,
    cancel: &CancelToken,
) -> Result<Packed> {
    let stop = StopSignal { cancel, deadline: Deadline::after(options.files.timeout_ms) };
    stop.cancel.check()?;
    let names = options.files.walk.ignore.as_deref();
    let walk_root = WalkRoot::open(&session.roots, path, names)?;
    let mode = options.files.index;
    let real = without_final_slash(&walk_root.real);
    let may_index =
        mode == IndexMode::Anywhere || mode == IndexMode::Auto && may_index_unasked(real);
    for _ in 0..if may_index { 2 } else { 0 } {
        if let Some((index, opened)) = find_index(session, &walk_root, names) {
            let base = opened.as_ref().unwrap_or(&walk_root);
            let search =
                CodeSearch { session, index: &index, base, walk_root: &walk_root, options };
            let found = search.run(&stop);
            stop.cancel.check()?;
            if let Some(packed) = found {
                return Ok(packed);
            }
        }
        if let Some(index) = register_new_index(session, real, names) {
            index.build(&walk_root, true, &stop);
        }
        stop.cancel.check()?;
    }
    // This directory may not be indexed for later calls, or another call is indexing it, so that an
    // index of names is built for this call only, and every file is read.
    let key = IndexKey::of(&walk_root, names).ok_or_else(directory_gone_error)?;
    let index = Index::new(key, &session.index_store);
    index.build(&walk_root, false, &stop);
    stop.cancel.check()?;
    let (base, walk_root) = (&walk_root, &walk_root);
    let found = CodeSearch { session, index: &index, base, walk_root, options }.run(&stop);
    stop.cancel.check()?;
    Ok(found.unwrap_or_else(search::incomplete))
}
