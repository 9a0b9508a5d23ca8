//! Keeps the addon in memory until the process ends.
//!
//! Node unloads an addon when the last environment that has loaded it ends, such as the only worker
//! thread that imports it. The threads of the pool, the allocator and the thread-local variables
//! of threads that still run belong to the addon, so the code must stay. If it is loaded again, the
//! system returns the module that it has.

use std::ffi::c_int;

/// Takes a reference on the module that contains this function, and never returns it. Without
/// success the addon works all the same, except when it is unloaded.
#[napi_derive::module_init]
fn keep_loaded() {
    let mut own = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `dladdr` fills the structure if it returns a number other than 0, and the name of a
    // module stays valid while the module is loaded; `dlopen` then finds the loaded module by name.
    unsafe {
        let here = keep_loaded as *const () as *const libc::c_void;
        if libc::dladdr(here, own.as_mut_ptr()) != 0 {
            let flags: c_int = libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
            libc::dlopen(own.assume_init().dli_fname, flags);
        }
    }
}
