//! Lets the core compute Unicode normal forms by JavaScript's `String.prototype.normalize`, so that
//! the module needs no tables.

use filewright_core::text::unicode_normalize::{Form, use_host};
use wasm_bindgen::prelude::*;

use crate::objects::JsString;

/// Registers the function in the core. Runs whenever the module is instantiated, also after a trap.
#[wasm_bindgen(start)]
pub fn prepare() {
    use_host(|text, form| {
        let form = match form {
            Form::Nfc => "NFC",
            Form::Nfkc => "NFKC",
        };
        JsValue::from(text).unchecked_into::<JsString>().normalize(form)
    });
}
