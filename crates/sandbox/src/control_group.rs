//! A control group (cgroup) that limits the number of processes of one command. Needed if the host
//! runs as root, because the kernel's limit per user does not apply to root.
//!
//! It is created where this process may create one: below its own group or as a sibling, in the
//! hierarchy of the controller `pids` (version 1) or the unified one (version 2).

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use filewright_core::{Code, Error, Result};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};

/// A counter that makes the names of this process's groups unique.
static NEXT_GROUP_NUMBER: AtomicU64 = AtomicU64::new(0);

/// The control group of one command; removed when it is dropped.
pub(crate) struct ControlGroup {
    path: String,
}

impl ControlGroup {
    /// Creates a group of at most `processes` processes and threads. Returns `None` if there is no
    /// limit, this user is not root, or the system does not permit it.
    pub(crate) fn new(processes: u64) -> Option<Self> {
        if processes == 0 || !rustix::process::geteuid().is_root() {
            return None;
        }
        let own = read_text("/proc/self/cgroup")?;
        let number = NEXT_GROUP_NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("filewright-{}-{number}", std::process::id());
        for parent in own.lines().flat_map(possible_parent_dirs) {
            let path = format!("{parent}/{name}");
            if rustix::fs::mkdir(&path, Mode::from_raw_mode(0o755)).is_err() {
                continue;
            }
            let group = Self { path };
            if group.write("pids.max", &processes.to_string()) && group.membership().is_ok() {
                return Some(group);
            }
        }
        None
    }

    /// Reports whether this process can create a group, by creating one.
    pub(crate) fn is_possible() -> bool {
        Self::new(1).is_some()
    }

    /// Returns a descriptor of `cgroup.procs`: a process joins the group by writing `0` to it.
    pub(crate) fn membership(&self) -> Result<OwnedFd> {
        open_group_entry(&format!("{}/cgroup.procs", self.path), OFlags::WRONLY).ok_or_else(|| {
            Error::new(Code::SandboxSetupFailed, "the control group of the command is gone")
        })
    }

    /// Makes the kernel refuse new processes in the group.
    pub(crate) fn close(&self) {
        self.write("pids.max", "0");
    }

    /// Writes a text to a file of the group. Returns whether that succeeded.
    fn write(&self, name: &str, text: &str) -> bool {
        open_group_entry(&format!("{}/{name}", self.path), OFlags::WRONLY)
            .is_some_and(|file| rustix::io::write(&file, text.as_bytes()).is_ok())
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // Processes leave the group a moment after they have ended, and a group with processes
        // cannot be removed.
        for _ in 0..100 {
            if rustix::fs::unlinkat(CWD, &self.path, AtFlags::REMOVEDIR).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
}

/// Returns the directories in which a group could be created, given a line of `/proc/self/cgroup`.
fn possible_parent_dirs(line: &str) -> Vec<String> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
        return Vec::new();
    };
    let mounts: &[&str] = if controllers.split(',').any(|one| one == "pids") {
        &["/sys/fs/cgroup/pids"]
    } else if controllers.is_empty() {
        &["/sys/fs/cgroup"]
    } else {
        &[]
    };
    let path = path.trim_end_matches('/');
    let above = path.rsplit_once('/').map_or("", |(above, _)| above);
    let mut places = Vec::new();
    for mount in mounts {
        places.extend([format!("{mount}{path}"), format!("{mount}{above}"), (*mount).to_owned()]);
    }
    places
}

fn open_group_entry(path: &str, flags: OFlags) -> Option<OwnedFd> {
    rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty()).ok()
}

fn read_text(path: &str) -> Option<String> {
    let file = open_group_entry(path, OFlags::RDONLY)?;
    let mut bytes = vec![0; 64 * 1024];
    let count = rustix::io::read(&file, &mut bytes).ok()?;
    bytes.truncate(count);
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_looked_for_in_the_hierarchy_that_counts_processes() {
        assert_eq!(
            possible_parent_dirs("8:pids:/a/b"),
            ["/sys/fs/cgroup/pids/a/b", "/sys/fs/cgroup/pids/a", "/sys/fs/cgroup/pids"]
        );
        assert_eq!(possible_parent_dirs("0::/"), ["/sys/fs/cgroup"; 3]);
        assert!(
            possible_parent_dirs("4:memory:/a").is_empty() && possible_parent_dirs("x").is_empty()
        );
    }
}
