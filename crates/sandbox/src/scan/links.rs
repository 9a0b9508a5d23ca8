//! Hides the other names (hard links) of hidden files: a command could read a hidden file under each
//! of them.
//!
//! The trees are walked once more, and only if a hidden file has several names.

use std::collections::HashSet;
use std::ffi::CString;

use filewright_core::Result;
use rustix::fs::{AtFlags, FileType};

use super::{Scanner, list_entries, open_directory};

/// The number of a device and of an inode on it.
type Inode = (u64, u64);

impl Scanner {
    /// Records the other names of the hidden files below `trees` as hidden.
    pub(super) fn hide_other_names(&mut self, trees: &[String]) -> Result<()> {
        let hidden: HashSet<Vec<u8>> = self
            .hidden
            .iter()
            .filter_map(|one| one["path"].as_str().map(|path| path.as_bytes().to_vec()))
            .collect();
        let mut inodes = HashSet::new();
        for path in &hidden {
            visit_files(path, &HashSet::new(), &mut |file, _| inodes.extend(linked_inode(file)));
        }
        if inodes.is_empty() {
            return Ok(());
        }
        let numbers: HashSet<u64> = inodes.iter().map(|(_, ino)| *ino).collect();
        let mut found = Vec::new();
        for tree in trees {
            visit_files(tree.as_bytes(), &hidden, &mut |file, ino| {
                let may_be_one = ino.is_none_or(|ino| numbers.contains(&ino));
                if may_be_one && linked_inode(file).is_some_and(|one| inodes.contains(&one)) {
                    found.push(file.to_vec());
                }
            });
        }
        found.sort_unstable();
        found.dedup();
        found.iter().try_for_each(|file| self.record_hidden(file, false))
    }
}

/// Calls `visit` with the path of each regular file at and below `top`, and with its inode number
/// where a listing tells it, except for what is at and below `passed`. What cannot be listed is
/// passed over: it is hidden as a whole.
fn visit_files(top: &[u8], passed: &HashSet<Vec<u8>>, visit: &mut impl FnMut(&[u8], Option<u64>)) {
    if passed.contains(top) {
        return;
    }
    let mut waiting = vec![top.to_vec()];
    visit(top, None);
    while let Some(directory) = waiting.pop() {
        let Ok(Ok(entries)) = open_directory(&directory).map(|fd| list_entries(&fd)) else {
            continue;
        };
        for entry in entries {
            let separator: &[u8] = if directory.last() == Some(&b'/') { b"" } else { b"/" };
            let path = [&directory[..], separator, &entry.name].concat();
            if passed.contains(&path) {
                continue;
            }
            match entry.file_type {
                FileType::Directory => waiting.push(path),
                FileType::RegularFile => visit(&path, Some(entry.ino)),
                FileType::Unknown => {
                    visit(&path, None);
                    waiting.push(path);
                }
                _ => {}
            }
        }
    }
}

/// Returns the inode of a regular file with several names.
#[allow(clippy::unnecessary_cast)] // the field types differ between platforms
fn linked_inode(path: &[u8]) -> Option<Inode> {
    let path = CString::new(path).ok()?;
    let stat = rustix::fs::statat(rustix::fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let is_linked =
        FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_nlink > 1;
    is_linked.then_some((stat.st_dev as u64, stat.st_ino as u64))
}
