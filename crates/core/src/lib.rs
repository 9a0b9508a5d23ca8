//! The pure part of Filewright: algorithms on bytes.
//!
//! This crate uses no file, thread, clock or operating system call, so that it compiles to
//! WebAssembly unchanged and every result is the same on every engine. `filewright-fs` reads and
//! writes disks.
//!
//! Every public function accepts any input: hostile input gives a typed [`Error`], never a panic,
//! in bounded memory and time.

pub mod anchor;
pub mod chars;
pub mod definitions;
pub mod diff;
pub mod edit;
pub mod encoding;
pub mod error;
pub mod exports;
pub mod fuzzy;
pub mod hash;
pub mod merge3;
pub mod options;
pub mod pack;
pub mod page;
pub mod patch;
pub mod pattern;
pub mod rank;
pub mod search;
pub mod sniff;
pub mod text;
pub mod walk;
pub mod wire;

pub use error::{Code, Error, Result};
