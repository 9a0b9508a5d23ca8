//! Tests full disks, read-only disks, other disks, and directories of other users. They need root
//! for the setup; without it they test nothing.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod common;

use std::ffi::CStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use common::{World, both, is_root};
use filewright_core::{Code, Error};
use filewright_fs::cancel::CancelToken;
use filewright_fs::root::{Policy, Roots};
use filewright_fs::transfer::TransferOptions;
use filewright_fs::write::{Preserve, WriteOptions};
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_remount, unmount};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

/// A small disk, unmounted when dropped.
struct Disk(String);

impl Disk {
    fn new(path: String, options: &CStr) -> Option<Self> {
        fs::create_dir_all(&path).unwrap();
        mount("tmpfs", &path, "tmpfs", MountFlags::empty(), options).ok()?;
        Some(Self(path))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}

fn code<T>(result: Result<T, Error>) -> Code {
    result.err().map_or(Code::Internal, |error| error.code)
}

fn write(roots: &Roots, path: &str, bytes: &[u8]) -> Result<(), Error> {
    let options = WriteOptions { create_dirs: true, ..WriteOptions::default() };
    roots.write(path.as_bytes(), bytes, &options, &CancelToken::new()).map(|_| ())
}

/// Runs as a user without any rights, on a separate thread: on Linux each thread has its own user
/// id.
fn as_nobody<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    use rustix::fs::{Gid, Uid};
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let (uid, gid) = (Uid::from_raw(65534), Gid::from_raw(65534));
            set_thread_groups(&[]).unwrap();
            set_thread_res_gid(gid, gid, gid).unwrap();
            set_thread_res_uid(uid, uid, uid).unwrap();
            f()
        });
        thread.join().unwrap()
    })
}

#[test]
fn a_full_disk_leaves_the_old_content_and_no_litter() {
    let world = World::new();
    if !is_root() {
        return;
    }
    let Some(_disk) = Disk::new(world.at("w/disk"), c"size=64k") else { return };
    fs::write(world.at("w/disk/old"), "old").unwrap();
    fs::create_dir(world.at("w/big")).unwrap();
    for n in 0..5 {
        fs::write(world.at(&format!("w/big/{n}")), vec![b'x'; 20_000]).unwrap();
    }
    let before = world.tree("w/disk");
    for roots in both(&world.policy()) {
        let big = vec![b'x'; 200_000];
        assert_eq!(code(write(&roots, &world.at("w/disk/old"), &big)), Code::NoSpace);
        assert_eq!(code(write(&roots, &world.at("w/disk/n/e/w"), &big)), Code::NoSpace);
        let (path, none) = (world.at("w/disk/old"), CancelToken::new());
        let append = roots.append(path.as_bytes(), &big, &WriteOptions::default(), &none);
        assert_eq!(code(append), Code::NoSpace);
        for (from, to) in [("w/big", "w/disk/n/copy"), ("w/big", "w/disk")] {
            let options =
                TransferOptions { overwrite: true, create_dirs: true, ..Default::default() };
            let (from, to) = (world.at(from), world.at(to));
            let copied = roots.copy_tree(from.as_bytes(), to.as_bytes(), &options, &none);
            assert_eq!(code(copied), Code::NoSpace);
        }
        let (from, to) = (world.at("w/big"), world.at("w/disk/moved"));
        let moved =
            roots.rename(from.as_bytes(), to.as_bytes(), &TransferOptions::default(), &none);
        assert_eq!(code(moved), Code::NoSpace);
        assert_eq!(fs::read_dir(world.at("w/big")).unwrap().count(), 5);
        assert_eq!(world.tree("w/disk"), before, "{:?}", roots.resolver());
    }
}

#[test]
fn a_large_file_is_replaced_again_and_again_where_there_is_room_for_two() {
    let world = World::new();
    if !is_root() {
        return;
    }
    // Files of 9 MB each: on the larger disk a third one may still be waiting for its close.
    for (disk, options) in [("w/roomy", c"size=40m"), ("w/tight", c"size=19m")] {
        let Some(_disk) = Disk::new(world.at(disk), options) else { return };
        let path = format!("{disk}/large");
        for roots in both(&world.policy()) {
            for letter in b'a'..b'e' {
                let bytes = vec![letter; 9 << 20];
                write(&roots, &world.at(&path), &bytes).unwrap();
                assert!(fs::read(world.at(&path)).unwrap() == bytes, "{disk} {letter}");
                assert_eq!(fs::read_dir(world.at(disk)).unwrap().count(), 1);
            }
        }
    }
}

