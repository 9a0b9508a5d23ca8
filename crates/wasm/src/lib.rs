//! The WebAssembly binding: the same names and the same packed results as
//! `filewright-node` for everything in `filewright-core`. No logic.

#![allow(missing_docs)] // documented in js/engine, which is the only caller

mod access;
mod convert;
mod diff;
mod edit;
mod hash;
mod patch;
mod platform;
mod read;
mod search;
