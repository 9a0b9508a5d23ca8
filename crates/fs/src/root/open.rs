//! Opens regular files and directories, and refuses all other types.

use std::os::fd::OwnedFd;

use filewright_core::Result;
use filewright_core::pattern::policy::{
    Intent, PathRules, SECRET_HEAD_BYTES, holds_secret, may_hold_secret,
};
use filewright_core::text::path::components;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::{FinalSymlink, MissingPolicy, ResolvedEntry, Roots, absolute_path_of};
use crate::dir::errno::{changing_path_error, not_regular_error, os_error};
use crate::dir::open_entries;
use crate::dir::stat::{Kind, Stat};

/// The maximum number of times that an operation resolves its path, because another program changes
/// it meanwhile. Beyond it, the operation fails with `CONFLICT`.
pub(crate) const MAX_PATH_ATTEMPTS: u32 = 16;

/// An open regular file.
#[derive(Debug)]
pub struct OpenFile {
    /// The descriptor, for reading.
    pub fd: OwnedFd,
    /// The metadata, read from the descriptor.
    pub stat: Stat,
    /// The absolute real path. For rules and messages; it must never be opened.
    pub real: Vec<u8>,
}

/// An open directory.
#[derive(Debug)]
pub struct OpenDir {
    /// The descriptor, for reading entries and for opening files below it.
    pub fd: OwnedFd,
    /// The absolute real path. For rules and messages; it must never be opened.
    pub real: Vec<u8>,
    /// The path by which the caller named the directory, to which deny rules apply as well.
    pub asked: AskedName,
}

/// The path by which the caller named a directory, if it differs from the real path because of
/// links. Deny rules apply to both paths, so that an entry that is refused by one path is not
/// listed below it.
#[derive(Clone, Debug, Default)]
pub struct AskedName(Option<AskedPath>);

/// The path of the caller, and the length in bytes of the real path, both without a final slash.
#[derive(Clone, Debug)]
struct AskedPath {
    path: Vec<u8>,
    real_len: usize,
}

impl AskedName {
    /// Returns true if the caller named the directory by another path than its real one and there
    /// are deny rules.
    pub fn differs(&self) -> bool {
        self.0.is_some()
    }

    /// Reports whether an entry below the directory is denied by its real path `path`, or by the
    /// corresponding path below the one that the caller named.
    pub fn denied_entry(&self, rules: &PathRules, path: &[u8]) -> bool {
        let as_asked = |asked: &AskedPath| {
            rules.denied_entry(&[&asked.path, &path[asked.real_len..]].concat())
        };
        rules.denied_entry(path) || self.0.as_ref().is_some_and(as_asked)
    }
}

impl Roots {
    /// Opens a regular file for reading; follows links. With [`Intent::Write`] the path must also
    /// be writable.
    ///
    /// A FIFO, socket or device is refused before it is opened, because opening some devices has
    /// effects, and opening a FIFO wakes its writer.
    ///
    /// # Errors
    /// `NOT_FOUND`, `IS_DIRECTORY`, `NOT_REGULAR_FILE`, `OUTSIDE_ALLOWED` and the system's errors.
    pub fn open_file(&self, path: &[u8], intent: Intent) -> Result<OpenFile> {
        let file = self.open_file_to_check(path, intent)?;
        self.check_content(&file.fd, &file.real)?;
        Ok(file)
    }

    /// Does the same as [`Roots::open_file`] for a caller that checks the content: a file that
    /// contains a private key is not refused.
    ///
    /// # Errors
    /// Like [`Roots::open_file`].
    pub(crate) fn open_file_to_check(&self, path: &[u8], intent: Intent) -> Result<OpenFile> {
        for _ in 0..MAX_PATH_ATTEMPTS {
            let place = self.locate(path, intent, FinalSymlink::Follow, MissingPolicy::Fail)?;
            if place.kind() == Some(Kind::File) {
                self.check_secret(&place.real)?;
            }
            if let Some((fd, stat)) = open_resolved_file(&place)? {
                self.check_other_names(&stat, &place.real)?;
                return Ok(OpenFile { fd, stat, real: place.real });
            }
        }
        Err(changing_path_error())
    }

