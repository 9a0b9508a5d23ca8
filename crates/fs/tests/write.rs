//! Tests that writes are atomic, and the rules for permissions, conditions and temporary files.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod common;

use std::fs;
use std::os::unix::fs::MetadataExt;

use common::{World, both, is_root};
use filewright_core::{Code, Error};
use filewright_fs::cancel::CancelToken;
use filewright_fs::dir::stat::Version;
use filewright_fs::root::{Policy, Roots};
use filewright_fs::transfer::TransferOptions;
use filewright_fs::write::{Durability, Preserve, WriteOptions, Written};

fn write(roots: &Roots, path: &str, text: &str, options: &WriteOptions) -> Result<Written, Error> {
    roots.write(path.as_bytes(), text.as_bytes(), options, &CancelToken::new())
}

fn code<T>(result: Result<T, Error>) -> Code {
    result.err().unwrap().code
}

const PLAIN: WriteOptions = WriteOptions {
    if_version: None,
    if_absent: false,
    create_dirs: false,
    mode: None,
    durability: Durability::Atomic,
    preserve: Preserve::Possible,
    aside: None,
};

/// Refuses to lose metadata.
const STRICT: WriteOptions = WriteOptions { preserve: Preserve::Strict, ..PLAIN };

fn if_absent() -> WriteOptions {
    WriteOptions { if_absent: true, ..PLAIN }
}

fn create_dirs() -> WriteOptions {
    WriteOptions { create_dirs: true, ..PLAIN }
}

fn if_version(version: Version) -> WriteOptions {
    WriteOptions { if_version: Some(version), ..PLAIN }
}

#[test]
fn creates_and_replaces() {
    for index in 0..2 {
        let world = World::new();
        let roots = &both(&world.policy())[index];
        let made = write(roots, &world.at("w/new"), "one", &PLAIN).unwrap();
        assert!(made.created && !made.in_place && made.stat.size == 3);
        let ino = fs::metadata(world.at("w/new")).unwrap().ino();
        let replaced = write(roots, &world.at("w/new"), "two!", &PLAIN).unwrap();
        assert!(!replaced.created && replaced.stat.size == 4);
        assert_ne!(fs::metadata(world.at("w/new")).unwrap().ino(), ino);
        assert_eq!(
            replaced.stat.version(),
            roots.stat(world.at("w/new").as_bytes()).unwrap().stat.version()
        );
        for durability in [Durability::None, Durability::Atomic, Durability::Durable] {
            let options = WriteOptions { durability, create_dirs: true, ..PLAIN };
            write(roots, &world.at("w/x/y/z"), "content", &options).unwrap();
            write(roots, &world.at("w/x/y/z"), "", &options).unwrap();
            assert_eq!(world.tree("w/x"), ["y/", "y/z: "]);
            fs::remove_dir_all(world.at("w/x")).unwrap();
        }
    }
}

