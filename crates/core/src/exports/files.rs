//! Functions and classes that read, search and judge files. The small module does not have them.

use std::borrow::Cow;

use super::{AlsoAsync, Utf16Text};
use crate::error::Result;
use crate::options::Options;
use crate::pack::Packed;
use crate::page::{self, PageRequest, page};
use crate::pattern::glob::Globs;
use crate::pattern::ignore::{self, Stack};
use crate::pattern::policy::{self, PathRules, RulesConfig};
use crate::rank::{self, CodeSearch};
use crate::search::{MemoryIndex, Query, search_packed};
use crate::text::path::encode_name;
use crate::text::windows_paths::{self, WindowsBase};
use crate::wire::Wire;
use crate::{anchor, definitions, encoding, fuzzy, sniff};

/// Detects the kind and the encoding of a content. `complete` is false if only its beginning is
/// given.
pub fn inspect(bytes: &[u8], name: &str, complete: bool) -> AlsoAsync<Packed> {
    Ok(sniff::inspect(bytes, name, complete).packed())
}

/// Returns a page of a content, a packed `Page`. `request` is JSON.
pub fn read_page(bytes: &[u8], name: &str, request: &str) -> AlsoAsync<Packed> {
    Ok(page(bytes, name, &PageRequest::from_json(request)?)?.packed())
}

/// Returns the hashes of the lines of a content; null for one that is not text, and for too many
/// lines.
pub fn line_hashes(bytes: &[u8]) -> AlsoAsync<Option<String>> {
    Ok(page::line_hashes(bytes))
}

/// Decodes a content to a packed `DecodedText`. Not named `decode_text`, because the JavaScript
/// that wasm-bindgen generates has a function of that name.
pub fn decode_bytes(bytes: &[u8], label: &str) -> AlsoAsync<Packed> {
    Ok(encoding::decode_text(bytes, label)?.packed())
}

/// Encodes a text.
pub fn encode_text(text: &Utf16Text, label: &str, bom: bool) -> AlsoAsync<Vec<u8>> {
    encoding::encode_text(text, label, bom)
}

/// Finds the definitions of a text in UTF-8, a packed `Outline`. `name` is the name of its file.
pub fn outline(text: &[u8], name: &str) -> AlsoAsync<Packed> {
    Ok(definitions::outline(text, name).packed())
}

/// Reports whether the name of a file tells a language whose definitions can be found.
pub fn is_outlined(name: &str) -> bool {
    definitions::language_of(name).is_some()
}

/// Returns the anchors of all lines of a text, joined.
pub fn line_anchors(text: &Utf16Text) -> String {
    anchor::anchors(text)
}

/// Returns the paths that best match a fuzzy query. In `paths`, each path ends in a NUL.
pub fn rank_paths(paths: &str, options: &str) -> Result<Packed> {
    fuzzy::rank_packed(paths, options)
}

/// Returns the table of protected and secret paths: decision, pattern and reason, one row per line.
pub fn place_table() -> String {
    policy::table_text()
}

/// Reports whether a file whose first bytes are `head` contains a private key.
pub fn holds_secret_content(head: &[u8]) -> bool {
    policy::holds_secret(head)
}

/// Returns a root on a Windows disk in the form `/C:/repo`. Relative ones start from `cwd`.
pub fn windows_root(given: &str, cwd: &str) -> Result<String> {
    windows_paths::windows_root(given, cwd)
}

/// Returns the path in a small file of git that consists of `key` and one path: `gitdir: ` in a `.git`
/// file, nothing in `commondir` and `gitdir`.
pub fn git_path_in(content: &[u8], key: &str) -> Option<String> {
    ignore::git_path_in(content, key).map(|path| encode_name(path).into_owned())
}

/// The compiled path rules of a policy. Paths are text, because in the backends that use it names
/// are always valid UTF-8.
#[derive(Debug)]
pub struct AccessRules(HeldRules);

/// Compiled rules, and what they were compiled from, by which further globs are checked.
#[derive(Debug)]
struct HeldRules {
    rules: PathRules,
    cwd: String,
    roots: Vec<String>,
    fold_case: bool,
}

