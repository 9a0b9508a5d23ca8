//! Reads the files of a ranked search, several at a time.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use filewright_core::pattern::policy::holds_secret;
use filewright_core::rank::{
    Cut, FileBlocks, PackedCut, RankBatch, RankLimits, RankQuery, Segment, Tokenizer, ranked_text,
};
use filewright_core::search::BINARY_CHECK_BYTES;

use crate::tree::{NO_NUMBER, Tree, stamp_of};
use crate::watch::revalidate::changed_too_recently;
use filewright_fs::dir::stat::{Kind, Stat};
use filewright_fs::search::searcher::Search;
use filewright_fs::walk::{
    Opener, ReadOutcome, SearchedFile, StopSignal, WalkRoot, open_plain, threads,
};

/// The number of files that a thread takes at a time.
const FILES_PER_BATCH: usize = 16;
/// The number of files whose terms are sorted together: some megabytes of memory for each thread.
const FILES_PER_SEGMENT: usize = 4096;

/// Where a file of the tree is.
pub(super) struct FilePlace {
    pub file: u32,
    /// The directory relative to the start of the index.
    dir: Arc<[u8]>,
    name: CString,
    /// The path relative to the start of the query, in the form for display.
    pub path: Arc<str>,
    /// [`FileRecord::touched`](crate::tree::FileRecord::touched) when it was looked up.
    pub touched: u32,
}

impl FilePlace {
    /// Returns the place of a file; `None` if it was removed. `cut` is the length of the path of
    /// the query's start.
    pub fn of(tree: &Tree, file: u32, cut: usize) -> Option<Self> {
        let known = tree.files.get(file as usize).filter(|known| known.dir != NO_NUMBER)?;
        let dir = tree.dirs.get(known.dir as usize)?;
        let name = CString::new(dir.name(dir.entries.get(known.entry as usize)?)).ok()?;
        let mut path = Vec::new();
        tree.path_of(file, &mut path);
        let path = std::str::from_utf8(path.get(cut..)?).ok()?.into();
        Some(Self { file, dir: Arc::clone(&dir.raw), name, path, touched: known.touched })
    }
}

/// A file that is unchanged if it still has its stamp.
pub(super) struct DoubtedFile {
    pub place: FilePlace,
    pub stamp: u64,
    /// What is known of the content with that stamp.
    pub known: Known,
}

/// The version of a file that was read.
#[derive(Clone, Copy)]
pub(super) struct FileVersion {
    pub file: u32,
    pub stamp: u64,
    /// False if the file changed while it was read, or so shortly before that another change might
    /// leave its stamp equal.
    pub is_lasting: bool,
    /// True if it has several hard links, whose changes no watch reports.
    pub is_linked: bool,
}

/// A file as ranked searches know it.
#[derive(Clone, Copy)]
pub(super) enum Known {
    /// It is ranked, under this number.
    Ranked(u32),
    /// A text that is too large.
    Large,
    /// It is no text.
    NoText,
}

/// What was read of a file.
pub(super) enum ReadFile<'r> {
    /// The text.
    Text(Cow<'r, [u8]>, FileVersion),
    /// It is no text or too large.
    Other(Known, FileVersion),
    /// It was removed.
    Gone,
    /// It cannot be read, or the policy hides it.
    Unreadable,
}

/// Reads files one after the other.
pub(super) struct FileReader<'a> {
    opener: Opener<'a>,
    search: &'a Search<'a>,
    stop: &'a StopSignal<'a>,
    /// For each device, whether its file system reports changes.
    devices: &'a HashMap<u64, bool>,
    buffer: Vec<u8>,
}

impl<'a> FileReader<'a> {
    /// `base` is the start of the index.
    pub fn new(
        base: &'a WalkRoot<'a>,
        search: &'a Search<'a>,
        stop: &'a StopSignal<'a>,
        devices: &'a HashMap<u64, bool>,
    ) -> Self {
        Self { opener: Opener::new(base, stop), search, stop, devices, buffer: Vec::new() }
    }

    /// Reports whether a file still has a stamp.
    fn has_stamp(&mut self, place: &FilePlace, stamp: u64) -> bool {
        let dir = self.opener.open(&place.dir);
        let stat = dir.and_then(|dir| Stat::at(dir, place.name.to_bytes()));
        stat.is_ok_and(|stat| stamp_of(&stat) == stamp)
    }

