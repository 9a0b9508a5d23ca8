use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::root::Policy;
use crate::search::grep::{grep, open_search_dir, search_disk};

fn make_tree() -> (tempfile::TempDir, Arc<Roots>, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..300 {
        let place = dir.path().join(format!("d{}", number % 7));
        fs::create_dir_all(&place).unwrap();
        fs::write(
            place.join(format!("f{number}.txt")),
            format!("word{} x\n", number % 5).repeat(9),
        )
        .unwrap();
    }
    fs::write(dir.path().join("binary"), b"word1\0").unwrap();
    let path = fs::canonicalize(dir.path()).unwrap();
    let path = path.to_str().unwrap();
    let roots = Arc::new(Roots::new(&Policy::workspace(path)).unwrap());
    (dir, roots, path.as_bytes().to_vec())
}

fn options(number: usize) -> GrepOptions {
    let limit = if number.is_multiple_of(3) { r#","maxResults":7"# } else { "" };
    let output = ["content", "files", "count"][number % 3];
    let json = format!(
        r#"{{"pattern":"word{}","output":"{output}","index":"auto","timeoutMs":30000{limit}}}"#,
        number % 6
    );
    GrepOptions::from_json(&json).unwrap()
}

/// Runs a search as the index does without an index: opens the directory first.
fn shared(
    walks: &Arc<SharedWalks>,
    roots: &Arc<Roots>,
    path: &[u8],
    options: &GrepOptions,
    cancel: &CancelToken,
) -> PackedResults {
    let stop = StopSignal { cancel, deadline: Deadline::default() };
    let walk_root = open_search_dir(roots, path, options, &stop)?;
    let alone = || search_disk(roots, path, walk_root.as_ref(), options, &stop);
    search_shared(walks, roots, path, options, &stop, alone)
}

/// Queues several searches behind a running walk, so that they walk together.
fn together(
    walks: &Arc<SharedWalks>,
    roots: &Arc<Roots>,
    path: &[u8],
    searches: usize,
) -> Vec<(GrepOptions, PackedResults)> {
    let tree = SearchedTree { path: path.to_vec(), view: options(0).files_view };
    let walking = RunningWalk::begin(walks, roots, tree.clone()).unwrap();
    let alone = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let entered: Vec<_> = (0..searches)
            .map(|number| {
                let alone = &alone;
                scope.spawn(move || {
                    let (options, cancel) = (options(number), CancelToken::new());
                    let stop = StopSignal { cancel: &cancel, deadline: Deadline::default() };
                    let found = search_shared(walks, roots, path, &options, &stop, || {
                        alone.fetch_add(1, Ordering::Relaxed);
                        grep(roots, path, &options, &cancel)
                    });
                    (options, found)
                })
            })
            .collect();
        while walks.lock()[&tree].len() < searches {
            std::thread::yield_now();
        }
        drop(walking);
        let found = entered.into_iter().map(|one| one.join().unwrap()).collect();
        assert_eq!(alone.load(Ordering::Relaxed), 0);
        found
    })
}

#[test]
fn searches_that_walk_together_find_what_each_finds_alone() {
    let (_dir, roots, path) = make_tree();
    let walks = Arc::default();
    for (options, found) in together(&walks, &roots, &path, 24) {
        let [mut found, mut alone] =
            [found.unwrap(), grep(&roots, &path, &options, &CancelToken::new()).unwrap()];
        if options.max_results < u64::MAX - 1 {
            // The number of searched files before the limit depends on timing.
            for head in [&mut found[0], &mut alone[0]] {
                head.nums[..5].fill(0.0);
            }
        }
        assert_eq!(found, alone);
    }
    // No entry is left behind.
    while !walks.lock().is_empty() {
        std::thread::yield_now();
    }
}

#[test]
fn a_search_that_waits_ends_when_it_is_cancelled() {
    let (_dir, roots, path) = make_tree();
    let walks = Arc::default();
    let options = options(1);
    let tree = SearchedTree { path: path.clone(), view: options.files_view.clone() };
    let _walking = RunningWalk::begin(&walks, &roots, tree).unwrap();
    let cancel = CancelToken::new();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| shared(&walks, &roots, &path, &options, &cancel));
        cancel.cancel();
        assert_eq!(waiting.join().unwrap().unwrap_err().code, filewright_core::Code::Cancelled);
    });
}

#[test]
fn a_search_walks_alone_when_the_tree_it_waited_for_is_gone() {
    let (dir, roots, path) = make_tree();
    let walks = Arc::default();
    let options = options(1);
    let tree = SearchedTree { path: path.clone(), view: options.files_view.clone() };
    let walking = RunningWalk::begin(&walks, &roots, tree.clone()).unwrap();
    std::thread::scope(|scope| {
        let waiting =
            scope.spawn(|| shared(&walks, &roots, &path, &options, &CancelToken::new()).is_ok());
        while walks.lock()[&tree].is_empty() {
            std::thread::yield_now();
        }
        drop(dir);
        drop(walking);
        // The search runs by itself, in the directory that it opened before.
        assert!(waiting.join().unwrap());
    });
}
