//! The functions that only the Node binding exports, each declared once, as in
//! [`filewright_core::exports`]: `scripts/bindings.mjs` writes `generated/` from them.
//!
//! - Functions of `roots` are methods of [`NativeRoots`](crate::root::NativeRoots). The type of a
//!   path says which access the call needs ([`ReadPath`], [`WritePath`]); in JavaScript it is a text
//!   in the form of `filewright_core::text::path::encode_name`.
//! - The type of the result says where the call runs: [`Quick`], [`Scan`], [`OwnThread`]; otherwise on the calling thread.
//! - An optional number crosses as a number, of which a negative one stands for `None`.

pub mod roots;
pub mod system;

use filewright_core::Result;

/// A path of an entry that is read, in the bytes of the file system.
pub type ReadPath = [u8];

/// A path of an entry that is created, changed or removed, in the same form.
pub type WritePath = [u8];

/// The result of a call that runs on a thread of the lane for quick calls.
pub type Quick<T> = Result<T>;

/// The result of a call that walks a tree or reads a whole file of any size. It runs on a thread of
/// the lane for scans.
pub type Scan<T> = Result<T>;

/// The result of a call that may take any time, and runs on a thread of its own.
pub type OwnThread<T> = Result<T>;
