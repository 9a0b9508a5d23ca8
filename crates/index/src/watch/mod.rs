//! The tree as it is on the disk now: what the kernel reports, and what is asked where it does
//! not.
//!
//! - `inotify` reports what changed (on other systems `unsupported`), `state` takes it in
//!   before each query;
//! - `revalidate` asks directories and files that no watch reports;
//! - `listing` and `list` compare a directory with what was known of it, `dir_scan` does so for
//!   many new ones at once;
//! - `mounts` tells what is mounted over files.

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

pub(crate) use inotify::{Watch, tells};
