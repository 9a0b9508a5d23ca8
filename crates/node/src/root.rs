//! The set of roots: made from the JSON form of a policy, then called by path.
//!
//! Paths cross as text in the form of `filewright_core::path::encode_name`;
//! contents cross as they are, in both directions without a copy of ours. The
//! synchronous twins are for callers that cannot wait; they do the same.

use std::sync::Arc;

use filewright_core::pack::Packed;
use filewright_core::path::{decode_name, encode_name};
use filewright_core::{Code, Error, Result};
use filewright_fs::cancel::Cancel as Token;
use filewright_fs::facts::Facts;
use filewright_fs::list::{ListOptions, Listing, Position};
use filewright_fs::mutate::MkdirOptions;
use filewright_fs::read::{Content, ReadOptions};
use filewright_fs::root::{Policy, Roots};
use filewright_fs::stat::{Stat, Version};
use filewright_fs::transfer::TransferOptions;
use filewright_fs::tree::Counts;
use filewright_fs::write::{Durability, WriteOptions, Written};
use napi::bindgen_prelude::{AsyncTask, Buffer, Float64Array, Uint8Array};
use napi_derive::napi;

use crate::cancel::Cancel;
use crate::convert::{PackedResult, guard};
use crate::task::{Job, off_thread};

/// A set of roots. Other areas add their methods in their own files.
#[napi]
pub struct NativeRoots {
    pub(crate) roots: Arc<Roots>,
}

/// Content with its facts; `bytes` is absent where the version asked about is
/// still the version.
#[napi(object)]
pub struct ReadResult {
    pub bytes: Option<Buffer>,
    pub nums: Float64Array,
    pub text: String,
}

/// Bits of the `flags` of a write.
const IF_ABSENT: u32 = 1;
const CREATE_DIRS: u32 = 2;
const APPEND: u32 = 4;
/// Bits of the `flags` of a move or copy.
const OVERWRITE: u32 = 1;

type PackedJob = AsyncTask<Job<Packed, PackedResult>>;
type ReadJob = AsyncTask<Job<(Option<Vec<u8>>, Packed), ReadResult>>;

fn bytes_of(path: &str) -> Vec<u8> {
    decode_name(path).into_owned()
}

pub(crate) fn token(cancel: Option<&Cancel>) -> Token {
    cancel.map(|cancel| cancel.0.clone()).unwrap_or_default()
}

#[napi]
impl NativeRoots {
    #[napi(constructor)]
    pub fn new(policy: String) -> napi::Result<Self> {
        guard(|| {
            let roots = Arc::new(Roots::new(&Policy::from_json(&policy)?)?);
            Ok(Self { roots })
        })
    }

    /// What is in force, as JSON: `{ resolver, reason? }`.
    #[napi]
    pub fn capabilities(&self) -> String {
        self.roots.capabilities()
    }

