//! Tests walks and searches on real trees.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // the trees are made and looked at from outside

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use filewright_core::Code;
use filewright_core::pack::Packed;
use filewright_fs::cancel::CancelToken;
use filewright_fs::root::{Policy, Roots};
use filewright_fs::search::find::{FindOptions, find};
use filewright_fs::search::grep::{GrepOptions, grep};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Reads a packed result in order.
struct Reader<'a> {
    packed: &'a Packed,
    num: usize,
    text: usize,
}

impl<'a> Reader<'a> {
    fn new(packed: &'a Packed) -> Self {
        Self { packed, num: 0, text: 0 }
    }

    fn num(&mut self) -> i64 {
        self.num += 1;
        self.packed.nums[self.num - 1] as i64
    }

    /// Texts in these tests are ASCII, so UTF-16 units are bytes.
    fn str(&mut self) -> Option<String> {
        let length = usize::try_from(self.num()).ok()?;
        let text = self.packed.text[self.text..self.text + length].to_owned();
        self.text += length;
        Some(text)
    }
}

#[derive(Debug, Default, PartialEq)]
struct Grep {
    lines: Vec<String>,
    total: i64,
    searched: i64,
    binary: i64,
    large: i64,
    unreadable: i64,
    ignored: i64,
    truncated: bool,
    reason: i64,
    next: Option<(String, i64)>,
}

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn roots_with(dir: &Path, more: Value) -> Roots {
    let dir = fs::canonicalize(dir).unwrap();
    let mut policy = json!({ "cwd": dir, "read": [dir] });
    policy.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Roots::new(&Policy::from_json(&policy.to_string()).unwrap()).unwrap()
}

fn bytes(path: &Path) -> Vec<u8> {
    fs::canonicalize(path).unwrap().to_str().unwrap().as_bytes().to_vec()
}

fn grep_at(roots: &Roots, path: &[u8], query: &Value) -> filewright_core::Result<Grep> {
    let options = GrepOptions::from_json(&query.to_string())?;
    let results = grep(roots, path, &options, &CancelToken::new())?;
    let mut head = Reader::new(&results[0]);
    let mut found = Grep { total: head.num(), ..Grep::default() };
    let files = head.num();
    found.searched = head.num();
    found.binary = head.num();
    found.large = head.num();
    found.unreadable = head.num();
    found.ignored = head.num();
    found.truncated = head.num() == 1;
    // How the search made sure that its view is current.
    head.num();
    // From 1, and 0 for none.
    found.reason = head.num() + 1;
    let next = head.str();
    let line = head.num();
    found.next = next.map(|path| (path, line));
    let context = head.num() == 1;
    let mut seen = 0;
    for batch in &results[1..] {
        let mut from = Reader::new(batch);
        for _ in 0..from.num() {
            seen += 1;
            let path = from.str().unwrap();
            let hits = from.num();
            if query["output"] != Value::Null {
                found.lines.push(format!("{path}={hits}"));
                continue;
            }
            for _ in 0..hits {
                let (line, _, _, _) = (from.num(), from.num(), from.num(), from.num());
                found.lines.push(format!("{path}:{line}:{}", from.str().unwrap()));
                for _ in 0..if context { 2 } else { 0 } {
                    for _ in 0..from.num() {
                        found.lines.push(format!("-{}", from.str().unwrap()));
                    }
                }
            }
        }
    }
    assert_eq!(seen, files);
    Ok(found)
}

fn grep_in(dir: &Path, query: Value) -> Grep {
    grep_at(&roots_with(dir, json!({})), &bytes(dir), &query).unwrap()
}

#[derive(Debug, PartialEq)]
struct Find {
    total: i64,
    ignored: i64,
    ignored_directories: i64,
    truncated: bool,
    time: i64,
    paths: Vec<String>,
}

