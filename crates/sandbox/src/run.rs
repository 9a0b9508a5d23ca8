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
use crate::spec::{Command, Limit, ResourceLimits, RunOutcome, Spec};
use crate::supervisor::{Launch, Report, Stage, Supervisor};

/// The maximum interval between two checks of a running command.
const MAX_PAUSE_MS: i32 = 10;
/// The minimum interval between two reads of the process table, and the maximum share of one
/// processor that they may use (one part in so many).
const MIN_READING_PAUSE: Duration = Duration::from_millis(20);
const READING_SHARE: u32 = 20;
/// The kernel stops new processes at this multiple of the limit, so that a read of the process
/// table can detect that the limit was exceeded.
const HARD_PROCESSES: u64 = 2;
/// The maximum time to wait for the end of all processes after they were stopped.
const MAX_ENDING: Duration = Duration::from_secs(15);
/// The maximum time to wait for output after all processes have ended: a process that cannot be
/// killed may hold the pipe open forever.
const DRAIN: Duration = Duration::from_millis(500);
/// The search path if the environment has none.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The beginning of one stream, and whether there was more.
type CapturedOutput = (Vec<u8>, bool);

pub(crate) fn run(spec: &Spec, command: &Command, cancel: &CancelToken) -> Result<RunOutcome> {
    let (output, out) = pipe()?;
    let (errors, err) = pipe()?;
    let group = ControlGroup::new(spec.limits.processes.saturating_mul(HARD_PROCESSES));
    let launch = launch(spec, command, group.as_ref(), out, err)?;
    let supervisor = Supervisor::start(&launch)?;
    // Closes the command's ends of the pipes, and the descriptors of its restrictions.
    drop(launch);
    let out = keep(output, command.max_output);
    let err = keep(errors, command.max_output);
    let ended = attend(&supervisor, spec, command, cancel, group.as_ref());
    drop(supervisor);
    drop(group);
    let (stdout, more_out) = collect(&out);
    let (stderr, more_err) = collect(&err);
    let Ended { status, timed_out, exceeded } = ended?;
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

fn pipe() -> Result<(OwnedFd, OwnedFd)> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map_err(|errno| unmade("a pipe", errno))
}

fn unmade(what: &str, errno: rustix::io::Errno) -> Error {
    Error::new(Code::IoError, format!("{what} for the command cannot be made: {errno}"))
}

fn launch(
    spec: &Spec,
    command: &Command,
    group: Option<&ControlGroup>,
    output: OwnedFd,
    errors: OwnedFd,
) -> Result<Launch> {
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
        // An empty entry would be the working directory, which the model controls.
        let places = path.split(':').filter(|place| place.starts_with('/'));
        places.map(|place| text(&format!("{place}/{program}"))).collect::<Result<_>>()?
    };
    let variables = command.env.iter().map(|(name, value)| text(&format!("{name}={value}")));
    let null = rustix::fs::open(c"/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    Ok(Launch {
        programs,
        arguments: command.argv.iter().map(|one| text(one)).collect::<Result<_>>()?,
        environment: variables.collect::<Result<_>>()?,
        directory: text(&command.cwd)?,
        input: null.map_err(|errno| unmade("an input", errno))?,
        output,
        errors,
        filter: if spec.bare { filter_file(spec)? } else { None },
        restrictions: if spec.bare { None } else { Some(Restrictions::new(spec)?) },
        group: group.map(ControlGroup::membership).transpose()?,
        tasks_of_user: bounds_user(&spec.limits)
            .then(|| tasks_of_user(spec.limits.processes.saturating_mul(HARD_PROCESSES))),
        limits: spec.limits,
    })
}

/// Returns the system call filter in an unnamed file, positioned at its beginning.
fn filter_file(spec: &Spec) -> Result<Option<OwnedFd>> {
    let Some(steps) = seccomp::filter(spec)? else { return Ok(None) };
    let failed = |errno| unmade("a filter of system calls", errno);
    let file = rustix::fs::memfd_create(c"filter", MemfdFlags::CLOEXEC).map_err(failed)?;
    rustix::io::pwrite(&file, &seccomp::filter_bytes(&steps), 0).map_err(failed)?;
    Ok(Some(file))
}

struct Ended {
    status: Option<i32>,
    timed_out: bool,
    exceeded: Option<Limit>,
}

