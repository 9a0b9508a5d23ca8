//! Settles promises from other threads, many in one turn of the event loop.
//!
//! Each napi environment (of the main thread and of each worker) has one threadsafe function,
//! created with its first promise. Results wait in a queue, and one call of the function makes the
//! event loop settle all of them. napi's own deferred creates such a function for every promise,
//! which costs more than reading a small file.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::ToNapiValue;
use napi::{Env, Result, check_status, sys};

use crate::convert::panicked;

/// A function that settles one promise. It runs on the event loop, because only there the
/// environment can be used.
type Settling = Box<dyn FnOnce(sys::napi_env) + Send>;

/// The results of other threads that wait for the event loop of one environment.
struct SettleQueue {
    function: Function,
    waiting: Mutex<PendingCount>,
}

#[derive(Default)]
struct PendingCount {
    done: Vec<Settling>,
    /// True if the threadsafe function was called and the event loop has not taken the results yet.
    called: bool,
    /// True if the environment has ended.
    closed: bool,
}

/// The threadsafe function of an environment.
struct Function(sys::napi_threadsafe_function);

// SAFETY: a threadsafe function may be called from any thread; all other uses are on the thread
// that created it.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// The promises of an environment, kept by its thread.
struct EnvState {
    env: sys::napi_env,
    queue: Arc<SettleQueue>,
    /// The number of unsettled promises. While there are any, the process does not end by itself.
    pending: Cell<usize>,
}

thread_local! {
    /// The environments of this thread; usually only one.
    static HERE: RefCell<Vec<Rc<EnvState>>> = const { RefCell::new(Vec::new()) };
}

/// A promise that another thread settles. Dropping it unsettled rejects the promise, because
/// otherwise the caller would wait forever and keep the process alive.
pub struct Deferred {
    queue: Arc<SettleQueue>,
    /// `None` once it is settled.
    raw: Option<Raw>,
}

struct Raw(sys::napi_deferred);

// SAFETY: other threads only pass it on; it is used only on the thread of the environment.
unsafe impl Send for Raw {}

/// Returns a new promise of the environment and the handle that settles it.
///
/// # Errors
/// napi errors.
pub fn promise(env: &Env) -> Result<(Deferred, sys::napi_value)> {
    let env_state = env_state(env.raw())?;
    let (mut raw, mut promise) = (null_mut(), null_mut());
    // SAFETY: `env` is the environment of the current call, and both pointers are to local
    // variables.
    check_status!(unsafe { sys::napi_create_promise(env_state.env, &mut raw, &mut promise) })?;
    env_state.expect_one_more();
    Ok((Deferred { queue: Arc::clone(&env_state.queue), raw: Some(Raw(raw)) }, promise))
}

impl Deferred {
    /// Settles the promise on the event loop with the result of `value`. May be called on any
    /// thread; has no effect if the environment has ended.
    pub fn settle<T: ToNapiValue>(mut self, value: impl FnOnce(Env) -> Result<T> + Send + 'static) {
        self.put(value);
    }