#[test]
fn refusals_change_nothing() {
    let world = World::new();
    world.fifo("w/p");
    fs::write(world.at("w/ro"), "read-only").unwrap();
    world.chmod("w/ro", 0o444);
    world.link("$/o/s", "w/out");
    world.link("$/o/absent", "w/dangling-out");
    world.link("$/o", "w/outdir");
    world.link("absent", "w/dangling");
    world.link("loop", "w/loop");
    let before = (world.tree("w"), world.tree("o"));
    let long = format!("w/{}", "n".repeat(256));
    let cases: &[(&str, &WriteOptions, Code)] = &[
        ("w/a", &PLAIN, Code::IsDirectory),
        ("w", &PLAIN, Code::IsDirectory),
        ("w/a", &if_absent(), Code::AlreadyExists),
        ("w/f", &if_absent(), Code::AlreadyExists),
        ("w/dangling", &if_absent(), Code::AlreadyExists),
        ("w/f/", &PLAIN, Code::NotDirectory),
        ("w/new/", &PLAIN, Code::NotDirectory),
        ("w/new/", &create_dirs(), Code::NotDirectory),
        ("w/no/x", &PLAIN, Code::NotFound),
        ("w/f/x", &PLAIN, Code::NotDirectory),
        ("w/f/x/y", &create_dirs(), Code::NotDirectory),
        ("w/p", &PLAIN, Code::NotRegularFile),
        ("w/ro", &PLAIN, Code::PermissionDenied),
        ("w/out", &PLAIN, Code::OutsideAllowed),
        ("w/dangling-out", &PLAIN, Code::OutsideAllowed),
        ("w/outdir/new", &PLAIN, Code::OutsideAllowed),
        ("w/outdir/new/deep/f", &create_dirs(), Code::OutsideAllowed),
        ("o/new", &PLAIN, Code::OutsideAllowed),
        ("w/loop", &PLAIN, Code::Loop),
        ("w/loop/x", &create_dirs(), Code::Loop),
        ("w/x/y/../../../o/new", &create_dirs(), Code::OutsideAllowed),
        (&long, &PLAIN, Code::NameTooLong),
    ];
    for roots in both(&world.policy()) {
        for (path, options, expected) in cases {
            let got = code(write(&roots, &world.at(path), "x", options));
            assert_eq!(got, *expected, "{path} {:?}", roots.resolver());
        }
        // Directories created before a refusal are removed again.
        let deep = format!("w/new/deep/{}", "n".repeat(255));
        let name = world.at(&deep);
        let options = WriteOptions {
            if_version: Some(Version::parse("1.2.3.4.5").unwrap()),
            ..create_dirs()
        };
        assert_eq!(code(write(&roots, &name, "x", &options)), Code::Conflict);
        let cancel = CancelToken::new();
        cancel.cancel();
        let cancelled = roots.write(world.at("w/new2/f").as_bytes(), b"x", &create_dirs(), &cancel);
        assert_eq!(code(cancelled), Code::Cancelled);
        assert_eq!((world.tree("w"), world.tree("o")), before, "{:?}", roots.resolver());
    }
}

#[test]
fn links_are_written_through_and_stay_links() {
    let world = World::new();
    world.link("a/f", "w/l");
    world.link("$/w/a/new", "w/dangling");
    for roots in both(&world.policy()) {
        write(&roots, &world.at("w/l"), "through", &PLAIN).unwrap();
        write(&roots, &world.at("w/dangling"), "made", &PLAIN).unwrap();
        assert_eq!((world.text("w/a/f"), world.text("w/a/new")), ("through".into(), "made".into()));
        assert!(fs::symlink_metadata(world.at("w/l")).unwrap().is_symlink());
        fs::remove_file(world.at("w/a/new")).unwrap();
    }
}

#[test]
fn other_hard_links_keep_their_bytes() {
    let world = World::new();
    fs::hard_link(world.at("o/s"), world.at("w/h")).unwrap();
    for roots in both(&world.policy()) {
        let written = write(&roots, &world.at("w/h"), "mine", &PLAIN).unwrap();
        assert_eq!((world.text("w/h"), world.text("o/s")), ("mine".into(), "SECRET".into()));
        fs::remove_file(world.at("w/h")).unwrap();
        fs::hard_link(world.at("o/s"), world.at("w/h")).unwrap();
        assert_eq!(written.other_names, 1);
    }
}

#[test]
fn strict_writes_refuse_files_with_several_hard_links() {
    let world = World::new();
    fs::hard_link(world.at("o/s"), world.at("w/h")).unwrap();
    for roots in both(&world.policy()) {
        let refused = write(&roots, &world.at("w/h"), "mine", &STRICT).unwrap_err();
        assert_eq!(refused.code, Code::UnsupportedOperation);
        assert_eq!(world.text("w/h"), "SECRET");
        write(&roots, &world.at("w/f"), "mine", &STRICT).unwrap();
        write(&roots, &world.at("w/new"), "mine", &STRICT).unwrap();
        assert_eq!((world.text("w/f"), world.text("w/new")), ("mine".into(), "mine".into()));
        fs::remove_file(world.at("w/new")).unwrap();
    }
}

