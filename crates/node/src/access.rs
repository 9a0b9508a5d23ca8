//! Bindings for the path rules of a policy, for storage backends that do not use the disk.

use filewright_core::pattern::policy::{PathRules, RulesConfig, holds_secret, table_text};
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::convert::guard;

/// The compiled path rules of a policy. Paths are text, because in these backends names are always
/// valid UTF-8.
#[napi]
pub struct AccessRules {
    rules: PathRules,
}

#[napi]
impl AccessRules {
    #[napi(constructor)]
    pub fn new(
        cwd: String,
        roots: Vec<String>,
        deny: Vec<String>,
        protect: bool,
        secrets: bool,
        places: Vec<String>,
    ) -> napi::Result<Self> {
        guard(|| {
            let roots: Vec<&[u8]> = roots.iter().map(|root| root.as_bytes()).collect();
            let config = RulesConfig {
                cwd: cwd.as_bytes(),
                roots: &roots,
                deny: &deny,
                protect,
                secrets,
                fold_case: false,
                places: &places,
            };
            Ok(Self { rules: PathRules::new(&config)? })
        })
    }

    /// Returns which rules apply to a path: the bits of `PathRules::flags`.
    #[napi]
    pub fn judge(&self, path: String) -> napi::Result<u32> {
        guard(|| Ok(self.rules.flags(path.as_bytes())))
    }

    /// Returns one byte for each of the names, which are joined by `/`: 1 if the entry of that name
    /// in the directory is denied, otherwise 0.
    #[napi]
    pub fn denied_names(&self, directory: String, names: String) -> napi::Result<Uint8Array> {
        guard(|| Ok(self.rules.denied_names(directory.as_bytes(), names.as_bytes()).into()))
    }
}

/// Returns the table of protected and secret paths: decision, pattern and reason, one row per line.
#[napi]
pub fn place_table() -> String {
    table_text()
}

/// Reports whether a file whose first bytes are `head` contains a private key.
#[napi]
pub fn holds_secret_content(head: &[u8]) -> bool {
    holds_secret(head)
}