    /// Reads a file.
    pub fn read(&mut self, place: &FilePlace) -> ReadFile<'_> {
        let dir = self.opener.open(&place.dir);
        let fd = match dir.and_then(|dir| open_plain(dir, &place.name, self.stop)) {
            Ok(Some(fd)) => fd,
            Ok(None) | Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {
                return ReadFile::Gone;
            }
            Err(_) => return ReadFile::Unreadable,
        };
        let Ok(stat) = Stat::of(&fd) else { return ReadFile::Unreadable };
        if stat.kind != Kind::File {
            return ReadFile::Gone;
        }
        let tells = self.devices.get(&stat.dev) == Some(&true);
        let is_settled = !changed_too_recently(&stat, tells);
        let version = || FileVersion {
            file: place.file,
            stamp: stamp_of(&stat),
            is_lasting: is_settled
                && Stat::of(&fd).is_ok_and(|after| stamp_of(&after) == stamp_of(&stat)),
            is_linked: stat.nlink > 1,
        };
        let max_bytes = u64::from(RankLimits::MAX_RANKED_BYTES);
        let file = SearchedFile { fd: fd.as_fd(), size: stat.size, max_bytes };
        match file.read(&mut self.buffer) {
            Ok(ReadOutcome::Read) => {}
            Ok(ReadOutcome::TooLarge) if begins_as_text(fd.as_fd()) => {
                let is_hidden = self.search.hides_other_name(&stat, place.path.as_bytes());
                return if is_hidden {
                    ReadFile::Unreadable
                } else {
                    ReadFile::Other(Known::Large, version())
                };
            }
            Ok(_) => return ReadFile::Other(Known::NoText, version()),
            Err(_) => return ReadFile::Unreadable,
        }
        if self.is_hidden(&stat, &place.path) {
            return ReadFile::Unreadable;
        }
        let version = version();
        match ranked_text(&self.buffer) {
            Some(text) => ReadFile::Text(text, version),
            None => ReadFile::Other(Known::NoText, version),
        }
    }

    /// Reports whether the policy hides the file: by another name, or by a key in its content.
    fn is_hidden(&self, stat: &Stat, path: &str) -> bool {
        self.search.hides_other_name(stat, path.as_bytes())
            || self.search.hides(path.as_bytes(), || holds_secret(&self.buffer))
    }
}

/// Reports whether the first bytes of a file are those of a text.
fn begins_as_text(fd: BorrowedFd<'_>) -> bool {
    let mut head = [0; BINARY_CHECK_BYTES];
    rustix::io::pread(fd, &mut head, 0).is_ok_and(|filled| ranked_text(&head[..filled]).is_some())
}

/// A text that was read.
pub(super) struct ReadDoc {
    /// Its index in the list of places.
    pub at: usize,
    pub path: Arc<str>,
    pub version: FileVersion,
    pub cut: PackedCut,
}

/// Some texts, in the order in which they are in the segment.
pub(super) struct ReadPart {
    pub segment: Segment,
    pub docs: Vec<ReadDoc>,
}

/// What [`read_files`] found.
#[derive(Default)]
pub(super) struct ReadFiles {
    pub parts: Vec<ReadPart>,
    /// The files that are not ranked, each with its index in the list of places.
    pub others: Vec<(usize, FileVersion, Known)>,
    pub unreadable: u64,
    /// True if the time was up first.
    pub is_cut: bool,
}

/// Reads files and counts their terms, on several threads.
pub(super) fn read_files<'a>(
    places: &[FilePlace],
    stop: &StopSignal<'_>,
    reader: impl Fn() -> FileReader<'a> + Sync,
) -> ReadFiles {
    let parts = on_threads(places.len(), FILES_PER_BATCH, |next| {
        let mut reader = reader();
        let (mut found, mut batch, mut docs) = (ReadFiles::default(), RankBatch::default(), vec![]);
        'all: while let Some(range) = next() {
            for at in range {
                if stop.now() {
                    found.is_cut = true;
                    break 'all;
                }
                let place = &places[at];
                match reader.read(place) {
                    ReadFile::Text(text, version) => {
                        let path = Arc::clone(&place.path);
                        let mut cut = Cut::of(&path, &text);
                        batch.push(&mut cut, &path, &text);
                        docs.push(ReadDoc { at, path, version, cut: cut.packed() });
                    }
                    ReadFile::Other(known, version) => found.others.push((at, version, known)),
                    ReadFile::Gone => {}
                    ReadFile::Unreadable => found.unreadable += 1,
                }
            }
            if batch.len() >= FILES_PER_SEGMENT {
                found.take(&mut batch, &mut docs);
            }
        }
        found.take(&mut batch, &mut docs);
        found
    });
    let mut all = ReadFiles::default();
    for mut part in parts {
        all.parts.append(&mut part.parts);
        all.others.append(&mut part.others);
        all.unreadable += part.unreadable;
        all.is_cut |= part.is_cut;
    }
    all
}

