//! The missing parent directories that an operation creates; they are removed again if the
//! operation fails.

use std::os::fd::OwnedFd;

use filewright_core::Result;
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use crate::dir::cursor::{DirCursor, ParentAccess};
use crate::dir::errno::os_error;

/// Records created directories and, when dropped, removes those that are still empty, unless
/// [`CreatedDirs::keep`] was called.
#[derive(Debug, Default)]
pub(crate) struct CreatedDirs {
    /// The directory in which the first was created. Each of the others lies in the one before, so
    /// no other descriptor is needed.
    top: Option<OwnedFd>,
    names: Vec<Vec<u8>>,
    private: bool,
}

impl CreatedDirs {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Returns an empty record whose directories will have the mode 0700, so that only their owner
    /// may enter them.
    pub(crate) fn private() -> Self {
        Self { top: None, names: Vec::new(), private: true }
    }

    /// Creates a directory and records it. If another process has just created it, succeeds without
    /// recording it.
    pub(crate) fn make(&mut self, dir: &OwnedFd, name: &[u8]) -> Result<()> {
        let mode = if self.private { 0o700 } else { 0o777 };
        match rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(mode)) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Ok(()),
            Err(errno) => return Err(os_error(errno)),
        }
        if self.top.is_none() {
            self.top = Some(rustix::io::fcntl_dupfd_cloexec(dir, 0).map_err(os_error)?);
        }
        self.names.push(name.to_vec());
        Ok(())
    }

    /// Returns the number of recorded directories.
    pub(crate) fn count(&self) -> usize {
        self.names.len()
    }

    /// Keeps the directories, because the operation succeeded.
    pub(crate) fn keep(mut self) {
        self.names.clear();
    }

    /// Removes the recorded directories, innermost first, until one is not empty.
    fn remove(&mut self) -> Result<()> {
        let Some(top) = self.top.take() else { return Ok(()) };
        let Some((_, above)) = self.names.split_last() else { return Ok(()) };
        let mut cursor = DirCursor::new(top, ParentAccess::Stand);
        for name in above {
            if !cursor.enter(name)? {
                return Ok(());
            }
        }
        while let Some(name) = self.names.pop() {
            rustix::fs::unlinkat(cursor.current_dir()?, name, AtFlags::REMOVEDIR)
                .map_err(os_error)?;
            if !self.names.is_empty() {
                cursor.leave()?;
            }
        }
        Ok(())
    }
}

impl Drop for CreatedDirs {
    fn drop(&mut self) {
        // A directory that cannot be removed is in use by another process now.
        let _ = self.remove();
    }
}
