//! Watches directories with inotify.
//!
//! An event is in the queue before the system call that caused it returns, so reading the queue
//! shows all earlier changes. Directories are watched by their descriptors, never by path.

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use crate::watch::event::WatchEvent;

/// The maximum number of directories that one index watches. The metadata of the others is checked
/// at each query.
const MAX_WATCHES: usize = 65_536;

// `CLOSE_WRITE` is needed because a change through a memory map is reported only when the file is
// closed.
const WATCHED_EVENTS: WatchFlags = WatchFlags::MODIFY
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// A queue of inotify events, and the directories that it watches.
pub(crate) struct Watcher {
    queue: OwnedFd,
    watched: AtomicUsize,
}

impl Watcher {
    /// Creates a queue without directories; returns `None` if the system refuses.
    pub fn new() -> Option<Self> {
        #[cfg(test)]
        if crate::tests::NO_WATCH.get() {
            return None;
        }
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        Some(Self { queue, watched: AtomicUsize::new(0) })
    }

    /// Watches a directory and returns the watch; `None` if the system refuses or [`MAX_WATCHES`]
    /// is reached.
    pub fn add(&self, dir: BorrowedFd<'_>) -> Option<i32> {
        if self.len() >= MAX_WATCHES {
            return None;
        }
        let path = format!("/proc/self/fd/{}", dir.as_raw_fd());
        let watch = inotify::add_watch(&self.queue, path, WATCHED_EVENTS).ok()?;
        self.watched.fetch_add(1, Ordering::Relaxed);
        Some(watch)
    }

    /// Stops watching a directory.
    pub fn remove(&self, watch: i32) {
        // The watch may have ended by itself.
        let _ = inotify::remove_watch(&self.queue, watch);
        let less = |count: usize| Some(count.saturating_sub(1));
        let _ = self.watched.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// Returns the number of watched directories.
    pub fn len(&self) -> usize {
        self.watched.load(Ordering::Relaxed)
    }

    /// Passes all events since the last call to `on_event`.
    pub fn drain(&self, on_event: &mut dyn FnMut(WatchEvent<'_>)) {
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut reader = Reader::new(&self.queue, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => {
                    if let Some(event) = WatchEvent::of(&event) {
                        on_event(event);
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // An unreadable event counts as lost.
                Err(_) => return on_event(WatchEvent::Overflow),
            }
        }
    }
}

impl<'a> WatchEvent<'a> {
    /// Converts an event of the kernel. Always returns `Some`.
    fn of(event: &'a inotify::Event<'_>) -> Option<Self> {
        let (watch, flags) = (event.wd(), event.events());
        let changed =
            ReadFlags::CREATE | ReadFlags::DELETE | ReadFlags::MOVED_FROM | ReadFlags::MOVED_TO;
        if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            Some(WatchEvent::Overflow)
        } else if flags.contains(ReadFlags::UNMOUNT) {
            Some(WatchEvent::Unmounted)
        } else if flags.contains(ReadFlags::IGNORED) {
            Some(WatchEvent::Ended(watch))
        } else if flags.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF) {
            Some(WatchEvent::Moved(watch))
        } else {
            let is_dir = flags.contains(ReadFlags::ISDIR);
            match event.file_name() {
                Some(name) if flags.intersects(changed) => {
                    Some(WatchEvent::Entry { watch, name, is_dir })
                }
                Some(name) => Some(WatchEvent::Content { watch, name, is_dir }),
                None => Some(WatchEvent::Itself(watch)),
            }
        }
    }
}

/// Reports whether inotify reports all changes on the file system of a directory, as on local ones.
pub(crate) fn reports_all_changes(dir: BorrowedFd<'_>) -> bool {
    // The magic numbers of ext2 to ext4, XFS, Btrfs, tmpfs, F2FS, ZFS, overlayfs, ramfs and
    // bcachefs.
    const LOCAL_FILE_SYSTEMS: [u64; 9] = [
        0xef53,
        0x5846_5342,
        0x9123_683e,
        0x0102_1994,
        0xf2f5_2010,
        0x2fc1_2fc1,
        0x794c_7630,
        0x8584_58f6,
        0xca45_1a4e,
    ];
    rustix::fs::fstatfs(dir)
        .is_ok_and(|facts| LOCAL_FILE_SYSTEMS.contains(&(facts.f_type as u64 & 0xffff_ffff)))
}
