//! The set of roots: made from the JSON form of a policy, then called by path.
//!
//! Paths cross as text in the form of `filewright_core::path::encode_name`.

use std::sync::Arc;

use filewright_fs::root::{Policy, Roots};
use napi_derive::napi;

use crate::convert::guard;

/// A set of roots. Other areas add their methods in their own files.
#[napi]
pub struct NativeRoots {
    pub(crate) roots: Arc<Roots>,
}

#[napi]
impl NativeRoots {
    #[napi(constructor)]
    pub fn new(policy: String) -> napi::Result<Self> {
        guard(|| {
            let roots = Arc::new(Roots::new(&Policy::from_json(&policy)?)?);
            Ok(Self { roots })
        })
    }

    /// What is in force, as JSON: `{ resolver, reason? }`.
    #[napi]
    pub fn capabilities(&self) -> String {
        self.roots.capabilities()
    }
}
