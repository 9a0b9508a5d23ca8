//! Work off the event loop: the promise of a value that another thread computes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use filewright_core::{Error, Result};
use filewright_fs::confine::{Lane, Pool};
use napi::bindgen_prelude::{AsyncTask, ToNapiValue, TypeName};
use napi::{Env, Task, ValueType, sys};

use crate::convert::{guard, panicked, to_napi};
use crate::promise::promise;

type Computation<J> = Box<dyn FnOnce() -> napi::Result<J> + Send>;

/// The value of some work, or its error. napi declares it as `Promise` of the value because of its
/// name.
pub enum Promise<J: Value> {
    /// Computed by a thread of a lane.
    Lane { work: Computation<J>, pool: Arc<Pool>, lane: Lane },
    /// Computed by a separate thread.
    OwnThread(Computation<J>),
    /// Computed by a thread of Node.
    NodeThread(AsyncTask<NodeTask<J>>),
    /// Not computed: the promise is rejected.
    Refused(Error),
}

/// A value that a thread may create and the event loop converts.
pub trait Value: ToNapiValue + TypeName + Send + 'static {}

impl<J: ToNapiValue + TypeName + Send + 'static> Value for J {}

impl<J: Value> Promise<J> {
    /// Work for the threads of a set of roots.
    pub fn in_lane<T: Into<J>>(
        pool: Arc<Pool>,
        lane: Lane,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Self {
        Self::Lane { work: Box::new(|| guard(work).map(Into::into)), pool, lane }
    }

    /// Work of any duration.
    pub fn on_own_thread<T: Into<J>>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Self {
        Self::OwnThread(Box::new(|| guard(work).map(Into::into)))
    }

    /// Work on contents, which are released on the event loop afterwards.
    pub fn on_node_thread<T: Into<J>>(
        mut work: impl FnMut() -> Result<T> + Send + 'static,
    ) -> Self {
        Self::NodeThread(AsyncTask::new(NodeTask(Box::new(move || {
            guard(&mut work).map(Into::into)
        }))))
    }
}

/// Work for a thread of Node.
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
        let settling = |work: Computation<J>| {
            move || {
                // A panic becomes an error, because otherwise the caller would wait forever.
                let value = catch_unwind(AssertUnwindSafe(work));
                let value = value.unwrap_or_else(|_| Err(panicked()));
                deferred.settle(move |_| value);
            }
        };
        match pending {
            Self::Lane { work, pool, lane } => pool.submit(lane, settling(work)),
            Self::OwnThread(work) => drop(std::thread::spawn(settling(work))),
            Self::NodeThread(_) => {}
            Self::Refused(error) => settling(Box::new(|| Err(to_napi(error))))(),
        }
        Ok(promise)
    }
}
