//! Bindings for the set of roots: created from the JSON form of a policy, it reads and lists files
//! by their paths. The methods that change files are in `root_change`.
//!
//! Paths cross as text in the form of `filewright_core::text::path::encode_name`; contents cross without
//! a copy in both directions. The synchronous variants are for callers that cannot wait; they do
//! the same.

use std::sync::{Arc, PoisonError, RwLock};

use filewright_core::pack::Packed;
use filewright_core::pattern::policy::Intent;
use filewright_core::text::path::{decode_name, encode_name};
use filewright_core::wire::Wire;
use filewright_core::{Code, Error, Result};
use filewright_fs::cancel::CancelToken as Token;
use filewright_fs::confine::{Confinement, Enforced, Lane};
use filewright_fs::dir::stat::{Stat, Version};
use filewright_fs::read::path_stat;
use filewright_fs::read::{Content, ReadOptions};
use filewright_fs::root::{Kernel, Policy, Roots};
use filewright_fs::walk::list::{ListOptions, Position};
use filewright_fs::walk::list_tree::TreeOptions;
use filewright_index::{Session, list_tree};
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use crate::cancel::{CancelToken, token};
use crate::convert::{Numbers, guard};
use crate::results::PackedResult;
use crate::root_pack::{EntryStat, FileHash, PathStat, pack_listing, pack_tree_page};
use crate::task::{Promise, Value};

/// A set of roots, through which every access to the disk goes. Other modules add methods.
#[napi]
pub struct NativeRoots {
    /// `None` once it is closed.
    open: RwLock<Option<Open>>,
}

/// The resources of a set of roots until it is closed.
#[derive(Clone)]
pub(crate) struct Open {
    pub session: Arc<Session>,
    confinement: Arc<Confinement>,
    kernel: Kernel,
}

/// The content of a file with its packed `EntryStat`. `bytes` is absent if the version that the
/// caller knows is still current.
#[napi(object, object_from_js = false)]
pub struct ReadResult {
    pub bytes: Option<Buffer>,
    #[napi(ts_type = "Float64Array")]
    pub nums: Numbers,
    pub text: String,
}

impl ReadResult {
    fn new(bytes: Option<Vec<u8>>, stat: &Stat) -> Self {
        let Packed { nums, text } = EntryStat::from(stat).packed();
        Self { bytes: bytes.map(Buffer::from), nums: nums.into(), text }
    }
}

/// Returns the error for calls after `close`.
fn closed() -> Error {
    Error::new(Code::UnsupportedOperation, "the storage is closed").hint("open it again")
}

/// Returns a path from JavaScript in the bytes of the file system.
pub(crate) fn bytes_of(path: &str) -> Vec<u8> {
    decode_name(path).into_owned()
}

#[napi]
impl NativeRoots {
    #[napi(constructor)]
    pub fn new(policy: String) -> napi::Result<Self> {
        guard(|| {
            let policy = Policy::from_json(&policy)?;
            let session = Arc::new(Session::new(Roots::new(&policy)?));
            // Opens a file of procfs, which threads restricted by Landlock cannot open.
            filewright_index::prepare();
            let confinement = Arc::new(Confinement::of(&session.roots, policy.kernel)?);
            Ok(Self::holding(Open { session, confinement, kernel: policy.kernel }))
        })
    }

    /// Releases descriptors, watches, indexes and threads, as soon as the running calls have
    /// finished. Later calls fail with `UNSUPPORTED_OPERATION`.
    #[napi]
    pub fn close(&self) {
        let open = self.open.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(open) = open {
            // Indexing in the background holds the roots too, and ends when its index is closed.
            filewright_index::dispose(&open.session);
        }
    }

    /// Returns the resolver in use as JSON: `{ resolver, reason? }`.
    #[napi]
    pub fn capabilities(&self) -> napi::Result<String> {
        guard(|| Ok(self.open()?.session.roots.capabilities()))
    }

    /// Returns how far the kernel enforces the roots, in three lines: `enforced`, `partial` or
    /// `none`; the version of Landlock, 0 without it; the reason if it is less than requested,
    /// otherwise empty.
    #[napi]
    pub fn enforcement(&self) -> napi::Result<String> {
        guard(|| {
            let open = self.open()?;
            let Confinement { enforced, abi, reason, .. } = &*open.confinement;
            let word = match enforced {
                Enforced::Fully => "enforced",
                Enforced::Partly => "partial",
                Enforced::Not => "none",
            };
            Ok(format!("{word}\n{abi}\n{}", reason.as_deref().unwrap_or_default()))
        })
    }

