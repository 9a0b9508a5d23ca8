//! The restrictions that a command applies to itself before its program runs: Landlock for files,
//! seccomp for the network, and no capabilities. Commands that run in namespaces (bubblewrap) do
//! not need them.

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use filewright_core::{Code, Error, Result};
use filewright_fs::confine::landlock::{self, Ruleset, fs};
use libc::sock_filter;
use rustix::fs::{FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};

use crate::control_group::ControlGroup;
use crate::seccomp;
use crate::spec::{EnforcedLayers, Permissions, Probe};

const READ_RIGHTS: u64 = fs::READ | fs::EXECUTE;
/// Landlock's right to list a directory.
const LIST_DIRECTORY_RIGHT: u64 = 1 << 3;
/// The first version of Landlock that restricts signals.
const MIN_ABI_FOR_SIGNALS: u32 = 6;

/// The entries of `/proc` that a command may read: those about the machine, not about a process.
const READABLE_PROC_ENTRIES: &[&str] = &[
    "/proc/cpuinfo",
    "/proc/devices",
    "/proc/diskstats",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/pressure",
    "/proc/stat",
    "/proc/sys",
    "/proc/uptime",
    "/proc/version",
    "/proc/vmstat",
];
/// The entries of `/dev` that a command may read. Others, such as disks, contain data.
const READABLE_DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/shm"];

/// The restrictions for a command, prepared so that they can be applied without allocating memory.
pub(crate) struct Restrictions {
    files: Option<Ruleset>,
    filter: Vec<sock_filter>,
    network: bool,
    abi: u32,
}

impl Restrictions {
    pub(crate) fn new(spec: &Permissions) -> Result<Self> {
        let abi = if spec.without_landlock { 0 } else { landlock::landlock_abi() };
        let files = match build_ruleset(spec, abi) {
            Ok(ruleset) => Some(ruleset),
            Err(error) if spec.degrade && error.code == Code::SandboxSetupFailed => None,
            Err(error) => return Err(error),
        };
        Ok(Self { files, filter: seccomp::build_filter(spec)?, network: spec.network, abi })
    }

    pub(crate) fn enforced_layers(&self) -> EnforcedLayers {
        EnforcedLayers {
            files: self.files.is_some(),
            network: !self.network,
            signals: self.files.is_some() && self.abi >= MIN_ABI_FOR_SIGNALS,
            forks: !rustix::process::getuid().is_root() || ControlGroup::is_possible(),
            abi: self.abi,
        }
    }

    /// Restricts the file access of the calling thread permanently and drops its capabilities;
    /// child processes inherit that. With `own_process` it may read its own entry in `/proc`.
    /// Allocates no memory.
    pub(crate) fn confine_files(&self, own_process: bool) -> io::Result<()> {
        landlock::try_no_new_privileges()?;
        if let Some(files) = &self.files {
            if own_process {
                let flags = OFlags::PATH | OFlags::CLOEXEC;
                let own = rustix::fs::open(c"/proc/self", flags, Mode::empty())?;
                files.try_allow(own.as_fd(), READ_RIGHTS)?;
            }
            files.try_restrict_self()?;
        }
        seccomp::drop_capabilities()
    }

    /// Applies the system call filter to the calling thread. Must be the last restriction, because
    /// the filter may forbid the calls that the others need. Allocates no memory.
    pub(crate) fn filter_calls(&self) -> io::Result<()> {
        seccomp::apply_filter(&self.filter)
    }
}

/// Returns the Landlock rules for the paths that a command may read and write.
fn build_ruleset(spec: &Permissions, abi: u32) -> Result<Ruleset> {
    if abi == 0 {
        return Err(Error::new(Code::SandboxSetupFailed, "the kernel has no Landlock"));
    }
    let ruleset = Ruleset::new(!spec.network)?;
    let all = ["/".to_owned()];
    let unlisted: Vec<&str> = spec.unlisted.iter().map(String::as_str).collect();
    let mut closed: Vec<&str> = spec.exclude.iter().map(String::as_str).collect();
    closed.extend(["/proc", "/dev"]);
    closed.extend(&unlisted);
    let closed = ClosedPaths { closed, unlisted };
    for path in spec.read.as_deref().unwrap_or(&all) {
        allow_reading_around(&ruleset, path, &closed)?;
    }
    for path in &spec.write {
        allow_path(&ruleset, path, READ_RIGHTS | fs::WRITE)?;
    }
    for path in READABLE_PROC_ENTRIES.iter().chain(READABLE_DEVICES) {
        // A container may hide some of these entries.
        let _ = allow_path(&ruleset, path, READ_RIGHTS);
    }
    // Shells expect to be able to write to `/dev/null`.
    allow_path(&ruleset, "/dev/null", READ_RIGHTS | fs::WRITE)?;
    Ok(ruleset)
}

/// The paths that a command may not read.
struct ClosedPaths<'a> {
    /// All of them.
    closed: Vec<&'a str>,
    /// Those below which it may not even list names.
    unlisted: Vec<&'a str>,
}

