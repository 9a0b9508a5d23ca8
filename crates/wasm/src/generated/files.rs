// Written by `npm run wire` from crates/core/src/exports/files.rs; not to be edited.

#![allow(clippy::too_many_arguments, clippy::new_without_default)] // as declared

use crate::convert::*;
use filewright_core::exports::files as exports;
use wasm_bindgen::prelude::*;

/// Detects the kind and the encoding of a content. `complete` is false if only its beginning is
/// given.
#[wasm_bindgen(js_name = inspect)]
pub fn inspect(bytes: &[u8], name: &str, complete: bool) -> Result<PackedResult, JsValue> {
    js(exports::inspect(bytes, name, complete))
}

/// Returns a page of a content, a packed `Page`. `request` is JSON.
#[wasm_bindgen(js_name = readPage)]
pub fn read_page(bytes: &[u8], name: &str, request: &str) -> Result<PackedResult, JsValue> {
    js(exports::read_page(bytes, name, request))
}

/// Returns the hashes of the lines of a content; null for one that is not text, and for too many
/// lines.
#[wasm_bindgen(js_name = lineHashes)]
pub fn line_hashes(bytes: &[u8]) -> Result<Option<String>, JsValue> {
    js(exports::line_hashes(bytes))
}

/// Decodes a content to a packed `DecodedText`. Not named `decode_text`, because the JavaScript
/// that wasm-bindgen generates has a function of that name.
#[wasm_bindgen(js_name = decodeBytes)]
pub fn decode_bytes(bytes: &[u8], label: &str) -> Result<PackedResult, JsValue> {
    js(exports::decode_bytes(bytes, label))
}

/// Encodes a text.
#[wasm_bindgen(js_name = encodeText)]
pub fn encode_text(text: &str, label: &str, bom: bool) -> Result<Vec<u8>, JsValue> {
    js(exports::encode_text(text, label, bom))
}

/// Finds the definitions of a text in UTF-8, a packed `Outline`. `name` is the name of its file.
#[wasm_bindgen(js_name = outline)]
pub fn outline(text: &[u8], name: &str) -> Result<PackedResult, JsValue> {
    js(exports::outline(text, name))
}

/// Reports whether the name of a file tells a language whose definitions can be found.
#[wasm_bindgen(js_name = isOutlined)]
pub fn is_outlined(name: &str) -> bool {
    exports::is_outlined(name)
}

/// Returns the anchors of all lines of a text, joined.
#[wasm_bindgen(js_name = lineAnchors)]
pub fn line_anchors(text: &str) -> String {
    exports::line_anchors(text)
}

/// Returns the paths that best match a fuzzy query. In `paths`, each path ends in a NUL.
#[wasm_bindgen(js_name = rankPaths)]
pub fn rank_paths(paths: &str, options: &str) -> Result<PackedResult, JsValue> {
    js(exports::rank_paths(paths, options))
}

/// Returns the table of protected and secret paths: decision, pattern and reason, one row per line.
#[wasm_bindgen(js_name = placeTable)]
pub fn place_table() -> String {
    exports::place_table()
}

/// Reports whether a file whose first bytes are `head` contains a private key.
#[wasm_bindgen(js_name = holdsSecretContent)]
pub fn holds_secret_content(head: &[u8]) -> bool {
    exports::holds_secret_content(head)
}

/// Returns a root on a Windows disk in the form `/C:/repo`. Relative ones start from `cwd`.
#[wasm_bindgen(js_name = windowsRoot)]
pub fn windows_root(given: &str, cwd: &str) -> Result<String, JsValue> {
    js(exports::windows_root(given, cwd))
}

/// Returns the path in a small file of git that consists of `key` and one path: `gitdir: ` in a `.git`
/// file, nothing in `commondir` and `gitdir`.
#[wasm_bindgen(js_name = gitPathIn)]
pub fn git_path_in(content: &[u8], key: &str) -> Option<String> {
    exports::git_path_in(content, key)
}

/// The compiled path rules of a policy. Paths are text, because in the backends that use it names
/// are always valid UTF-8.
#[wasm_bindgen]
pub struct AccessRules(exports::AccessRules);

