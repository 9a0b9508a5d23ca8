//! A command from its start to the end of its whole group of processes.

use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use filewright_core::{Code, Error, Result};
use filewright_fs::cancel::Cancel;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::linux::Restrictions;
use crate::spec::{Command, Outcome, Spec};

/// The longest time between two looks at a command that runs.
const PAUSE: Duration = Duration::from_millis(10);
/// How long output is waited for once the command has ended: a process that left
/// its group may hold the pipe open for ever.
const DRAIN: Duration = Duration::from_millis(500);

/// What was kept of one stream, and whether there was more.
type Kept = (Vec<u8>, bool);

pub(crate) fn run(spec: &Spec, command: &Command, cancel: &Cancel) -> Result<Outcome> {
    let restrictions = Restrictions::new(spec)?;
    let (started, start) = channel();
    let what = command.clone();
    // The thread is restricted for good, so it is one of its own.
    let thread = std::thread::spawn(move || {
        let child = restrictions.take_on().and_then(|()| spawn(&what));
        let _ = started.send(child);
    });
    let child = start.recv().map_err(|_| Error::new(Code::Internal, "the command's thread failed"));
    let _ = thread.join();
    let mut child = child??;
    let out = child.stdout.take().map(|pipe| keep(pipe, command.max_output));
    let err = child.stderr.take().map(|pipe| keep(pipe, command.max_output));
    let ended = wait(&mut child, command.timeout, cancel);
    // Whatever it has left running ends with it.
    end_group(&child);
    let _ = child.wait();
    let (stdout, more_out) = collect(out);
    let (stderr, more_err) = collect(err);
    let (status, timed_out) = ended?;
    Ok(Outcome {
        status: status.and_then(|status| status.code()),
        signal: status.and_then(|status| status.signal()),
        timed_out,
        truncated: more_out || more_err,
        stdout,
        stderr,
    })
}

fn spawn(command: &Command) -> Result<Child> {
    let (program, arguments) = command
        .argv
        .split_first()
        .ok_or_else(|| Error::new(Code::InvalidArgument, "there is no program to run"))?;
    std::process::Command::new(program)
        .args(arguments)
        .current_dir(&command.cwd)
        .env_clear()
        .envs(command.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| {
            let code = match error.kind() {
                std::io::ErrorKind::NotFound => Code::NotFound,
                std::io::ErrorKind::PermissionDenied => Code::PermissionDenied,
                _ => Code::IoError,
            };
            Error::new(code, format!("{program} cannot be run: {error}"))
        })
}

/// Waits for the end; the status is missing where the command had to be ended.
fn wait(
    child: &mut Child,
    timeout: Duration,
    cancel: &Cancel,
) -> Result<(Option<ExitStatus>, bool)> {
    let deadline = Instant::now() + timeout;
    let mut pause = Duration::from_micros(200);
    loop {
        let failed = |_| Error::new(Code::IoError, "the command cannot be waited for");
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok((Some(status), false));
        }
        cancel.check()?;
        if Instant::now() >= deadline {
            return Ok((None, true));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(PAUSE);
    }
}

fn end_group(child: &Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        // Nobody left to end is what is hoped for.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Keeps the beginning of a stream and reads the rest away, so that the command
/// is never stopped by a full pipe.
fn keep(mut pipe: impl Read + Send + 'static, most: usize) -> Receiver<Kept> {
    let (done, kept) = channel();
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

fn collect(stream: Option<Receiver<Kept>>) -> Kept {
    stream.and_then(|kept| kept.recv_timeout(DRAIN).ok()).unwrap_or_else(|| (Vec::new(), true))
}
