//! Bindings for commands that run under restrictions by the kernel.

use filewright_core::wire;
use filewright_core::wire::Wire;
use filewright_core::{Code, Error};
use filewright_sandbox::{
    Command, EnforcedLayers, Limit, Permissions, Probe, ScanSpec, syscall_names,
};
use napi_derive::napi;
use std::borrow::Cow;

use crate::cancel::{CancelToken, token};
use crate::convert::guard;
use crate::results::PackedResult;
use crate::task::Promise;

/// Returns what the kernel would restrict for a command with these permissions: 1 or 0 for files,
/// network, signals and forks, then the version of Landlock.
#[napi]
pub fn sandbox_status(spec: String) -> napi::Result<Vec<u32>> {
    guard(|| filewright_sandbox::enforced_layers(&Permissions::from_json(&spec)?)).map(
        |EnforcedLayers { files, network, signals, forks, abi }| {
            let flags = [files, network, signals, forks].map(u32::from);
            flags.into_iter().chain([abi]).collect()
        },
    )
}

/// Returns the names of the system calls that can be forbidden.
#[napi]
pub fn sandbox_syscalls() -> Vec<&'static str> {
    syscall_names().collect()
}

/// Attempts an operation under the restrictions of a command. Resolves to the name of its error, or
/// to null if it succeeds.
#[napi]
pub fn sandbox_probe(spec: String, kind: String, path: Option<String>) -> Promise<Option<String>> {
    let work = move || {
        let what = match (kind.as_str(), path) {
            ("write", Some(path)) => Probe::Write(path),
            ("tcp_connect", _) => Probe::TcpConnect,
            ("unix_socket", _) => Probe::UnixSocket,
            _ => return Err(Error::new(Code::InvalidArgument, "there is no such probe")),
        };
        filewright_sandbox::probe(&Permissions::from_json(&spec)?, &what)
    };
    Promise::on_own_thread(work)
}

/// Finds the files that a command may not see or change. Resolves to the JSON that `scan.rs` of the
/// crate `filewright-sandbox` describes.
#[napi]
pub fn sandbox_scan(spec: String) -> Promise<String> {
    Promise::on_own_thread(move || filewright_sandbox::scan(&ScanSpec::from_json(&spec)?))
}

/// Removes an entry that a command created below a root. `path` is in hexadecimal.
#[napi]
pub fn sandbox_remove(root: String, path: String) -> Promise<()> {
    Promise::on_own_thread(move || place::remove(root, &path))
}

/// Resolves to the text of a regular file below a root. Empty if it is longer than `most` bytes,
/// cannot be opened or is not a regular file; null if nothing exists. `path` is in hexadecimal.
#[napi]
pub fn sandbox_read(root: String, path: String, most: u32) -> Promise<Option<String>> {
    Promise::on_own_thread(move || place::read(root, &path, most))
}

/// Replaces the entry at a path below a root, whatever its type, by a file with this text. `path`
/// is in hexadecimal.
#[napi]
pub fn sandbox_replace(root: String, path: String, text: String) -> Promise<()> {
    Promise::on_own_thread(move || place::replace(root, &path, &text))
}

wire! {
    /// How a command ended, and its output.
    struct SandboxedCommand<'a> {
        /// The exit status; `None` if the command was killed.
        pub exit_code: Option<i64>,
        /// The number of the signal that ended it, if one did.
        pub signal: Option<i64>,
        /// True if it was killed because its time was up.
        pub timed_out: bool,
        /// True if it wrote more than `maxOutput` to one of its outputs.
        pub truncated: bool,
        /// The standard output, with invalid UTF-8 replaced.
        pub stdout: Cow<'a, str>,
        /// The standard error output, with invalid UTF-8 replaced.
        pub stderr: Cow<'a, str>,
        /// The limit that it exceeded, for which it was killed.
        pub exceeded: Option<Limit>,
    }
}

/// Runs a command to its end. Resolves to a packed `SandboxedCommand`.
#[napi]
pub fn sandbox_run(
    spec: String,
    command: String,
    cancel: Option<&CancelToken>,
) -> Promise<PackedResult> {
    let cancel = token(cancel);
    let work = move || {
        let (spec, command) = (Permissions::from_json(&spec)?, Command::from_json(&command)?);
        let outcome = filewright_sandbox::run(&spec, &command, &cancel)?;
        let command = SandboxedCommand {
            exit_code: outcome.status.map(i64::from),
            signal: outcome.signal.map(i64::from),
            timed_out: outcome.timed_out,
            truncated: outcome.truncated,
            stdout: String::from_utf8_lossy(&outcome.stdout),
            stderr: String::from_utf8_lossy(&outcome.stderr),
            exceeded: outcome.exceeded,
        };
        Ok(command.packed())
    };
    Promise::on_own_thread(work)
}

/// Operations on entries that commands created. Only Linux supports them.
#[cfg(target_os = "linux")]
mod place {
    use filewright_core::Result;
    use filewright_sandbox::RootedPath;

    pub(super) fn remove(root: String, path: &str) -> Result<()> {
        RootedPath::from_hex(root, path)?.remove()
    }

    pub(super) fn read(root: String, path: &str, most: u32) -> Result<Option<String>> {
        let bytes = RootedPath::from_hex(root, path)?.read(usize::try_from(most).unwrap_or(0))?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    pub(super) fn replace(root: String, path: &str, text: &str) -> Result<()> {
        RootedPath::from_hex(root, path)?.replace(text.as_bytes())
    }
}

#[cfg(not(target_os = "linux"))]
mod place {
    use filewright_core::{Code, Error, Result};

    fn unsupported<T>() -> Result<T> {
        Err(Error::new(Code::SandboxSetupFailed, "commands can be sandboxed on Linux only so far"))
    }

    pub(super) fn remove(_: String, _: &str) -> Result<()> {
        unsupported()
    }

    pub(super) fn read(_: String, _: &str, _: u32) -> Result<Option<String>> {
        unsupported()
    }

    pub(super) fn replace(_: String, _: &str, _: &str) -> Result<()> {
        unsupported()
    }
}
