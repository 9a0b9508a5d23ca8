//! Runs a command from its start to the end of every process that it started.

use std::ffi::CString;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use filewright_core::{Code, Error, Result};
use filewright_fs::cancel::CancelToken;
use rustix::fs::{MemfdFlags, Mode, OFlags};

use crate::control_group::ControlGroup;
use crate::linux::Restrictions;
use crate::process_table::ProcessTable;
use crate::seccomp;
use crate::spec::{Command, Limit, Permissions, ResourceLimits, RunOutcome};
use crate::supervisor::{LaunchArguments, StartStage, Supervisor, SupervisorReport};

/// The maximum time in milliseconds between two checks of a running command.
const MAX_CHECK_PAUSE_MS: i32 = 10;
/// The minimum time between two reads of the process table.
const MIN_TABLE_READ_PAUSE: Duration = Duration::from_millis(20);
/// The minimum time between two reads of the process table, as a multiple of the duration of a
/// read: reading takes at most a twentieth of one processor.
const TABLE_READ_PAUSE_FACTOR: u32 = 20;
/// The kernel refuses new processes at this multiple of the limit. Between the limit and this
/// multiple, reading the process table shows that the limit is exceeded.
const KERNEL_LIMIT_FACTOR: u64 = 2;
/// The maximum time to wait for the end of all processes after they were killed. After it, the call
/// fails with `IO_ERROR`.
const MAX_ENDING_WAIT: Duration = Duration::from_secs(15);
/// The maximum time to wait for the end of the output after all processes have ended, because a
/// process that cannot be killed may hold the pipe open. After it, the output counts as empty and
/// truncated.
const MAX_OUTPUT_WAIT: Duration = Duration::from_millis(500);
/// The value of `PATH` for finding the program, if the environment has none.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The kept bytes of one output, and whether there were more.
type CapturedOutput = (Vec<u8>, bool);

pub(crate) fn run(
    spec: &Permissions,
    command: &Command,
    cancel: &CancelToken,
) -> Result<RunOutcome> {
    let (output, out) = create_pipe()?;
    let (errors, err) = create_pipe()?;
    let group = ControlGroup::new(spec.limits.processes.saturating_mul(KERNEL_LIMIT_FACTOR));
    let launch = prepare_launch(spec, command, group.as_ref(), out, err)?;
    let supervisor = Supervisor::start(&launch)?;
    // Closes the command's ends of the pipes, and the descriptors of its restrictions.
    drop(launch);
    let out = capture_output(output, command.max_output);
    let err = capture_output(errors, command.max_output);
    let ended = wait_within_limits(&supervisor, spec, command, cancel, group.as_ref());
    drop(supervisor);
    drop(group);
    let (stdout, more_out) = await_captured_output(&out);
    let (stderr, more_err) = await_captured_output(&err);
    let CommandEnd { status, timed_out, exceeded } = ended?;
    let status = status.filter(|_| !timed_out && exceeded.is_none());
    let exited = status.filter(|status| libc::WIFEXITED(*status));
    let killed = status.filter(|status| libc::WIFSIGNALED(*status));
    Ok(RunOutcome {
        status: exited.map(|status| libc::WEXITSTATUS(status)),
        signal: killed.map(|status| libc::WTERMSIG(status)),
        timed_out,
        exceeded,
        truncated: more_out || more_err,
        stdout,
        stderr,
    })
}

/// Returns the two ends of a new pipe: for reading, and for writing.
fn create_pipe() -> Result<(OwnedFd, OwnedFd)> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map_err(|errno| resource_creation_error("a pipe", errno))
}

fn resource_creation_error(what: &str, errno: rustix::io::Errno) -> Error {
    Error::new(Code::IoError, format!("{what} for the command cannot be made: {errno}"))
}