#[wasm_bindgen]
impl AccessRules {
    /// Compiles the rules. With `fold_case`, deny globs ignore letter case.
    #[wasm_bindgen(constructor)]
    pub fn new(
        cwd: &str,
        roots: Vec<String>,
        deny: Vec<String>,
        protect: bool,
        secrets: bool,
        places: Vec<String>,
        fold_case: bool,
    ) -> Result<AccessRules, JsValue> {
        js(exports::AccessRules::new(cwd, &roots, &deny, protect, secrets, &places, fold_case)
            .map(Self))
    }

    /// Returns why a glob of a deny list or a rule, or a place, can match nothing below the roots, as
    /// the end of a sentence; empty for one that can. Without roots it may match anywhere.
    #[wasm_bindgen(js_name = objection)]
    pub fn objection(&self, glob: &str, is_place: bool) -> String {
        self.0.objection(glob, is_place)
    }

    /// Returns which rules apply to a path: the bits of `PathRules::flags`.
    #[wasm_bindgen(js_name = judge)]
    pub fn judge(&self, path: &str) -> u32 {
        self.0.judge(path)
    }

    /// Returns one byte for each of the names, which are joined by `/`: 1 if the entry of that name
    /// in the directory is denied, otherwise 0.
    #[wasm_bindgen(js_name = deniedNames)]
    pub fn denied_names(&self, directory: &str, names: &str) -> Vec<u8> {
        self.0.denied_names(directory, names)
    }
}

/// The base of the paths that callers write for a Windows disk.
#[wasm_bindgen]
pub struct WindowsPaths(exports::WindowsPaths);

#[wasm_bindgen]
impl WindowsPaths {
    /// Parses the working directory and the roots, in the form `/C:/repo`.
    #[wasm_bindgen(constructor)]
    pub fn new(cwd: &str, roots: Vec<String>) -> Result<WindowsPaths, JsValue> {
        js(exports::WindowsPaths::new(cwd, &roots).map(Self))
    }

    /// Returns a path in the form `/C:/repo/a.ts`, with `/` at its end if it can only name a
    /// directory; refuses one that means something else than its text.
    #[wasm_bindgen(js_name = resolve)]
    pub fn resolve(&self, typed: &str) -> Result<String, JsValue> {
        js(self.0.resolve(typed))
    }
}

/// A compiled query for searching contents.
#[wasm_bindgen]
pub struct SearchQuery(exports::SearchQuery);

#[wasm_bindgen]
impl SearchQuery {
    /// Compiles a query. `options` is JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str) -> Result<SearchQuery, JsValue> {
        js(exports::SearchQuery::new(options).map(Self))
    }

    /// Searches a content. `limits` is JSON.
    #[wasm_bindgen(js_name = search)]
    pub fn search(&self, content: &[u8], limits: &str) -> Result<PackedResult, JsValue> {
        js(self.0.search(content, limits, &|| false))
    }
}

/// An index of contents that JavaScript passes, each identified by a number.
#[wasm_bindgen]
pub struct HeldIndex(exports::HeldIndex);

#[wasm_bindgen]
impl HeldIndex {
    /// Creates an empty index.
    #[wasm_bindgen(constructor)]
    pub fn new() -> HeldIndex {
        Self(exports::HeldIndex::new())
    }

    /// Indexes a content and returns its number; -1 if it is binary and has no matches, -2 if it
    /// cannot be indexed, so that every query must read it.
    #[wasm_bindgen(js_name = sign)]
    pub fn sign(&mut self, content: &[u8]) -> f64 {
        self.0.sign(content)
    }

    /// Returns one bit for each number, set if that content can have a match; null if all can.
    #[wasm_bindgen(js_name = candidates)]
    pub fn candidates(&self, query: &SearchQuery) -> Option<Vec<u8>> {
        self.0.candidates(&query.0)
    }

    /// Like `candidates`, for the options of a query that is compiled in a worker and not here.
    #[wasm_bindgen(js_name = candidatesOf)]
    pub fn candidates_of(&self, options: &str) -> Option<Vec<u8>> {
        self.0.candidates_of(options)
    }

    /// Returns the memory use in bytes.
    #[wasm_bindgen(js_name = bytes)]
    pub fn bytes(&self) -> f64 {
        self.0.bytes()
    }
}

/// Contents whose terms are counted once, for many ranked searches.
#[wasm_bindgen]
pub struct CountedContents(exports::CountedContents);

