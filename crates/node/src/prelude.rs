//! What the generated functions use.

pub use crate::cancel::{CancelToken, progress, token};
pub use crate::convert::*;
pub use crate::results::*;
pub use crate::root::{NativeRoots, asked, given};
pub use crate::task::Promise;
pub use filewright_core::pattern::policy::Intent;
pub use filewright_fs::confine::Lane;
pub use napi::bindgen_prelude::{Buffer, Uint8Array, Utf16String};