/// Prepares everything that the start of a command needs.
fn prepare_launch(
    spec: &Permissions,
    command: &Command,
    group: Option<&ControlGroup>,
    output: OwnedFd,
    errors: OwnedFd,
) -> Result<LaunchArguments> {
    let program = command
        .argv
        .first()
        .ok_or_else(|| Error::new(Code::InvalidArgument, "there is no program to run"))?;
    let text = |text: &str| {
        CString::new(text)
            .map_err(|_| Error::new(Code::InvalidArgument, "a command has no NUL in it"))
    };
    let programs = if program.contains('/') {
        vec![text(program)?]
    } else {
        let path = command.env.iter().find(|(name, _)| name == "PATH");
        let path = path.map_or(DEFAULT_PATH, |(_, value)| value);
        // An empty entry means the working directory, in which the model can put programs.
        let places = path.split(':').filter(|place| place.starts_with('/'));
        places.map(|place| text(&format!("{place}/{program}"))).collect::<Result<_>>()?
    };
    let variables = command.env.iter().map(|(name, value)| text(&format!("{name}={value}")));
    let null = rustix::fs::open(c"/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    Ok(LaunchArguments {
        programs,
        arguments: command.argv.iter().map(|one| text(one)).collect::<Result<_>>()?,
        environment: variables.collect::<Result<_>>()?,
        directory: text(&command.cwd)?,
        input: null.map_err(|errno| resource_creation_error("an input", errno))?,
        output,
        errors,
        filter: if spec.bare { Some(create_filter_file(spec)?) } else { None },
        restrictions: if spec.bare { None } else { Some(Restrictions::new(spec)?) },
        group: group.map(ControlGroup::membership).transpose()?,
        tasks_of_user: kernel_limits_user(&spec.limits)
            .then(|| user_task_limit(spec.limits.processes.saturating_mul(KERNEL_LIMIT_FACTOR))),
        limits: spec.limits,
    })
}

/// Returns an unnamed file with the system call filter, to be read from its beginning.
fn create_filter_file(spec: &Permissions) -> Result<OwnedFd> {
    let steps = seccomp::build_filter(spec)?;
    let failed = |errno| resource_creation_error("a filter of system calls", errno);
    let file = rustix::fs::memfd_create(c"filter", MemfdFlags::CLOEXEC).map_err(failed)?;
    rustix::io::pwrite(&file, &seccomp::filter_bytes(&steps), 0).map_err(failed)?;
    Ok(file)
}

/// The end of a command. `status` is the status of `wait`; `None` if the command was killed.
struct CommandEnd {
    status: Option<i32>,
    timed_out: bool,
    exceeded: Option<Limit>,
}

/// Waits for the end of all processes, and kills them when a limit is exceeded, the time is up or
/// the call is cancelled.
fn wait_within_limits(
    supervisor: &Supervisor,
    spec: &Permissions,
    command: &Command,
    cancel: &CancelToken,
    group: Option<&ControlGroup>,
) -> Result<CommandEnd> {
    let deadline = Instant::now() + command.timeout;
    let mut counts = LimitChecker::new(spec.limits, supervisor.id());
    let mut pause = 1;
    loop {
        if let Some(status) = wait_status(supervisor.wait(pause)?, command)? {
            return Ok(CommandEnd { status: Some(status), timed_out: false, exceeded: None });
        }
        pause = (pause * 2).min(MAX_CHECK_PAUSE_MS);
        let stopped = cancel.check();
        let timed_out = Instant::now() >= deadline;
        let exceeded = if timed_out || stopped.is_err() { None } else { counts.exceeded() };
        if timed_out || exceeded.is_some() || stopped.is_err() {
            if let Some(group) = group {
                group.close();
            }
            kill_all(supervisor, command)?;
            stopped?;
            return Ok(CommandEnd { status: None, timed_out, exceeded });
        }
    }
}

/// Kills all processes and waits at most [`MAX_ENDING_WAIT`] for their end.
fn kill_all(supervisor: &Supervisor, command: &Command) -> Result<()> {
    supervisor.stop();
    let latest = Instant::now() + MAX_ENDING_WAIT;
    while Instant::now() < latest {
        if wait_status(supervisor.wait(100)?, command)?.is_some() {
            return Ok(());
        }
    }
    Err(Error::new(Code::IoError, "a process of the command cannot be ended"))
}