impl AccessRules {
    /// Compiles the rules. With `fold_case`, deny globs ignore letter case.
    #[allow(clippy::too_many_arguments)] // as for `diff`
    pub fn new(
        cwd: &str,
        roots: &[String],
        deny: &[String],
        protect: bool,
        secrets: bool,
        places: &[String],
        fold_case: bool,
    ) -> Result<Self> {
        let bytes: Vec<&[u8]> = roots.iter().map(String::as_bytes).collect();
        let config = RulesConfig {
            cwd: cwd.as_bytes(),
            roots: &bytes,
            deny,
            protect,
            secrets,
            fold_case,
            places,
        };
        let rules = PathRules::new(&config)?;
        Ok(Self(HeldRules { rules, cwd: cwd.to_owned(), roots: roots.to_vec(), fold_case }))
    }

    /// Returns why a glob of a deny list or a rule, or a place, can match nothing below the roots, as
    /// the end of a sentence; empty for one that can. Without roots it may match anywhere.
    pub fn objection(&self, glob: &str, is_place: bool) -> String {
        let HeldRules { cwd, roots, fold_case, .. } = &self.0;
        let roots: Vec<&str> = roots.iter().map(String::as_str).collect();
        let reach = policy::GlobReach { cwd, roots: &roots, fold_case: *fold_case, is_place };
        policy::glob_objection(glob, reach).unwrap_or_default()
    }

    /// Returns which rules apply to a path: the bits of `PathRules::flags`.
    pub fn judge(&self, path: &str) -> u32 {
        self.0.rules.flags(path.as_bytes())
    }

    /// Returns one byte for each of the names, which are joined by `/`: 1 if the entry of that name
    /// in the directory is denied, otherwise 0.
    pub fn denied_names(&self, directory: &str, names: &str) -> Vec<u8> {
        self.0.rules.denied_names(directory.as_bytes(), names.as_bytes())
    }
}

/// The base of the paths that callers write for a Windows disk.
#[derive(Debug)]
pub struct WindowsPaths(WindowsBase);

impl WindowsPaths {
    /// Parses the working directory and the roots, in the form `/C:/repo`.
    pub fn new(cwd: &str, roots: &[String]) -> Result<Self> {
        WindowsBase::new(cwd, roots).map(Self)
    }

    /// Returns a path in the form `/C:/repo/a.ts`, with `/` at its end if it can only name a
    /// directory; refuses one that means something else than its text.
    pub fn resolve(&self, typed: &str) -> Result<String> {
        self.0.resolve(typed)
    }
}

/// A compiled query for searching contents.
#[derive(Clone, Debug)]
pub struct SearchQuery(Query);

impl SearchQuery {
    /// Compiles a query. `options` is JSON.
    pub fn new(options: &str) -> Result<Self> {
        Query::from_options(&Options::parse(options)?).map(Self)
    }

    /// Searches a content. `limits` is JSON.
    pub fn search(
        &self,
        content: &[u8],
        limits: &str,
        interrupted: &dyn Fn() -> bool,
    ) -> AlsoAsync<Packed> {
        search_packed(&self.0, content, limits, interrupted)
    }
}

/// An index of contents that JavaScript passes, each identified by a number.
#[derive(Debug, Default)]
pub struct HeldIndex(MemoryIndex);

impl HeldIndex {
    /// Creates an empty index.
    pub fn new() -> Self {
        Self::default()
    }

    /// Indexes a content and returns its number; -1 if it is binary and has no matches, -2 if it
    /// cannot be indexed, so that every query must read it.
    pub fn sign(&mut self, content: &[u8]) -> f64 {
        self.0.sign(content).code() as f64
    }

    /// Returns one bit for each number, set if that content can have a match; null if all can.
    pub fn candidates(&self, query: &SearchQuery) -> Option<Vec<u8>> {
        self.0.candidates(&query.0).map(bytes_of)
    }

