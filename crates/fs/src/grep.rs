//! Searching the contents of a tree, or of one file.
//!
//! Files are read whole into one buffer per thread (no memory maps: a file that
//! shrinks meanwhile is an ordinary event) and given to
//! [`filewright_core::search`]. Results come in path order. A search that
//! reached its limit looks at nothing that sorts behind it, and so costs what
//! it found, not what there is.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use filewright_core::access::Intent;
use filewright_core::glob::{Case, Globs};
use filewright_core::options::{Options, invalid};
use filewright_core::pack::Packed;
use filewright_core::search::{Limits, Outcome, Query, Want, pack_hit};
use filewright_core::{Code, Error, Result};
use rustix::io::Errno;
use std::os::fd::AsFd;

use crate::cancel::{Cancel, Deadline};
use crate::errno::os;
use crate::root::Roots;
use crate::stat::Kind;
use crate::walk::{
    Content, Directory, FileAt, Ground, Next, Stop, Visitor, WalkOptions, read_open, read_regular,
    walk,
};

/// Files larger than this are passed over and counted (bytes).
pub const MAX_FILE_BYTES: u64 = 100 << 20;
/// A buffer that grew beyond this for one file is given back (bytes).
const KEEP_BUFFER: usize = 4 << 20;
/// How much text crosses to JavaScript in one piece (bytes).
const BATCH: usize = 1 << 20;

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

/// A search as it was asked for.
#[derive(Clone, Debug)]
pub struct GrepOptions {
    query: Query,
    limits: Limits,
    max_per_file: bool,
    types: Globs,
    output: Output,
    max_results: u64,
    max_file_bytes: u64,
    timeout_ms: Option<u64>,
    walk: WalkOptions,
    from_line: u64,
}

impl GrepOptions {
    /// Reads the options of the query and of its limits, and `glob`, `exclude`,
    /// `types` (globs of which one must match besides), `globCase`, `output`,
    /// `maxResults`, `maxFileBytes`, `timeoutMs`, `hidden`, `respectIgnore`,
    /// `ignoreFiles`, `fromPath`, `fromLine`.
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
/// carry context. Each further one is `files` and per file `path hits`, with
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
    stop.cancel.check()?;
    let search = Search::new(options);
    let ground = match Ground::open(roots, path, &options.walk) {
        Err(error) if error.code == Code::NotDirectory && path.last() != Some(&b'/') => None,
        ground => Some(ground?),
    };
    let (unreadable, ignored, stopped_at) = match ground {
        Some(ground) => {
            let (summary, _) = walk(&ground, &options.walk, &stop, &search)?;
            (summary.unreadable, summary.ignored, summary.stopped_at)
        }
        None => (0, 0, search.named_file(roots, path, &stop)?),
    };
    stop.cancel.check()?;
    Ok(search.results(unreadable, ignored, stopped_at.as_deref()))
}

/// A search under way.
struct Search<'a> {
    options: &'a GrepOptions,
    found: Mutex<Vec<Found>>,
    /// What `max_results` limits: hits or files.
    units: AtomicU64,
    searched: AtomicU64,
    binary: AtomicU64,
    large: AtomicU64,
    unreadable: AtomicU64,
}

/// The hits of one file.
struct Found {
    path: Box<[u8]>,
    hits: u64,
    packed: Packed,
    /// Where each hit ends in `packed`, if it may have to be cut.
    ends: Vec<(usize, usize)>,
    /// There are more hits than were wanted of a file.
    more: bool,
}

/// What each thread has for itself.
struct Local {
    query: Query,
    buffer: Vec<u8>,
    /// Where the hits of a file are gathered before their number is known.
    packed: Packed,
}

