//! The state of a running search: processes each file and collects the results.

use std::cell::Cell;
use std::ops::{ControlFlow, Range};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use filewright_core::pack::Packed;
use filewright_core::pattern::policy::{Intent, holds_secret};
use filewright_core::search::{Hit, Query, SearchLimits, SearchOutcome, pack_hit};
use filewright_core::text::path::decode_name;
use filewright_core::{Code, Error, Result};
use rustix::io::Errno;

use super::file_matches::{FileMatches, HitEnd, begin_packed_file, take_packed};
use super::options::{GrepOptions, GrepOutput};
use crate::dir::errno::os_error;
use crate::dir::stat::{Kind, Stat};
use crate::root::{Roots, contains_private_key};
use crate::walk::{
    AfterFile, Directory, FileEntry, ReadConditions, ReadOutcome, SearchedFile, StopSignal,
    Visitor, WalkRoot, read_visible,
};

/// The maximum capacity in bytes with which a thread keeps its buffer for the next file. A larger
/// one is released.
pub(super) const MAX_THREAD_BUFFER_BYTES: usize = 4 << 20;

/// The state of a running search.
pub struct Search<'a> {
    /// The parsed options of the search.
    pub options: &'a GrepOptions,
    /// The directory below which files are searched; `None` unless the policy hides files.
    walk_root: Option<&'a WalkRoot<'a>>,
    pub(super) found: Mutex<Vec<FileMatches>>,
    /// The number of results so far that count towards `max_results`: hits or files, depending on
    /// the output.
    pub(super) units: AtomicU64,
    pub(super) searched: AtomicU64,
    pub(super) binary: AtomicU64,
    pub(super) large: AtomicU64,
    pub(super) unreadable: AtomicU64,
}

