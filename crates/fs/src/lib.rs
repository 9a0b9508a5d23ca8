//! The half of Filewright that touches a disk.
//!
//! Every operation starts at a [`root`] and is descriptor-relative: no function
//! returns an absolute path for later use, and `std::fs` is not used.

pub mod cancel;
