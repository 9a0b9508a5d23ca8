//! What is told of a watched directory.

use std::ffi::CStr;

/// What happened.
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "never given where nothing is watched")
)]
pub(crate) enum Event<'a> {
    /// Events were lost.
    Overflow,
    /// The watch is no more: the directory is gone.
    Ended(i32),
    /// The file system is gone.
    Unmounted,
    /// The directory itself was moved or deleted.
    Moved(i32),
    /// The rights or times of the directory itself changed.
    Itself(i32),
    /// An entry came, went or was replaced.
    Entry { watch: i32, name: &'a CStr, is_dir: bool },
    /// The content or the facts of an entry changed.
    Content { watch: i32, name: &'a CStr, is_dir: bool },
}
