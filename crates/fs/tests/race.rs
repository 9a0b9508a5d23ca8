//! Races on single names: climbing from a directory that is moved out, a file that becomes a pipe,
//! and the kernel restriction alone. `race_tools.rs` tests every tool against a directory that is
//! exchanged.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stderr)]

mod common;

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{World, both};
use filewright_fs::cancel::CancelToken;
use filewright_fs::confine::{Confinement, Enforced, Lane};
use filewright_fs::root::Kernel;
use filewright_fs::root::Roots;
use rustix::fs::{CWD, RenameFlags, renameat_with};

/// For each resolver.
const ROUNDS: usize = 10_000;

/// Runs `f` while the two names are exchanged continuously.
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

/// The check-then-open that most file tools do.
fn naive(root: &str, path: &str) -> Option<String> {
    let real = fs::canonicalize(path).ok()?;
    real.starts_with(root).then(|| fs::read_to_string(path).ok())?
}

/// Reads while the names are exchanged, `rounds` times and until one read succeeded, because
/// refusals alone prove nothing.
fn only_reads(roots: &Roots, path: &str, content: &[u8], rounds: usize) {
    let none = CancelToken::new();
    let mut through = 0;
    for round in 0..rounds * 100 {
        if round >= rounds && through > 0 {
            return;
        }
        if let Ok(found) = roots.read(path.as_bytes(), &Default::default(), &none) {
            assert_eq!(found.bytes, content);
            through += 1;
        }
    }
    panic!("no read of {path} got through");
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
    under_attack(&world.at("w/d"), &world.at("w/evil"), || {
        (0..2_000_000).any(|_| naive(&root, &path).is_some_and(|text| text == "SECRET"))
    })
}

#[test]
fn a_directory_that_is_moved_out_is_never_climbed_from() {
    // A separate tree for each resolver, because an attack leaves the names in either order.
    for resolver in 0..2 {
        let world = World::new();
        fs::create_dir_all(world.at("w/x/y/z")).unwrap();
        fs::write(world.at("w/x/s"), "fine").unwrap();
        // Climbing by `..` from y/z after y was moved to O would find O/s.
        fs::create_dir_all(world.at("o/moved")).unwrap();
        world.link("y/z/../../s", "w/x/up");
        let roots = &both(&world.policy())[resolver];
        under_attack(&world.at("w/x/y"), &world.at("o/moved"), || {
            only_reads(roots, &world.at("w/x/up"), b"fine", ROUNDS);
        });
    }
}

#[test]
fn a_file_that_becomes_a_pipe_or_a_link_never_blocks_or_leads_out() {
    for (resolver, other) in [(0, "w/p"), (0, "w/l"), (1, "w/p"), (1, "w/l")] {
        let world = World::new();
        world.fifo("w/p");
        world.link("$/o/s", "w/l");
        let roots = &both(&world.policy())[resolver];
        under_attack(&world.at("w/f"), &world.at(other), || {
            only_reads(roots, &world.at("w/f"), b"inside", ROUNDS / 2);
        });
        assert_eq!(world.text("o/s"), "SECRET");
    }
}

/// Tests the kernel restriction alone: the check-then-open of naive tools, on threads that the
/// kernel confines to the root.
#[test]
fn naive_opens_on_confined_threads_escape_nowhere() {
    let world = arena();
    assert!(control_escapes(&world), "void: the naive control never escaped");
    let roots = Roots::new(&world.policy()).unwrap();
    let confinement = Confinement::of(&roots, Kernel::Prefer).unwrap();
    if confinement.enforced != Enforced::Fully {
        eprintln!("skipped: the kernel confines nothing here");
        return;
    }
    let (tell, told) = std::sync::mpsc::channel();
    let (path, target) = (world.at("w/d/s"), world.at("w/d/new"));
    under_attack(&world.at("w/d"), &world.at("w/evil"), || {
        confinement.pool.submit(Lane::Quick, move || {
            let (mut inside, mut outside) = (0, 0);
            for _ in 0..ROUNDS * 4 {
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
