//! Tests what the walk of a tree does at its limits and while the tree changes.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // the trees are made and changed from outside

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use filewright_core::options::Options;
use filewright_fs::cancel::{CancelToken, Deadline};
use filewright_fs::dir::stat::Kind;
use filewright_fs::root::{Policy, Roots};
use filewright_fs::walk::options::walk_options;
use filewright_fs::walk::{
    AfterFile, Directory, FileEntry, StopSignal, Summary, Visitor, WalkRoot, walk,
};
use serde_json::json;

/// Wants every entry, and changes the tree when it is asked about the entry `first`.
struct Changing<F: Fn() + Sync>(F);

impl<F: Fn() + Sync> Visitor for Changing<F> {
    type Local = Vec<String>;
    const OPENS_FILES: bool = false;

    fn local(&self) -> Vec<String> {
        Vec::new()
    }

    fn wants(&self, path: &[u8], _: Kind) -> bool {
        if path == b"first" {
            self.0();
        }
        true
    }

    fn directory(&self, local: &mut Vec<String>, directory: &Directory<'_>) {
        for &index in directory.entries {
            let shown = [directory.prefix, &directory.listing.shown(index as usize)].concat();
            local.push(String::from_utf8(shown).unwrap());
        }
    }

    fn file(&self, _: &mut Vec<String>, _: &FileEntry<'_>) -> AfterFile {
        AfterFile::Continue
    }
}

fn walk_in(dir: &Path, change: impl Fn() + Sync) -> (Summary, Vec<String>) {
    let path = dir.canonicalize().unwrap();
    let policy = json!({ "cwd": path, "read": [path] });
    let roots = Roots::new(&Policy::from_json(&policy.to_string()).unwrap()).unwrap();
    let root = WalkRoot::open(&roots, path.as_os_str().as_bytes(), None).unwrap();
    let options = walk_options(&Options::parse("{}").unwrap(), "pattern").unwrap();
    let cancel = CancelToken::new();
    let stop = StopSignal { cancel: &cancel, deadline: Deadline::default() };
    let (summary, found) = walk(&root, &options, &stop, &Changing(change)).unwrap();
    let mut found = found.concat();
    found.sort();
    (summary, found)
}

#[test]
fn a_directory_that_vanishes_is_empty_and_not_unreadable() {
    let tree = tempfile::tempdir().unwrap();
    let at = |name: &str| -> PathBuf { tree.path().join(name) };
    for name in ["first", "gone", "file", "link"] {
        fs::create_dir(at(name)).unwrap();
    }
    let (summary, found) = walk_in(tree.path(), || {
        for name in ["gone", "file", "link"] {
            fs::remove_dir(at(name)).unwrap();
        }
        fs::write(at("file"), "").unwrap();
        std::os::unix::fs::symlink("first", at("link")).unwrap();
    });
    assert_eq!(found, ["file", "first", "gone", "link"]);
    assert_eq!(summary.unreadable, 0);
}

#[test]
fn a_temporary_file_is_no_entry() {
    let tree = tempfile::tempdir().unwrap();
    let name = String::from_utf8(filewright_fs::dir::temp_name::new_temp_name()).unwrap();
    fs::create_dir_all(tree.path().join(&name).join("below")).unwrap();
    fs::write(tree.path().join(format!("{name}-kept")), "").unwrap();
    fs::write(tree.path().join(".filewright-x"), "").unwrap();
    assert_eq!(walk_in(tree.path(), || ()).1, [".filewright-x"]);
}
