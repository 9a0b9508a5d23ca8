//! Bindings for the files of the records of a writer.

use filewright_core::text::path::{decode_name, encode_name};
use filewright_fs::write::record_files::RecordFiles;
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::convert::guard;

/// The files of the records of one writer. `close` ends their use.
#[napi]
pub struct NativeRecordFiles(pub(crate) RecordFiles);

#[napi]
impl NativeRecordFiles {
    /// Returns the files named `writer` in a directory, whose records have MACs by `key`.
    #[napi(constructor)]
    pub fn new(folder: String, writer: String, key: Uint8Array) -> napi::Result<Self> {
        guard(|| RecordFiles::new(&decode_name(&folder), &writer, &key).map(Self))
    }

    /// Begins a record, and returns its number. The file is there once the change is made.
    #[napi]
    pub fn begin(&self) -> u32 {
        self.0.begin()
    }

    /// Ends a record, later and on another thread: moves its file to a path in the history, or
    /// removes it.
    #[napi]
    pub fn end(&self, number: u32, kept: Option<String>) {
        self.0.end(number, kept.map(|path| decode_name(&path).into_owned()));
    }

    /// Takes records that the history forgets, to use their files again. Returns those that were
    /// not taken.
    #[napi]
    pub fn reuse(&self, paths: Vec<String>) -> Vec<String> {
        let paths = paths.iter().map(|path| decode_name(path).into_owned()).collect();
        self.0.reuse(paths).iter().map(|path| encode_name(path).into_owned()).collect()
    }

    /// Puts away all ended records now.
    #[napi]
    pub fn settle(&self) {
        self.0.settle();
    }

    /// Puts away all ended records, and removes the files that were made ahead.
    #[napi]
    pub fn close(&self) {
        self.0.close();
    }
}
