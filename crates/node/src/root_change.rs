//! The methods of the root set that change files.

use std::sync::Arc;

use filewright_core::pack::Packed;
use filewright_core::pattern::policy::Intent;
use filewright_core::wire;
use filewright_core::wire::Wire;
use filewright_core::{Code, Error, Result};
use filewright_fs::cancel::CancelToken as Token;
use filewright_fs::confine::Lane;
use filewright_fs::dir::stat::Version;
use filewright_fs::root::Roots;
use filewright_fs::transfer::TransferOptions;
use filewright_fs::transfer::mutate::MkdirOptions;
use filewright_fs::write::aside::Conditions;
use filewright_fs::write::{Durability, Preserve, WriteOptions};
use filewright_index::Session;
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::cancel::{CancelToken, token};
use crate::results::PackedResult;
use crate::root::{NativeRoots, bytes_of};
use crate::root_pack::WrittenFile;
use crate::task::Promise;

wire! {
    /// Bits of the flags of a write, a move or a copy.
    pub bits ChangeFlags {
        /// Fail if the entry exists.
        IF_ABSENT = 1,
        /// Create the directories above the entry.
        CREATE_DIRS = 2,
        /// Add to the end of the file.
        APPEND = 4,
        /// Fail rather than lose metadata of a replaced file.
        STRICT = 8,
        /// Replace the target of a move or copy.
        OVERWRITE = 16,
    }
}

#[napi]
impl NativeRoots {
    #[napi]
    #[allow(clippy::too_many_arguments)] // an options object costs more
    pub fn write_bytes(
        &self,
        path: String,
        bytes: Uint8Array,
        if_version: Option<String>,
        flags: u32,
        mode: i32,
        durability: u32,
        aside: Option<String>,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let work = move |session: &Arc<Session>, path: &[u8]| {
            let mut options = write_options(if_version, flags, mode, durability)?;
            options.aside = aside.map(String::into_bytes);
            write(&session.roots, path, &bytes, flags, &options, &cancel)
        };
        self.at(Lane::Quick, changed(&path), work)
    }

    #[napi]
    pub fn write_bytes_sync(
        &self,
        path: String,
        bytes: &[u8],
        if_version: Option<String>,
        flags: u32,
        mode: i32,
        durability: u32,
    ) -> napi::Result<PackedResult> {
        self.on_this_thread(&path, Intent::Write, |roots, path| {
            let options = write_options(if_version, flags, mode, durability)?;
            write(roots, path, bytes, flags, &options, &Token::new())
        })
        .map(PackedResult::from)
    }

    /// Resolves to true if the directory was created, and to false if it existed already.
    #[napi]
    pub fn mkdir(&self, path: String, parents: bool, exist_ok: bool) -> Promise<bool> {
        let options = MkdirOptions { parents, exist_ok };
        self.at(Lane::Quick, changed(&path), move |session, path| {
            session.roots.mkdir(path, &options)
        })
    }

    #[napi]
    pub fn mkdir_sync(&self, path: String, parents: bool, exist_ok: bool) -> napi::Result<bool> {
        let options = MkdirOptions { parents, exist_ok };
        self.on_this_thread(&path, Intent::Write, |roots, path| roots.mkdir(path, &options))
    }

    #[napi]
    pub fn delete(
        &self,
        path: String,
        if_version: Option<String>,
        aside: Option<String>,
    ) -> Promise<()> {
        let work = move |session: &Arc<Session>, path: &[u8]| {
            session.roots.delete_if(path, &conditions(if_version, None, aside)?)
        };
        self.at(Lane::Quick, changed(&path), work)
    }

    #[napi]
    pub fn delete_sync(&self, path: String) -> napi::Result<()> {
        self.on_this_thread(&path, Intent::Write, |roots, path| roots.delete(path))
    }

    #[napi]
    pub fn remove_tree(
        &self,
        path: String,
        aside: Option<String>,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let work = move |session: &Arc<Session>, path: &[u8]| {
            let conditions = conditions(None, None, aside)?;
            session.roots.remove_tree_if(path, &conditions, &cancel).map(|counts| counts.packed())
        };
        self.at(Lane::Scan, changed(&path), work)
    }

    /// Resolves to the version of the entry under its new name; null after a move to another file
    /// system, or if another program has replaced the entry already.
    #[napi]
    #[allow(clippy::too_many_arguments)] // an options object costs more
    pub fn rename(
        &self,
        from: String,
        to: String,
        flags: u32,
        durability: u32,
        if_version: Option<String>,
        if_target: Option<String>,
        aside: Option<String>,
        cancel: Option<&CancelToken>,
    ) -> Promise<Option<String>> {
        let asked = between(&from, Intent::Write, &to);
        let (to, cancel) = (bytes_of(&to), token(cancel));
        let options = transfer_options(flags, durability);
        let work = move |session: &Arc<Session>, from: &[u8]| {
            let conditions = conditions(if_version, if_target, aside)?;
            let version = session.roots.rename_if(from, &to, &options, &conditions, &cancel)?;
            Ok(version.map(|version| version.to_string()))
        };
        self.at(Lane::Quick, asked, work)
    }

