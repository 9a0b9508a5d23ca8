//! Who made a temporary file, and whether they still live.
//!
//! A process is named by its number and the moment it started, so that a number
//! that was given out again is not mistaken; and by a word for the boot and the
//! process namespace in which the number means anything.

use std::sync::OnceLock;

use filewright_core::hash::sha256;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, getpid};

/// The name of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessName {
    /// Boot and namespace, eight hexadecimal digits.
    pub realm: String,
    pub pid: u32,
    /// When it started, in ticks since the boot; 0 where the system does not tell.
    pub started: u64,
}

/// Looks at this process once, for threads that cannot.
#[cfg(target_os = "linux")]
pub(crate) fn prepare() {
    let _ = ProcessName::own();
}

impl ProcessName {
    /// This process.
    pub(crate) fn own() -> &'static Self {
        static OWN: OnceLock<ProcessName> = OnceLock::new();
        OWN.get_or_init(|| {
            let boot = read_small("/proc/sys/kernel/random/boot_id").unwrap_or_default();
            let space = rustix::fs::readlink("/proc/self/ns/pid", Vec::new());
            let space = space.map(|text| text.into_bytes()).unwrap_or_default();
            let realm = sha256(&[boot, space].concat())[7..15].to_owned();
            let pid = getpid().as_raw_nonzero().get().unsigned_abs();
            Self { realm, pid, started: started(pid).unwrap_or(0) }
        })
    }

    /// Whether the process has ended; `None` where its number means nothing
    /// here: another boot, machine or container.
    pub(crate) fn ended(&self) -> Option<bool> {
        if self.realm != Self::own().realm {
            return None;
        }
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        let Some(pid) = pid else { return Some(true) };
        if rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH) {
            return Some(true);
        }
        Some(self.started != 0 && started(self.pid).is_some_and(|now| now != self.started))
    }
}

/// When a process started. It is the 22nd field of its line in procfs; the
/// second is the program's name in brackets and may hold anything.
fn started(pid: u32) -> Option<u64> {
    let line = read_small(&format!("/proc/{pid}/stat"))?;
    let after = &line[memchr::memrchr(b')', &line)? + 1..];
    let field = after.split(|&byte| byte == b' ').filter(|field| !field.is_empty()).nth(19)?;
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// The first kibibyte of a file of the system, never of a user.
fn read_small(path: &str) -> Option<Vec<u8>> {
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
        assert_eq!(own.ended(), Some(false));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let name = ProcessName { pid: child.id(), started: 0, ..own.clone() };
        child.wait().unwrap();
        assert_eq!(name.ended(), Some(true));
        assert_eq!(ProcessName { realm: "another".into(), ..own.clone() }.ended(), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_number_that_was_given_out_again_is_another_process() {
        let own = ProcessName::own();
        assert!(own.started > 0);
        assert_eq!(ProcessName { started: own.started + 1, ..own.clone() }.ended(), Some(true));
    }
}
