//! Reads the files of a ranked search, several at a time.

use std::ffi::CString;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use filewright_core::pattern::policy::holds_secret;
use filewright_core::rank::{FileBlocks, MAX_RANKED_BYTES, Tokenizer, ranked_text};

use crate::tree::{NO_NUMBER, Tree, stamp_of};
use filewright_fs::dir::stat::{Kind, Stat};
use filewright_fs::search::searcher::Search;
use filewright_fs::walk::{
    Opener, ReadOutcome, SearchedFile, StopSignal, WalkRoot, open_plain, threads,
};

/// The number of files that a thread takes at a time.
const FILES_PER_BATCH: usize = 16;

/// Where a file of the tree is.
pub(super) struct FilePlace {
    pub file: u32,
    /// The directory relative to the start of the index.
    dir: Arc<[u8]>,
    name: CString,
    /// The path relative to the start of the query, in the form for display.
    pub path: Box<str>,
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
        Some(Self { file, dir: Arc::clone(&dir.raw), name, path })
    }
}

/// What was read of a file.
pub(super) enum ReadFile {
    /// The text, with the stamp of the file; the stamp is 0 if it changed meanwhile.
    Text(Vec<u8>, u64),
    /// It is no text, is too large, or was removed.
    Nothing,
    /// It cannot be read, or the policy hides it.
    Unreadable,
}

/// Reads files one after the other.
pub(super) struct FileReader<'a> {
    opener: Opener<'a>,
    search: &'a Search<'a>,
    stop: &'a StopSignal<'a>,
    buffer: Vec<u8>,
}

impl<'a> FileReader<'a> {
    /// `base` is the start of the index.
    pub fn new(base: &'a WalkRoot<'a>, search: &'a Search<'a>, stop: &'a StopSignal<'a>) -> Self {
        let opener = Opener::new(base, stop);
        Self { opener, search, stop, buffer: Vec::new() }
    }

    /// Reads a file.
    pub fn read(&mut self, place: &FilePlace) -> ReadFile {
        let dir = self.opener.open(&place.dir);
        let fd = match dir.and_then(|dir| open_plain(dir, &place.name, self.stop)) {
            Ok(Some(fd)) => fd,
            Ok(None) | Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {
                return ReadFile::Nothing;
            }
            Err(_) => return ReadFile::Unreadable,
        };
        let Ok(stat) = Stat::of(&fd) else { return ReadFile::Unreadable };
        if stat.kind != Kind::File {
            return ReadFile::Nothing;
        }
        let max_bytes = MAX_RANKED_BYTES.min(self.search.options.max_file_bytes);
        let file = SearchedFile { fd: fd.as_fd(), size: stat.size, max_bytes };
        match file.read(&mut self.buffer) {
            Ok(ReadOutcome::Read) => {}
            Ok(_) => return ReadFile::Nothing,
            Err(_) => return ReadFile::Unreadable,
        }
        if self.is_hidden(&stat, &place.path) {
            return ReadFile::Unreadable;
        }
        let Some(text) = ranked_text(&self.buffer) else { return ReadFile::Nothing };
        let same = Stat::of(&fd).is_ok_and(|after| stamp_of(&after) == stamp_of(&stat));
        ReadFile::Text(text.into_owned(), if same { stamp_of(&stat) } else { 0 })
    }

    /// Reports whether the policy hides the file: by another name, or by a key in its content.
    fn is_hidden(&self, stat: &Stat, path: &str) -> bool {
        self.search.hides_other_name(stat, path.as_bytes())
            || self.search.hides(path.as_bytes(), || holds_secret(&self.buffer))
    }
}

/// What [`read_blocks`] found: for each file that has a text its index in the list, its blocks and
/// its stamp.
#[derive(Default)]
pub(super) struct ReadBlocks {
    pub files: Vec<(usize, FileBlocks, u64)>,
    pub unreadable: u64,
    /// False if the time was up first.
    pub complete: bool,
}

/// Reads files and cuts them into blocks, on several threads. The result is in the order of
/// `places`.
pub(super) fn read_blocks<'a>(
    places: &[FilePlace],
    stop: &StopSignal<'_>,
    reader: impl Fn() -> FileReader<'a> + Sync,
) -> ReadBlocks {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(ReadBlocks { complete: true, ..ReadBlocks::default() });
    let run = || {
        let (mut reader, mut tokenizer) = (reader(), Tokenizer::default());
        let mut own = ReadBlocks { complete: true, ..ReadBlocks::default() };
        loop {
            let begin = next.fetch_add(FILES_PER_BATCH, Ordering::Relaxed);
            if begin >= places.len() {
                break;
            }
            for (at, place) in places.iter().enumerate().skip(begin).take(FILES_PER_BATCH) {
                if stop.now() {
                    own.complete = false;
                    break;
                }
                match reader.read(place) {
                    ReadFile::Text(text, stamp) => {
                        own.files.push((
                            at,
                            FileBlocks::of(&place.path, &text, &mut tokenizer),
                            stamp,
                        ));
                    }
                    ReadFile::Nothing => {}
                    ReadFile::Unreadable => own.unreadable += 1,
                }
            }
        }
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.files.append(&mut own.files);
        all.unreadable += own.unreadable;
        all.complete &= own.complete;
    };
    std::thread::scope(|scope| {
        for _ in 1..threads().min(places.len().div_ceil(FILES_PER_BATCH)) {
            // If no thread can be started, the calling thread does everything.
            let _ = std::thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.files.sort_unstable_by_key(|(at, ..)| *at);
    all
}
