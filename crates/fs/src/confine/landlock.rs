//! Landlock by its three system calls. The one module of this crate that is
//! unsafe: the kernel's structures and descriptors, and nothing else.
//!
//! A ruleset names everything it handles; what it handles and no rule allows is
//! refused, to the thread that restricts itself and to all it starts.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use filewright_core::{Code, Error, Result};

/// Rights over files, as the kernel numbers them.
pub mod fs {
    /// Run a file.
    pub const EXECUTE: u64 = 1;
    /// Open to read, list.
    pub const READ: u64 = 1 << 2 | 1 << 3;
    /// Open to write, remove, and make what is not a device.
    pub const WRITE: u64 =
        1 << 1 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 12 | 1 << 13 | 1 << 14;
    /// What a rule on something other than a directory can allow.
    pub const FILE: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15;
}

/// What a version of the interface can handle.
fn handled(abi: u32) -> (u64, u64, u64) {
    let files = match abi {
        0 | 1 => (1 << 13) - 1,
        2 => (1 << 14) - 1,
        3 | 4 => (1 << 15) - 1,
        _ => (1 << 16) - 1,
    };
    let tcp = if abi >= 4 { 0b11 } else { 0 };
    // Abstract Unix sockets and signals to processes outside.
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

/// The version of the interface that the kernel has; 0 where it has none.
pub fn abi() -> u32 {
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

/// What threads that restrict themselves may still do.
#[derive(Debug)]
pub struct Ruleset {
    fd: OwnedFd,
    files: u64,
}

impl Ruleset {
    /// Handles all rights over files. With `strict` also TCP, and signals and
    /// abstract sockets to processes outside, as far as the kernel can.
    ///
    /// # Errors
    /// `SANDBOX_SETUP_FAILED` where the kernel has no Landlock.
    pub fn new(strict: bool) -> Result<Self> {
        let version = abi();
        if version == 0 {
            return Err(failed("the kernel has no Landlock"));
        }
        let (files, net, scoped) = handled(version);
        let (net, scoped) = if strict { (net, scoped) } else { (0, 0) };
        let attr = RulesetAttr { handled_access_fs: files, handled_access_net: net, scoped };
        // Kernels before a field knew it take the structure without it.
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
            return Err(failed("the kernel refuses a Landlock ruleset"));
        };
        // SAFETY: the kernel just gave us this descriptor, and nobody else has it.
        Ok(Self { fd: unsafe { OwnedFd::from_raw_fd(raw) }, files })
    }

    /// Allows rights beneath a directory, or on a file.
    ///
    /// # Errors
    /// `SANDBOX_SETUP_FAILED` with what the kernel says.
    pub fn allow(&self, place: BorrowedFd<'_>, rights: u64) -> Result<()> {
        self.try_allow(place, rights)
            .map_err(|why| refused("the kernel refuses a Landlock rule", &why))
    }

    /// [`Ruleset::allow`] without an allocation, for a process between fork and exec.
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

    /// Restricts the calling thread, for good; what it starts inherits that.
    ///
    /// # Errors
    /// `SANDBOX_SETUP_FAILED` with what the kernel says.
    pub fn restrict_self(&self) -> Result<()> {
        no_new_privileges()?;
        self.try_restrict_self()
            .map_err(|why| refused("the kernel does not restrict the thread", &why))
    }

    /// [`Ruleset::restrict_self`] without an allocation, for a process between fork and
    /// exec that has given up new privileges already.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn try_restrict_self(&self) -> io::Result<()> {
        // SAFETY: takes a descriptor and a number.
        let done =
            unsafe { libc::syscall(libc::SYS_landlock_restrict_self, self.fd.as_raw_fd(), 0_u32) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// Gives up, for the calling thread, that a program could have more rights.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
pub fn no_new_privileges() -> Result<()> {
    try_no_new_privileges().map_err(|why| refused("the kernel keeps privileges open", &why))
}

/// [`no_new_privileges`] without an allocation, for a process between fork and exec.
///
/// # Errors
/// The kernel's error.
pub fn try_no_new_privileges() -> io::Result<()> {
    // SAFETY: takes numbers.
    let done = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn failed(what: &str) -> Error {
    refused(what, &io::Error::last_os_error())
}

fn refused(what: &str, why: &io::Error) -> Error {
    Error::new(Code::SandboxSetupFailed, format!("{what}: {why}"))
}
