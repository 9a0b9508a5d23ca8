//! Threads that Landlock never restricts, for the few reads and renames outside the roots that this
//! crate makes for itself. A thread inherits the restriction of the one that starts it, so a helper starts
//! before the first restricted thread.

use std::sync::OnceLock;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

type Job = Box<dyn FnOnce() + Send>;

/// The maximum time to wait for a helper. A file system that does not answer keeps its thread, and
/// callers go on without the result.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// The maximum number of waiting jobs. Beyond it, a job is not run.
const MAX_JOBS: usize = 64;

/// The thread that moves large files out of the roots and back (`write/keep.rs`).
pub(crate) static KEPT_FILE_MOVER: Helper = Helper::new("filewright-kept");

/// A thread that runs jobs one after the other.
pub(crate) struct Helper {
    name: &'static str,
    /// Empty before [`Helper::start`]; `None` inside if the thread could not be started.
    jobs: OnceLock<Option<SyncSender<Job>>>,
}

impl Helper {
    /// Creates a helper that is not started.
    pub const fn new(name: &'static str) -> Self {
        Self { name, jobs: OnceLock::new() }
    }

    /// Starts the thread, once. Called before threads are restricted.
    #[cfg(target_os = "linux")]
    pub fn start(&self) {
        self.jobs.get_or_init(|| {
            let (jobs, wanted) = sync_channel::<Job>(MAX_JOBS);
            let run = move || wanted.into_iter().for_each(|job| job());
            std::thread::Builder::new().name(self.name.to_owned()).spawn(run).ok()?;
            Some(jobs)
        });
    }

    /// Runs a job on the thread; on the calling thread while no thread is restricted. Returns `None`
    /// if the thread could not be started, or does not answer in time.
    pub fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        self.run_within(MAX_WAIT, job)
    }

    /// Does the same as [`Helper::run`], and waits for so long.
    pub fn run_within<T: Send + 'static>(
        &self,
        wait: Duration,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let Some(jobs) = self.jobs.get() else { return Some(job()) };
        let (tell, told) = sync_channel(1);
        let job = Box::new(move || drop(tell.send(job())));
        jobs.as_ref()?.try_send(job).ok()?;
        told.recv_timeout(wait).ok()
    }
}
