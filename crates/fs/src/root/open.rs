//! Opening: a regular file or a directory, and nothing else.

use std::os::fd::OwnedFd;

use filewright_core::Result;
use filewright_core::access::Intent;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::{FinalSymlink, MissingPolicy, ResolvedEntry, Roots};
use crate::dir::errno::{not_regular, os, unsettled};
use crate::dir::open_entries;
use crate::dir::stat::{Kind, Stat};

/// How often an operation starts over when the path changes under it.
pub(crate) const ATTEMPTS: u32 = 16;

/// An open regular file.
#[derive(Debug)]
pub struct OpenFile {
    /// The descriptor, for reading.
    pub fd: OwnedFd,
    /// The facts, taken from the descriptor.
    pub stat: Stat,
    /// The absolute real path. For rules and messages, never to be opened.
    pub real: Vec<u8>,
}

/// An open directory.
#[derive(Debug)]
pub struct OpenDir {
    /// The descriptor, for reading entries and for opening beneath it.
    pub fd: OwnedFd,
    /// The absolute real path. For rules and messages, never to be opened.
    pub real: Vec<u8>,
}

impl Roots {
    /// Opens a regular file for reading, links followed. With
    /// [`Intent::Write`] the path must also be one that may be written.
    ///
    /// A FIFO, socket or device is refused by what it is, before it is opened:
    /// opening some devices has effects, and opening a FIFO wakes its writer.
    ///
    /// # Errors
    /// `NOT_FOUND`, `IS_DIRECTORY`, `NOT_REGULAR_FILE`, `OUTSIDE_ALLOWED` and
    /// what the system refuses with.
    pub fn open_file(&self, path: &[u8], intent: Intent) -> Result<OpenFile> {
        for _ in 0..ATTEMPTS {
            let place = self.locate(path, intent, FinalSymlink::Follow, MissingPolicy::Fail)?;
            if place.kind() == Some(Kind::File) {
                self.check_secret(&place.real)?;
            }
            if let Some((fd, stat)) = open_regular(&place)? {
                self.check_content(&fd, &place.real)?;
                return Ok(OpenFile { fd, stat, real: place.real });
            }
        }
        Err(unsettled())
    }

    /// Opens a directory for reading, links followed.
    ///
    /// # Errors
    /// `NOT_FOUND`, `NOT_DIRECTORY`, `OUTSIDE_ALLOWED` and what the system
    /// refuses with.
    pub fn open_dir(&self, path: &[u8]) -> Result<OpenDir> {
        for _ in 0..ATTEMPTS {
            let place =
                self.locate(path, Intent::Read, FinalSymlink::Follow, MissingPolicy::Fail)?;
            let name = match (&place.name, place.kind()) {
                (None, _) => &b"."[..],
                (Some(_), None) => return Err(os(Errno::NOENT)),
                (Some(name), Some(Kind::Dir)) => name,
                (Some(_), Some(_)) => return Err(os(Errno::NOTDIR)),
            };
            if let Some(fd) = open_entries(&place.dir, name)? {
                return Ok(OpenDir { fd, real: place.real });
            }
        }
        Err(unsettled())
    }
}

/// The gate: opens what the place names if it is a regular file, and looks
/// again at what was opened. `None` where it has become something else.
pub(crate) fn open_regular(place: &ResolvedEntry<'_>) -> Result<Option<(OwnedFd, Stat)>> {
    let name = match (&place.name, place.kind()) {
        (None, _) | (_, Some(Kind::Dir)) => return Err(os(Errno::ISDIR)),
        (Some(_), None) => return Err(os(Errno::NOENT)),
        (Some(_), Some(Kind::Other)) => return Err(not_regular()),
        (Some(_), Some(Kind::Symlink)) => return Ok(None),
        (Some(name), Some(Kind::File)) => name,
    };
    let flags =
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = match rustix::fs::openat(&place.dir, name.as_slice(), flags, Mode::empty()) {
        Ok(fd) => fd,
        Err(Errno::LOOP | Errno::NXIO | Errno::NOENT | Errno::MLINK) => return Ok(None),
        Err(errno) => return Err(os(errno)),
    };
    let stat = Stat::of(&fd).map_err(os)?;
    Ok((stat.kind == Kind::File).then_some((fd, stat)))
}
