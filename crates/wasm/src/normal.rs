//! Unicode normal forms by `String.prototype.normalize`.

use filewright_core::text::unicode_normalize::{Form, use_host};
use js_sys::JsString;

/// Registers the host's function. Called before every call that may compare words or names, because
/// after a trap the instance is a new one.
pub fn prepare() {
    use_host(|text, form| {
        let form = match form {
            Form::Nfc => "NFC",
            Form::Nfkc => "NFKC",
        };
        JsString::from(text).normalize(form).into()
    });
}