fn find_at(roots: &Roots, path: &[u8], query: &Value) -> filewright_core::Result<Find> {
    let options = FindOptions::from_json(&query.to_string())?;
    let packed = find(roots, path, &options, &CancelToken::new())?;
    let mut from = Reader::new(&packed);
    let (total, ignored, ignored_directories, _) = (from.num(), from.num(), from.num(), from.num());
    let (truncated, _, time) = (from.num() == 1, from.num(), from.num());
    let paths = (0..from.num()).map(|_| from.str().unwrap()).collect();
    Ok(Find { total, ignored, ignored_directories, truncated, time, paths })
}

fn find_in(dir: &Path, query: Value) -> Find {
    find_at(&roots_with(dir, json!({})), &bytes(dir), &query).unwrap()
}

fn paths(dir: &Path, query: Value) -> Vec<String> {
    find_in(dir, query).paths
}

#[test]
fn paths_come_in_code_point_order() {
    let names = ["a.c", "a/b", "a-b", "a/b.c", "a0", "a/b/c", "B", "a/b-c", "é", "a b/x"];
    let names: Vec<_> =
        names.iter().filter(|name| **name != "a/b").map(|name| (*name, "x")).collect();
    let dir = tree(&names);
    let mut expected: Vec<String> = names.iter().map(|(name, _)| (*name).to_owned()).collect();
    expected.sort();
    expected.retain(|name| name.is_ascii());
    assert_eq!(paths(dir.path(), json!({ "pattern": "**/*", "exclude": ["é"] })), expected);
    let grep = grep_in(dir.path(), json!({ "pattern": "x", "exclude": ["é"], "output": "files" }));
    assert_eq!(grep.lines, expected.iter().map(|path| format!("{path}=1")).collect::<Vec<_>>());
    assert_eq!(
        paths(dir.path(), json!({ "pattern": "a*", "type": "any" })),
        ["a", "a b", "a-b", "a.c", "a0"],
    );
    assert_eq!(paths(dir.path(), json!({ "pattern": "**/*", "type": "dir" })), ["a", "a b", "a/b"]);
}

#[test]
fn visible_entries_are_found() {
    let dir = tree(&[
        (".gitignore", "node_modules/\n*.log\n"),
        (".git/HEAD", "hit"),
        (".env", "hit"),
        ("a.log", "hit"),
        ("a.ts", "hit"),
        ("node_modules/p/i.ts", "hit"),
        ("node_modules/p/j.js", "hit"),
        ("sub/.git", "gitdir: x"),
        ("sub/b.log", "hit"),
        (".ignore", "!kept.log\n"),
        ("kept.log", "hit"),
    ]);
    let all = find_in(dir.path(), json!({ "pattern": "*.ts" }));
    assert_eq!(
        (all.paths, all.total, all.ignored, all.ignored_directories),
        (vec!["a.ts".into()], 1, 1, 0)
    );
    // The other repository has its own rules.
    assert_eq!(paths(dir.path(), json!({ "pattern": "*.log" })), ["kept.log", "sub/b.log"]);
    let logs = find_in(dir.path(), json!({ "pattern": "*.log" }));
    assert_eq!((logs.ignored, logs.ignored_directories), (1, 0));
    assert_eq!(paths(dir.path(), json!({ "pattern": "HEAD", "respectIgnore": false })), [""; 0]);
    assert_eq!(
        paths(dir.path(), json!({ "pattern": "*.{ts,js}", "respectIgnore": false })),
        ["a.ts", "node_modules/p/i.ts", "node_modules/p/j.js"],
    );
    assert_eq!(
        paths(dir.path(), json!({ "pattern": "*", "hidden": false })),
        ["a.ts", "kept.log", "sub/b.log"],
    );
    assert_eq!(paths(dir.path(), json!({ "pattern": "*.ts", "exclude": ["a.*"] })), [""; 0]);
    let grep = grep_in(dir.path(), json!({ "pattern": "hit" }));
    assert_eq!(grep.lines, [".env:1:hit", "a.ts:1:hit", "kept.log:1:hit", "sub/b.log:1:hit"]);
    assert_eq!(grep.ignored, 2);

    // A path passed explicitly is searched, with only the rules below it.
    let roots = roots_with(dir.path(), json!({}));
    let at = |path: &str| bytes(&dir.path().join(path));
    let query = json!({ "pattern": "hit" });
    assert_eq!(grep_at(&roots, &at("a.log"), &query).unwrap().lines, [":1:hit"]);
    assert_eq!(
        grep_at(&roots, &at("node_modules"), &query).unwrap().lines,
        ["p/i.ts:1:hit", "p/j.js:1:hit"],
    );
    assert_eq!(grep_at(&roots, &at(".git"), &query).unwrap().lines, ["HEAD:1:hit"]);
}

