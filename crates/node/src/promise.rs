//! Settling promises from other threads, many in one turn of the event loop.
//!
//! Each environment (the main thread, each worker) has one function that threads
//! may call, made with its first promise. What they have done waits in a queue,
//! and one call has the event loop settle all of it. napi's own deferred makes such
//! a function for every promise, which costs more than reading a small file.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::ToNapiValue;
use napi::{Env, Result, check_status, sys};

use crate::convert::panicked;

/// What is to happen on the event loop, where the environment can be used.
type Settling = Box<dyn FnOnce(sys::napi_env) + Send>;

/// What other threads hand over, until the event loop takes it.
struct Queue {
    function: Function,
    waiting: Mutex<PendingCount>,
}

#[derive(Default)]
struct PendingCount {
    done: Vec<Settling>,
    /// Whether the event loop was called and has not come yet.
    called: bool,
    /// Whether the environment is gone.
    closed: bool,
}

/// The function that threads may call.
struct Function(sys::napi_threadsafe_function);

// SAFETY: calling it is what a threadsafe function is for; everything else that is
// done with it happens on the thread that made it.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// The queue of one environment, as its own thread sees it.
struct EnvState {
    env: sys::napi_env,
    queue: Arc<Queue>,
    /// Promises that are not settled yet: while there are any, the process waits for them.
    pending: Cell<usize>,
}

thread_local! {
    /// One for each environment of this thread; there is seldom more than one.
    static HERE: RefCell<Vec<Rc<EnvState>>> = const { RefCell::new(Vec::new()) };
}

/// A promise that a thread will settle. Dropped before it was, it is rejected: nobody
/// must wait for ever, and the process does not end while a promise is pending.
pub struct Deferred {
    queue: Arc<Queue>,
    /// Until it is settled.
    raw: Option<Raw>,
}

struct Raw(sys::napi_deferred);

// SAFETY: other threads only carry it; it is used where the environment is.
unsafe impl Send for Raw {}

/// A new promise of the environment, and what settles it.
///
/// # Errors
/// What napi fails with.
pub fn promise(env: &Env) -> Result<(Deferred, sys::napi_value)> {
    let here = here(env.raw())?;
    let (mut raw, mut promise) = (null_mut(), null_mut());
    // SAFETY: `env` is the environment of the current call, and both places are ours.
    check_status!(unsafe { sys::napi_create_promise(here.env, &mut raw, &mut promise) })?;
    here.expect_one_more();
    Ok((Deferred { queue: Arc::clone(&here.queue), raw: Some(Raw(raw)) }, promise))
}

impl Deferred {
    /// Has the event loop settle the promise with what `value` makes there. May be
    /// called on any thread; where the environment is gone, nothing happens.
    pub fn settle<T: ToNapiValue>(mut self, value: impl FnOnce(Env) -> Result<T> + Send + 'static) {
        self.put(value);
    }

    fn put<T: ToNapiValue>(&mut self, value: impl FnOnce(Env) -> Result<T> + Send + 'static) {
        let Some(raw) = self.raw.take() else { return };
        self.queue.put(Box::new(move |env| {
            let raw = raw;
            // A panic may not pass through the event loop.
            let value = catch_unwind(AssertUnwindSafe(|| value(Env::from_raw(env))));
            let value = value.unwrap_or_else(|_| Err(panicked())).and_then(|value| {
                // SAFETY: `env` is the environment whose event loop runs this.
                unsafe { T::to_napi_value(env, value) }
            });
            // SAFETY: as above; the promise is settled here and nowhere else.
            unsafe { conclude(env, raw.0, value) };
        }));
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        self.put(|_| Err::<(), _>(panicked()));
    }
}

/// # Safety
/// `env` is the environment of the current call, and `raw` a promise of it that is
/// not settled.
unsafe fn conclude(env: sys::napi_env, raw: sys::napi_deferred, value: Result<sys::napi_value>) {
    // A failure here means that the environment is ending, and nobody waits any more.
    match value {
        // SAFETY: the caller's promise, handed on.
        Ok(value) => unsafe { sys::napi_resolve_deferred(env, raw, value) },
        // SAFETY: the caller's promise, handed on.
        Err(error) => match unsafe { napi::Error::to_napi_value(env, error) } {
            // SAFETY: the caller's promise, handed on.
            Ok(error) => unsafe { sys::napi_reject_deferred(env, raw, error) },
            Err(_) => sys::Status::napi_generic_failure,
        },
    };
}