#[test]
fn a_read_only_disk_is_reported() {
    let world = World::new();
    if !is_root() {
        return;
    }
    let Some(_disk) = Disk::new(world.at("w/disk"), c"size=64k") else { return };
    fs::write(world.at("w/disk/old"), "old").unwrap();
    if mount_remount(world.at("w/disk"), MountFlags::RDONLY, c"").is_err() {
        return;
    }
    for roots in both(&world.policy()) {
        let path = |name: &str| world.at(name).into_bytes();
        let error = write(&roots, &world.at("w/disk/old"), b"x").unwrap_err();
        assert_eq!(error.code, Code::ReadOnly);
        assert!(error.message.contains("read-only"));
        assert_eq!(code(write(&roots, &world.at("w/disk/new"), b"x")), Code::ReadOnly);
        assert_eq!(code(roots.mkdir(&path("w/disk/d"), &Default::default())), Code::ReadOnly);
        assert_eq!(code(roots.delete(&path("w/disk/old"))), Code::ReadOnly);
        assert_eq!(code(roots.chmod(&path("w/disk/old"), 0o600)), Code::ReadOnly);
        assert_eq!(world.text("w/disk/old"), "old");
    }
}

#[test]
fn moving_to_another_disk_keeps_what_it_can() {
    let world = World::new();
    if !is_root() {
        return;
    }
    let Some(_disk) = Disk::new(world.at("w/disk"), c"size=1m") else { return };
    let none = CancelToken::new();
    for roots in both(&world.policy()) {
        let rename = |from: &str, to: &str| {
            let options = TransferOptions::default();
            roots.rename(world.at(from).as_bytes(), world.at(to).as_bytes(), &options, &none)
        };
        world.chmod("w/a/f", 0o750);
        let times = fs::metadata(world.at("w/a/f")).unwrap();
        rename("w/a", "w/disk/a").unwrap();
        assert_eq!(world.tree("w/disk"), ["a/", "a/b/", "a/b/f: inside b", "a/f: inside a"]);
        assert!(!fs::exists(world.at("w/a")).unwrap());
        assert_eq!(world.mode("w/disk/a/f"), 0o750);
        let now = fs::metadata(world.at("w/disk/a/f")).unwrap();
        assert_eq!((now.mtime(), now.mtime_nsec()), (times.mtime(), times.mtime_nsec()));
        rename("w/f", "w/disk/f").unwrap();
        assert_eq!(
            (world.text("w/disk/f"), fs::exists(world.at("w/f")).unwrap()),
            ("inside".into(), false)
        );
        // A file that cannot be copied is not deleted.
        world.fifo("w/disk/a/p");
        assert_eq!(code(rename("w/disk/a", "w/a")), Code::NotRegularFile);
        fs::remove_file(world.at("w/disk/a/p")).unwrap();
        rename("w/disk/a", "w/a").unwrap();
        rename("w/disk/f", "w/f").unwrap();
        assert_eq!(world.tree("w/disk").len(), 0);
    }
}