impl Visitor for Search<'_> {
    type Local = Local;

    const OPENS_FILES: bool = true;

    fn local(&self) -> Local {
        Local { query: self.options.query.clone(), buffer: Vec::new(), packed: Packed::new() }
    }

    fn wants(&self, path: &[u8], kind: Kind) -> bool {
        kind == Kind::File
            && self.options.walk.globs.matches(path, false)
            && self.options.types.matches(path, false)
    }

    fn directory(&self, _: &mut Local, _: &Directory<'_>) {}

    fn file(&self, local: &mut Local, file: &FileAt<'_>) -> Next {
        let max_bytes = self.options.max_file_bytes;
        let read = read_regular(file.dir, file.name, max_bytes, file.stop, &mut local.buffer);
        let next = match read {
            Ok(Content::Read) => self.content(local, file.path, file.stop),
            Ok(Content::TooLarge) => {
                self.large.fetch_add(1, Ordering::Relaxed);
                Next::Continue
            }
            // It went away or changed its nature since it was listed.
            Ok(Content::Special) | Err(Errno::NOENT) => Next::Continue,
            Err(_) => {
                self.unreadable.fetch_add(1, Ordering::Relaxed);
                Next::Continue
            }
        };
        if local.buffer.capacity() > KEEP_BUFFER {
            local.buffer = Vec::new();
        }
        next
    }
}

impl<'a> Search<'a> {
    fn new(options: &'a GrepOptions) -> Self {
        let zero = AtomicU64::default;
        Self {
            options,
            found: Mutex::default(),
            units: zero(),
            searched: zero(),
            binary: zero(),
            large: zero(),
            unreadable: zero(),
        }
    }

    /// Searches the file that was named; gives its path if time was up.
    fn named_file(&self, roots: &Roots, path: &[u8], stop: &Stop<'_>) -> Result<Option<Box<[u8]>>> {
        let opened = roots.open_file(path, Intent::Read)?;
        let mut local = self.local();
        let (size, max) = (opened.stat.size, self.options.max_file_bytes);
        match read_open(opened.fd.as_fd(), size, max, &mut local.buffer).map_err(os)? {
            Content::Read => {}
            _ => {
                let message =
                    format!("the file has {size} bytes, more than {max} are not searched");
                return Err(Error::new(Code::TooLarge, message)
                    .detail("size", size)
                    .detail("limit", max));
            }
        }
        Ok(match self.content(&mut local, b"", stop) {
            Next::Interrupted => Some(Box::default()),
            _ => None,
        })
    }

    /// Searches what is in the buffer.
    fn content(&self, local: &mut Local, path: &[u8], stop: &Stop<'_>) -> Next {
        let options = self.options;
        let mut limits = options.limits;
        if path == options.walk.from {
            limits.skip_lines = options.from_line;
        }
        let context = limits.has_context();
        let limited = options.max_results < u64::MAX - 1 || stop.deadline.is_set();
        let Local { query, buffer, packed } = local;
        packed.nums.clear();
        packed.text.clear();
        let mut ends = Vec::new();
        let outcome = query.search(buffer, &limits, &|| stop.now(), &mut |hit| {
            pack_hit(packed, hit, context);
            if limited {
                ends.push((packed.nums.len(), packed.text.len()));
            }
            ControlFlow::Continue(())
        });
        let counter = if outcome.binary { &self.binary } else { &self.searched };
        counter.fetch_add(1, Ordering::Relaxed);
        let next =
            // A copy takes just the room it needs.
            if outcome.hits > 0 { self.add(path, outcome, packed.clone(), ends) } else { Next::Continue };
        if outcome.stopped { Next::Interrupted } else { next }
    }

    fn add(
        &self,
        path: &[u8],
        outcome: Outcome,
        packed: Packed,
        ends: Vec<(usize, usize)>,
    ) -> Next {
        let hits = outcome.hits;
        let mut found = self.found();
        found.push(Found { path: path.into(), hits, packed, ends, more: outcome.more });
        let units = self.units_of(hits);
        if self.units.fetch_add(units, Ordering::Relaxed) + units <= self.options.max_results {
            return Next::Continue;
        }
        // Enough was found: what sorts behind the last file that is needed is
        // of no interest, wherever the other threads are.
        found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut sum = 0;
        let last = found.iter().position(|file| {
            sum += self.units_of(file.hits);
            sum > self.options.max_results
        });
        match last {
            Some(last) => {
                found.truncate(last + 1);
                Next::Bound(found[last].path.clone())
            }
            None => Next::Continue,
        }
    }

    fn units_of(&self, hits: u64) -> u64 {
        if self.options.output == Output::Content { hits } else { 1 }
    }

