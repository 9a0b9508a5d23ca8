//! Searching the contents of a tree, or of one file.
//!
//! Files are read whole into one buffer per thread (no memory maps: a file that
//! shrinks meanwhile is an ordinary event) and given to
//! [`filewright_core::search`]. Results come in path order. A search that
//! reached its limit looks at nothing that sorts behind it, and so costs what
//! it found, not what there is.

use filewright_core::glob::{Case, Globs};
use filewright_core::options::{Options, invalid};
use filewright_core::pack::Packed;
use filewright_core::search::{Limits, OutputMode, Query};
use filewright_core::{Code, Result};

use crate::cancel::{CancelToken, Deadline};
use crate::root::Roots;
use crate::walk::options::{IndexMode, walk_options};
use crate::walk::{StopSignal, WalkOptions, WalkRoot, walk};

use super::searcher::Search;

/// Files larger than this are passed over and counted (bytes).
pub const MAX_FILE_BYTES: u64 = 100 << 20;

/// What is given back of each hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The lines.
    Content,
    /// The paths of files with hits.
    Files,
    /// The number of hits per file.
    Count,
}

/// Why a search is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is.
    None = 0,
    /// `max_results` was reached and there is more.
    MaxResults = 1,
    /// Some file has more hits than `max_per_file`.
    MaxPerFile = 2,
    /// The time was up.
    Timeout = 3,
}

/// How a search knows that it saw every file as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// It looked at all of them.
    Scan = 0,
    /// The kernel tells of every change.
    Watch = 1,
    /// Some or all files were asked when they last changed.
    Sweep = 2,
}

/// A search as it was asked for.
#[derive(Clone, Debug)]
pub struct GrepOptions {
    /// The lines that are asked for.
    pub query: Query,
    /// What of each match is given.
    pub limits: Limits,
    pub(super) max_per_file: bool,
    /// Globs of which a file must match one besides.
    pub types: Globs,
    pub(super) output: Output,
    pub(super) max_results: u64,
    /// Larger files are passed over (bytes).
    pub max_file_bytes: u64,
    /// How long the search may take, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Which files are seen.
    pub walk: WalkOptions,
    pub(super) from_line: u64,
    /// Whether an index is used.
    pub index: IndexMode,
    /// Whether each file is asked when it last changed, for changes that no watch reports.
    pub strict: bool,
    /// What decides which files are seen, as one text.
    pub view: String,
    /// What decides which files are looked at, contents aside, as one text: searches for which
    /// it is equal can share a walk.
    pub(super) files_view: String,
}

impl GrepOptions {
    /// Reads the options of the query and of its limits, and `glob`, `exclude`,
    /// `types` (globs of which one must match besides), `globCase`, `output`,
    /// `maxResults`, `maxFileBytes`, `timeoutMs`, `hidden`, `respectIgnore`,
    /// `ignoreFiles`, `fromPath`, `fromLine`, `index` (`auto`, `off`, `anywhere`, `strict`) and
    /// `strict` (ask every file whether it changed, for what no watch tells).
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`, `INVALID_REGEX`, `INVALID_GLOB`, `LIMIT_EXCEEDED`.
    pub fn from_json(json: &str) -> Result<Self> {
        let options = Options::parse(json)?;
        let output = match options.choice("output", &["content", "files", "count"])? {
            0 => Output::Content,
            1 => Output::Files,
            _ => Output::Count,
        };
        let max_results = options.number("maxResults")?.unwrap_or(u64::MAX - 1);
        if max_results == 0 {
            return Err(invalid("maxResults", "maxResults must be at least 1"));
        }
        let mut limits = Limits::read(&options)?;
        let max_per_file = limits.max_hits != u64::MAX;
        match output {
            // One more than wanted tells that there is more.
            Output::Content => limits.max_hits = limits.max_hits.min(max_results.saturating_add(1)),
            Output::Files | Output::Count => limits.want = OutputMode::Count,
        }
        Ok(Self {
            query: Query::from_options(&options)?,
            limits,
            max_per_file,
            types: Globs::new(&options.list("types")?, &[] as &[&str], Case::Insensitive)?,
            output,
            max_results,
            max_file_bytes: options.number("maxFileBytes")?.unwrap_or(MAX_FILE_BYTES),
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
        })
    }
}

/// Searches below a directory, or in a file: a file that is named is searched
/// whatever ignore files say, and its path in the results is empty. Paths in
/// results are relative to `path`, as shown.
///
/// The first packed result is the head: `total_matches files_with_matches
/// files_searched skipped_binary skipped_large unreadable ignored truncated
/// reason`, then the place to continue from as `path? line`, then whether hits
/// carry context, then the number of [`Freshness`]. Each further one is `files` and per file `path hits`, with
/// [`Output::Content`] followed by the hits as [`pack_hit`] writes them.
///
/// # Errors
/// What opening the path is refused with; `TOO_LARGE` for a named file beyond
/// the limit; `CANCELLED`.
pub fn grep(
    roots: &Roots,
    path: &[u8],
    options: &GrepOptions,
    cancel: &CancelToken,
) -> Result<Vec<Packed>> {
    let stop = StopSignal { cancel, deadline: Deadline::after(options.timeout_ms) };
    let ground = start(roots, path, options, &stop)?;
    scan(roots, path, ground.as_ref(), options, &stop)
}

/// Opens the directory to be searched; `None` where it is a file.
pub fn start<'r>(
    roots: &'r Roots,
    path: &[u8],
    options: &GrepOptions,
    stop: &StopSignal<'_>,
) -> Result<Option<WalkRoot<'r>>> {
    stop.cancel.check()?;
    match WalkRoot::open(roots, path, options.walk.ignore.as_deref()) {
        Err(error) if error.code == Code::NotDirectory && path.last() != Some(&b'/') => Ok(None),
        ground => ground.map(Some),
    }
}

/// [`grep`] below a start that is open, or in the file of that path.
///
/// # Errors
/// As [`grep`].
pub fn scan(
    roots: &Roots,
    path: &[u8],
    ground: Option<&WalkRoot<'_>>,
    options: &GrepOptions,
    stop: &StopSignal<'_>,
) -> Result<Vec<Packed>> {
    let search = match ground {
        Some(ground) => Search::below(options, ground),
        None => Search::new(options),
    };
    let (unreadable, ignored, stopped_at) = match ground {
        Some(ground) => {
            let (summary, _) = walk(ground, &options.walk, stop, &search)?;
            (summary.unreadable, summary.ignored, summary.stopped_at)
        }
        None => (0, 0, search.named_file(roots, path, stop)?),
    };
    stop.cancel.check()?;
    Ok(search.results(unreadable, ignored, stopped_at.as_deref(), Freshness::Scan))
}