/// Copies and moves over a file, alone and as part of a tree.
#[test]
fn strict_copies_and_moves_refuse_files_with_several_hard_links() {
    let world = World::new();
    fs::hard_link(world.at("o/s"), world.at("w/a/b/h")).unwrap();
    fs::create_dir_all(world.at("w/t/b")).unwrap();
    fs::write(world.at("w/t/b/h"), "theirs").unwrap();
    world.link("f", "w/l");
    let strict = TransferOptions {
        overwrite: true,
        preserve: Preserve::Strict,
        ..TransferOptions::default()
    };
    let none = CancelToken::new();
    for roots in both(&world.policy()) {
        let at = |path: &str| world.at(path).into_bytes();
        let before = (world.tree("w"), world.tree("o"));
        for result in [
            roots.copy_file(&at("w/f"), &at("w/a/b/h"), &strict, &none).map(|_| ()),
            roots.copy_tree(&at("w/l"), &at("w/a/b/h"), &strict, &none).map(|_| ()),
            roots.copy_tree(&at("w/t"), &at("w/a"), &strict, &none).map(|_| ()),
            roots.rename(&at("w/f"), &at("w/a/b/h"), &strict, &none),
            roots.rename(&at("w/l"), &at("w/a/b/h"), &strict, &none),
        ] {
            let error = result.unwrap_err();
            assert_eq!(error.code, Code::UnsupportedOperation);
            assert_eq!(error.details["reason"], "preserve");
        }
        assert_eq!((world.tree("w"), world.tree("o")), before, "{:?}", roots.resolver());
        // A file with several hard links can itself be copied and moved.
        roots.copy_file(&at("w/a/b/h"), &at("w/f"), &strict, &none).unwrap();
        roots.rename(&at("w/a/b/h"), &at("w/a/b/i"), &strict, &none).unwrap();
        roots.rename(&at("w/a/b/i"), &at("w/a/b/h"), &strict, &none).unwrap();
    }
}

#[test]
fn modes_are_kept_set_or_left_to_the_umask() {
    let world = World::new();
    for roots in both(&world.policy()) {
        for mode in [0o600, 0o640, 0o754, 0o222, 0o777] {
            world.chmod("w/f", mode);
            write(&roots, &world.at("w/f"), "x", &PLAIN).unwrap();
            assert_eq!(world.mode("w/f"), mode);
        }
        // New content does not run with old privileges.
        world.chmod("w/f", 0o6755);
        write(&roots, &world.at("w/f"), "x", &PLAIN).unwrap();
        assert_eq!(world.mode("w/f"), 0o755);
        write(&roots, &world.at("w/f"), "x", &WriteOptions { mode: Some(0o604), ..PLAIN }).unwrap();
        assert_eq!(world.mode("w/f"), 0o604);
        write(&roots, &world.at("w/n"), "x", &WriteOptions { mode: Some(0o764), ..PLAIN }).unwrap();
        assert_eq!(world.mode("w/n"), 0o764);
        fs::remove_file(world.at("w/n")).unwrap();
        // The mode is that of a file created by any other program.
        fs::write(world.at("w/like"), "").unwrap();
        write(&roots, &world.at("w/n"), "x", &PLAIN).unwrap();
        assert_eq!(world.mode("w/n"), world.mode("w/like"));
        fs::remove_file(world.at("w/n")).unwrap();
    }
}

