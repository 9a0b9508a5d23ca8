// Written by `npm run wire` from crates/core/src/exports/files.rs; not to be edited.

#![allow(clippy::too_many_arguments, clippy::new_without_default)] // as declared

use crate::prelude::*;
use filewright_core::exports::files as exports;
use napi_derive::napi;

/// Detects the kind and the encoding of a content. `complete` is false if only its beginning is
/// given.
#[napi]
pub fn inspect(bytes: &[u8], name: String, complete: bool) -> napi::Result<PackedResult> {
    result_of(|| exports::inspect(bytes, &name, complete))
}

/// Like `inspect`, on another thread.
#[napi]
pub fn inspect_async(bytes: Uint8Array, name: String, complete: bool) -> Promise<PackedResult> {
    Promise::on_node_thread(move || exports::inspect(&bytes, &name, complete))
}

/// Returns a page of a content, a packed `Page`. `request` is JSON.
#[napi]
pub fn read_page(bytes: &[u8], name: String, request: String) -> napi::Result<PackedResult> {
    result_of(|| exports::read_page(bytes, &name, &request))
}

/// Like `read_page`, on another thread.
#[napi]
pub fn read_page_async(bytes: Uint8Array, name: String, request: String) -> Promise<PackedResult> {
    Promise::on_node_thread(move || exports::read_page(&bytes, &name, &request))
}

/// Returns the hashes of the lines of a content; null for one that is not text, and for too many
/// lines.
#[napi]
pub fn line_hashes(bytes: &[u8]) -> napi::Result<Option<String>> {
    result_of(|| exports::line_hashes(bytes))
}

/// Like `line_hashes`, on another thread.
#[napi]
pub fn line_hashes_async(bytes: Uint8Array) -> Promise<Option<String>> {
    Promise::on_node_thread(move || exports::line_hashes(&bytes))
}

/// Decodes a content to a packed `DecodedText`. Not named `decode_text`, because the JavaScript
/// that wasm-bindgen generates has a function of that name.
#[napi]
pub fn decode_bytes(bytes: &[u8], label: String) -> napi::Result<PackedResult> {
    result_of(|| exports::decode_bytes(bytes, &label))
}

/// Like `decode_bytes`, on another thread.
#[napi]
pub fn decode_bytes_async(bytes: Uint8Array, label: String) -> Promise<PackedResult> {
    Promise::on_node_thread(move || exports::decode_bytes(&bytes, &label))
}

/// Encodes a text.
#[napi]
pub fn encode_text(text: Utf16String, label: String, bom: bool) -> napi::Result<Buffer> {
    result_of(|| exports::encode_text(&utf8(&text), &label, bom))
}

/// Like `encode_text`, on another thread.
#[napi]
pub fn encode_text_async(text: Utf16String, label: String, bom: bool) -> Promise<Buffer> {
    Promise::on_node_thread(move || exports::encode_text(&utf8(&text), &label, bom))
}

/// Finds the definitions of a text in UTF-8, a packed `Outline`. `name` is the name of its file.
#[napi]
pub fn outline(text: &[u8], name: String) -> napi::Result<PackedResult> {
    result_of(|| exports::outline(text, &name))
}

/// Like `outline`, on another thread.
#[napi]
pub fn outline_async(text: Uint8Array, name: String) -> Promise<PackedResult> {
    Promise::on_node_thread(move || exports::outline(&text, &name))
}

/// Reports whether the name of a file tells a language whose definitions can be found.
#[napi]
pub fn is_outlined(name: String) -> napi::Result<bool> {
    result_of(|| Ok(exports::is_outlined(&name)))
}

/// Returns the anchors of all lines of a text, joined.
#[napi]
pub fn line_anchors(text: Utf16String) -> napi::Result<Text> {
    result_of(|| Ok(exports::line_anchors(&utf8(&text))))
}

/// Returns the paths that best match a fuzzy query. In `paths`, each path ends in a NUL.
#[napi]
pub fn rank_paths(paths: String, options: String) -> napi::Result<PackedResult> {
    result_of(|| exports::rank_paths(&paths, &options))
}

/// Returns the table of protected and secret paths: decision, pattern and reason, one row per line.
#[napi]
pub fn place_table() -> napi::Result<Text> {
    result_of(|| Ok(exports::place_table()))
}

/// Reports whether a file whose first bytes are `head` contains a private key.
#[napi]
pub fn holds_secret_content(head: &[u8]) -> napi::Result<bool> {
    result_of(|| Ok(exports::holds_secret_content(head)))
}

/// Returns a root on a Windows disk in the form `/C:/repo`. Relative ones start from `cwd`.
#[napi]
pub fn windows_root(given: String, cwd: String) -> napi::Result<Text> {
    result_of(|| exports::windows_root(&given, &cwd))
}

