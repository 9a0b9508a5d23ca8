//! Descriptors that a thread of a pool closes after a job, when its caller has the answer already.
//!
//! The last descriptor of a replaced file frees the inode and its blocks, which costs ext4 about
//! 35 µs for 4 KiB. Only for replaced files below 8 MiB on a device; larger ones go to
//! `write/deferred_close.rs`. A write that meets a full disk calls both waits and tries again.

use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The longest wait for descriptors of other threads.
const MAX_WAIT: Duration = Duration::from_millis(100);

/// The number of descriptors that all threads together still have to close.
static PENDING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The descriptors of the job that this thread runs; `None` outside a job.
    static OF_JOB: RefCell<Option<Vec<OwnedFd>>> = const { RefCell::new(None) };
}

/// Runs a job, and then closes its descriptors, also after a panic, which the panic hook has
/// reported.
pub(crate) fn run_job(job: impl FnOnce()) {
    OF_JOB.set(Some(Vec::new()));
    let _ = catch_unwind(AssertUnwindSafe(job));
    for fd in OF_JOB.take().unwrap_or_default() {
        drop(fd);
        PENDING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Closes a descriptor after the job of this thread, or at once outside a job.
pub(crate) fn close_after_job(fd: OwnedFd) {
    OF_JOB.with_borrow_mut(|left| {
        // Otherwise the descriptor is dropped here.
        if let Some(left) = left {
            PENDING.fetch_add(1, Ordering::Relaxed);
            left.push(fd);
        }
    });
}

/// Waits at most [`MAX_WAIT`] until other threads have closed the descriptors of their jobs. Returns
/// true if there were any, even if the time ran out: the write is worth another attempt.
pub(crate) fn wait_for_closes() -> bool {
    let own = OF_JOB.with_borrow(|left| left.as_ref().map_or(0, Vec::len));
    let are_closed = || PENDING.load(Ordering::Relaxed) <= own;
    if are_closed() {
        return false;
    }
    let started = Instant::now();
    while !are_closed() && started.elapsed() < MAX_WAIT {
        std::thread::yield_now();
    }
    true
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    /// Returns a descriptor, and a function that reports whether it is closed.
    fn watched() -> (OwnedFd, impl Fn() -> bool) {
        let (read, write) = UnixStream::pair().unwrap();
        read.set_nonblocking(true).unwrap();
        (write.into(), move || matches!((&read).read(&mut [0]), Ok(0)))
    }

    #[test]
    fn a_job_closes_after_its_end_also_when_it_panics_and_other_code_at_once() {
        let (fd, is_closed) = watched();
        close_after_job(fd);
        assert!(is_closed());
        for panics in [false, true] {
            let (fd, is_closed) = watched();
            run_job(|| {
                close_after_job(fd);
                assert!(!is_closed());
                assert!(!panics, "as the test wants it");
            });
            assert!(is_closed());
        }
    }

    #[test]
    fn a_full_disk_waits_for_what_other_threads_free() {
        let (fd, is_closed) = watched();
        let (told, left) = std::sync::mpsc::channel();
        let other = std::thread::spawn(move || {
            run_job(move || {
                close_after_job(fd);
                told.send(()).unwrap();
                std::thread::sleep(Duration::from_millis(20));
            });
        });
        left.recv().unwrap();
        run_job(|| {
            let (own, _) = watched();
            close_after_job(own);
            assert!(wait_for_closes());
        });
        assert!(is_closed());
        other.join().unwrap();
    }
}
