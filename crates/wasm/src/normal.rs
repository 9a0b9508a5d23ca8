//! Unicode's normal forms, by `String.prototype.normalize`.

use filewright_core::unicode_normalize::{Form, use_host};
use js_sys::JsString;

/// Before every call that may compare words or names: after a trap the instance
/// is new and knows nothing.
pub fn prepare() {
    use_host(|text, form| {
        let form = match form {
            Form::Nfc => "NFC",
            Form::Nfkc => "NFKC",
        };
        JsString::from(text).normalize(form).into()
    });
}
