//! Tests an index against a scan: after every change both give the same results.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use filewright_core::pack::Packed;
use serde_json::{Value, json};

use crate::find_indexed;
use crate::grep_indexed;
use crate::lifecycle::may_index_unasked;
use crate::list_tree;
use crate::registry::MAX_INDEXES;
use crate::*;
use filewright_fs::cancel::{CancelToken, Deadline};
use filewright_fs::root::{Policy, Roots};
use filewright_fs::search::find::{FindOptions, find};
use filewright_fs::search::grep::{Freshness, GrepOptions, grep};
use filewright_fs::walk::list_tree::TreeOptions;

thread_local! {
    /// Disables watching for indexes created by this thread.
    pub(crate) static NO_WATCH: Cell<bool> = const { Cell::new(false) };
}

/// Takes the [`Freshness`] out of the results: the last of the totals, which begin the head.
fn split(mut results: Vec<Packed>) -> (Freshness, Vec<Packed>) {
    let number = results[0].nums.remove(8);
    (Freshness::ALL[number as usize], results)
}

pub(crate) fn session_of(dir: &Path, more: Value) -> Arc<Session> {
    let mut policy = json!({ "cwd": dir, "read": [dir] });
    policy.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let policy = Policy::from_json(&policy.to_string()).unwrap();
    Arc::new(Session::new(Roots::new(&policy).unwrap()))
}

struct TestTree {
    dir: tempfile::TempDir,
    top: PathBuf,
    session: Arc<Session>,
    random: u64,
    by_index: u32,
    load_started: u32,
    /// The number of listings that used the tree of names.
    listed: u32,
}

/// Contains all grams of `needle` without the word, so that the index selects it and it has no
/// match.
const DECOY: &str = "needl eedle";

const QUERIES: &[&str] = &[
    r#"{"pattern":"needle","regex":false}"#,
    r#"{"pattern":"needle|absent"}"#,
    r#"{"pattern":"NEEDLE","case":"insensitive"}"#,
    r#"{"pattern":"needle","word":true,"context":1}"#,
    r#"{"pattern":"[0-9]{4}-[0-9]{2}"}"#,
    r#"{"pattern":"end\nne+dle","multiline":true}"#,
    r#"{"pattern":"nee.*7$","glob":"*.rs"}"#,
    r#"{"pattern":"e","output":"count","exclude":["d1"]}"#,
    r#"{"pattern":"needle","output":"files","hidden":false}"#,
    r#"{"pattern":"^needle","maxPerFile":1}"#,
    r#"{"pattern":"nowhere to be found"}"#,
    r#"{"pattern":"\\w+dle [a-f]","maxLineChars":10}"#,
    r#"{"pattern":"(?i)straße"}"#,
    // A line that most files have, and fewer results than the limit.
    r#"{"pattern":"filler","regex":false,"maxResults":1000000}"#,
    // Searches that go on at a path.
    r#"{"pattern":"filler","regex":false,"maxResults":1000000,"fromPath":"d1/d2/b.rs","fromLine":1}"#,
    r#"{"pattern":"needle","hidden":false,"fromPath":"d2/c","fromLine":1}"#,
];

/// Searches for names.
const NAMES: &[&str] = &[
    r#"{"pattern":"**"}"#,
    r#"{"pattern":"*.rs"}"#,
    r#"{"pattern":"**","type":"symlink"}"#,
    r#"{"pattern":"**","type":"symlink","hidden":false,"exclude":["d1"]}"#,
    r#"{"pattern":"d2/**","type":"any"}"#,
    r#"{"pattern":"d*","type":"dir","hidden":false}"#,
    r#"{"pattern":"**/x*","type":"any","limit":3}"#,
];

/// Kinds of listings, each without the closing brace.
const LISTINGS: &[&str] = &[
    r#"{"depth":9"#,
    r#"{"depth":2,"sort":"name""#,
    r#"{"depth":9,"from":7,"limit":5"#,
    r#"{"depth":9,"hidden":false,"order":"desc""#,
    r#"{"depth":3,"exclude":["d1","*.c"],"sort":"name","order":"desc""#,
];

