//! Bindings for reading text: kinds of files, encodings, pages.

use std::sync::Arc;

use filewright_core::encoding::{decode_text as decode, encode_text as encode};
use filewright_core::pack::Packed;
use filewright_core::page::{PageRequest, page};
use filewright_core::sniff;
use filewright_core::text::path::decode_name;
use filewright_core::wire::Wire;
use filewright_fs::cancel::CancelToken as Token;
use filewright_fs::confine::Lane;
use filewright_fs::read::page::read_page as read_file_page;
use filewright_index::Session;
use napi::bindgen_prelude::{AsyncTask, Buffer, Task, Uint8Array, Utf16String};
use napi_derive::napi;

use crate::cancel::CancelToken;
use crate::convert::{PackedResult, guard, to_napi, utf8};
use crate::root::{NativeRoots, reading};
use crate::task::OnPool;

#[napi]
pub fn inspect(bytes: &[u8], name: String, complete: bool) -> napi::Result<PackedResult> {
    guard(|| Ok(sniff::inspect(bytes, &name, complete).packed())).map(PackedResult::from)
}

#[napi]
pub fn read_page(bytes: &[u8], name: String, request: String) -> napi::Result<PackedResult> {
    guard(|| Ok(page(bytes, &name, &PageRequest::from_json(&request)?)?.packed()))
        .map(PackedResult::from)
}

pub struct PageTask {
    bytes: Uint8Array,
    name: String,
    request: String,
}

impl Task for PageTask {
    type Output = Packed;
    type JsValue = PackedResult;

    fn compute(&mut self) -> napi::Result<Packed> {
        let request = PageRequest::from_json(&self.request).map_err(to_napi)?;
        Ok(page(&self.bytes, &self.name, &request).map_err(to_napi)?.packed())
    }

    fn resolve(&mut self, _env: napi::Env, packed: Packed) -> napi::Result<PackedResult> {
        Ok(packed.into())
    }
}

#[napi]
pub fn read_page_async(bytes: Uint8Array, name: String, request: String) -> AsyncTask<PageTask> {
    AsyncTask::new(PageTask { bytes, name, request })
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

pub struct FilePageTask {
    session: Arc<Session>,
    path: String,
    request: String,
    cancel: Token,
}

impl Task for FilePageTask {
    type Output = Packed;
    type JsValue = PackedResult;

    fn compute(&mut self) -> napi::Result<Packed> {
        let request = PageRequest::from_json(&self.request).map_err(to_napi)?;
        let path = decode_name(&self.path);
        let page = reading(&self.session.roots, &path, |path| {
            read_file_page(&self.session.roots, path, &request, &self.cancel)
        });
        Ok(page.map_err(to_napi)?.packed())
    }

    fn resolve(&mut self, _env: napi::Env, packed: Packed) -> napi::Result<PackedResult> {
        Ok(packed.into())
    }
}

#[napi]
impl NativeRoots {
    /// A page of a file: a `FilePage`.
    #[napi]
    pub fn read_page(
        &self,
        path: String,
        request: String,
        cancel: Option<&CancelToken>,
    ) -> OnPool<FilePageTask> {
        let cancel = cancel.map(|cancel| cancel.0.clone()).unwrap_or_default();
        self.on_lane(Lane::Quick, |session| FilePageTask { session, path, request, cancel })
    }
}
