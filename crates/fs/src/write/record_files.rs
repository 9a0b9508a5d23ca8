//! The files of the records of one writer: made ahead of their changes and put away after them, by
//! threads that Landlock does not restrict.
//!
//! A record begins in a file with a number for a name, `WRITER.~NUMBER`, because its file is made
//! before its change has an id. After the change the file becomes one of the history, under the id.
//! Both happen in the background, for several records at once.
//!
//! The file of a record that the history forgets is emptied and used again. To remove it and make
//! another costs ext4 up to 200 µs where many files were removed before, because it looks for an
//! inode that was not deleted within the last seconds. A process that is just reading the forgotten
//! record finds that its entries end or are not authentic, which is what it finds in a record that
//! is removed: nothing.
//!
//! A writer that makes one change now and then gets no file ahead, which would be removed unused.

use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use filewright_core::{Code, Error, Result};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::record::{RecordKey, create_record_file};
use crate::confine::{Lane, Pool};
use crate::dir::stat::{Kind, Stat};

/// The number of changes of a writer before a file is made ahead for it.
const CHANGES_BEFORE_READY: u32 = 3;
/// The maximum number of files that are made ahead.
const MAX_READY: usize = 16;
/// The number of ended records that are put away together.
const RECORDS_PER_WORK: usize = 8;
/// The maximum number of forgotten records whose files wait to be used again.
const MAX_FORGOTTEN: usize = 64;

/// The files of the records of one writer.
#[derive(Debug)]
pub struct RecordFiles {
    key: RecordKey,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// The path of each file without its number.
    prefix: Vec<u8>,
    state: Mutex<State>,
    /// Held during each step of the work, so that [`RecordFiles::settle`] waits for the last one.
    turn: Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    /// The files that were made ahead.
    ready: VecDeque<(u32, OwnedFd)>,
    /// The records that are not ended, with those files that no change has taken yet.
    begun: HashMap<u32, Option<OwnedFd>>,
    /// The records that are ended, and not put away yet.
    ended: VecDeque<Ended>,
    /// The paths of forgotten records, whose files are used again.
    forgotten: Vec<Vec<u8>>,
    next: u32,
    /// The number of records that were begun since a file could not be made.
    count: u32,
    /// The largest number of records that were open at once.
    most_begun: usize,
    /// True while a thread does the work, or will.
    is_at_work: bool,
    is_closed: bool,
}

/// A record that is ended.
#[derive(Debug)]
struct Ended {
    number: u32,
    /// The path in the history to which the file moves; `None` if it is removed.
    kept: Option<Vec<u8>>,
}

/// A step of the background work.
enum Step {
    PutAway(Ended),
    /// Makes a file, from that of a forgotten record if there is one.
    Make(u32, Option<Vec<u8>>),
}

impl RecordFiles {
    /// Returns the files that are named `writer` in the directory `folder`, an absolute path.
    ///
    /// # Errors
    /// Those of [`RecordKey::new`].
    pub fn new(folder: &[u8], writer: &str, key: &[u8]) -> Result<Self> {
        let prefix = [folder, b"/", writer.as_bytes(), b".~"].concat();
        let (state, turn) = (Mutex::default(), Mutex::default());
        let shared = Arc::new(Shared { prefix, state, turn });
        Ok(Self { key: RecordKey::new(key)?, shared })
    }

    /// The key of the records.
    pub fn key(&self) -> RecordKey {
        self.key
    }

    /// Begins a record, and returns its number. Does not touch the disk.
    pub fn begin(&self) -> u32 {
        let mut state = self.shared.state();
        let (number, file) = match state.ready.pop_front() {
            Some((number, file)) => (number, Some(file)),
            None => (state.number(), None),
        };
        state.begun.insert(number, file);
        state.count += 1;
        state.most_begun = state.most_begun.max(state.begun.len());
        number
    }

