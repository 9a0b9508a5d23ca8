//! One thread of a walk.

use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use filewright_core::pattern::ignore::Stack;

use super::open::Opener;
use super::queue::{DirPath, Task, TaskKind, WalkQueue};
use super::{
    AfterFile, Counters, Directory, FileEntry, Listing, MAX_DEPTH, MAX_IGNORED_ENTRIES, StopSignal,
    Visitor, WalkOptions, WalkRoot, parent_rules,
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
    opener: Opener<'a>,
    listing: Listing,
    local: V::Local,
    /// The absolute path of the current entry.
    path: Vec<u8>,
    wanted: Vec<u32>,
    made: Vec<Task>,
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
            opener: Opener::new(walk_root, stop),
            listing: Listing::default(),
            local: visitor.local(),
            path: Vec::new(),
            wanted: Vec::new(),
            made: Vec::new(),
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
                    TaskKind::List { stack, depth, ignored } => {
                        self.list(&task.directory, stack, depth, ignored);
                    }
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

    /// Returns what the visitor has collected on this thread.
    pub fn finish(self) -> V::Local {
        self.local
    }

    /// Lists a directory: adds tasks for its subdirectories, and passes its matching entries on.
    fn list(&mut self, place: &DirPath, stack: Stack, depth: usize, ignored: bool) {
        let Self { walk_root, options, visitor, counters, .. } = *self;
        let listed = self.opener.open(&place.raw).and_then(|fd| {
            self.listing.read(fd)?;
            Ok(fd)
        });
        let Ok(fd) = listed else {
            Counters::add(&counters.unreadable, 1);
            return;
        };
        let listing = &self.listing;
        let stack = match &options.ignore {
            Some(names) if !ignored => {
                let directory = [&walk_root.real[walk_root.top..], &place.raw].concat();
                parent_rules::rules_inside(&stack, fd, listing, names, &directory).0
            }
            _ => stack,
        };
        if ignored {
            let seen = listing.len() as u64;
            counters.ignored_seen.fetch_add(seen, Ordering::Relaxed);
        }
        self.path.clear();
        self.path.extend_from_slice(&walk_root.real);
        self.path.extend_from_slice(&place.raw);
        let (start, base) = (walk_root.real.len(), self.path.len());
        let denies = walk_root.roots.rules().denies();
        let mut hidden_by_rules = 0;
        self.wanted.clear();
        for index in 0..listing.len() {
            let (name, kind) = (listing.name(index), listing.kind(index));
            if name == b".git" || (!options.hidden && name.first() == Some(&b'.')) {
                continue;
            }
            self.path.truncate(base);
            self.path.extend_from_slice(name);
            let relative = &self.path[start..];
            if denies && walk_root.denied_entry(&self.path) {
                continue;
            }
            let is_dir = kind == Kind::Dir;
            let enter = is_dir
                && options.globs.may_contain(relative)
                && !options.globs.excluded(relative, true);
            let wanted = visitor.wants(relative, kind);
            if !enter && !wanted {
                continue;
            }
            let ignored =
                ignored || !stack.is_empty() && stack.ignored(&self.path[walk_root.top..], is_dir);
            if enter && (!ignored || options.count_ignored) {
                if depth == MAX_DEPTH {
                    Counters::add(&counters.unreadable, 1);
                } else if let Some(place) = subdirectory(place, listing, index, &options.from) {
                    self.made.push(Task {
                        key: place.shown[..].into(),
                        directory: place,
                        work: TaskKind::List { stack: stack.clone(), depth: depth + 1, ignored },
                    });
                }
            }
            if ignored {
                hidden_by_rules += u64::from(wanted || !options.count_ignored);
            } else if wanted {
                if V::OPENS_FILES && walk_root.roots.rules().secret(&self.path) {
                    Counters::add(&counters.unreadable, 1);
                    continue;
                }
                self.wanted.push(index as u32);
            }
        }
        Counters::add(&counters.ignored, hidden_by_rules);
        if counters.ignored_seen.load(Ordering::Relaxed) > MAX_IGNORED_ENTRIES {
            self.made.retain(|task| !matches!(task.work, TaskKind::List { ignored: true, .. }));
        }
        if self.wanted.is_empty() {
            return;
        }
        self.wanted.sort_unstable_by(|&a, &b| listing.compare(a as usize, b as usize));
        if V::OPENS_FILES {
            add_file_tasks(place, listing, &self.wanted, &options.from, &mut self.made);
        } else {
            let directory = Directory { prefix: &place.shown, fd, listing, entries: &self.wanted };
            visitor.directory(&mut self.local, &directory);
        }
    }

    /// Passes files of one directory to the visitor, and stops the walk if it must end.
    fn files(&mut self, place: &DirPath, names: &[u8]) {
        let Ok(dir) = self.opener.open(&place.raw) else {
            Counters::add(&self.counters.unreadable, 1);
            return;
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
fn subdirectory(place: &DirPath, listing: &Listing, index: usize, from: &[u8]) -> Option<DirPath> {
    let join =
        |prefix: &[u8], name: &[u8]| -> Arc<[u8]> { Arc::from([prefix, name, b"/"].concat()) };
    let shown = join(&place.shown, &listing.shown(index));
    if *shown < *from && !from.starts_with(&shown) {
        return None;
    }
    let same = listing.is_plain(index) && Arc::ptr_eq(&place.raw, &place.shown);
    let raw = if same { shown.clone() } else { join(&place.raw, listing.name(index)) };
    Some(DirPath { raw, shown })
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
