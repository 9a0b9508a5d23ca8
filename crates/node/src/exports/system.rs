//! Functions that need the operating system, but no set of roots.

use filewright_core::Result;
use filewright_core::pack::Packed;
use filewright_fs::cancel::CancelToken;
use filewright_sandbox::{self as sandbox, Command, Permissions, Probe, RootedPath, ScanSpec};

use super::OwnThread;

/// Returns the version of the package that the addon belongs to, with which the loader compares that
/// of the package it runs in.
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Returns `a` followed by `b`, in memory that the addon has allocated.
pub fn concat(a: &[u8], b: &[u8]) -> Vec<u8> {
    [a, b].concat()
}

/// Returns a new name to which an entry can be renamed in its directory, to be kept until a change
/// is final.
pub fn aside_name() -> String {
    String::from_utf8_lossy(&filewright_fs::write::aside::aside_name()).into_owned()
}

/// Returns what the kernel would restrict for a command with these permissions: 1 or 0 for files,
/// network, signals and forks, then the version of Landlock.
pub fn sandbox_status(spec: &str) -> Result<Vec<u32>> {
    let layers = sandbox::enforced_layers(&Permissions::from_json(spec)?)?;
    let flags = [layers.files, layers.network, layers.signals, layers.forks].map(u32::from);
    Ok(flags.into_iter().chain([layers.abi]).collect())
}

/// Returns the names of the system calls that can be forbidden.
pub fn sandbox_syscalls() -> Vec<&'static str> {
    sandbox::syscall_names().collect()
}

/// Attempts an operation under the restrictions of a command. Resolves to the name of its error, or
/// to null if it succeeds.
pub fn sandbox_probe(spec: &str, kind: &str, path: Option<&str>) -> OwnThread<Option<String>> {
    sandbox::probe(&Permissions::from_json(spec)?, &Probe::parse(kind, path)?)
}

/// Finds the files that a command may not see or change. Resolves to the JSON that `scan.rs` of the
/// crate `filewright-sandbox` describes.
pub fn sandbox_scan(spec: &str) -> OwnThread<String> {
    sandbox::scan(&ScanSpec::from_json(spec)?)
}

/// Removes an entry that a command created below a root. `path` is in hexadecimal.
pub fn sandbox_remove(root: &str, path: &str) -> OwnThread<()> {
    RootedPath::from_hex(root.into(), path)?.remove()
}

/// Resolves to the text of a regular file below a root. Empty if it is longer than `most` bytes,
/// cannot be opened or is not a regular file; null if nothing exists. `path` is in hexadecimal.
pub fn sandbox_read(root: &str, path: &str, most: u32) -> OwnThread<Option<String>> {
    let bytes = RootedPath::from_hex(root.into(), path)?.read(most as usize)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Replaces the entry at a path below a root, whatever its type, by a file with this text. `path`
/// is in hexadecimal.
pub fn sandbox_replace(root: &str, path: &str, text: &str) -> OwnThread<()> {
    RootedPath::from_hex(root.into(), path)?.replace(text.as_bytes())
}

/// Runs a command to its end. Resolves to a packed `SandboxedCommand`.
pub fn sandbox_run(spec: &str, command: &str, cancel: &CancelToken) -> OwnThread<Packed> {
    let (spec, command) = (Permissions::from_json(spec)?, Command::from_json(command)?);
    Ok(sandbox::run(&spec, &command, cancel)?.packed())
}