/// Returns the path in a small file of git that consists of `key` and one path: `gitdir: ` in a `.git`
/// file, nothing in `commondir` and `gitdir`.
#[napi]
pub fn git_path_in(content: &[u8], key: String) -> napi::Result<Option<String>> {
    result_of(|| Ok(exports::git_path_in(content, &key)))
}

/// The compiled path rules of a policy. Paths are text, because in the backends that use it names
/// are always valid UTF-8.
#[napi]
pub struct AccessRules(exports::AccessRules);

#[napi]
impl AccessRules {
    /// Compiles the rules. With `fold_case`, deny globs ignore letter case.
    #[napi(constructor)]
    pub fn new(
        cwd: String,
        roots: Vec<String>,
        deny: Vec<String>,
        protect: bool,
        secrets: bool,
        places: Vec<String>,
        fold_case: bool,
    ) -> napi::Result<Self> {
        result_of(|| {
            Ok(Self(exports::AccessRules::new(
                &cwd, &roots, &deny, protect, secrets, &places, fold_case,
            )?))
        })
    }

    /// Returns why a glob of a deny list or a rule, or a place, can match nothing below the roots, as
    /// the end of a sentence; empty for one that can. Without roots it may match anywhere.
    #[napi]
    pub fn objection(&self, glob: String, is_place: bool) -> napi::Result<Text> {
        result_of(|| Ok(self.0.objection(&glob, is_place)))
    }

    /// Returns which rules apply to a path: the bits of `PathRules::flags`.
    #[napi]
    pub fn judge(&self, path: String) -> napi::Result<u32> {
        result_of(|| Ok(self.0.judge(&path)))
    }

    /// Returns one byte for each of the names, which are joined by `/`: 1 if the entry of that name
    /// in the directory is denied, otherwise 0.
    #[napi]
    pub fn denied_names(&self, directory: String, names: String) -> napi::Result<Buffer> {
        result_of(|| Ok(self.0.denied_names(&directory, &names)))
    }
}

/// The base of the paths that callers write for a Windows disk.
#[napi]
pub struct WindowsPaths(exports::WindowsPaths);

#[napi]
impl WindowsPaths {
    /// Parses the working directory and the roots, in the form `/C:/repo`.
    #[napi(constructor)]
    pub fn new(cwd: String, roots: Vec<String>) -> napi::Result<Self> {
        result_of(|| Ok(Self(exports::WindowsPaths::new(&cwd, &roots)?)))
    }

    /// Returns a path in the form `/C:/repo/a.ts`, with `/` at its end if it can only name a
    /// directory; refuses one that means something else than its text.
    #[napi]
    pub fn resolve(&self, typed: String) -> napi::Result<Text> {
        result_of(|| self.0.resolve(&typed))
    }
}

/// A compiled query for searching contents.
#[napi]
pub struct SearchQuery(exports::SearchQuery);

#[napi]
impl SearchQuery {
    /// Compiles a query. `options` is JSON.
    #[napi(constructor)]
    pub fn new(options: String) -> napi::Result<Self> {
        result_of(|| Ok(Self(exports::SearchQuery::new(&options)?)))
    }

    /// Searches a content. `limits` is JSON.
    #[napi]
    pub fn search(&self, content: &[u8], limits: String) -> napi::Result<PackedResult> {
        result_of(|| self.0.search(content, &limits, &|| false))
    }

    /// Like `search`, on another thread.
    #[napi]
    pub fn search_async(
        &self,
        content: Uint8Array,
        limits: String,
        interrupted: Option<&CancelToken>,
    ) -> Promise<PackedResult> {
        let interrupted = token(interrupted);
        let this = self.0.clone();
        Promise::on_node_thread(move || {
            this.search(&content, &limits, &|| interrupted.is_cancelled())
        })
    }
}

/// An index of contents that JavaScript passes, each identified by a number.
#[napi]
pub struct HeldIndex(exports::HeldIndex);

#[napi]
impl HeldIndex {
    /// Creates an empty index.
    #[napi(constructor)]
    pub fn new() -> napi::Result<Self> {
        result_of(|| Ok(Self(exports::HeldIndex::new())))
    }

    /// Indexes a content and returns its number; -1 if it is binary and has no matches, -2 if it
    /// cannot be indexed, so that every query must read it.
    #[napi]
    pub fn sign(&mut self, content: &[u8]) -> napi::Result<f64> {
        result_of(|| Ok(self.0.sign(content)))
    }

    /// Returns one bit for each number, set if that content can have a match; null if all can.
    #[napi]
    pub fn candidates(&self, query: &SearchQuery) -> napi::Result<Option<Buffer>> {
        result_of(|| Ok(self.0.candidates(&query.0).map(Buffer::from)))
    }

    /// Like `candidates`, for the options of a query that is compiled in a worker and not here.
    #[napi]
    pub fn candidates_of(&self, options: String) -> napi::Result<Option<Buffer>> {
        result_of(|| Ok(self.0.candidates_of(&options).map(Buffer::from)))
    }

