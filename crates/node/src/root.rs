//! The class of a set of roots. Its calls for files are declared in `exports/roots.rs`.

use std::sync::Arc;

use filewright_core::pattern::policy::Intent;
use filewright_core::text::path::decode_name;
use filewright_core::wire::Wire;
use filewright_core::{Code, Error, Result};
use filewright_fs::confine::Lane;
use filewright_fs::records::RecordedFile;
use filewright_fs::write::WriteOptions;
use filewright_fs::write::record::{ChangeRecord, RecordKey, RecordTexts, create_record_file};
use filewright_index::{ClosableRoots, OpenRoots};
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::cancel::{CancelToken, token};
use crate::convert::{guard, result_of};
use crate::results::PackedResult;
use crate::task::{Promise, Value};

/// A set of roots, through which every access to the disk goes.
#[napi]
pub struct NativeRoots(ClosableRoots);

/// The paths of a call with the access that it needs. If the system refuses it, they determine the
/// layer that the error names.
pub type AskedPaths = Vec<(Vec<u8>, Intent)>;

#[napi]
impl NativeRoots {
    /// Opens the roots of a policy, which is JSON.
    #[napi(constructor)]
    pub fn new(policy: String) -> napi::Result<Self> {
        guard(|| ClosableRoots::from_policy(&policy).map(Self))
    }

    /// Releases descriptors, watches, indexes and threads, as soon as the running calls have
    /// finished. Later calls fail with `UNSUPPORTED_OPERATION`.
    #[napi]
    pub fn close(&self) {
        self.0.close();
    }

    /// Returns the same roots and threads with secrets as ordinary files, for reads by the host
    /// itself.
    #[napi]
    pub fn without_secret_filter(&self) -> napi::Result<Self> {
        guard(|| self.0.without_secret_filter().map(Self))
    }

    /// Closes all indexes. Later searches may create new ones.
    #[napi]
    pub fn dispose_indexes(&self) {
        // A closed set of roots has no index.
        if let Ok(open) = self.0.open() {
            filewright_index::dispose(&open.session);
        }
    }

    /// Writes a file together with the record of the change. Resolves to a packed `RecordedFile`.
    ///
    /// The file of the record, `record_path`, is created on this thread, because Landlock keeps the
    /// others out of the state directory. `lines` and `content` are those of
    /// [`RecordTexts::from_lines`], and the moment of the commit is after `last`.
    #[napi]
    #[allow(clippy::too_many_arguments)] // an options object costs more
    pub fn write_recorded(
        &self,
        path: String,
        bytes: Uint8Array,
        if_version: Option<String>,
        flags: u32,
        mode: f64,
        durability: u32,
        record_path: String,
        key: Uint8Array,
        lines: String,
        content: Uint8Array,
        last: f64,
        durable: bool,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let (cancel, asked) = (token(cancel), vec![asked(&path, Intent::Write)]);
        let opened = create_record_file(&decode_name(&record_path))
            .and_then(|file| Ok((file, RecordKey::new(&key)?)));
        let mut opened = match opened {
            Ok(opened) => Some(opened),
            Err(error) => return Promise::Refused(error),
        };
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            let (file, key) = opened.take().ok_or_else(|| Error::new(Code::Internal, "done"))?;
            let version = if_version.as_deref();
            let options = WriteOptions::from_flags(version, flags, given(mode), durability, None)?;
            let texts = RecordTexts::from_lines(&path, &lines, &content)?;
            let record = (ChangeRecord::new(file, key, texts, durable), last);
            let roots = &open.session.roots;
            let made = roots.write_recorded(paths[0].0, &bytes, &options, record, &cancel)?;
            Ok(RecordedFile::from(&made).packed())
        })
    }

    /// Runs work on a thread of a lane.
    pub(crate) fn in_lane<T: Into<J>, J: Value>(
        &self,
        lane: Lane,
        asked: AskedPaths,
        mut work: impl FnMut(&OpenRoots, &[(&[u8], Intent)]) -> Result<T> + Send + 'static,
    ) -> Promise<J> {
        let open = match self.0.open() {
            Ok(open) => open,
            Err(closed) => return Promise::Refused(closed),
        };
        let pool = Arc::clone(&open.confinement.pool);
        Promise::in_lane(pool, lane, move || tell_layer(&open, &asked, &mut work))
    }

    /// Runs work on the calling thread.
    pub(crate) fn on_this_thread<T: Into<J>, J>(
        &self,
        asked: AskedPaths,
        work: impl FnOnce(&OpenRoots, &[(&[u8], Intent)]) -> Result<T>,
    ) -> napi::Result<J> {
        result_of(|| tell_layer(&self.0.open()?, &asked, work))
    }
}

/// Runs work, with the paths; an error says which layer has refused it.
fn tell_layer<T>(
    open: &OpenRoots,
    asked: &[(Vec<u8>, Intent)],
    work: impl FnOnce(&OpenRoots, &[(&[u8], Intent)]) -> Result<T>,
) -> Result<T> {
    let asked: Vec<_> = asked.iter().map(|(path, intent)| (&path[..], *intent)).collect();
    open.session.roots.tell_layer(&asked, work(open, &asked))
}

/// Returns a path from JavaScript with the access that a call needs.
pub fn asked(path: &str, intent: Intent) -> (Vec<u8>, Intent) {
    (decode_name(path).into_owned(), intent)
}

/// Returns an option that JavaScript passes as a number; `None` for a negative number or NaN, which
/// mean that it is not given.
pub fn given(number: f64) -> Option<u64> {
    // Integers up to 2^53 are exact, and no file is larger.
    (number >= 0.0).then_some(number as u64)
}