#[test]
fn owner_attributes_and_access_lists_are_kept() {
    if !is_root() {
        return;
    }
    let world = World::new();
    // Version 2: the owner rw, user 1000 r, the group r, at most rw, others nothing.
    let entries: [(u16, u16, u32); 5] =
        [(1, 6, u32::MAX), (2, 4, 1000), (4, 4, u32::MAX), (16, 6, u32::MAX), (32, 0, u32::MAX)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        list.extend_from_slice(&tag.to_le_bytes());
        list.extend_from_slice(&rights.to_le_bytes());
        list.extend_from_slice(&id.to_le_bytes());
    }
    let (acl, empty) = ("system.posix_acl_access", rustix::fs::XattrFlags::empty());
    let has_list = rustix::fs::setxattr(world.at("w/f"), acl, &list, empty).is_ok();
    std::os::unix::fs::chown(world.at("w/f"), Some(12345), Some(23456)).unwrap();
    let attribute = rustix::fs::setxattr(
        world.at("w/f"),
        "user.note",
        b"kept",
        rustix::fs::XattrFlags::empty(),
    );
    for roots in both(&world.policy()) {
        write(&roots, &world.at("w/f"), "x", &PLAIN).unwrap();
        let now = fs::metadata(world.at("w/f")).unwrap();
        assert_eq!((now.uid(), now.gid()), (12345, 23456));
        if attribute.is_ok() {
            let mut value = Vec::with_capacity(16);
            let spare = rustix::buffer::spare_capacity(&mut value);
            rustix::fs::getxattr(world.at("w/f"), "user.note", spare).unwrap();
            assert_eq!(value, b"kept");
        }
        if has_list {
            let mut value = Vec::with_capacity(64);
            let spare = rustix::buffer::spare_capacity(&mut value);
            rustix::fs::getxattr(world.at("w/f"), acl, spare).unwrap();
            assert_eq!(value, list);
        }
    }
}

#[test]
fn conditions_are_decided_by_content() {
    let world = World::new();
    for roots in both(&world.policy()) {
        let path = world.at("w/f");
        fs::write(&path, "start").unwrap();
        let version = || roots.stat(path.as_bytes()).unwrap().stat.version();
        let (hash, _) = roots.hash(path.as_bytes(), &CancelToken::new()).unwrap();
        let plain = version();
        let hashed = version().with_hash(&hash);
        // Touching the file, or replacing it by the same bytes, keeps the content.
        fs::File::options()
            .append(true)
            .open(&path)
            .unwrap()
            .set_modified(std::time::UNIX_EPOCH)
            .unwrap();
        assert_eq!(code(write(&roots, &path, "x", &if_version(plain))), Code::Conflict);
        fs::remove_file(&path).unwrap();
        fs::write(&path, "start").unwrap();
        write(&roots, &path, "second", &if_version(hashed.clone())).unwrap();
        // Other bytes of the same length and time are different content.
        fs::write(&path, "other").unwrap();
        fs::File::options()
            .append(true)
            .open(&path)
            .unwrap()
            .set_modified(std::time::UNIX_EPOCH)
            .unwrap();
        assert_eq!(code(write(&roots, &path, "x", &if_version(hashed.clone()))), Code::Conflict);
        fs::remove_file(&path).unwrap();
        assert_eq!(code(write(&roots, &path, "x", &if_version(hashed))), Code::Conflict);
        assert!(!fs::exists(&path).unwrap());
        // The version that a write returns is valid for the next write.
        let mut last = write(&roots, &path, "0", &PLAIN).unwrap().stat.version();
        for n in 1..5 {
            let written = write(&roots, &path, &n.to_string(), &if_version(last.clone())).unwrap();
            assert_eq!(code(write(&roots, &path, "stale", &if_version(last))), Code::Conflict);
            last = written.stat.version();
        }
        assert_eq!(world.text("w/f"), "4");
    }
}

