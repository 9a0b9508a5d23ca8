//! Acquires a lock file that each holder removes on release, or keeps under another name. The order
//! of the checks guarantees mutual exclusion in every interleaving.

/// The operations on one lock file, which need not exist.
pub(crate) trait LockFile {
    /// An open lock file; dropping it releases the lock.
    type File;
    type Error;
    /// Opens the file, or creates it if it is missing.
    fn open(&self) -> Result<Self::File, Self::Error>;
    /// Tries to lock an open file without waiting; returns false if another process holds its lock.
    fn hold(&self, file: &Self::File) -> Result<bool, Self::Error>;
    /// Reports whether the name of the lock file still refers to this open file, and not to a newer
    /// one or to none.
    fn is_named(&self, file: &Self::File) -> Result<bool, Self::Error>;
}

/// The maximum number of attempts. One fails if another process has released the lock, and thereby
/// removed the file, between the opening and the locking. Beyond it, the lock counts as held.
const MAX_LOCK_ATTEMPTS: usize = 64;

/// Acquires the lock without waiting, and returns the locked file; `None` if another process holds
/// the lock. To release it, the caller removes the file first and drops it then.
pub(crate) fn try_acquire<S: LockFile>(site: &S) -> Result<Option<S::File>, S::Error> {
    for _ in 0..MAX_LOCK_ATTEMPTS {
        let file = site.open()?;
        if !site.hold(&file)? {
            // Its holder may have released this name and kept the file.
            if !site.is_named(&file)? {
                continue;
            }
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