    /// Returns the file of a record that was begun: made ahead, or to be made by a thread that
    /// Landlock does not restrict.
    ///
    /// # Errors
    /// `INTERNAL` for a record that is not open.
    pub fn take(&self, number: u32) -> Result<RecordFile> {
        match self.shared.state().begun.get_mut(&number) {
            Some(file) => Ok(match file.take().filter(has_name) {
                Some(file) => RecordFile::Open(file),
                None => RecordFile::ToMake(self.shared.path(number)),
            }),
            None => Err(Error::new(Code::Internal, "the record is not open")),
        }
    }

    /// Ends a record: moves its file to the path `kept` in the history, whose directory is made if
    /// it is missing, or removes it. That happens on another thread when some have ended, or by
    /// [`RecordFiles::settle`].
    pub fn end(&self, number: u32, kept: Option<Vec<u8>>) {
        let mut state = self.shared.state();
        state.begun.remove(&number);
        state.ended.push_back(Ended { number, kept });
        let is_due = state.ended.len() >= RECORDS_PER_WORK || state.lacks_files(1);
        if state.is_at_work || !is_due {
            return;
        }
        state.is_at_work = true;
        drop(state);
        let shared = Arc::clone(&self.shared);
        Pool::unrestricted().submit(Lane::Quick, move || shared.work());
    }

    /// Takes records that the history forgets, by their absolute paths, to use their files again.
    /// Returns those that were not taken, because enough are waiting.
    pub fn reuse(&self, paths: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let mut state = self.shared.state();
        let mut left = Vec::new();
        for path in paths {
            if state.forgotten.contains(&path) {
                continue;
            }
            let is_room = state.forgotten.len() < MAX_FORGOTTEN;
            if is_room { state.forgotten.push(path) } else { left.push(path) }
        }
        left
    }

    /// Puts away all ended records now.
    pub fn settle(&self) {
        loop {
            let _turn = self.shared.turn();
            let Some(ended) = self.shared.state().ended.pop_front() else { return };
            self.shared.put_away(ended);
        }
    }

    /// Puts away all ended records, and removes the files that no record has used. No record may be
    /// open.
    pub fn close(&self) {
        self.settle();
        let _turn = self.shared.turn();
        let mut state = self.shared.state();
        state.is_closed = true;
        let (ready, forgotten) =
            (std::mem::take(&mut state.ready), std::mem::take(&mut state.forgotten));
        drop(state);
        for (number, _) in ready {
            self.shared.remove(number);
        }
        for path in forgotten {
            let _ = rustix::fs::unlink(&path[..]);
        }
    }
}

impl Drop for RecordFiles {
    /// A process that ends leaves no file without a record.
    fn drop(&mut self) {
        self.close();
    }
}

/// The file of a record before it has an entry.
#[derive(Debug)]
pub enum RecordFile {
    /// A file that was made ahead.
    Open(OwnedFd),
    /// The path of a file that is to be made.
    ToMake(Vec<u8>),
}

