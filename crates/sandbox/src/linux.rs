//! What a thread takes on before it starts a command.

use std::os::fd::AsFd;

use filewright_core::{Code, Error, Result};
use filewright_fs::confine::landlock::{self, Ruleset, fs};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};

use crate::seccomp;
use crate::spec::{Probe, Spec, Status};

/// The restrictions of a specification, ready to be taken on.
pub(crate) struct Restrictions {
    files: Option<Ruleset>,
    network: bool,
    abi: u32,
}

impl Restrictions {
    pub(crate) fn new(spec: &Spec) -> Result<Self> {
        let abi = if spec.without_landlock { 0 } else { landlock::abi() };
        let files = match ruleset(spec, abi) {
            Ok(ruleset) => Some(ruleset),
            Err(error) if spec.degrade && error.code == Code::SandboxSetupFailed => None,
            Err(error) => return Err(error),
        };
        Ok(Self { files, network: spec.network, abi })
    }

    pub(crate) fn status(&self) -> Status {
        Status { files: self.files.is_some(), network: !self.network, abi: self.abi }
    }

    /// Restricts the calling thread, which must be one made for this.
    pub(crate) fn take_on(&self) -> Result<()> {
        seccomp::keep_descriptors();
        landlock::no_new_privileges()?;
        if let Some(files) = &self.files {
            files.restrict_self()?;
        }
        if self.network { Ok(()) } else { seccomp::close_network() }
    }
}

fn ruleset(spec: &Spec, abi: u32) -> Result<Ruleset> {
    if abi == 0 {
        return Err(Error::new(Code::SandboxSetupFailed, "the kernel has no Landlock"));
    }
    let ruleset = Ruleset::new(!spec.network)?;
    let all = ["/".to_owned()];
    let read = fs::READ | fs::EXECUTE;
    for path in spec.read.as_deref().unwrap_or(&all) {
        allow(&ruleset, path, read)?;
    }
    for path in &spec.write {
        allow(&ruleset, path, read | fs::WRITE)?;
    }
    // What every shell expects to be able to throw things into.
    allow(&ruleset, "/dev/null", read | fs::WRITE)?;
    Ok(ruleset)
}

fn allow(ruleset: &Ruleset, path: &str, rights: u64) -> Result<()> {
    let failed = |errno: Errno| {
        let what = format!("{path} cannot be opened for the sandbox: {errno}");
        Error::new(Code::SandboxSetupFailed, what)
    };
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let place = rustix::fs::open(path, flags, Mode::empty()).map_err(failed)?;
    let stat = rustix::fs::fstat(&place).map_err(failed)?;
    let directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    ruleset.allow(place.as_fd(), if directory { rights } else { rights & fs::FILE })
}

/// Tries something in a thread under the very restrictions that a command inherits.
pub(crate) fn probe(spec: &Spec, what: &Probe) -> Result<Option<String>> {
    let restrictions = Restrictions::new(spec)?;
    let what = what.clone();
    let tried = std::thread::spawn(move || restrictions.take_on().map(|()| attempt(&what)));
    let tried = tried.join().map_err(|_| Error::new(Code::Internal, "the probe failed"))??;
    Ok(tried.err().map(name_of))
}

fn attempt(what: &Probe) -> std::result::Result<(), Errno> {
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
                // It got as far as the network.
                Err(Errno::CONNREFUSED) => Ok(()),
                result => result,
            }
        }
        Probe::UnixSocket => {
            rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).map(drop)
        }
    }
}

fn name_of(errno: Errno) -> String {
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
