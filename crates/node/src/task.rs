//! Work off the event loop: one generic task instead of one per function.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use filewright_core::{Error, Result};
use filewright_fs::confine::{Lane, Pool};
use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{Env, Task, ValueType, sys};

use crate::convert::{guard, panicked, to_napi};
use crate::promise::{Deferred, promise};

/// Work, and the conversion of its result to a JavaScript value.
pub struct Job<T, J> {
    work: Option<Box<dyn FnOnce() -> Result<T> + Send>>,
    wrap: fn(T) -> J,
}

impl<T: Send + 'static, J: ToNapiValue + TypeName + 'static> Task for Job<T, J> {
    type Output = T;
    type JsValue = J;

    fn compute(&mut self) -> napi::Result<T> {
        // A task is computed once, so the work is present.
        match self.work.take() {
            Some(work) => guard(work),
            None => Err(napi::Error::from_status(napi::Status::GenericFailure)),
        }
    }

    fn resolve(&mut self, _env: Env, output: T) -> napi::Result<J> {
        Ok((self.wrap)(output))
    }
}

/// A task for the threads of a set of roots; becomes a promise when it is returned to JavaScript.
pub enum OnPool<K> {
    /// Computed by a thread of a lane.
    Task { task: K, pool: Arc<Pool>, lane: Lane },
    /// Computed by a separate thread.
    Apart(K),
    /// Not computed: the promise is rejected.
    Refused(Error),
}

/// Runs work of any duration on a separate thread.
pub fn on_own_thread<T: Send + 'static, J: ToNapiValue + TypeName + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
    wrap: fn(T) -> J,
) -> OnPool<Job<T, J>> {
    OnPool::Apart(Job::new(work, wrap))
}

impl<T: Send + 'static, J: ToNapiValue + TypeName + 'static> Job<T, J> {
    /// Creates a job from the work and the conversion of its result on the event loop.
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
    /// As for the trait: `raw` must be the environment of the current call.
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

/// Returns the job of a thread that computes a task and settles its promise.
fn computing<K>(mut task: K, deferred: Deferred) -> impl FnOnce() + Send + 'static
where
    K: Task + Send + 'static,
    K::JsValue: ToNapiValue + 'static,
{
    move || {
        // A panic becomes an error, because otherwise the caller would wait forever.
        let output = catch_unwind(AssertUnwindSafe(|| task.compute()));
        let output = output.unwrap_or_else(|_| Err(panicked()));
        deferred.settle(move |env| task.resolve(env, output?));
    }
}
