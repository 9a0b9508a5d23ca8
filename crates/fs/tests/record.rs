//! Tests of writes with the record of the change: a fault at each step leaves the file as it was, or
//! the change made, and the record says which.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]
#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::os::fd::{AsFd, OwnedFd};

use common::{World, both};
use filewright_core::{Code, Error};
use filewright_fs::cancel::CancelToken;
use filewright_fs::dir::stat::Version;
use filewright_fs::root::Roots;
use filewright_fs::write::record::{ChangeRecord, RecordKey, RecordTexts, create_record_file};
use filewright_fs::write::{RecordedWrite, WriteOptions};
use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};

const LINES: &str = "1-a\n{\"entry\":\"begin\"}\n{\"entry\":\"steps\"}\n\
    {\"entry\":\"commit\",\"version\":\"\\u0000version\",\"fileId\":\"\\u0000fileId\",\"at\":\"\\u0000moment\"}";
const OLD: &[u8] = b"inside";
/// An entry has 80 bytes besides its JSON and content.
const BEFORE_BYTES: u64 = 80 + 17 + 80 + 17 + OLD.len() as u64;

/// Reads the JSON of each entry of a record, and its content.
fn entries(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let length = |from: usize| {
            u32::from_le_bytes(bytes[at + from..at + from + 4].try_into().unwrap()) as usize
        };
        let (json, content) = (at + 48, at + 48 + length(0));
        let end = content + length(4);
        found.push((
            String::from_utf8(bytes[json..content].to_vec()).unwrap(),
            bytes[content..end].to_vec(),
        ));
        at = end + 32;
    }
    found
}

fn write(
    roots: &Roots,
    path: &str,
    file: OwnedFd,
    options: &WriteOptions,
    (durable, cancel): (bool, &CancelToken),
) -> Result<RecordedWrite, Error> {
    let key = RecordKey::new(&[7; 32]).unwrap();
    let texts = RecordTexts::from_lines(path, LINES, OLD).unwrap();
    let record = (ChangeRecord::new(file, key, texts, durable), 0.0);
    roots.write_recorded(path.as_bytes(), b"new", options, record, cancel)
}

/// Returns a file in memory that cannot grow beyond `size` bytes, and another descriptor of it.
fn bounded(size: u64) -> (OwnedFd, OwnedFd) {
    let file = rustix::fs::memfd_create("record", MemfdFlags::ALLOW_SEALING).unwrap();
    rustix::fs::ftruncate(&file, size).unwrap();
    rustix::fs::fcntl_add_seals(&file, SealFlags::GROW).unwrap();
    (file.try_clone().unwrap(), file)
}

fn content_of(file: impl AsFd, size: u64) -> Vec<u8> {
    let mut bytes = vec![0; size as usize];
    assert_eq!(rustix::io::pread(file, &mut bytes, 0).unwrap(), bytes.len());
    bytes
}

fn at_version(world: &World, path: &str) -> WriteOptions {
    let dir = fs::File::open(world.at("w")).unwrap();
    let stat = filewright_fs::dir::stat::Stat::at(&dir, path.as_bytes()).unwrap();
    WriteOptions { if_version: Some(Version::of(&stat)), ..WriteOptions::default() }
}

/// No file besides those of the world: temporary ones are gone.
fn assert_clean(world: &World) {
    assert_eq!(fs::read_dir(world.at("w")).unwrap().count(), 2);
}

#[test]
fn a_record_has_its_three_entries_and_the_facts_of_the_file() {
    for (index, durable) in [(0, false), (1, true)] {
        let world = World::new();
        let roots = &both(&world.policy())[index];
        let record = world.at("record");
        let file = create_record_file(record.as_bytes()).unwrap();
        let options = at_version(&world, "f");
        let made =
            write(roots, &world.at("w/f"), file, &options, (durable, &CancelToken::new())).unwrap();
        assert_eq!(world.text("w/f"), "new");
        let found = entries(&fs::read(record).unwrap());
        assert_eq!(found[0], ("{\"entry\":\"begin\"}".into(), vec![]));
        assert_eq!(found[1], ("{\"entry\":\"steps\"}".into(), OLD.to_vec()));
        let version = made.written.stat.version().to_string();
        let stat = made.written.stat;
        let (dev, ino, at) = (stat.dev, stat.ino, made.moment.unwrap());
        let commit = format!(
            "{{\"entry\":\"commit\",\"version\":\"{version}\",\"fileId\":\"{dev:x}.{ino:x}\",\"at\":{at}}}"
        );
        assert_eq!(found[2], (commit, vec![]));
        assert_eq!(found.len(), 3);
    }
}