impl TestTree {
    fn new(seed: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap().join("top");
        fs::create_dir_all(top.join(".git/info")).unwrap();
        let random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let session = session_of(&top, json!({}));
        let mut walk_root =
            Self { dir, top, session, random, by_index: 0, load_started: 0, listed: 0 };
        for number in 0..200 {
            let path = walk_root.some_path();
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text = walk_root.text(number);
            let _ = fs::write(path, text);
        }
        walk_root.write(".gitignore", "*.log\nd3/x*\n");
        walk_root
    }

    fn below(&mut self, end: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % end as u64) as usize
    }

    fn some_dir(&mut self) -> PathBuf {
        let mut path = self.top.clone();
        for _ in 0..self.below(4) {
            path.push(["d1", "d2", "d3", ".hid", "d é"][self.below(5)]);
        }
        path
    }

    fn some_path(&mut self) -> PathBuf {
        let name = ["a.rs", "b.rs", "c.txt", "x1", "x2", "e.log", "f.c", "ü.rs"][self.below(8)];
        self.some_dir().join(name)
    }

    fn text(&mut self, number: usize) -> Vec<u8> {
        let lines = [1, 3, 40, 900][self.below(4)];
        let mut text = Vec::new();
        if self.below(3) == 0 {
            return format!("{DECOY}\n").repeat(lines).into_bytes();
        }
        if self.below(12) == 0 {
            text.extend_from_slice([&b"\xef\xbb\xbf"[..], b"\0bin", b"\xff\xfen\0"][self.below(3)]);
        }
        for line in 0..lines {
            let word = ["end", "needle", "Needle f", "STRASSE straße", "2024-05-06", "neeeedle"]
                [self.below(6)];
            text.extend_from_slice(format!("filler {line} of {number}\n").as_bytes());
            if self.below(lines.min(30)) == 0 {
                text.extend_from_slice(format!("{word}\nneedle {number}\n").as_bytes());
            }
        }
        if self.below(8) == 0 {
            // Like minified programs, indexed in chunks.
            for _ in 0..self.below(5) {
                text.resize(text.len() + self.below(40_000), b'~');
                let words = ["needle", " needle ", "neeeedle 7", DECOY, "\n"];
                text.extend_from_slice(words[self.below(5)].as_bytes());
            }
        }
        if self.below(10) == 0 {
            text.extend_from_slice(b"needle\0needle");
        }
        text
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.top.join(path), text).unwrap();
    }

    fn path(&self) -> Vec<u8> {
        self.top.to_str().unwrap().as_bytes().to_vec()
    }

    fn index(&self) -> Option<Arc<Index>> {
        self.session.indexes.lock().first().cloned()
    }

    /// Indexes all files, once they are old enough.
    fn settle(&self) {
        std::thread::sleep(Duration::from_millis(110));
        let Some(index) = self.index() else {
            warm(&self.session, &self.path(), true, &CancelToken::new()).unwrap();
            return;
        };
        let names = index.key.names.as_deref();
        let walk_root =
            filewright_fs::walk::WalkRoot::open(&self.session.roots, &self.path(), names).unwrap();
        while index.is_indexing.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(5));
        }
        // One pass: files that are too recent are read by every query, which is tested too.
        let cancel = CancelToken::new();
        let stop = StopSignal { cancel: &cancel, deadline: Deadline::default() };
        indexer::index_dirty_files(&index, &walk_root, 0, &stop);
    }

    /// Makes one change of the tree; occasionally in another process.
    fn change(&mut self, round: usize) -> String {
        let (from, to) = (self.some_path(), self.some_path());
        let (dir, other) = (self.some_dir(), self.some_dir().join("new"));
        let text = self.text(round);
        let make = |path: &Path| fs::create_dir_all(path.parent().unwrap());
        let kind = self.below(24);
        // An operation that fails, for example on a path that is a directory, is no change.
        let _ = match kind {
            0..=3 => make(&to).and_then(|()| fs::write(&to, &text)),
            4 | 5 => {
                use std::io::Write as _;
                let opened = fs::OpenOptions::new().append(true).open(&to);
                opened.and_then(|mut file| file.write_all(format!("needle {round}\n").as_bytes()))
            }
            6 | 7 => {
                // Saves as editors do.
                let beside = to.with_extension("part");
                make(&to)
                    .and_then(|()| fs::write(&beside, &text))
                    .and_then(|()| fs::rename(&beside, &to))
            }
            8 => fs::remove_file(&to),
            9 | 10 => make(&to).and_then(|()| fs::rename(&from, &to)),
            11 => fs::rename(&dir, &other),
            12 if self.below(4) == 0 && dir != self.top => fs::remove_dir_all(&dir),
            13 => {
                make(&other.join("deep/x")).and_then(|()| fs::write(other.join("deep/n.rs"), &text))
            }
            14 => fs::write(
                dir.join(".gitignore"),
                ["a.rs\n", "d2/\n", "!*.log\n", ""][self.below(4)],
            ),
            15 => {
                fs::write(self.top.join(".git/info/exclude"), ["b.rs\n", "d1\n", ""][self.below(3)])
            }
            16 => fs::write(dir.join(".ignore"), ["!e.log\n", "*.c\n", ""][self.below(3)]),
            17 => fs::hard_link(&from, &to),
            18 => make(&to).and_then(|()| symlink(&from, &to)),
            19 => fs::OpenOptions::new().write(true).open(&to).and_then(|file| file.set_len(20)),
            20 => {
                // Keeps size and modification time, as some tools do.
                let changed = fs::metadata(&to).and_then(|facts| facts.modified());
                fs::read(&to).and_then(|mut old| {
                    old.reverse();
                    fs::write(&to, old)?;
                    fs::File::open(&to)?.set_modified(changed?)
                })
            }
            21 => fs::create_dir_all(dir.join(".git")),
            _ => {
                let script = [
                    format!("printf 'needle {round}\\n' >> '{}'", to.display()),
                    format!("mv '{}' '{}'", from.display(), to.display()),
                    format!("mkdir -p '{0}/p/q' && echo needle > '{0}/p/q/z.rs'", dir.display()),
                    format!("rm -rf '{}' && mkdir -p '{}'", other.display(), other.display()),
                    format!("mkfifo '{0}/pipe' || rm '{0}/pipe'", dir.display()),
                ];
                let script = &script[self.below(5)];
                Command::new("sh").args(["-c", script]).output().map(drop)
            }
        };
        format!("{kind} {} {}", from.display(), to.display())
    }

    /// Runs a query with and without the index and compares everything in the results.
    fn compare(&mut self, query: &str, note: &str) {
        let options = GrepOptions::from_json(query).unwrap();
        let cancel = CancelToken::new();
        let path = match self.below(6) {
            0 => self.some_dir().to_str().unwrap().as_bytes().to_vec(),
            _ => self.path(),
        };
        let scanned = grep(&self.session.roots, &path, &options, &cancel);
        let found = grep_indexed(&self.session, &path, &options, &cancel);
        let (Ok(scanned), Ok(found)) = (&scanned, &found) else {
            assert_eq!(scanned.is_ok(), found.is_ok(), "{query} after {note}");
            return;
        };
        let (fresh, mut found) = split(found.clone());
        self.load_started += 1;
        self.by_index += u32::from(fresh != Freshness::Scan);
        let mut scanned = split(scanned.clone()).1;
        if query.contains("fromPath") {
            // A scan does not see the ignored entries before the path; the index counts them, too.
            (found[0].nums[6], scanned[0].nums[6]) = (0.0, 0.0);
        }
        if found != scanned {
            let lines = |results: &[Packed]| {
                results.iter().map(|packed| format!("{:?} {}", packed.nums, packed.text)).collect()
            };
            let (found, scanned): (Vec<String>, Vec<String>) = (lines(&found), lines(&scanned));
            panic!(
                "{query} in {} after {note}\n  index: {found:#?}\n  scan: {scanned:#?}",
                String::from_utf8_lossy(&path)
            );
        }
    }

    /// Compares a search for names in the tree with one on the disk.
    fn compare_names(&mut self, note: &str) {
        let query = NAMES[self.below(NAMES.len())];
        let (options, cancel) = (FindOptions::from_json(query).unwrap(), CancelToken::new());
        let path = match self.below(3) {
            0 => self.some_dir().to_str().unwrap().as_bytes().to_vec(),
            _ => self.path(),
        };
        let walked = find(&self.session.roots, &path, &options, &cancel);
        let found = find_indexed(&self.session, &path, &options, &cancel);
        assert_eq!(found.is_ok(), walked.is_ok(), "{query} after {note}");
        let (Ok(found), Ok(walked)) = (found, walked) else { return };
        assert_eq!(found, walked, "{query} in {} after {note}", String::from_utf8_lossy(&path));
    }

    /// Compares a fuzzy search in the tree with one of the paths on the disk.
    fn compare_fuzzy(&mut self, note: &str) {
        let query = ["d1a", "rs", "xlog", "d é/ü", "hidb"][self.below(5)];
        let letters = json!({ "query": query, "typos": 0, "limit": 9 }).to_string();
        let cancel = CancelToken::new();
        let files = FindOptions::from_json(r#"{"pattern":"**"}"#).unwrap();
        let paths = find(&self.session.roots, &self.path(), &files, &cancel).unwrap();
        // The head has seven numbers; the number of paths and the UTF-16 length of each follow.
        let mut left = paths.text.encode_utf16();
        let taken = |length: &f64| left.by_ref().take(*length as usize).collect::<Vec<u16>>();
        let paths: Vec<Vec<u16>> = paths.nums[8..].iter().map(taken).collect();
        let paths = String::from_utf16_lossy(&paths.join(&0)) + "\0";
        let fuzzy = FuzzyOptions::from_json(&letters).unwrap();
        let found = find_files(&self.session, &self.path(), &fuzzy, &cancel).unwrap();
        let ranked = filewright_core::fuzzy::rank_packed(&paths, &letters).unwrap();
        let paths: Vec<&str> = paths.split_terminator('\0').collect();
        let best = ranked.nums[2..].chunks(2).map(|row| paths[row[0] as usize]).collect::<String>();
        assert_eq!((found.nums[0], found.text), (ranked.nums[0], best), "{query} after {note}");
    }

    /// Compares a listing from the tree of names with one from the disk.
    fn compare_listings(&mut self, note: &str) {
        let (cancel, mut options) =
            (CancelToken::new(), LISTINGS[self.below(LISTINGS.len())].to_owned());
        let path = match self.below(3) {
            0 => self.some_dir().to_str().unwrap().as_bytes().to_vec(),
            _ => self.path(),
        };
        let list = |index: &str| {
            let options = format!("{options},\"index\":\"{index}\",\"facts\":false}}");
            let options = TreeOptions::from_json(&options).unwrap();
            list_tree(&self.session, &path, &options, &cancel)
                .map(|page| (page.total, page.entries))
        };
        let (known, listed) = (list("auto"), list("off"));
        assert_eq!(known.is_ok(), listed.is_ok(), "{options} after {note}");
        let (Ok(known), Ok(listed)) = (known, listed) else { return };
        assert_eq!(known, listed, "{options} after {note}");
        options.push('}');
        let options = TreeOptions::from_json(&options).unwrap();
        let names = options.walk.ignore.as_deref();
        let walk_root =
            filewright_fs::walk::WalkRoot::open(&self.session.roots, &path, names).unwrap();
        let stop = StopSignal { cancel: &cancel, deadline: Deadline::default() };
        self.listed += u32::from(
            outline::outline_from_index(&self.session, &walk_root, &options, &stop).is_some(),
        );
    }

    fn storm(&mut self, rounds: usize) {
        self.settle();
        for round in 0..rounds {
            let note = format!("{round}: {}", self.change(round));
            let query = QUERIES[self.below(QUERIES.len())];
            self.compare(query, &note);
            self.compare_listings(&note);
            if round % 4 == 0 {
                self.compare_names(&note);
                self.compare_fuzzy(&note);
            }
            if round % SETTLE_EVERY == SETTLE_EVERY - 1 {
                self.settle();
            }
            if round % OVERFLOW_EVERY == OVERFLOW_EVERY / 2 {
                self.overflow();
                self.compare(QUERIES[0], "an overflow");
            }
        }
        assert!(
            self.by_index * 10 >= self.load_started * 8,
            "{} of {}",
            self.by_index,
            self.load_started
        );
        assert!(self.listed > 0, "no listing came from the tree");
    }

    /// Causes more events than the queue holds, including the relevant change.
    fn overflow(&mut self) {
        use std::io::Write as _;
        let most = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events");
        let most: usize = most.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(16_384);
        let open = |name: &str| fs::File::create(self.top.join(name)).unwrap();
        let (mut one, mut other) = (open("o1.rs"), open("o2.rs"));
        for _ in 0..most.min(40_000) / 2 + 100 {
            // Alternates, because the kernel merges equal consecutive events.
            one.write_all(b"x").unwrap();
            other.write_all(b"x").unwrap();
        }
        let to = self.some_path();
        let _ = fs::write(&to, "needle after the flood\n");
        let _ = fs::create_dir_all(self.top.join("flood/deep"));
        let _ = fs::write(self.top.join("flood/deep/x.rs"), "needle below the flood\n");
    }
}

