//! Races: another thread exchanges a directory and a link that leads outside as
//! fast as the kernel can, while every operation goes through that name.
//!
//! Each round counts only if a naive control, which resolves the path, checks
//! the prefix and then opens by name, escapes at least once in the same time:
//! otherwise the attack never met the gap and the round proves nothing.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stderr)]

mod common;

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{World, both};
use filewright_core::access::Intent;
use filewright_fs::cancel::Cancel;
use filewright_fs::confine::{Confinement, Enforced, Kernel};
use filewright_fs::list::ListOptions;
use filewright_fs::root::Roots;
use filewright_fs::transfer::TransferOptions;
use filewright_fs::write::WriteOptions;
use rustix::fs::{CWD, RenameFlags, renameat_with};

const ROUNDS: usize = 2000;

/// Rounds of every attack that `nothing_escapes` makes, unless it takes too long:
/// `FILEWRIGHT_ATTACK_ROUNDS` and `FILEWRIGHT_ATTACK_MS` ask for more.
fn bounds() -> (usize, Duration) {
    let asked = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let rounds = asked("FILEWRIGHT_ATTACK_ROUNDS").unwrap_or(20_000);
    (rounds as usize, Duration::from_millis(asked("FILEWRIGHT_ATTACK_MS").unwrap_or(5_000)))
}

/// Runs `f` while the two names are being exchanged.
fn under_attack<T>(a: &str, b: &str, f: impl FnOnce() -> T) -> T {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
        stop.store(true, Ordering::Relaxed);
        result.unwrap()
    })
}

/// What nearly every file tool does.
fn naive(root: &str, path: &str) -> Option<String> {
    let real = fs::canonicalize(path).ok()?;
    real.starts_with(root).then(|| fs::read_to_string(path).ok())?
}

/// W with a directory `d` that is exchanged with `evil`, a link to O.
fn arena() -> World {
    let world = World::new();
    fs::create_dir(world.at("w/d")).unwrap();
    fs::write(world.at("w/d/s"), "fine").unwrap();
    world.link("../o", "w/evil");
    world
}

fn control_escapes(world: &World) -> bool {
    let (root, path) = (world.at("w"), world.at("w/d/s"));
    let escaped = under_attack(&world.at("w/d"), &world.at("w/evil"), || {
        (0..200_000).any(|_| naive(&root, &path).is_some_and(|text| text == "SECRET"))
    });
    if !escaped {
        eprintln!("VOID: the naive control did not escape, so this run proves nothing");
    }
    escaped
}

/// Runs an operation many times under attack; then O must be as it was.
fn attack(world: &World, roots: &Roots, what: &str, mut operation: impl FnMut(&Roots, usize)) {
    let outside = world.tree("o");
    let (rounds, time) = bounds();
    let until = Instant::now() + time;
    let done = under_attack(&world.at("w/d"), &world.at("w/evil"), || {
        let still = |_: &usize| Instant::now() < until;
        (0..rounds).take_while(still).map(|round| operation(roots, round)).count()
    });
    eprintln!("{what} by {}: {done} rounds", roots.resolver().name());
    assert_eq!(world.tree("o"), outside, "{:?}", roots.resolver());
}

