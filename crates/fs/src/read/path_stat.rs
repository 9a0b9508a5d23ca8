//! Facts about a path: what it is, where it really is, where a link points.

use filewright_core::access::Intent;
use filewright_core::{Code, Error, Result};
use rustix::io::Errno;

use crate::dir::errno::os;
use crate::dir::stat::{Kind, Stat};
use crate::root::{FinalSymlink, MissingPolicy, Roots};

/// The facts about one path.
#[derive(Clone, Debug)]
pub struct PathStat {
    /// What the system says of it.
    pub stat: Stat,
    /// Where a symbolic link points, as written; only for a link itself.
    pub target: Option<Vec<u8>>,
    /// The absolute real path. For rules and messages, never to be opened.
    pub real: Vec<u8>,
}

impl Roots {
    /// The facts about what a path leads to, links followed.
    ///
    /// # Errors
    /// `NOT_FOUND`, `OUTSIDE_ALLOWED` and what the system refuses with.
    pub fn stat(&self, path: &[u8]) -> Result<PathStat> {
        let place = self.locate(path, Intent::Read, FinalSymlink::Follow, MissingPolicy::Fail)?;
        let stat = place.found.ok_or_else(|| os(Errno::NOENT))?;
        Ok(PathStat { stat, target: None, real: place.real })
    }

    /// The facts about a path itself: a link is not followed.
    ///
    /// # Errors
    /// As [`Roots::stat`].
    pub fn lstat(&self, path: &[u8]) -> Result<PathStat> {
        let place = self.locate(path, Intent::Read, FinalSymlink::Keep, MissingPolicy::Fail)?;
        let stat = place.found.ok_or_else(|| os(Errno::NOENT))?;
        let target = match &place.name {
            Some(name) if stat.kind == Kind::Symlink => Some(
                rustix::fs::readlinkat(&place.dir, name.as_slice(), Vec::new())
                    .map_err(os)?
                    .into_bytes(),
            ),
            _ => None,
        };
        Ok(PathStat { stat, target, real: place.real })
    }

    /// Whether anything is at a path, links followed. A path that cannot be
    /// looked at, for whatever reason, counts as absent.
    pub fn exists(&self, path: &[u8]) -> bool {
        self.stat(path).is_ok()
    }

    /// Where a symbolic link points, as written.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for anything but a link; else as [`Roots::stat`].
    pub fn read_link(&self, path: &[u8]) -> Result<Vec<u8>> {
        self.lstat(path)?
            .target
            .ok_or_else(|| Error::new(Code::InvalidArgument, "not a symbolic link"))
    }

    /// The path with every link resolved. Missing last names are kept as they
    /// are. What may only be written has a real path too.
    ///
    /// # Errors
    /// `OUTSIDE_ALLOWED`, `LOOP` and what the system refuses with.
    pub fn realpath(&self, path: &[u8]) -> Result<Vec<u8>> {
        let resolve = |intent| -> Result<Vec<u8>> {
            let place = self.locate(path, intent, FinalSymlink::Follow, MissingPolicy::Stop)?;
            Ok(place.real_with_missing())
        };
        match resolve(Intent::Read) {
            Err(error) if error.code == Code::OutsideAllowed => {
                resolve(Intent::Write).map_err(|_| error)
            }
            result => result,
        }
    }
}
