//! Tests saving an index, changing the tree, and restoring it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::grep_indexed;
use crate::store::snapshot::SavedIndex;
use crate::tests::session_of;
use crate::*;
use filewright_fs::cancel::CancelToken;
use filewright_fs::search::grep::{GrepOptions, grep};

struct TestTree {
    tree: tempfile::TempDir,
    state: tempfile::TempDir,
    path: Vec<u8>,
}

impl TestTree {
    fn new() -> Self {
        let place = Self {
            tree: tempfile::tempdir().unwrap(),
            state: tempfile::tempdir().unwrap(),
            path: Vec::new(),
        };
        let top = fs::canonicalize(place.tree.path()).unwrap();
        for number in 0..90 {
            let text = format!("needle {number}\nwords 2024-0{}\n", number % 9);
            place.put(&format!("d{}/f{number}.txt", number % 7), &text.repeat(number % 5 * 80 + 1));
        }
        place.put("d1/empty", "");
        place.put("d2/binary", "a\0needle");
        place.put("d3/\u{e9}.txt", "\u{feff}needle of \u{e9}\n");
        wait_until_settled();
        Self { path: top.to_str().unwrap().as_bytes().to_vec(), ..place }
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.tree.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns a session as in a new process.
    fn process(&self) -> Arc<Session> {
        let session = session_of(self.tree.path(), serde_json::json!({}));
        set_state_dir(&session, self.state.path().to_str().unwrap().as_bytes());
        session
    }

    /// Waits for the saved index and returns its path.
    fn kept(&self) -> PathBuf {
        loop {
            let names = fs::read_dir(self.state.path().join("indexes")).into_iter().flatten();
            let mut paths = names.map(|entry| entry.unwrap().path());
            if let Some(path) = paths.find(|path| path.extension().is_none()) {
                return path;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Builds an index and compares its results with a scan; returns the number of newly indexed
    /// files.
    fn newly_indexed(&self, note: &str) -> usize {
        let session = self.process();
        let status = warm(&session, &self.path, true, &CancelToken::new()).unwrap();
        assert_eq!(status.unsigned, 0, "{note}");
        for query in [
            r#"{"pattern":"needle"}"#,
            r#"{"pattern":"needle 7$"}"#,
            r#"{"pattern":"changed|moved"}"#,
            r#"{"pattern":"[0-9]{4}-0"}"#,
            r#"{"pattern":"é"}"#,
        ] {
            let options = GrepOptions::from_json(query).unwrap();
            let mut found =
                grep_indexed(&session, &self.path, &options, &CancelToken::new()).unwrap();
            let mut scan = grep(&session.roots, &self.path, &options, &CancelToken::new()).unwrap();
            let fresh = (found[0].nums.remove(8), scan[0].nums.remove(8));
            assert_ne!(fresh.0, fresh.1, "{note}: {query} was answered by a scan");
            assert_eq!(found, scan, "{note}: {query}");
        }
        let index = Arc::clone(&session.indexes.lock()[0]);
        index.files_since_save.load(Ordering::Relaxed)
    }
}

/// Waits until a change is old enough for another one to be visible.
fn wait_until_settled() {
    std::thread::sleep(Duration::from_millis(110));
}

#[test]
fn only_unchanged_files_are_restored() {
    let place = TestTree::new();
    // The whole index is saved, so nothing is indexed again.
    assert_eq!(place.newly_indexed("at first"), 0);
    place.kept();
    assert_eq!(place.newly_indexed("unchanged"), 0);
    let top = place.tree.path();
    place.put("d1/f1.txt", "changed, and needle 7\n");
    fs::rename(top.join("d2/f2.txt"), top.join("d2/moved.txt")).unwrap();
    fs::remove_file(top.join("d3/f3.txt")).unwrap();
    wait_until_settled();
    // The changed file and the renamed one are indexed again.
    assert_eq!(place.newly_indexed("changed"), 2);
    // Setting a modification time back is detected.
    let old = fs::metadata(top.join("d4/f4.txt")).unwrap();
    let text = fs::read_to_string(top.join("d4/f4.txt")).unwrap().replace("needle", "moved!");
    place.put("d4/f4.txt", &text);
    fs::File::options()
        .write(true)
        .open(top.join("d4/f4.txt"))
        .unwrap()
        .set_modified(old.modified().unwrap())
        .unwrap();
    wait_until_settled();
    assert_eq!(place.newly_indexed("set back"), 3);
    // Nothing is known about the files of a renamed directory.
    fs::rename(top.join("d5"), top.join("d8")).unwrap();
    wait_until_settled();
    place.newly_indexed("a directory moved");
}

#[test]
fn a_damaged_snapshot_is_rebuilt() {
    let place = TestTree::new();
    place.newly_indexed("at first");
    let (kept, read) = (place.kept(), |path: &Path| {
        let file = fs::File::open(path).unwrap();
        let size = file.metadata().unwrap().len();
        SavedIndex::read(&file.into(), size).map(|kept| kept.dirs.len())
    });
    let whole = fs::read(&kept).unwrap();
    assert_eq!(read(&kept), Some(8));
    let flips = [0, 7, 8, 16, 20, 40, 400, whole.len() / 2, whole.len() - 9, whole.len() - 1];
    for at in flips {
        let mut damaged = whole.clone();
        damaged[at] ^= 4;
        fs::write(&kept, &damaged).unwrap();
        assert_eq!(read(&kept), None, "a bit at {at} of {}", whole.len());
    }
    for length in [0, 1, 8, 15, 16, 24, 100, whole.len() / 3, whole.len() - 1] {
        fs::write(&kept, &whole[..length]).unwrap();
        assert_eq!(read(&kept), None, "{length} of {}", whole.len());
    }
    fs::write(&kept, [&whole[..], b"more"].concat()).unwrap();
    assert_eq!(read(&kept), None);
    place.newly_indexed("damaged");
    // An entry that is no file is not read, and nothing waits for it.
    fs::remove_file(&kept).unwrap();
    fs::create_dir(&kept).unwrap();
    place.newly_indexed("a directory in its place");
}

#[test]
fn a_snapshot_writable_by_others_is_ignored() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = TestTree::new();
    place.newly_indexed("at first");
    let kept = place.kept();
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o666)).unwrap();
    let index_store = IndexStore::new(place.state.path().to_str().unwrap().as_bytes()).unwrap();
    let session = place.process();
    let names = filewright_core::pattern::ignore::IGNORE_FILE_NAMES.map(str::to_owned);
    let walk_root = WalkRoot::open(&session.roots, &place.path, Some(&names)).unwrap();
    let ask = |index_store: &Arc<IndexStore>| {
        let key = IndexKey::of(&walk_root, Some(&names)).unwrap();
        index_store.load(&key).unwrap().recv().unwrap().is_some()
    };
    assert!(!ask(&index_store));
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(ask(&index_store));
    // A snapshot is ignored too if its directory is writable for others.
    let open = place.state.path().join("indexes");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let index_store = IndexStore::new(place.state.path().to_str().unwrap().as_bytes()).unwrap();
    assert!(!ask(&index_store));
}
