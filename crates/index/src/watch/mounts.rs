//! Detects file systems that are mounted below a directory. A mount hides the files below it, and
//! inotify does not report it.
//!
//! The kernel signals a change of its mount list, so checking it costs one system call. The list is
//! opened before threads are restricted, because restricted ones cannot open it.

/// Opens the kernel's list of mounts, so that threads restricted by Landlock later can read it.
pub fn prepare() {
    let _ = hash_mounts_below(b"/");
}

/// Returns a hash of the mounts below the directory `real`, a path with a final slash.
#[cfg(target_os = "linux")]
pub(crate) fn hash_mounts_below(real: &[u8]) -> u64 {
    linux::hash_mounts_below(real)
}

/// Returns the mount points below the directory `real`, a path with a final slash, relative to it.
#[cfg(target_os = "linux")]
pub(crate) fn mount_points_below(real: &[u8]) -> Vec<Vec<u8>> {
    linux::mount_points_below(real)
}

/// Returns none: other systems have no list of mounts, and every file is revalidated there.
#[cfg(not(target_os = "linux"))]
pub(crate) fn mount_points_below(_real: &[u8]) -> Vec<Vec<u8>> {
    Vec::new()
}

/// Returns 0: other systems have no list of mounts, and every directory is revalidated there.
#[cfg(not(target_os = "linux"))]
pub(crate) fn hash_mounts_below(_real: &[u8]) -> u64 {
    0
}

#[cfg(target_os = "linux")]
mod linux {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    use std::os::fd::OwnedFd;
    use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::{Mode, OFlags, SeekFrom};

    /// The mount list as last read.
    struct List {
        file: OwnedFd,
        /// The mount points, each with a hash of the mount.
        mounts: Vec<(Vec<u8>, u64)>,
    }

