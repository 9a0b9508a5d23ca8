//! A process between the host and a command that kills every process of the command at its end.
//! Uses `unsafe` for fork, clone and signals.
//!
//! The supervisor is a fork of the host that never executes a program itself. It is the subreaper
//! of all its descendants (`PR_SET_CHILD_SUBREAPER`): a process whose parent ended becomes its
//! child instead of init's, so that neither `setsid` nor a double fork leaves the tree. When the
//! command ends, when the host requests it or when the host dies, it kills the tree until nothing
//! is left, and then exits.
//!
//! Between fork and exit nothing is allocated and no lock is taken, because other threads of the
//! host may have held the locks at the fork.

use std::ffi::{CString, c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr;

use filewright_core::{Code, Error, Result};

use crate::linux::Restrictions;
use crate::process_table::ProcessTable;
use crate::seccomp;
use crate::spec::ResourceLimits;

/// The descriptor through which a program receives the system call filter.
pub(crate) const FILTER_FD: RawFd = 9;
/// The size of the stack on which the child runs until it executes its program.
const CHILD_STACK_BYTES: usize = 256 * 1024;
/// The maximum number of attempts, 5 ms apart, to kill the tree. A process that waits for a disk
/// that does not respond cannot be killed.
const MAX_KILL_ATTEMPTS: usize = 2_000;

/// The step at which the start of a command failed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartStage {
    Directory = 1,
    Restrict = 2,
    Run = 3,
}

/// The message that the supervisor sends to the host.
pub(crate) enum SupervisorReport {
    /// The command was not started.
    Failed { stage: StartStage, errno: i32 },
    /// The command has ended with this status of `wait`, and all its other processes have ended
    /// too.
    Ended { status: i32 },
}

/// Everything that starting a command needs, allocated before the fork.
pub(crate) struct LaunchArguments {
    /// The possible paths of the program, in search order.
    pub(crate) programs: Vec<CString>,
    pub(crate) arguments: Vec<CString>,
    pub(crate) environment: Vec<CString>,
    pub(crate) directory: CString,
    pub(crate) input: OwnedFd,
    pub(crate) output: OwnedFd,
    pub(crate) errors: OwnedFd,
    /// The system call filter that the program receives at [`FILTER_FD`] and applies itself.
    pub(crate) filter: Option<OwnedFd>,
    pub(crate) restrictions: Option<Restrictions>,
    /// The descriptor by which the command joins a control group that limits its processes.
    pub(crate) group: Option<OwnedFd>,
    /// The maximum number of processes and threads of the user, for users other than root.
    pub(crate) tasks_of_user: Option<u64>,
    pub(crate) limits: ResourceLimits,
}

/// The argument of the supervisor's child, which shares the supervisor's memory until it executes
/// its program.
struct ChildArgument<'l> {
    launch: &'l LaunchArguments,
    argv: Vec<*const c_char>,
    envp: Vec<*const c_char>,
    stage: StartStage,
    errno: i32,
}

pub(crate) struct Supervisor {
    id: libc::pid_t,
    reports: OwnedFd,
}

impl Supervisor {
    /// Starts a command under a supervisor. The calling thread must live until the supervisor has
    /// ended, because the kernel treats the end of the thread as that of the host.
    pub(crate) fn start(launch: &LaunchArguments) -> Result<Self> {
        let pipe = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC);
        let (reports, sink) =
            pipe.map_err(|why| supervisor_creation_error("a pipe", &why.into()))?;
        let pointers = |list: &[CString]| -> Vec<*const c_char> {
            list.iter().map(|one| one.as_ptr()).chain([ptr::null()]).collect()
        };
        let mut child = ChildArgument {
            launch,
            argv: pointers(&launch.arguments),
            envp: pointers(&launch.environment),
            stage: StartStage::Run,
            errno: 0,
        };
        let mut stack = vec![0_u8; CHILD_STACK_BYTES];
        let mut table = ProcessTable::new();
        let host = rustix::process::getpid().as_raw_nonzero().get();
        // SAFETY: plain structures for the kernel to fill. Signals are blocked during the fork, so
        // that no signal handler of the host runs in the supervisor.
        let (before, id) = unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            (before, libc::fork())
        };
        if id == 0 {
            supervise(&mut child, &mut stack, &mut table, host, sink.as_raw_fd());
        }
        let why = io::Error::last_os_error();
        // SAFETY: the mask was filled by the call above.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut()) };
        if id < 0 {
            return Err(supervisor_creation_error("a process", &why));
        }
        Ok(Self { id, reports })
    }

    /// Returns the process id of the supervisor.
    pub(crate) fn id(&self) -> u32 {
        self.id.cast_unsigned()
    }

    /// Asks the supervisor to kill all processes. A report follows when they have ended.
    pub(crate) fn stop(&self) {
        // SAFETY: signals a child of ours that has not been waited for.
        let _ = unsafe { libc::kill(self.id, libc::SIGTERM) };
    }

    /// Returns the report; `None` if none arrives within this time; an error if the supervisor was
    /// killed.
    pub(crate) fn wait(&self, milliseconds: i32) -> Result<Option<SupervisorReport>> {
        let mut poll =
            libc::pollfd { fd: self.reports.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the call takes one structure, which outlives it.
        if unsafe { libc::poll(&raw mut poll, 1, milliseconds) } <= 0 {
            return Ok(None);
        }
        let mut bytes = [0_u8; 8];
        let count = rustix::io::read(&self.reports, &mut bytes).unwrap_or(0);
        if count < bytes.len() {
            return Err(Error::new(Code::IoError, "what supervises the command was killed"));
        }
        let [a, b, c, d, rest @ ..] = bytes;
        let value = i32::from_ne_bytes(rest);
        Ok(Some(match i32::from_ne_bytes([a, b, c, d]) {
            1 => SupervisorReport::Failed { stage: StartStage::Directory, errno: value },
            2 => SupervisorReport::Failed { stage: StartStage::Restrict, errno: value },
            3 => SupervisorReport::Failed { stage: StartStage::Run, errno: value },
            _ => SupervisorReport::Ended { status: value },
        }))
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        let mut status = 0;
        // SAFETY: a child of ours, waited for once. It exits after its report, and a hanging one
        // would block this thread forever.
        unsafe {
            libc::kill(self.id, libc::SIGKILL);
            while libc::waitpid(self.id, &raw mut status, 0) < 0
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
        }
    }
}

