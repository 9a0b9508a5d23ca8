//! Telling what changed in watched directories: inotify.
//!
//! An event lies in the queue before the call that caused it returns, so who
//! empties the queue knows of everything that was done before. Directories are
//! watched by their descriptors, never by path.

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use crate::watch::event::Event;

/// The most directories that one index watches; the others are swept.
const MAX_WATCHES: usize = 65_536;

// That a file which could be written was closed tells of stores through a memory map, and nothing else does.
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

/// A queue of events.
pub(crate) struct Watch {
    queue: OwnedFd,
    watched: AtomicUsize,
}

impl Watch {
    /// A new queue; `None` where the system gives no more.
    pub fn new() -> Option<Self> {
        #[cfg(test)]
        if crate::tests::NO_WATCH.get() {
            return None;
        }
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        Some(Self { queue, watched: AtomicUsize::new(0) })
    }

    /// Watches a directory; `None` where the system refuses or the budget is spent.
    pub fn add(&self, dir: BorrowedFd<'_>) -> Option<i32> {
        if self.len() >= MAX_WATCHES {
            return None;
        }
        let path = format!("/proc/self/fd/{}", dir.as_raw_fd());
        let watch = inotify::add_watch(&self.queue, path, WATCHED_EVENTS).ok()?;
        self.watched.fetch_add(1, Ordering::Relaxed);
        Some(watch)
    }

    /// Watches a directory no longer.
    pub fn remove(&self, watch: i32) {
        // It may have ended by itself.
        let _ = inotify::remove_watch(&self.queue, watch);
        let less = |count: usize| Some(count.saturating_sub(1));
        let _ = self.watched.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// How many directories are watched.
    pub fn len(&self) -> usize {
        self.watched.load(Ordering::Relaxed)
    }

    /// Gives everything that happened since the last time.
    pub fn drain(&self, drain_events: &mut dyn FnMut(Event<'_>)) {
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut reader = Reader::new(&self.queue, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => {
                    if let Some(event) = Event::of(&event) {
                        drain_events(event);
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // What cannot be read is as good as lost.
                Err(_) => return drain_events(Event::Overflow),
            }
        }
    }
}

impl<'a> Event<'a> {
    fn of(event: &'a inotify::Event<'_>) -> Option<Self> {
        let (watch, flags) = (event.wd(), event.events());
        let changed =
            ReadFlags::CREATE | ReadFlags::DELETE | ReadFlags::MOVED_FROM | ReadFlags::MOVED_TO;
        if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            Some(Event::Overflow)
        } else if flags.contains(ReadFlags::UNMOUNT) {
            Some(Event::Unmounted)
        } else if flags.contains(ReadFlags::IGNORED) {
            Some(Event::Ended(watch))
        } else if flags.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF) {
            Some(Event::Moved(watch))
        } else {
            let is_dir = flags.contains(ReadFlags::ISDIR);
            match event.file_name() {
                Some(name) if flags.intersects(changed) => {
                    Some(Event::Entry { watch, name, is_dir })
                }
                Some(name) => Some(Event::Content { watch, name, is_dir }),
                None => Some(Event::Itself(watch)),
            }
        }
    }
}

/// Whether a file system tells of every change to it: those of this machine do.
pub(crate) fn tells(dir: BorrowedFd<'_>) -> bool {
    // ext2-4, XFS, Btrfs, tmpfs, F2FS, ZFS, overlay, ramfs, bcachefs.
    const LOCAL: [u64; 9] = [
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
    rustix::fs::fstatfs(dir).is_ok_and(|facts| LOCAL.contains(&(facts.f_type as u64 & 0xffff_ffff)))
}
