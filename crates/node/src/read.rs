//! Reading text: kinds of files, encodings, pages.

use filewright_core::encoding::{decode_text as decode, encode_text as encode};
use filewright_core::pack::Packed;
use filewright_core::page::{PageRequest, page};
use filewright_core::sniff;
use napi::bindgen_prelude::{AsyncTask, Buffer, Task, Uint8Array, Utf16String};
use napi_derive::napi;

use crate::convert::{PackedResult, guard, to_napi, utf8};

#[napi]
pub fn inspect(bytes: &[u8], name: String, complete: bool) -> napi::Result<PackedResult> {
    guard(|| {
        let mut packed = Packed::new();
        sniff::inspect(bytes, &name, complete).pack(&mut packed);
        Ok(packed)
    })
    .map(PackedResult::from)
}

#[napi]
pub fn read_page(bytes: &[u8], name: String, request: String) -> napi::Result<PackedResult> {
    guard(|| {
        let mut packed = Packed::new();
        page(bytes, &name, &PageRequest::from_json(&request)?)?.pack(&mut packed);
        Ok(packed)
    })
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
        let mut packed = Packed::new();
        let request = PageRequest::from_json(&self.request).map_err(to_napi)?;
        page(&self.bytes, &self.name, &request).map_err(to_napi)?.pack(&mut packed);
        Ok(packed)
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
pub fn decode_text(bytes: &[u8], label: String) -> napi::Result<PackedResult> {
    guard(|| {
        let text = decode(bytes, &label)?;
        let mut packed = Packed::new();
        packed.str(&text.text);
        packed.str(&text.encoding.name());
        packed.flag(text.bom);
        packed.flag(text.lossy);
        Ok(packed)
    })
    .map(PackedResult::from)
}

#[napi]
pub fn encode_text(text: Utf16String, label: String, bom: bool) -> napi::Result<Buffer> {
    guard(|| encode(&String::from_utf8_lossy(&utf8(&text)), &label, bom)).map(Buffer::from)
}

#[napi]
pub fn line_anchors(text: Utf16String) -> napi::Result<String> {
    guard(|| Ok(filewright_core::anchor::anchors(&String::from_utf8_lossy(&utf8(&text)))))
}
