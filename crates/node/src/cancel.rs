//! The cancel token. napi's own `AbortSignal` loses aborts: it ignores a signal
//! that is already aborted and forgets a signal that served an earlier call.

use napi_derive::napi;

#[napi]
#[derive(Default)]
pub struct Cancel(pub(crate) filewright_fs::cancel::Cancel);

#[napi]
impl Cancel {
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    #[napi]
    pub fn cancel(&self) {
        self.0.cancel();
    }
}