    fn run<T: Send + 'static, J>(
        &self,
        path: &str,
        work: impl FnOnce(&Roots, &[u8]) -> Result<T> + Send + 'static,
        wrap: fn(T) -> J,
    ) -> AsyncTask<Job<T, J>>
    where
        J: napi::bindgen_prelude::ToNapiValue + napi::bindgen_prelude::TypeName + 'static,
    {
        let (roots, path) = (Arc::clone(&self.roots), bytes_of(path));
        off_thread(move || work(&roots, &path), wrap)
    }

    #[napi]
    pub fn exists(&self, path: String) -> AsyncTask<Job<bool, bool>> {
        self.run(&path, |roots, path| Ok(roots.exists(path)), |exists| exists)
    }

    #[napi]
    pub fn exists_sync(&self, path: String) -> napi::Result<bool> {
        guard(|| Ok(self.roots.exists(&bytes_of(&path))))
    }

    #[napi]
    pub fn stat(&self, path: String, follow: bool) -> PackedJob {
        self.run(&path, move |roots, path| facts(roots, path, follow), PackedResult::from)
    }

    #[napi]
    pub fn stat_sync(&self, path: String, follow: bool) -> napi::Result<PackedResult> {
        guard(|| facts(&self.roots, &bytes_of(&path), follow)).map(PackedResult::from)
    }

    /// The whole file.
    #[napi]
    pub fn read_bytes(&self, path: String) -> AsyncTask<Job<Vec<u8>, Buffer>> {
        let work = |roots: &Roots, path: &[u8]| {
            roots.read(path, &ReadOptions::default(), &Token::new()).map(|content| content.bytes)
        };
        self.run(&path, work, Buffer::from)
    }

    #[napi]
    pub fn read_bytes_sync(&self, path: String) -> napi::Result<Buffer> {
        let options = ReadOptions::default();
        guard(|| self.roots.read(&bytes_of(&path), &options, &Token::new()))
            .map(|content| Buffer::from(content.bytes))
    }

    /// A range of a file with the facts it belongs to. Negative numbers stand
    /// for "not given".
    #[napi]
    pub fn read(
        &self,
        path: String,
        start: f64,
        end: f64,
        max_bytes: f64,
        if_none_match: Option<String>,
        cancel: Option<&Cancel>,
    ) -> ReadJob {
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
                return Ok((None, pack_stat(&facts.stat)));
            }
            let Content { bytes, stat } = roots.read(path, &options, &cancel)?;
            Ok((Some(bytes), pack_stat(&stat)))
        };
        self.run(&path, work, |(bytes, facts)| ReadResult {
            bytes: bytes.map(Buffer::from),
            nums: facts.nums.into(),
            text: facts.text,
        })
    }

    /// `sha256:` and 64 digits, and the facts they belong to.
    #[napi]
    pub fn hash_file(&self, path: String, cancel: Option<&Cancel>) -> PackedJob {
        let cancel = token(cancel);
        let work = move |roots: &Roots, path: &[u8]| {
            let (hash, stat) = roots.hash(path, &cancel)?;
            let mut packed = pack_stat(&stat);
            packed.str(&hash);
            Ok(packed)
        };
        self.run(&path, work, PackedResult::from)
    }

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
        cancel: Option<&Cancel>,
    ) -> PackedJob {
        let cancel = token(cancel);
        let work = move |roots: &Roots, path: &[u8]| {
            let options = write_options(if_version, flags, mode, durability)?;
            write(roots, path, &bytes, flags, &options, &cancel)
        };
        self.run(&path, work, PackedResult::from)
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
        guard(|| {
            let options = write_options(if_version, flags, mode, durability)?;
            write(&self.roots, &bytes_of(&path), bytes, flags, &options, &Token::new())
        })
        .map(PackedResult::from)
    }

    /// One page of a directory; a negative limit is none. `after` is the name
    /// of the last entry seen, and `after_dir` whether it was a directory.
    #[napi]
    pub fn list_dir(
        &self,
        path: String,
        facts: bool,
        limit: f64,
        after: Option<String>,
        after_dir: bool,
        cancel: Option<&Cancel>,
    ) -> PackedJob {
        let cancel = token(cancel);
        let after = after.map(|name| Position { not_dir: !after_dir, name: bytes_of(&name) });
        let limit = given(limit).map(|limit| limit as usize);
        let options = ListOptions { facts, limit, after };
        let work = move |roots: &Roots, path: &[u8]| {
            roots.list(path, &options, &cancel).map(|listing| pack_listing(&listing))
        };
        self.run(&path, work, PackedResult::from)
    }

    #[napi]
    pub fn list_dir_sync(&self, path: String, facts: bool) -> napi::Result<PackedResult> {
        let options = ListOptions { facts, ..ListOptions::default() };
        guard(|| self.roots.list(&bytes_of(&path), &options, &Token::new()))
            .map(|listing| pack_listing(&listing).into())
    }

    /// Whether the directory was made, rather than there already.
    #[napi]
    pub fn mkdir(&self, path: String, parents: bool, exist_ok: bool) -> AsyncTask<Job<bool, bool>> {
        let options = MkdirOptions { parents, exist_ok };
        self.run(&path, move |roots, path| roots.mkdir(path, &options), |made| made)
    }

    #[napi]
    pub fn mkdir_sync(&self, path: String, parents: bool, exist_ok: bool) -> napi::Result<bool> {
        guard(|| self.roots.mkdir(&bytes_of(&path), &MkdirOptions { parents, exist_ok }))
    }

    #[napi]
    pub fn delete(&self, path: String) -> AsyncTask<Job<(), ()>> {
        self.run(&path, |roots, path| roots.delete(path), |()| ())
    }

    #[napi]
    pub fn delete_sync(&self, path: String) -> napi::Result<()> {
        guard(|| self.roots.delete(&bytes_of(&path)))
    }

    #[napi]
    pub fn remove_tree(&self, path: String, cancel: Option<&Cancel>) -> PackedJob {
        let cancel = token(cancel);
        let work =
            move |roots: &Roots, path: &[u8]| roots.remove_tree(path, &cancel).map(pack_counts);
        self.run(&path, work, PackedResult::from)
    }

    #[napi]
    pub fn rename(
        &self,
        from: String,
        to: String,
        flags: u32,
        durability: u32,
        cancel: Option<&Cancel>,
    ) -> AsyncTask<Job<(), ()>> {
        let (to, cancel) = (bytes_of(&to), token(cancel));
        let options = transfer_options(flags, durability);
        let work = move |roots: &Roots, from: &[u8]| roots.rename(from, &to, &options, &cancel);
        self.run(&from, work, |()| ())
    }

    #[napi]
    pub fn copy_file(
        &self,
        from: String,
        to: String,
        flags: u32,
        durability: u32,
        cancel: Option<&Cancel>,
    ) -> PackedJob {
        let (to, cancel) = (bytes_of(&to), token(cancel));
        let options = transfer_options(flags, durability);
        let work = move |roots: &Roots, from: &[u8]| {
            roots.copy_file(from, &to, &options, &cancel).map(pack_counts)
        };
        self.run(&from, work, PackedResult::from)
    }

    #[napi]
    pub fn copy_tree(
        &self,
        from: String,
        to: String,
        flags: u32,
        durability: u32,
        cancel: Option<&Cancel>,
    ) -> PackedJob {
        let (to, cancel) = (bytes_of(&to), token(cancel));
        let options = transfer_options(flags, durability);
        let work = move |roots: &Roots, from: &[u8]| {
            roots.copy_tree(from, &to, &options, &cancel).map(pack_counts)
        };
        self.run(&from, work, PackedResult::from)
    }

    #[napi]
    pub fn chmod(&self, path: String, mode: u32) -> AsyncTask<Job<(), ()>> {
        self.run(&path, move |roots, path| roots.chmod(path, mode), |()| ())
    }

    #[napi]
    pub fn symlink(&self, target: String, path: String) -> AsyncTask<Job<(), ()>> {
        let target = bytes_of(&target);
        self.run(&path, move |roots, path| roots.symlink(&target, path), |()| ())
    }

    #[napi]
    pub fn read_link(&self, path: String) -> AsyncTask<Job<Vec<u8>, String>> {
        self.run(&path, |roots, path| roots.read_link(path), shown)
    }

    #[napi]
    pub fn realpath(&self, path: String) -> AsyncTask<Job<Vec<u8>, String>> {
        self.run(&path, |roots, path| roots.realpath(path), shown)
    }
}