impl Queue {
    fn put(&self, settling: Settling) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.closed {
            return;
        }
        waiting.done.push(settling);
        if !waiting.called {
            waiting.called = true;
            let mode = sys::ThreadsafeFunctionCallMode::nonblocking;
            // SAFETY: it is not closed, and cannot become so while the lock is held. That it
            // cannot be called any more means that it is closing, and then nobody waits.
            unsafe { sys::napi_call_threadsafe_function(self.function.0, null_mut(), mode) };
        }
    }

    fn take(&self) -> Vec<Settling> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.called = false;
        std::mem::take(&mut waiting.done)
    }
}

impl EnvState {
    fn expect_one_more(&self) {
        self.pending.set(self.pending.get() + 1);
        if self.pending.get() == 1 {
            // SAFETY: on the thread of the environment, which has not ended.
            unsafe { sys::napi_ref_threadsafe_function(self.env, self.queue.function.0) };
        }
    }

    fn expect_fewer(&self, wait_for_pending: usize) {
        self.pending.set(self.pending.get().saturating_sub(wait_for_pending));
        if self.pending.get() == 0 {
            // SAFETY: as above.
            unsafe { sys::napi_unref_threadsafe_function(self.env, self.queue.function.0) };
        }
    }
}

/// The queue of an environment; made when it is first asked for.
fn here(env: sys::napi_env) -> Result<Rc<EnvState>> {
    if let Some(here) = known(env) {
        return Ok(here);
    }
    let function = function(env)?;
    let queue = Arc::new(Queue { function: Function(function), waiting: Mutex::default() });
    let here = Rc::new(EnvState { env, queue, pending: Cell::new(0) });
    // SAFETY: the thread of the environment. Nothing is pending: it keeps no process alive.
    unsafe { sys::napi_unref_threadsafe_function(env, function) };
    HERE.with_borrow_mut(|all| all.push(Rc::clone(&here)));
    Ok(here)
}

fn known(env: sys::napi_env) -> Option<Rc<EnvState>> {
    HERE.try_with(|all| all.borrow().iter().find(|here| here.env == env).cloned()).ok().flatten()
}

fn function(env: sys::napi_env) -> Result<sys::napi_threadsafe_function> {
    const NAME: &CStr = c"filewright";
    let (mut name, mut function) = (null_mut(), null_mut());
    let length = NAME.count_bytes() as isize;
    // SAFETY: `env` is the environment of the current call; the name outlives the call.
    check_status!(unsafe { sys::napi_create_string_utf8(env, NAME.as_ptr(), length, &mut name) })?;
    // SAFETY: as above; `closed` gets the environment as what it is to finalise, and the
    // queue is found by it, so that no pointer into Rust is kept.
    check_status!(unsafe {
        sys::napi_create_threadsafe_function(
            env,
            null_mut(),
            null_mut(),
            name,
            0,
            1,
            env.cast::<c_void>(),
            Some(closed),
            null_mut(),
            Some(called),
            &mut function,
        )
    })?;
    Ok(function)
}

/// The event loop's half: settles everything that waits.
unsafe extern "C" fn called(
    env: sys::napi_env,
    _function: sys::napi_value,
    _context: *mut c_void,
    _data: *mut c_void,
) {
    // Without an environment it is ending: `closed` has dropped what waited.
    let Some(here) = known(env) else { return };
    let done = here.queue.take();
    here.expect_fewer(done.len());
    for settling in done {
        settling(env);
    }
}

/// The environment ends: what waits is dropped, and what comes later as well.
unsafe extern "C" fn closed(_env: sys::napi_env, of: *mut c_void, _hint: *mut c_void) {
    // The thread itself may be further gone than the environment.
    let gone = HERE.try_with(|all| {
        let mut all = all.borrow_mut();
        let at = all.iter().position(|here| here.env.cast::<c_void>() == of)?;
        Some(all.swap_remove(at))
    });
    let Ok(Some(gone)) = gone else { return };
    let waiting = {
        let mut waiting = gone.queue.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.closed = true;
        std::mem::take(&mut waiting.done)
    };
    // Dropped without the lock: what it holds may have something to put.
    drop(waiting);
}
