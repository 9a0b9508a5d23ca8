//! The rules of a policy, for backends whose storage is not the disk.

use filewright_core::access::{Rules, RulesConfig};
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
    ) -> napi::Result<Self> {
        guard(|| {
            let roots: Vec<&[u8]> = roots.iter().map(|root| root.as_bytes()).collect();
            let config = RulesConfig {
                cwd: cwd.as_bytes(),
                roots: &roots,
                deny: &deny,
                protect,
                fold_case: false,
            };
            Ok(Self { rules: Rules::new(&config)? })
        })
    }

    /// 1 when denied, 2 when protected, 4 when guarded, summed.
    #[napi]
    pub fn judge(&self, path: String) -> napi::Result<u32> {
        guard(|| Ok(self.rules.flags(path.as_bytes())))
    }
}