    #[napi]
    #[allow(clippy::too_many_arguments)] // an options object costs more
    pub fn copy_file(
        &self,
        from: String,
        to: String,
        flags: u32,
        durability: u32,
        if_version: Option<String>,
        aside: Option<String>,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let asked = between(&from, Intent::Read, &to);
        let (to, cancel) = (bytes_of(&to), token(cancel));
        let options = transfer_options(flags, durability);
        let work = move |session: &Arc<Session>, from: &[u8]| {
            let conditions = conditions(if_version, None, aside)?;
            let written = session.roots.copy_file_if(from, &to, &options, &conditions, &cancel)?;
            Ok(WrittenFile::from(&written).packed())
        };
        self.at(Lane::Scan, asked, work)
    }

    #[napi]
    pub fn copy_tree(
        &self,
        from: String,
        to: String,
        flags: u32,
        durability: u32,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let asked = between(&from, Intent::Read, &to);
        let (to, cancel) = (bytes_of(&to), token(cancel));
        let options = transfer_options(flags, durability);
        let work = move |session: &Arc<Session>, from: &[u8]| {
            session.roots.copy_tree(from, &to, &options, &cancel).map(|counts| counts.packed())
        };
        self.at(Lane::Scan, asked, work)
    }

    #[napi]
    pub fn chmod(&self, path: String, mode: u32) -> Promise<()> {
        self.at(Lane::Quick, changed(&path), move |session, path| session.roots.chmod(path, mode))
    }

    #[napi]
    pub fn sweep(&self, path: String) -> Promise<()> {
        self.at(Lane::Quick, changed(&path), |session, path| session.roots.sweep(path))
    }

    #[napi]
    pub fn symlink(&self, target: String, path: String) -> Promise<()> {
        let target = bytes_of(&target);
        self.at(Lane::Quick, changed(&path), move |session, path| {
            session.roots.symlink(&target, path)
        })
    }
}
/// Returns the argument `asked` of [`NativeRoots::at`] for a change of one path.
fn changed(path: &str) -> Vec<(Vec<u8>, Intent)> {
    vec![(bytes_of(path), Intent::Write)]
}

/// Returns the argument `asked` of [`NativeRoots::at`] for a copy or move. `intent` is the access
/// to the source.
fn between(from: &str, intent: Intent, to: &str) -> Vec<(Vec<u8>, Intent)> {
    vec![(bytes_of(from), intent), (bytes_of(to), Intent::Write)]
}

fn durability_of(number: u32) -> Durability {
    Durability::ALL.get(number as usize).copied().unwrap_or_default()
}

fn preserve_of(flags: u32) -> Preserve {
    if flags & ChangeFlags::STRICT == 0 { Preserve::Possible } else { Preserve::Strict }
}

fn write_options(
    if_version: Option<String>,
    flags: u32,
    mode: i32,
    durability: u32,
) -> Result<WriteOptions> {
    Ok(WriteOptions {
        if_version: version_of(if_version)?,
        if_absent: flags & ChangeFlags::IF_ABSENT != 0,
        create_dirs: flags & ChangeFlags::CREATE_DIRS != 0,
        mode: u32::try_from(mode).ok(),
        durability: durability_of(durability),
        preserve: preserve_of(flags),
        aside: None,
    })
}

/// Parses a version. A text that is no version cannot equal that of the file, so it is a
/// `CONFLICT`.
fn version_of(text: Option<String>) -> Result<Option<Version>> {
    text.map(|text| Version::parse(&text)).transpose().map_err(|_| {
        Error::new(Code::Conflict, "the file has changed since it was read")
            .hint("read the file again")
    })
}

fn conditions(
    if_version: Option<String>,
    if_target: Option<String>,
    aside: Option<String>,
) -> Result<Conditions> {
    Ok(Conditions {
        if_version: version_of(if_version)?,
        if_target: version_of(if_target)?,
        aside: aside.map(String::into_bytes),
    })
}

/// Returns a new name to which an entry can be renamed in its directory, to be kept until a change
/// is final.
#[napi]
pub fn aside_name() -> String {
    String::from_utf8_lossy(&filewright_fs::write::aside::aside_name()).into_owned()
}

fn transfer_options(flags: u32, durability: u32) -> TransferOptions {
    TransferOptions {
        overwrite: flags & ChangeFlags::OVERWRITE != 0,
        create_dirs: flags & ChangeFlags::CREATE_DIRS != 0,
        durability: durability_of(durability),
        preserve: preserve_of(flags),
    }
}

fn write(
    roots: &Roots,
    path: &[u8],
    bytes: &[u8],
    flags: u32,
    options: &WriteOptions,
    cancel: &Token,
) -> Result<Packed> {
    let written = if flags & ChangeFlags::APPEND != 0 {
        roots.append(path, bytes, options, cancel)?
    } else {
        roots.write(path, bytes, options, cancel)?
    };
    Ok(WrittenFile::from(&written).packed())
}
