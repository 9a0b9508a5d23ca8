//! Who has a lock file, where each holder removes it in the end: the order of
//! looks that keeps two from having it, whatever happens between them.

/// Where a lock file is, or will be.
pub(crate) trait LockFile {
    /// An open lock file; dropped, it is held no more.
    type File;
    type Error;
    /// Opens it, or makes it where it is missing.
    fn open(&self) -> Result<Self::File, Self::Error>;
    /// Holds it, unless somebody else does.
    fn hold(&self, file: &Self::File) -> Result<bool, Self::Error>;
    /// Whether it is still the one that the name stands for.
    fn is_named(&self, file: &Self::File) -> Result<bool, Self::Error>;
}

/// Turns until it counts as taken. Each that fails is somebody else's release.
const MAX_ATTEMPTS: usize = 64;

/// Takes the lock, or gives `None` while another has it. Who has it removes the
/// file while it is held, and drops it then.
pub(crate) fn take<S: LockFile>(site: &S) -> Result<Option<S::File>, S::Error> {
    for _ in 0..MAX_ATTEMPTS {
        let file = site.open()?;
        if !site.hold(&file)? {
            return Ok(None);
        }
        // Held, but of a file that was removed between the two: the next to come
        // makes another one, and holds that.
        if site.is_named(&file)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}
