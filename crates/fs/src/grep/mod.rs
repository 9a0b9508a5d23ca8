//! Searching the contents of a tree, or of one file.
//!
//! Files are read whole into one buffer per thread (no memory maps: a file that
//! shrinks meanwhile is an ordinary event) and given to
//! [`filewright_core::search`]. Results come in path order. A search that
//! reached its limit looks at nothing that sorts behind it, and so costs what
//! it found, not what there is.

mod found;
mod search;
mod together;

use std::sync::Arc;

use filewright_core::glob::{Case, Globs};
use filewright_core::options::{Options, invalid};
use filewright_core::pack::Packed;
use filewright_core::search::{Limits, Query, Want};
use filewright_core::{Code, Result};

use crate::cancel::{Cancel, Deadline};
use crate::index;
use crate::root::Roots;
use crate::walk::{Ground, Stop, WalkOptions, walk};

pub(crate) use search::{Local, Part, Search};
pub(crate) use together::Walks;

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
pub enum Fresh {
    /// It looked at all of them.
    Scan = 0,
    /// The kernel tells of every change.
    Watch = 1,
    /// Some or all files were asked when they last changed.
    Sweep = 2,
}

/// Whether an index is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Where there is one; a search that took long has one made for the next.
    Auto,
    /// Never.
    Off,
    /// As [`Use::Auto`], also for a whole file system or a home directory.
    Anywhere,
    /// For names as [`Use::Auto`]; the contents of every file are read.
    Strict,
}

impl Use {
    /// Reads `index`.
    pub(crate) fn read(options: &Options) -> Result<Self> {
        Ok(match options.choice("index", &["auto", "off", "anywhere", "strict"])? {
            0 => Use::Auto,
            1 => Use::Off,
            2 => Use::Anywhere,
            _ => Use::Strict,
        })
    }
}

/// A search as it was asked for.
#[derive(Clone, Debug)]
pub struct GrepOptions {
    pub(crate) query: Query,
    pub(crate) limits: Limits,
    max_per_file: bool,
    pub(crate) types: Globs,
    output: Output,
    max_results: u64,
    pub(crate) max_file_bytes: u64,
    timeout_ms: Option<u64>,
    pub(crate) walk: WalkOptions,
    from_line: u64,
    index: Use,
    pub(crate) strict: bool,
    /// What decides which files are seen, as one text.
    pub(crate) view: String,
    /// What decides which files are looked at, contents aside, as one text: searches for which
    /// it is equal can share a walk.
    files_view: String,
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
            Output::Files | Output::Count => limits.want = Want::Count,
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
            index: Use::read(&options)?,
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

/// Reads what a walk needs; the patterns are in the option of that name.
pub(crate) fn walk_options(
    options: &Options,
    patterns: &str,
    count_ignored: bool,
) -> Result<WalkOptions> {
    let case = if options.flag("globCase", true)? { Case::Sensitive } else { Case::Insensitive };
    let names = options.list("ignoreFiles")?;
    let names: Vec<String> = if names.is_empty() {
        filewright_core::ignore::FILE_NAMES.map(str::to_owned).into()
    } else {
        names.into_iter().map(str::to_owned).collect()
    };
    Ok(WalkOptions {
        hidden: options.flag("hidden", true)?,
        ignore: options.flag("respectIgnore", true)?.then_some(names),
        globs: Globs::new(&options.list(patterns)?, &options.list("exclude")?, case)?,
        count_ignored,
        from: options.text("fromPath")?.unwrap_or_default().into(),
    })
}

/// Searches below a directory, or in a file: a file that is named is searched
/// whatever ignore files say, and its path in the results is empty. Paths in
/// results are relative to `path`, as shown.
///
/// The first packed result is the head: `total_matches files_with_matches
/// files_searched skipped_binary skipped_large unreadable ignored truncated
/// reason`, then the place to continue from as `path? line`, then whether hits
/// carry context, then the number of [`Fresh`]. Each further one is `files` and per file `path hits`, with
/// [`Output::Content`] followed by the hits as [`pack_hit`] writes them.
///
/// # Errors
/// What opening the path is refused with; `TOO_LARGE` for a named file beyond
/// the limit; `CANCELLED`.
pub fn grep(
    roots: &Roots,
    path: &[u8],
    options: &GrepOptions,
    cancel: &Cancel,
) -> Result<Vec<Packed>> {
    let stop = Stop { cancel, deadline: Deadline::after(options.timeout_ms) };
    let ground = start(roots, path, options, &stop)?;
    scan(roots, path, ground.as_ref(), options, &stop)
}

/// [`grep`], by an index where there is one. A search that took long has one
/// made in the background, for those that follow.
///
/// # Errors
/// As [`grep`].
pub fn grep_indexed(
    roots: &Arc<Roots>,
    path: &[u8],
    options: &GrepOptions,
    cancel: &Cancel,
) -> Result<Vec<Packed>> {
    let stop = Stop { cancel, deadline: Deadline::after(options.timeout_ms) };
    let ground = start(roots, path, options, &stop)?;
    let by_index = !matches!(options.index, Use::Off | Use::Strict);
    if let Some(ground) = &ground
        && by_index
    {
        let search = Search::below(options, ground);
        if let Some(seen) = index::search(roots, ground, options, &stop, &search) {
            stop.cancel.check()?;
            let index::Seen { unreadable, ignored, stopped_at, fresh } = seen;
            return Ok(search.results(unreadable, ignored, stopped_at.as_deref(), fresh));
        }
    }
    let Some(ground) = &ground else { return scan(roots, path, None, options, &stop) };
    let begun = std::time::Instant::now();
    let alone = || scan(roots, path, Some(ground), options, &stop);
    let results = together::search(roots, path, options, &stop, alone)?;
    if by_index && begun.elapsed() >= index::WORTH_IT {
        let names = options.walk.ignore.as_deref();
        index::make(roots, ground, names, options.index == Use::Anywhere, true);
    }
    Ok(results)
}

/// Opens the directory to be searched; `None` where it is a file.
fn start<'r>(
    roots: &'r Roots,
    path: &[u8],
    options: &GrepOptions,
    stop: &Stop<'_>,
) -> Result<Option<Ground<'r>>> {
    stop.cancel.check()?;
    match Ground::open(roots, path, options.walk.ignore.as_deref()) {
        Err(error) if error.code == Code::NotDirectory && path.last() != Some(&b'/') => Ok(None),
        ground => ground.map(Some),
    }
}

fn scan(
    roots: &Roots,
    path: &[u8],
    ground: Option<&Ground<'_>>,
    options: &GrepOptions,
    stop: &Stop<'_>,
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
    Ok(search.results(unreadable, ignored, stopped_at.as_deref(), Fresh::Scan))
}
