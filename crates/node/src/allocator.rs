//! Where the addon's memory comes from.
//!
//! A call allocates what it returns and frees its working memory at once. The system's
//! allocator gives that back to the kernel and faults it in again, call after call: a
//! third of the time of a small diff. mimalloc keeps it. What is as large as a file,
//! though, is rare and had better be gone when it is freed, so it stays with the system.
//! What is larger still is wanted in large pages: 25,000 small ones for 100 MB take the
//! kernel longer to find, one by one, than the content takes to be read into them.
//!
//! mimalloc gives back what is free only while its thread goes on allocating, a second
//! later. A pool's threads rest for as long as nobody calls, and in a server each kept the
//! most it had ever needed. So whole pages are given back as soon as they are free; what a
//! small call works in is a part of a page, and is kept.
//!
//! The addon's only `unsafe`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{c_int, c_long};

use mimalloc::MiMalloc;

/// From this size on the system allocates: beyond what calls work in, in bytes.
const MIN_SYSTEM_BYTES: usize = 4 << 20;

/// From this size on a block is a mapping of its own with every allocator of a system,
/// never a part of one that is used again: what the kernel is told of it goes with it.
const HUGE: usize = 32 << 20;

/// mimalloc's number for how many milliseconds a free page is kept.
const PURGE_DELAY: c_int = 15;

// SAFETY: as `mimalloc.h` declares it; the library is linked into the addon.
unsafe extern "C" {
    fn mi_option_set(option: c_int, value: c_long);
}

/// Called once, when the addon is loaded. It takes precedence over mimalloc's own
/// environment variable.
#[napi_derive::module_init]
fn give_back_at_once() {
    // SAFETY: sets a number that every later `free` reads; nothing else depends on it.
    unsafe { mi_option_set(PURGE_DELAY, 0) }
}

/// mimalloc for what is small, the system for what is large.
pub(crate) struct Allocator;

const fn is_large(size: usize) -> bool {
    size >= MIN_SYSTEM_BYTES
}

/// Asks for large pages behind a new block, where they are given to who asks.
fn advise(block: *mut u8, size: usize) {
    #[cfg(target_os = "linux")]
    if size >= HUGE && !block.is_null() {
        /// Of the page asked for, and a multiple of every small one. Bytes.
        const PAGE: usize = 2 << 20;
        let (start, end) = (block.addr().next_multiple_of(PAGE), block.addr() + size);
        let length = end.saturating_sub(start) / PAGE * PAGE;
        // SAFETY: whole pages within a block that is ours, of which no content changes. That
        // the kernel may not know of such pages is nothing to be told.
        unsafe { libc::madvise(block.with_addr(start).cast(), length, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (block, size, HUGE);
}

// SAFETY: every block is handed to one of two allocators, each of which keeps the contract
// of the trait. Which one follows from the size alone, and a block keeps the layout that it
// was allocated with until `realloc` gives it another, so it comes back to the same one.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            if is_large(layout.size()) {
                let block = System.alloc(layout);
                advise(block, layout.size());
                block
            } else {
                MiMalloc.alloc(layout)
            }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            if is_large(layout.size()) {
                System.alloc_zeroed(layout)
            } else {
                MiMalloc.alloc_zeroed(layout)
            }
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: a block of this size is from this allocator.
        unsafe {
            if is_large(layout.size()) {
                System.dealloc(block, layout);
            } else {
                MiMalloc.dealloc(block, layout);
            }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        match (is_large(layout.size()), is_large(size)) {
            // SAFETY: before and afterwards it is the system's.
            (true, true) => unsafe { System.realloc(block, layout, size) },
            // SAFETY: before and afterwards it is mimalloc's.
            (false, false) => unsafe { MiMalloc.realloc(block, layout, size) },
            // SAFETY: the caller promises that `size` fits this alignment. The new block is
            // another one and holds the shorter of both lengths; the old one is freed once.
            _ => unsafe {
                let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
                if !moved.is_null() {
                    moved.copy_from_nonoverlapping(block, layout.size().min(size));
                    self.dealloc(block, layout);
                }
                moved
            },
        }
    }
}