fn supervisor_creation_error(what: &str, why: &io::Error) -> Error {
    Error::new(Code::IoError, format!("{what} for the command cannot be made: {why}"))
}

/// The main function of the supervisor; it never returns to the host's code.
fn supervise(
    child: &mut ChildArgument<'_>,
    stack: &mut [u8],
    table: &mut ProcessTable,
    host: i32,
    sink: RawFd,
) -> ! {
    // SAFETY: between fork and exit: only system calls, on memory allocated before. The stack is
    // the child's own and is used until it executes its program, while this process is suspended
    // (CLONE_VFORK).
    unsafe {
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM, 0, 0, 0);
        if libc::getppid() != host {
            libc::_exit(1);
        }
        let top = stack.as_mut_ptr().add(stack.len());
        let top = top.sub(top as usize % 16).cast::<c_void>();
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let given = ptr::from_mut(child);
        let id = libc::clone(start, top, flags, given.cast());
        if id < 0 {
            report(sink, StartStage::Run as i32, last_errno());
            libc::_exit(1);
        }
        let (stage, errno) = (
            ptr::read_volatile(&raw const (*given).stage),
            ptr::read_volatile(&raw const (*given).errno),
        );
        if errno != 0 {
            report(sink, stage as i32, errno);
            libc::_exit(1);
        }
        close_all_except(sink);
        wait_for_end(id);
        let status = kill_descendants(table, id);
        report(SINK_FD, 0, status);
        libc::_exit(0)
    }
}

/// The number of the supervisor's only descriptor, the pipe to the host.
const SINK_FD: RawFd = 0;

/// Closes every descriptor except `sink`, which becomes [`SINK_FD`], because pipes and sockets of
/// the host must not stay open while a command runs.
unsafe fn close_all_except(sink: RawFd) {
    // SAFETY: only descriptors of this process, which nothing else uses.
    unsafe {
        if sink != SINK_FD {
            libc::dup2(sink, SINK_FD);
        }
        if libc::syscall(libc::SYS_close_range, 1_u32, u32::MAX, 0_u32) != 0 {
            for number in 1..65_536 {
                libc::close(number);
            }
        }
    }
}

/// Waits until the command has ended, the host asks for its end, or the host has ended. Does not
/// reap the process of the command, so that its process id is not reused.
unsafe fn wait_for_end(id: libc::pid_t) {
    // SAFETY: the kernel fills structures that outlive the calls.
    unsafe {
        let mut wanted: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut wanted);
        libc::sigaddset(&raw mut wanted, libc::SIGCHLD);
        libc::sigaddset(&raw mut wanted, libc::SIGTERM);
        loop {
            loop {
                let mut ended: libc::siginfo_t = std::mem::zeroed();
                let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
                let none = libc::waitid(libc::P_ALL, 0, &raw mut ended, options) != 0;
                match ended.si_pid() {
                    _ if none => return,
                    0 => break,
                    one if one == id => return,
                    other => {
                        libc::waitpid(other, ptr::null_mut(), libc::WNOHANG);
                    }
                }
            }
            if libc::sigwaitinfo(&raw const wanted, ptr::null_mut()) == libc::SIGTERM {
                return;
            }
        }
    }
}

