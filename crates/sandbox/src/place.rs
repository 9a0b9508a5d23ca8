//! Reads, replaces or removes one entry that a command created. It is reached name by name from a
//! root of the workspace, by descriptors and without following links, because another command may
//! be running in the same tree and exchange a directory for a link.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use filewright_core::{Code, Error, Result};
use filewright_fs::dir::temp_name::new_temp_name;
use filewright_fs::dir::tree::{give_owner_access, remove_temp_entry};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

/// The flags for opening a directory only as a base for other calls.
const BASE_DIRECTORY_FLAGS: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The path of an entry below a root of the workspace.
#[derive(Clone, Debug)]
pub struct RootedPath {
    /// The absolute path of the root. The command cannot change the directories above it.
    pub root: String,
    /// The absolute path of the entry, in bytes.
    pub path: Vec<u8>,
}

impl RootedPath {
    /// Creates a rooted path from the bytes of the path in hexadecimal.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`.
    pub fn from_hex(root: String, path: &str) -> Result<Self> {
        let wrong = || Error::new(Code::InvalidArgument, "the path is not in hexadecimal");
        let pairs = path.as_bytes().chunks(2).map(|pair| {
            let text = std::str::from_utf8(pair).ok().filter(|text| text.len() == 2);
            text.and_then(|text| u8::from_str_radix(text, 16).ok()).ok_or_else(wrong)
        });
        Ok(Self { path: pairs.collect::<Result<_>>()?, root })
    }

    /// Removes the entry with everything below it. Succeeds if it does not exist.
    ///
    /// # Errors
    /// The system's errors.
    pub fn remove(&self) -> Result<()> {
        let Some((directory, name)) = self.parent()? else { return Ok(()) };
        match remove_temp_entry(directory.as_fd(), name) {
            Err(error) if error.code == Code::PermissionDenied => {
                with_owner_access(&directory, || remove_temp_entry(directory.as_fd(), name))
            }
            other => other,
        }
    }

    /// Gives the owner of the directory at this path all permissions.
    ///
    /// # Errors
    /// The system's errors.
    pub(crate) fn give_owner_access(&self) -> Result<()> {
        if self.is_root() {
            let root = self.open_root().and_then(|root| give_owner_access_to(&root));
            return root.map(drop).map_err(|errno| self.error(errno));
        }
        let Some((directory, name)) = self.parent()? else { return Ok(()) };
        let unlocked = match give_owner_access(directory.as_fd(), name) {
            // The parent may not be entered, so its permissions are changed first.
            Err(Errno::ACCESS) => give_owner_access_to(&directory)
                .and_then(|_| give_owner_access(directory.as_fd(), name)),
            other => other,
        };
        unlocked.map_err(|errno| self.error(errno))
    }

    /// Opens the directory at this path for reading. The path may be longer than the system accepts
    /// in one call.
    ///
    /// # Errors
    /// The system's errors.
    pub(crate) fn open_directory(&self) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if self.is_root() {
            return rustix::fs::open(self.root.as_str(), flags, Mode::empty());
        }
        let Ok(Some((directory, name))) = self.parent() else { return Err(Errno::NOENT) };
        rustix::fs::openat(directory, name, flags, Mode::empty())
    }

    fn is_root(&self) -> bool {
        self.path == self.root.as_bytes()
    }

    fn open_root(&self) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open(self.root.as_str(), flags, Mode::empty())
    }

    /// Returns the content of the regular file at this path. Empty if it is longer than `most`
    /// bytes, cannot be opened or is not a regular file; `None` if nothing exists.
    ///
    /// # Errors
    /// The system's errors.
    pub fn read(&self, most: usize) -> Result<Option<Vec<u8>>> {
        let Some((directory, name)) = self.parent()? else { return Ok(None) };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&directory, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(_) => return Ok(Some(Vec::new())),
        };
        let stat = rustix::fs::fstat(&file).map_err(|errno| self.error(errno))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(Some(Vec::new()));
        }
        let mut bytes = vec![0; most + 1];
        let mut length = 0;
        while length < bytes.len() {
            match rustix::io::read(&file, &mut bytes[length..]) {
                Ok(0) => break,
                Ok(count) => length += count,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.error(errno)),
            }
        }
        bytes.truncate(if length > most { 0 } else { length });
        Ok(Some(bytes))
    }

    /// Replaces the entry at this path, whatever its type, by a file with these bytes. Does nothing
    /// if the parent directory was deleted.
    ///
    /// # Errors
    /// The system's errors.
    pub fn replace(&self, bytes: &[u8]) -> Result<()> {
        let Some((directory, name)) = self.parent()? else { return Ok(()) };
        match replace_entry(directory.as_fd(), name, bytes) {
            Err(error) if error.code == Code::PermissionDenied => {
                with_owner_access(&directory, || replace_entry(directory.as_fd(), name, bytes))
            }
            other => other,
        }
    }

    /// Opens the parent directory, and returns it with the name of the entry in it; `None` if a
    /// directory of the path was deleted, or replaced by a link or file.
    fn parent(&self) -> Result<Option<(OwnedFd, &[u8])>> {
        let outside = || Error::new(Code::OutsideAllowed, "the place is not below its root");
        let root = self.root.trim_end_matches('/').as_bytes();
        let below = self.path.strip_prefix(root).and_then(|path| path.strip_prefix(b"/"));
        let mut names: Vec<&[u8]> =
            below.ok_or_else(outside)?.split(|byte| *byte == b'/').collect();
        if names.iter().any(|name| matches!(*name, b"" | b"." | b"..")) {
            return Err(outside());
        }
        let last = names.pop().ok_or_else(outside)?;
        let mut directory = match self.open_root() {
            Ok(directory) => directory,
            Err(errno) => return self.none_if_gone(errno),
        };
        for name in names {
            let entered =
                match rustix::fs::openat(&directory, name, BASE_DIRECTORY_FLAGS, Mode::empty()) {
                    // The command has removed the permission to enter the directory.
                    Err(Errno::ACCESS) => {
                        let _ = give_owner_access_to(&directory);
                        rustix::fs::openat(&directory, name, BASE_DIRECTORY_FLAGS, Mode::empty())
                    }
                    other => other,
                };
            directory = match entered {
                Ok(below) => below,
                Err(errno) => return self.none_if_gone(errno),
            };
        }
        Ok(Some((directory, last)))
    }

    /// Returns `None` for an errno that means that a directory of the path was deleted or replaced,
    /// otherwise the error.
    fn none_if_gone<T>(&self, errno: Errno) -> Result<Option<T>> {
        match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP => Ok(None),
            errno => Err(self.error(errno)),
        }
    }

    /// Returns the error for a failed system call, with the path.
    fn error(&self, errno: Errno) -> Error {
        let code = match errno {
            Errno::ACCESS | Errno::PERM => Code::PermissionDenied,
            _ => Code::IoError,
        };
        Error::new(code, format!("{}: {errno}", String::from_utf8_lossy(&self.path)))
    }
}