    pub(crate) fn hash_mounts_below(real: &[u8]) -> u64 {
        let Some(list) = current() else { return 0 };
        let mut hasher = DefaultHasher::new();
        for (path, mount) in &list.mounts {
            if path.starts_with(real) {
                (path, mount).hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    pub(crate) fn mount_points_below(real: &[u8]) -> Vec<Vec<u8>> {
        let Some(list) = current() else { return Vec::new() };
        let below = list.mounts.iter().filter_map(|(path, _)| path.strip_prefix(real));
        below.map(<[u8]>::to_vec).collect()
    }

    /// Returns the list as it is now; `None` if it cannot be read.
    fn current() -> Option<MutexGuard<'static, List>> {
        static LIST: OnceLock<Option<Mutex<List>>> = OnceLock::new();
        let list = LIST.get_or_init(|| List::open().map(Mutex::new)).as_ref()?;
        let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
        if list.has_changed() {
            list.read();
        }
        Some(list)
    }

    impl List {
        fn open() -> Option<Self> {
            let flags = OFlags::RDONLY | OFlags::CLOEXEC;
            let file = rustix::fs::open("/proc/self/mountinfo", flags, Mode::empty()).ok()?;
            let mut list = Self { file, mounts: Vec::new() };
            list.read();
            Some(list)
        }

        /// Reports whether the list changed since the last check.
        fn has_changed(&self) -> bool {
            let mut files = [PollFd::new(&self.file, PollFlags::PRI)];
            let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
            poll(&mut files, Some(&at_once)).is_ok_and(|marked| marked > 0)
        }

        fn read(&mut self) {
            let mut text = Vec::new();
            let mut buffer = [0; 16 << 10];
            if rustix::fs::seek(&self.file, SeekFrom::Start(0)).is_err() {
                return;
            }
            while let Ok(length @ 1..) = rustix::io::read(&self.file, &mut buffer) {
                text.extend_from_slice(&buffer[..length]);
            }
            self.mounts = text.split(|&byte| byte == b'\n').filter_map(mount_of).collect();
        }
    }

    /// Returns the mount point in a line of the list, and a hash of what is mounted there. The
    /// first fields of a line are id, parent, device, root and mount point.
    pub(crate) fn mount_of(line: &[u8]) -> Option<(Vec<u8>, u64)> {
        let mut fields = line.split(|&byte| byte == b' ');
        let what: Vec<&[u8]> = fields.by_ref().take(4).collect();
        let path = unescaped(fields.next()?);
        let mut hasher = DefaultHasher::new();
        what.hash(&mut hasher);
        Some((path, hasher.finish()))
    }

    /// Decodes a field of the list, in which white space and backslashes are encoded as a backslash
    /// and three octal digits.
    fn unescaped(field: &[u8]) -> Vec<u8> {
        let mut path = Vec::with_capacity(field.len());
        let mut rest = field;
        while let Some((&byte, after)) = rest.split_first() {
            let digits = after.get(..3).filter(|_| byte == b'\\');
            let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
            match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
                Some(escaped) => {
                    path.push(escaped);
                    rest = &after[3..];
                }
                None => {
                    path.push(byte);
                    rest = after;
                }
            }
        }
        path
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use rustix::mount::{UnmountFlags, mount_bind, unmount};

    use super::linux::mount_of;
    use crate::Session;
    use crate::grep_indexed;
    use crate::tests::session_of;
    use crate::warm;
    use filewright_fs::cancel::CancelToken;
    use filewright_fs::search::grep::GrepOptions;

    #[test]
    fn the_place_of_a_mount_is_read_with_its_escapes() {
        let line = br"36 35 98:0 /root /mnt/a\040b\134 rw,noatime master:1 - ext3 /dev/root rw";
        assert_eq!(mount_of(line).unwrap().0, br"/mnt/a b\");
        assert!(mount_of(b"").is_none());
    }

    fn found(session: &Arc<Session>, path: &[u8], word: &str) -> f64 {
        let options =
            GrepOptions::from_json(&format!(r#"{{"pattern":"{word}","regex":false}}"#)).unwrap();
        grep_indexed(session, path, &options, &CancelToken::new()).unwrap()[0].nums[0]
    }

    #[test]
    fn a_search_finds_changes_of_a_file_that_was_bound_over_another_before() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir(top.join("d")).unwrap();
        for number in 0..40 {
            fs::write(top.join(format!("d/f{number}")), "plain words\n").unwrap();
        }
        let outside = tempfile::NamedTempFile::new().unwrap();
        fs::write(outside.path(), "plain words\n").unwrap();
        let over = top.join("d/f7");
        mount_bind(outside.path(), &over).unwrap();
        let path = top.to_str().unwrap().as_bytes();
        let session = session_of(&top, serde_json::json!({}));
        std::thread::sleep(std::time::Duration::from_millis(110));
        let unsigned = warm(&session, path, true, &CancelToken::new()).unwrap().unsigned;
        let before = found(&session, path, "mounted");
        fs::write(outside.path(), "mounted words\n").unwrap();
        let after = found(&session, path, "mounted");
        unmount(&over, UnmountFlags::empty()).unwrap();
        assert_eq!((unsigned, before, after), (0, 0.0, 1.0));
    }

    #[test]
    fn a_search_finds_changes_in_a_directory_that_is_mounted_at_two_places() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        for name in ["d", "twice"] {
            fs::create_dir(top.join(name)).unwrap();
        }
        for number in 0..40 {
            fs::write(top.join(format!("d/f{number}")), "plain words\n").unwrap();
        }
        let over = top.join("twice");
        mount_bind(top.join("d"), &over).unwrap();
        let path = top.to_str().unwrap().as_bytes();
        let session = session_of(&top, serde_json::json!({}));
        std::thread::sleep(std::time::Duration::from_millis(110));
        warm(&session, path, true, &CancelToken::new()).unwrap();
        let before = found(&session, path, "changed");
        fs::write(top.join("d/f7"), "changed words\n").unwrap();
        let changed = found(&session, path, "changed");
        fs::write(top.join("twice/new"), "changed words\n").unwrap();
        let added = found(&session, path, "changed");
        unmount(&over, UnmountFlags::empty()).unwrap();
        assert_eq!((before, changed, added), (0.0, 2.0, 4.0));
    }

    #[test]
    fn a_search_finds_a_file_bind_mounted_over_another() {
        if !rustix::process::geteuid().is_root() {
            // Only root may mount; CI runs as root.
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        for number in 0..40 {
            fs::write(top.join(format!("f{number}")), "plain words\n").unwrap();
        }
        let outside = tempfile::NamedTempFile::new().unwrap();
        fs::write(outside.path(), "mounted words\n").unwrap();
        let path = top.to_str().unwrap().as_bytes();
        let session = session_of(&top, serde_json::json!({}));
        let cancel = CancelToken::new();
        std::thread::sleep(std::time::Duration::from_millis(110));
        assert_eq!(warm(&session, path, true, &cancel).unwrap().unsigned, 0);
        assert_eq!(found(&session, path, "mounted"), 0.0);
        let over = top.join("f7");
        mount_bind(outside.path(), &over).unwrap();
        let now = (found(&session, path, "mounted"), found(&session, path, "plain"));
        warm(&session, path, true, &cancel).unwrap();
        let anew = found(&session, path, "mounted");
        unmount(&over, UnmountFlags::empty()).unwrap();
        assert_eq!((now, anew), ((1.0, 39.0), 1.0));
        assert_eq!((found(&session, path, "mounted"), found(&session, path, "plain")), (0.0, 40.0));
    }
}