/// The number of rounds between two passes of indexing, which wait until files are old enough.
const SETTLE_EVERY: usize = 25;
/// The number of rounds between two overflows of the event queue.
const OVERFLOW_EVERY: usize = 100;

fn rounds() -> usize {
    std::env::var("FILEWRIGHT_STRESS_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(300)
}

#[test]
fn watching_misses_no_change() {
    let mut walk_root = TestTree::new(7);
    walk_root.storm(rounds());
    let index = walk_root.index();
    // On systems that support watching.
    if let Some(index) = index {
        assert!(index.status().watches > 0);
    }
    drop(walk_root.dir);
}

#[test]
fn revalidation_misses_no_change() {
    NO_WATCH.set(true);
    let mut walk_root = TestTree::new(11);
    walk_root.storm(rounds());
}

#[test]
fn pieces_without_a_match_are_not_read_again_until_they_change() {
    let walk_root = TestTree::new(13);
    let (decoy, query) = ("cuddl uddle", r#"{"pattern":"cuddle","regex":false}"#);
    for (name, text) in [
        ("decoy.rs", decoy.to_owned()),
        // Read in chunks, one of which has a match.
        ("long.rs", format!("{0}{decoy}{0}{decoy}{0}cuddle{0}", "~".repeat(100_000))),
        ("other.rs", "cuddle\n".to_owned()),
    ] {
        walk_root.write(name, &text);
    }
    walk_root.settle();
    let index = walk_root.index().unwrap();
    let cancel = CancelToken::new();
    let ask = |query: &str| {
        let options = GrepOptions::from_json(query).unwrap();
        let found =
            split(grep_indexed(&walk_root.session, &walk_root.path(), &options, &cancel).unwrap());
        assert_eq!(found.0, Freshness::Watch);
        let scanned =
            split(grep(&walk_root.session.roots, &walk_root.path(), &options, &cancel).unwrap()).1;
        // The head contains counts that differ from those of a later scan.
        assert_eq!(found.1[1..], scanned[1..], "{query}");
        let known = index.misses().of(options.query.key());
        let (mut state, mut views) = (index.lock(), index.views.lock().unwrap());
        let view =
            views.get(&state.tree, 0, &filewright_fs::search::searcher::Search::new(&options));
        let owner = |name: &[u8]| {
            let entry = state.tree.dirs[0].find(name).unwrap();
            state.tree.files[entry.below as usize].signed
        };
        let (decoy, long) = (owner(b"decoy.rs"), owner(b"long.rs"));
        let of = |owner: u32| known.iter().filter(|piece| (**piece >> 32) as u32 == owner).count();
        let all =
            crate::build::candidates::CandidateSet::of(&mut state.tree, view, &options, b"", &[]);
        let left = crate::build::candidates::CandidateSet::of(
            &mut state.tree,
            view,
            &options,
            b"",
            &known,
        );
        // The number of candidates before and now, and the recorded pieces of two files.
        (all.items.len(), left.items.len(), of(decoy), of(long))
    };
    let (all, left, short, long) = ask(query);
    assert!(left < all && short == 1 && long >= 2, "{left} {all} {short} {long}");
    // Every output mode is the same query.
    let counted = ask(r#"{"pattern":"cuddle","regex":false,"output":"count","glob":"*.rs"}"#);
    assert_eq!((counted.2, counted.3), (short, long));
    // A continued search proves nothing about the part before its start.
    let (.., short, _) = ask(r#"{"pattern":"uddl ","fromPath":"decoy.rs","fromLine":1}"#);
    assert_eq!(short, 0);
    ask(r#"{"pattern":"uddl "}"#);
    // Recorded per file, because a match may span several blocks.
    let (.., short, _) = ask(r#"{"pattern":"cuddl\nuddle","multiline":true}"#);
    assert_eq!(short, 1);

    let changed = ["cuddle at last", decoy, "cuddle again"];
    for text in changed {
        walk_root.write("decoy.rs", text);
        ask(query);
        walk_root.settle();
        ask(query);
    }
}

#[test]
fn the_first_results_equal_those_of_a_scan() {
    let walk_root = TestTree::new(17);
    walk_root.settle();
    let cancel = CancelToken::new();
    for max in [1, 2, 10, 60, 300, 2_000, 100_000] {
        for more in ["", r#","output":"files""#, r#","glob":"*.rs""#, r#","hidden":false"#] {
            let query = format!(r#"{{"pattern":"filler","maxResults":{max}{more}}}"#);
            let options = GrepOptions::from_json(&query).unwrap();
            let scanned = split(
                grep(&walk_root.session.roots, &walk_root.path(), &options, &cancel).unwrap(),
            );
            let found = split(
                grep_indexed(&walk_root.session, &walk_root.path(), &options, &cancel).unwrap(),
            );
            assert_eq!(found.0, Freshness::Watch);
            assert_eq!(found.1[1..], scanned.1[1..], "{query}");
            // All fields after the counts of read files: the reason, and where to continue.
            assert_eq!(found.1[0].nums[7..], scanned.1[0].nums[7..], "{query}");
            assert_eq!(found.1[0].text, scanned.1[0].text, "{query}");
        }
    }
}

/// Paths are at the end of the text of a name or file result.
fn has(packed: &Packed, name: &str) -> bool {
    packed.text.contains(name)
}

#[test]
fn entries_hidden_by_the_policy_are_not_found() {
    // Policy, hidden file, whether its name is shown, number of unread files.
    let cases = [
        (json!({ "deny": ["*.key"] }), "d1/other.key", false, 0.0),
        (json!({ "deny": ["d9/**"] }), "d9/deep/other.txt", false, 0.0),
        (json!({ "secrets": "grant" }), "d1/.env", true, 1.0),
        (json!({ "secrets": "grant" }), "d1/.ssh/id_rsa", true, 1.0),
    ];
    for (policy, hidden, told, unread) in cases {
        let walk_root = TestTree::new(3);
        let name = hidden.rsplit('/').next().unwrap();
        let (cancel, path) = (CancelToken::new(), walk_root.path());
        let session = session_of(&walk_root.top, policy);
        let put = |path: &str| {
            let path = walk_root.top.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "the hidden word\n").unwrap();
        };
        let ask = |note: &str| {
            let contents = GrepOptions::from_json(r#"{"pattern":"hidden word"}"#).unwrap();
            let scanned = split(grep(&session.roots, &path, &contents, &cancel).unwrap()).1;
            let (fresh, found) = split(grep_indexed(&session, &path, &contents, &cancel).unwrap());
            assert_ne!(fresh, Freshness::Scan, "{hidden} {note}");
            assert_eq!(found, scanned, "{hidden} {note}");
            assert_eq!(found[0].nums[0], 0.0, "{hidden} {note}");
            let names = FindOptions::from_json(r#"{"pattern":"**","type":"any"}"#).unwrap();
            let walked = find(&session.roots, &path, &names, &cancel).unwrap();
            let listed = find_indexed(&session, &path, &names, &cancel).unwrap();
            assert_eq!(listed, walked, "{hidden} {note}");
            let letters = json!({ "query": name, "typos": 0 }).to_string();
            let fuzzy = FuzzyOptions::from_json(&letters).unwrap();
            let fitting = find_files(&session, &path, &fuzzy, &cancel).unwrap();
            (has(&listed, name), has(&fitting, name), found[0].nums[5])
        };
        std::thread::sleep(Duration::from_millis(110));
        warm(&session, &path, true, &cancel).unwrap();
        assert_eq!(ask("before"), (false, false, 0.0), "{hidden}");
        put(hidden);
        assert_eq!(ask("once it is there"), (told, told, unread), "{hidden}");
        // Moved in from elsewhere, and hidden by its directory's new name.
        put("d2/free.txt");
        fs::rename(walk_root.top.join("d2/free.txt"), walk_root.top.join(hidden)).unwrap();
        assert_eq!(ask("from elsewhere"), (told, told, unread), "{hidden}");
        let below = hidden.split('/').next().unwrap();
        fs::rename(walk_root.top.join(below), walk_root.top.join("moved")).unwrap();
        if !hidden.starts_with("d9") {
            assert_eq!(ask("moved"), (told, told, unread), "{hidden}");
        }
    }
}

#[test]
fn a_start_that_is_another_directory_is_not_answered_from_memory() {
    let mut walk_root = TestTree::new(5);
    walk_root.settle();
    walk_root.compare(QUERIES[0], "nothing");
    fs::rename(&walk_root.top, walk_root.top.with_file_name("old")).unwrap();
    fs::create_dir(&walk_root.top).unwrap();
    walk_root.write("a.rs", "needle of another tree\n");
    let session = session_of(&walk_root.top, json!({}));
    walk_root.compare(QUERIES[0], "the move");
    walk_root.session = session;
    walk_root.compare(QUERIES[0], "the move");
}

#[test]
fn whole_systems_and_homes_are_not_indexed() {
    let home = std::env::var("HOME").unwrap_or_default();
    for (path, expected) in [("/", false), (&home[..], false), ("/srv/repository", true)] {
        assert!(path.is_empty() || may_index_unasked(path.as_bytes()) == expected, "{path}");
    }
}

#[test]
fn the_least_recently_used_index_is_released() {
    let grounds: Vec<TestTree> = (0..MAX_INDEXES as u64 + 2).map(TestTree::new).collect();
    for walk_root in &grounds {
        walk_root.settle();
    }
    let open = grounds
        .iter()
        .filter(|walk_root| walk_root.index().is_some_and(|index| !index.is_closed()));
    assert!(open.count() <= MAX_INDEXES);
}
