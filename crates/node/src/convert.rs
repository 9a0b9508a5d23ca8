//! Conversions of arguments and results.

use std::borrow::Cow;

use filewright_core::patch::Contents;
use napi::bindgen_prelude::{
    Float64Array, Float64ArraySlice, JsValue, ToNapiValue, TypeName, Uint8Array,
};
use napi::{Env, ValueType, sys};

/// Numbers for JavaScript. Few cross as an array, more as a copied buffer, and very many as a
/// buffer that stays in Rust. The last needs a finaliser, which costs several times a short call,
/// and any buffer costs more than a short array.
pub struct Numbers(Vec<f64>);

/// The maximum number of values that cross as an array.
const MAX_ARRAY_LEN: usize = 32;

/// The maximum number of values that are copied. Copying more costs more than a finaliser.
const MAX_COPIED_BYTES: usize = 4096;

impl From<Vec<f64>> for Numbers {
    fn from(numbers: Vec<f64>) -> Self {
        Self(numbers)
    }
}

impl TypeName for Numbers {
    fn type_name() -> &'static str {
        "Float64Array"
    }

    fn value_type() -> ValueType {
        ValueType::Object
    }
}

impl ToNapiValue for Numbers {
    /// # Safety
    /// As for the trait: `raw` must be the environment of the current call.
    unsafe fn to_napi_value(raw: sys::napi_env, numbers: Self) -> napi::Result<sys::napi_value> {
        if numbers.0.len() > MAX_COPIED_BYTES {
            // SAFETY: `raw` is guaranteed by the caller.
            return unsafe { Float64Array::to_napi_value(raw, numbers.0.into()) };
        }
        if numbers.0.len() <= MAX_ARRAY_LEN {
            // SAFETY: `raw` is guaranteed by the caller.
            return unsafe { Vec::<f64>::to_napi_value(raw, numbers.0) };
        }
        let slice = Float64ArraySlice::copy_from(&Env::from_raw(raw), &numbers.0)?;
        // SAFETY: `raw` is guaranteed by the caller.
        unsafe { Float64ArraySlice::to_napi_value(raw, slice) }
    }
}

/// Text for JavaScript. ASCII crosses as Latin-1, which JavaScript need not decode.
pub struct Text(String);

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl TypeName for Text {
    fn type_name() -> &'static str {
        "string"
    }

    fn value_type() -> ValueType {
        ValueType::String
    }
}

impl ToNapiValue for Text {
    /// # Safety
    /// As for the trait: `raw` must be the environment of the current call.
    unsafe fn to_napi_value(raw: sys::napi_env, text: Self) -> napi::Result<sys::napi_value> {
        if text.0.is_ascii() {
            return Ok(Env::from_raw(raw).create_string_latin1(&text.0)?.raw());
        }
        // SAFETY: `raw` is guaranteed by the caller.
        unsafe { String::to_napi_value(raw, text.0) }
    }
}

/// Converts a core error to a napi error whose message is its JSON form. An async task can only
/// reject with one of napi's status values, so the code is in the message in both cases, and
/// `js/engine/errors.ts` parses it.
pub fn to_napi(error: filewright_core::Error) -> napi::Error {
    napi::Error::from_reason(error.to_json())
}

/// Runs a synchronous function of the binding, and turns its error or panic into a napi error.
pub fn guard<T>(f: impl FnOnce() -> filewright_core::Result<T>) -> napi::Result<T> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)) {
        Ok(result) => result.map_err(to_napi),
        Err(_) => Err(panicked()),
    }
}

/// Like [`guard`], and converts the result for JavaScript.
pub fn result_of<T: Into<J>, J>(f: impl FnOnce() -> filewright_core::Result<T>) -> napi::Result<J> {
    guard(|| f().map(Into::into))
}

/// An alias, because napi would treat a literal `&mut` type as a class.
pub type Totals<'a> = &'a mut [u32];

/// Borrows contents that JavaScript passed.
pub fn all_bytes(contents: &[Uint8Array]) -> Vec<Cow<'_, [u8]>> {
    contents.iter().map(|content| Cow::Borrowed(&content[..])).collect()
}

/// Borrows contents that JavaScript passed, some of which are null.
pub fn optional_bytes(contents: &[Option<Uint8Array>]) -> Contents<'_> {
    contents.iter().map(|content| content.as_deref().map(Cow::Borrowed)).collect()
}

/// Returns the `INTERNAL` error for a panic.
pub fn panicked() -> napi::Error {
    use filewright_core::{Code, Error};
    to_napi(Error::new(Code::Internal, "the engine panicked"))
}

/// Converts JavaScript text to UTF-8. For text with characters outside Latin-1, UTF-16 crosses
/// several times faster than napi's `String`, and otherwise equally fast; unpaired surrogates
/// become U+FFFD.
pub fn utf8(units: &[u16]) -> String {
    const SIMD_BLOCK_UNITS: usize = 32;
    let mut text = Vec::with_capacity(units.len() + units.len() / 8);
    let mut rest = units;
    while !rest.is_empty() {
        // Whole blocks, so that the compiler can vectorise.
        let blocks = rest.chunks_exact(SIMD_BLOCK_UNITS);
        let ascii =
            blocks.take_while(|block| block.iter().fold(0, |all, unit| all | unit) < 0x80).count();
        let (head, tail) = rest.split_at(ascii * SIMD_BLOCK_UNITS);
        text.extend(head.iter().map(|&unit| unit as u8));
        // The end of the block must not split a surrogate pair.
        let mut cut = tail.len().min(SIMD_BLOCK_UNITS);
        if cut < tail.len() && (0xd800..0xdc00).contains(&tail[cut - 1]) {
            cut += 1;
        }
        for c in char::decode_utf16(tail[..cut].iter().copied()) {
            let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
            text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        rest = &tail[cut..];
    }
    // Only whole characters were appended, so that it is valid.
    String::from_utf8(text).unwrap_or_default()
}