/// Kills all descendants of this process until none is left. Returns the `wait` status of the
/// command.
unsafe fn kill_descendants(table: &mut ProcessTable, id: libc::pid_t) -> i32 {
    let mut status = libc::SIGKILL;
    // SAFETY: signals and waits; `id` has not been waited for, so the process group is still its
    // own.
    unsafe {
        libc::kill(-id, libc::SIGKILL);
        let mut wanted: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut wanted);
        libc::sigaddset(&raw mut wanted, libc::SIGCHLD);
        for _ in 0..MAX_KILL_ATTEMPTS {
            loop {
                let mut one = 0;
                match libc::waitpid(-1, &raw mut one, libc::WNOHANG) {
                    0 => break,
                    -1 => return status,
                    ended if ended == id => status = one,
                    _ => {}
                }
            }
            table.read(libc::getpid().cast_unsigned());
            for process in table.descendants() {
                libc::kill(process.cast_signed(), libc::SIGKILL);
            }
            let pause = libc::timespec { tv_sec: 0, tv_nsec: 5_000_000 };
            libc::sigtimedwait(&raw const wanted, ptr::null_mut(), &raw const pause);
        }
    }
    status
}

/// Sends a report to the host: `kind` is a [`StartStage`] with an errno, or 0 with a `wait` status.
unsafe fn report(sink: RawFd, kind: i32, value: i32) {
    let mut bytes = [0_u8; 8];
    bytes[..4].copy_from_slice(&kind.to_ne_bytes());
    bytes[4..].copy_from_slice(&value.to_ne_bytes());
    // SAFETY: the buffer outlives the call. An error is ignored, because a host that has ended
    // reads no report.
    let _ = unsafe { libc::write(sink, bytes.as_ptr().cast(), bytes.len()) };
}

fn last_errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// The main function of the command's process: executes the program, or reports to the supervisor
/// why that failed.
extern "C" fn start(given: *mut c_void) -> c_int {
    // SAFETY: the supervisor passes its `ChildArgument` and is suspended meanwhile.
    let child = unsafe { &mut *given.cast::<ChildArgument<'_>>() };
    let (stage, errno) = become_command(child.launch, &child.argv, &child.envp);
    child.stage = stage;
    child.errno = errno;
    // SAFETY: ends only this process, without the host's exit handlers.
    unsafe { libc::_exit(127) }
}

/// Applies the restrictions and executes the program. Returns only on failure, with the step and
/// the errno.
fn become_command(
    launch: &LaunchArguments,
    argv: &[*const c_char],
    envp: &[*const c_char],
) -> (StartStage, i32) {
    // SAFETY: system calls on memory that outlives them.
    unsafe {
        libc::setsid();
        seccomp::close_on_exec();
        for (from, to) in [(&launch.input, 0), (&launch.output, 1), (&launch.errors, 2)] {
            libc::dup2(from.as_raw_fd(), to);
        }
        if let Some(filter) = &launch.filter
            && libc::dup2(filter.as_raw_fd(), FILTER_FD) < 0
        {
            return (StartStage::Restrict, last_errno());
        }
        if libc::chdir(launch.directory.as_ptr()) != 0 {
            return (StartStage::Directory, last_errno());
        }
        if let Some(group) = &launch.group
            && libc::write(group.as_raw_fd(), c"0".as_ptr().cast(), 1) != 1
        {
            return (StartStage::Restrict, last_errno());
        }
        set_kernel_limits(&launch.limits, launch.tasks_of_user);
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        if let Some(restrictions) = &launch.restrictions
            && let Err(why) = restrictions.confine_files(true)
        {
            return (StartStage::Restrict, why.raw_os_error().unwrap_or(libc::EIO));
        }
        // The signal for the end of the parent is set after the capabilities are dropped, because a
        // change of credentials clears it.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        if let Some(restrictions) = &launch.restrictions
            && let Err(why) = restrictions.filter_calls()
        {
            return (StartStage::Restrict, why.raw_os_error().unwrap_or(libc::EIO));
        }
        let mut seen = libc::ENOENT;
        for program in &launch.programs {
            libc::execve(program.as_ptr(), argv.as_ptr(), envp.as_ptr());
            match last_errno() {
                libc::ENOENT | libc::ENOTDIR => {}
                libc::EACCES => seen = libc::EACCES,
                other => return (StartStage::Run, other),
            }
        }
        (StartStage::Run, seen)
    }
}

/// Sets the limits that the kernel enforces for each process or user. The limits for all processes
/// together are checked by the host.
fn set_kernel_limits(limits: &ResourceLimits, tasks_of_user: Option<u64>) {
    // The type of `resource` has another name in musl's headers than in glibc's.
    let set = |resource, value: u64| {
        let bound = libc::rlimit { rlim_cur: value, rlim_max: value };
        // SAFETY: a structure that outlives the call. An error is ignored: a lower limit of the
        // host stays.
        let _ = unsafe { libc::setrlimit(resource, &raw const bound) };
    };
    set(libc::RLIMIT_CORE, 0);
    if let Some(tasks) = tasks_of_user {
        set(libc::RLIMIT_NPROC, tasks);
    }
    if limits.file_bytes > 0 {
        set(libc::RLIMIT_FSIZE, limits.file_bytes);
    }
    if limits.memory > 0 {
        // The kernel limits each process to twice the memory. The host checks the total of all
        // processes.
        set(libc::RLIMIT_DATA, limits.memory.saturating_mul(2));
    }
    if limits.cpu_seconds > 0 {
        set(libc::RLIMIT_CPU, limits.cpu_seconds);
    }
}