#[test]
fn rules_of_the_directories_above_hold() {
    let dir = tree(&[
        (".gitignore", "*.tmp\n/src/gen/\n"),
        ("src/a.tmp", "x"),
        ("src/a.rs", "x"),
        ("src/gen/g.rs", "x"),
        ("src/deep/b.tmp", "x"),
        ("src/deep/b.rs", "x"),
    ]);
    let roots = roots_with(dir.path(), json!({}));
    let query = json!({ "pattern": "*" });
    let found = find_at(&roots, &bytes(&dir.path().join("src")), &query).unwrap();
    assert_eq!(found.paths, ["a.rs", "deep/b.rs"]);
    let found = find_at(&roots, &bytes(&dir.path().join("src/deep")), &query).unwrap();
    assert_eq!(found.paths, ["b.rs"]);
    let found = find_at(&roots, &bytes(&dir.path().join("src/gen")), &query).unwrap();
    assert_eq!(found.paths, ["g.rs"]);
}

#[test]
fn links_and_special_files_are_passed_over() {
    let outside = tree(&[("secret", "hit")]);
    let dir = tree(&[("a", "hit"), ("d/b", "hit")]);
    std::os::unix::fs::symlink(outside.path(), dir.path().join("out")).unwrap();
    std::os::unix::fs::symlink(".", dir.path().join("loop")).unwrap();
    std::os::unix::fs::symlink("a", dir.path().join("alias")).unwrap();
    let fifo = dir.path().join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    assert_eq!(grep_in(dir.path(), json!({ "pattern": "hit" })).lines, ["a:1:hit", "d/b:1:hit"]);
    assert_eq!(paths(dir.path(), json!({ "pattern": "**/*" })), ["a", "d/b"]);
    assert_eq!(
        paths(dir.path(), json!({ "pattern": "*", "type": "any" })),
        ["a", "alias", "d", "d/b", "loop", "out"],
    );
    let roots = roots_with(dir.path(), json!({}));
    let code = |path: &str| {
        let path = [bytes(dir.path()), path.as_bytes().to_vec()].concat();
        grep_at(&roots, &path, &json!({ "pattern": "hit" })).unwrap_err().code
    };
    assert_eq!(code("/fifo"), Code::NotRegularFile);
    assert_eq!(code("/none"), Code::NotFound);
    assert_eq!(code("/out"), Code::OutsideAllowed);
    assert_eq!(code("/a/"), Code::NotDirectory);
    // A link to a file inside the roots is followed if it is passed explicitly.
    let path = [bytes(dir.path()), b"/alias".to_vec()].concat();
    assert_eq!(grep_at(&roots, &path, &json!({ "pattern": "hit" })).unwrap().lines, [":1:hit"]);
    let found =
        find_at(&roots, &[bytes(dir.path()), b"/a".to_vec()].concat(), &json!({ "pattern": "*" }));
    assert_eq!(found.unwrap_err().code, Code::NotDirectory);
}

#[test]
fn denied_entries_are_not_seen() {
    let dir = tree(&[("a", "hit"), (".env", "hit"), ("secrets/key", "hit"), ("sub/.env", "hit")]);
    let roots = roots_with(dir.path(), json!({ "deny": [".env", "secrets"] }));
    let grep = grep_at(&roots, &bytes(dir.path()), &json!({ "pattern": "hit" })).unwrap();
    assert_eq!(grep.lines, ["a:1:hit"]);
    let found =
        find_at(&roots, &bytes(dir.path()), &json!({ "pattern": "*", "type": "any" })).unwrap();
    assert_eq!((found.paths, found.total), (vec!["a".into(), "sub".into()], 2));
}

