//! The pure part of Filewright: algorithms on bytes.
//!
//! This crate uses no file, thread, clock or operating system call, so that it compiles to
//! WebAssembly unchanged and every result is the same on every engine. `filewright-fs` reads and
//! writes disks.
//!
//! Every public function is total: hostile input gives a typed [`Error`], never a panic, in bounded
//! memory and time.

pub mod access;
pub mod anchor;
pub mod diff;
pub mod edit;
pub mod encoding;
pub mod error;
pub mod glob;
pub mod hash;
pub mod ignore;
pub mod merge;
pub mod options;
pub mod pack;
pub mod page;
pub mod patch;
pub mod path;
pub mod rank;
pub mod search;
pub mod sniff;
pub mod text;
pub mod unicode_normalize;
pub mod windows_names;

pub use error::{Code, Error, Result};
