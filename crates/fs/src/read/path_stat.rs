//! Metadata of a path: its type, its real path, and the target of a link.

use filewright_core::pattern::policy::Intent;
use filewright_core::{Code, Error, Result};
use rustix::io::Errno;

use crate::dir::errno::os_error;
use crate::dir::stat::{Kind, Stat};
use crate::root::{FinalSymlink, MissingPolicy, Roots};

/// The metadata of one path.
#[derive(Clone, Debug)]
pub struct PathStat {
    /// The metadata of the entry.
    pub stat: Stat,
    /// The text of the symbolic link, if the entry is one; `None` if links were followed.
    pub target: Option<Vec<u8>>,
    /// The absolute real path. For rules and messages; it must never be opened.
    pub real: Vec<u8>,
}

impl Roots {
    /// Returns the metadata of a path; follows links.
    ///
    /// # Errors
    /// `NOT_FOUND`, `OUTSIDE_ALLOWED` and the system's errors.
    pub fn stat(&self, path: &[u8]) -> Result<PathStat> {
        let place = self.locate(path, Intent::Read, FinalSymlink::Follow, MissingPolicy::Fail)?;
        let stat = place.found.ok_or_else(|| os_error(Errno::NOENT))?;
        Ok(PathStat { stat, target: None, real: place.real })
    }

    /// Returns the metadata of a path itself; does not follow a link.
    ///
    /// # Errors
    /// Like [`Roots::stat`].
    pub fn lstat(&self, path: &[u8]) -> Result<PathStat> {
        let place = self.locate(path, Intent::Read, FinalSymlink::Keep, MissingPolicy::Fail)?;
        let stat = place.found.ok_or_else(|| os_error(Errno::NOENT))?;
        let target = match &place.name {
            Some(name) if stat.kind == Kind::Symlink => Some(
                rustix::fs::readlinkat(&place.dir, name.as_slice(), Vec::new())
                    .map_err(os_error)?
                    .into_bytes(),
            ),
            _ => None,
        };
        Ok(PathStat { stat, target, real: place.real })
    }

    /// Reports whether a path exists; follows links. A path that cannot be inspected for any reason
    /// counts as missing.
    pub fn exists(&self, path: &[u8]) -> bool {
        self.stat(path).is_ok()
    }

    /// Returns the text of a symbolic link: the path that it leads to, not resolved.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an entry that is no link; otherwise like [`Roots::stat`].
    pub fn read_link(&self, path: &[u8]) -> Result<Vec<u8>> {
        self.lstat(path)?
            .target
            .ok_or_else(|| Error::new(Code::InvalidArgument, "not a symbolic link"))
    }

    /// Returns the path with all links resolved. Names at the end that do not exist are kept. The
    /// path must be readable or writable by the policy.
    ///
    /// # Errors
    /// `OUTSIDE_ALLOWED`, `LOOP` and the system's errors.
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
