//! The interface of this crate on systems other than Linux, where no command can be restricted:
//! every function refuses.

use filewright_core::{Code, Error, Result};
use filewright_fs::cancel::CancelToken;

use crate::spec::{Command, EnforcedLayers, Permissions, Probe, RunOutcome, ScanSpec};

fn unsupported_error<T>() -> Result<T> {
    Err(Error::new(Code::SandboxSetupFailed, "commands can be sandboxed on Linux only so far"))
}

/// Not supported on this system.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
pub fn enforced_layers(_spec: &Permissions) -> Result<EnforcedLayers> {
    unsupported_error()
}

/// Not supported on this system.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
pub fn run(_spec: &Permissions, _command: &Command, _cancel: &CancelToken) -> Result<RunOutcome> {
    unsupported_error()
}

/// Not supported on this system.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
pub fn probe(_spec: &Permissions, _what: &Probe) -> Result<Option<String>> {
    unsupported_error()
}

/// Not supported on this system.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
pub fn scan(_spec: &ScanSpec) -> Result<String> {
    unsupported_error()
}

/// An entry that a command created. No command runs on this system, so no value of this type exists.
#[derive(Clone, Debug)]
pub enum RootedPath {}

impl RootedPath {
    /// Not supported on this system.
    ///
    /// # Errors
    /// `SANDBOX_SETUP_FAILED`.
    pub fn from_hex(_root: String, _path: &str) -> Result<Self> {
        unsupported_error()
    }

    /// Removes the entry, which cannot exist.
    ///
    /// # Errors
    /// None.
    pub fn remove(&self) -> Result<()> {
        match *self {}
    }

    /// Reads the entry, which cannot exist.
    ///
    /// # Errors
    /// None.
    pub fn read(&self, _most: usize) -> Result<Option<Vec<u8>>> {
        match *self {}
    }

    /// Replaces the entry, which cannot exist.
    ///
    /// # Errors
    /// None.
    pub fn replace(&self, _bytes: &[u8]) -> Result<()> {
        match *self {}
    }
}
