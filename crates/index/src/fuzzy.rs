//! Finds files by a fuzzy match of their paths.

use std::sync::{Arc, PoisonError};

use filewright_core::Result;
use filewright_core::fuzzy::{BestResults, RankOptions};
use filewright_core::options::Options;
use filewright_core::pack::Packed;

use crate::Session;
use crate::lifecycle::{may_index_unasked, register_new_index};
use crate::lookup::{directory_gone_error, find_index, lock_refreshed_state};
use filewright_fs::cancel::{CancelToken, Deadline};
use filewright_fs::walk::options::IndexMode;
use filewright_fs::walk::{StopSignal, WalkRoot, threads};

/// The minimum number of paths for each thread. Fewer are scored before another thread has started.
const MIN_PATHS_PER_THREAD: usize = 2048;
/// The maximum number of threads that score the paths of one query. More would wait for memory.
const MAX_SCORING_THREADS: usize = 4;

/// The parsed options of a fuzzy search.
#[derive(Clone, Debug)]
pub struct FuzzyOptions {
    rank: RankOptions,
    names: Option<Vec<String>>,
    anywhere: bool,
}

impl FuzzyOptions {
    /// Parses `query`, `limit`, `typos`, `respectIgnore`, `ignoreFiles` and `index`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`.
    pub fn from_json(json: &str) -> Result<Self> {
        let options = Options::parse(json)?;
        let walk = filewright_fs::walk::options::walk_options(&options, "glob")?;
        Ok(Self {
            rank: RankOptions::read(&options)?,
            names: walk.ignore,
            anywhere: IndexMode::read(&options)? == IndexMode::Anywhere,
        })
    }
}

/// Finds files below a directory by a fuzzy match of their paths, which are relative to it. The
/// tree is listed on the first call and cached.
///
/// The packed result is the number of matching files, the number of results, and for each result
/// its score and path, best first.
///
/// # Errors
/// Errors of opening the directory; `CANCELLED`.
pub fn find_files(
    session: &Arc<Session>,
    path: &[u8],
    options: &FuzzyOptions,
    cancel: &CancelToken,
) -> Result<Packed> {
    let stop = StopSignal { cancel, deadline: Deadline::default() };
    let names = options.names.as_deref();
    let walk_root = WalkRoot::open(&session.roots, path, names)?;
    for _ in 0..2 {
        stop.cancel.check()?;
        if let Some(packed) = find_in_index(session, &walk_root, options, &stop) {
            return Ok(packed);
        }
        // The new index has names only, so building it takes no longer than a walk.
        let real = crate::without_final_slash(&walk_root.real);
        if !options.anywhere && !may_index_unasked(real) {
            break;
        }
        if let Some(index) = register_new_index(session, real, names) {
            index.build(&walk_root, false, &stop);
        }
    }
    stop.cancel.check()?;
    // This directory may not be indexed for later calls, or another call is indexing it, so an
    // index is built for this call only.
    let index = crate::Index::new(
        crate::IndexKey::of(&walk_root, names).ok_or_else(directory_gone_error)?,
        &session.index_store,
    );
    index.build(&walk_root, false, &stop);
    stop.cancel.check()?;
    Ok(rank_indexed_files(&index, &walk_root, &walk_root, options, &stop).unwrap_or_default())
}

/// Returns the result from an existing index, or `None` if none contains the directory.
fn find_in_index(
    session: &Arc<Session>,
    walk_root: &WalkRoot<'_>,
    options: &FuzzyOptions,
    stop: &StopSignal<'_>,
) -> Option<Packed> {
    let (index, opened) = find_index(session, walk_root, options.names.as_deref())?;
    let base = opened.as_ref().unwrap_or(walk_root);
    drop(lock_refreshed_state(session, &index, base, options.names.as_deref(), false, stop)?);
    rank_indexed_files(&index, base, walk_root, options, stop)
}

/// Returns the best files below `walk_root` from an index whose start is `base`; `None` if the
/// directory is not in it or time runs out.
fn rank_indexed_files(
    index: &crate::Index,
    base: &WalkRoot<'_>,
    walk_root: &WalkRoot<'_>,
    options: &FuzzyOptions,
    stop: &StopSignal<'_>,
) -> Option<Packed> {
    let below = walk_root.real.get(base.real.len()..)?;
    let mut laid = index.paths.lock().unwrap_or_else(PoisonError::into_inner);
    let start = {
        let mut state = index.lock();
        let start = state.tree.find_dir(below)?;
        if !laid.update(&mut state.tree, stop) {
            return None;
        }
        Arc::clone(&state.tree.dirs[start as usize].shown)
    };
    let (range, cut) = (laid.range_of(&start), start.len());
    let RankOptions { query, limit, typos } = &options.rank;
    let (ranked, fitting) = laid.paths.rank_shared(query, range, *typos, *limit, score_in_parallel);
    let mut packed = Packed::new();
    packed.num(fitting as u64);
    packed.num(ranked.len() as u64);
    for ranked in ranked {
        packed.num(u64::from(ranked.score));
        let path = laid.paths.get(ranked.index as usize).unwrap_or_default();
        packed.str(path.get(cut..).unwrap_or_default());
    }
    Some(packed)
}

/// Scores the paths with these indexes, on several threads if there are many.
fn score_in_parallel(
    places: &[u32],
    score: &(dyn Fn(&[u32]) -> BestResults + Sync),
) -> Vec<BestResults> {
    let shares = threads().min(MAX_SCORING_THREADS).min(places.len() / MIN_PATHS_PER_THREAD).max(1);
    let mut shares = places.chunks(places.len().div_ceil(shares).max(1));
    let own = shares.next().unwrap_or_default();
    std::thread::scope(|scope| {
        let helpers: Vec<_> = shares
            .map(|share| {
                let helper = std::thread::Builder::new().spawn_scoped(scope, move || score(share));
                helper.map_err(|_| share)
            })
            .collect();
        let mut best = vec![score(own)];
        for helper in helpers {
            best.push(match helper {
                Ok(helper) => {
                    helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                }
                // If a thread cannot be started, the calling thread scores its share.
                Err(share) => score(share),
            });
        }
        best
    })
}