/// Returns the wait status of the command from a report; `None` without a report; an error if the
/// command was not started.
fn wait_status(report: Option<SupervisorReport>, command: &Command) -> Result<Option<i32>> {
    match report {
        None => Ok(None),
        Some(SupervisorReport::Ended { status }) => Ok(Some(status)),
        Some(SupervisorReport::Failed { stage, errno }) => {
            let why = std::io::Error::from_raw_os_error(errno);
            let program = command.argv.first().map_or("", String::as_str);
            let code = match errno {
                _ if stage == StartStage::Restrict => Code::SandboxSetupFailed,
                libc::ENOENT => Code::NotFound,
                libc::EACCES | libc::EPERM => Code::PermissionDenied,
                _ => Code::IoError,
            };
            let what = match stage {
                StartStage::Restrict => format!("the kernel does not restrict the command: {why}"),
                StartStage::Directory => format!("{program} cannot be run in its directory: {why}"),
                StartStage::Run => format!("{program} cannot be run: {why}"),
            };
            Err(Error::new(code, what))
        }
    }
}

/// Reports whether the kernel can limit the processes of this user: there is a limit, and the user
/// is not root.
fn kernel_limits_user(limits: &ResourceLimits) -> bool {
    limits.processes > 0 && !rustix::process::getuid().is_root()
}

/// Returns the limit for all processes and threads of the user that lets a command start
/// `processes` more. Counts the tasks of all users, so that the limit is rather too high than too
/// low.
fn user_task_limit(processes: u64) -> u64 {
    let mut table = ProcessTable::new();
    table.read(rustix::process::getpid().as_raw_nonzero().get().cast_unsigned());
    table.all_tasks().saturating_add(processes)
}

/// Checks the limits that hold for all processes of a command together, by reading the process
/// table. Processes that are created faster than that are stopped by a control group or by the
/// kernel's limit per user.
struct LimitChecker {
    limits: ResourceLimits,
    supervisor: u32,
    table: Option<ProcessTable>,
    next: Instant,
}

impl LimitChecker {
    fn new(limits: ResourceLimits, supervisor: u32) -> Self {
        // Most commands end before the process table is read for the first time.
        Self { limits, supervisor, table: None, next: Instant::now() + MIN_TABLE_READ_PAUSE / 2 }
    }

    /// Returns the limit that is exceeded now. Reads the process table only if enough time has
    /// passed since the last read.
    fn exceeded(&mut self) -> Option<Limit> {
        let began = Instant::now();
        if began < self.next || (self.limits.processes == 0 && self.limits.memory == 0) {
            return None;
        }
        let table = self.table.get_or_insert_with(ProcessTable::new);
        table.read(self.supervisor);
        let usage = table.usage();
        self.next =
            Instant::now() + MIN_TABLE_READ_PAUSE.max(began.elapsed() * TABLE_READ_PAUSE_FACTOR);
        let over = |used: u64, limit: u64| limit > 0 && used > limit;
        if over(usage.tasks, self.limits.processes) {
            Some(Limit::Processes)
        } else if over(usage.memory, self.limits.memory) {
            Some(Limit::Memory)
        } else {
            None
        }
    }
}

/// Reads a pipe to its end on a thread, and sends its first `most` bytes. The rest is read and
/// discarded, so that a full pipe never blocks the command.
fn capture_output(pipe: OwnedFd, most: usize) -> Receiver<CapturedOutput> {
    let (done, kept) = channel();
    let mut pipe = std::io::PipeReader::from(pipe);
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut more = false;
        let mut block = [0_u8; 64 * 1024];
        while let Ok(count @ 1..) = pipe.read(&mut block) {
            let room = most.saturating_sub(bytes.len()).min(count);
            bytes.extend_from_slice(&block[..room]);
            more |= room < count;
        }
        let _ = done.send((bytes, more));
    });
    kept
}

/// Waits for the output that [`capture_output`] reads, at most [`MAX_OUTPUT_WAIT`]; after that
/// returns no output, marked as truncated.
fn await_captured_output(stream: &Receiver<CapturedOutput>) -> CapturedOutput {
    stream.recv_timeout(MAX_OUTPUT_WAIT).unwrap_or_else(|_| (Vec::new(), true))
}
