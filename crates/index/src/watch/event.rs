//! The changes that inotify reports for watched directories.

use std::ffi::CStr;

/// A change of a watched directory.
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "never given where nothing is watched")
)]
pub(crate) enum WatchEvent<'a> {
    /// Events were lost.
    Overflow,
    /// The watch ended, because the directory was deleted.
    Ended(i32),
    /// The file system was unmounted.
    Unmounted,
    /// The directory itself was moved or deleted.
    Moved(i32),
    /// The metadata of the directory itself changed, such as its permissions.
    Itself(i32),
    /// An entry was added, removed or replaced.
    Entry { watch: i32, name: &'a CStr, is_dir: bool },
    /// The content or the metadata of an entry changed.
    Content { watch: i32, name: &'a CStr, is_dir: bool },
}
