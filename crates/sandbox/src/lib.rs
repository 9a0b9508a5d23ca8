//! Runs a command under kernel restrictions: inside its roots and without network.
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
pub use spec::{Command, Limit, Probe, ResourceLimits, RunOutcome, ScanSpec, Spec, Status};
pub use syscalls::syscall_names;

use filewright_core::Result;
#[cfg(not(target_os = "linux"))]
use filewright_core::{Code, Error};
use filewright_fs::cancel::CancelToken;

/// Returns the restrictions that would apply to a command with this specification.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED` if they cannot be enforced and less is not allowed.
#[cfg(target_os = "linux")]
pub fn status(spec: &Spec) -> Result<Status> {
    linux::Restrictions::new(spec).map(|restrictions| restrictions.status())
}

/// Runs a command to its end, or until it is stopped.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`, `NOT_FOUND` and `PERMISSION_DENIED` for the program or its directory,
/// `CANCELLED`.
#[cfg(target_os = "linux")]
pub fn run(spec: &Spec, command: &Command, cancel: &CancelToken) -> Result<RunOutcome> {
    run::run(spec, command, cancel)
}

/// Attempts an operation under the restrictions; returns the name of its error.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
#[cfg(target_os = "linux")]
pub fn probe(spec: &Spec, what: &Probe) -> Result<Option<String>> {
    linux::probe(spec, what)
}

/// Finds the files that a command may not see or change, as the JSON text of `scan.rs`.
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
    elsewhere()
}

#[cfg(not(target_os = "linux"))]
fn elsewhere<T>() -> Result<T> {
    Err(Error::new(Code::SandboxSetupFailed, "commands can be sandboxed on Linux only so far"))
}

/// Not supported on this system.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
#[cfg(not(target_os = "linux"))]
pub fn status(_spec: &Spec) -> Result<Status> {
    elsewhere()
}

/// Not supported on this system.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
#[cfg(not(target_os = "linux"))]
pub fn run(_spec: &Spec, _command: &Command, _cancel: &CancelToken) -> Result<RunOutcome> {
    elsewhere()
}

/// Not supported on this system.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
#[cfg(not(target_os = "linux"))]
pub fn probe(_spec: &Spec, _what: &Probe) -> Result<Option<String>> {
    elsewhere()
}