#[test]
fn counts_and_kinds() {
    let dir = tree(&[
        ("a", "hit\nhit\n"),
        ("b", "no\n"),
        ("bin", "hit\0"),
        ("c", "hit\n"),
        ("large", &"hit\n".repeat(1000)),
    ]);
    let query = json!({ "pattern": "hit", "output": "count", "maxFileBytes": 100 });
    let grep = grep_in(dir.path(), query);
    assert_eq!(grep.lines, ["a=2", "c=1"]);
    assert_eq!((grep.total, grep.searched, grep.binary, grep.large), (3, 3, 1, 1));
    let grep = grep_in(dir.path(), json!({ "pattern": "hit", "maxPerFile": 1 }));
    assert_eq!(grep.lines, ["a:1:hit", "c:1:hit", "large:1:hit"]);
    assert_eq!((grep.reason, grep.truncated), (2, false));
    let lines = grep_in(dir.path(), json!({ "pattern": "no", "context": 1, "glob": "b" })).lines;
    assert_eq!(lines, ["b:1:no"]);
    let lines = grep_in(dir.path(), json!({ "pattern": "h", "types": ["*.py"] })).lines;
    assert_eq!(lines, [""; 0]);
}

/// Texts whose sizes, line ends and matches lie around the sizes at which a search reads more.
fn large_texts() -> Vec<(String, Vec<u8>)> {
    let mut texts = Vec::new();
    for size in [65_536, 65_540, 131_072, 131_080, 300_000] {
        for line in [40, 70_000, 500_000] {
            let mut text: Vec<u8> =
                (0..size).map(|at| if (at + 1) % line == 0 { b'\n' } else { b'.' }).collect();
            texts.push((format!("none-{size}-{line}"), text.clone()));
            for at in [65_533, 130_812, 131_069, 262_141] {
                if at + 6 <= size {
                    let mut text = text.clone();
                    text[at..at + 6].copy_from_slice(b"needle");
                    texts.push((format!("hit-{size}-{line}-{at}"), text));
                }
            }
            let last = text.len() - 6..;
            text[last].copy_from_slice(b"needle");
            texts.push((format!("marked-{size}-{line}"), [b"\xef\xbb\xbf", &text[..]].concat()));
            // Nothing after a NUL is found; one near the beginning makes a file binary.
            for at in [9, 65_537, 131_100] {
                if at < size {
                    let mut text = text.clone();
                    text[at] = 0;
                    texts.push((format!("nul-{size}-{line}-{at}"), text));
                }
            }
            let wide: Vec<u8> = text.iter().flat_map(|&byte| [byte, 0]).collect();
            texts.push((format!("wide-{size}-{line}"), [b"\xff\xfe", &wide[..]].concat()));
        }
    }
    texts
}

