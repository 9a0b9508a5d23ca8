//! Acquires a lock file that each holder removes on release. The order of the checks guarantees
//! mutual exclusion in every interleaving.

/// The operations on a lock file that may or may not exist.
pub(crate) trait LockFile {
    /// An open lock file; dropping it releases the lock.
    type File;
    type Error;
    /// Opens the file, or creates it if it is missing.
    fn open(&self) -> Result<Self::File, Self::Error>;
    /// Tries to lock the file; returns false if another process holds the lock.
    fn hold(&self, file: &Self::File) -> Result<bool, Self::Error>;
    /// Reports whether the name still refers to this file.
    fn is_named(&self, file: &Self::File) -> Result<bool, Self::Error>;
}

/// The maximum number of attempts. Each failed one means that another process released the lock
/// meanwhile.
const MAX_ATTEMPTS: usize = 64;

/// Acquires the lock; returns `None` while another process holds it. The holder removes the file
/// while it holds the lock, and then drops it.
pub(crate) fn take<S: LockFile>(site: &S) -> Result<Option<S::File>, S::Error> {
    for _ in 0..MAX_ATTEMPTS {
        let file = site.open()?;
        if !site.hold(&file)? {
            return Ok(None);
        }
        // The lock is on a file that was removed after we opened it: the next attempt creates a new
        // one.
        if site.is_named(&file)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}