    /// Allows the content of these secrets to be read. Replaces all earlier grants.
    #[napi]
    pub fn grant_secrets(&self, paths: Vec<String>) -> napi::Result<()> {
        let paths = paths.iter().map(|path| bytes_of(path)).collect();
        guard(|| self.open().map(|open| open.session.roots.grant_secrets(paths)))
    }

    /// Returns the same roots and threads with secrets as ordinary files, for reads by the host
    /// itself.
    #[napi]
    pub fn without_secret_filter(&self) -> napi::Result<Self> {
        guard(|| {
            let Open { session, confinement, kernel } = self.open()?;
            let session = Arc::new(Session::new(session.roots.without_secret_filter()?));
            Ok(Self::holding(Open { session, confinement, kernel }))
        })
    }

    /// Runs work that reads one file or directory, on a thread of the lane for quick calls.
    pub(crate) fn run<T: Into<J>, J: Value>(
        &self,
        path: &str,
        work: impl FnOnce(&Roots, &[u8]) -> Result<T> + Send + 'static,
    ) -> Promise<J> {
        let asked = vec![(bytes_of(path), Intent::Read)];
        self.at(Lane::Quick, asked, move |session, path| work(&session.roots, path))
    }

    /// Runs work that walks a tree or reads a whole file of any size, on a thread of the lane for
    /// scans.
    pub(crate) fn scan<T: Into<J>, J: Value>(
        &self,
        path: &str,
        work: impl FnOnce(&Arc<Session>, &[u8]) -> Result<T> + Send + 'static,
    ) -> Promise<J> {
        self.at(Lane::Scan, vec![(bytes_of(path), Intent::Read)], work)
    }

    /// Runs work on the first of the paths, on a thread of a lane. `asked` are all paths with the
    /// access that the work needs: if the system refuses it, they determine the layer that the
    /// error names.
    pub(crate) fn at<T: Into<J>, J: Value>(
        &self,
        lane: Lane,
        asked: Vec<(Vec<u8>, Intent)>,
        work: impl FnOnce(&Arc<Session>, &[u8]) -> Result<T> + Send + 'static,
    ) -> Promise<J> {
        let Open { session, confinement, .. } = match self.open() {
            Ok(open) => open,
            Err(closed) => return Promise::Refused(closed),
        };
        Promise::in_lane(Arc::clone(&confinement.pool), lane, move || {
            let asked: Vec<_> = asked.iter().map(|(path, intent)| (&path[..], *intent)).collect();
            let path = asked.first().map_or(&b""[..], |(path, _)| path);
            session.roots.tell_layer(&asked, work(&session, path))
        })
    }

    fn holding(open: Open) -> Self {
        Self { open: RwLock::new(Some(open)) }
    }

