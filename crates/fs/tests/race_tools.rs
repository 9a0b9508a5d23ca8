//! A race against every tool: one thread exchanges a directory and a link that leads outside as
//! fast as possible, while each row makes the calls of one tool to this crate through the exchanged
//! name.
//!
//! A **round** is one such call, from its path to its result. Each row makes 20,000 of them
//! (`FILEWRIGHT_ATTACK_ROUNDS` increases the number), half with each resolver, and of each half
//! every other one on a thread restricted by Landlock if the kernel supports it. Calls that only
//! restore the tree are not rounds.
//!
//! For every row, a control thread does what most file tools do: it resolves the path, checks its
//! prefix, then opens it by name. If the control never escapes, the run had no race, and fails.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stderr)]

mod common;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Instant;

use common::World;
use filewright_core::Result;
use filewright_core::page::PageRequest;
use filewright_fs::cancel::CancelToken;
use filewright_fs::confine::{Confinement, Enforced, Lane};
use filewright_fs::read::page::read_page;
use filewright_fs::root::Kernel;
use filewright_fs::root::{Policy, ResolverChoice, Roots};
use filewright_fs::search::find::{FindOptions, find};
use filewright_fs::search::grep::{GrepOptions, grep};
use filewright_fs::transfer::TransferOptions;
use filewright_fs::walk::list::ListOptions;
use filewright_fs::write::{Durability, WriteOptions};
use rustix::fs::{CWD, RenameFlags, renameat_with};

/// A tool and the calls that it makes.
struct Row {
    tool: &'static str,
    /// The number of rounds per turn.
    rounds: usize,
    /// Runs a turn; returns the number of successful rounds.
    turn: fn(&Victim, usize) -> usize,
}

/// One thread that makes the calls.
#[derive(Clone)]
struct Victim {
    roots: Arc<Roots>,
    /// The path of W.
    root: String,
    id: usize,
    none: CancelToken,
}

impl Victim {
    fn at(&self, path: &str) -> Vec<u8> {
        format!("{}/{path}", self.root).into_bytes()
    }

    /// Returns one of a few names that no other victim uses.
    fn own(&self, name: &str, round: usize) -> Vec<u8> {
        self.at(&format!("{name}{}-{}", self.id, round % 8))
    }
}

