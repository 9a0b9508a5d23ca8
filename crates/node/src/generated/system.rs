// Written by `npm run wire` from crates/node/src/exports/system.rs; not to be edited.

#![allow(clippy::too_many_arguments, clippy::new_without_default)] // as declared

use crate::exports::system as exports;
use crate::prelude::*;
use napi_derive::napi;

/// Returns the version of the package that the addon belongs to, with which the loader compares that
/// of the package it runs in.
#[napi]
pub fn version() -> napi::Result<Text> {
    result_of(|| Ok(exports::version()))
}

/// Returns `a` followed by `b`, in memory that the addon has allocated.
#[napi]
pub fn concat(a: &[u8], b: &[u8]) -> napi::Result<Buffer> {
    result_of(|| Ok(exports::concat(a, b)))
}

/// Returns a new name to which an entry can be renamed in its directory, to be kept until a change
/// is final.
#[napi]
pub fn aside_name() -> napi::Result<Text> {
    result_of(|| Ok(exports::aside_name()))
}

/// Returns what the kernel would restrict for a command with these permissions: 1 or 0 for files,
/// network, signals and forks, then the version of Landlock.
#[napi]
pub fn sandbox_status(spec: String) -> napi::Result<Vec<u32>> {
    result_of(|| exports::sandbox_status(&spec))
}

/// Returns the names of the system calls that can be forbidden.
#[napi]
pub fn sandbox_syscalls() -> napi::Result<Vec<&'static str>> {
    result_of(|| Ok(exports::sandbox_syscalls()))
}

/// Attempts an operation under the restrictions of a command. Resolves to the name of its error, or
/// to null if it succeeds.
#[napi]
pub fn sandbox_probe(spec: String, kind: String, path: Option<String>) -> Promise<Option<String>> {
    Promise::on_own_thread(move || exports::sandbox_probe(&spec, &kind, path.as_deref()))
}

/// Finds the files that a command may not see or change. Resolves to the JSON that `scan.rs` of the
/// crate `filewright-sandbox` describes.
#[napi]
pub fn sandbox_scan(spec: String) -> Promise<Text> {
    Promise::on_own_thread(move || exports::sandbox_scan(&spec))
}

/// Removes an entry that a command created below a root. `path` is in hexadecimal.
#[napi]
pub fn sandbox_remove(root: String, path: String) -> Promise<()> {
    Promise::on_own_thread(move || exports::sandbox_remove(&root, &path))
}

/// Resolves to the text of a regular file below a root. Empty if it is longer than `most` bytes,
/// cannot be opened or is not a regular file; null if nothing exists. `path` is in hexadecimal.
#[napi]
pub fn sandbox_read(root: String, path: String, most: u32) -> Promise<Option<String>> {
    Promise::on_own_thread(move || exports::sandbox_read(&root, &path, most))
}

/// Replaces the entry at a path below a root, whatever its type, by a file with this text. `path`
/// is in hexadecimal.
#[napi]
pub fn sandbox_replace(root: String, path: String, text: String) -> Promise<()> {
    Promise::on_own_thread(move || exports::sandbox_replace(&root, &path, &text))
}

/// Runs a command to its end. Resolves to a packed `SandboxedCommand`.
#[napi]
pub fn sandbox_run(
    spec: String,
    command: String,
    cancel: Option<&CancelToken>,
) -> Promise<PackedResult> {
    let cancel = token(cancel);
    Promise::on_own_thread(move || exports::sandbox_run(&spec, &command, &cancel))
}
