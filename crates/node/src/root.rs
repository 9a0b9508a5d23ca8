//! The class of a set of roots. Its calls for files are declared in `exports/roots.rs`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use filewright_core::pattern::policy::Intent;
use filewright_core::text::path::decode_name;
use filewright_core::wire::Wire;
use filewright_core::{Code, Error, Result};
use filewright_fs::commit::ListedChange;
use filewright_fs::confine::Lane;
use filewright_fs::read::{LocatedContent, ReadOptions};
use filewright_fs::records::MadeList;
use filewright_fs::write::record::{ChangeRecord, RecordTexts};
use filewright_fs::write::record_files::RecordFile;
use filewright_index::{ClosableRoots, OpenRoots};
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::cancel::{CancelToken, token};
use crate::convert::{guard, result_of};
use crate::record_files::NativeRecordFiles;
use crate::results::{LocatedResult, PackedResult};
use crate::task::{Promise, Value};

/// A set of roots, through which every access to the disk goes.
#[napi]
pub struct NativeRoots(ClosableRoots);

/// The maximum number of contents of a list that a thread for single files writes.
const MAX_QUICK_CONTENTS: usize = 64;

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

    /// Makes a list of changes together with its record. Resolves to a packed `MadeList`.
    ///
    /// `list` and `contents` are those of [`ListedChange::parse_list`], with the flags and the
    /// durability of all writes. The record is the one that `files` has begun as `number`. Its file
    /// is made before, on a thread that Landlock does not restrict, unless it was made ahead.
    /// `lines` are those of [`RecordTexts::from_lines`], and the moment of the commit is after
    /// `last`.
    #[napi]
    #[allow(clippy::too_many_arguments)] // an options object costs more
    pub fn commit(
        &self,
        list: String,
        contents: Vec<Uint8Array>,
        flags: u32,
        durability: u32,
        files: &NativeRecordFiles,
        number: u32,
        lines: String,
        last: f64,
        durable: bool,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let key = files.0.key();
        let file = match files.0.take(number) {
            Ok(file) => file,
            Err(error) => return Promise::Refused(error),
        };
        let opened = Arc::new(Mutex::new(None));
        let made = Arc::clone(&opened);
        let lane = if contents.len() > MAX_QUICK_CONTENTS { Lane::Scan } else { Lane::Quick };
        let promise = self.in_lane(lane, Vec::new(), move |open, _| {
            let file = held(&opened).take().unwrap_or_else(|| Err(closed_record()))?;
            let list = ListedChange::parse_list(&list, &contents, (flags, durability))?;
            let texts = RecordTexts::from_lines(&lines, list.len())?;
            let record = ChangeRecord::new(file, key, texts, durable);
            let made = open.session.roots.commit(&list, record, last, &cancel)?;
            Ok(MadeList::from(made).packed())
        });
        match file {
            RecordFile::Open(file) => {
                *held(&made) = Some(Ok(file));
                promise
            }
            RecordFile::ToMake(_) => promise.after(move || *held(&made) = Some(file.open())),
        }
    }

    /// Resolves to the real path of a file and to its content, in one job: what `realpath` and
    /// `read` resolve to, or their errors.
    #[napi]
    pub fn read_located(
        &self,
        path: String,
        max_bytes: f64,
        cancel: Option<&CancelToken>,
    ) -> Promise<LocatedResult> {
        let (cancel, asked) = (token(cancel), vec![asked(&path, Intent::Read)]);
        let options = ReadOptions { max_bytes: given(max_bytes), ..ReadOptions::default() };
        self.in_lane(Lane::Quick, asked, move |open, paths| {
            let roots = &open.session.roots;
            let LocatedContent { real, content } =
                roots.read_located(paths[0].0, &options, &cancel);
            let (real, content) = (roots.tell_layer(paths, real), roots.tell_layer(paths, content));
            Ok(LocatedContent { real, content })
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

/// Returns what two threads use in turn.
fn held<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the error of a record whose file was not made.
fn closed_record() -> Error {
    Error::new(Code::Internal, "the record has no file")
}

/// Returns an option that JavaScript passes as a number; `None` for a negative number or NaN, which
/// mean that it is not given.
pub fn given(number: f64) -> Option<u64> {
    // Integers up to 2^53 are exact, and no file is larger.
    (number >= 0.0).then_some(number as u64)
}
