//! The cancel token. napi's own `AbortSignal` loses aborts: it ignores a signal that is already
//! aborted, and forgets a signal that was used in an earlier call.

use std::sync::Arc;

use filewright_fs::search::progress::Progress;
use napi_derive::napi;

#[napi]
#[derive(Default)]
pub struct CancelToken(pub(crate) filewright_fs::cancel::CancelToken, pub(crate) Arc<Progress>);

#[napi]
impl CancelToken {
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    #[napi]
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Returns the number of files and of matches in them that the search with this token has
    /// counted so far.
    #[napi]
    pub fn counted(&self) -> Vec<f64> {
        vec![self.1.files() as f64, self.1.matches() as f64]
    }
}
