//! What the generated functions use.

pub use crate::cancel::{CancelToken, token};
pub use crate::convert::*;
pub use crate::results::*;
pub use crate::task::Promise;
pub use napi::bindgen_prelude::{Buffer, Uint8Array, Utf16String};