    fn put<T: ToNapiValue>(&mut self, value: impl FnOnce(Env) -> Result<T> + Send + 'static) {
        let Some(raw) = self.raw.take() else { return };
        self.queue.put(Box::new(move |env| {
            let raw = raw;
            // A panic must not unwind through the event loop.
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
/// `env` must be the environment of the current call, and `raw` an unsettled promise of it.
unsafe fn conclude(env: sys::napi_env, raw: sys::napi_deferred, value: Result<sys::napi_value>) {
    // An error here means that the environment is ending, so no caller is waiting.
    match value {
        // SAFETY: guaranteed by the caller.
        Ok(value) => unsafe { sys::napi_resolve_deferred(env, raw, value) },
        // SAFETY: guaranteed by the caller.
        Err(error) => match unsafe { napi::Error::to_napi_value(env, error) } {
            // SAFETY: guaranteed by the caller.
            Ok(error) => unsafe { sys::napi_reject_deferred(env, raw, error) },
            Err(_) => sys::Status::napi_generic_failure,
        },
    };
}

impl SettleQueue {
    fn put(&self, settling: Settling) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.closed {
            return;
        }
        waiting.done.push(settling);
        if !waiting.called {
            waiting.called = true;
            let mode = sys::ThreadsafeFunctionCallMode::nonblocking;
            // SAFETY: it is not closed, and cannot be closed while the lock is held. An error means
            // that it is closing, and then no caller is waiting.
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
    /// Counts a new promise. The first one keeps the process alive.
    fn expect_one_more(&self) {
        self.pending.set(self.pending.get() + 1);
        if self.pending.get() == 1 {
            // SAFETY: on the thread of the environment, which has not ended.
            unsafe { sys::napi_ref_threadsafe_function(self.env, self.queue.function.0) };
        }
    }

    /// Subtracts settled promises. Without any left, the process may end.
    fn expect_fewer(&self, wait_for_pending: usize) {
        self.pending.set(self.pending.get().saturating_sub(wait_for_pending));
        if self.pending.get() == 0 {
            // SAFETY: as above.
            unsafe { sys::napi_unref_threadsafe_function(self.env, self.queue.function.0) };
        }
    }
}

/// Returns the state of an environment, created on the first call.
fn env_state(env: sys::napi_env) -> Result<Rc<EnvState>> {
    if let Some(env_state) = known(env) {
        return Ok(env_state);
    }
    let function = function(env)?;
    let queue = Arc::new(SettleQueue { function: Function(function), waiting: Mutex::default() });
    let env_state = Rc::new(EnvState { env, queue, pending: Cell::new(0) });
    // SAFETY: the thread of the environment. No promise is pending, so it must not keep the process
    // alive.
    unsafe { sys::napi_unref_threadsafe_function(env, function) };
    HERE.with_borrow_mut(|all| all.push(Rc::clone(&env_state)));
    Ok(env_state)
}

/// Returns the state of an environment, if it was created.
fn known(env: sys::napi_env) -> Option<Rc<EnvState>> {
    HERE.try_with(|all| all.borrow().iter().find(|env_state| env_state.env == env).cloned())
        .ok()
        .flatten()
}

/// Creates the threadsafe function of an environment.
fn function(env: sys::napi_env) -> Result<sys::napi_threadsafe_function> {
    const FUNCTION_NAME: &CStr = c"filewright";
    let (mut name, mut function) = (null_mut(), null_mut());
    let length = FUNCTION_NAME.count_bytes() as isize;
    // SAFETY: `env` is the environment of the current call; the name outlives the call.
    check_status!(unsafe {
        sys::napi_create_string_utf8(env, FUNCTION_NAME.as_ptr(), length, &mut name)
    })?;
    // SAFETY: as above; `closed` receives the environment as its data and finds the queue by it, so
    // that no pointer into Rust is stored.
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

/// Runs on the event loop: settles everything in the queue.
unsafe extern "C" fn called(
    env: sys::napi_env,
    _function: sys::napi_value,
    _context: *mut c_void,
    _data: *mut c_void,
) {
    // If it is not known, the environment has ended and `closed` has dropped its queue.
    let Some(env_state) = known(env) else { return };
    let done = env_state.queue.take();
    env_state.expect_fewer(done.len());
    for settling in done {
        settling(env);
    }
}

/// Runs when the environment ends: drops the waiting results, and makes the queue drop later ones.
unsafe extern "C" fn closed(_env: sys::napi_env, of: *mut c_void, _hint: *mut c_void) {
    // The thread-local storage may be destroyed before the environment.
    let gone = HERE.try_with(|all| {
        let mut all = all.borrow_mut();
        let at = all.iter().position(|env_state| env_state.env.cast::<c_void>() == of)?;
        Some(all.swap_remove(at))
    });
    let Ok(Some(gone)) = gone else { return };
    let waiting = {
        let mut waiting = gone.queue.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.closed = true;
        std::mem::take(&mut waiting.done)
    };
    // Dropped after the lock is released, because dropping a result may add another to the queue.
    drop(waiting);
}
