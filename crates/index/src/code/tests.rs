//! Tests ranked searches against the disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use filewright_core::rank::CodeFound;
use filewright_fs::cancel::CancelToken;
use serde_json::{Value, json};

use super::{CodeOptions, find_blocks};
use crate::tests::session_of;
use crate::{Session, warm};

const WALRUS: &str = "export function walrus() {}\n";

/// A process keeps few indexes, which these tests would close for each other.
static ALONE: Mutex<()> = Mutex::new(());

/// Directories below a temporary one, each with its name, and a session that reads all.
struct Dirs {
    _dir: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
    top: PathBuf,
    session: Arc<Session>,
}

impl Dirs {
    fn of(names: &[&str]) -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        let all: Vec<PathBuf> = names.iter().map(|name| top.join(name)).collect();
        all.iter().for_each(|path| fs::create_dir(path).unwrap());
        let session = session_of(&top, json!({ "read": all }));
        Self { _dir: dir, _alone: alone, top, session }
    }

    /// Searches directories for the blocks with a word.
    fn find(&self, names: &[&str], options: Value) -> CodeFound {
        let paths: Vec<PathBuf> = names.iter().map(|name| self.top.join(name)).collect();
        let mut all = json!({ "also": paths[1..], "limit": 100 });
        all.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        let options = CodeOptions::from_json(&all.to_string()).unwrap();
        let first = paths[0].to_str().unwrap().as_bytes();
        find_blocks(&self.session, first, &options, &CancelToken::new()).unwrap()
    }

    fn write(&self, path: impl AsRef<Path>, text: &str) {
        fs::write(self.top.join(path), text).unwrap();
    }
}

/// Returns `root:path` of each block, in order.
fn places(found: &CodeFound) -> Vec<String> {
    let mut places: Vec<String> =
        found.blocks.iter().map(|block| format!("{}:{}", block.root, block.path)).collect();
    places.sort();
    places
}

#[test]
fn more_directories_than_indexes_are_kept_are_all_searched() {
    let names: Vec<String> = (0..10).map(|number| format!("r{number}")).collect();
    let names: Vec<&str> = names.iter().map(|name| &name[..]).collect();
    let dirs = Dirs::of(&names);
    names.iter().for_each(|name| dirs.write(format!("{name}/a.ts"), WALRUS));
    for round in 0..2 {
        let found = dirs.find(&names, json!({ "query": "walrus" }));
        let expected: Vec<String> = (0..10).map(|root| format!("{root}:a.ts")).collect();
        assert_eq!((places(&found), found.complete), (expected, true), "in round {round}");
    }
}

#[test]
fn searches_of_many_directories_at_once_find_all() {
    let names: Vec<String> = (0..24).map(|number| format!("r{number}")).collect();
    let names: Vec<&str> = names.iter().map(|name| &name[..]).collect();
    let dirs = Dirs::of(&names);
    names.iter().for_each(|name| dirs.write(format!("{name}/a.ts"), WALRUS));
    std::thread::scope(|scope| {
        for some in names.chunks(4) {
            let dirs = &dirs;
            scope.spawn(move || {
                for round in 0..8 {
                    let found = dirs.find(some, json!({ "query": "walrus" }));
                    assert_eq!((places(&found).len(), found.complete), (4, true), "{round}");
                }
            });
        }
    });
}

#[test]
fn a_block_tells_its_directory_also_if_another_is_not_listed_in_time() {
    let dirs = Dirs::of(&["big", "small"]);
    dirs.write("small/a.ts", WALRUS);
    let small = dirs.top.join("small");
    warm(&dirs.session, small.to_str().unwrap().as_bytes(), true, &CancelToken::new()).unwrap();
    dirs.find(&["big", "small"], json!({ "query": "walrus" }));
    let big =
        dirs.session.indexes.lock().iter().find(|one| one.key.real.ends_with(b"/big/")).cloned();
    let big = big.unwrap();
    let _busy = big.ranks.lock().unwrap();
    let found = dirs.find(&["big", "small"], json!({ "query": "walrus", "timeoutMs": 50 }));
    assert_eq!((places(&found), found.complete), (vec!["1:a.ts".to_owned()], false));
}