impl RecordFile {
    /// Returns the file, which is made if need be. Must be called by a thread that Landlock does
    /// not restrict, if it has to be made.
    ///
    /// # Errors
    /// Those of [`create_record_file`].
    pub fn open(self) -> Result<OwnedFd> {
        match self {
            Self::Open(file) => Ok(file),
            Self::ToMake(path) => create_record_file(&path),
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, number: u32) -> Vec<u8> {
        [&self.prefix[..], number.to_string().as_bytes()].concat()
    }

    /// Puts ended records away and makes files ahead, until nothing is left to do.
    fn work(&self) {
        loop {
            let _turn = self.turn();
            let Some(step) = self.state().step() else { return };
            match step {
                Step::PutAway(ended) => self.put_away(ended),
                Step::Make(number, forgotten) => self.make(number, forgotten),
            }
        }
    }

    fn make(&self, number: u32, forgotten: Option<Vec<u8>>) {
        let path = self.path(number);
        let emptied = forgotten.and_then(|forgotten| use_again(&forgotten, &path));
        let made = emptied.map_or_else(|| create_record_file(&path), Ok);
        let mut state = self.state();
        match made {
            Ok(file) => state.ready.push_back((number, file)),
            // The next changes tell why.
            Err(_) => state.count = 0,
        }
    }

    /// Moves the file of a record to the history, or removes it. A record that cannot be moved
    /// stays where it is, and counts as history there.
    fn put_away(&self, Ended { number, kept }: Ended) {
        let Some(kept) = kept else { return self.remove(number) };
        let path = self.path(number);
        if rustix::fs::rename(&path[..], &kept[..]) != Err(Errno::NOENT) {
            return;
        }
        // Makes only this directory: the whole state directory may have been removed.
        let parent = kept.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
        let _ = rustix::fs::mkdir(&kept[..parent], Mode::from_raw_mode(0o700));
        let _ = rustix::fs::rename(&path[..], &kept[..]);
    }

    fn remove(&self, number: u32) {
        let _ = rustix::fs::unlink(&self.path(number)[..]);
    }
}

/// Reports whether a file that was made ahead still has a name: a record in one that was removed
/// meanwhile would be in no history.
fn has_name(file: &OwnedFd) -> bool {
    Stat::of(file).is_ok_and(|stat| stat.nlink > 0)
}

/// Empties the file of a forgotten record and moves it to `path`, in this order, so that a process
/// that ends in between leaves no record in an open file. Returns `None` if another process has
/// removed it, or if it is no file for a record.
fn use_again(forgotten: &[u8], path: &[u8]) -> Option<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = |path: &[u8]| rustix::fs::open(path, flags, Mode::empty());
    let empty = || {
        let file = open(forgotten)?;
        let stat = Stat::of(&file)?;
        // A file with another name would change there, too.
        if stat.kind != Kind::File || stat.nlink != 1 {
            return Err(Errno::INVAL);
        }
        rustix::fs::ftruncate(&file, 0)?;
        drop(file);
        rustix::fs::rename(forgotten, path)?;
        // ext4 writes a file to the disk when the descriptor that has emptied it is closed.
        open(path)
    };
    let emptied = empty().ok();
    if emptied.is_none() {
        let _ = rustix::fs::unlink(forgotten);
        let _ = rustix::fs::unlink(path);
    }
    emptied
}

impl State {
    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// Reports whether at most `left` files are there of those that a series of changes needs.
    fn lacks_files(&self, left: usize) -> bool {
        !self.is_closed && self.count >= CHANGES_BEFORE_READY && self.ready.len() <= left
    }

