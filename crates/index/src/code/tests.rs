//! Tests ranked searches against the disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filewright_core::rank::CodeFound;
use filewright_fs::cancel::CancelToken;
use serde_json::{Value, json};

use super::{CodeOptions, find_blocks};
use crate::Session;
use crate::readers::ReadGuard;
use crate::tests::session_of;

const WALRUS: &str = "export function walrus() {}\n";

/// Directories below a temporary one, each with its name, and a session that reads all.
struct Dirs {
    _dir: tempfile::TempDir,
    top: PathBuf,
    session: Arc<Session>,
}

impl Dirs {
    fn of(names: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        let all: Vec<PathBuf> = names.iter().map(|name| top.join(name)).collect();
        all.iter().for_each(|path| fs::create_dir(path).unwrap());
        let session = session_of(&top, json!({ "read": all }));
        Self { _dir: dir, top, session }
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
    // An index that another test closes meanwhile must not wait for the lock below.
    let guard = std::iter::repeat_with(|| {
        dirs.find(&["big", "small"], json!({ "query": "walrus" }));
        let indexes = dirs.session.indexes.lock();
        indexes.iter().find(|index| index.key.real.ends_with(b"/big/")).and_then(ReadGuard::of)
    });
    let guard = guard.flatten().next().unwrap();
    let _busy = guard.index().ranks.lock().unwrap();
    let found = dirs.find(&["big", "small"], json!({ "query": "walrus", "timeoutMs": 50 }));
    // The time may be up before the small one as well.
    assert!(found.blocks.iter().all(|block| block.root == 1), "{found:?}");
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
            crate::warm(&dirs.session, path, true, &CancelToken::new()).unwrap();
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
