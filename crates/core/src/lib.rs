//! The pure half of Filewright: algorithms on bytes.
//!
//! Nothing here touches a file, a thread, a clock or the operating system, so
//! the crate compiles to WebAssembly as it is and every answer is the same on
//! every engine. What reads and writes disks lives in `filewright-fs`.
//!
//! Every public function is total: hostile input gives a typed [`Error`],
//! never a panic, in bounded memory and time.

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
