//! The options of a search of contents.

use std::sync::Arc;

use filewright_core::Result;
use filewright_core::options::{Options, invalid};
use filewright_core::pattern::glob::{self, Globs};
use filewright_core::search::{Case, OutputMode, Query, QueryOptions, SearchLimits};

use super::progress::Progress;
use crate::walk::WalkOptions;
use crate::walk::options::{IndexMode, walk_options};

/// The default of `maxFileBytes`, in bytes: larger files are not searched, only counted.
pub const MAX_SEARCHED_FILE_BYTES: u64 = 100 << 20;

/// The form of the results for each file with hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrepOutput {
    /// The matching lines.
    Content,
    /// The paths of files with hits.
    Files,
    /// The number of hits per file.
    Count,
}

/// The parsed options of a search.
#[derive(Clone, Debug)]
pub struct GrepOptions {
    /// The compiled pattern.
    pub query: Query,
    /// The limits per file and the form of the output.
    pub limits: SearchLimits,
    pub(super) max_per_file: bool,
    /// The globs of file types: besides the globs of the walk, a file must match one of these.
    pub types: Globs,
    pub(super) output: GrepOutput,
    pub(super) max_results: u64,
    /// The maximum size of a searched file in bytes. Larger files are only counted.
    pub max_file_bytes: u64,
    /// The time limit in milliseconds.
    pub timeout_ms: Option<u64>,
    /// The files that are visible.
    pub walk: WalkOptions,
    pub(super) from_line: u64,
    /// The use of an index.
    pub index: IndexMode,
    /// Compares the size and times of each file with the index instead of relying on reports of
    /// changes (inotify), which for example network file systems do not make.
    pub strict: bool,
    /// The options that select files by name, as text: equal texts mean equal options.
    pub view: String,
    /// All options that select the searched files, as text. Searches with equal texts visit the
    /// same files and can share a walk.
    pub(super) files_view: String,
    /// The counts so far, which the search updates while it runs.
    pub progress: Arc<Progress>,
}

impl GrepOptions {
    /// Parses the options of the query and its limits, and `glob`, `exclude`, `types` (globs of
    /// which one must also match), `globCase`, `output`, `maxResults`, `maxFileBytes`, `timeoutMs`,
    /// `hidden`, `respectIgnore`, `ignoreFiles`, `fromPath`, `fromLine`, `index` (`auto`, `off`,
    /// `anywhere`, `strict`) and `strict` (check the metadata of every file, for changes that no
    /// watch reports). `maxTextBytes` is the limit of all files together.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`, `INVALID_REGEX`, `INVALID_GLOB`, `LIMIT_EXCEEDED`.
    pub fn from_json(json: &str) -> Result<Self> {
        let options = Options::parse(json)?;
        Self::read(&options, Query::from_options(&options)?)
    }

    /// Parses the options that select files, for a search that looks at their contents in its own
    /// way and not for the query.
    ///
    /// # Errors
    /// Like [`GrepOptions::from_json`].
    pub fn of_files(options: &Options) -> Result<Self> {
        let (case, word, multiline) = (Case::Sensitive, false, false);
        let every = QueryOptions { pattern: ".", regex: true, case, word, multiline };
        Self::read(options, Query::new(&every)?)
    }

    fn read(options: &Options, query: Query) -> Result<Self> {
        let output = match options.choice("output", &["content", "files", "count"])? {
            0 => GrepOutput::Content,
            1 => GrepOutput::Files,
            _ => GrepOutput::Count,
        };
        let max_results = options.number("maxResults")?.unwrap_or(u64::MAX - 1);
        if max_results == 0 {
            return Err(invalid("maxResults", "maxResults must be at least 1"));
        }
        let mut limits = SearchLimits::read(options)?;
        let max_per_file = limits.max_hits != u64::MAX;
        match output {
            // The search of a file ends after one hit more than `maxResults`, which shows that
            // there are more.
            GrepOutput::Content => {
                limits.max_hits = limits.max_hits.min(max_results.saturating_add(1))
            }
            GrepOutput::Files | GrepOutput::Count => limits.want = OutputMode::Count,
        }
        Ok(Self {
            query,
            limits,
            max_per_file,
            types: Globs::new(&options.list("types")?, &[] as &[&str], glob::Case::Insensitive)?,
            output,
            max_results,
            max_file_bytes: options.number("maxFileBytes")?.unwrap_or(MAX_SEARCHED_FILE_BYTES),
            timeout_ms: options.number("timeoutMs")?,
            walk: walk_options(options, "glob")?,
            from_line: options.number("fromLine")?.unwrap_or(0),
            index: IndexMode::read(options)?,
            strict: options.flag("strict", false)?,
            view: options.canonical(&["glob", "exclude", "types", "globCase", "hidden"]),
            files_view: options.canonical(&[
                "glob",
                "exclude",
                "types",
                "globCase",
                "hidden",
                "respectIgnore",
                "ignoreFiles",
                "maxFileBytes",
            ]),
            progress: Arc::default(),
        })
    }
}
