//! Keeps the tree up to date: with events of the kernel, and with metadata checks where there are
//! none.
//!
//! - `inotify` reports changes (on other systems `unsupported`), `state` applies them before
//!   each query;
//! - `revalidate` checks the metadata of directories and files whose changes no watch reports;
//! - `listing` and `list` compare a directory with the tree, `dir_scan` scans many new ones in
//!   parallel;
//! - `mounts` detects file systems mounted below a directory, which hide files.

pub(crate) mod dir_scan;
pub(crate) mod event;
#[cfg(target_os = "linux")]
mod inotify;
#[cfg(not(target_os = "linux"))]
#[path = "unsupported.rs"]
mod inotify;
pub(crate) mod list;
pub(crate) mod listing;
pub(crate) mod mounts;
pub(crate) mod revalidate;
pub(crate) mod state;

pub(crate) use inotify::{Watcher, reports_all_changes};
