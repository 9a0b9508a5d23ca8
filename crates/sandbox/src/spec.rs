//! What a command may do, what it is, and what came of it.

use std::time::Duration;

use filewright_core::{Code, Error, Result};
use serde_json::Value;

/// What a command may do.
#[derive(Clone, Debug, Default)]
pub struct Spec {
    /// Directories and files that may be read and run; `None` for everything.
    pub read: Option<Vec<String>>,
    /// Directories and files that may be changed, and read.
    pub write: Vec<String>,
    /// Places outside `write` that may not be read, with everything below them: real paths.
    pub exclude: Vec<String>,
    /// Whether the network may be used.
    pub network: bool,
    /// Whether less than this will do where the kernel cannot enforce it.
    pub degrade: bool,
    /// Behave as on a kernel without Landlock: for tests.
    pub without_landlock: bool,
    /// Restrict nothing here: the program that is run restricts itself. Unless the network
    /// is allowed and nothing is forbidden, it finds the filter of system calls at
    /// descriptor 9.
    pub bare: bool,
    /// Names of further system calls that are refused, also where the network is allowed.
    pub forbid: Vec<String>,
    /// What a command may use up.
    pub limits: Limits,
}

/// Where a policy is looked for what a command may not see or change. All paths are real.
#[derive(Clone, Debug, Default)]
pub struct ScanSpec {
    /// The directory that deny globs with a slash start from.
    pub cwd: String,
    /// The roots that deny globs without a slash hold below.
    pub roots: Vec<String>,
    /// The directories that are scanned.
    pub scan: Vec<String>,
    /// How many names deep below each of them; `None` for all.
    pub depth: Option<usize>,
    /// Globs of what is hidden.
    pub deny: Vec<String>,
    /// Go on where something cannot be told, and leave out what is hidden.
    pub lenient: bool,
    /// Open directories that cannot be listed to their owner, but for those with these ids.
    pub opens_but: Option<Vec<String>>,
    /// Find protected places and repositories.
    pub protect: bool,
    /// Hide secrets.
    pub secrets: bool,
    /// What the host says of places, as `RulesConfig::places`.
    pub places: Vec<String>,
}

impl ScanSpec {
    /// Reads `{cwd, roots: [paths], scan: [paths], deny: [globs], protect, secrets, places?,
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

/// What a command may use up. 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Processes and threads at one time.
    pub processes: u64,
    /// Bytes of memory of all its processes together, without what is shared with files.
    pub memory: u64,
    /// Bytes of one file that it writes.
    pub file_bytes: u64,
    /// Seconds of one process on a processor.
    pub cpu_seconds: u64,
}

/// The limit that ended a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Limits::processes`].
    Processes,
    /// [`Limits::memory`].
    Memory,
}

impl Limit {
    /// Its name in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Processes => "processes",
            Self::Memory => "memory",
        }
    }
}

/// What is run. No shell is involved unless it is one.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// The program and its arguments; not empty.
    pub argv: Vec<String>,
    /// The directory it runs in.
    pub cwd: String,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// After this long it is killed, with everything it started.
    pub timeout: Duration,
    /// Bytes kept of its output and of its errors, each.
    pub max_output: usize,
}

/// What is tried under the restrictions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Opening a file to write, made where it is missing.
    Write(String),
    /// Making a TCP connection.
    TcpConnect,
    /// Making a Unix socket.
    UnixSocket,
}

/// What holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The roots are enforced.
    pub files: bool,
    /// The network is closed.
    pub network: bool,
    /// Processes outside cannot be sent signals.
    pub signals: bool,
    /// The kernel bounds processes, however fast they are made.
    pub forks: bool,
    /// The version of Landlock; 0 where there is none.
    pub abi: u32,
}

/// What came of a command.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Its exit status, unless a signal ended it.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// It ran out of time.
    pub timed_out: bool,
    /// It was ended because it passed this limit.
    pub exceeded: Option<Limit>,
    /// More was written than was kept.
    pub truncated: bool,
    /// What it wrote.
    pub stdout: Vec<u8>,
    /// What it complained.
    pub stderr: Vec<u8>,
}

impl Spec {
    /// Reads `{read: [paths]|null, write: [paths], exclude?: [paths], network?, degrade?,
    /// withoutLandlock?, bare?, forbid?: [names], limits?: {processes?, memory?, fileBytes?, cpuSeconds?}}`.
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
            limits: Limits {
                processes: limit("processes"),
                memory: limit("memory"),
                file_bytes: limit("fileBytes"),
                cpu_seconds: limit("cpuSeconds"),
            },
        })
    }
}

impl Command {
    /// Reads `{argv, cwd, env: {name: value}, timeoutMs, maxOutput}`.
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
