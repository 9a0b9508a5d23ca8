//! The permissions of a command, the command itself, and its outcome.

use std::time::Duration;

use filewright_core::{Code, Error, Result};
use serde_json::Value;

/// The permissions of a command.
#[derive(Clone, Debug, Default)]
pub struct Spec {
    /// Directories and files that may be read and executed; `None` for everything.
    pub read: Option<Vec<String>>,
    /// Directories and files that may be changed and read.
    pub write: Vec<String>,
    /// Paths outside `write` that may not be read, with everything below them: real paths.
    pub exclude: Vec<String>,
    /// Allows the use of the network.
    pub network: bool,
    /// Accepts weaker restrictions if the kernel cannot enforce all.
    pub degrade: bool,
    /// Behaves as on a kernel without Landlock: for tests.
    pub without_landlock: bool,
    /// Restricts nothing here, because the executed program restricts itself. Unless the network is
    /// allowed and nothing is forbidden, it receives the system call filter at descriptor 9.
    pub bare: bool,
    /// Names of further system calls that are refused, even if the network is allowed.
    pub forbid: Vec<String>,
    /// The resource limits of the command.
    pub limits: ResourceLimits,
}

/// The input for finding the files that a command may not see or change. All paths are real.
#[derive(Clone, Debug, Default)]
pub struct ScanSpec {
    /// The directory that deny globs with a slash are relative to.
    pub cwd: String,
    /// The roots below which deny globs without a slash match.
    pub roots: Vec<String>,
    /// The directories to scan.
    pub scan: Vec<String>,
    /// The maximum depth below each of them; `None` for no limit.
    pub depth: Option<usize>,
    /// Globs of hidden entries.
    pub deny: Vec<String>,
    /// Continues after errors, and omits hidden entries.
    pub lenient: bool,
    /// Makes directories that cannot be listed accessible to their owner, except for those with
    /// these ids.
    pub opens_but: Option<Vec<String>>,
    /// Finds protected paths and repositories.
    pub protect: bool,
    /// Hides secrets.
    pub secrets: bool,
    /// The host's rules, as in `RulesConfig::places`.
    pub places: Vec<String>,
}

impl ScanSpec {
    /// Parses `{cwd, roots: [paths], scan: [paths], deny: [globs], protect, secrets, places?,
    /// depth?, lenient?, opensBut?: [ids]}`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`.
    pub fn from_json(text: &str) -> Result<Self> {
        let json = parse(text)?;
        let flag = |key: &str| json[key].as_bool().ok_or_else(|| wrong(key));
        Ok(Self {
            cwd: json["cwd"].as_str().ok_or_else(|| wrong("cwd"))?.to_owned(),
            roots: texts(&json["roots"])?,
            scan: texts(&json["scan"])?,
            depth: json["depth"].as_u64().and_then(|depth| usize::try_from(depth).ok()),
            deny: texts(&json["deny"])?,
            lenient: json["lenient"].as_bool().unwrap_or(false),
            opens_but: if json["opensBut"].is_null() {
                None
            } else {
                Some(texts(&json["opensBut"])?)
            },
            protect: flag("protect")?,
            secrets: flag("secrets")?,
            places: if json["places"].is_null() { Vec::new() } else { texts(&json["places"])? },
        })
    }
}

/// The resource limits of a command. 0 means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceLimits {
    /// The number of concurrent processes and threads.
    pub processes: u64,
    /// The memory of all processes together in bytes, without memory shared with files.
    pub memory: u64,
    /// The size of one written file in bytes.
    pub file_bytes: u64,
    /// The processor time of one process in seconds.
    pub cpu_seconds: u64,
}

filewright_core::wire! {
    /// The limit that ended a command.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Limit {
        /// Of the number of processes.
        Processes = "processes",
        /// Of the memory.
        Memory = "memory",
    }
}

/// The command to run. No shell is involved unless it is one.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// The program and its arguments; not empty.
    pub argv: Vec<String>,
    /// The working directory.
    pub cwd: String,
    /// The complete environment.
    pub env: Vec<(String, String)>,
    /// The command and all its processes are killed after this time.
    pub timeout: Duration,
    /// The maximum bytes kept of stdout and of stderr, each.
    pub max_output: usize,
}

