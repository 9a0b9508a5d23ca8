//! Descriptors that pin directories, shared by all roots of the process that pin the same one.
//!
//! A process may hold hundreds of sets of roots, each with `/` or a directory that others have too,
//! and the kernel limits its descriptors. An anchor is only the base of other calls and is never
//! read, so sharing it has no effect on them.
//!
//! Two anchors are the same if device, inode and mount are equal. The mount counts because a bind
//! mount can be read-only where the directory that it shows is not. A kernel that does not report
//! mounts (before Linux 5.8) has one descriptor for each root.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use crate::dir::stat::MountedInode;

/// The anchors in use. An open descriptor keeps its inode and its mount, so neither number is
/// reused while the key has an anchor.
static ANCHORS: OnceLock<Mutex<HashMap<MountedInode, Weak<OwnedFd>>>> = OnceLock::new();

/// Returns the shared descriptor of the directory that `opened` is open on, and closes `opened` if
/// there is another.
pub(super) fn share(opened: OwnedFd) -> Arc<OwnedFd> {
    let Some(inode) = MountedInode::of(&opened) else { return Arc::new(opened) };
    let anchors = ANCHORS.get_or_init(Mutex::default);
    let mut anchors = anchors.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(anchor) = anchors.get(&inode).and_then(Weak::upgrade) {
        return anchor;
    }
    let anchor = Arc::new(opened);
    anchors.retain(|_, anchor| anchor.strong_count() > 0);
    anchors.insert(inode, Arc::downgrade(&anchor));
    anchor
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dir::base_directory_flags;
    use crate::dir::stat::Stat;

    fn open(path: &std::path::Path) -> OwnedFd {
        rustix::fs::open(path, base_directory_flags(), rustix::fs::Mode::empty()).unwrap()
    }

    #[test]
    fn one_directory_has_one_descriptor_and_another_has_its_own() {
        let tmp = tempfile::tempdir().unwrap();
        std::fs::create_dir(tmp.path().join("a")).unwrap();
        std::fs::create_dir(tmp.path().join("b")).unwrap();
        let first = share(open(&tmp.path().join("a")));
        if MountedInode::of(&first).is_none() {
            return;
        }
        // The name does not count: a moved directory is the same one.
        std::fs::rename(tmp.path().join("a"), tmp.path().join("c")).unwrap();
        assert!(Arc::ptr_eq(&first, &share(open(&tmp.path().join("c")))));
        let other = share(open(&tmp.path().join("b")));
        assert!(!Arc::ptr_eq(&first, &other));
        let gone = Arc::downgrade(&first);
        drop(first);
        assert!(gone.upgrade().is_none());
    }

    #[test]
    fn a_new_directory_in_the_place_of_a_removed_one_has_its_own() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("a");
        std::fs::create_dir(&path).unwrap();
        let first = share(open(&path));
        std::fs::remove_dir(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        let second = share(open(&path));
        assert!(!Arc::ptr_eq(&first, &second));
        assert!(!Stat::of(&first).unwrap().same_file(&Stat::of(&second).unwrap()));
    }

    #[test]
    fn threads_that_open_and_close_at_once_always_have_the_right_directory() {
        let tmp = tempfile::tempdir().unwrap();
        let expected = Stat::of(open(tmp.path())).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let anchor = share(open(tmp.path()));
                        assert!(Stat::of(&anchor).unwrap().same_file(&expected));
                    }
                });
            }
        });
    }
}
