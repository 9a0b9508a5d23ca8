//! The filter on system calls: no sockets but Unix ones, no way around it
//! (`io_uring`, other processes, other calling conventions). The unsafe module
//! of this crate: handing the filter to the kernel, and closing descriptors.

use filewright_core::{Code, Error, Result};
use libc::{c_long, sock_filter};

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: Option<u32> = Some(0xC000_003E);
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: Option<u32> = Some(0xC000_00B7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: Option<u32> = None;

/// Calls by the x32 convention of 64-bit Intel kernels have this bit.
const X32: u32 = 0x4000_0000;

/// Refused with EPERM whatever their arguments.
const REFUSED: [c_long; 6] = [
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
];

const LOAD: u16 = 0x20;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7FFF_0000;
const EPERM: u32 = 0x0005_0000 | libc::EPERM as u32;
const KILL: u32 = 0x8000_0000;

/// Where the kernel's record of a call has its number, its architecture, and the
/// low half of its first argument.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;

fn step(code: u16, value: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter { code, jt: yes, jf: no, k: value }
}

fn number_of(call: c_long) -> u32 {
    // Numbers of calls are small on every architecture.
    call as u32
}

/// The filter as a program.
fn program(architecture: u32) -> Vec<sock_filter> {
    let mut steps = vec![
        step(LOAD, ARCH, 0, 0),
        step(JUMP_EQUAL, architecture, 1, 0),
        step(RETURN, KILL, 0, 0),
        step(LOAD, NUMBER, 0, 0),
        step(JUMP_AT_LEAST, X32, 0, 1),
        step(RETURN, EPERM, 0, 0),
    ];
    for call in REFUSED {
        steps.push(step(JUMP_EQUAL, number_of(call), 0, 1));
        steps.push(step(RETURN, EPERM, 0, 0));
    }
    steps.extend([
        step(JUMP_EQUAL, number_of(libc::SYS_socket), 2, 0),
        step(JUMP_EQUAL, number_of(libc::SYS_socketpair), 1, 0),
        step(RETURN, ALLOW, 0, 0),
        step(LOAD, FIRST_ARGUMENT, 0, 0),
        step(JUMP_EQUAL, libc::AF_UNIX as u32, 0, 1),
        step(RETURN, ALLOW, 0, 0),
        step(RETURN, EPERM, 0, 0),
    ]);
    steps
}

/// Puts the filter on the calling thread, for good; what it starts inherits it.
/// The thread has given up new privileges before.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED`.
pub(crate) fn close_network() -> Result<()> {
    let Some(architecture) = ARCHITECTURE else {
        return Err(Error::new(
            Code::SandboxSetupFailed,
            "there is no filter of system calls for this processor",
        ));
    };
    let steps = program(architecture);
    let len = u16::try_from(steps.len()).unwrap_or(u16::MAX);
    let program = libc::sock_fprog { len, filter: steps.as_ptr().cast_mut() };
    // SAFETY: `program` describes `steps`, which outlives the call; the kernel copies it.
    let done = unsafe {
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program, 0, 0)
    };
    if done == 0 {
        return Ok(());
    }
    let why = std::io::Error::last_os_error();
    Err(Error::new(
        Code::SandboxSetupFailed,
        format!("the kernel refuses a filter of system calls: {why}"),
    ))
}

/// Marks every descriptor beyond the standard ones to be closed in programs that
/// are started.
pub(crate) fn keep_descriptors() {
    const CLOEXEC: u32 = 1 << 2;
    // SAFETY: only sets a flag on descriptors; nothing is closed in this process.
    // A kernel without the call leaves them as the runtime made them: closed as well.
    let _ = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, CLOEXEC) };
}