/// Allows reading below a path, except for closed paths. Landlock cannot exclude an entry below an
/// allowed directory, so the siblings of a closed entry are allowed one by one. Siblings that are
/// created later cannot be read.
fn allow_reading_around(ruleset: &Ruleset, path: &str, paths: &ClosedPaths<'_>) -> Result<()> {
    if paths.closed.iter().any(|one| is_within(path, one)) {
        return Ok(());
    }
    if !paths.closed.iter().any(|one| is_within(one, path)) {
        return allow_path(ruleset, path, READ_RIGHTS);
    }
    let directory = open_path(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
    // The right also holds for everything below, so for `/` it would let the command list the
    // directories of processes.
    if path != "/" && !paths.unlisted.iter().any(|one| is_within(one, path)) {
        ruleset.allow(directory.as_fd(), LIST_DIRECTORY_RIGHT)?;
    }
    let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
    let mut entries = RawDir::new(&directory, &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(|errno| open_error(path, errno))?;
        let name = entry.file_name().to_bytes();
        // A link needs no right: access is decided at the path of its target.
        if name == b"." || name == b".." || entry.file_type() == FileType::Symlink {
            continue;
        }
        let base = path.trim_end_matches('/');
        match std::str::from_utf8(name) {
            Ok(name) => match allow_reading_around(ruleset, &format!("{base}/{name}"), paths) {
                // The entry was deleted, or this user cannot access it either way.
                Err(error) if error.code == Code::SandboxSetupFailed => {}
                other => other?,
            },
            // Closed paths are text, so an entry whose name is not UTF-8 contains none of them.
            Err(_) => {
                let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
                if let Ok(place) = rustix::fs::openat(&directory, name, flags, Mode::empty()) {
                    allow_open_path(ruleset, &place, READ_RIGHTS, path)?;
                }
            }
        }
    }
    Ok(())
}

/// Reports whether a path is a directory or lies below it.
fn is_within(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn open_path(path: &str, flags: OFlags) -> Result<OwnedFd> {
    let bytes = CString::new(path).map_err(|_| open_error(path, Errno::INVAL))?;
    rustix::fs::open(bytes, flags | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| open_error(path, errno))
}

fn open_error(path: &str, errno: Errno) -> Error {
    let what = format!("{path} cannot be opened for the sandbox: {errno}");
    Error::new(Code::SandboxSetupFailed, what)
}

/// Allows rights on a file, or on a directory and everything below it.
fn allow_path(ruleset: &Ruleset, path: &str, rights: u64) -> Result<()> {
    allow_open_path(ruleset, &open_path(path, OFlags::PATH)?, rights, path)
}

fn allow_open_path(ruleset: &Ruleset, place: &OwnedFd, rights: u64, path: &str) -> Result<()> {
    let stat = rustix::fs::fstat(place).map_err(|errno| open_error(path, errno))?;
    let directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    ruleset.allow(place.as_fd(), if directory { rights } else { rights & fs::FILE })
}

/// Attempts an operation on a new thread under the restrictions of a command. Returns the name of
/// its error; `None` if it succeeds.
pub(crate) fn probe(spec: &Permissions, what: &Probe) -> Result<Option<String>> {
    let restrictions = Restrictions::new(spec)?;
    let what = what.clone();
    let tried = std::thread::spawn(move || {
        restrictions.confine_files(false)?;
        restrictions.filter_calls()?;
        Ok(attempt_probe(&what))
    });
    let tried = tried.join().map_err(|_| Error::new(Code::Internal, "the probe failed"))?;
    let tried = tried.map_err(|why: io::Error| {
        Error::new(
            Code::SandboxSetupFailed,
            format!("the kernel does not restrict a thread: {why}"),
        )
    })?;
    Ok(tried.err().map(errno_name))
}

fn attempt_probe(what: &Probe) -> std::result::Result<(), Errno> {
    match what {
        Probe::Write(path) => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NONBLOCK;
            let file = rustix::fs::open(path.as_str(), flags, Mode::from_raw_mode(0o644))?;
            rustix::io::write(&file, b"probe\n").map(drop)
        }
        Probe::TcpConnect => {
            let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None)?;
            let nobody = std::net::SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 9);
            match rustix::net::connect(&socket, &nobody) {
                // Nothing listens at this port, but the attempt was let through.
                Err(Errno::CONNREFUSED) => Ok(()),
                result => result,
            }
        }
        Probe::UnixSocket => {
            rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).map(drop)
        }
    }
}

/// Returns the name of an error, such as `EACCES`; `E` and its number for a rare one.
fn errno_name(errno: Errno) -> String {
    let name = match errno {
        Errno::ACCESS => "EACCES",
        Errno::PERM => "EPERM",
        Errno::NOENT => "ENOENT",
        Errno::ROFS => "EROFS",
        Errno::ISDIR => "EISDIR",
        Errno::NOSPC => "ENOSPC",
        other => return format!("E{}", other.raw_os_error()),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_within_compares_whole_names() {
        for (path, directory, within) in [
            ("/proc/1", "/proc", true),
            ("/proc", "/proc", true),
            ("/process", "/proc", false),
            ("/proc", "/", true),
            ("/", "/proc", false),
        ] {
            assert_eq!(is_within(path, directory), within, "{path} {directory}");
        }
    }
}
