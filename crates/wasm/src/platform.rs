//! Lets the core decode and encode legacy encodings by functions of the JavaScript that loads the
//! module.

use std::cell::OnceCell;

use filewright_core::encoding::platform::{Platform, use_platform as use_in_core};
use js_sys::{Function, Reflect, Uint8Array, Uint32Array};
use wasm_bindgen::prelude::*;

thread_local! {
    /// The functions, once JavaScript has registered them.
    static HOST: OnceCell<Host> = const { OnceCell::new() };
}

/// The functions of `js/engine/wasm/legacy.ts`. None of them throws.
struct Host {
    find: Function,
    decode: Function,
    fits: Function,
    encode: Function,
    spans: Function,
    first_chars_len: Function,
}

/// Registers the functions, which are properties of the object `host`.
#[wasm_bindgen(js_name = usePlatform)]
pub fn use_platform(host: &JsValue) -> Result<(), JsValue> {
    let function = |name: &str| Reflect::get(host, &name.into())?.dyn_into::<Function>();
    let host = Host {
        find: function("find")?,
        decode: function("decode")?,
        fits: function("fits")?,
        encode: function("encode")?,
        spans: function("spans")?,
        first_chars_len: function("prefixLength")?,
    };
    HOST.with(|cell| {
        let _ = cell.set(host);
    });
    use_in_core(Platform { find, decode, fits, encode, spans, first_chars_len });
    Ok(())
}

/// Calls one of the functions; returns `undefined` if none is registered.
fn call(choose: fn(&Host) -> &Function, args: &[JsValue]) -> JsValue {
    HOST.with(|cell| {
        let called = cell.get().map(|host| {
            let list = args.iter().collect::<js_sys::Array>();
            choose(host).apply(&JsValue::UNDEFINED, &list)
        });
        called.and_then(Result::ok).unwrap_or(JsValue::UNDEFINED)
    })
}

/// Copies bytes into a JavaScript array.
fn shared(bytes: &[u8]) -> JsValue {
    Uint8Array::from(bytes).into()
}

fn find(label: &str) -> Option<String> {
    call(|host| &host.find, &[label.into()]).as_string()
}

fn decode(name: &str, bytes: &[u8]) -> String {
    call(|host| &host.decode, &[name.into(), shared(bytes)]).as_string().unwrap_or_default()
}

fn fits(name: &str, bytes: &[u8], complete: bool) -> bool {
    call(|host| &host.fits, &[name.into(), shared(bytes), complete.into()]).is_truthy()
}

fn encode(name: &str, text: &str) -> Result<Vec<u8>, usize> {
    let encoded = call(|host| &host.encode, &[name.into(), text.into()]);
    match encoded.dyn_into::<Uint8Array>() {
        Ok(bytes) => Ok(bytes.to_vec()),
        Err(offset) => Err(offset.as_f64().unwrap_or(0.0) as usize),
    }
}

fn spans(name: &str, bytes: &[u8]) -> Vec<u32> {
    let spans = call(|host| &host.spans, &[name.into(), shared(bytes)]);
    spans.dyn_into::<Uint32Array>().map(|spans| spans.to_vec()).unwrap_or_default()
}

fn first_chars_len(name: &str, bytes: &[u8], chars: usize) -> usize {
    let length =
        call(|host| &host.first_chars_len, &[name.into(), shared(bytes), (chars as f64).into()]);
    length.as_f64().unwrap_or(0.0) as usize
}
