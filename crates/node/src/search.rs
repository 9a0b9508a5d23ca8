//! Bindings for globs, ignore rules and searches: in contents that JavaScript passes, and in trees
//! on the disk.

use std::sync::Arc;

use filewright_core::fuzzy::rank_packed;
use filewright_core::options::Options;
use filewright_core::pack::Packed;
use filewright_core::pattern::glob::Globs;
use filewright_core::pattern::ignore::Stack;
use filewright_core::search::{MemoryIndex, Query, search_packed};
use filewright_core::wire::Wire;
use filewright_fs::search::find::FindOptions;
use filewright_fs::search::grep::GrepOptions;
use filewright_index::find_indexed;
use filewright_index::grep_indexed;
use filewright_index::{self as index, FuzzyOptions, Session};
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::cancel::CancelToken;
use crate::convert::{PackedBatch, PackedResult, guard};
use crate::root::{NativeRoots, bytes_of, token};
use crate::task::Promise;

/// A compiled query for searching contents.
#[napi]
pub struct SearchQuery {
    query: Query,
}

#[napi]
impl SearchQuery {
    #[napi(constructor)]
    pub fn new(options: String) -> napi::Result<Self> {
        guard(|| Ok(Self { query: Query::from_options(&Options::parse(&options)?)? }))
    }

    #[napi]
    pub fn search(&self, content: &[u8], limits: String) -> napi::Result<PackedResult> {
        guard(|| search_packed(&self.query, content, &limits, &|| false)).map(PackedResult::from)
    }

    /// Like `search`, on another thread, for long contents.
    #[napi]
    pub fn search_async(
        &self,
        content: Uint8Array,
        limits: String,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let (query, cancel) = (self.query.clone(), token(cancel));
        Promise::on_node_thread(move || {
            search_packed(&query, &content, &limits, &|| cancel.is_cancelled())
        })
    }
}

/// An index of contents that JavaScript passes, each identified by a number.
#[napi]
pub struct HeldIndex {
    held: MemoryIndex,
}

#[napi]
impl HeldIndex {
    #[allow(clippy::new_without_default)]
    #[napi(constructor)]
    pub fn new() -> Self {
        Self { held: MemoryIndex::default() }
    }

    /// Indexes a content and returns its number; -1 if it is binary and has no matches, -2 if it
    /// cannot be indexed, so that every query must read it.
    #[napi]
    pub fn sign(&mut self, content: &[u8]) -> napi::Result<i64> {
        guard(|| Ok(self.held.sign(content).code()))
    }

    /// Returns one bit for each number, set if that content can have a match; null if all can.
    #[napi]
    pub fn candidates(&self, query: &SearchQuery) -> napi::Result<Option<Uint8Array>> {
        let bytes = |word: u64| word.to_le_bytes();
        guard(|| Ok(self.held.candidates(&query.query)))
            .map(|set| set.map(|set| set.into_iter().flat_map(bytes).collect::<Vec<u8>>().into()))
    }

    /// Returns the memory use in bytes.
    #[napi]
    pub fn bytes(&self) -> f64 {
        self.held.bytes() as f64
    }
}

/// A compiled list of globs that paths must match or must not match.
#[napi]
pub struct PathGlobs {
    globs: Globs,
}

#[napi]
impl PathGlobs {
    #[napi(constructor)]
    pub fn new(options: String) -> napi::Result<Self> {
        guard(|| Ok(Self { globs: Globs::from_json(&options)? }))
    }

    #[napi]
    pub fn matches(&self, path: String, is_dir: bool) -> napi::Result<bool> {
        guard(|| Ok(self.globs.matches(path.as_bytes(), is_dir)))
    }

    #[napi]
    pub fn excluded(&self, path: String, is_dir: bool) -> napi::Result<bool> {
        guard(|| Ok(self.globs.excluded(path.as_bytes(), is_dir)))
    }

    #[napi]
    pub fn may_contain(&self, path: String) -> napi::Result<bool> {
        guard(|| Ok(self.globs.may_contain(path.as_bytes())))
    }
}

/// Returns the paths that best match a fuzzy query. In `paths`, each path ends in a NUL.
#[napi]
pub fn rank_paths(paths: String, options: String) -> napi::Result<PackedResult> {
    guard(|| rank_packed(&paths, &options)).map(PackedResult::from)
}

/// The ignore rules that apply in one directory: its own and those of the directories above it.
#[napi]
pub struct IgnoreStack {
    stack: Stack,
}

#[napi]
impl IgnoreStack {
    #[allow(clippy::new_without_default)]
    #[napi(constructor)]
    pub fn new() -> Self {
        Self { stack: Stack::new() }
    }

    /// Returns the rules for a directory below. `files` are the contents of its ignore files, and
    /// `places` the index of each in the list of names of ignore files. `border` says that the
    /// directory contains `.git`.
    #[napi]
    pub fn enter(
        &self,
        directory: String,
        places: Vec<u32>,
        files: Vec<Uint8Array>,
        border: bool,
    ) -> napi::Result<IgnoreStack> {
        let files = places.iter().zip(&files).map(|(place, file)| (*place as usize, &file[..]));
        guard(|| Ok(Self { stack: self.stack.enter_files(directory.as_bytes(), files, border) }))
    }

    #[napi]
    pub fn ignored(&self, path: String, is_dir: bool) -> napi::Result<bool> {
        guard(|| Ok(self.stack.ignored(path.as_bytes(), is_dir)))
    }
}

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
