//! One thread of a walk.

use std::ffi::CStr;

use filewright_core::pattern::ignore::Stack;

use super::dir_reader::{DirReader, ReadEntry, has_vanished, path_below};
use super::queue::{DirPath, Task, TaskKind, WalkQueue};
use super::{
    AfterFile, Counters, Directory, FileEntry, Listing, MAX_DEPTH, StopSignal, Visitor,
    WalkOptions, WalkRoot,
};
use crate::dir::stat::Kind;

/// The maximum number of files per task: few enough that the threads finish together, enough that
/// the cost of a task itself does not matter.
const FILES_PER_TASK: usize = 64;

pub(super) struct Worker<'a, V: Visitor> {
    walk_root: &'a WalkRoot<'a>,
    options: &'a WalkOptions,
    stop: &'a StopSignal<'a>,
    visitor: &'a V,
    queue: &'a WalkQueue,
    counters: &'a Counters,
    reader: DirReader<'a>,
    local: V::Local,
    /// The path of the current file, in the form for display.
    path: Vec<u8>,
    wanted: Vec<u32>,
    made: Vec<Task>,
    ignored_dirs: Vec<DirPath>,
}

/// When dropped during a panic (`1` is true), marks the task as done and stops the walk, so that no
/// other thread waits for it.
struct Done<'q>(&'q WalkQueue, bool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        if self.1 {
            self.0.done(&mut Vec::new());
            self.0.stop(b"");
        }
    }
}

impl<'a, V: Visitor> Worker<'a, V> {
    pub fn new(
        walk_root: &'a WalkRoot<'a>,
        options: &'a WalkOptions,
        stop: &'a StopSignal<'a>,
        visitor: &'a V,
        queue: &'a WalkQueue,
        counters: &'a Counters,
    ) -> Self {
        Self {
            walk_root,
            options,
            stop,
            visitor,
            queue,
            counters,
            reader: DirReader::new(walk_root, options, stop),
            local: visitor.local(),
            path: Vec::new(),
            wanted: Vec::new(),
            made: Vec::new(),
            ignored_dirs: Vec::new(),
        }
    }

    /// Processes tasks until none is left. Calls `call_help` once, when a second task is waiting,
    /// to start other threads.
    pub fn run(&mut self, call_help: impl FnOnce()) {
        let mut call_help = Some(call_help);
        while let Some(task) = self.queue.next() {
            let mut guard = Done(self.queue, true);
            if self.stop.now() {
                self.queue.stop(&task.key);
            } else {
                match task.work {
                    TaskKind::List { stack, depth } => self.list(&task.directory, &stack, depth),
                    TaskKind::Files { names } => self.files(&task.directory, &names),
                }
            }
            guard.1 = false;
            if self.queue.done(&mut self.made) > 1
                && let Some(call_help) = call_help.take()
            {
                call_help();
            }
        }
    }

    /// Returns what the visitor has collected on this thread, and the ignored directories.
    pub fn finish(self) -> (V::Local, Vec<DirPath>) {
        (self.local, self.ignored_dirs)
    }

