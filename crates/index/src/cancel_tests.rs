//! Tests that cancelled work ends soon, and that the memory of indexes is bounded.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use filewright_core::{Code, Result};

use crate::find_indexed;
use crate::grep_indexed;
use crate::registry::IndexRegistry;
use crate::tests::session_of;
use crate::*;
use filewright_fs::cancel::CancelToken;
use filewright_fs::search::find::FindOptions;
use filewright_fs::search::grep::GrepOptions;

/// The maximum processor time of a thread between two checks of the flag, which bounds the work
/// after a cancellation.
const MAX_CHECK_INTERVAL: Duration = Duration::from_millis(100);

fn make_tree(dir: &Path) -> Vec<u8> {
    let top = fs::canonicalize(dir).unwrap();
    for number in 0..120 {
        let below = top.join(format!("d{}/e{}", number % 12, number % 5));
        fs::create_dir_all(&below).unwrap();
        fs::write(below.join(format!("f{number}.txt")), "some words\nand others\n".repeat(50))
            .unwrap();
    }
    fs::write(top.join("large.txt"), "a long text of many words\n".repeat(100_000)).unwrap();
    std::thread::sleep(Duration::from_millis(110));
    top.to_str().unwrap().as_bytes().to_vec()
}

type CancelledCall = fn(&Arc<Session>, &[u8], &CancelToken) -> Result<()>;

fn run_search(
    session: &Arc<Session>,
    path: &[u8],
    cancel: &CancelToken,
    query: &str,
) -> Result<()> {
    grep_indexed(session, path, &GrepOptions::from_json(query)?, cancel).map(drop)
}

const CANCELLED_CALLS: &[(&str, bool, CancelledCall)] = &[
    ("a scan", false, |session, path, cancel| {
        run_search(session, path, cancel, r#"{"pattern":"[a-z]+ words?$","index":"off"}"#)
    }),
    ("a search by the index", true, |session, path, cancel| {
        run_search(session, path, cancel, r#"{"pattern":"[a-z]+ words?$"}"#)
    }),
    ("a search that asks every file", true, |session, path, cancel| {
        run_search(session, path, cancel, r#"{"pattern":"absent words","strict":true}"#)
    }),
    ("names by a walk", false, |session, path, cancel| {
        let options = FindOptions::from_json(r#"{"pattern":"**/f*.txt","index":"off"}"#)?;
        find_indexed(session, path, &options, cancel).map(drop)
    }),
    ("names by letters", false, |session, path, cancel| {
        find_files(session, path, &FuzzyOptions::from_json(r#"{"query":"d3f"}"#)?, cancel).map(drop)
    }),
    ("making an index", false, |session, path, cancel| warm(session, path, true, cancel).map(drop)),
];

#[test]
fn cancelled_work_ends_soon_and_as_cancelled() {
    let dir = tempfile::tempdir().unwrap();
    let path = make_tree(dir.path());
    for &(name, warmed, work) in CANCELLED_CALLS {
        let fresh = || {
            let session = session_of(dir.path(), serde_json::json!({}));
            if warmed {
                warm(&session, &path, true, &CancelToken::new()).unwrap();
            }
            session
        };
        let session = fresh();
        let whole = CancelToken::at_look(u64::MAX);
        work(&session, &path, &whole).unwrap();
        let (most, looks) = whole.seen();
        assert!(most < MAX_CHECK_INTERVAL && looks > 10, "{name}: {most:?} between {looks} looks");
        // On a busy machine an index is made in two passes, and the next one in one.
        for at in [0, 1, looks / 3] {
            let session = fresh();
            let cancel = CancelToken::at_look(at);
            let ended = work(&session, &path, &cancel).map_err(|error| error.code);
            let (most, after) = cancel.seen();
            assert_eq!(ended, Err(Code::Cancelled), "{name} at {at} of {looks}");
            assert!(most < MAX_CHECK_INTERVAL, "{name} at {at} of {looks}: {most:?}");
            // Each thread checks once more, and so do some of its callers.
            assert!(after < at + 100, "{name} at {at}: {after} looks");
            // The next caller gets a complete result.
            work(&session, &path, &CancelToken::new()).unwrap();
            let words =
                GrepOptions::from_json(r#"{"pattern":"and others","output":"count"}"#).unwrap();
            let found = grep_indexed(&session, &path, &words, &CancelToken::new()).unwrap();
            assert_eq!(found[0].nums[0], 120.0 * 50.0, "{name} at {at} of {looks}");
        }
    }
}

#[test]
fn memory_of_indexes_is_bounded_and_released() {
    let made: Vec<_> = (0..3)
        .map(|_| {
            let dir = tempfile::tempdir().unwrap();
            let path = fs::canonicalize(dir.path()).unwrap().to_str().unwrap().as_bytes().to_vec();
            let session = session_of(dir.path(), serde_json::json!({}));
            warm(&session, &path, true, &CancelToken::new()).unwrap();
            let index = Arc::clone(&session.indexes.lock()[0]);
            index.memory_bytes.store(100, Ordering::Relaxed);
            (dir, path, session, index)
        })
        .collect();
    let held = IndexRegistry(Mutex::default());
    let open = || made.iter().map(|(.., index)| !index.is_closed()).collect::<Vec<_>>();
    for (.., index) in &made {
        held.mark_used_within(index, 300);
    }
    assert_eq!(open(), [true, true, true]);
    held.mark_used_within(&made[0].3, 200);
    assert_eq!(open(), [true, false, true], "the one used longest ago goes");
    held.mark_used_within(&made[2].3, 50);
    assert_eq!(open(), [false, false, true], "never the one in use");
    let (_, path, session, index) = &made[2];
    dispose(session);
    assert!(
        index.is_closed()
            && index.status() == IndexStatus { ready: false, ..IndexStatus::default() }
    );
    assert_eq!(status(session, path).unwrap(), None);
}
