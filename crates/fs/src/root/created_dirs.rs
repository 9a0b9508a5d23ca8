//! Directories that were made on the way, to be removed if the rest fails.

use std::os::fd::OwnedFd;

use filewright_core::Result;
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use crate::dir::cursor::{Cursor, ParentAccess};
use crate::dir::errno::os;

/// Remembers the directories it made and removes those that are still empty
/// when dropped, unless [`CreatedDirs::keep`] was called.
#[derive(Debug, Default)]
pub(crate) struct CreatedDirs {
    /// The directory in which the first was made. The others lie one in
    /// another, so that one descriptor is enough for any depth.
    top: Option<OwnedFd>,
    names: Vec<Vec<u8>>,
    private: bool,
}

impl CreatedDirs {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Directories that only their owner may enter.
    pub(crate) fn private() -> Self {
        Self { top: None, names: Vec::new(), private: true }
    }

    /// Makes a directory. That somebody else just made it is not an error.
    pub(crate) fn make(&mut self, dir: &OwnedFd, name: &[u8]) -> Result<()> {
        let mode = if self.private { 0o700 } else { 0o777 };
        match rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(mode)) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Ok(()),
            Err(errno) => return Err(os(errno)),
        }
        if self.top.is_none() {
            self.top = Some(rustix::io::fcntl_dupfd_cloexec(dir, 0).map_err(os)?);
        }
        self.names.push(name.to_vec());
        Ok(())
    }

    /// How many were made.
    pub(crate) fn count(&self) -> usize {
        self.names.len()
    }

    /// Everything went well: they stay.
    pub(crate) fn keep(mut self) {
        self.names.clear();
    }

    fn remove(&mut self) -> Result<()> {
        let Some(top) = self.top.take() else { return Ok(()) };
        let Some((_, above)) = self.names.split_last() else { return Ok(()) };
        let mut cursor = Cursor::new(top, ParentAccess::Stand);
        for name in above {
            if !cursor.enter(name)? {
                return Ok(());
            }
        }
        while let Some(name) = self.names.pop() {
            rustix::fs::unlinkat(cursor.here()?, name, AtFlags::REMOVEDIR).map_err(os)?;
            if !self.names.is_empty() {
                cursor.leave()?;
            }
        }
        Ok(())
    }
}

impl Drop for CreatedDirs {
    fn drop(&mut self) {
        // What cannot be removed has been used by somebody else meanwhile.
        let _ = self.remove();
    }
}
