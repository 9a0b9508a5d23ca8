//! Bindings for globs, ignore rules and searches in contents that JavaScript passes.

use filewright_core::fuzzy::rank_packed;
use filewright_core::options::Options;
use filewright_core::pattern::glob::Globs;
use filewright_core::pattern::ignore::Stack;
use filewright_core::search::{MemoryIndex, Query, search_packed};
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::convert::{PackedResult, to_js};

/// A compiled query for searching contents.
#[wasm_bindgen]
pub struct SearchQuery {
    query: Query,
}

#[wasm_bindgen]
impl SearchQuery {
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str) -> Result<SearchQuery, JsValue> {
        let query = Options::parse(options).and_then(|options| Query::from_options(&options));
        Ok(Self { query: query.map_err(to_js)? })
    }

    pub fn search(&self, content: &[u8], limits: &str) -> Result<PackedResult, JsValue> {
        search_packed(&self.query, content, limits, &|| false)
            .map(PackedResult::from)
            .map_err(to_js)
    }
}

/// An index of contents that JavaScript passes, each identified by a number.
#[wasm_bindgen]
pub struct HeldIndex {
    held: MemoryIndex,
}

#[wasm_bindgen]
impl HeldIndex {
    #[allow(clippy::new_without_default)]
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self { held: MemoryIndex::default() }
    }

    /// Indexes a content and returns its number; -1 if it is binary and has no matches, -2 if it
    /// cannot be indexed, so that every query must read it.
    pub fn sign(&mut self, content: &[u8]) -> f64 {
        self.held.sign(content).code() as f64
    }

    /// Returns one bit for each number, set if that content can have a match; `undefined` if all
    /// can.
    pub fn candidates(&self, query: &SearchQuery) -> Option<Vec<u8>> {
        let set = self.held.candidates(&query.query)?;
        Some(set.into_iter().flat_map(u64::to_le_bytes).collect())
    }

    /// Like `candidates`, for the options of a query that is compiled in a worker and not here.
    #[wasm_bindgen(js_name = candidatesOf)]
    pub fn candidates_of(&self, options: &str) -> Option<Vec<u8>> {
        let set = self.held.candidates_of(&Options::parse(options).ok()?)?;
        Some(set.into_iter().flat_map(u64::to_le_bytes).collect())
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> f64 {
        self.held.bytes() as f64
    }
}

/// A compiled list of globs that paths must match or must not match.
#[wasm_bindgen]
pub struct PathGlobs {
    globs: Globs,
}

#[wasm_bindgen]
impl PathGlobs {
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str) -> Result<PathGlobs, JsValue> {
        Ok(Self { globs: Globs::from_json(options).map_err(to_js)? })
    }

    pub fn matches(&self, path: &str, is_dir: bool) -> bool {
        self.globs.matches(path.as_bytes(), is_dir)
    }

    pub fn excluded(&self, path: &str, is_dir: bool) -> bool {
        self.globs.excluded(path.as_bytes(), is_dir)
    }

    #[wasm_bindgen(js_name = mayContain)]
    pub fn may_contain(&self, path: &str) -> bool {
        self.globs.may_contain(path.as_bytes())
    }
}

/// Returns the paths that best match a fuzzy query. In `paths`, each path ends in a NUL.
#[wasm_bindgen(js_name = rankPaths)]
pub fn rank_paths(paths: &str, options: &str) -> Result<PackedResult, JsValue> {
    rank_packed(paths, options).map(PackedResult::from).map_err(to_js)
}

/// The ignore rules that apply in one directory: its own and those of the directories above it.
#[wasm_bindgen]
pub struct IgnoreStack {
    stack: Stack,
}

#[wasm_bindgen]
impl IgnoreStack {
    #[allow(clippy::new_without_default)]
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self { stack: Stack::new() }
    }

    /// Returns the rules for a directory below. `files` are the contents of its ignore files, and
    /// `places` the index of each in the list of names of ignore files. `border` says that the
    /// directory contains `.git`.
    pub fn enter(
        &self,
        directory: &str,
        places: Vec<u32>,
        files: Vec<Uint8Array>,
        border: bool,
    ) -> IgnoreStack {
        let files: Vec<Vec<u8>> = files.iter().map(Uint8Array::to_vec).collect();
        let files = places.iter().zip(&files).map(|(place, file)| (*place as usize, &file[..]));
        Self { stack: self.stack.enter_files(directory.as_bytes(), files, border) }
    }

    pub fn ignored(&self, path: &str, is_dir: bool) -> bool {
        self.stack.ignored(path.as_bytes(), is_dir)
    }
}
