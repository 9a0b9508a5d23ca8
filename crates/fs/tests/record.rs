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
use filewright_fs::commit::{Change, Commit, End, ListedChange};
use filewright_fs::dir::stat::Version;
use filewright_fs::root::Roots;
use filewright_fs::write::WriteOptions;
use filewright_fs::write::aside::Conditions;
use filewright_fs::write::record::{ChangeRecord, RecordKey, RecordTexts, create_record_file};
use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};

const LINES: &str = "1-a\n{\"entry\":\"begin\"}\n{\"entry\":\"steps\"}\n\
    {\"entry\":\"commit\",\"version\":\"\\u0000version:0\",\"fileId\":\"\\u0000fileId:0\",\"at\":\"\\u0000moment\"}";
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

/// A put that was made.
#[derive(Debug)]
struct Made {
    stat: filewright_fs::dir::stat::Stat,
    /// `None` if the record has no end.
    moment: Option<f64>,
}

fn write(
    roots: &Roots,
    path: &str,
    file: OwnedFd,
    options: &WriteOptions,
    (durable, cancel): (bool, &CancelToken),
) -> Result<Made, Error> {
    write_over(roots, (path, OLD), file, options, (durable, 0.0, cancel))
}

/// Writes a file with its record, which is to replace `was`.
fn write_over(
    roots: &Roots,
    (path, was): (&str, &[u8]),
    file: OwnedFd,
    options: &WriteOptions,
    (durable, last, cancel): (bool, f64, &CancelToken),
) -> Result<Made, Error> {
    let key = RecordKey::new(&[7; 32]).unwrap();
    let put = Change::Put { bytes: b"new", was, options: options.clone() };
    let list = [ListedChange { path: path.to_owned(), change: put }];
    let texts = RecordTexts::from_lines(LINES, 1).unwrap();
    let record = ChangeRecord::new(file, key, texts, durable);
    let Commit { steps, end } = roots.commit(&list, record, last, cancel)?;
    let stat = steps.first().and_then(|step| step.written).map(|written| written.stat);
    match end {
        End::Made(moment) => Ok(Made { stat: stat.unwrap(), moment: Some(moment) }),
        End::Failed(1, _) => Ok(Made { stat: stat.unwrap(), moment: None }),
        End::Failed(_, error) => Err(error),
        End::Missing(_) => Err(Error::new(Code::NotFound, "")),
    }
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
        let version = made.stat.version().to_string();
        let stat = made.stat;
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
    let later = last + 86_400_000.0;
    let (path, options) = (world.at("w/f"), WriteOptions::default());
    let cancel = CancelToken::new();
    let made = write_over(roots, (&path, OLD), file, &options, (false, later, &cancel));
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
        assert_eq!(entries(&content_of(&kept, BEFORE_BYTES)).len(), 2);
        assert_eq!(rustix::fs::fstat(&kept).unwrap().st_size as u64, BEFORE_BYTES, "{size}");
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
    let (options, cancel) = (at_version(&world, "f"), CancelToken::new());
    let made = write_over(roots, (&path, &old), file, &options, (false, 0.0, &cancel));
    assert!(made.unwrap().moment.is_some());
    assert_eq!(entries(&fs::read(record).unwrap())[1].1, old);
}

/// The lines of a record of a made directory, a put in it, a put of `f` and the removal of `gone`.
const LIST_LINES: &str = "1-a\n{\"entry\":\"begin\"}\n{\"step\":0,\"parent\":\"\\u0000parent:0\"}\n\
    {\"step\":1,\"given\":\"\\u0000given:0\"}\n{\"step\":2,\"given\":\"\\u0000given:1\"}\n\
    {\"step\":3,\"before\":\"\\u0000before:3\"}\n\
    {\"given\":\"\\u0000given:3\",\"dir\":\"\\u0000fileId:0\",\"at\":\"\\u0000moment\"}";

fn commit_list(world: &World, file: OwnedFd, cancel: &CancelToken) -> Result<Commit, Error> {
    let roots = &both(&world.policy())[0];
    let (versions, absent) = (
        ["f", "gone"].map(|name| at_version(world, name)),
        WriteOptions { if_absent: true, ..WriteOptions::default() },
    );
    let [put, removal] = versions;
    let change = |path: &str, change| ListedChange { path: world.at(path), change };
    let remove = Conditions { if_version: removal.if_version, ..Conditions::default() };
    let list = [
        change("w/new", Change::MakeDir { parents: false }),
        change("w/new/n", Change::Put { bytes: b"made", was: b"", options: absent }),
        change("w/f", Change::Put { bytes: b"new", was: OLD, options: put }),
        change("w/gone", Change::Remove(remove)),
    ];
    let texts = RecordTexts::from_lines(LIST_LINES, 4).unwrap();
    let record = ChangeRecord::new(file, RecordKey::new(&[7; 32]).unwrap(), texts, false);
    roots.commit(&list, record, 0.0, cancel)
}