const ROWS: &[Row] = &[
    Row {
        tool: "read_file, read_many_files, diff",
        rounds: 2,
        turn: |v, _| {
            let whole = v.roots.read(&v.at("d/s"), &Default::default(), &v.none);
            let page = read_page(&v.roots, &v.at("d/s"), &PageRequest::default(), &v.none);
            seen(whole, |content| assert_eq!(content.bytes, b"fine"))
                + seen(page, |found| assert_eq!(found.page.content, "fine"))
        },
    },
    Row {
        tool: "stat, access_info",
        rounds: 3,
        turn: |v, _| {
            let facts = v.roots.stat(&v.at("d/s"));
            let hash = v.roots.hash(&v.at("d/s"), &v.none);
            let real = v.roots.realpath(&v.at("d/s"));
            seen(facts, |facts| assert_eq!(facts.stat.size, 4))
                + seen(hash, |(_, stat)| assert_eq!(stat.size, 4))
                + seen(real, |real| assert!(real.starts_with(v.root.as_bytes())))
        },
    },
    Row {
        tool: "list_directory",
        rounds: 1,
        turn: |v, _| {
            let options = ListOptions { facts: true, ..ListOptions::default() };
            seen(v.roots.list(&v.at("d"), &options, &v.none), |listing| {
                assert!(listing.entries.iter().all(|entry| entry.name != b"SECRET-name"));
                assert!(listing.entries.iter().all(|entry| entry.stat.is_none_or(is_ours)));
            })
        },
    },
    Row {
        tool: "glob, find_files",
        rounds: 1,
        turn: |v, _| {
            let options = FindOptions::from_json(r#"{"pattern":["**"],"index":"off"}"#).unwrap();
            let found = find(&v.roots, &v.at("d"), &options, &v.none);
            seen(found, |found| assert!(!found.text.contains("SECRET")))
        },
    },
    Row {
        tool: "grep",
        rounds: 2,
        turn: |v, _| {
            let query = r#"{"pattern":"SECRE[T]","index":"off"}"#;
            let options = GrepOptions::from_json(query).unwrap();
            ["d", "d/s"]
                .map(|path| {
                    let found = grep(&v.roots, &v.at(path), &options, &v.none);
                    seen(found, |found| assert!(found.iter().all(|part| !part.text.contains('S'))))
                })
                .iter()
                .sum()
        },
    },
    Row {
        tool: "write_file, new",
        rounds: 1,
        turn: |v, round| through(v.roots.write(&v.own("d/n", round), b"PWN", &quick(), &v.none)),
    },
    Row {
        tool: "write_file, over another and at its end",
        rounds: 2,
        turn: |v, _| {
            through(v.roots.write(&v.at("d/s"), b"fine", &quick(), &v.none))
                + through(v.roots.append(&v.at("d/s"), b"", &quick(), &v.none))
        },
    },
    Row {
        tool: "edit_file, apply_patch",
        rounds: 2,
        turn: |v, _| {
            let Ok(read) = v.roots.read(&v.at("d/s"), &Default::default(), &v.none) else {
                return 0;
            };
            assert_eq!(read.bytes, b"fine");
            let options = WriteOptions { if_version: Some(read.stat.version()), ..quick() };
            1 + through(v.roots.write(&v.at("d/s"), b"fine", &options, &v.none))
        },
    },
    Row {
        tool: "mkdir, write_file with parents",
        rounds: 2,
        turn: |v, round| {
            let path = [v.own("d/m", round), b"/a/f".to_vec()].concat();
            let deep = WriteOptions { create_dirs: true, ..quick() };
            let made = v.roots.mkdir(&v.own("d/k", round), &Default::default());
            let done = through(made) + through(v.roots.write(&path, b"PWN", &deep, &v.none));
            for name in ["d/k", "d/m"] {
                let _ = v.roots.remove_tree(&v.own(name, round), &v.none);
            }
            done
        },
    },
    Row {
        tool: "delete",
        rounds: 2,
        turn: |v, round| {
            let deep = WriteOptions { create_dirs: true, ..quick() };
            let (file, tree) = (v.own("d/n", round), v.own("d/t", round));
            let _ = v.roots.write(&file, b"", &quick(), &v.none);
            let _ = v.roots.write(&[&tree[..], b"/s"].concat(), b"", &deep, &v.none);
            through(v.roots.delete(&file)) + through(v.roots.remove_tree(&tree, &v.none))
        },
    },
    Row {
        tool: "copy",
        rounds: 3,
        turn: |v, round| {
            let [out, copy, tree] = ["had", "d/c", "d/t"].map(|name| v.own(name, round));
            let done = through(v.roots.copy_file(&v.at("d/s"), &out, &replacing(), &v.none))
                + through(v.roots.copy_file(&v.at("f"), &copy, &replacing(), &v.none))
                + through(v.roots.copy_tree(&v.at("a/b"), &tree, &replacing(), &v.none));
            let had = fs::read(std::str::from_utf8(&out).unwrap()).unwrap_or_default();
            assert!(!had.starts_with(b"SECRET"), "content of the outside");
            done
        },
    },
    Row {
        tool: "move",
        rounds: 2,
        turn: |v, round| {
            let (inner, outer) = (v.own("d/n", round), v.own("got", round));
            let _ = v.roots.write(&outer, b"fine", &quick(), &v.none);
            through(v.roots.rename(&outer, &inner, &replacing(), &v.none))
                + through(v.roots.rename(&inner, &outer, &replacing(), &v.none))
        },
    },
    Row {
        tool: "apply_patch, modes and links",
        rounds: 2,
        turn: |v, round| {
            let link = v.own("d/l", round);
            let done =
                through(v.roots.chmod(&v.at("d/s"), 0o640)) + through(v.roots.symlink(b"s", &link));
            let _ = v.roots.delete(&link);
            done
        },
    },
];

#[test]
fn no_tool_leaves_the_roots() {
    let (world, base) = arena();
    let asked = std::env::var("FILEWRIGHT_ATTACK_ROUNDS").ok();
    let rounds = asked.and_then(|rounds| rounds.parse().ok()).unwrap_or(20_000_usize);
    let victims = victims(&world);
    let before = outside(&base);
    let (mut escapes, mut opens) = (0, 0);
    for row in ROWS {
        let started = Instant::now();
        let each = rounds.div_ceil(row.rounds * victims.len());
        let met = attacked(&base, || {
            let (tell, told) = channel();
            for (pool, victim) in &victims {
                let (tell, victim, turn) = (tell.clone(), victim.clone(), row.turn);
                pool.pool.submit(Lane::Scan, move || {
                    // Every one of the turns can meet the exchanged names. More follow then, until one
                    // gets through, because otherwise the row would prove nothing.
                    let (mut round, mut through) = (0, 0);
                    while round < each || (through == 0 && round < 100 * each) {
                        through += turn(&victim, round);
                        round += 1;
                    }
                    let _ = tell.send(through);
                });
            }
            drop(tell);
            told.iter().collect::<Vec<usize>>()
        });
        // A victim that was led outside has panicked.
        assert_eq!(met.result.len(), victims.len(), "{}: a victim was led out", row.tool);
        assert_eq!(outside(&base), before, "{}: the outside was changed", row.tool);
        let done = each * row.rounds * victims.len();
        let through: usize = met.result.iter().sum();
        eprintln!(
            "{}: {done} rounds, {through} through, {} swaps, 0 escapes; control {} of {} ({:?})",
            row.tool,
            met.swaps,
            met.escapes,
            met.opens,
            started.elapsed()
        );
        assert!(met.result.iter().all(|&through| through > 0), "{}: void", row.tool);
        assert!(met.swaps > 100, "{}: void, {} swaps", row.tool, met.swaps);
        escapes += met.escapes;
        opens += met.opens;
        restore(&base);
    }
    assert!(escapes > 0, "void: the control never escaped in {opens} opens");
}

/// The result of a row.
struct Visit<T> {
    result: T,
    swaps: usize,
    /// The number of successful outside reads of the control, and of its attempts.
    escapes: usize,
    opens: usize,
}

/// W with a directory `d` that is exchanged with `evil`, a link to O. In memory if possible,
/// because disk latency would slow down the race.
fn arena() -> (World, String) {
    let memory = tempfile::tempdir_in("/dev/shm");
    let world = memory.map_or_else(|_| World::new(), World::within);
    fs::create_dir(world.at("w/d")).unwrap();
    fs::write(world.at("w/d/s"), "fine").unwrap();
    fs::write(world.at("w/d/kept"), "fine").unwrap();
    fs::write(world.at("o/kept"), "SECRET").unwrap();
    fs::write(world.at("o/SECRET-name"), "").unwrap();
    world.link("../o", "w/evil");
    let base = world.at("").trim_end_matches('/').to_owned();
    (world, base)
}

/// One victim for each resolver, on an unrestricted thread and on a restricted one if the kernel
/// supports it.
fn victims(world: &World) -> Vec<(Confinement, Victim)> {
    let mut all = Vec::new();
    for resolver in [ResolverChoice::Auto, ResolverChoice::Walk] {
        for kernel in [Kernel::Off, Kernel::Prefer] {
            let policy = Policy { resolver, ..world.policy() };
            let roots = Arc::new(Roots::new(&policy).unwrap());
            let confinement = Confinement::of(&roots, kernel).unwrap();
            if kernel == Kernel::Prefer && confinement.enforced != Enforced::Fully {
                eprintln!("the kernel confines nothing here: all rounds are on free threads");
                continue;
            }
            let victim =
                Victim { roots, root: world.at("w"), id: all.len(), none: CancelToken::new() };
            all.push((confinement, victim));
        }
    }
    all
}

/// Runs `f` while the two names are exchanged and the control reads through them.
fn attacked<T>(base: &str, f: impl FnOnce() -> T) -> Visit<T> {
    let stop = AtomicBool::new(false);
    let swaps = AtomicUsize::new(0);
    let (d, evil) = (format!("{base}/w/d"), format!("{base}/w/evil"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &d, CWD, &evil, RenameFlags::EXCHANGE).unwrap();
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        });
        let control = scope.spawn(|| {
            let (root, path) = (format!("{base}/w"), format!("{base}/w/d/kept"));
            let (mut escapes, mut opens) = (0, 0);
            while !stop.load(Ordering::Relaxed) {
                opens += 1;
                let real = fs::canonicalize(&path).is_ok_and(|real| real.starts_with(&root));
                escapes += usize::from(real && fs::read(&path).is_ok_and(|b| b == b"SECRET"));
            }
            (escapes, opens)
        });
        let result = f();
        stop.store(true, Ordering::Relaxed);
        let (escapes, opens) = control.join().unwrap();
        Visit { result, swaps: swaps.load(Ordering::Relaxed), escapes, opens }
    })
}