#[test]
fn one_of_many_writers_on_a_version_wins() {
    let world = World::new();
    let path = world.at("w/f");
    for roots in both(&world.policy()) {
        for round in 0..50 {
            let start =
                write(&roots, &path, &format!("start {round}"), &PLAIN).unwrap().stat.version();
            let barrier = std::sync::Barrier::new(6);
            let winners: Vec<String> = std::thread::scope(|scope| {
                let writers: Vec<_> = (0..6)
                    .map(|n| {
                        let (roots, path, barrier) = (&roots, &path, &barrier);
                        let options = if_version(start.clone());
                        scope.spawn(move || {
                            let text = format!("writer {n}");
                            barrier.wait();
                            write(roots, path, &text, &options).is_ok().then_some(text)
                        })
                    })
                    .collect();
                writers.into_iter().filter_map(|writer| writer.join().unwrap()).collect()
            });
            assert_eq!(winners.len(), 1, "round {round}");
            assert_eq!(world.text("w/f"), winners[0]);
        }
    }
    assert!(world.tree("w").iter().all(|name| !name.starts_with(".filewright-")));
}

#[test]
fn appends_by_many_are_all_there() {
    let world = World::new();
    let path = world.at("w/log");
    let roots = Roots::new(&world.policy()).unwrap();
    std::thread::scope(|scope| {
        for n in 0..4 {
            let (roots, path) = (&roots, &path);
            scope.spawn(move || {
                for i in 0..25 {
                    let line = format!("{n}-{i}\n");
                    // Losing sixteen races in a row is reported as a conflict.
                    while roots
                        .append(path.as_bytes(), line.as_bytes(), &PLAIN, &CancelToken::new())
                        .is_err()
                    {}
                }
            });
        }
    });
    assert_eq!(world.text("w/log").lines().count(), 100);
}

#[test]
fn protected_places_cannot_be_written() {
    let world = World::new();
    fs::create_dir_all(world.at("w/.git/hooks")).unwrap();
    fs::write(world.at("w/.git/config"), "c").unwrap();
    world.link(".git", "w/g");
    world.link(".git/hooks/new", "w/l");
    let before = world.tree("w");
    let policy = Policy { protect: true, ..world.policy() };
    for roots in both(&policy) {
        for path in [
            "w/.git/hooks/pre-commit",
            "w/.GIT/HOOKS/x",
            "w/.git/./hooks/x",
            "w/a/../.git/hooks/x",
            "w/g/hooks/x",
            "w/g/hooks/new/deep",
            "w/l",
            "w/.git/config",
            "w/.git/info",
            "w/.gitmodules",
            "w/new/.git/hooks/x",
            "w/a/.git",
        ] {
            let got = code(write(&roots, &world.at(path), "PWN", &create_dirs()));
            assert_eq!(got, Code::ProtectedPath, "{path}");
        }
        assert_eq!(world.tree("w"), before);
        write(&roots, &world.at("w/.github/hooks/x"), "ok", &create_dirs()).unwrap();
        write(&roots, &world.at("w/.git/COMMIT_EDITMSG"), "ok", &PLAIN).unwrap();
        fs::remove_dir_all(world.at("w/.github")).unwrap();
        fs::remove_file(world.at("w/.git/COMMIT_EDITMSG")).unwrap();
    }
}

#[test]
fn a_single_file_as_root_is_the_only_writable_file() {
    let world = World::new();
    let policy = Policy {
        read: Some(vec![world.at("w").into()]),
        write: Some(vec![world.at("o/out").into(), world.at("o/s").into()]),
        ..world.policy()
    };
    for roots in both(&policy) {
        write(&roots, &world.at("o/s"), "mine", &PLAIN).unwrap();
        write(&roots, &world.at("o/out"), "new", &PLAIN).unwrap();
        assert_eq!(world.tree("o"), ["out: new", "s: mine"]);
        assert_eq!(code(write(&roots, &world.at("o/other"), "x", &PLAIN)), Code::OutsideAllowed);
        assert_eq!(code(write(&roots, &world.at("w/f"), "x", &PLAIN)), Code::OutsideAllowed);
        assert_eq!(code(roots.delete(world.at("o/s").as_bytes())), Code::ProtectedPath);
        fs::remove_file(world.at("o/out")).unwrap();
        fs::write(world.at("o/s"), "SECRET").unwrap();
    }
}
