//! Bindings for the path rules of a policy, for storage backends that do not use the disk.

use filewright_core::pattern::policy::{PathRules, RulesConfig, holds_secret, table_text};
use wasm_bindgen::prelude::*;

use crate::convert::to_js;

/// The compiled path rules of a policy. Paths are text, because in these backends names are always
/// valid UTF-8.
#[wasm_bindgen]
pub struct AccessRules {
    rules: PathRules,
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
        Ok(Self { rules: PathRules::new(&config).map_err(to_js)? })
    }

    /// Returns which rules apply to a path: the bits of `PathRules::flags`.
    pub fn judge(&self, path: String) -> u32 {
        self.rules.flags(path.as_bytes())
    }

    /// Returns one byte for each of the names, which are joined by `/`: 1 if the entry of that name
    /// in the directory is denied, otherwise 0.
    #[wasm_bindgen(js_name = deniedNames)]
    pub fn denied_names(&self, directory: String, names: String) -> Vec<u8> {
        self.rules.denied_names(directory.as_bytes(), names.as_bytes())
    }
}

/// Returns the table of protected and secret paths: decision, pattern and reason, one row per line.
#[wasm_bindgen(js_name = placeTable)]
pub fn place_table() -> String {
    table_text()
}

/// Reports whether a file whose first bytes are `head` contains a private key.
#[wasm_bindgen(js_name = holdsSecretContent)]
pub fn holds_secret_content(head: &[u8]) -> bool {
    holds_secret(head)
}
