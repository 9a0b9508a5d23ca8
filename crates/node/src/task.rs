//! Work off the event loop: one generic task instead of one per function.

use filewright_core::Result;
use napi::bindgen_prelude::{AsyncTask, ToNapiValue, TypeName};
use napi::{Env, Task};

use crate::convert::guard;

/// A piece of work and how its result becomes a JavaScript value.
pub struct Job<T, J> {
    work: Option<Box<dyn FnOnce() -> Result<T> + Send>>,
    wrap: fn(T) -> J,
}

impl<T: Send + 'static, J: ToNapiValue + TypeName + 'static> Task for Job<T, J> {
    type Output = T;
    type JsValue = J;

    fn compute(&mut self) -> napi::Result<T> {
        // The work is there: a task is computed once.
        match self.work.take() {
            Some(work) => guard(work),
            None => Err(napi::Error::from_status(napi::Status::GenericFailure)),
        }
    }

    fn resolve(&mut self, _env: Env, output: T) -> napi::Result<J> {
        Ok((self.wrap)(output))
    }
}

/// Runs `work` on a thread of the pool; the promise resolves to what `wrap`
/// makes of its result on the event loop.
pub fn off_thread<T: Send + 'static, J: ToNapiValue + TypeName + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
    wrap: fn(T) -> J,
) -> AsyncTask<Job<T, J>> {
    AsyncTask::new(Job { work: Some(Box::new(work)), wrap })
}
