//! Searches the contents of a tree, or of one file.
//!
//! A small file is read completely into one buffer per thread, and so is a large one that may have
//! a match ([`crate::walk::SearchedFile`]); [`filewright_core::search`] searches it there. Memory
//! maps are not used, because a file may shrink at any time. Results are in path order. A
//! search that reached its limit skips everything that sorts after it, so its cost depends on the
//! results and not on the size of the tree.

use std::sync::Arc;

use filewright_core::options::{Options, invalid};
use filewright_core::pack::Packed;
use filewright_core::pattern::glob::{Case, Globs};
use filewright_core::search::{OutputMode, Query, SearchLimits};
use filewright_core::wire;
use filewright_core::{Code, Result};

use crate::cancel::{CancelToken, Deadline};
use crate::root::Roots;
use crate::walk::options::{IndexMode, walk_options};
use crate::walk::{StopSignal, WalkOptions, WalkRoot, walk};

use super::progress::Progress;
use super::searcher::Search;

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

wire! {
    /// The reason why a search is incomplete.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum IncompleteReason {
        /// There are more results than `maxResults`.
        MaxResults = "max_results",
        /// At least one file has more hits than `maxPerFile`.
        MaxPerFile = "max_per_file",
        /// The time limit was reached.
        Timeout = "timeout",
    }
}

wire! {
    /// The way in which a search made sure that its view is current.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Freshness {
        /// It read all files.
        Scan = "scan",
        /// The system reports every change.
        Watch = "watch",
        /// It compared the times of files.
        Sweep = "sweep",
    }
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
        let output = match options.choice("output", &["content", "files", "count"])? {
            0 => GrepOutput::Content,
            1 => GrepOutput::Files,
            _ => GrepOutput::Count,
        };
        let max_results = options.number("maxResults")?.unwrap_or(u64::MAX - 1);
        if max_results == 0 {
            return Err(invalid("maxResults", "maxResults must be at least 1"));
        }
        let mut limits = SearchLimits::read(&options)?;
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
            query: Query::from_options(&options)?,
            limits,
            max_per_file,
            types: Globs::new(&options.list("types")?, &[] as &[&str], Case::Insensitive)?,
            output,
            max_results,
            max_file_bytes: options.number("maxFileBytes")?.unwrap_or(MAX_SEARCHED_FILE_BYTES),
            timeout_ms: options.number("timeoutMs")?,
            walk: walk_options(&options, "glob", false)?,
            from_line: options.number("fromLine")?.unwrap_or(0),
            index: IndexMode::read(&options)?,
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

/// Searches below a directory, or in one file. A file passed as `path` is searched even if ignore
/// files exclude it, and its path in the results is empty. Paths in results are relative to `path`,
/// in the form for display.
///
/// The first packed result is a [`SearchHead`](super::results::SearchHead). Each further one is a
/// batch: the number of files, and for each file its path, its number of hits and, with
/// [`GrepOutput::Content`], the hits as [`pack_hit`](filewright_core::search::pack_hit) writes them. Hits beyond `maxTextBytes` are
/// omitted: the last file then has fewer hits than its count, and the position to continue from is
/// after the last of them.
///
/// # Errors
/// Errors of opening the path; `TOO_LARGE` for a file passed as `path` beyond the limit;
/// `CANCELLED`.
pub fn grep(
    roots: &Roots,
    path: &[u8],
    options: &GrepOptions,
    cancel: &CancelToken,
) -> Result<Vec<Packed>> {
    let stop = StopSignal { cancel, deadline: Deadline::after(options.timeout_ms) };
    let walk_root = open_search_dir(roots, path, options, &stop)?;
    search_disk(roots, path, walk_root.as_ref(), options, &stop)
}

/// Opens the directory to search; returns `None` if it is a file.
pub fn open_search_dir<'r>(
    roots: &'r Roots,
    path: &[u8],
    options: &GrepOptions,
    stop: &StopSignal<'_>,
) -> Result<Option<WalkRoot<'r>>> {
    stop.cancel.check()?;
    match WalkRoot::open(roots, path, options.walk.ignore.as_deref()) {
        Err(error) if error.code == Code::NotDirectory && path.last() != Some(&b'/') => Ok(None),
        walk_root => walk_root.map(Some),
    }
}

/// Does the same as [`grep`] below an open directory, or in the file at `path`.
///
/// # Errors
/// Like [`grep`].
pub fn search_disk(
    roots: &Roots,
    path: &[u8],
    walk_root: Option<&WalkRoot<'_>>,
    options: &GrepOptions,
    stop: &StopSignal<'_>,
) -> Result<Vec<Packed>> {
    let search = match walk_root {
        Some(walk_root) => Search::below(options, walk_root),
        None => Search::new(options),
    };
    let (unreadable, ignored, stopped_at) = match walk_root {
        Some(walk_root) => {
            let (summary, _) = walk(walk_root, &options.walk, stop, &search)?;
            (summary.unreadable, summary.ignored, summary.stopped_at)
        }
        None => (0, 0, search.named_file(roots, path, stop)?),
    };
    stop.cancel.check()?;
    Ok(search.results(unreadable, ignored, stopped_at.as_deref(), Freshness::Scan))
}