impl ReadFiles {
    fn take(&mut self, batch: &mut RankBatch, docs: &mut Vec<ReadDoc>) {
        if !batch.is_empty() {
            let segment = std::mem::take(batch).sorted();
            self.parts.push(ReadPart { segment, docs: std::mem::take(docs) });
        }
    }
}

/// Returns the numbers of the files that still have their stamps. Those that were not compared before
/// `stop` are not among them.
pub(super) fn unchanged<'a>(
    files: &[DoubtedFile],
    stop: &StopSignal<'_>,
    reader: impl Fn() -> FileReader<'a> + Sync,
) -> HashSet<u32> {
    let parts = on_threads(files.len(), FILES_PER_BATCH, |next| {
        let (mut reader, mut found) = (reader(), vec![]);
        while let Some(range) = next().filter(|_| !stop.now()) {
            let same = files[range].iter().filter(|one| reader.has_stamp(&one.place, one.stamp));
            found.extend(same.map(|one| one.place.file));
        }
        found
    });
    parts.into_iter().flatten().collect()
}

/// A file to count the terms of a query in.
pub(super) struct AskedFile {
    pub place: FilePlace,
    /// The stamp of the content that was ranked, and its blocks.
    pub stamp: u64,
    pub cut: PackedCut,
}

/// Returns the blocks of files with the terms of a query, by the order of the files; `None` for those that
/// cannot be read now.
pub(super) fn ask_files<'a>(
    files: &[AskedFile],
    query: &RankQuery,
    reader: impl Fn() -> FileReader<'a> + Sync,
) -> Vec<Option<FileBlocks>> {
    // One by one: they are few, and a large one takes as long as twenty others.
    let parts = on_threads(files.len(), 1, |next| {
        let (mut reader, mut tokenizer, mut found) = (reader(), Tokenizer::default(), vec![]);
        while let Some(range) = next() {
            for at in range {
                let AskedFile { place, stamp, cut } = &files[at];
                if let ReadFile::Text(text, version) = reader.read(place) {
                    let content = (&*place.path, &*text);
                    // The blocks of a later content are shown by no query, because the stamps differ.
                    let cut = if version.stamp == *stamp {
                        cut.unpacked()
                    } else {
                        let mut cut = Cut::of(content.0, content.1);
                        cut.count(content.1, &mut tokenizer);
                        cut
                    };
                    found.push((at, FileBlocks::asked(&cut, content, &mut tokenizer, query)));
                }
            }
        }
        found
    });
    let mut all: Vec<Option<FileBlocks>> = files.iter().map(|_| None).collect();
    parts.into_iter().flatten().for_each(|(at, blocks)| all[at] = Some(blocks));
    all
}

/// Runs work on several threads, and returns the result of each. Each takes ranges of the first `count`
/// numbers, of at most `batch`, until none is left.
fn on_threads<T: Send>(
    count: usize,
    batch: usize,
    work: impl Fn(&dyn Fn() -> Option<Range<usize>>) -> T + Sync,
) -> Vec<T> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let take = || {
        let begin = next.fetch_add(batch, Ordering::Relaxed);
        (begin < count).then(|| begin..(begin + batch).min(count))
    };
    let run = || {
        let result = work(&take);
        done.lock().unwrap_or_else(PoisonError::into_inner).push(result);
    };
    std::thread::scope(|scope| {
        for _ in 1..threads().min(count.div_ceil(batch)) {
            // If no thread can be started, the calling thread does everything.
            let _ = std::thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner)
}
