//! A cache, for the whole process, of the long glob lists that were used last. A tool passes the same
//! list with every call, such as the names of all secrets, and its compilation takes a hundred times
//! as long as a search of a small tree.

use std::sync::{Mutex, PoisonError};

use super::{Case, Globs};
use crate::error::Result;

/// The number of patterns from which [`Globs::new`] caches a list: the compilation of a shorter one
/// costs less than a wait for the lock.
pub(super) const LONG_LIST: usize = 32;
/// The number of cached lists.
const MAX_CACHED: usize = 4;

/// The key of a compiled list.
#[derive(PartialEq)]
struct Source {
    patterns: Vec<String>,
    exclude: Vec<String>,
    case: Case,
}

/// The cached lists, the last used one at the end.
static CACHE: Mutex<Vec<(Source, Globs)>> = Mutex::new(Vec::new());

/// Returns the compiled form of a list from the cache, or else calls `compile` and caches the
/// result. Concurrent calls may compile the same list; errors are not cached.
pub(super) fn cached_or_compiled<P: AsRef<str>, E: AsRef<str>>(
    patterns: &[P],
    exclude: &[E],
    case: Case,
    compile: impl FnOnce() -> Result<Globs>,
) -> Result<Globs> {
    let is_this = |source: &Source| {
        source.case == case && same(&source.patterns, patterns) && same(&source.exclude, exclude)
    };
    let mut cached = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(at) = cached.iter().position(|(source, _)| is_this(source)) {
        cached[at..].rotate_left(1);
        return Ok(cached[cached.len() - 1].1.clone());
    }
    drop(cached);
    let globs = compile()?;
    let source = Source { patterns: owned(patterns), exclude: owned(exclude), case };
    let mut cached = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    // Another thread may have compiled the same list meanwhile.
    cached.retain(|(other, _)| *other != source);
    if cached.len() == MAX_CACHED {
        cached.remove(0);
    }
    cached.push((source, globs.clone()));
    Ok(globs)
}

fn same<T: AsRef<str>>(cached: &[String], given: &[T]) -> bool {
    cached.len() == given.len()
        && cached.iter().zip(given).all(|(cached, given)| cached == given.as_ref())
}

fn owned<T: AsRef<str>>(list: &[T]) -> Vec<String> {
    list.iter().map(|pattern| pattern.as_ref().to_owned()).collect()
}