fn shown(name: Vec<u8>) -> String {
    encode_name(&name).into_owned()
}

/// A number that JavaScript gave; negative and not-a-number mean "not given".
fn given(number: f64) -> Option<u64> {
    // Whole numbers up to 2^53 are exact; beyond, no file reaches.
    (number >= 0.0).then_some(number as u64)
}

fn durability_of(number: u32) -> Durability {
    match number {
        0 => Durability::None,
        2 => Durability::Durable,
        _ => Durability::Atomic,
    }
}

fn write_options(
    if_version: Option<String>,
    flags: u32,
    mode: i32,
    durability: u32,
) -> Result<WriteOptions> {
    // A version that this file system never gave out is no version of the file.
    let if_version = if_version.map(|text| Version::parse(&text)).transpose().map_err(|_| {
        Error::new(Code::Conflict, "the file has changed since it was read")
            .hint("read the file again")
    })?;
    Ok(WriteOptions {
        if_version,
        if_absent: flags & IF_ABSENT != 0,
        create_dirs: flags & CREATE_DIRS != 0,
        mode: u32::try_from(mode).ok(),
        durability: durability_of(durability),
    })
}

fn transfer_options(flags: u32, durability: u32) -> TransferOptions {
    TransferOptions {
        overwrite: flags & OVERWRITE != 0,
        create_dirs: flags & CREATE_DIRS != 0,
        durability: durability_of(durability),
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
    let written = if flags & APPEND != 0 {
        roots.append(path, bytes, options, cancel)?
    } else {
        roots.write(path, bytes, options, cancel)?
    };
    Ok(pack_written(&written))
}

fn facts(roots: &Roots, path: &[u8], follow: bool) -> Result<Packed> {
    let Facts { stat, target, .. } = if follow { roots.stat(path)? } else { roots.lstat(path)? };
    let mut packed = pack_stat(&stat);
    packed.opt_str(target.as_deref().map(encode_name).as_deref());
    Ok(packed)
}

/// Milliseconds with their fraction.
fn millis(nanos: i64) -> f64 {
    nanos.div_euclid(1_000_000) as f64 + nanos.rem_euclid(1_000_000) as f64 / 1e6
}

/// `kind size mode nlink mtime ctime atime birth(or NaN) version`.
pub(crate) fn pack_stat(stat: &Stat) -> Packed {
    let mut packed = Packed::new();
    packed.num(stat.kind.number());
    packed.num(stat.size);
    packed.num(stat.mode.into());
    packed.num(stat.nlink);
    for time in [stat.mtime, stat.ctime, stat.atime] {
        packed.float(millis(time));
    }
    packed.float(stat.birth.map_or(f64::NAN, millis));
    packed.str(&stat.version().to_string());
    packed
}

/// The facts, then `created other_names in_place`.
fn pack_written(written: &Written) -> Packed {
    let mut packed = pack_stat(&written.stat);
    packed.flag(written.created);
    packed.num(written.other_names);
    packed.flag(written.in_place);
    packed
}

/// `files directories bytes`.
fn pack_counts(counts: Counts) -> Packed {
    let mut packed = Packed::new();
    packed.num(counts.files);
    packed.num(counts.directories);
    packed.num(counts.bytes);
    packed
}

/// `total more count`, then for each entry `kind size(or -1) mtime name target?`.
fn pack_listing(listing: &Listing) -> Packed {
    let mut packed = Packed::new();
    packed.num(listing.total);
    packed.flag(listing.more);
    packed.num(listing.entries.len() as u64);
    for entry in &listing.entries {
        packed.num(entry.kind.number());
        packed.opt(entry.stat.map(|stat| stat.size));
        packed.float(entry.stat.map_or(0.0, |stat| millis(stat.mtime)));
        packed.str(&encode_name(&entry.name));
        packed.opt_str(entry.target.as_deref().map(encode_name).as_deref());
    }
    packed
}