    /// Opens a directory for reading; follows links.
    ///
    /// # Errors
    /// `NOT_FOUND`, `NOT_DIRECTORY`, `OUTSIDE_ALLOWED` and the system's errors.
    pub fn open_dir(&self, path: &[u8]) -> Result<OpenDir> {
        for _ in 0..MAX_PATH_ATTEMPTS {
            let place =
                self.locate(path, Intent::Read, FinalSymlink::Follow, MissingPolicy::Fail)?;
            let name = match (&place.name, place.kind()) {
                (None, _) => &b"."[..],
                (Some(_), None) => return Err(os_error(Errno::NOENT)),
                (Some(name), Some(Kind::Dir)) => name,
                (Some(_), Some(_)) => return Err(os_error(Errno::NOTDIR)),
            };
            if let Some(fd) = open_entries(&place.dir, name)? {
                let asked = self.asked_name(path, &place.real)?;
                return Ok(OpenDir { fd, real: place.real, asked });
            }
        }
        Err(changing_path_error())
    }

    /// Returns the [`AskedName`] of a directory that the caller named `path` and whose real path is
    /// `real`.
    fn asked_name(&self, path: &[u8], real: &[u8]) -> Result<AskedName> {
        if path == real || !self.rules.denies() {
            return Ok(AskedName::default());
        }
        let asked = absolute_path_of(&components(path)?.names);
        let named = self.root_for(&asked).map_or(asked, |(_, named)| named);
        let without_slash = |path: &[u8]| path.strip_suffix(b"/").unwrap_or(path).to_vec();
        let (path, real_len) = (without_slash(&named), without_slash(real).len());
        Ok(AskedName((named != real).then_some(AskedPath { path, real_len })))
    }
}

/// Opens a resolved entry for reading, and checks its type again after opening. Returns `None` if
/// its type has changed since it was resolved, and an error if it was no regular file then.
pub(crate) fn open_resolved_file(place: &ResolvedEntry<'_>) -> Result<Option<(OwnedFd, Stat)>> {
    let name = match (&place.name, place.kind()) {
        (None, _) | (_, Some(Kind::Dir)) => return Err(os_error(Errno::ISDIR)),
        (Some(_), None) => return Err(os_error(Errno::NOENT)),
        (Some(_), Some(Kind::Other)) => return Err(not_regular_error()),
        (Some(_), Some(Kind::Symlink)) => return Ok(None),
        (Some(name), Some(Kind::File)) => name,
    };
    let flags =
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = match rustix::fs::openat(&place.dir, name.as_slice(), flags, Mode::empty()) {
        Ok(fd) => fd,
        Err(Errno::LOOP | Errno::NXIO | Errno::NOENT | Errno::MLINK) => return Ok(None),
        Err(errno) => return Err(os_error(errno)),
    };
    let stat = Stat::of(&fd).map_err(os_error)?;
    Ok((stat.kind == Kind::File).then_some((fd, stat)))
}

/// The number of bytes of a file that are read first in the search for a private key: most files
/// show in them that they contain none.
const KEY_CHECK_BYTES: usize = 64;

/// Reports whether an open file contains a private key within its first [`SECRET_HEAD_BYTES`]
/// bytes. A file that cannot be read counts as none.
pub(crate) fn contains_private_key(fd: &OwnedFd) -> bool {
    let mut glance = [0; KEY_CHECK_BYTES];
    let Ok(read) = rustix::io::pread(fd, &mut glance, 0) else { return false };
    if !may_hold_secret(&glance[..read]) {
        return false;
    }
    if read < KEY_CHECK_BYTES {
        return holds_secret(&glance[..read]);
    }
    let mut head = Vec::with_capacity(SECRET_HEAD_BYTES);
    while head.len() < SECRET_HEAD_BYTES {
        let at = head.len() as u64;
        match rustix::io::pread(fd, rustix::buffer::spare_capacity(&mut head), at) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
    }
    holds_secret(&head)
}
