//! A second layer of defence below the resolver: Landlock restricts the threads that access files
//! to the roots of their policy, so that a bug in the resolver opens nothing outside either.
//!
//! It cannot replace the resolver, because the kernel restricts only some operations, such as
//! opening. Metadata and permission bits of outside files stay accessible.

#[cfg(target_os = "linux")]
pub mod landlock;
#[cfg(target_os = "linux")]
mod pool;
#[cfg(not(target_os = "linux"))]
#[path = "pool_unsupported.rs"]
mod pool;
#[cfg(target_os = "linux")]
mod queue;

mod refusal;

use std::sync::Arc;

use filewright_core::Result;
#[cfg(not(target_os = "linux"))]
use filewright_core::{Code, Error};

pub use pool::Pool;

use crate::root::{Kernel, Roots};

/// The group of threads of a pool that runs a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// The threads for jobs that access one file or directory.
    Quick,
    /// The threads for jobs that walk a tree, or read a whole file of any size.
    Scan,
}

/// How far the kernel enforces the roots of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforced {
    /// Nothing outside the roots can be opened.
    Fully,
    /// Some files outside the roots can be opened, but not all.
    Partly,
    /// Nothing is restricted.
    Not,
}

impl Enforced {
    /// Returns `enforced`, `partial` or `none`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fully => "enforced",
            Self::Partly => "partial",
            Self::Not => "none",
        }
    }
}

/// The threads that access files for a policy, and how far the kernel restricts them.
#[derive(Clone, Debug)]
pub struct Confinement {
    /// The threads.
    pub pool: Arc<Pool>,
    /// How far the kernel restricts the threads.
    pub enforced: Enforced,
    /// The version of Landlock; 0 without it.
    pub abi: u32,
    /// The reason why enforcement is less than requested; `None` if it is not.
    pub reason: Option<String>,
}

impl Confinement {
    /// Returns the threads for a policy, started or shared with roots of equal restrictions.
    ///
    /// # Errors
    /// `SANDBOX_SETUP_FAILED` if confinement is required and not available.
    pub fn of(roots: &Roots, kernel: Kernel) -> Result<Self> {
        if kernel == Kernel::Off {
            return Ok(Self::none(0, None));
        }
        match restrict_to_roots(roots) {
            Ok(confinement) => Ok(confinement),
            Err(error) if kernel == Kernel::Require => Err(error),
            Err(error) => Ok(Self::none(landlock_abi(), Some(error.message.to_string()))),
        }
    }

    /// Returns a confinement whose threads are not restricted, with the reason.
    fn none(abi: u32, reason: Option<String>) -> Self {
        Self { pool: Pool::unrestricted(), enforced: Enforced::Not, abi, reason }
    }
}

#[cfg(target_os = "linux")]
fn landlock_abi() -> u32 {
    landlock::landlock_abi()
}

#[cfg(not(target_os = "linux"))]
fn landlock_abi() -> u32 {
    0
}

#[cfg(not(target_os = "linux"))]
fn restrict_to_roots(_roots: &Roots) -> Result<Confinement> {
    Err(Error::new(Code::SandboxSetupFailed, "this system cannot restrict single threads"))
}