/// An operation to attempt under the restrictions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Opening a file for writing, created if it is missing.
    Write(String),
    /// Opening a TCP connection.
    TcpConnect,
    /// Creating a Unix socket.
    UnixSocket,
}

/// The restrictions in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// True if the roots are enforced.
    pub files: bool,
    /// True if the network is closed.
    pub network: bool,
    /// True if processes outside cannot be sent signals.
    pub signals: bool,
    /// True if the kernel limits processes, however fast they are created.
    pub forks: bool,
    /// The version of Landlock; 0 without it.
    pub abi: u32,
}

/// The result of a command.
#[derive(Clone, Debug, Default)]
pub struct RunOutcome {
    /// The exit status, unless a signal ended it.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// True if it ran out of time.
    pub timed_out: bool,
    /// The limit that it exceeded and for which it was ended.
    pub exceeded: Option<Limit>,
    /// True if it wrote more than was kept.
    pub truncated: bool,
    /// The beginning of its standard output.
    pub stdout: Vec<u8>,
    /// The beginning of its standard error.
    pub stderr: Vec<u8>,
}

impl Spec {
    /// Parses `{read: [paths]|null, write: [paths], exclude?: [paths], network?, degrade?,
    /// withoutLandlock?, bare?, forbid?: [names], limits?: {processes?, memory?, fileBytes?,
    /// cpuSeconds?}}`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`.
    pub fn from_json(text: &str) -> Result<Self> {
        let json = parse(text)?;
        let read = match &json["read"] {
            Value::Null => None,
            value => Some(texts(value)?),
        };
        let flag = |key: &str| json[key].as_bool().unwrap_or(false);
        let limit = |key: &str| json["limits"][key].as_u64().unwrap_or(0);
        let exclude = match &json["exclude"] {
            Value::Null => Vec::new(),
            value => texts(value)?,
        };
        Ok(Self {
            read,
            write: texts(&json["write"])?,
            exclude,
            network: flag("network"),
            degrade: flag("degrade"),
            without_landlock: flag("withoutLandlock"),
            bare: flag("bare"),
            forbid: if json["forbid"].is_null() { Vec::new() } else { texts(&json["forbid"])? },
            limits: ResourceLimits {
                processes: limit("processes"),
                memory: limit("memory"),
                file_bytes: limit("fileBytes"),
                cpu_seconds: limit("cpuSeconds"),
            },
        })
    }
}

impl Command {
    /// Parses `{argv, cwd, env: {name: value}, timeoutMs, maxOutput}`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`.
    pub fn from_json(text: &str) -> Result<Self> {
        let json = parse(text)?;
        let argv = texts(&json["argv"])?;
        if argv.is_empty() || argv.iter().any(|part| part.contains('\0')) {
            return Err(wrong("argv"));
        }
        let env = json["env"].as_object().ok_or_else(|| wrong("env"))?;
        let env = env.iter().map(|(name, value)| {
            let value = value.as_str().ok_or_else(|| wrong("env"))?;
            Ok((name.clone(), value.to_owned()))
        });
        let number = |key: &str| json[key].as_u64().ok_or_else(|| wrong(key));
        Ok(Self {
            argv,
            cwd: json["cwd"].as_str().ok_or_else(|| wrong("cwd"))?.to_owned(),
            env: env.collect::<Result<_>>()?,
            timeout: Duration::from_millis(number("timeoutMs")?),
            max_output: usize::try_from(number("maxOutput")?).unwrap_or(usize::MAX),
        })
    }
}

fn parse(text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|_| wrong("JSON"))
}

fn texts(value: &Value) -> Result<Vec<String>> {
    let list = value.as_array().ok_or_else(|| wrong("a list"))?;
    list.iter().map(|one| one.as_str().map(str::to_owned).ok_or_else(|| wrong("a list"))).collect()
}

fn wrong(what: &str) -> Error {
    Error::new(Code::InvalidArgument, format!("the sandbox's {what} is malformed"))
}