    fn found(&self) -> MutexGuard<'_, Vec<Found>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn results(self, unreadable: u64, ignored: u64, stopped_at: Option<&[u8]>) -> Vec<Packed> {
        let options = self.options;
        let mut found = std::mem::take(&mut *self.found());
        found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut reason = Reason::None;
        let mut next: Option<(Box<[u8]>, u64)> = None;
        if found.iter().any(|file| file.more) && options.max_per_file {
            reason = Reason::MaxPerFile;
        }
        if let Some(stopped_at) = stopped_at {
            reason = Reason::Timeout;
            // What sorts before is whole; the file itself may be half done.
            found.retain(|file| *file.path <= *stopped_at);
            let line = match found.last() {
                Some(file) if *file.path == *stopped_at => file.line_of(file.ends.len()),
                _ => 0,
            };
            next = Some((stopped_at.into(), line));
        }
        let total: u64 = found.iter().map(|file| file.hits).sum();
        let mut left = options.max_results;
        let mut truncated = false;
        for index in 0..found.len() {
            let units = self.units_of(found[index].hits);
            if units <= left {
                left -= units;
                continue;
            }
            truncated = true;
            reason = Reason::MaxResults;
            let keep = left as usize;
            next = if keep > 0 {
                let file = &mut found[index];
                file.cut(keep);
                Some((file.path.clone(), file.line_of(keep)))
            } else {
                // No file but the first can begin without room.
                index.checked_sub(1).map(|before| {
                    let file = &found[before];
                    let whole = options.output != Output::Content;
                    let line = if whole { u64::MAX >> 11 } else { file.line_of(file.ends.len()) };
                    (file.path.clone(), line)
                })
            };
            found.truncate(index + usize::from(keep > 0));
            break;
        }
        let mut head = Packed::new();
        head.num(total);
        head.num(found.len() as u64);
        head.num(self.searched.into_inner());
        head.num(self.binary.into_inner());
        head.num(self.large.into_inner());
        head.num(unreadable + self.unreadable.into_inner());
        head.num(ignored);
        head.flag(truncated);
        head.num(reason as u64);
        head.opt_str(next.as_ref().map(|(path, _)| text(path)));
        head.num(next.as_ref().map_or(0, |(_, line)| *line));
        head.flag(options.limits.has_context());
        let mut results = vec![head];
        pack(&found, options.output, &mut results);
        results
    }
}

impl Found {
    /// The line of the hit with this number, from 1; 0 for none.
    fn line_of(&self, hit: usize) -> u64 {
        let begin = match hit {
            0 => return 0,
            1 => 0,
            hit => self.ends[hit - 2].0,
        };
        self.packed.nums.get(begin).map_or(0, |line| *line as u64)
    }

    /// Keeps only the first hits.
    fn cut(&mut self, hits: usize) {
        if let Some(&(nums, text)) = self.ends.get(hits - 1) {
            self.packed.nums.truncate(nums);
            self.packed.text.truncate(text);
        }
        self.hits = hits as u64;
    }
}

/// Packs files into pieces of moderate size.
fn pack(found: &[Found], output: Output, results: &mut Vec<Packed>) {
    let mut rest = found;
    while !rest.is_empty() {
        let mut size = 0;
        let fit = rest.iter().take_while(|file| {
            let before = size;
            size += file.packed.text.len() + file.path.len();
            before == 0 || size <= BATCH
        });
        let (batch, after) = rest.split_at(fit.count());
        rest = after;
        let mut packed = Packed::new();
        packed.nums.reserve(batch.iter().map(|file| file.packed.nums.len() + 2).sum::<usize>() + 1);
        packed.text.reserve(size);
        packed.num(batch.len() as u64);
        for file in batch {
            packed.str(text(&file.path));
            packed.num(file.hits);
            if output == Output::Content {
                packed.nums.extend_from_slice(&file.packed.nums);
                packed.text.push_str(&file.packed.text);
            }
        }
        results.push(packed);
    }
}

/// A shown path is UTF-8 by construction.
fn text(path: &[u8]) -> &str {
    std::str::from_utf8(path).unwrap_or_default()
}
