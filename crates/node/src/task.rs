//! Runs work on another thread and returns a JavaScript promise for its result.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use filewright_core::{Error, Result};
use filewright_fs::confine::{Lane, Pool};
use napi::bindgen_prelude::{AsyncTask, ToNapiValue, TypeName};
use napi::{Env, Task, ValueType, sys};

use crate::convert::{guard, panicked, to_napi};
use crate::promise::promise;

/// Work that is done once. What it holds of JavaScript is released on the event loop afterwards.
type Computation<J> = Box<dyn FnMut() -> napi::Result<J> + Send>;

/// A JavaScript promise for the result of some work. Because of its name, napi declares it in
/// TypeScript as `Promise` of the value.
pub enum Promise<J: Value> {
    /// The work runs on a thread of this lane of the pool.
    Lane { work: Computation<J>, pool: Arc<Pool>, lane: Lane },
    /// The same, after a step on a thread that Landlock does not restrict.
    After { step: Box<dyn FnOnce() + Send>, work: Computation<J>, pool: Arc<Pool>, lane: Lane },
    /// The work runs on a new thread of its own.
    OwnThread(Computation<J>),
    /// The work runs on a thread of Node's thread pool.
    NodeThread(AsyncTask<NodeTask<J>>),
    /// No work runs; the promise is rejected with this error.
    Refused(Error),
}

/// A value that another thread creates and the event loop converts for JavaScript.
pub trait Value: ToNapiValue + TypeName + Send + 'static {}

impl<J: ToNapiValue + TypeName + Send + 'static> Value for J {}

impl<J: Value> Promise<J> {
    /// Returns a promise for work on the threads of a set of roots.
    pub fn in_lane<T: Into<J>>(
        pool: Arc<Pool>,
        lane: Lane,
        mut work: impl FnMut() -> Result<T> + Send + 'static,
    ) -> Self {
        Self::Lane { work: Box::new(move || guard(&mut work).map(Into::into)), pool, lane }
    }

    /// Returns the promise for the same work after a step on a thread that Landlock does not
    /// restrict, if a lane does the work.
    pub fn after(self, step: impl FnOnce() + Send + 'static) -> Self {
        match self {
            Self::Lane { work, pool, lane } => {
                Self::After { step: Box::new(step), work, pool, lane }
            }
            other => other,
        }
    }

    /// Returns a promise for work that may take any time, on a thread of its own.
    pub fn on_own_thread<T: Into<J>>(mut work: impl FnMut() -> Result<T> + Send + 'static) -> Self {
        Self::OwnThread(Box::new(move || guard(&mut work).map(Into::into)))
    }

    /// Returns a promise for work on contents that JavaScript passed, on a thread of Node. napi
    /// releases the contents on the event loop afterwards.
    pub fn on_node_thread<T: Into<J>>(
        mut work: impl FnMut() -> Result<T> + Send + 'static,
    ) -> Self {
        Self::NodeThread(AsyncTask::new(NodeTask(Box::new(move || {
            guard(&mut work).map(Into::into)
        }))))
    }
}

/// Work for a thread of Node's thread pool.
pub struct NodeTask<J>(Box<dyn FnMut() -> napi::Result<J> + Send>);

impl<J: Value> Task for NodeTask<J> {
    type Output = J;
    type JsValue = J;

    fn compute(&mut self) -> napi::Result<J> {
        (self.0)()
    }

    fn resolve(&mut self, _env: Env, value: J) -> napi::Result<J> {
        Ok(value)
    }
}

impl<J: Value> TypeName for Promise<J> {
    fn type_name() -> &'static str {
        "Promise"
    }

    fn value_type() -> ValueType {
        ValueType::Object
    }
}

impl<J: Value> ToNapiValue for Promise<J> {
    /// # Safety
    /// As for the trait: `raw` must be the environment of the current call.
    unsafe fn to_napi_value(raw: sys::napi_env, pending: Self) -> napi::Result<sys::napi_value> {
        if let Self::NodeThread(task) = pending {
            // SAFETY: `raw` is guaranteed by the caller.
            return unsafe { AsyncTask::to_napi_value(raw, task) };
        }
        let (deferred, promise) = promise(&Env::from_raw(raw))?;
        let settling = |mut work: Computation<J>| {
            move || {
                // A panic becomes an error, because otherwise the caller would wait forever.
                let value = catch_unwind(AssertUnwindSafe(&mut work));
                let value = value.unwrap_or_else(|_| Err(panicked()));
                deferred.settle(move |_| {
                    // Contents that this thread released would wake the event loop, each for itself.
                    drop(work);
                    value
                });
            }
        };
        match pending {
            Self::Lane { work, pool, lane } => pool.submit(lane, settling(work)),
            Self::After { step, work, pool, lane } => {
                let work = settling(work);
                Pool::unrestricted().submit(lane, move || {
                    step();
                    pool.submit(lane, work);
                });
            }
            Self::OwnThread(work) => drop(std::thread::spawn(settling(work))),
            Self::NodeThread(_) => {}
            Self::Refused(error) => settling(Box::new(move || Err(to_napi(error.clone()))))(),
        }
        Ok(promise)
    }
}