    /// Returns the resources, after reopening roots that were deleted and created again.
    ///
    /// # Errors
    /// `UNSUPPORTED_OPERATION` once it is closed.
    pub(crate) fn open(&self) -> Result<Open> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(open) = open else { return Err(closed()) };
        let Some(session) = open.session.renewed()? else { return Ok(open) };
        let confinement = Arc::new(Confinement::of(&session.roots, open.kernel)?);
        let renewed = Open { session: Arc::new(session), confinement, kernel: open.kernel };
        let mut held = self.open.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = held.as_mut().filter(|held| Arc::ptr_eq(&held.session, &open.session)) {
            filewright_index::dispose(&old.session);
            *old = renewed;
        }
        // Another call may have closed or reopened the roots meanwhile; its result counts.
        held.clone().ok_or_else(closed)
    }

    /// Runs work at a path on the calling thread.
    pub(crate) fn on_this_thread<T>(
        &self,
        path: &str,
        intent: Intent,
        work: impl FnOnce(&Roots, &[u8]) -> Result<T>,
    ) -> napi::Result<T> {
        let path = bytes_of(path);
        guard(|| {
            let Open { session, .. } = self.open()?;
            session.roots.tell_layer(&[(&path, intent)], work(&session.roots, &path))
        })
    }

    #[napi]
    pub fn exists(&self, path: String) -> Promise<bool> {
        self.run(&path, |roots, path| Ok(roots.exists(path)))
    }

    #[napi]
    pub fn exists_sync(&self, path: String) -> napi::Result<bool> {
        guard(|| Ok(self.open()?.session.roots.exists(&bytes_of(&path))))
    }

    #[napi]
    pub fn stat(&self, path: String, follow: bool) -> Promise<PackedResult> {
        self.run(&path, move |roots, path| facts(roots, path, follow))
    }

    #[napi]
    pub fn stat_sync(&self, path: String, follow: bool) -> napi::Result<PackedResult> {
        self.on_this_thread(&path, Intent::Read, |roots, path| facts(roots, path, follow))
            .map(PackedResult::from)
    }

    /// Resolves to the content of a file.
    #[napi]
    pub fn read_bytes(&self, path: String) -> Promise<Buffer> {
        let work = |roots: &Roots, path: &[u8]| {
            roots.read(path, &ReadOptions::default(), &Token::new()).map(|content| content.bytes)
        };
        self.run(&path, work)
    }

    #[napi]
    pub fn read_bytes_sync(&self, path: String) -> napi::Result<Buffer> {
        let options = ReadOptions::default();
        self.on_this_thread(&path, Intent::Read, |roots, path| {
            roots.read(path, &options, &Token::new())
        })
        .map(|content| Buffer::from(content.bytes))
    }

    /// Resolves to a range of a file with its metadata. A negative number means that the option is
    /// not given.
    #[napi]
    pub fn read(
        &self,
        path: String,
        start: f64,
        end: f64,
        max_bytes: f64,
        if_none_match: Option<String>,
        cancel: Option<&CancelToken>,
    ) -> Promise<ReadResult> {
        let options = ReadOptions {
            start: given(start).unwrap_or(0),
            end: given(end),
            max_bytes: given(max_bytes),
        };
        let cancel = token(cancel);
        let work = move |roots: &Roots, path: &[u8]| {
            if let Some(Ok(version)) = if_none_match.as_deref().map(Version::parse)
                && let Ok(facts) = roots.stat(path)
                && version.same_facts(&facts.stat)
            {
                return Ok(ReadResult::new(None, &facts.stat));
            }
            let Content { bytes, stat } = roots.read(path, &options, &cancel)?;
            Ok(ReadResult::new(Some(bytes), &stat))
        };
        self.run(&path, work)
    }

    /// Resolves to a packed `FileHash`: the SHA-256 of a file with its metadata.
    #[napi]
    pub fn hash_file(&self, path: String, cancel: Option<&CancelToken>) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let work = move |session: &Arc<Session>, path: &[u8]| {
            let (hash, stat) = session.roots.hash(path, &cancel)?;
            Ok(FileHash { stat: (&stat).into(), hash }.packed())
        };
        self.scan(&path, work)
    }

    /// Resolves to a page of the entries of a directory. A negative limit means no limit. `after`
    /// is the name of the last entry of the previous page, and `after_dir` says whether it was a
    /// directory.
    #[napi]
    pub fn list_dir(
        &self,
        path: String,
        facts: bool,
        limit: f64,
        after: Option<String>,
        after_dir: bool,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let after = after.map(|name| Position { not_dir: !after_dir, name: bytes_of(&name) });
        let limit = given(limit).map(|limit| limit as usize);
        let options = ListOptions { facts, limit, after };
        let work = move |roots: &Roots, path: &[u8]| {
            roots.list(path, &options, &cancel).map(|listing| pack_listing(&listing))
        };
        self.run(&path, work)
    }

    #[napi]
    pub fn list_dir_sync(&self, path: String, facts: bool) -> napi::Result<PackedResult> {
        let options = ListOptions { facts, ..ListOptions::default() };
        self.on_this_thread(&path, Intent::Read, |roots, path| {
            roots.list(path, &options, &Token::new())
        })
        .map(|listing| pack_listing(&listing).into())
    }

    /// Resolves to a page of the entries of a tree. `options` is the JSON that
    /// `TreeOptions::from_json` parses.
    #[napi]
    pub fn list_tree(
        &self,
        path: String,
        options: String,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let work = move |session: &Arc<Session>, path: &[u8]| {
            let options = TreeOptions::from_json(&options)?;
            list_tree(session, path, &options, &cancel).map(|page| pack_tree_page(&page))
        };
        self.scan(&path, work)
    }

    #[napi]
    pub fn read_link(&self, path: String) -> Promise<String> {
        self.run(&path, |roots, path| roots.read_link(path).map(encoded_name))
    }

    #[napi]
    pub fn realpath(&self, path: String) -> Promise<String> {
        self.run(&path, |roots, path| roots.realpath(path).map(encoded_name))
    }
}

/// Returns a name or path in the form for JavaScript.
fn encoded_name(name: Vec<u8>) -> String {
    encode_name(&name).into_owned()
}

/// Returns an option that JavaScript passes as a number; `None` for a negative number or NaN, which
/// mean that it is not given.
fn given(number: f64) -> Option<u64> {
    // Integers up to 2^53 are exact, and no file is larger.
    (number >= 0.0).then_some(number as u64)
}

/// Returns the packed metadata of a path.
fn facts(roots: &Roots, path: &[u8], follow: bool) -> Result<Packed> {
    let path_stat::PathStat { stat, target, .. } =
        if follow { roots.stat(path)? } else { roots.lstat(path)? };
    Ok(PathStat { stat: (&stat).into(), target: target.map(encoded_name) }.packed())
}
