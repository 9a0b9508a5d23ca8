//! The WebAssembly binding: the same names and the same packed results as `filewright-node` for
//! everything in `filewright-core`. It contains no logic.
//!
//! Built twice: completely, and without the feature `files` for pages that only compare and change
//! texts. The linker drops unreachable code.

#![allow(missing_docs)] // documented in js/engine, which is the only caller

mod convert;
mod generated {
    #[cfg(feature = "files")]
    mod files;
    mod texts;
}
mod normal;
mod objects;
#[cfg(feature = "files")]
mod platform;
