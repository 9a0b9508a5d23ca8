//! The cancel token. napi's own `AbortSignal` loses aborts: it ignores a signal that is already
//! aborted, and forgets a signal that was used in an earlier call.

use napi_derive::napi;

#[napi]
#[derive(Default)]
pub struct CancelToken(pub(crate) filewright_fs::cancel::CancelToken);

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
}
