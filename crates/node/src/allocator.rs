//! The memory allocator of the addon.
//!
//! A call allocates its result and frees its working memory at once. The system's allocator returns
//! that memory to the kernel and faults it in again, call after call: a third of the time of a
//! small diff. mimalloc keeps it. Blocks as large as a file are rare and should be released when
//! they are freed, so they use the system's allocator. Still larger blocks use huge pages, because
//! finding 25,000 small pages for 100 MB takes the kernel longer than reading the content.
//!
//! mimalloc returns free memory only while its thread continues to allocate, a second later.
//! Threads of a pool are idle while there are no calls, and in a server each kept its peak memory.
//! So whole pages are returned as soon as they are free; the working memory of a small call is
//! smaller than a page, and mimalloc reuses it.
//!
//! The `unsafe` code calls the two allocators and the kernel's advice for pages.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{c_int, c_long};

use mimalloc::MiMalloc;

/// The minimum size in bytes of a block for the system's allocator. A smaller one is mimalloc's.
const MIN_SYSTEM_BYTES: usize = 4 << 20;

/// The minimum size in bytes of a block for which huge pages are requested. The system's allocator
/// gives such a block its own mapping, so that the request does not affect other memory.
const HUGE: usize = 32 << 20;

/// The number of mimalloc's option for the delay in milliseconds after which a free page is
/// returned to the kernel.
const PURGE_DELAY: c_int = 15;

// SAFETY: as declared in `mimalloc.h`; the library is linked into the addon.
unsafe extern "C" {
    fn mi_option_set(option: c_int, value: c_long);
}

/// Makes mimalloc return free pages at once. Called when the addon is loaded, so that it takes
/// precedence over mimalloc's environment variable.
#[napi_derive::module_init]
fn give_back_at_once() {
    // SAFETY: sets a number that every later `free` reads; nothing else depends on it.
    unsafe { mi_option_set(PURGE_DELAY, 0) }
}

/// The allocator of the addon: mimalloc for small blocks, the system's for large ones.
pub(crate) struct Allocator;

const fn is_large(size: usize) -> bool {
    size >= MIN_SYSTEM_BYTES
}

/// Requests huge pages for a new block of at least [`HUGE`] bytes. Ignores a refusal.
fn advise(block: *mut u8, size: usize) {
    #[cfg(target_os = "linux")]
    if size >= HUGE && !block.is_null() {
        /// The size of a huge page in bytes, a multiple of every small page size.
        const PAGE: usize = 2 << 20;
        let (start, end) = (block.addr().next_multiple_of(PAGE), block.addr() + size);
        let length = end.saturating_sub(start) / PAGE * PAGE;
        // SAFETY: whole pages within our own block, whose content does not change. An error is
        // ignored, because huge pages are optional.
        unsafe { libc::madvise(block.with_addr(start).cast(), length, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (block, size, HUGE);
}

// SAFETY: every block is passed to one of two allocators, each of which fulfils the contract of the
// trait. Only the size selects the allocator, and a block keeps its layout until `realloc` changes
// it, so it is freed by the same one.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
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
        // SAFETY: guaranteed by the caller.
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
            // SAFETY: the block is the system's before and after.
            (true, true) => unsafe { System.realloc(block, layout, size) },
            // SAFETY: the block is mimalloc's before and after.
            (false, false) => unsafe { MiMalloc.realloc(block, layout, size) },
            // SAFETY: the caller guarantees that `size` fits this alignment. The new block is
            // another one and receives the shorter of both lengths; the old one is freed once.
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
