//! The functions and classes that both bindings export, each declared once.
//!
//! `scripts/bindings.mjs` reads the files of this folder and writes `generated/` of the crates
//! `filewright-node` and `filewright-wasm`: each public function, and each public struct with its
//! methods, under the same name in camel case and with the same doc comment. `new` becomes the
//! constructor. A function here converts, calls and converts, in one expression where possible; the
//! work is done elsewhere in this crate.
//!
//! - `texts` is everything in the small WebAssembly module, `files` what only the other one has.
//! - The types of the arguments and the result say how they cross; a type that the script does not
//!   know is an error. Records cross as [`Packed`](crate::pack::Packed).
//! - The type of the result also says where the function runs: [`AlsoAsync`], [`OnlyAsync`].
//!   Otherwise it runs on the calling thread.

pub mod files;
pub mod texts;

use crate::error::Result;

/// The result of a function that Node exports twice: as it is, and with `_async` after its name,
/// running on another thread.
pub type AlsoAsync<T> = Result<T>;

/// The result of a function that only Node exports, and that runs on another thread.
pub type OnlyAsync<T> = Result<T>;

/// A text that may be long and have characters outside Latin-1. Node passes it as UTF-16, which is
/// then faster than UTF-8.
pub type Utf16Text = str;
