//! The half of Filewright that touches a disk.
//!
//! Every operation starts at a [`root`] and is descriptor-relative: no function
//! returns an absolute path for later use, and `std::fs` is not used.

// Tests look at the disk from outside the roots.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod aside;
pub mod cancel;
pub mod confine;
pub(crate) mod errno;
pub mod facts;
pub mod find;
mod flag;
pub mod grep;
pub mod index;
pub mod list;
pub mod list_tree;
pub mod lock;
pub mod mutate;
pub mod page;
mod process;
pub mod read;
pub mod root;
pub mod stat;
mod sync;
pub mod transfer;
pub mod tree;
mod version;
pub mod walk;
pub mod write;
