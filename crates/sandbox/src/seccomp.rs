//! The system call filter (seccomp) of a command. It refuses sockets of the network, Unix sockets
//! that could be connected to other programs, data that is reached by a key and no path (keyrings,
//! System V IPC, message queues), mounts, calls by which the filter could be evaded (`io_uring`,
//! access to other processes, other calling conventions), and calls that the host forbids. Landlock
//! restricts none of these. A program in namespaces of its own (`bare`) has IPC of its own and sees
//! only the sockets of its mounts. Uses `unsafe` for passing the filter to the kernel, closing
//! descriptors, and dropping capabilities.

use std::io;

use filewright_core::{Code, Error, Result};
use libc::{c_long, sock_filter};

use crate::spec::Permissions;
use crate::syscalls::call_numbers;

#[cfg(target_arch = "x86_64")]
const AUDIT_ARCHITECTURE: Option<u32> = Some(0xC000_003E);
#[cfg(target_arch = "aarch64")]
const AUDIT_ARCHITECTURE: Option<u32> = Some(0xC000_00B7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const AUDIT_ARCHITECTURE: Option<u32> = None;

/// The bit that is set in the number of a system call in the x32 convention of x86_64 kernels.
const X32_BIT: u32 = 0x4000_0000;

/// The calls that mount file systems. A command in namespaces of its own could mount those of the
/// kernel anew, such as the control groups, whose files belong to the user of the host.
const MOUNT_CALLS: [c_long; 8] = [
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
];
/// The calls that reach the keyrings of the user, which a process passes on to those it starts.
const KEYRING_CALLS: [c_long; 3] = [libc::SYS_add_key, libc::SYS_request_key, libc::SYS_keyctl];
/// The calls that reach memory and messages of other programs by a number or name, which Landlock
/// does not restrict: System V IPC and POSIX message queues.
const IPC_CALLS: [c_long; 13] = [
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];
/// The calls that make sockets without a call of `socket`, or take those of other processes.
const RING_CALLS: [c_long; 4] = [
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_pidfd_getfd,
];
/// The calls that control other processes, which may be on the network.
const PROCESS_CALLS: [c_long; 3] =
    [libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev];

/// The codes of the BPF instructions that the filter uses.
const BPF_LOAD: u16 = 0x20;
const BPF_JUMP_EQUAL: u16 = 0x15;
const BPF_JUMP_AT_LEAST: u16 = 0x35;
const BPF_RETURN: u16 = 0x06;

const BPF_AND: u16 = 0x54;

/// The results of the filter: the call runs, fails with `EPERM` or `EACCES`, or the process is
/// killed.
const FILTER_ALLOW: u32 = 0x7FFF_0000;
const FILTER_EACCES: u32 = 0x0005_0000 | libc::EACCES as u32;
const FILTER_EPERM: u32 = 0x0005_0000 | libc::EPERM as u32;
const FILTER_KILL: u32 = 0x8000_0000;

/// The offset of the number of the call in `seccomp_data`, the kernel's record of a call.
const CALL_NUMBER_OFFSET: u32 = 0;
/// The offset of the processor architecture in `seccomp_data`.
const ARCHITECTURE_OFFSET: u32 = 4;
/// The offset of the low half of the first argument in `seccomp_data`.
const FIRST_ARGUMENT_OFFSET: u32 = 16;
/// The offset of the low half of the second argument in `seccomp_data`.
const SECOND_ARGUMENT_OFFSET: u32 = 24;
/// The bits of a socket's type that are not flags.
const SOCKET_TYPE_MASK: u32 = 0xF;

/// Returns an instruction. For a jump, `yes` and `no` are the numbers of instructions to skip.
fn bpf_instruction(code: u16, value: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter { code, jt: yes, jf: no, k: value }
}

fn call_number(call: c_long) -> u32 {
    // System call numbers are small on every architecture.
    call as u32
}

/// Returns the filter as a BPF program; it also refuses the calls with the numbers in `forbidden`.
fn filter_program(architecture: u32, spec: &Permissions, forbidden: &[u32]) -> Vec<sock_filter> {
    let mut steps = vec![
        bpf_instruction(BPF_LOAD, ARCHITECTURE_OFFSET, 0, 0),
        bpf_instruction(BPF_JUMP_EQUAL, architecture, 1, 0),
        bpf_instruction(BPF_RETURN, FILTER_KILL, 0, 0),
        bpf_instruction(BPF_LOAD, CALL_NUMBER_OFFSET, 0, 0),
        bpf_instruction(BPF_JUMP_AT_LEAST, X32_BIT, 0, 1),
        bpf_instruction(BPF_RETURN, FILTER_EPERM, 0, 0),
    ];
    let refused: [(bool, &[c_long]); 5] = [
        (true, &MOUNT_CALLS),
        (true, &KEYRING_CALLS),
        // A program in namespaces of its own has its own.
        (!spec.bare, &IPC_CALLS),
        (!spec.network || !spec.sockets, &RING_CALLS),
        (!spec.network, &PROCESS_CALLS),
    ];
    let refused = refused.iter().filter(|(applies, _)| *applies).flat_map(|(_, calls)| *calls);
    let refused = refused.map(|call| call_number(*call));
    for call in refused.chain(forbidden.iter().copied()) {
        steps.push(bpf_instruction(BPF_JUMP_EQUAL, call, 0, 1));
        steps.push(bpf_instruction(BPF_RETURN, FILTER_EPERM, 0, 0));
    }
    // The answer to a socket that is no Unix socket, and the instructions for those that are.
    let others = if spec.network { FILTER_ALLOW } else { FILTER_EPERM };
    steps.extend([
        bpf_instruction(BPF_JUMP_EQUAL, call_number(libc::SYS_socket), 2, 0),
        bpf_instruction(BPF_JUMP_EQUAL, call_number(libc::SYS_socketpair), 5, 0),
        bpf_instruction(BPF_RETURN, FILTER_ALLOW, 0, 0),
        bpf_instruction(BPF_LOAD, FIRST_ARGUMENT_OFFSET, 0, 0),
        bpf_instruction(BPF_JUMP_EQUAL, libc::AF_UNIX as u32, 1, 0),
        bpf_instruction(BPF_RETURN, others, 0, 0),
        bpf_instruction(BPF_RETURN, unix_socket_answer(spec), 0, 0),
        bpf_instruction(BPF_LOAD, FIRST_ARGUMENT_OFFSET, 0, 0),
        bpf_instruction(BPF_JUMP_EQUAL, libc::AF_UNIX as u32, 1, 0),
        bpf_instruction(BPF_RETURN, others, 0, 0),
        // A pair of streams is connected and stays so. A datagram socket of a pair can be
        // connected to a named one, or send to it.
        bpf_instruction(BPF_LOAD, SECOND_ARGUMENT_OFFSET, 0, 0),
        bpf_instruction(BPF_AND, SOCKET_TYPE_MASK, 0, 0),
        bpf_instruction(BPF_JUMP_EQUAL, libc::SOCK_STREAM as u32, 2, 0),
        bpf_instruction(BPF_JUMP_EQUAL, libc::SOCK_SEQPACKET as u32, 1, 0),
        bpf_instruction(BPF_RETURN, unix_socket_answer(spec), 0, 0),
        bpf_instruction(BPF_RETURN, FILTER_ALLOW, 0, 0),
    ]);
    steps
}

/// Returns the answer to a Unix socket that can be connected to that of another program.
fn unix_socket_answer(spec: &Permissions) -> u32 {
    if spec.sockets { FILTER_ALLOW } else { FILTER_EACCES }
}

/// Returns the filter for a command on this processor architecture.
///
/// # Errors
/// `SANDBOX_SETUP_FAILED` if seccomp is missing, `INVALID_ARGUMENT` for an unknown call.
pub(crate) fn build_filter(spec: &Permissions) -> Result<Vec<sock_filter>> {
    let forbidden = call_numbers(&spec.forbid)?;
    let Some(architecture) = AUDIT_ARCHITECTURE else {
        let what = "there is no filter of system calls for this processor";
        return Err(Error::new(Code::SandboxSetupFailed, what));
    };
    Ok(filter_program(architecture, spec, &forbidden))
}

/// Returns the filter as bytes, for a program that reads it from a descriptor and applies it
/// itself, as bubblewrap does.
pub(crate) fn filter_bytes(steps: &[sock_filter]) -> Vec<u8> {
    let step_bytes = |step: &sock_filter| {
        let mut bytes = [0; 8];
        bytes[..2].copy_from_slice(&step.code.to_ne_bytes());
        bytes[2] = step.jt;
        bytes[3] = step.jf;
        bytes[4..].copy_from_slice(&step.k.to_ne_bytes());
        bytes
    };
    steps.iter().flat_map(step_bytes).collect()
}

/// Applies the filter to the calling thread permanently; child processes inherit it. The thread
/// must have called `try_no_new_privileges` before.
///
/// # Errors
/// The kernel's error.
pub(crate) fn apply_filter(steps: &[sock_filter]) -> io::Result<()> {
    let len = u16::try_from(steps.len()).unwrap_or(u16::MAX);
    let program = libc::sock_fprog { len, filter: steps.as_ptr().cast_mut() };
    // SAFETY: `program` describes `steps`, which outlives the call; the kernel copies it.
    let done = unsafe {
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program, 0, 0)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Marks every descriptor except 0, 1 and 2 to be closed when a program is executed.
pub(crate) fn close_on_exec() {
    const CLOEXEC: u32 = 1 << 2;
    // SAFETY: only sets a flag on descriptors; nothing is closed in this process. Without the call,
    // the descriptors keep the same flag from the runtime.
    let _ = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, CLOEXEC) };
}

/// Drops all capabilities of the calling thread permanently: a command of root has root's files,
/// but no power over files and processes of other users.
///
/// # Errors
/// The kernel's error.
pub(crate) fn drop_capabilities() -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    const VERSION_3: u32 = 0x2008_0522;
    const NOROOT_LOCKED: i32 = 0b11;
    let header = Header { version: VERSION_3, pid: 0 };
    let none = [0_u32; 6];
    // SAFETY: numbers, and structures that outlive the call. The first three calls may fail without
    // capabilities; then there is nothing to drop.
    let done = unsafe {
        for capability in 0..64 {
            libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
        }
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        libc::prctl(libc::PR_SET_SECUREBITS, NOROOT_LOCKED, 0, 0, 0);
        libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr())
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