#[test]
fn moments_of_a_process_follow_each_other_and_the_last_one_of_the_caller() {
    let world = World::new();
    let roots = &both(&world.policy())[0];
    let mut last = 0.0;
    for round in 0..50 {
        let file = create_record_file(world.at(&format!("record{round}")).as_bytes()).unwrap();
        let options = WriteOptions::default();
        let made =
            write(roots, &world.at("w/f"), file, &options, (false, &CancelToken::new())).unwrap();
        assert!(made.moment.unwrap() > last);
        last = made.moment.unwrap();
    }
    let file = create_record_file(world.at("record").as_bytes()).unwrap();
    let texts = RecordTexts::from_lines("/x", LINES, OLD).unwrap();
    let record = ChangeRecord::new(file, RecordKey::new(&[7; 32]).unwrap(), texts, false);
    let later = last + 86_400_000.0;
    let path = world.at("w/f");
    let refused = roots.write_recorded(
        path.as_bytes(),
        b"new",
        &WriteOptions::default(),
        (record, later),
        &CancelToken::new(),
    );
    assert_eq!(reason(&refused.unwrap_err()), "record");
    let file = create_record_file(world.at("later").as_bytes()).unwrap();
    let texts = RecordTexts::from_lines(&path, LINES, OLD).unwrap();
    let record = ChangeRecord::new(file, RecordKey::new(&[7; 32]).unwrap(), texts, false);
    let made = roots.write_recorded(
        path.as_bytes(),
        b"new",
        &WriteOptions::default(),
        (record, later),
        &CancelToken::new(),
    );
    assert!(made.unwrap().moment.unwrap() > later);
}

fn reason(error: &Error) -> String {
    error
        .details
        .get("reason")
        .map(|reason| reason.as_str().unwrap().to_owned())
        .unwrap_or_default()
}

#[test]
fn a_record_that_cannot_be_created_is_no_change() {
    let world = World::new();
    fs::write(world.at("record"), "").unwrap();
    for path in ["record", "missing/record"] {
        let error = create_record_file(world.at(path).as_bytes()).unwrap_err();
        assert_eq!(reason(&error), "record", "{path}");
    }
}

#[test]
fn a_beginning_that_is_not_stored_leaves_the_file_as_it_was() {
    for size in [0, 1, 47, 100, BEFORE_BYTES - 1] {
        let world = World::new();
        let roots = &both(&world.policy())[0];
        let (file, _kept) = bounded(size);
        let options = at_version(&world, "f");
        let error = write(roots, &world.at("w/f"), file, &options, (false, &CancelToken::new()))
            .unwrap_err();
        assert_eq!(reason(&error), "record", "{size}");
        assert_eq!(world.text("w/f"), "inside");
        assert_clean(&world);
    }
}

#[test]
fn an_end_that_is_not_stored_is_told_after_the_change() {
    for size in [BEFORE_BYTES, BEFORE_BYTES + 1, BEFORE_BYTES + 60] {
        let world = World::new();
        let roots = &both(&world.policy())[0];
        let (file, kept) = bounded(size);
        let options = at_version(&world, "f");
        let made =
            write(roots, &world.at("w/f"), file, &options, (false, &CancelToken::new())).unwrap();
        assert_eq!(made.moment, None, "{size}");
        assert_eq!(world.text("w/f"), "new");
        assert_eq!(entries(&content_of(kept, BEFORE_BYTES)).len(), 2);
        assert_clean(&world);
    }
}

