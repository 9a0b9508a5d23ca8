//! Pages of files on the disk.

use filewright_core::page::PageRequest;
use filewright_core::wire::Wire;
use filewright_fs::read::page::read_page as read_file_page;
use napi_derive::napi;

use crate::cancel::{CancelToken, token};
use crate::results::PackedResult;
use crate::root::NativeRoots;
use crate::task::Promise;

#[napi]
impl NativeRoots {
    /// Resolves to a page of a file, a packed `FilePage`.
    #[napi]
    pub fn read_page(
        &self,
        path: String,
        request: String,
        cancel: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let cancel = token(cancel);
        self.run(&path, move |roots, path| {
            let request = PageRequest::from_json(&request)?;
            Ok(read_file_page(roots, path, &request, &cancel)?.packed())
        })
    }
}
