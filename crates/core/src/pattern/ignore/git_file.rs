//! Reads the small files by which git leads from a worktree to its repository: a `.git` file, and
//! `commondir` and `gitdir` of the directory that it names (`gitrepository-layout(5)`). This module
//! knows only their form; the caller opens them and decides which ones are believed.

use super::IgnoreLimits;

/// The maximum size of such a file, in bytes. Git writes one path of at most `PATH_MAX` bytes.
pub const MAX_GIT_FILE_BYTES: usize = IgnoreLimits::MAX_GIT_FILE_BYTES as usize;

/// The text before the path in a `.git` file.
pub const GIT_FILE_KEY: &str = "gitdir: ";

/// Returns the path in a file that consists of `key` and one path. `None` for any other content,
/// such as several lines.
///
/// ```
/// use filewright_core::pattern::ignore::{GIT_FILE_KEY, git_path_in};
/// assert_eq!(git_path_in(b"gitdir: ../.git/modules/a\n", GIT_FILE_KEY), Some(&b"../.git/modules/a"[..]));
/// assert_eq!(git_path_in(b"../..\n", ""), Some(&b"../.."[..]));
/// assert_eq!(git_path_in(b"gitdir: a\nb\n", GIT_FILE_KEY), None);
/// ```
pub fn git_path_in<'a>(content: &'a [u8], key: &str) -> Option<&'a [u8]> {
    if content.len() > MAX_GIT_FILE_BYTES {
        return None;
    }
    let path = content.strip_prefix(key.as_bytes())?;
    let length = path.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'))? + 1;
    let path = &path[..length];
    (!path.iter().any(|byte| matches!(byte, b'\n' | b'\r' | 0))).then_some(path)
}