#[test]
fn a_full_disk_of_the_journal_is_a_reason_and_no_change() {
    let world = World::new();
    let roots = &both(&world.policy())[0];
    let full = rustix::fs::open("/dev/full", OFlags::WRONLY, Mode::empty()).unwrap();
    let options = WriteOptions::default();
    let error =
        write(roots, &world.at("w/f"), full, &options, (false, &CancelToken::new())).unwrap_err();
    assert_eq!((error.code, &reason(&error)[..]), (Code::NoSpace, "record"));
    assert_eq!(world.text("w/f"), "inside");
}

#[cfg(feature = "testing")] // counts the checks of a token
#[test]
fn a_cancelled_call_changes_nothing_and_its_record_has_no_end() {
    let world = World::new();
    let roots = &both(&world.policy())[0];
    for looks in 0.. {
        let record = world.at(&format!("record{looks}"));
        let file = create_record_file(record.as_bytes()).unwrap();
        let options = at_version(&world, "f");
        let made =
            write(roots, &world.at("w/f"), file, &options, (false, &CancelToken::at_look(looks)));
        let found = entries(&fs::read(record).unwrap());
        assert_clean(&world);
        let Err(error) = made else {
            assert_eq!((found.len(), world.text("w/f")), (3, "new".into()));
            assert!(looks >= 2, "{looks}");
            return;
        };
        assert_eq!(error.code, Code::Cancelled);
        assert_eq!(world.text("w/f"), "inside");
        assert!(found.len() != 1 && found.len() < 3, "{looks}");
    }
}

#[test]
fn a_refused_change_leaves_no_entry() {
    let world = World::new();
    let roots = &both(&world.policy())[0];
    let stale = at_version(&world, "f");
    fs::write(world.at("w/f"), "another").unwrap();
    let absent = WriteOptions { if_absent: true, ..WriteOptions::default() };
    world.link("$/w/a", "w/link");
    let cases = [
        ("w/f", &stale, Code::Conflict, ""),
        ("w/f", &absent, Code::AlreadyExists, ""),
        ("w/a", &WriteOptions::default(), Code::IsDirectory, ""),
        ("w/no/f", &absent, Code::NotFound, ""),
        ("o/s", &WriteOptions::default(), Code::OutsideAllowed, ""),
        ("w/link/f", &WriteOptions::default(), Code::Conflict, "record"),
        ("w/link/new", &absent, Code::Conflict, "record"),
    ];
    for (path, options, code, why) in cases {
        let record = world.at("record");
        let file = create_record_file(record.as_bytes()).unwrap();
        let error =
            write(roots, &world.at(path), file, options, (false, &CancelToken::new())).unwrap_err();
        assert_eq!((error.code, &reason(&error)[..]), (code, why), "{path}");
        assert_eq!(fs::read(&record).unwrap(), b"", "{path}");
        fs::remove_file(record).unwrap();
    }
    assert_eq!(world.text("w/f"), "another");
    assert_eq!(world.text("w/a/f"), "inside a");
    assert!(!fs::exists(world.at("w/a/new")).unwrap());
}

#[test]
fn large_old_content_is_recorded_whole() {
    let world = World::new();
    let roots = &both(&world.policy())[0];
    let old: Vec<u8> = (0..300_000u32).map(|at| (at % 251) as u8).collect();
    fs::write(world.at("w/f"), &old).unwrap();
    let (record, path) = (world.at("record"), world.at("w/f"));
    let file = create_record_file(record.as_bytes()).unwrap();
    let texts = RecordTexts::from_lines(&path, LINES, &old).unwrap();
    let open = ChangeRecord::new(file, RecordKey::new(&[7; 32]).unwrap(), texts, false);
    let (options, cancel) = (at_version(&world, "f"), CancelToken::new());
    let made = roots.write_recorded(path.as_bytes(), b"new", &options, (open, 0.0), &cancel);
    assert!(made.unwrap().moment.is_some());
    assert_eq!(entries(&fs::read(record).unwrap())[1].1, old);
}
