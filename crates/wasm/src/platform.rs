//! Lets the core decode and encode legacy encodings by functions of the JavaScript that loads the
//! module.

use std::cell::OnceCell;

use filewright_core::encoding::platform::{Platform, use_platform as use_in_core};
use wasm_bindgen::prelude::*;

use crate::objects::Uint8Array;

#[wasm_bindgen]
extern "C" {
    /// The object of `js/engine/wasm/legacy.ts`. None of its functions throws.
    pub type Host;

    #[wasm_bindgen(method, catch)]
    fn find(this: &Host, label: &str) -> Result<Option<String>, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn decode(this: &Host, name: &str, bytes: &Uint8Array) -> Result<String, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn fits(this: &Host, name: &str, bytes: &Uint8Array, complete: bool) -> Result<bool, JsValue>;

    /// Returns bytes, or the offset of what cannot be encoded.
    #[wasm_bindgen(method, catch)]
    fn encode(this: &Host, name: &str, text: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn spans(this: &Host, name: &str, bytes: &Uint8Array) -> Result<Vec<u32>, JsValue>;

    #[wasm_bindgen(method, catch, js_name = prefixLength)]
    fn first_chars_len(
        this: &Host,
        name: &str,
        bytes: &Uint8Array,
        chars: f64,
    ) -> Result<f64, JsValue>;
}

thread_local! {
    /// The functions, once JavaScript has registered them.
    static HOST: OnceCell<Host> = const { OnceCell::new() };
}

/// Registers the functions, which are methods of the object `host`.
#[wasm_bindgen(js_name = usePlatform)]
pub fn use_platform(host: Host) {
    HOST.with(|cell| {
        let _ = cell.set(host);
    });
    use_in_core(Platform { find, decode, fits, encode, spans, first_chars_len });
}

/// Calls a function of the host. Returns `None` if none is registered, and if it throws.
fn call<T>(run: impl FnOnce(&Host) -> Result<T, JsValue>) -> Option<T> {
    HOST.with(|cell| cell.get().and_then(|host| run(host).ok()))
}

fn find(label: &str) -> Option<String> {
    call(|host| host.find(label)).flatten()
}

fn decode(name: &str, bytes: &[u8]) -> String {
    call(|host| host.decode(name, &Uint8Array::from(bytes))).unwrap_or_default()
}

fn fits(name: &str, bytes: &[u8], complete: bool) -> bool {
    call(|host| host.fits(name, &Uint8Array::from(bytes), complete)).unwrap_or_default()
}

fn encode(name: &str, text: &str) -> Result<Vec<u8>, usize> {
    let encoded = call(|host| host.encode(name, text)).unwrap_or_default();
    match encoded.dyn_into::<Uint8Array>() {
        Ok(bytes) => Ok(bytes.to_vec()),
        Err(offset) => Err(offset.as_f64().unwrap_or(0.0) as usize),
    }
}

fn spans(name: &str, bytes: &[u8]) -> Vec<u32> {
    call(|host| host.spans(name, &Uint8Array::from(bytes))).unwrap_or_default()
}

fn first_chars_len(name: &str, bytes: &[u8], chars: usize) -> usize {
    call(|host| host.first_chars_len(name, &Uint8Array::from(bytes), chars as f64))
        .unwrap_or_default() as usize
}