/// Gives the owner all permissions of a directory while `run` runs, and restores the permission
/// bits afterwards.
fn with_owner_access(directory: &OwnedFd, run: impl FnOnce() -> Result<()>) -> Result<()> {
    let before = give_owner_access_to(directory);
    let done = run();
    if let Ok(before) = before {
        let _ = rustix::fs::chmod(procfs_path_of(directory), before);
    }
    done
}

/// Gives the owner all permissions of an open directory, and returns the previous permission bits.
fn give_owner_access_to(directory: &OwnedFd) -> rustix::io::Result<Mode> {
    let before = Mode::from_raw_mode(rustix::fs::fstat(directory)?.st_mode);
    rustix::fs::chmod(procfs_path_of(directory), before | Mode::RWXU)?;
    Ok(before)
}

/// Returns the path in procfs by which the permission bits of an `O_PATH` descriptor can be set,
/// which the descriptor itself does not allow.
fn procfs_path_of(directory: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", directory.as_raw_fd())
}

/// Writes the bytes to a temporary file in a directory, removes the entry `name`, and renames the
/// file to it.
fn replace_entry(directory: BorrowedFd<'_>, name: &[u8], bytes: &[u8]) -> Result<()> {
    let failed = |errno: Errno| {
        let code = if errno == Errno::ACCESS { Code::PermissionDenied } else { Code::IoError };
        Error::new(code, format!("{}: {errno}", String::from_utf8_lossy(name)))
    };
    let temporary = new_temp_name();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file =
        rustix::fs::openat(directory, temporary.as_slice(), flags, Mode::from_raw_mode(0o644))
            .map_err(failed)?;
    let mut rest = bytes;
    while !rest.is_empty() {
        match rustix::io::write(&file, rest) {
            Ok(count) => rest = &rest[count..],
            Err(Errno::INTR) => {}
            Err(errno) => {
                let _ = rustix::fs::unlinkat(directory, temporary.as_slice(), AtFlags::empty());
                return Err(failed(errno));
            }
        }
    }
    remove_temp_entry(directory, name)?;
    rustix::fs::renameat(directory, temporary.as_slice(), directory, name).map_err(failed)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // the tests make the places that are changed
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn place(root: &std::path::Path, path: &str) -> RootedPath {
        let root = root.to_str().unwrap().to_owned();
        let path = format!("{root}/{path}").into_bytes();
        RootedPath { root, path }
    }

    #[test]
    fn a_place_is_removed_whatever_its_permission_bits_and_never_through_a_link() {
        let base = tempfile::tempdir().unwrap();
        let (root, outside) = (base.path().join("root"), base.path().join("outside"));
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(root.join("a/b/c/file"), "x").unwrap();
        fs::write(outside.join("file"), "x").unwrap();
        symlink(&outside, root.join("link")).unwrap();
        for path in ["a/b/c", "a/b", "a"] {
            fs::set_permissions(root.join(path), fs::Permissions::from_mode(0o000)).unwrap();
        }
        place(&root, "link/file").remove().unwrap();
        place(&root, "link/file").replace(b"y").unwrap();
        assert_eq!(place(&root, "link/file").read(10).unwrap(), None);
        assert_eq!(fs::read(outside.join("file")).unwrap(), b"x");
        place(&root, "a/b").remove().unwrap();
        assert!(!root.join("a/b").exists());
        assert!(root.join("a").is_dir());
        place(&root, "link").remove().unwrap();
        assert!(outside.join("file").exists());
        assert!(place(&root, "../outside/file").remove().is_err());
    }

    #[test]
    fn a_place_is_read_and_replaced() {
        let base = tempfile::tempdir().unwrap();
        fs::write(base.path().join("config"), "old").unwrap();
        let config = place(base.path(), "config");
        assert_eq!(config.read(3).unwrap(), Some(b"old".to_vec()));
        assert_eq!(config.read(2).unwrap(), Some(Vec::new()));
        assert_eq!(place(base.path(), "none").read(2).unwrap(), None);
        config.replace(b"new").unwrap();
        assert_eq!(fs::read(base.path().join("config")).unwrap(), b"new");
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_path_in_hexadecimal_is_read_whole() {
        assert_eq!(RootedPath::from_hex(String::new(), "2fff61").unwrap().path, b"/\xffa");
        assert!(RootedPath::from_hex(String::new(), "2f6").is_err());
        assert!(RootedPath::from_hex(String::new(), "zz").is_err());
    }
}