    /// Lists a directory: adds tasks for its subdirectories, and passes its matching entries on.
    fn list(&mut self, place: &DirPath, stack: &Stack, depth: usize) {
        let Self { walk_root, options, visitor, counters, .. } = *self;
        let dir = match self.reader.read(place, stack) {
            Ok(dir) => dir,
            Err(errno) => {
                Counters::add(&counters.unreadable, u64::from(!has_vanished(errno)));
                return;
            }
        };
        let (wanted, made, ignored_dirs) =
            (&mut self.wanted, &mut self.made, &mut self.ignored_dirs);
        wanted.clear();
        let mut ignored = 0;
        let wants = |path: &[u8], kind: Kind| visitor.wants(path, kind);
        self.reader.entries(&dir, wants, |ReadEntry { index, listing, path, decision }| {
            if decision.ignored {
                ignored += u64::from(decision.selected);
                if decision.enter {
                    ignored_dirs.push(path_below(place, listing, index));
                }
                return;
            }
            if decision.enter {
                if depth == MAX_DEPTH {
                    Counters::add(&counters.unreadable, 1);
                } else if let Some(place) = needed(place, listing, index, &options.from) {
                    made.push(Task {
                        key: place.shown[..].into(),
                        directory: place,
                        work: TaskKind::List { stack: dir.stack.clone(), depth: depth + 1 },
                    });
                }
            }
            if decision.selected {
                if V::OPENS_FILES && walk_root.roots.rules().secret(path) {
                    Counters::add(&counters.unreadable, 1);
                } else {
                    wanted.push(index as u32);
                }
            }
        });
        Counters::add(&counters.ignored, ignored);
        let Ok((fd, listing)) = self.reader.current(place) else { return };
        if wanted.is_empty() {
            return;
        }
        wanted.sort_unstable_by(|&a, &b| listing.compare(a as usize, b as usize));
        if V::OPENS_FILES {
            add_file_tasks(place, listing, wanted, &options.from, made);
        } else {
            let directory = Directory { prefix: &place.shown, fd, listing, entries: wanted };
            visitor.directory(&mut self.local, &directory);
        }
    }

    /// Passes files of one directory to the visitor, and stops the walk if it must end.
    fn files(&mut self, place: &DirPath, names: &[u8]) {
        let dir = match self.reader.open(place) {
            Ok(dir) => dir,
            Err(errno) => {
                Counters::add(&self.counters.unreadable, u64::from(!has_vanished(errno)));
                return;
            }
        };
        self.path.clear();
        self.path.extend_from_slice(&place.shown);
        for name in names.split_inclusive(|&byte| byte == 0) {
            let Ok(name) = CStr::from_bytes_with_nul(name) else { continue };
            self.path.truncate(place.shown.len());
            push_shown(&mut self.path, name.to_bytes());
            if self.stop.now() || self.queue.is_stopped() {
                self.queue.stop(&self.path);
                return;
            }
            let file = FileEntry { dir, name, path: &self.path, stop: self.stop };
            match self.visitor.file(&mut self.local, &file) {
                AfterFile::Continue => {}
                AfterFile::Bound(path) => {
                    self.queue.bound(path);
                }
                AfterFile::Interrupted => {
                    self.queue.stop(&self.path);
                    return;
                }
            }
            if !self.queue.wants(&self.path) {
                return;
            }
        }
    }
}

/// Appends a name in the form for display.
fn push_shown(path: &mut Vec<u8>, name: &[u8]) {
    path.extend_from_slice(filewright_core::text::path::encode_name(name).as_bytes());
}

/// Returns the path of the subdirectory with this index in the listing, or `None` if everything in
/// it sorts before `from`.
fn needed(place: &DirPath, listing: &Listing, index: usize, from: &[u8]) -> Option<DirPath> {
    let below = path_below(place, listing, index);
    let passed = *below.shown < *from && !from.starts_with(&below.shown);
    (!passed).then_some(below)
}

/// Adds tasks for the wanted files of a directory to `made`, without those that sort before `from`.
fn add_file_tasks(
    place: &DirPath,
    listing: &Listing,
    wanted: &[u32],
    from: &[u8],
    made: &mut Vec<Task>,
) {
    let key = |index: u32| [&place.shown[..], &listing.shown(index as usize)].concat();
    let passed =
        if from.is_empty() { 0 } else { wanted.partition_point(|&index| key(index)[..] < *from) };
    for chunk in wanted[passed..].chunks(FILES_PER_TASK) {
        let mut names = Vec::new();
        for &index in chunk {
            names.extend_from_slice(listing.name(index as usize));
            names.push(0);
        }
        made.push(Task {
            key: key(chunk[0]).into(),
            directory: place.clone(),
            work: TaskKind::Files { names },
        });
    }
}
