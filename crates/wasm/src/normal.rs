//! Lets the core compute Unicode normal forms by JavaScript's `String.prototype.normalize`, so that
//! the module needs no tables.

use filewright_core::text::unicode_normalize::{Form, use_host};
use js_sys::JsString;

/// Registers the function in the core. Must be called before every call that may compare words or
/// names, because after a trap the module is instantiated anew and has forgotten it.
pub fn prepare() {
    use_host(|text, form| {
        let form = match form {
            Form::Nfc => "NFC",
            Form::Nfkc => "NFKC",
        };
        JsString::from(text).normalize(form).into()
    });
}
