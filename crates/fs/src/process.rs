//! Identifies the process that created a temporary file, and checks whether it is still running.
//!
//! A process is identified by its pid and its start time, so that a reused pid is not mistaken for
//! it, and by a hash of the boot and the pid namespace in which the pid is valid.

use std::sync::OnceLock;

use filewright_core::hash::sha256;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, getpid};

use crate::helper::Helper;

/// The identity of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessName {
    /// A hash of the boot id and the pid namespace, eight hexadecimal digits. Pids of two processes
    /// can only be compared if their realms are equal.
    pub realm: String,
    pub pid: u32,
    /// The start time in clock ticks since boot; 0 if the system does not report it.
    pub started: u64,
}

/// Reads this process's identity and caches it, and starts a thread that reads the start time of
/// other processes. Both are needed before threads are restricted by Landlock, because those cannot
/// read procfs.
#[cfg(target_os = "linux")]
pub(crate) fn start_procfs_reader() {
    let _ = ProcessName::own();
    START_TIME_READER.start();
}

/// The thread that can read procfs. If it could not be started or does not answer, a start time is
/// unknown, and a reused pid is mistaken for the process that created the file.
static START_TIME_READER: Helper = Helper::new("filewright-procfs");

/// Returns the start time of a process in clock ticks since boot. A thread that cannot read procfs
/// asks the thread that can.
fn start_time_from_any_thread(pid: u32) -> Option<u64> {
    read_start_time(pid).or_else(|| START_TIME_READER.run(move || read_start_time(pid))?)
}

impl ProcessName {
    /// Returns the identity of this process.
    pub(crate) fn own() -> &'static Self {
        static OWN_PROCESS: OnceLock<ProcessName> = OnceLock::new();
        OWN_PROCESS.get_or_init(|| {
            let boot = read_system_file("/proc/sys/kernel/random/boot_id").unwrap_or_default();
            let space = rustix::fs::readlink("/proc/self/ns/pid", Vec::new());
            let space = space.map(|text| text.into_bytes()).unwrap_or_default();
            let realm = sha256(&[boot, space].concat())[7..15].to_owned();
            let pid = getpid().as_raw_nonzero().get().unsigned_abs();
            Self { realm, pid, started: read_start_time(pid).unwrap_or(0) }
        })
    }

    /// Reports whether the process has ended; `None` if its pid is not valid here: another boot,
    /// machine or container.
    pub(crate) fn has_ended(&self) -> Option<bool> {
        if self.realm != Self::own().realm {
            return None;
        }
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        let Some(pid) = pid else { return Some(true) };
        if rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH) {
            return Some(true);
        }
        Some(
            self.started != 0
                && start_time_from_any_thread(self.pid).is_some_and(|now| now != self.started),
        )
    }
}

/// Reads the start time of a process in clock ticks since boot: field 22 of `/proc/PID/stat`. The
/// search begins after the last `)`, because the second field is the program's name in parentheses
/// and may contain any character.
fn read_start_time(pid: u32) -> Option<u64> {
    let line = read_system_file(&format!("/proc/{pid}/stat"))?;
    let after = &line[memchr::memrchr(b')', &line)? + 1..];
    let field = after.split(|&byte| byte == b' ').filter(|field| !field.is_empty()).nth(19)?;
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// Returns the first 1024 bytes of a file that belongs to the system, such as one in procfs, or
/// `None` if it cannot be read. It opens the path without any check, so it must not be used for a
/// path of a caller.
pub(crate) fn read_system_file(path: &str) -> Option<Vec<u8>> {
    let fd = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut bytes = vec![0; 1024];
    let length = rustix::io::read(&fd, bytes.as_mut_slice()).ok()?;
    bytes.truncate(length);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_an_ended_one_does_not() {
        let own = ProcessName::own();
        assert_eq!(own.has_ended(), Some(false));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let name = ProcessName { pid: child.id(), started: 0, ..own.clone() };
        child.wait().unwrap();
        assert_eq!(name.has_ended(), Some(true));
        assert_eq!(ProcessName { realm: "another".into(), ..own.clone() }.has_ended(), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_reused_pid_is_another_process() {
        let own = ProcessName::own();
        assert!(own.started > 0);
        assert_eq!(ProcessName { started: own.started + 1, ..own.clone() }.has_ended(), Some(true));
    }
}