/// Returns how many changes of the list are on the disk, which are the first ones.
fn made_of_list(world: &World) -> usize {
    let made = [
        fs::exists(world.at("w/new")).unwrap(),
        fs::exists(world.at("w/new/n")).unwrap(),
        world.text("w/f") == "new",
        !fs::exists(world.at("w/gone")).unwrap(),
    ];
    let count = made.iter().filter(|&&is_made| is_made).count();
    assert!(made[..count].iter().all(|&is_made| is_made), "{made:?}");
    count
}

#[test]
fn a_list_has_an_entry_for_each_change_with_the_facts_of_the_one_before() {
    let world = World::new();
    fs::write(world.at("w/gone"), "removed").unwrap();
    let (root, gone) = (at_version(&world, "."), at_version(&world, "gone"));
    let record = world.at("record");
    let file = create_record_file(record.as_bytes()).unwrap();
    let Commit { steps, end } = commit_list(&world, file, &CancelToken::new()).unwrap();
    let End::Made(moment) = end else { panic!("{end:?}") };
    assert_eq!(made_of_list(&world), 4);
    let id = |version: &str| version.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
    let given = |at: usize| {
        let version = steps[at].version.clone().unwrap();
        format!("{{\"version\":\"{version}\",\"fileId\":\"{}\"}}", id(&version))
    };
    let found = entries(&fs::read(record).unwrap());
    let root = id(&root.if_version.unwrap().to_string());
    assert_eq!(found[1].0, format!("{{\"step\":0,\"parent\":\"{root}\"}}"));
    assert_eq!(found[2].0, format!("{{\"step\":1,\"given\":{}}}", given(0)));
    assert_eq!(found[3], (format!("{{\"step\":2,\"given\":{}}}", given(1)), OLD.to_vec()));
    let gone = gone.if_version.unwrap().to_string();
    assert!(found[4].0.contains(&format!("\"version\":\"{gone}\",\"bytes\":[0,7]")), "{found:?}");
    assert_eq!(found[4].1, b"removed");
    let dir = id(&steps[0].version.clone().unwrap());
    assert_eq!(found[5].0, format!("{{\"given\":{{}},\"dir\":\"{dir}\",\"at\":{moment}}}"));
    assert_eq!((found.len(), steps[3].version.clone()), (6, None));
}

#[cfg(feature = "testing")] // counts the checks of a token
#[test]
fn a_cancelled_list_tells_which_changes_are_made() {
    let mut seen = [false; 5];
    for looks in 0.. {
        let world = World::new();
        fs::write(world.at("w/gone"), "removed").unwrap();
        let record = world.at("record");
        let file = create_record_file(record.as_bytes()).unwrap();
        let made = commit_list(&world, file, &CancelToken::at_look(looks));
        let count = made_of_list(&world);
        seen[count] = true;
        let entries = entries(&fs::read(record).unwrap()).len();
        let begun = made.as_ref().map_or(0, |made| made.steps.len());
        match made.map(|made| made.end) {
            Ok(End::Made(_)) => {
                assert_eq!((count, entries), (4, 6));
                // A list is cancelled before each of its changes.
                assert_eq!(seen, [true; 5]);
                return;
            }
            Ok(End::Failed(at, error)) => {
                assert_eq!(error.code, Code::Cancelled, "{looks}");
                // A change that has no entry was not begun.
                assert_eq!(begun, entries.saturating_sub(1), "{looks}");
                // A list may be cancelled at any change while it is compared, before it has a record.
                let is_compared = entries == 0 && count == 0;
                assert!(is_compared || at == count, "{looks}");
                // The entry of a change is there before the change is made.
                assert!(is_compared || (count + 1..=count + 2).contains(&entries), "{looks}");
            }
            Ok(end) => panic!("{end:?}"),
            Err(error) => panic!("{error:?}"),
        }
    }
}

#[test]
fn a_list_that_is_not_as_planned_changes_nothing() {
    for (path, make) in [("w/gone", "other"), ("w/f", "of another")] {
        let world = World::new();
        fs::write(world.at("w/gone"), "removed").unwrap();
        let record = world.at("record");
        let file = create_record_file(record.as_bytes()).unwrap();
        let roots = &both(&world.policy())[0];
        let gone = at_version(&world, "gone").if_version;
        let f = at_version(&world, "f");
        fs::write(world.at(path), make).unwrap();
        let change = |path: &str, change| ListedChange { path: world.at(path), change };
        let list = [
            change("w/f", Change::Put { bytes: b"new", was: OLD, options: f }),
            change("w/new", Change::MakeDir { parents: false }),
            change("w/gone", Change::Remove(Conditions { if_version: gone, ..Default::default() })),
        ];
        let lines = LIST_LINES.replace("{\"step\":3,\"before\":\"\\u0000before:3\"}\n", "");
        let texts = RecordTexts::from_lines(&lines, 3).unwrap();
        let open = ChangeRecord::new(file, RecordKey::new(&[7; 32]).unwrap(), texts, false);
        let made = roots.commit(&list, open, 0.0, &CancelToken::new()).unwrap();
        let at = list.iter().position(|change| change.path == world.at(path));
        assert!(matches!(made.end, End::Failed(failed, _) if Some(failed) == at), "{made:?}");
        assert_eq!((fs::read(record).unwrap(), world.text(path)), (vec![], make.to_owned()));
        assert_ne!(world.text("w/f"), "new");
    }
}