#[test]
fn nothing_escapes() {
    let world = arena();
    if !control_escapes(&world) {
        return;
    }
    let none = Cancel::new();
    for roots in both(&world.policy()) {
        let path = |name: &str| world.at(name).into_bytes();
        let mut inside = 0;
        attack(&world, &roots, "read", |roots, _| {
            if let Ok(content) = roots.read(&path("w/d/s"), &Default::default(), &none) {
                assert_eq!(content.bytes, b"fine");
                inside += 1;
            }
            if let Ok(file) = roots.open_file(&path("w/d/s"), Intent::Write) {
                assert_eq!(file.stat.size, 4);
            }
        });
        assert!(inside > 0, "nothing was ever read");
        attack(&world, &roots, "list and stat", |roots, _| {
            if let Ok(listing) =
                roots.list(&path("w/d"), &ListOptions { facts: true, ..Default::default() }, &none)
            {
                assert!(
                    listing
                        .entries
                        .iter()
                        .all(|entry| entry.stat.is_none_or(|stat| stat.size != 6))
                );
            }
            if let Ok(facts) = roots.stat(&path("w/d/s")) {
                assert_eq!(facts.stat.size, 4);
            }
            if let Ok(real) = roots.realpath(&path("w/d/s")) {
                assert_eq!(real, path("w/d/s"));
            }
        });
        let options = WriteOptions::default();
        attack(&world, &roots, "write", |roots, round| {
            let _ = roots.write(&path("w/d/s"), b"fine", &options, &none);
            let _ = roots.write(&path(&format!("w/d/new{}", round % 50)), b"x", &options, &none);
        });
        let deep = WriteOptions { create_dirs: true, ..WriteOptions::default() };
        attack(&world, &roots, "make and change", |roots, round| {
            let _ = roots.mkdir(&path(&format!("w/d/m{}/n", round % 50)), &Default::default());
            let _ = roots.write(&path(&format!("w/d/k{}/n/f", round % 50)), b"x", &deep, &none);
            let _ = roots.append(&path("w/d/s"), b"", &options, &none);
            let _ = roots.chmod(&path("w/d/s"), 0o600);
        });
        let transfer = TransferOptions { overwrite: true, ..Default::default() };
        fs::create_dir_all(world.at("w/tree/sub")).unwrap();
        fs::write(world.at("w/tree/sub/f"), "x").unwrap();
        attack(&world, &roots, "copy and move a tree", |roots, round| {
            let there = path(&format!("w/d/t{}", round % 20));
            let _ = roots.copy_tree(&path("w/tree"), &there, &transfer, &none);
            let _ = roots.copy_file(&path("w/d/s"), &path("w/copied"), &transfer, &none);
            assert_ne!(fs::read_to_string(world.at("w/copied")).unwrap_or_default(), "SECRET");
            let _ = roots.rename(&there, &path("w/back"), &transfer, &none);
            let _ = roots.remove_tree(&path("w/back"), &none);
        });
        attack(&world, &roots, "delete and move", |roots, round| {
            let _ = roots.delete(&path(&format!("w/d/new{}", round % 50)));
            let _ = roots.remove_tree(&path(&format!("w/d/m{}", round % 50)), &none);
            let _ = roots.rename(&path("w/d/s"), &path("w/taken"), &transfer, &none);
            let _ = roots.rename(&path("w/taken"), &path("w/d/s"), &transfer, &none);
        });
        assert_ne!(fs::read_to_string(world.at("w/taken")).unwrap_or_default(), "SECRET");
        // For the next resolver.
        for name in ["w/d", "w/evil"] {
            if fs::symlink_metadata(world.at(name)).unwrap().is_dir() {
                fs::write(world.at(&format!("{name}/s")), "fine").unwrap();
            }
        }
    }
}

#[test]
fn a_directory_that_is_moved_out_is_never_climbed_from() {
    let world = World::new();
    fs::create_dir_all(world.at("w/x/y/z")).unwrap();
    fs::write(world.at("w/x/s"), "fine").unwrap();
    // Climbing by `..` from y/z when y has been moved to O would find O/s.
    fs::create_dir_all(world.at("o/moved")).unwrap();
    world.link("y/z/../../s", "w/x/up");
    let none = Cancel::new();
    for roots in both(&world.policy()) {
        under_attack(&world.at("w/x/y"), &world.at("o/moved"), || {
            for _ in 0..ROUNDS * 2 {
                let read = roots.read(world.at("w/x/up").as_bytes(), &Default::default(), &none);
                if let Ok(content) = read {
                    assert_eq!(content.bytes, b"fine");
                }
            }
        });
    }
}

#[test]
fn a_file_that_becomes_a_pipe_or_a_link_never_blocks_or_leads_out() {
    let world = World::new();
    world.fifo("w/p");
    world.link("$/o/s", "w/l");
    let none = Cancel::new();
    for roots in both(&world.policy()) {
        for other in ["w/p", "w/l"] {
            under_attack(&world.at("w/f"), &world.at(other), || {
                for _ in 0..ROUNDS {
                    let read = roots.read(world.at("w/f").as_bytes(), &Default::default(), &none);
                    if let Ok(content) = read {
                        assert_eq!(content.bytes, b"inside");
                    }
                }
            });
        }
    }
    assert_eq!(world.text("o/s"), "SECRET");
}

/// The net under the resolver by itself: what every naive tool does, on threads
/// that the kernel keeps to the root.
#[test]
fn naive_opens_on_confined_threads_escape_nowhere() {
    let world = arena();
    if !control_escapes(&world) {
        return;
    }
    let roots = Roots::new(&world.policy()).unwrap();
    let confinement = Confinement::of(&roots, Kernel::Prefer).unwrap();
    if confinement.enforced != Enforced::Fully {
        eprintln!("skipped: the kernel confines nothing here");
        return;
    }
    let (tell, told) = std::sync::mpsc::channel();
    let (path, target) = (world.at("w/d/s"), world.at("w/d/new"));
    under_attack(&world.at("w/d"), &world.at("w/evil"), || {
        confinement.pool.submit(move || {
            let (mut inside, mut outside) = (0, 0);
            for _ in 0..ROUNDS * 20 {
                match fs::read_to_string(&path).as_deref() {
                    Ok("fine") => inside += 1,
                    Ok(_) => outside += 1,
                    Err(_) => {}
                }
                let _ = fs::write(&target, "x");
            }
            tell.send((inside, outside)).unwrap();
        });
        let (inside, outside) = told.recv().unwrap();
        assert!(inside > 0);
        assert_eq!(outside, 0);
    });
    assert_eq!(world.tree("o"), ["s: SECRET"]);
}
