//! Searches in trees on the disk.

use std::sync::Arc;

use filewright_core::pack::Packed;
use filewright_core::wire::Wire;
use filewright_fs::search::find::FindOptions;
use filewright_fs::search::grep::GrepOptions;
use filewright_index::find_indexed;
use filewright_index::grep_indexed;
use filewright_index::{self as index, FuzzyOptions, Session};
use napi_derive::napi;

use crate::cancel::{CancelToken, token};
use crate::convert::guard;
use crate::results::{PackedBatch, PackedResult};
use crate::root::{NativeRoots, bytes_of};
use crate::task::Promise;

#[napi]
impl NativeRoots {
    /// Searches the contents of files below a path. Resolves to batches of packed results.
    #[napi]
    pub fn grep(
        &self,
        path: String,
        options: String,
        cancel: Option<&CancelToken>,
    ) -> Promise<Vec<PackedBatch>> {
        let progress = cancel.map(|cancel| Arc::clone(&cancel.1)).unwrap_or_default();
        let cancel = token(cancel);
        self.scan(&path, move |session, path| {
            let mut options = GrepOptions::from_json(&options)?;
            options.progress = progress;
            let results = grep_indexed(session, path, &options, &cancel)?;
            Ok(results.into_iter().map(PackedBatch::from).collect::<Vec<_>>())
        })
    }

    /// Finds entries below a directory by name.
    #[napi]
    pub fn find(
        &self,
        path: String,
        options: String,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        self.scan(&path, move |session, path| {
            find_indexed(session, path, &FindOptions::from_json(&options)?, &cancel)
        })
    }

    /// Finds files below a directory by a fuzzy match of their paths.
    #[napi]
    pub fn find_files(
        &self,
        path: String,
        options: String,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let work = move |session: &Arc<Session>, path: &[u8]| {
            let options = FuzzyOptions::from_json(&options)?;
            index::find_files(session, path, &options, &cancel)
        };
        self.scan(&path, work)
    }

    /// Builds an index of a directory, if there is none. Resolves to its packed status.
    #[napi]
    pub fn warm(
        &self,
        path: String,
        respect_ignore: bool,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        let work = move |session: &Arc<Session>, path: &[u8]| {
            index::warm(session, path, respect_ignore, &cancel).map(|status| status.packed())
        };
        self.scan(&path, work)
    }

    /// Sets the state directory in which indexes are saved. Must be called by a thread that
    /// Landlock does not restrict.
    #[napi]
    pub fn keep_indexes(&self, state_dir: String) -> napi::Result<()> {
        guard(|| {
            index::set_state_dir(&self.open()?.session, &bytes_of(&state_dir));
            Ok(())
        })
    }

    /// Closes all indexes. Later searches may create new ones.
    #[napi]
    pub fn dispose_indexes(&self) {
        // A closed set of roots has no index.
        if let Ok(open) = self.open() {
            index::dispose(&open.session);
        }
    }

    /// Resolves to the packed status of the index that contains a path, without any number if there
    /// is none.
    #[napi]
    pub fn index_status(&self, path: String) -> Promise<PackedResult> {
        let work = |session: &Arc<Session>, path: &[u8]| {
            Ok(index::status(session, path)?.map_or_else(Packed::new, |status| status.packed()))
        };
        self.scan(&path, work)
    }
}
