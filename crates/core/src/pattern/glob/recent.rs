//! The long lists that were compiled last. A tool passes the same one with every call, such as the
//! names of all secrets, and compiling it takes a hundred times as long as a search of a small tree.

use std::sync::{Mutex, PoisonError};

use super::{Case, Globs};
use crate::error::Result;

/// The number of patterns from which a list is kept: a short one is compiled in less time than
/// others wait for.
pub(super) const LONG_LIST: usize = 32;
/// The number of lists that are kept.
const MAX_KEPT: usize = 4;

/// What a compiled list depends on.
#[derive(PartialEq)]
struct Source {
    patterns: Vec<String>,
    exclude: Vec<String>,
    case: Case,
}

/// The kept lists, the last used one at the end.
static KEPT: Mutex<Vec<(Source, Globs)>> = Mutex::new(Vec::new());

/// Returns the compiled form of a list, which `compile` makes unless it is kept.
pub(super) fn compiled_once<P: AsRef<str>, E: AsRef<str>>(
    patterns: &[P],
    exclude: &[E],
    case: Case,
    compile: impl FnOnce() -> Result<Globs>,
) -> Result<Globs> {
    let is_this = |source: &Source| {
        source.case == case && same(&source.patterns, patterns) && same(&source.exclude, exclude)
    };
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(at) = kept.iter().position(|(source, _)| is_this(source)) {
        let found = kept.remove(at);
        let globs = found.1.clone();
        kept.push(found);
        return Ok(globs);
    }
    drop(kept);
    let globs = compile()?;
    let source = Source { patterns: owned(patterns), exclude: owned(exclude), case };
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() == MAX_KEPT {
        kept.remove(0);
    }
    kept.push((source, globs.clone()));
    Ok(globs)
}

fn same<T: AsRef<str>>(kept: &[String], given: &[T]) -> bool {
    kept.len() == given.len() && kept.iter().zip(given).all(|(kept, given)| kept == given.as_ref())
}

fn owned<T: AsRef<str>>(list: &[T]) -> Vec<String> {
    list.iter().map(|pattern| pattern.as_ref().to_owned()).collect()
}
