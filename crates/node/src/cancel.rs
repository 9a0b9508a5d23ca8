//! Bindings for the cancel token. It replaces napi's `AbortSignal`, which ignores a signal that is
//! aborted before the call, and one that was used in an earlier call.

use std::sync::Arc;

use filewright_fs::cancel::CancelToken as Token;
use filewright_fs::search::progress::Progress;
use napi_derive::napi;

/// The flag by which JavaScript cancels a call, and the counts of a running search.
#[napi]
#[derive(Default)]
pub struct CancelToken(pub(crate) Token, pub(crate) Arc<Progress>);

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

    /// Returns two numbers: the files that the search with this token has searched so far, and the
    /// matches found in them.
    #[napi]
    pub fn counted(&self) -> Vec<f64> {
        vec![self.1.files() as f64, self.1.matches() as f64]
    }
}

/// Returns the token of a call; one that is never cancelled if the caller passed none.
pub fn token(cancel: Option<&CancelToken>) -> Token {
    cancel.map(|cancel| cancel.0.clone()).unwrap_or_default()
}

/// Returns the counts of a call; fresh ones if the caller passed no token.
pub fn progress(cancel: Option<&CancelToken>) -> Arc<Progress> {
    cancel.map(|cancel| Arc::clone(&cancel.1)).unwrap_or_default()
}