#[cfg(target_os = "linux")]
fn restrict_to_roots(roots: &Roots) -> Result<Confinement> {
    use filewright_core::{Code, Error};
    use pool::AllowedPlace;

    use crate::dir::errno::os_error;
    use crate::dir::stat::Stat;

    let abi = landlock::landlock_abi();
    // With version 1, a restricted thread cannot move files between directories.
    if abi < 2 {
        return Err(Error::new(Code::SandboxSetupFailed, "the kernel has no usable Landlock"));
    }
    if roots.follows_anywhere() {
        return Err(Error::new(Code::SandboxSetupFailed, "links may lead anywhere by this policy"));
    }
    // What restricted threads cannot read is read now, or by threads that are started now.
    crate::process::start_procfs_reader();
    crate::walk::start_outside_reader();
    crate::helper::KEPT_FILE_MOVER.start();
    refusal::cache_security_label();
    let mut whole = true;
    let mut allowed = Vec::new();
    for (directory, exact, write) in roots.places() {
        let rights =
            if write { landlock::fs::READ | landlock::fs::WRITE } else { landlock::fs::READ };
        let Stat { dev, ino, .. } = Stat::of(directory).map_err(os_error)?;
        allowed.push(AllowedPlace { directory: Arc::clone(directory), dev, ino, rights });
        whole &= exact;
    }
    let pool = Pool::shared(allowed)?;
    let reason = if !whole {
        Some("a root is a single file, or not there yet: its directory is open to the kernel")
    } else if abi < 3 {
        Some("this kernel cannot keep files from being truncated")
    } else {
        None
    };
    let enforced = if reason.is_none() { Enforced::Fully } else { Enforced::Partly };
    Ok(Confinement { pool, enforced, abi, reason: reason.map(str::to_owned) })
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::root::Policy;

    #[test]
    fn a_restricted_thread_detects_a_reused_pid() {
        use crate::process::ProcessName;
        let tmp = tempfile::tempdir().unwrap();
        let roots = Roots::new(&Policy::workspace(tmp.path().to_str().unwrap())).unwrap();
        let confinement = Confinement::of(&roots, Kernel::Prefer).unwrap();
        let (tell, told) = channel();
        confinement.pool.submit(Lane::Quick, move || {
            let own = ProcessName::own();
            let earlier = ProcessName { started: own.started + 1, ..own.clone() };
            tell.send((own.has_ended(), earlier.has_ended())).unwrap();
        });
        assert_eq!(told.recv().unwrap(), (Some(false), Some(true)));
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the naive calls that must fail")]
    fn naive_opens_outside_fail_on_these_threads_and_nowhere_else() {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().canonicalize().unwrap().join("ws");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("in"), "in").unwrap();
        std::fs::write(root.with_file_name("out"), "out").unwrap();
        let policy = Policy::workspace(root.to_str().unwrap());
        let roots = Roots::new(&policy).unwrap();
        let confinement = Confinement::of(&roots, Kernel::Prefer).unwrap();
        if confinement.enforced == Enforced::Not {
            assert!(Confinement::of(&roots, Kernel::Require).is_err());
            return;
        }
        let (tell, told) = channel();
        let inside = root.clone();
        confinement.pool.submit(Lane::Scan, move || {
            let outside = inside.with_file_name("out");
            let moved = inside.join("moved");
            tell.send([
                std::fs::read(inside.join("in")).is_ok(),
                std::fs::write(inside.join("new"), "x").is_ok(),
                std::fs::rename(inside.join("new"), &moved).is_ok(),
                std::fs::read(&outside).is_err(),
                std::fs::write(&outside, "x").is_err(),
                std::fs::read_dir("/").is_err(),
                std::fs::rename(&moved, outside.with_extension("x")).is_err(),
                std::process::Command::new("cat").arg(&outside).output().is_err(),
            ])
            .unwrap();
        });
        assert_eq!(told.recv().unwrap(), [true; 8]);
        assert_eq!(std::fs::read(root.with_file_name("out")).unwrap(), b"out");
        let cat = std::process::Command::new("cat").arg(root.with_file_name("out")).output();
        assert_eq!(cat.unwrap().stdout, b"out");
    }

    #[test]
    fn roots_with_equal_rights_share_a_pool_and_others_do_not() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().canonicalize().unwrap();
        let of = |policy: &Policy| {
            Confinement::of(&Roots::new(policy).unwrap(), Kernel::Prefer).unwrap()
        };
        let writing = Policy::workspace(path.to_str().unwrap());
        let first = of(&writing);
        if first.enforced == Enforced::Not {
            return;
        }
        let reading = Policy { read_only: true, ..Policy::workspace(path.to_str().unwrap()) };
        assert!(Arc::ptr_eq(&first.pool, &of(&writing).pool));
        assert!(!Arc::ptr_eq(&first.pool, &of(&reading).pool));
        let gone = Arc::downgrade(&first.pool);
        drop(first);
        assert!(gone.upgrade().is_none());
    }

    #[test]
    fn quick_work_is_done_while_every_thread_for_scans_is_busy() {
        let pool = Pool::unrestricted();
        let (tell, told) = channel();
        let (hold, held) = channel::<()>();
        let held = Arc::new(std::sync::Mutex::new(held));
        for _ in 0..100 {
            let held = Arc::clone(&held);
            pool.submit(Lane::Scan, move || {
                let _ = held.lock().unwrap().recv();
            });
        }
        pool.submit(Lane::Quick, move || tell.send(()).unwrap());
        told.recv().unwrap();
        drop(hold);
    }

    #[test]
    fn everything_that_is_submitted_is_done_and_a_panic_stops_nothing() {
        let pool = Pool::unrestricted();
        let (tell, told) = channel();
        pool.submit(Lane::Quick, || panic!("a defect"));
        for number in 0..1000 {
            let tell = tell.clone();
            pool.submit(Lane::Quick, move || tell.send(number).unwrap());
        }
        let mut done: Vec<i32> = told.iter().take(1000).collect();
        done.sort_unstable();
        assert!(done.into_iter().eq(0..1000));
    }
}
