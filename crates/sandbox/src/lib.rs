//! Running a command where the kernel keeps it inside its roots and off the
//! network.
//!
//! A supervisor process is forked for each command and ends everything that the
//! command started. The command takes on Landlock and seccomp itself, or is a program
//! that makes namespaces (bubblewrap) and is given the filter. Nothing of the host is
//! touched. What cannot be enforced is refused, unless the caller said that less will
//! do, and then the outcome says what held.
//!
//! Landlock lets through what is not an open: a command may change the permission
//! bits of files outside that belong to the user. Keeping it from that takes a mount
//! namespace.

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
pub use place::Place;
pub use spec::{Command, Limit, Limits, Outcome, Probe, ScanSpec, Spec, Status};
pub use syscalls::syscall_names;

use filewright_core::Result;
#[cfg(not(target_os = "linux"))]
use filewright_core::{Code, Error};
use filewright_fs::cancel::CancelToken;

/// What would hold for a command under this specification.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED` where it cannot be enforced and less is not allowed.
#[cfg(target_os = "linux")]
pub fn status(spec: &Spec) -> Result<Status> {
    linux::Restrictions::new(spec).map(|restrictions| restrictions.status())
}

/// Runs a command to its end, or until it is stopped.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`, `NOT_FOUND` and `PERMISSION_DENIED` for the program
/// or its directory, `CANCELLED`.
#[cfg(target_os = "linux")]
pub fn run(spec: &Spec, command: &Command, cancel: &CancelToken) -> Result<Outcome> {
    run::run(spec, command, cancel)
}

/// Tries something under the restrictions; gives the name of the error it met.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
#[cfg(target_os = "linux")]
pub fn probe(spec: &Spec, what: &Probe) -> Result<Option<String>> {
    linux::probe(spec, what)
}

/// Finds what a command may not see or change, as the JSON text of `scan.rs`.
///
/// # Errors
/// `INVALID_GLOB`; `SANDBOX_SETUP_FAILED` for a tree that cannot be told.
#[cfg(target_os = "linux")]
pub fn scan(spec: &ScanSpec) -> Result<String> {
    scan::scan(spec)
}

/// Finds nothing here.
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

/// What would hold for a command: nothing here.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
#[cfg(not(target_os = "linux"))]
pub fn status(_spec: &Spec) -> Result<Status> {
    elsewhere()
}

/// Runs no command here.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
#[cfg(not(target_os = "linux"))]
pub fn run(_spec: &Spec, _command: &Command, _cancel: &CancelToken) -> Result<Outcome> {
    elsewhere()
}

/// Tries nothing here.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
#[cfg(not(target_os = "linux"))]
pub fn probe(_spec: &Spec, _what: &Probe) -> Result<Option<String>> {
    elsewhere()
}
