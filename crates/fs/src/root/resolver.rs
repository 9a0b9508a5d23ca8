//! Chooses how directories are opened: by the kernel's confined resolution if it exists, otherwise
//! one component at a time.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use rustix::fs::Mode;
use rustix::io::Errno;

use super::policy::ResolverChoice;
use crate::dir::base_directory_flags;

/// The way in which paths are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolver {
    /// One system call resolves a path below a descriptor and fails at a link: `openat2` on Linux,
    /// `open` with `O_NOFOLLOW_ANY` on macOS.
    Kernel,
    /// One directory is opened after the other. The text is the reason why the kernel's way is not
    /// used.
    Walk(&'static str),
}

impl Resolver {
    /// Returns the resolver for a policy. Whether the kernel's works is tested once per process;
    /// the environment variable `FILEWRIGHT_RESOLVER=walk` excludes it.
    pub(crate) fn choose(choice: ResolverChoice) -> Self {
        static FOUND: OnceLock<Resolver> = OnceLock::new();
        if choice == ResolverChoice::Walk {
            return Resolver::Walk("chosen by the caller");
        }
        *FOUND.get_or_init(|| match std::env::var_os("FILEWRIGHT_RESOLVER") {
            Some(value) if value == "walk" => Resolver::Walk("FILEWRIGHT_RESOLVER=walk"),
            _ => probe_kernel_resolver(),
        })
    }

    /// Returns the name shown by `capabilities`.
    pub fn name(self) -> &'static str {
        match self {
            Resolver::Kernel if cfg!(target_os = "linux") => "openat2",
            Resolver::Kernel => "nofollow_any",
            Resolver::Walk(_) => "walk",
        }
    }

    /// Returns the reason why the kernel's resolver is not used; `None` if it is.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Resolver::Kernel => None,
            Resolver::Walk(reason) => Some(reason),
        }
    }
}

/// The maximum length of a path in one system call, in bytes. A longer one is opened in several
/// calls.
const MAX_SYSCALL_PATH_BYTES: usize = 4095;

/// Does the same as [`open_beneath`], for a path of any length, in as few calls as possible.
pub(crate) fn open_far_beneath(dir: BorrowedFd<'_>, path: &[u8]) -> rustix::io::Result<OwnedFd> {
    let mut rest = path;
    let mut at: Option<OwnedFd> = None;
    loop {
        let cut = if rest.len() <= MAX_SYSCALL_PATH_BYTES {
            rest.len()
        } else {
            memchr::memrchr(b'/', &rest[..MAX_SYSCALL_PATH_BYTES]).ok_or(Errno::NAMETOOLONG)?
        };
        let next = open_beneath(at.as_ref().map_or(dir, AsFd::as_fd), &rest[..cut])?;
        if cut == rest.len() {
            return Ok(next);
        }
        rest = &rest[cut + 1..];
        at = Some(next);
    }
}

/// Opens a directory below another by a relative path of plain names. Returns `LOOP` if there is a
/// link on the way.
#[cfg(target_os = "linux")]
fn open_beneath(dir: BorrowedFd<'_>, path: &[u8]) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    const RESOLVE_FLAGS: ResolveFlags =
        ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS).union(ResolveFlags::NO_SYMLINKS);
    // A rename anywhere on the system can make the kernel return EAGAIN. Measured at 0.1 % of opens
    // during continuous renames; none failed after retries.
    let mut tries = 0;
    loop {
        match rustix::fs::openat2(dir, path, base_directory_flags(), Mode::empty(), RESOLVE_FLAGS) {
            Err(Errno::AGAIN) if tries < 128 => tries += 1,
            result => return result,
        }
    }
}

/// Opens a directory below another by a relative path of plain names. Returns `LOOP` if there is a
/// link on the way. Without `..` and links, a relative path cannot leave the directory it starts
/// from.
#[cfg(target_vendor = "apple")]
fn open_beneath(dir: BorrowedFd<'_>, path: &[u8]) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::OFlags;

    // The kernel rejects the two no-follow flags together.
    let flags = base_directory_flags().difference(OFlags::NOFOLLOW) | OFlags::NOFOLLOW_ANY;
    rustix::fs::openat(dir, path, flags, Mode::empty())
}

/// Not available on this platform; the resolver is the walk.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn open_beneath(_: BorrowedFd<'_>, _: &[u8]) -> rustix::io::Result<OwnedFd> {
    Err(Errno::NOSYS)
}

/// Tests on the directory `/` whether the kernel's resolver works.
fn probe_kernel_resolver() -> Resolver {
    let Ok(slash) = rustix::fs::open("/", base_directory_flags(), Mode::empty()) else {
        return Resolver::Walk("the root directory cannot be opened");
    };
    match open_beneath(slash.as_fd(), b".") {
        Ok(_) => Resolver::Kernel,
        Err(Errno::NOSYS) => Resolver::Walk("the kernel has no openat2"),
        Err(Errno::PERM | Errno::ACCESS) => Resolver::Walk("openat2 is forbidden by a sandbox"),
        Err(_) => Resolver::Walk("openat2 does not work here"),
    }
}
