//! The rules of a policy, for backends whose storage is not the disk.

use filewright_core::access::{Rules, RulesConfig, holds_secret, table_text};
use wasm_bindgen::prelude::*;

use crate::convert::to_js;

/// Compiled rules. Paths are plain text here: no name has bytes that are not UTF-8.
#[wasm_bindgen]
pub struct AccessRules {
    rules: Rules,
}

#[wasm_bindgen]
impl AccessRules {
    #[wasm_bindgen(constructor)]
    pub fn new(
        cwd: String,
        roots: Vec<String>,
        deny: Vec<String>,
        protect: bool,
        secrets: bool,
        places: Vec<String>,
    ) -> Result<AccessRules, JsValue> {
        crate::normal::prepare();
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
        Ok(Self { rules: Rules::new(&config).map_err(to_js)? })
    }

    /// The flags and rows of `Rules::flags`.
    pub fn judge(&self, path: String) -> u32 {
        self.rules.flags(path.as_bytes())
    }

    /// Which names, joined by `/`, of a directory are denied: 1 or 0 each.
    #[wasm_bindgen(js_name = deniedNames)]
    pub fn denied_names(&self, directory: String, names: String) -> Vec<u8> {
        self.rules.denied_names(directory.as_bytes(), names.as_bytes())
    }
}

/// The table of places: decision, pattern and reason of a row on each line.
#[wasm_bindgen(js_name = placeTable)]
pub fn place_table() -> String {
    table_text()
}

/// Whether a file that begins so holds a private key.
#[wasm_bindgen(js_name = holdsSecretContent)]
pub fn holds_secret_content(head: &[u8]) -> bool {
    holds_secret(head)
}
