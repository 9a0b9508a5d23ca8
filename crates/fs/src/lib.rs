//! The part of Filewright that reads and writes a disk.
//!
//! Every operation starts at a [`root`] and is descriptor-relative: no function returns an absolute
//! path for later use, and `std::fs` is not used.

// The tests use `std::fs`, because they access the disk from outside the roots.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod after_job;
pub mod cancel;
pub mod change_flags;
pub mod commit;
pub mod confine;
pub mod dir;
mod flag;
mod helper;
pub mod lock;
mod process;
pub mod read;
pub mod records;
pub mod root;
pub mod search;
mod sync;
pub mod transfer;
pub mod walk;
pub mod write;
