//! Work off the event loop: one generic task instead of one per function.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use filewright_core::{Error, Result};
use filewright_fs::confine::{Lane, Pool};
use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{Env, Task, ValueType, sys};

use crate::convert::{guard, panicked, to_napi};
use crate::promise::{Deferred, promise};

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

/// A task for the threads of a set of roots; becomes a promise when it is
/// handed to JavaScript.
pub enum OnPool<K> {
    /// It is computed by a thread of a lane.
    Task { task: K, pool: Arc<Pool>, lane: Lane },
    /// It has a thread of its own.
    Apart(K),
    /// It is not computed: the promise is rejected.
    Refused(Error),
}

/// Has a thread of its own do work that may take as long as it likes.
pub fn on_own_thread<T: Send + 'static, J: ToNapiValue + TypeName + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
    wrap: fn(T) -> J,
) -> OnPool<Job<T, J>> {
    OnPool::Apart(Job::new(work, wrap))
}

impl<T: Send + 'static, J: ToNapiValue + TypeName + 'static> Job<T, J> {
    /// The work, and what its result becomes on the event loop.
    pub fn new(work: impl FnOnce() -> Result<T> + Send + 'static, wrap: fn(T) -> J) -> Self {
        Self { work: Some(Box::new(work)), wrap }
    }
}

impl<K> TypeName for OnPool<K> {
    fn type_name() -> &'static str {
        "Promise"
    }

    fn value_type() -> ValueType {
        ValueType::Object
    }
}

impl<K> ToNapiValue for OnPool<K>
where
    K: Task + Send + 'static,
    K::JsValue: ToNapiValue + 'static,
{
    /// # Safety
    /// As the trait's: `raw` is the environment of the current call.
    unsafe fn to_napi_value(raw: sys::napi_env, pending: Self) -> napi::Result<sys::napi_value> {
        let (deferred, promise) = promise(&Env::from_raw(raw))?;
        match pending {
            Self::Task { task, pool, lane } => pool.submit(lane, computing(task, deferred)),
            Self::Apart(task) => drop(std::thread::spawn(computing(task, deferred))),
            Self::Refused(error) => deferred.settle(move |_| Err::<(), _>(to_napi(error))),
        }
        Ok(promise)
    }
}

/// What a thread does to settle the promise of a task.
fn computing<K>(mut task: K, deferred: Deferred) -> impl FnOnce() + Send + 'static
where
    K: Task + Send + 'static,
    K::JsValue: ToNapiValue + 'static,
{
    move || {
        // Work that panics is told as such: nobody must wait for it for ever.
        let output = catch_unwind(AssertUnwindSafe(|| task.compute()));
        let output = output.unwrap_or_else(|_| Err(panicked()));
        deferred.settle(move |env| task.resolve(env, output?));
    }
}