    /// Returns the memory use in bytes.
    #[napi]
    pub fn bytes(&self) -> napi::Result<f64> {
        result_of(|| Ok(self.0.bytes()))
    }
}

/// Contents whose terms are counted once, for many ranked searches.
#[napi]
pub struct CountedContents(exports::CountedContents);

#[napi]
impl CountedContents {
    /// Creates an empty list.
    #[napi(constructor)]
    pub fn new() -> napi::Result<Self> {
        result_of(|| Ok(Self(exports::CountedContents::new())))
    }

    /// Counts the terms of a content. `path` is relative to the start of a search. Returns its number,
    /// from 0 on; -1 for a content that is not ranked.
    #[napi]
    pub fn add(&mut self, path: String, content: &[u8]) -> napi::Result<f64> {
        result_of(|| Ok(self.0.add(&path, content)))
    }

    /// Returns the memory use in bytes.
    #[napi]
    pub fn bytes(&self) -> napi::Result<f64> {
        result_of(|| Ok(self.0.bytes()))
    }
}

/// A ranked search of contents that JavaScript passes.
#[napi]
pub struct CodeRanking(exports::CodeRanking);

#[napi]
impl CodeRanking {
    /// Parses the query. `options` is JSON.
    #[napi(constructor)]
    pub fn new(options: String) -> napi::Result<Self> {
        result_of(|| Ok(Self(exports::CodeRanking::new(&options)?)))
    }

    /// Adds the content of a file. `path` is relative to the directory with the index `root`. Reports
    /// whether the file is searched: a binary one is not.
    #[napi]
    pub fn add(&mut self, root: u32, path: String, content: &[u8]) -> napi::Result<bool> {
        result_of(|| Ok(self.0.add(root, &path, content)))
    }

    /// Adds a content that is counted already, by its number. Reports whether it is searched.
    #[napi]
    pub fn add_known(
        &mut self,
        root: u32,
        contents: &CountedContents,
        number: u32,
    ) -> napi::Result<bool> {
        result_of(|| Ok(self.0.add_known(root, &contents.0, number)))
    }

    /// Ranks the added files. Returns a packed list: the number of the file of each of the best
    /// blocks, in the order in which the searched files were added, from 0 on.
    #[napi]
    pub fn rank(&mut self) -> napi::Result<PackedResult> {
        result_of(|| Ok(self.0.rank()))
    }

    /// Returns the block at an index of the ranking with its lines in the content of its file, a
    /// packed `CodeBlock`; without a number if the content has changed.
    #[napi]
    pub fn show(&self, index: u32, content: &[u8]) -> napi::Result<PackedResult> {
        result_of(|| Ok(self.0.show(index, content)))
    }
}

/// A compiled list of globs that paths must match or must not match.
#[napi]
pub struct PathGlobs(exports::PathGlobs);

#[napi]
impl PathGlobs {
    /// Compiles globs. `options` is JSON.
    #[napi(constructor)]
    pub fn new(options: String) -> napi::Result<Self> {
        result_of(|| Ok(Self(exports::PathGlobs::new(&options)?)))
    }

    /// Reports whether the globs match a path.
    #[napi]
    pub fn matches(&self, path: String, is_dir: bool) -> napi::Result<bool> {
        result_of(|| Ok(self.0.matches(&path, is_dir)))
    }

    /// Reports whether a glob excludes a path.
    #[napi]
    pub fn excluded(&self, path: String, is_dir: bool) -> napi::Result<bool> {
        result_of(|| Ok(self.0.excluded(&path, is_dir)))
    }

    /// Reports whether an entry below a directory can match.
    #[napi]
    pub fn may_contain(&self, path: String) -> napi::Result<bool> {
        result_of(|| Ok(self.0.may_contain(&path)))
    }
}

/// The ignore rules that apply in one directory: its own and those of the directories above it.
#[napi]
pub struct IgnoreStack(exports::IgnoreStack);

#[napi]
impl IgnoreStack {
    /// Creates a stack without rules.
    #[napi(constructor)]
    pub fn new() -> napi::Result<Self> {
        result_of(|| Ok(Self(exports::IgnoreStack::new())))
    }

    /// Returns the rules for a directory below. `files` are the contents of its ignore files, and
    /// `places` the index of each in the list of names of ignore files. `border` says that the
    /// directory contains `.git`.
    #[napi]
    pub fn enter(
        &self,
        directory: String,
        places: Vec<u32>,
        files: Vec<Uint8Array>,
        border: bool,
    ) -> napi::Result<Self> {
        result_of(|| Ok(Self(self.0.enter(&directory, &places, all_bytes(&files), border))))
    }

    /// Reports whether the rules exclude an entry of the directory.
    #[napi]
    pub fn ignored(&self, path: String, is_dir: bool) -> napi::Result<bool> {
        result_of(|| Ok(self.0.ignored(&path, is_dir)))
    }
}
