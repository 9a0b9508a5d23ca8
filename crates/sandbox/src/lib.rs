//! Runs a command under restrictions by the kernel: files only below its roots, and no network.
//!
//! A supervisor process is forked for each command and ends every process that the command started.
//! The command either applies Landlock and seccomp itself, or is a program that creates namespaces
//! (bubblewrap) and receives the filter. The host process is not restricted. A restriction that
//! cannot be enforced is refused, unless the caller allows less; the outcome then says what was
//! enforced.
//!
//! Landlock restricts only some operations, such as opening: a command may change the permission
//! bits of the user's files outside. Preventing that requires a mount namespace.

#[cfg(target_os = "linux")]
mod control_group;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod place;
#[cfg(target_os = "linux")]
mod process_table;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod scan;
#[cfg(target_os = "linux")]
mod seccomp;
mod spec;
#[cfg(target_os = "linux")]
mod supervisor;
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
mod syscalls;

#[cfg(target_os = "linux")]
pub use place::RootedPath;
pub use spec::{
    Command, EnforcedLayers, Limit, Permissions, Probe, ResourceLimits, RunOutcome, ScanSpec,
};
pub use syscalls::syscall_names;

use filewright_core::Result;
#[cfg(not(target_os = "linux"))]
use filewright_core::{Code, Error};
use filewright_fs::cancel::CancelToken;

/// Returns what the kernel would restrict for a command with these permissions.
///
/// # Errors `SANDBOX_SETUP_FAILED` if the permissions cannot be enforced and
/// [`Permissions::degrade`] is false.
#[cfg(target_os = "linux")]
pub fn enforced_layers(spec: &Permissions) -> Result<EnforcedLayers> {
    linux::Restrictions::new(spec).map(|restrictions| restrictions.enforced_layers())
}

/// Runs a command to its end, or until it is stopped.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`, `NOT_FOUND` and `PERMISSION_DENIED` for the program or its directory,
/// `CANCELLED`.
#[cfg(target_os = "linux")]
pub fn run(spec: &Permissions, command: &Command, cancel: &CancelToken) -> Result<RunOutcome> {
    run::run(spec, command, cancel)
}

/// Attempts an operation under the restrictions, to test them. Returns the name of its error, such
/// as `EACCES`; `None` if it succeeds.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
#[cfg(target_os = "linux")]
pub fn probe(spec: &Permissions, what: &Probe) -> Result<Option<String>> {
    linux::probe(spec, what)
}

/// Finds the files that a command may not see or change. Returns the JSON text that `scan.rs`
/// describes.
///
/// # Errors
/// `INVALID_GLOB`; `SANDBOX_SETUP_FAILED` for a tree that cannot be scanned.
#[cfg(target_os = "linux")]
pub fn scan(spec: &ScanSpec) -> Result<String> {
    scan::scan(spec)
}

/// Not supported on this system.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
#[cfg(not(target_os = "linux"))]
pub fn scan(_spec: &ScanSpec) -> Result<String> {
    unsupported_error()
}

#[cfg(not(target_os = "linux"))]
fn unsupported_error<T>() -> Result<T> {
    Err(Error::new(Code::SandboxSetupFailed, "commands can be sandboxed on Linux only so far"))
}

/// Not supported on this system.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
#[cfg(not(target_os = "linux"))]
pub fn enforced_layers(_spec: &Permissions) -> Result<EnforcedLayers> {
    unsupported_error()
}

/// Not supported on this system.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
#[cfg(not(target_os = "linux"))]
pub fn run(_spec: &Permissions, _command: &Command, _cancel: &CancelToken) -> Result<RunOutcome> {
    unsupported_error()
}

/// Not supported on this system.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
#[cfg(not(target_os = "linux"))]
pub fn probe(_spec: &Permissions, _what: &Probe) -> Result<Option<String>> {
    unsupported_error()
}