/// A file of any size has the hits of its content, and counts as its content does.
#[test]
fn large_files_are_searched_as_their_contents_are() {
    let dir = tempfile::tempdir().unwrap();
    let texts = large_texts();
    for (name, text) in &texts {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let patterns = ["needle", "^needle", "needle$", "(?i)NEEDLE", "n\\w+e", "absent", "\\Aneedle"];
    let queries = patterns.map(|pattern| (pattern, false)).into_iter();
    for (pattern, multiline) in queries.chain([("needle\\n", true), ("needle", true)]) {
        let query = json!({ "pattern": pattern, "multiline": multiline, "output": "count" });
        let compiled = GrepOptions::from_json(&query.to_string()).unwrap();
        let mut expected = Grep::default();
        for (name, text) in &texts {
            let one =
                compiled.query.search(text, &compiled.limits, &|| false, &mut |_| unreachable!());
            expected.total += one.hits as i64;
            *if one.binary { &mut expected.binary } else { &mut expected.searched } += 1;
            if one.hits > 0 {
                expected.lines.push(format!("{name}={}", one.hits));
            }
        }
        expected.lines.sort();
        assert_eq!(grep_in(dir.path(), query), expected, "{pattern}");
    }
    for (name, text) in &texts {
        let path = bytes(&dir.path().join(name));
        let roots = roots_with(dir.path(), json!({}));
        let found = grep_at(&roots, &path, &json!({ "pattern": "needle" })).unwrap();
        let is_found = text.windows(6).any(|part| part == b"needle") || name.starts_with("wide");
        let is_read = !name.starts_with("nul");
        assert!(!is_read || (found.total > 0) == is_found, "{name} alone");
    }
}

#[test]
fn line_numbers_and_context_of_a_late_match_are_those_of_the_file() {
    let text = [&"......\n".repeat(50_000), "above\nneedle\nbelow\n", &"......\n".repeat(9_000)];
    let dir = tree(&[("f", &text.concat())]);
    let found = grep_in(dir.path(), json!({ "pattern": "needle", "context": 1 }));
    assert_eq!(found.lines, ["f:50002:needle", "-above", "-below"]);
}

#[test]
fn a_limit_of_size_holds_for_files_of_any_size() {
    let dir = tree(&[("f", &"......\n".repeat(50_000)), ("g", "needle")]);
    for (limit, large) in [(349_999, 1), (350_000, 0), (5, 2)] {
        let found = grep_in(dir.path(), json!({ "pattern": "needle", "maxFileBytes": limit }));
        assert_eq!((found.large, found.searched), (large, 2 - large), "{limit}");
    }
}

/// A file that is denied under another name is left out, and a binary or too large one counts as
/// what it is: nothing of it is searched in any case.
#[test]
fn other_names_of_denied_files_are_not_searched() {
    let large = "needle\n".repeat(30_000);
    let binary = format!("\0{large}");
    let dir = tree(&[("no/text", "needle"), ("no/large", &large), ("no/binary", &binary)]);
    for name in ["text", "large", "binary"] {
        fs::hard_link(dir.path().join("no").join(name), dir.path().join(name)).unwrap();
    }
    let roots = roots_with(dir.path(), json!({ "deny": ["no/**"] }));
    // The columns: pattern, maximum size of a file, unreadable, binary and large files.
    let cases =
        [("needle", 1 << 20, (2, 1, 0)), ("absent", 1 << 20, (2, 1, 0)), ("needle", 99, (1, 0, 2))];
    for (pattern, limit, counts) in cases {
        let query = json!({ "pattern": pattern, "maxFileBytes": limit });
        let found = grep_at(&roots, &bytes(dir.path()), &query).unwrap();
        assert_eq!((found.total, found.searched), (0, 0), "{pattern}");
        assert_eq!((found.unreadable, found.binary, found.large), counts, "{pattern}");
    }
}

#[test]
fn unreadable_entries_are_counted() {
    let dir = tree(&[("a", "hit"), ("b", "hit"), ("d/c", "hit")]);
    use std::os::unix::fs::PermissionsExt as _;
    for name in ["b", "d"] {
        fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let grep = grep_in(dir.path(), json!({ "pattern": "hit" }));
    // Root can read everything.
    if !rustix::process::geteuid().is_root() {
        assert_eq!((grep.lines.len(), grep.unreadable), (1, 2));
    }
    fs::set_permissions(dir.path().join("d"), fs::Permissions::from_mode(0o700)).unwrap();
}

/// A tree of several hundred files in many directories, some with hits.
fn forest() -> tempfile::TempDir {
    let mut files = Vec::new();
    for a in 0..7 {
        for b in 0..9 {
            for c in 0..5 {
                files.push((format!("d{a}/e{b}/f{c}"), format!("x\nhit {a}{b}{c}\ny\nhit\n")));
            }
            files.push((format!("d{a}/f{b}"), "hit\n".to_owned()));
        }
        files.push((format!("d{a}.txt"), "none\n".to_owned()));
    }
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    tree(&files)
}

#[test]
fn a_limit_gives_the_first_results() {
    let dir = forest();
    let all = grep_in(dir.path(), json!({ "pattern": "hit" }));
    assert_eq!((all.lines.len(), all.truncated, all.reason), (7 * 9 * 11, false, 0));
    let mut sorted = all.lines.clone();
    sorted.sort_by_key(|line| {
        let mut parts = line.split(':');
        (parts.next().unwrap().to_owned(), parts.next().unwrap().parse::<u64>().unwrap())
    });
    assert_eq!(all.lines, sorted);
    for limit in [1, 2, 10, 99, 692, 693, 694] {
        let some = grep_in(dir.path(), json!({ "pattern": "hit", "maxResults": limit }));
        assert_eq!(some.lines, all.lines[..limit.min(693)], "{limit}");
        assert_eq!((some.truncated, some.reason == 1), (limit < 693, limit < 693), "{limit}");
    }
}

#[test]
fn cursors_continue_without_gap() {
    let dir = forest();
    for output in [Value::Null, json!("files")] {
        let mut query = json!({ "pattern": "hit", "output": output });
        let all = grep_in(dir.path(), query.clone());
        query["maxResults"] = json!(100);
        let mut lines = Vec::new();
        for _ in 0..20 {
            let page = grep_in(dir.path(), query.clone());
            lines.extend(page.lines);
            let Some((path, line)) = page.next else { break };
            query["fromPath"] = json!(path);
            query["fromLine"] = json!(line);
        }
        assert_eq!(lines, all.lines);
    }
    for sort in ["path", "mtime", "recent"] {
        let mut query = json!({ "pattern": "f*", "sort": sort });
        let all = find_in(dir.path(), query.clone());
        query["limit"] = json!(50);
        let mut found = Vec::new();
        for _ in 0..20 {
            let page = find_in(dir.path(), query.clone());
            assert_eq!(page.total, all.total);
            query["afterPath"] = json!(page.paths.last().unwrap());
            query["afterTime"] = json!(page.time.max(0));
            found.extend(page.paths);
            if !page.truncated {
                break;
            }
        }
        assert_eq!(found, all.paths);
    }
}

#[test]
fn newest_first() {
    let dir = tree(&[("a", ""), ("b", ""), ("c", ""), ("d", "")]);
    let at = |seconds: u64| std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    for (name, seconds) in [("a", 1000), ("b", 3000), ("c", 2000), ("d", 500)] {
        fs::File::options()
            .write(true)
            .open(dir.path().join(name))
            .unwrap()
            .set_modified(at(seconds))
            .unwrap();
    }
    assert_eq!(paths(dir.path(), json!({ "pattern": "*", "sort": "mtime" })), ["b", "c", "a", "d"]);
    let recent = json!({ "pattern": "*", "sort": "recent", "recentFrom": 1_500_000 });
    assert_eq!(paths(dir.path(), recent), ["b", "c", "a", "d"]);
    let recent = json!({ "pattern": "*", "sort": "recent", "recentFrom": 2_500_000 });
    assert_eq!(paths(dir.path(), recent), ["b", "a", "c", "d"]);
}

#[test]
fn a_timeout_returns_final_results() {
    let dir = forest();
    let query = json!({ "pattern": "hit", "timeoutMs": 0 });
    let cut = grep_in(dir.path(), query);
    assert_eq!((cut.reason, cut.lines.len()), (3, 0));
    let (path, line) = cut.next.unwrap();
    let rest = grep_in(dir.path(), json!({ "pattern": "hit", "fromPath": path, "fromLine": line }));
    assert_eq!(rest.lines.len(), 693);
}

#[test]
fn a_cancelled_search_is_an_error() {
    let dir = forest();
    let cancel = CancelToken::new();
    cancel.cancel();
    let roots = roots_with(dir.path(), json!({}));
    let options = GrepOptions::from_json(r#"{"pattern":"hit"}"#).unwrap();
    let error = grep(&roots, &bytes(dir.path()), &options, &cancel).unwrap_err();
    assert_eq!(error.code, Code::Cancelled);
}

#[test]
fn a_search_counts_files_and_matches_while_it_runs() {
    let dir = forest();
    let roots = roots_with(dir.path(), json!({}));
    let options = GrepOptions::from_json(r#"{"pattern":"hit"}"#).unwrap();
    let counts = Arc::clone(&options.progress);
    let found = grep_at(&roots, &bytes(dir.path()), &json!({ "pattern": "hit" })).unwrap();
    grep(&roots, &bytes(dir.path()), &options, &CancelToken::new()).unwrap();
    assert!(found.total > 0);
    let expected = ((found.searched + found.binary) as u64, found.total as u64);
    assert_eq!((counts.files(), counts.matches()), expected);
}

#[test]
fn deep_trees_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut at =
        rustix::fs::open(dir.path(), rustix::fs::OFlags::PATH, rustix::fs::Mode::empty()).unwrap();
    for _ in 0..2500 {
        rustix::fs::mkdirat(&at, "directory", rustix::fs::Mode::RWXU).unwrap();
        at = rustix::fs::openat(
            &at,
            "directory",
            rustix::fs::OFlags::PATH,
            rustix::fs::Mode::empty(),
        )
        .unwrap();
    }
    let found = find_in(dir.path(), json!({ "pattern": "*", "type": "dir" }));
    assert_eq!(found.total, 2049);
    assert!(found.paths.last().unwrap().len() > 20_000);
    Command::new("rm").arg("-rf").arg(dir.path()).status().unwrap();
}

#[test]
fn names_that_are_not_utf8() {
    use std::os::unix::ffi::OsStrExt as _;
    let dir = tempfile::tempdir().unwrap();
    let odd = dir.path().join(std::ffi::OsStr::from_bytes(b"d\xff"));
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("a\nb"), "hit").unwrap();
    fs::write(dir.path().join("d"), "hit").unwrap();
    assert_eq!(paths(dir.path(), json!({ "pattern": "**/*" })), ["d", "d\\xFF/a\nb"]);
    let grep = grep_in(dir.path(), json!({ "pattern": "hit" }));
    assert_eq!(grep.lines, ["d:1:hit", "d\\xFF/a\nb:1:hit"]);
}

/// Generates a name, a pattern or a part of one.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab]",
        "[ab]\\.[xy]",
        Just("*".into()),
        Just("a*".into()),
        Just("*.x".into()),
        Just("?".into()),
        Just("**".into()),
        Just("[!a]".into()),
        Just("[a-b]*".into())
    ]
}

