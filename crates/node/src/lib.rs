//! The Node binding: every function converts its arguments, calls `filewright-core`,
//! `filewright-fs` or `filewright-index`, and converts the result. It contains no logic.
//!
//! - Work above about 100 µs is asynchronous; shorter work is synchronous.
//! - Results cross as [`results::PackedResult`]; errors as the JSON text of
//!   `filewright_core::Error`, so that sync and async calls have the same code.
//! - A panic never ends the host: sync functions catch it, napi catches it in tasks.

#![allow(missing_docs)] // documented in js/engine, which is the only caller

mod allocator;
mod cancel;
mod convert;
mod exports;
mod generated {
    mod files;
    mod roots;
    mod system;
    mod texts;
}
mod hash;
mod lock;
mod prelude;
mod promise;
mod record_files;
mod resident;
mod results;
mod root;
mod task;

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;