/// A rename within a disk preserves all metadata. A move to another disk copies it, or is refused
/// if nothing may be lost.
#[test]
fn moving_to_another_disk_keeps_owner_and_attributes_or_is_refused() {
    let world = World::new();
    if !is_root() {
        return;
    }
    let Some(_disk) = Disk::new(world.at("w/disk"), c"size=1m") else { return };
    std::os::unix::fs::chown(world.at("w/a/f"), Some(12345), Some(23456)).unwrap();
    std::os::unix::fs::chown(world.at("w/a/b"), Some(12345), Some(23456)).unwrap();
    let note = |path: &str, value: &[u8]| {
        let empty = rustix::fs::XattrFlags::empty();
        rustix::fs::setxattr(world.at(path), "user.note", value, empty).is_ok()
    };
    let noted = |path: &str| {
        let mut value = Vec::with_capacity(16);
        let spare = rustix::buffer::spare_capacity(&mut value);
        rustix::fs::getxattr(world.at(path), "user.note", spare).map(|_| value)
    };
    fs::write(world.at("w/disk/probe"), "").unwrap();
    let both_note = note("w/a/f", b"kept") && note("w/a/b", b"kept") && note("w/disk/probe", b"x");
    let strict = TransferOptions { preserve: Preserve::Strict, ..TransferOptions::default() };
    let none = CancelToken::new();
    for roots in both(&world.policy()) {
        let rename = |from: &str, to: &str| {
            roots.rename(world.at(from).as_bytes(), world.at(to).as_bytes(), &strict, &none)
        };
        for (from, to) in [("w/a", "w/disk/a"), ("w/disk/a", "w/a")] {
            rename(from, to).unwrap();
            for path in ["f", "b"] {
                let facts = fs::metadata(world.at(&format!("{to}/{path}"))).unwrap();
                assert_eq!((facts.uid(), facts.gid()), (12345, 23456), "{to}/{path}");
                if both_note {
                    assert_eq!(noted(&format!("{to}/{path}")).unwrap(), b"kept", "{to}/{path}");
                }
            }
        }
        rename("w/a/f", "w/disk/f").unwrap();
        assert_eq!(fs::metadata(world.at("w/disk/f")).unwrap().uid(), 12345);
        rename("w/disk/f", "w/a/f").unwrap();

        fs::hard_link(world.at("w/a/f"), world.at("w/a/g")).unwrap();
        let before = world.tree("w");
        for from in ["w/a", "w/a/f"] {
            assert_eq!(code(rename(from, "w/disk/new")), Code::UnsupportedOperation);
            assert_eq!(world.tree("w"), before, "{from}");
        }
        fs::remove_file(world.at("w/a/g")).unwrap();
        // Only root may change owners.
        fs::set_permissions(world.dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
        for path in ["w", "w/a", "w/disk"] {
            world.chmod(path, 0o777);
        }
        let before = world.tree("w");
        as_nobody(|| {
            assert_eq!(code(rename("w/a/f", "w/disk/f")), Code::UnsupportedOperation);
        });
        assert_eq!(world.tree("w"), before);
    }
}

#[test]
fn a_file_is_written_in_place_if_a_rename_is_not_allowed() {
    let world = World::new();
    if !is_root() {
        return;
    }
    fs::set_permissions(world.dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let nobody =
        |path: &str| std::os::unix::fs::chown(world.at(path), Some(65534), Some(65534)).unwrap();
    fs::create_dir(world.at("w/closed")).unwrap();
    fs::write(world.at("w/closed/mine"), "old and rather long").unwrap();
    fs::write(world.at("w/closed/theirs"), "theirs").unwrap();
    fs::create_dir(world.at("w/open")).unwrap();
    fs::write(world.at("w/open/shared"), "shared").unwrap();
    world.chmod("w/open/shared", 0o666);
    fs::write(world.at("w/open/theirs"), "theirs").unwrap();
    nobody("w/closed/mine");
    nobody("w/open");
    for roots in both(&world.policy()) {
        let ino = |path: &str| fs::metadata(world.at(path)).unwrap().ino();
        let inodes = (ino("w/closed/mine"), ino("w/open/shared"));
        as_nobody(|| {
            // The directory accepts no new names.
            write(&roots, &world.at("w/closed/mine"), b"new").unwrap();
            assert_eq!(code(write(&roots, &world.at("w/closed/n"), b"x")), Code::PermissionDenied);
            // A replacement could not preserve the owner.
            write(&roots, &world.at("w/open/shared"), b"changed").unwrap();
            // A rename would not check the permission of the file; we do.
            assert_eq!(
                code(write(&roots, &world.at("w/open/theirs"), b"x")),
                Code::PermissionDenied
            );
            assert_eq!(
                code(write(&roots, &world.at("w/closed/theirs"), b"x")),
                Code::PermissionDenied
            );
        });
        assert_eq!(inodes, (ino("w/closed/mine"), ino("w/open/shared")));
        assert_eq!(world.tree("w/closed"), ["mine: new", "theirs: theirs"]);
        assert_eq!(world.tree("w/open"), ["shared: changed", "theirs: theirs"]);
        assert_eq!(fs::metadata(world.at("w/open/shared")).unwrap().uid(), 0);
    }
}

#[test]
fn a_mounted_file_is_written_in_place_and_whole_on_a_full_disk() {
    let world = World::new();
    if !is_root() {
        return;
    }
    let Some(_disk) = Disk::new(world.at("disk"), c"size=64k") else { return };
    fs::write(world.at("disk/file"), "old content").unwrap();
    if mount_bind(world.at("disk/file"), world.at("w/f")).is_err() {
        return;
    }
    let _mounted = Disk(world.at("w/f"));
    for roots in both(&world.policy()) {
        write(&roots, &world.at("w/f"), b"new").unwrap();
        assert_eq!(world.text("disk/file"), "new");
        assert_eq!(code(write(&roots, &world.at("w/f"), &[b'x'; 200_000])), Code::NoSpace);
        assert_eq!(world.text("disk/file"), "new");
        let long = vec![b'y'; 200_000];
        let append = roots.append(
            world.at("w/f").as_bytes(),
            &long,
            &Default::default(),
            &CancelToken::new(),
        );
        assert_eq!(code(append), Code::NoSpace);
        assert_eq!(world.text("disk/file"), "new");
        write(&roots, &world.at("w/f"), b"old content").unwrap();
    }
}

#[test]
fn root_obeys_write_protection_too() {
    let world = World::new();
    let roots = Roots::new(&Policy::unconfined()).unwrap();
    world.chmod("w/f", 0o444);
    assert_eq!(code(write(&roots, &world.at("w/f"), b"x")), Code::PermissionDenied);
    assert_eq!(world.text("w/f"), "inside");
}