/// The function that receives each hit.
type HitReceiver<'a> = &'a mut dyn FnMut(&Hit<'_>) -> ControlFlow<()>;

/// Some consecutive lines of a file, which are searched without the rest.
pub struct FilePart {
    /// The range of the lines in [`SearchThread::parts`], in bytes.
    pub range: Range<usize>,
    /// The line number of the first line.
    pub line: u64,
}

/// The state of one thread of a search.
pub struct SearchThread {
    /// The query with the state of its matcher.
    pub query: Query,
    /// The content of the current file.
    pub buffer: Vec<u8>,
    /// The buffer for [`FilePart`]s of a file. It only grows, so that its memory is zeroed only
    /// once.
    pub parts: Vec<u8>,
    /// True if the last file has no match at all: not because of a limit, and not because matches
    /// are hidden. Such a file can be remembered.
    pub found_nothing: bool,
    /// The packed hits of the current file.
    packed: Packed,
}

thread_local! {
    /// The buffers of this thread's last search, to be used again: the page faults of new memory
    /// take longer than reading a file from the kernel's cache.
    static REUSED_BUFFERS: Cell<(Vec<u8>, Vec<u8>)> = const { Cell::new((Vec::new(), Vec::new())) };
}

/// The maximum capacity in bytes with which each buffer of [`REUSED_BUFFERS`] is kept between
/// searches. A larger one is released.
const MAX_REUSED_BUFFER_BYTES: usize = 256 << 10;

impl Drop for SearchThread {
    fn drop(&mut self) {
        let keep = |buffer: &mut Vec<u8>| {
            if buffer.capacity() <= MAX_REUSED_BUFFER_BYTES {
                std::mem::take(buffer)
            } else {
                Vec::new()
            }
        };
        let kept = (keep(&mut self.buffer), keep(&mut self.parts));
        // The access fails in a thread that is ending, which needs no buffers.
        let _ = REUSED_BUFFERS.try_with(|place| place.set(kept));
    }
}

impl Visitor for Search<'_> {
    type Local = SearchThread;

    const OPENS_FILES: bool = true;

    fn local(&self) -> SearchThread {
        let (buffer, parts) = REUSED_BUFFERS.take();
        let query = self.options.query.clone();
        SearchThread { query, buffer, parts, found_nothing: false, packed: Packed::new() }
    }

    fn wants(&self, path: &[u8], kind: Kind) -> bool {
        kind == Kind::File
            && self.options.walk.globs.matches(path, false)
            && self.options.types.matches(path, false)
    }

    fn directory(&self, _: &mut SearchThread, _: &Directory<'_>) {}

    fn file(&self, local: &mut SearchThread, file: &FileEntry<'_>) -> AfterFile {
        let SearchThread { query, buffer, .. } = local;
        let conditions = ReadConditions {
            max_bytes: self.options.max_file_bytes,
            hides: &|stat| self.hides_other_name(stat, file.path),
            look: &|text, is_end| query.length_without_match(text, is_end),
        };
        let read = read_visible(file, &conditions, buffer);
        self.whole(local, file.path, read, file.stop)
    }
}

impl<'a> Search<'a> {
    /// Searches a file after the attempt to read it into the buffer; counts it if it could not be
    /// read.
    pub fn whole(
        &self,
        local: &mut SearchThread,
        path: &[u8],
        read: rustix::io::Result<ReadOutcome>,
        stop: &StopSignal<'_>,
    ) -> AfterFile {
        let next = match read {
            Ok(ReadOutcome::Read) => self.content(local, path, stop),
            Ok(ReadOutcome::Binary) => self.count_binary(local),
            Ok(ReadOutcome::NoMatch) => self.count_without_match(local),
            Ok(ReadOutcome::Interrupted) => AfterFile::Interrupted,
            Ok(ReadOutcome::TooLarge) => {
                self.large.fetch_add(1, Ordering::Relaxed);
                AfterFile::Continue
            }
            // The file was deleted or changed its type since it was listed.
            Ok(ReadOutcome::Special) | Err(Errno::NOENT) => AfterFile::Continue,
            Ok(ReadOutcome::Hidden) | Err(_) => {
                self.unreadable.fetch_add(1, Ordering::Relaxed);
                AfterFile::Continue
            }
        };
        if local.buffer.capacity() > MAX_THREAD_BUFFER_BYTES {
            local.buffer = Vec::new();
        }
        next
    }

    /// Creates a search without results.
    pub fn new(options: &'a GrepOptions) -> Self {
        let zero = AtomicU64::default;
        Self {
            options,
            walk_root: None,
            found: Mutex::default(),
            units: zero(),
            searched: zero(),
            binary: zero(),
            large: zero(),
            unreadable: zero(),
        }
    }

    /// Creates a search below a directory. If the policy hides secrets, matches in files that
    /// contain private keys are left out.
    pub fn below(options: &'a GrepOptions, walk_root: &'a WalkRoot<'a>) -> Self {
        let rules = walk_root.roots.rules();
        let hides = rules.hides_secrets() || rules.denies();
        Self { walk_root: hides.then_some(walk_root), ..Self::new(options) }
    }

    /// Reports whether the matches of a file must be left out because it contains a private key and
    /// is not granted. Only called for files with matches, because reading for keys takes time.
    pub fn hides(&self, path: &[u8], holds_secret: impl FnOnce() -> bool) -> bool {
        self.walk_root.is_some_and(|walk_root| {
            let rules = walk_root.roots.rules();
            rules.hides_secrets()
                && holds_secret()
                && rules.asks_content(&real_path_of(walk_root, path))
        })
    }

    /// Reports whether the policy hides any file, so that the names of each must be looked at.
    pub fn hides_files(&self) -> bool {
        self.walk_root.is_some()
    }

    /// Reports whether a file is left out because the policy hides another name of it. `path` is
    /// its path in results.
    pub fn hides_other_name(&self, stat: &Stat, path: &[u8]) -> bool {
        self.walk_root.is_some_and(|walk_root| {
            walk_root.roots.hides_other_name(stat, || real_path_of(walk_root, path))
        })
    }

    /// Searches the file that the call names as its path. Returns its path in the results, which is
    /// empty, if time ran out.
    pub fn named_file(
        &self,
        roots: &Roots,
        path: &[u8],
        stop: &StopSignal<'_>,
    ) -> Result<Option<Box<[u8]>>> {
        let opened = roots.open_file(path, Intent::Read)?;
        let mut local = self.local();
        let (size, max) = (opened.stat.size, self.options.max_file_bytes);
        let SearchThread { query, buffer, .. } = &mut local;
        let file = SearchedFile { fd: opened.fd.as_fd(), size, max_bytes: max };
        let look = |text: &[u8], is_end| query.length_without_match(text, is_end);
        let read = file.read_matching(&look, stop, buffer).map_err(os_error)?;
        if read == ReadOutcome::TooLarge {
            let message = format!("the file has {size} bytes, more than {max} are not searched");
            return Err(Error::new(Code::TooLarge, message)
                .detail("size", size)
                .detail("limit", max));
        }
        Ok(match self.whole(&mut local, b"", Ok(read), stop) {
            AfterFile::Interrupted => Some(Box::default()),
            _ => None,
        })
    }

    /// Counts a text without a match.
    fn count_without_match(&self, local: &mut SearchThread) -> AfterFile {
        local.found_nothing = true;
        self.searched.fetch_add(1, Ordering::Relaxed);
        self.options.progress.add(1, 0);
        AfterFile::Continue
    }

    /// Counts a file that is binary by its first bytes.
    fn count_binary(&self, local: &mut SearchThread) -> AfterFile {
        local.found_nothing = true;
        self.binary.fetch_add(1, Ordering::Relaxed);
        self.options.progress.add(1, 0);
        AfterFile::Continue
    }

    /// Searches the file whose content is in the buffer.
    pub fn content(
        &self,
        local: &mut SearchThread,
        path: &[u8],
        stop: &StopSignal<'_>,
    ) -> AfterFile {
        let content = std::mem::take(&mut local.buffer);
        let hides = || holds_secret(&content);
        let next =
            self.collect_hits(local, path, stop, hides, |query, limits, interrupted, receive| {
                query.search(&content, limits, interrupted, receive)
            });
        local.buffer = content;
        next
    }

    /// Searches parts of a text file, which were read into [`SearchThread::parts`], in order. `fd`
    /// is the file.
    pub fn parts(
        &self,
        local: &mut SearchThread,
        path: &[u8],
        parts: &[FilePart],
        fd: &OwnedFd,
        stop: &StopSignal<'_>,
    ) -> AfterFile {
        let content = std::mem::take(&mut local.parts);
        let hides = || contains_private_key(fd);
        let next =
            self.collect_hits(local, path, stop, hides, |query, limits, interrupted, receive| {
                let mut all = SearchOutcome::default();
                for part in parts {
                    let limits = SearchLimits {
                        max_hits: limits.max_hits - all.hits,
                        max_text_bytes: limits.max_text_bytes.saturating_sub(all.text_bytes),
                        ..*limits
                    };
                    let lines = content.get(part.range.clone()).unwrap_or_default();
                    let one = query.search_lines(lines, part.line, &limits, interrupted, receive);
                    all.hits += one.hits;
                    all.text_bytes += one.text_bytes;
                    (all.more, all.stopped) = (one.more, one.stopped);
                    if all.more || all.stopped {
                        break;
                    }
                }
                all
            });
        local.parts = content;
        next
    }

    /// Runs `search` on one file and records its hits and its counts. `holds_secret` tells whether
    /// the file contains a private key.
    fn collect_hits(
        &self,
        local: &mut SearchThread,
        path: &[u8],
        stop: &StopSignal<'_>,
        holds_secret: impl FnOnce() -> bool,
        search: impl FnOnce(&Query, &SearchLimits, &dyn Fn() -> bool, HitReceiver<'_>) -> SearchOutcome,
    ) -> AfterFile {
        let options = self.options;
        let mut limits = options.limits;
        if path == options.walk.from {
            limits.skip_lines = options.from_line;
        }
        limits.row_bytes += path.len() as u64;
        let context = limits.has_context();
        let limited = options.max_results < u64::MAX - 1
            || limits.max_text_bytes < u64::MAX
            || stop.deadline.is_set();
        let SearchThread { query, packed, .. } = local;
        packed.nums.clear();
        packed.text.clear();
        begin_packed_file(packed, path);
        let mut ends = Vec::new();
        let mut text_bytes = 0;
        let mut outcome = search(query, &limits, &|| stop.now(), &mut |hit| {
            pack_hit(packed, hit, context);
            if limited {
                text_bytes += limits.row_bytes + hit.text_bytes();
                ends.push(HitEnd { nums: packed.nums.len(), text: packed.text.len(), text_bytes });
            }
            ControlFlow::Continue(())
        });
        let hidden = outcome.hits > 0 && self.hides(path, holds_secret);
        if hidden {
            let SearchOutcome { binary, stopped, .. } = outcome;
            outcome = SearchOutcome { binary, stopped, ..SearchOutcome::default() };
        }
        let counter = if outcome.binary { &self.binary } else { &self.searched };
        counter.fetch_add(1, Ordering::Relaxed);
        self.options.progress.add(1, outcome.hits);
        // A file with hidden matches must not be remembered as one without, because another
        // workspace may see them.
        local.found_nothing =
            !hidden && outcome.hits == 0 && !outcome.stopped && limits.skip_lines == 0;
        let next = if outcome.hits > 0 {
            self.add(path, outcome, take_packed(packed), ends)
        } else {
            AfterFile::Continue
        };
        if outcome.stopped { AfterFile::Interrupted } else { next }
    }

    /// Counts files that were not read because the index shows that they have no match: text files,
    /// binary files, and files above the size limit.
    pub fn passed(&self, texts: u64, binaries: u64, large: u64) {
        self.searched.fetch_add(texts, Ordering::Relaxed);
        self.binary.fetch_add(binaries, Ordering::Relaxed);
        self.large.fetch_add(large, Ordering::Relaxed);
        self.options.progress.add(texts + binaries, 0);
    }

    /// Reports whether there is a limit of results, so that the search may end before all files
    /// were searched.
    pub fn has_limit(&self) -> bool {
        self.options.max_results < u64::MAX - 1
    }

    /// Records the hits of a file. If there are enough results, drops the files that are not needed
    /// and returns the path after which nothing is.
    fn add(
        &self,
        path: &[u8],
        outcome: SearchOutcome,
        packed: Packed,
        ends: Vec<HitEnd>,
    ) -> AfterFile {
        let hits = outcome.hits;
        let mut found = self.found();
        found.push(FileMatches { path: path.into(), hits, packed, ends, more: outcome.more });
        let units = self.units_of(hits);
        if self.units.fetch_add(units, Ordering::Relaxed) + units <= self.options.max_results {
            return AfterFile::Continue;
        }
        // There are enough results: nothing that sorts after the last file of them is needed.
        found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut sum = 0;
        let last = found.iter().position(|file| {
            sum += self.units_of(file.hits);
            sum > self.options.max_results
        });
        match last {
            Some(last) => {
                found.truncate(last + 1);
                AfterFile::Bound(found[last].path.clone())
            }
            None => AfterFile::Continue,
        }
    }

    /// Returns how much a file with this number of hits counts towards `max_results`.
    pub(super) fn units_of(&self, hits: u64) -> u64 {
        if self.options.output == GrepOutput::Content { hits } else { 1 }
    }

    /// Locks and returns the files with hits so far.
    pub(super) fn found(&self) -> MutexGuard<'_, Vec<FileMatches>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the absolute real path of a file by its path in results.
fn real_path_of(walk_root: &WalkRoot<'_>, path: &[u8]) -> Vec<u8> {
    [&walk_root.real[..], &decode_name(&String::from_utf8_lossy(path))].concat()
}