#[test]
fn a_file_that_got_another_hard_link_is_found_with_its_present_content() {
    for is_indexed in [false, true] {
        let dirs = Dirs::of(&["r", "outside"]);
        (0..9).for_each(|number| dirs.write(format!("r/{number}.ts"), "other();\n"));
        dirs.write("r/a.ts", WALRUS);
        // Files that were written just now are read by every query.
        std::thread::sleep(std::time::Duration::from_millis(100));
        if is_indexed {
            let path = dirs.top.join("r");
            let path = path.to_str().unwrap().as_bytes();
            warm(&dirs.session, path, true, &CancelToken::new()).unwrap();
        }
        let find = |word: &str| places(&dirs.find(&["r"], json!({ "query": word })));
        assert_eq!(find("walrus"), ["0:a.ts"]);
        fs::hard_link(dirs.top.join("r/a.ts"), dirs.top.join("outside/b.ts")).unwrap();
        assert_eq!(find("walrus"), ["0:a.ts"], "linked, indexed: {is_indexed}");
        if !is_indexed {
            dirs.write("outside/b.ts", "export function penguin() {}\n");
            assert_eq!((find("penguin"), find("walrus")), (vec!["0:a.ts".to_owned()], vec![]));
        }
    }
}

#[test]
fn a_write_through_a_hard_link_that_the_tree_got_is_found_under_both_names() {
    let dirs = Dirs::of(&["r"]);
    (0..9).for_each(|number| dirs.write(format!("r/{number}.ts"), WALRUS));
    // Files that were written just now are read by every query.
    std::thread::sleep(std::time::Duration::from_millis(100));
    let find = |word: &str| places(&dirs.find(&["r"], json!({ "query": word })));
    assert_eq!(find("walrus").len(), 9);
    for round in 0..2 {
        fs::hard_link(dirs.top.join("r/0.ts"), dirs.top.join(format!("r/link{round}.ts"))).unwrap();
        let text = format!("export function penguin{round}() {{}}\n");
        dirs.write(format!("r/link{round}.ts"), &text);
        let found = find(&format!("penguin{round}"));
        assert_eq!(found.len(), 2 + round, "{found:?}");
        assert_eq!(find("walrus").len(), 8);
    }
}

#[test]
fn a_query_of_few_files_leaves_the_counts_of_the_others() {
    let dirs = Dirs::of(&["r"]);
    (0..1100).for_each(|number| dirs.write(format!("r/{number}.ts"), "other();\n"));
    std::thread::sleep(std::time::Duration::from_millis(100));
    let ranks = || {
        let indexes = dirs.session.indexes.lock();
        let start = Arc::clone(&indexes[0].lock().tree.dirs[0].shown);
        let ranks = indexes[0].ranks.lock().unwrap().below(&start);
        let locked = ranks.lock().unwrap();
        (locked.id, locked.docs.len())
    };
    dirs.find(&["r"], json!({ "query": "other" }));
    let before = ranks();
    assert_eq!(before.1, 1100);
    dirs.find(&["r"], json!({ "query": "other", "kind": "test" }));
    assert_eq!(ranks(), before);
    // As many contents of the past as present ones are forgotten.
    for round in 0..3 {
        (0..1100).for_each(|number| dirs.write(format!("r/{number}.ts"), &format!("{round}\n")));
        dirs.find(&["r"], json!({ "query": "other" }));
    }
    assert_ne!(ranks().0, before.0);
}

#[test]
fn the_counts_of_ranked_searches_are_limited_and_measured() {
    let dirs = Dirs::of(&["r", "r/a", "r/b"]);
    dirs.write("r/a/a.ts", WALRUS);
    dirs.write("r/b/b.ts", WALRUS);
    for below in ["r", "r/a", "r/b"] {
        dirs.find(&[below], json!({ "query": "walrus" }));
    }
    let indexes = dirs.session.indexes.lock();
    let index = indexes.iter().find(|index| index.key.real.ends_with(b"/r/")).unwrap();
    assert!(index.measured_bytes() > 0);
    let mut ranks = index.ranks.lock().unwrap();
    let all = ranks.bytes();
    assert_eq!(ranks.limit(usize::MAX), all);
    let last = ranks.limit(0);
    assert!(0 < last && last < all, "{last} of {all}");
    assert_eq!(ranks.bytes(), last);
}
