//! The objects in which results cross to JavaScript.

use filewright_core::Result;
use filewright_core::exports::texts::Planned;
use filewright_core::hash::Hasher;
use filewright_core::pack::Packed;
use filewright_core::patch::PatchedFiles;
use filewright_core::text::path::encode_name;
use filewright_core::wire::Wire;
use filewright_fs::read::{LocatedContent, ReadContent};
use filewright_fs::records::EntryStat;
use napi::bindgen_prelude::{Buffer, Either, External, ToNapiValue, TypeName, Uint8Array};
use napi::{ValueType, sys};
use napi_derive::napi;

use crate::convert::{Numbers, Text};

/// A `Packed` result as a JavaScript object: `{ nums, text }`.
#[napi(object, object_from_js = false)]
pub struct PackedResult {
    #[napi(ts_type = "Float64Array | number[]")]
    pub nums: Numbers,
    #[napi(ts_type = "string")]
    pub text: Text,
}

impl From<Packed> for PackedResult {
    fn from(packed: Packed) -> Self {
        Self { nums: packed.nums.into(), text: packed.text.into() }
    }
}

/// Like [`PackedResult`], but a text of at least 64 KiB crosses as bytes, so that it is only
/// decoded if JavaScript reads it.
#[napi(object, object_from_js = false)]
pub struct PackedBatch {
    #[napi(ts_type = "Float64Array | number[]")]
    pub nums: Numbers,
    #[napi(ts_type = "string | Uint8Array")]
    pub text: Either<Text, Uint8Array>,
}

/// The length in bytes from which a text crosses as bytes, which stay in Rust. For a shorter text,
/// such a buffer costs more than a copy.
const MAX_INLINE_BYTES: usize = 64 << 10;

impl From<Packed> for PackedBatch {
    fn from(packed: Packed) -> Self {
        let text = match packed.text {
            text if text.len() < MAX_INLINE_BYTES => Either::A(text.into()),
            text => Either::B(text.into_bytes().into()),
        };
        Self { nums: packed.nums.into(), text }
    }
}

/// The state of a hash, and the number of bytes that it covers so far.
pub type HashState = (Hasher, usize);

/// A [`HashState`] that JavaScript can only pass on.
pub struct StartedHash(pub HashState);

impl TypeName for StartedHash {
    fn type_name() -> &'static str {
        "External"
    }

    fn value_type() -> ValueType {
        ValueType::External
    }
}

impl ToNapiValue for StartedHash {
    /// # Safety
    /// As for the trait: `raw` must be the environment of the current call.
    unsafe fn to_napi_value(raw: sys::napi_env, begun: Self) -> napi::Result<sys::napi_value> {
        // SAFETY: `raw` is guaranteed by the caller.
        unsafe { External::to_napi_value(raw, External::new(begun.0)) }
    }
}

/// A new text, and the packed facts about it.
#[napi(object, object_from_js = false)]
pub struct PlanResult {
    pub bytes: Buffer,
    #[napi(ts_type = "Float64Array")]
    pub nums: Numbers,
    pub text: String,
    /// The state of a hash of the first part of `bytes`, which `sha256_from` continues.
    #[napi(ts_type = "object")]
    pub hashing: Option<StartedHash>,
}

impl From<Planned> for PlanResult {
    fn from(planned: Planned) -> Self {
        let Packed { nums, text } = planned.facts;
        Self { bytes: planned.bytes.into(), nums: nums.into(), text, hashing: None }
    }
}

/// The files that a patch has changed: the facts as JSON, and the new contents.
#[napi(object, object_from_js = false)]
pub struct PatchResult {
    pub facts: String,
    pub contents: Vec<Buffer>,
}

impl From<PatchedFiles> for PatchResult {
    fn from(patched: PatchedFiles) -> Self {
        let contents = patched.contents.into_iter().map(Buffer::from).collect();
        Self { facts: patched.facts, contents }
    }
}

/// The content of a file with its packed `EntryStat`. `bytes` is absent if the version that the
/// caller knows is still current.
#[napi(object, object_from_js = false)]
pub struct ReadResult {
    pub bytes: Option<Buffer>,
    #[napi(ts_type = "Float64Array")]
    pub nums: Numbers,
    pub text: String,
}

impl From<ReadContent> for ReadResult {
    fn from(content: ReadContent) -> Self {
        let Packed { nums, text } = EntryStat::from(&content.stat).packed();
        Self { bytes: content.bytes.map(Buffer::from), nums: nums.into(), text }
    }
}

/// The real path of a file, and its content with its packed `EntryStat`; or an error in place of
/// each, as JSON.
#[napi(object, object_from_js = false)]
pub struct LocatedResult {
    pub real: Option<String>,
    pub real_error: Option<String>,
    pub bytes: Option<Buffer>,
    pub error: Option<String>,
    #[napi(ts_type = "Float64Array")]
    pub nums: Numbers,
    pub text: String,
}

impl From<LocatedContent> for LocatedResult {
    fn from(found: LocatedContent) -> Self {
        let (real, real_error) = split(found.real);
        let (content, error) = split(found.content);
        let stat = content.as_ref().map(|content| EntryStat::from(&content.stat).packed());
        let Packed { nums, text } = stat.unwrap_or_default();
        Self {
            real: real.map(|path| encode_name(&path).into_owned()),
            real_error,
            bytes: content.map(|content| content.bytes.into()),
            error,
            nums: nums.into(),
            text,
        }
    }
}

/// Returns a value or the JSON of its error.
fn split<T>(result: Result<T>) -> (Option<T>, Option<String>) {
    match result {
        Ok(value) => (Some(value), None),
        Err(error) => (None, Some(error.to_json())),
    }
}
