//! Bindings for reading text: kinds of files, encodings, pages.

use filewright_core::encoding::{decode_text as decode, encode_text as encode};
use filewright_core::page::{PageRequest, page};
use filewright_core::sniff;
use filewright_core::wire::Wire;
use filewright_fs::read::page::read_page as read_file_page;
use napi::bindgen_prelude::{Buffer, Uint8Array, Utf16String};
use napi_derive::napi;

use crate::cancel::CancelToken;
use crate::convert::{PackedResult, guard, utf8};
use crate::root::{NativeRoots, token};
use crate::task::Promise;

#[napi]
pub fn inspect(bytes: &[u8], name: String, complete: bool) -> napi::Result<PackedResult> {
    guard(|| Ok(sniff::inspect(bytes, &name, complete).packed())).map(PackedResult::from)
}

#[napi]
pub fn read_page(bytes: &[u8], name: String, request: String) -> napi::Result<PackedResult> {
    guard(|| Ok(page(bytes, &name, &PageRequest::from_json(&request)?)?.packed()))
        .map(PackedResult::from)
}

#[napi]
pub fn read_page_async(bytes: Uint8Array, name: String, request: String) -> Promise<PackedResult> {
    Promise::on_node_thread(move || {
        Ok(page(&bytes, &name, &PageRequest::from_json(&request)?)?.packed())
    })
}

#[napi]
pub fn decode_bytes(bytes: &[u8], label: String) -> napi::Result<PackedResult> {
    guard(|| Ok(decode(bytes, &label)?.packed())).map(PackedResult::from)
}

#[napi]
pub fn encode_text(text: Utf16String, label: String, bom: bool) -> napi::Result<Buffer> {
    guard(|| encode(&String::from_utf8_lossy(&utf8(&text)), &label, bom)).map(Buffer::from)
}

#[napi]
pub fn line_anchors(text: Utf16String) -> napi::Result<String> {
    guard(|| Ok(filewright_core::anchor::anchors(&String::from_utf8_lossy(&utf8(&text)))))
}

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