/// Waits for the end of all processes, and stops them when a limit is reached.
fn attend(
    supervisor: &Supervisor,
    spec: &Spec,
    command: &Command,
    cancel: &CancelToken,
    group: Option<&ControlGroup>,
) -> Result<Ended> {
    let deadline = Instant::now() + command.timeout;
    let mut counts = LimitChecker::new(spec.limits, supervisor.id());
    let mut pause = 1;
    loop {
        if let Some(status) = ended(supervisor.wait(pause)?, command)? {
            return Ok(Ended { status: Some(status), timed_out: false, exceeded: None });
        }
        pause = (pause * 2).min(MAX_PAUSE_MS);
        let stopped = cancel.check();
        let timed_out = Instant::now() >= deadline;
        let exceeded = if timed_out || stopped.is_err() { None } else { counts.exceeded() };
        if timed_out || exceeded.is_some() || stopped.is_err() {
            if let Some(group) = group {
                group.close();
            }
            end(supervisor, command)?;
            stopped?;
            return Ok(Ended { status: None, timed_out, exceeded });
        }
    }
}

/// Stops all processes and waits for their end.
fn end(supervisor: &Supervisor, command: &Command) -> Result<()> {
    supervisor.stop();
    let latest = Instant::now() + MAX_ENDING;
    while Instant::now() < latest {
        if ended(supervisor.wait(100)?, command)?.is_some() {
            return Ok(());
        }
    }
    Err(Error::new(Code::IoError, "a process of the command cannot be ended"))
}

fn ended(report: Option<Report>, command: &Command) -> Result<Option<i32>> {
    match report {
        None => Ok(None),
        Some(Report::Ended { status }) => Ok(Some(status)),
        Some(Report::Failed { stage, errno }) => {
            let why = std::io::Error::from_raw_os_error(errno);
            let program = command.argv.first().map_or("", String::as_str);
            let code = match errno {
                _ if stage == Stage::Restrict => Code::SandboxSetupFailed,
                libc::ENOENT => Code::NotFound,
                libc::EACCES | libc::EPERM => Code::PermissionDenied,
                _ => Code::IoError,
            };
            let what = match stage {
                Stage::Restrict => format!("the kernel does not restrict the command: {why}"),
                Stage::Directory => format!("{program} cannot be run in its directory: {why}"),
                Stage::Run => format!("{program} cannot be run: {why}"),
            };
            Err(Error::new(code, what))
        }
    }
}

/// Reports whether the kernel limits the user's processes; it does not for root.
fn bounds_user(limits: &ResourceLimits) -> bool {
    limits.processes > 0 && !rustix::process::getuid().is_root()
}

/// Returns the per-user limit of processes and threads that leaves so many for a command. Includes
/// the tasks of other users, which only makes this last resort looser.
fn tasks_of_user(processes: u64) -> u64 {
    let mut table = ProcessTable::new();
    table.read(rustix::process::getpid().as_raw_nonzero().get().cast_unsigned());
    table.all_tasks().saturating_add(processes)
}

/// Checks the limits for all processes of a command together. A control group or the kernel's
/// per-user limit stops processes that are created too fast to be counted.
struct LimitChecker {
    limits: ResourceLimits,
    supervisor: u32,
    table: Option<ProcessTable>,
    next: Instant,
}

impl LimitChecker {
    fn new(limits: ResourceLimits, supervisor: u32) -> Self {
        // Most commands end before the first read.
        Self { limits, supervisor, table: None, next: Instant::now() + MIN_READING_PAUSE / 2 }
    }

    fn exceeded(&mut self) -> Option<Limit> {
        let began = Instant::now();
        if began < self.next || (self.limits.processes == 0 && self.limits.memory == 0) {
            return None;
        }
        let table = self.table.get_or_insert_with(ProcessTable::new);
        table.read(self.supervisor);
        let usage = table.usage();
        self.next = Instant::now() + MIN_READING_PAUSE.max(began.elapsed() * READING_SHARE);
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

/// Keeps the beginning of a stream and discards the rest, so that a full pipe never blocks the
/// command.
fn keep(pipe: OwnedFd, most: usize) -> Receiver<CapturedOutput> {
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

fn collect(stream: &Receiver<CapturedOutput>) -> CapturedOutput {
    stream.recv_timeout(DRAIN).unwrap_or_else(|_| (Vec::new(), true))
}
