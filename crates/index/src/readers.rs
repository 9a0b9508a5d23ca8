//! Counts the queries that are reading an index. A closed index is emptied when the last of them
//! has finished, because a query that found it emptied would report no matches.

use std::sync::{Arc, Mutex, PoisonError};

use crate::Index;

/// The number of queries that are reading the index.
#[derive(Default)]
pub(crate) struct Readers(Mutex<ReaderCount>);

#[derive(Default)]
struct ReaderCount {
    users: usize,
    closed: bool,
}

impl Readers {
    fn with<T>(&self, f: impl FnOnce(&mut ReaderCount) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes [`ReadGuard::of`] fail from now on. Returns true if no query is reading.
    pub fn close(&self) -> bool {
        self.with(|count| {
            count.closed = true;
            count.users == 0
        })
    }
}

/// While a guard exists, the index is not emptied. Must be dropped after the locks on the index are
/// released, because dropping it may take them.
pub(crate) struct ReadGuard(Arc<Index>);

impl ReadGuard {
    /// Counts a query that reads the index; `None` if the index is closed.
    pub fn of(index: &Arc<Index>) -> Option<Self> {
        let open = index.users.with(|count| {
            count.users += usize::from(!count.closed);
            !count.closed
        });
        // `then_some` would create and drop a guard even if closed, which would decrement the
        // count.
        open.then(|| Self(Arc::clone(index)))
    }

    /// Returns the index.
    pub fn index(&self) -> &Arc<Index> {
        &self.0
    }
}

impl Drop for ReadGuard {
    fn drop(&mut self) {
        let last = self.0.users.with(|count| {
            count.users -= 1;
            count.users == 0 && count.closed
        });
        if last {
            self.0.empty();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use crate::grep_indexed;
    use crate::tests::session_of;
    use crate::{dispose, warm};
    use filewright_fs::cancel::CancelToken;
    use filewright_fs::search::grep::GrepOptions;

    #[test]
    fn a_search_is_complete_while_its_index_is_disposed() {
        const FILES: u32 = 400;
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        for number in 0..FILES {
            fs::write(top.join(format!("{number}.txt")), format!("word {number}\n")).unwrap();
        }
        let path = top.to_str().unwrap().as_bytes();
        let session = session_of(&top, serde_json::json!({}));
        let words = GrepOptions::from_json(r#"{"pattern":"word","output":"count"}"#).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let disposing = Arc::clone(&session);
            let done = &done;
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    warm(&disposing, path, true, &CancelToken::new()).unwrap();
                    dispose(&disposing);
                }
            });
            // Ensures that the other thread ends, also if this one panics.
            let _ended = Ended(done);
            for round in 0..100 {
                let found = grep_indexed(&session, path, &words, &CancelToken::new()).unwrap();
                assert_eq!(found[0].nums[0], f64::from(FILES), "in round {round}");
            }
        });
    }

    struct Ended<'d>(&'d AtomicBool);

    impl Drop for Ended<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}
