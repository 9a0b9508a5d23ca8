//! Work off the event loop: one generic task instead of one per function.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use filewright_core::Result;
use filewright_fs::confine::Pool;
use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{Env, Task, ValueType, sys};

use crate::convert::{guard, panicked};
use crate::settle::promise;

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
pub struct OnPool<K> {
    task: K,
    /// Where there is none, the task has a thread of its own.
    pool: Option<Arc<Pool>>,
}

/// Has a thread of `pool` compute a task, which is resolved on the event loop.
pub fn on_pool<K>(pool: &Arc<Pool>, task: K) -> OnPool<K> {
    OnPool { task, pool: Some(Arc::clone(pool)) }
}

/// Has a thread of its own do work that may take as long as it likes.
pub fn on_own_thread<T: Send + 'static, J: ToNapiValue + TypeName + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
    wrap: fn(T) -> J,
) -> OnPool<Job<T, J>> {
    OnPool { task: Job { work: Some(Box::new(work)), wrap }, pool: None }
}

/// Has a thread of `pool` do the work; the promise resolves to what `wrap`
/// makes of its result on the event loop.
pub fn on_pool_with<T: Send + 'static, J: ToNapiValue + TypeName + 'static>(
    pool: &Arc<Pool>,
    work: impl FnOnce() -> Result<T> + Send + 'static,
    wrap: fn(T) -> J,
) -> OnPool<Job<T, J>> {
    on_pool(pool, Job { work: Some(Box::new(work)), wrap })
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
        let Self { mut task, pool } = pending;
        let work = move || {
            // Work that panics is told as such: nobody must wait for it for ever.
            let output = catch_unwind(AssertUnwindSafe(|| task.compute()));
            let output = output.unwrap_or_else(|_| Err(panicked()));
            deferred.settle(move |env| task.resolve(env, output?));
        };
        match pool {
            Some(pool) => pool.submit(work),
            None => drop(std::thread::spawn(work)),
        }
        Ok(promise)
    }
}