#[wasm_bindgen]
impl CountedContents {
    /// Creates an empty list.
    #[wasm_bindgen(constructor)]
    pub fn new() -> CountedContents {
        Self(exports::CountedContents::new())
    }

    /// Counts the terms of a content. `path` is relative to the start of a search. Returns its number,
    /// from 0 on; -1 for a content that is not ranked.
    #[wasm_bindgen(js_name = add)]
    pub fn add(&mut self, path: &str, content: &[u8]) -> f64 {
        self.0.add(path, content)
    }

    /// Returns the memory use in bytes.
    #[wasm_bindgen(js_name = bytes)]
    pub fn bytes(&self) -> f64 {
        self.0.bytes()
    }
}

/// A ranked search of contents that JavaScript passes.
#[wasm_bindgen]
pub struct CodeRanking(exports::CodeRanking);

#[wasm_bindgen]
impl CodeRanking {
    /// Parses the query. `options` is JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str) -> Result<CodeRanking, JsValue> {
        js(exports::CodeRanking::new(options).map(Self))
    }

    /// Adds the content of a file. `path` is relative to the directory with the index `root`. Reports
    /// whether the file is searched: a binary one is not.
    #[wasm_bindgen(js_name = add)]
    pub fn add(&mut self, root: u32, path: &str, content: &[u8]) -> bool {
        self.0.add(root, path, content)
    }

    /// Adds a content that is counted already, by its number. Reports whether it is searched.
    #[wasm_bindgen(js_name = addKnown)]
    pub fn add_known(&mut self, root: u32, contents: &CountedContents, number: u32) -> bool {
        self.0.add_known(root, &contents.0, number)
    }

    /// Ranks the added files. Returns a packed list: the number of the file of each of the best
    /// blocks, in the order in which the searched files were added, from 0 on.
    #[wasm_bindgen(js_name = rank)]
    pub fn rank(&mut self) -> PackedResult {
        self.0.rank().into()
    }

    /// Returns the block at an index of the ranking with its lines in the content of its file, a
    /// packed `CodeBlock`; without a number if the content has changed.
    #[wasm_bindgen(js_name = show)]
    pub fn show(&self, index: u32, content: &[u8]) -> PackedResult {
        self.0.show(index, content).into()
    }
}

/// A compiled list of globs that paths must match or must not match.
#[wasm_bindgen]
pub struct PathGlobs(exports::PathGlobs);

#[wasm_bindgen]
impl PathGlobs {
    /// Compiles globs. `options` is JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str) -> Result<PathGlobs, JsValue> {
        js(exports::PathGlobs::new(options).map(Self))
    }

    /// Reports whether the globs match a path.
    #[wasm_bindgen(js_name = matches)]
    pub fn matches(&self, path: &str, is_dir: bool) -> bool {
        self.0.matches(path, is_dir)
    }

    /// Reports whether a glob excludes a path.
    #[wasm_bindgen(js_name = excluded)]
    pub fn excluded(&self, path: &str, is_dir: bool) -> bool {
        self.0.excluded(path, is_dir)
    }

    /// Reports whether an entry below a directory can match.
    #[wasm_bindgen(js_name = mayContain)]
    pub fn may_contain(&self, path: &str) -> bool {
        self.0.may_contain(path)
    }
}

/// The ignore rules that apply in one directory: its own and those of the directories above it.
#[wasm_bindgen]
pub struct IgnoreStack(exports::IgnoreStack);

#[wasm_bindgen]
impl IgnoreStack {
    /// Creates a stack without rules.
    #[wasm_bindgen(constructor)]
    pub fn new() -> IgnoreStack {
        Self(exports::IgnoreStack::new())
    }

    /// Returns the rules for a directory below. `files` are the contents of its ignore files, and
    /// `places` the index of each in the list of names of ignore files. `border` says that the
    /// directory contains `.git`.
    #[wasm_bindgen(js_name = enter)]
    pub fn enter(
        &self,
        directory: &str,
        places: Vec<u32>,
        files: Vec<Uint8Array>,
        border: bool,
    ) -> IgnoreStack {
        Self(self.0.enter(directory, &places, all_bytes(&files), border))
    }

    /// Reports whether the rules exclude an entry of the directory.
    #[wasm_bindgen(js_name = ignored)]
    pub fn ignored(&self, path: &str, is_dir: bool) -> bool {
        self.0.ignored(path, is_dir)
    }
}
