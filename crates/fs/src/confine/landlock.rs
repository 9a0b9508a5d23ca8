//! Landlock, the Linux interface by which a thread restricts its own access to files, by its three
//! system calls. They need `unsafe`, because they take the kernel's structures and raw descriptors.
//!
//! A ruleset names the rights that it handles. The thread that restricts itself, and all threads
//! that it starts, keep a handled right only where a rule allows it.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use filewright_core::{Code, Error, Result};

/// The rights for files, as bits of the kernel's `LANDLOCK_ACCESS_FS_*`.
pub mod fs {
    /// Execute a file.
    pub const EXECUTE: u64 = 1;
    /// Open for reading; list a directory.
    pub const READ: u64 = 1 << 2 | 1 << 3;
    /// Open for writing, truncate, remove, move, and create everything except devices.
    pub const WRITE: u64 =
        1 << 1 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 12 | 1 << 13 | 1 << 14;
    /// The rights that a rule for an entry that is not a directory can allow.
    pub const FILE: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15;
}

/// Returns the rights that a version of Landlock can handle: for files, for TCP, and for reaching
/// other processes.
fn supported_landlock_rights(abi: u32) -> (u64, u64, u64) {
    let files = match abi {
        0 | 1 => (1 << 13) - 1,
        2 => (1 << 14) - 1,
        3 | 4 => (1 << 15) - 1,
        _ => (1 << 16) - 1,
    };
    let tcp = if abi >= 4 { 0b11 } else { 0 };
    // The scopes forbid connecting to abstract Unix sockets of processes that are not restricted by
    // the same ruleset, and sending signals to such processes.
    let scoped = if abi >= 6 { 0b11 } else { 0 };
    (files, tcp, scoped)
}

#[repr(C)]
struct RulesetAttr {
    handled_access_fs: u64,
    handled_access_net: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct PathBeneathAttr {
    allowed_access: u64,
    parent_fd: i32,
}

/// Returns the version (ABI) of the kernel's Landlock interface; 0 without Landlock.
pub fn landlock_abi() -> u32 {
    const VERSION: u32 = 1;
    // SAFETY: asks for the version; no pointer is passed.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<RulesetAttr>(),
            0_usize,
            VERSION,
        )
    };
    u32::try_from(version).unwrap_or(0)
}

/// A set of rules: the rights that threads keep when they restrict themselves with it.
#[derive(Debug)]
pub struct Ruleset {
    fd: OwnedFd,
    files: u64,
}

impl Ruleset {
    /// Creates a ruleset without rules that handles all rights for files. With `strict`, it also
    /// handles TCP, signals and abstract Unix sockets, as far as the kernel supports that.
    ///
    /// # Errors
    /// `SANDBOX_SETUP_FAILED` if the kernel has no Landlock.
    pub fn new(strict: bool) -> Result<Self> {
        let version = landlock_abi();
        if version == 0 {
            return Err(last_os_setup_error("the kernel has no Landlock"));
        }
        let (files, net, scoped) = supported_landlock_rights(version);
        let (net, scoped) = if strict { (net, scoped) } else { (0, 0) };
        let attr = RulesetAttr { handled_access_fs: files, handled_access_net: net, scoped };
        // Older kernels take a shorter structure, without the fields they do not know.
        let size: usize = match version {
            ..4 => 8,
            4..6 => 16,
            _ => 24,
        };
        // SAFETY: `attr` is a structure of at least `size` bytes and outlives the call.
        let raw = unsafe {
            libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attr, size, 0_u32)
        };
        let Ok(raw @ 0..) = i32::try_from(raw) else {
            return Err(last_os_setup_error("the kernel refuses a Landlock ruleset"));
        };
        // SAFETY: the kernel just returned this descriptor, and nothing else owns it.
        Ok(Self { fd: unsafe { OwnedFd::from_raw_fd(raw) }, files })
    }

    /// Adds a rule: allows rights on a file, or on a directory and everything below it.
    ///
    /// # Errors
    /// `SANDBOX_SETUP_FAILED` with the kernel's error.
    pub fn allow(&self, place: BorrowedFd<'_>, rights: u64) -> Result<()> {
        self.try_allow(place, rights)
            .map_err(|why| sandbox_setup_error("the kernel refuses a Landlock rule", &why))
    }

    /// Does the same as [`Ruleset::allow`], without allocating memory, for a process between fork
    /// and exec.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn try_allow(&self, place: BorrowedFd<'_>, rights: u64) -> io::Result<()> {
        const PATH_BENEATH: u32 = 1;
        let attr =
            PathBeneathAttr { allowed_access: rights & self.files, parent_fd: place.as_raw_fd() };
        // SAFETY: `attr` is the structure of this kind of rule and outlives the call.
        let done = unsafe {
            libc::syscall(
                libc::SYS_landlock_add_rule,
                self.fd.as_raw_fd(),
                PATH_BENEATH,
                &raw const attr,
                0_u32,
            )
        };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Restricts the calling thread permanently; threads and processes that it starts inherit the
    /// restriction.
    ///
    /// # Errors
    /// `SANDBOX_SETUP_FAILED` with the kernel's error.
    pub fn restrict_self(&self) -> Result<()> {
        no_new_privileges()?;
        self.try_restrict_self()
            .map_err(|why| sandbox_setup_error("the kernel does not restrict the thread", &why))
    }

    /// Does the same as [`Ruleset::restrict_self`], without allocating memory, for a process
    /// between fork and exec that has already called [`try_no_new_privileges`].
    ///
    /// # Errors
    /// The kernel's error.
    pub fn try_restrict_self(&self) -> io::Result<()> {
        // SAFETY: the call takes a descriptor and a number, no pointer.
        let done =
            unsafe { libc::syscall(libc::SYS_landlock_restrict_self, self.fd.as_raw_fd(), 0_u32) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// Prevents the calling thread from gaining privileges by executing a program, such as one with
/// set-user-id.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
pub fn no_new_privileges() -> Result<()> {
    try_no_new_privileges()
        .map_err(|why| sandbox_setup_error("the kernel keeps privileges open", &why))
}

/// Does the same as [`no_new_privileges`], without allocating memory, for a process between fork
/// and exec.
///
/// # Errors
/// The kernel's error.
pub fn try_no_new_privileges() -> io::Result<()> {
    // SAFETY: takes numbers.
    let done = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn last_os_setup_error(what: &str) -> Error {
    sandbox_setup_error(what, &io::Error::last_os_error())
}

fn sandbox_setup_error(what: &str, why: &io::Error) -> Error {
    Error::new(Code::SandboxSetupFailed, format!("{what}: {why}"))
}
