//! The rules of a policy, for backends whose storage is not the disk.

use filewright_core::access::{Rules, RulesConfig, holds_secret, table_text};
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::convert::guard;

/// Compiled rules. Paths are plain text here: no name has bytes that are not UTF-8.
#[napi]
pub struct AccessRules {
    rules: Rules,
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
            Ok(Self { rules: Rules::new(&config)? })
        })
    }

    /// The flags and rows of `Rules::flags`.
    #[napi]
    pub fn judge(&self, path: String) -> napi::Result<u32> {
        guard(|| Ok(self.rules.flags(path.as_bytes())))
    }

    /// Which names, joined by `/`, of a directory are denied: 1 or 0 each.
    #[napi]
    pub fn denied_names(&self, directory: String, names: String) -> napi::Result<Uint8Array> {
        guard(|| Ok(self.rules.denied_names(directory.as_bytes(), names.as_bytes()).into()))
    }
}

/// The table of places: decision, pattern and reason of a row on each line.
#[napi]
pub fn place_table() -> String {
    table_text()
}

/// Whether a file that begins so holds a private key.
#[napi]
pub fn holds_secret_content(head: &[u8]) -> bool {
    holds_secret(head)
}