    /// Like `candidates`, for the options of a query that is compiled in a worker and not here.
    pub fn candidates_of(&self, options: &str) -> Option<Vec<u8>> {
        self.0.candidates_of(&Options::parse(options).ok()?).map(bytes_of)
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> f64 {
        self.0.bytes() as f64
    }
}

/// Contents whose terms are counted once, for many ranked searches.
#[derive(Debug, Default)]
pub struct CountedContents(rank::CountedContents);

impl CountedContents {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts the terms of a content. `path` is relative to the start of a search. Returns its number,
    /// from 0 on; -1 for a content that is not ranked.
    pub fn add(&mut self, path: &str, content: &[u8]) -> f64 {
        self.0.add(path, content).map_or(-1.0, f64::from)
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> f64 {
        self.0.bytes() as f64
    }
}

/// A ranked search of contents that JavaScript passes.
#[derive(Debug)]
pub struct CodeRanking(CodeSearch);

impl CodeRanking {
    /// Parses the query. `options` is JSON.
    pub fn new(options: &str) -> Result<Self> {
        CodeSearch::new(&Options::parse(options)?).map(Self)
    }

    /// Adds the content of a file. `path` is relative to the directory with the index `root`. Reports
    /// whether the file is searched: a binary one is not.
    pub fn add(&mut self, root: u32, path: &str, content: &[u8]) -> bool {
        self.0.add(root, path, content)
    }

    /// Adds a content that is counted already, by its number. Reports whether it is searched.
    pub fn add_known(&mut self, root: u32, contents: &CountedContents, number: u32) -> bool {
        self.0.add_known(root, &contents.0, number)
    }

    /// Ranks the added files. Returns a packed list: the number of the file of each of the best
    /// blocks, in the order in which the searched files were added, from 0 on.
    pub fn rank(&mut self) -> Packed {
        self.0.rank().packed()
    }

    /// Returns the block at an index of the ranking with its lines in the content of its file, a
    /// packed `CodeBlock`; without a number if the content has changed.
    pub fn show(&self, index: u32, content: &[u8]) -> Packed {
        self.0.show(index as usize, content)
    }
}

fn bytes_of(set: Vec<u64>) -> Vec<u8> {
    set.into_iter().flat_map(u64::to_le_bytes).collect()
}

/// A compiled list of globs that paths must match or must not match.
#[derive(Debug)]
pub struct PathGlobs(Globs);

impl PathGlobs {
    /// Compiles globs. `options` is JSON.
    pub fn new(options: &str) -> Result<Self> {
        Globs::from_json(options).map(Self)
    }

    /// Reports whether the globs match a path.
    pub fn matches(&self, path: &str, is_dir: bool) -> bool {
        self.0.matches(path.as_bytes(), is_dir)
    }

    /// Reports whether a glob excludes a path.
    pub fn excluded(&self, path: &str, is_dir: bool) -> bool {
        self.0.excluded(path.as_bytes(), is_dir)
    }

    /// Reports whether an entry below a directory can match.
    pub fn may_contain(&self, path: &str) -> bool {
        self.0.may_contain(path.as_bytes())
    }
}

/// The ignore rules that apply in one directory: its own and those of the directories above it.
#[derive(Debug)]
pub struct IgnoreStack(Stack);

impl IgnoreStack {
    /// Creates a stack without rules.
    #[allow(clippy::new_without_default)] // JavaScript has only the constructor
    pub fn new() -> Self {
        Self(Stack::new())
    }

    /// Returns the rules for a directory below. `files` are the contents of its ignore files, and
    /// `places` the index of each in the list of names of ignore files. `border` says that the
    /// directory contains `.git`.
    pub fn enter(
        &self,
        directory: &str,
        places: &[u32],
        files: Vec<Cow<'_, [u8]>>,
        border: bool,
    ) -> Self {
        let files = places.iter().zip(&files).map(|(place, file)| (*place as usize, &file[..]));
        Self(self.0.enter_files(directory.as_bytes(), files, border))
    }

    /// Reports whether the rules exclude an entry of the directory.
    pub fn ignored(&self, path: &str, is_dir: bool) -> bool {
        self.0.ignored(path.as_bytes(), is_dir)
    }
}
