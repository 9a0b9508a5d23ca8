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
#[cfg(not(target_os = "linux"))]
mod unsupported;

#[cfg(target_os = "linux")]
pub use place::RootedPath;
pub use spec::{
    Command, EnforcedLayers, Limit, Permissions, Probe, ResourceLimits, RunOutcome, ScanSpec,
};
pub use syscalls::syscall_names;
#[cfg(not(target_os = "linux"))]
pub use unsupported::{RootedPath, enforced_layers, probe, run, scan};

#[cfg(target_os = "linux")]
use filewright_core::Result;
#[cfg(target_os = "linux")]
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