    /// Returns the next step of the work; `None` if nothing is left to do.
    fn step(&mut self) -> Option<Step> {
        if let Some(ended) = self.ended.pop_front() {
            return Some(Step::PutAway(ended));
        }
        let wanted = (self.most_begun + RECORDS_PER_WORK).min(MAX_READY);
        if self.lacks_files(wanted - 1) {
            return Some(Step::Make(self.number(), self.forgotten.pop()));
        }
        self.is_at_work = false;
        None
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::path::Path;
    use std::time::Duration;

    use super::*;

    fn files(dir: &Path) -> RecordFiles {
        fs::create_dir(dir.join("open")).unwrap();
        fs::create_dir(dir.join("done")).unwrap();
        RecordFiles::new(dir.join("open").as_os_str().as_encoded_bytes(), "w", &[7; 32]).unwrap()
    }

    fn names(dir: &Path, folder: &str) -> Vec<String> {
        let found = fs::read_dir(dir.join(folder)).unwrap();
        let mut names: Vec<_> =
            found.map(|each| each.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn write(files: &RecordFiles, number: u32) {
        let file = files.take(number).unwrap().open().unwrap();
        fs::File::from(file).write_all(number.to_string().as_bytes()).unwrap();
    }

    fn kept(dir: &Path, name: &str) -> Option<Vec<u8>> {
        Some(dir.join("done").join(name).into_os_string().into_encoded_bytes())
    }

    #[test]
    fn a_record_moves_to_the_history_or_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(dir.path());
        let (first, second, third) = (files.begin(), files.begin(), files.begin());
        for number in [first, second] {
            write(&files, number);
        }
        assert_eq!(names(dir.path(), "open").len(), 2);
        files.end(first, kept(dir.path(), "group/id"));
        files.end(second, None);
        // Its file was never made.
        files.end(third, None);
        files.settle();
        files.close();
        assert_eq!(names(dir.path(), "open"), [""; 0]);
        assert_eq!(names(dir.path(), "done/group"), ["id"]);
        assert_eq!(
            fs::read(dir.path().join("done/group/id")).unwrap(),
            first.to_string().as_bytes()
        );
    }

    #[test]
    fn files_are_made_ahead_for_a_series_of_changes_alone() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(dir.path());
        let change = |round: u32| {
            let number = files.begin();
            let is_ahead = matches!(files.shared.state().begun.get(&number), Some(Some(_)));
            write(&files, number);
            files.end(number, kept(dir.path(), &format!("group/{round}")));
            wait(&files);
            is_ahead
        };
        assert_eq!([0, 1, 2].map(change), [false; 3]);
        for round in 3..30 {
            assert!(change(round));
        }
        files.close();
        assert_eq!(names(dir.path(), "open"), [""; 0]);
        assert_eq!(names(dir.path(), "done/group").len(), 30);
        for round in 0..30 {
            let path = dir.path().join(format!("done/group/{round}"));
            assert!(!fs::read(path).unwrap().is_empty());
        }
    }

    /// Waits until the background work is done.
    fn wait(files: &RecordFiles) {
        while files.shared.state().is_at_work {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn the_files_of_forgotten_records_are_emptied_and_used_again() {
        use std::os::unix::fs::MetadataExt;
        let dir = tempfile::tempdir().unwrap();
        let files = files(dir.path());
        let at = |name: &str| dir.path().join("done").join(name);
        fs::write(at("old"), "the old content").unwrap();
        fs::write(at("linked"), "the other content").unwrap();
        fs::hard_link(at("linked"), at("kept")).unwrap();
        let inode = fs::metadata(at("old")).unwrap().ino();
        let forgotten = ["linked", "gone", "old"].map(|name| kept(dir.path(), name));
        assert!(files.reuse(forgotten.into_iter().flatten().collect()).is_empty());
        for round in 0..4 {
            let number = files.begin();
            write(&files, number);
            files.end(number, kept(dir.path(), &format!("group/{round}")));
            wait(&files);
        }
        assert_eq!(names(dir.path(), "done"), ["group", "kept"]);
        assert_eq!(fs::read(at("kept")).unwrap(), b"the other content");
        files.settle();
        let found = |round| fs::metadata(at(&format!("group/{round}"))).unwrap();
        assert_eq!((0..4).filter(|&round| found(round).ino() == inode).count(), 1);
        for round in 0..4 {
            assert_eq!(found(round).len(), 1, "{round}");
        }
        files.close();
        assert_eq!(names(dir.path(), "open"), [""; 0]);
    }

    #[test]
    fn forgotten_records_that_were_not_used_are_removed_at_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(dir.path());
        fs::write(dir.path().join("done/old"), "the old content").unwrap();
        let numbered = (0..70).map(|round| format!("{round}"));
        let paths: Vec<_> = ["old".to_owned()]
            .into_iter()
            .chain(numbered)
            .flat_map(|name| kept(dir.path(), &name))
            .collect();
        assert_eq!(files.reuse(paths.clone()), paths[64..]);
        // The history names them until their files are used.
        assert_eq!(files.reuse(paths[..64].to_vec()), [[0u8; 0]; 0]);
        drop(files);
        assert_eq!(names(dir.path(), "done"), [""; 0]);
    }

    #[test]
    fn a_directory_that_is_gone_is_an_error_of_the_record() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(dir.path());
        fs::remove_dir(dir.path().join("open")).unwrap();
        let number = files.begin();
        let error = files.take(number).unwrap().open().unwrap_err();
        assert_eq!(error.details.get("reason").unwrap().as_str(), Some("record"));
        files.end(number, None);
        assert_eq!(files.take(number).unwrap_err().code, Code::Internal);
        files.close();
    }
}