/// Returns everything that shows a change of O, even one that was reverted.
fn outside(base: &str) -> Vec<String> {
    let top = fs::metadata(format!("{base}/o")).unwrap();
    let mut facts = vec![format!("{} {}", top.ctime(), top.ctime_nsec())];
    for entry in fs::read_dir(format!("{base}/o")).unwrap() {
        let path = entry.unwrap().path();
        let stat = fs::symlink_metadata(&path).unwrap();
        let (times, mode) = ((stat.ctime(), stat.ctime_nsec()), stat.mode());
        facts.push(format!("{path:?} {times:?} {mode:o} {:?}", fs::read(&path).unwrap()));
    }
    facts.sort();
    facts
}

/// Restores the entries that a row removed from the exchanged directory.
fn restore(base: &str) {
    for name in ["d", "evil"] {
        let path = format!("{base}/w/{name}");
        if fs::symlink_metadata(&path).unwrap().is_dir() {
            fs::remove_dir_all(&path).unwrap();
            fs::create_dir(&path).unwrap();
            fs::write(format!("{path}/s"), "fine").unwrap();
            fs::write(format!("{path}/kept"), "fine").unwrap();
        }
    }
}

/// Counts a success and checks its value.
fn seen<T>(result: Result<T>, look: impl FnOnce(&T)) -> usize {
    result.map(|value| look(&value)).is_ok().into()
}

fn through<T>(result: Result<T>) -> usize {
    result.is_ok().into()
}

/// Recognises a directory, or a file of a length that no file in O has.
fn is_ours(stat: filewright_fs::dir::stat::Stat) -> bool {
    stat.size != 6
}

fn quick() -> WriteOptions {
    WriteOptions { durability: Durability::None, ..WriteOptions::default() }
}

fn replacing() -> TransferOptions {
    TransferOptions { overwrite: true, durability: Durability::None, ..TransferOptions::default() }
}