fn rule() -> impl Strategy<Value = String> {
    let parts = proptest::collection::vec(piece(), 1..4);
    ("!?", "/?", parts, "/?").prop_map(|(keep, anchor, parts, slash)| {
        format!("{keep}{anchor}{}{slash}", parts.join("/"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// git and this crate ignore the same files.
    #[test]
    fn ignores_what_git_ignores(
        files in proptest::collection::btree_set("[ab](\\.[xy])?(/[ab](\\.[xy])?){0,3}", 1..25),
        rules in proptest::collection::vec(("([ab]/){0,2}", proptest::collection::vec(rule(), 1..5)), 1..4),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            Command::new("git").args(arguments).current_dir(dir.path())
                .env("GIT_CONFIG_GLOBAL", "/dev/null").env("XDG_CONFIG_HOME", "/nonexistent")
                .env_remove("HOME").output().unwrap().stdout
        };
        git(&["init", "-q"]);
        for path in &files {
            let path = dir.path().join(path);
            // A file may exist where a directory is needed, and vice versa.
            if fs::create_dir_all(path.parent().unwrap()).is_ok() && !path.is_dir() {
                fs::write(path, "").unwrap();
            }
        }
        for (place, rules) in &rules {
            let place = dir.path().join(place);
            if place.is_dir() {
                fs::write(place.join(".gitignore"), rules.join("\n")).unwrap();
            }
        }
        let listed = git(&["ls-files", "-z", "--others", "--exclude-standard"]);
        let mut expected: Vec<String> = listed
            .split(|&byte| byte == 0)
            .filter(|path| !path.is_empty())
            .map(|path| String::from_utf8(path.to_vec()).unwrap())
            .collect();
        expected.sort();
        prop_assert_eq!(paths(dir.path(), json!({ "pattern": "**/*" })), expected);
    }
}
